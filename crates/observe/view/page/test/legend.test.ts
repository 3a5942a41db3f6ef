import { expect, test } from "vitest";
import { ofAll, ranks } from "../src/legend";

test("causes of two recordings have one order, by what they took in both", () => {
  const causes = (...ns: number[]): [string, string, number][] => ns.map((ns, n) => [`cause ${n}`, "", ns]);
  expect([...ranks([causes(5, 0, 9, 0)])]).toEqual([[3, 0], [1, 1]]);
  expect([...ranks([causes(5, 0, 9, 0), causes(6, 0, 1, 2)])]).toEqual([[1, 0], [3, 1], [4, 2]]);
  expect([...ranks([])]).toEqual([]);
});

test("frequencies of two recordings have one scale, from the lowest to the highest of both", () => {
  expect(ofAll([[2, 5], null, [1, 3]])).toEqual([1, 5]);
  expect(ofAll([null])).toBeUndefined();
});
