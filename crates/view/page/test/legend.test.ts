import { expect, test } from "vitest";
import { ranks } from "../src/legend";

test("causes of two recordings have one order, by what they took in both", () => {
  const causes = (...ns: number[]): [string, string, number][] => ns.map((ns, n) => [`cause ${n}`, "", ns]);
  expect([...ranks([causes(5, 0, 9, 0)])]).toEqual([[3, 0], [1, 1]]);
  expect([...ranks([causes(5, 0, 9, 0), causes(6, 0, 1, 2)])]).toEqual([[1, 0], [3, 1], [4, 2]]);
  expect([...ranks([])]).toEqual([]);
});
