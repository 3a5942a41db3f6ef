import { expect, test } from "vitest";
import { Latest } from "../src/latest";

test("of questions that come while one is asked, only the last is asked", async () => {
  const asked: number[] = [];
  const answers: (() => void)[] = [];
  const latest = new Latest<number>((question) => {
    asked.push(question);
    return new Promise((done) => answers.push(done));
  });
  const first = latest.ask(1);
  await latest.ask(2);
  await latest.ask(3);
  expect(asked).toEqual([1]);
  answers[0]?.();
  await new Promise((done) => setTimeout(done));
  expect(asked).toEqual([1, 3]);
  answers[1]?.();
  await first;
  void latest.ask(4);
  expect(asked).toEqual([1, 3, 4]);
});

test("a question that fails stops none that comes later", async () => {
  const asked: number[] = [];
  const latest = new Latest<number>(async (question) => {
    asked.push(question);
    throw new Error("busy");
  });
  await latest.ask(1);
  await latest.ask(2);
  expect(asked).toEqual([1, 2]);
});
