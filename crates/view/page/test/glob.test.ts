import { expect, test } from "vitest";
import { fits, meant } from "../src/glob";

test("stars and question marks stand for any text and any character", () => {
  for (const [pattern, text, is] of [
    ["", "", true],
    ["*", "", true],
    ["?", "", false],
    ["cc1*", "CC1plus", true],
    ["*plus", "cc1plus", true],
    ["c?1", "cc1", true],
    ["c*1*s", "cc1plus", true],
    ["c*1*x", "cc1plus", false],
    ["a.c", "abc", false],
    ["(.*)", "(.x)", true],
  ] as const) {
    expect(fits(pattern, text), `${pattern} ${text}`).toBe(is);
  }
});

test("a task is meant by its name, its tid, or both", () => {
  const is = (pattern: string): boolean => meant(pattern)(512, "kworker/0:1");
  expect(["kworker/0:1", "512", "kworker/0:1:512", "kworker*", "*:512"].map(is)).toEqual([true, true, true, true, true]);
  expect(["kworker", "51", "0:1"].map(is)).toEqual([false, false, false]);
});

test("no pattern takes long", () => {
  const begin = performance.now();
  expect(fits(`${"*A".repeat(50)}x`, "a".repeat(10_000))).toBe(false);
  expect(performance.now() - begin).toBeLessThan(2_000);
});
