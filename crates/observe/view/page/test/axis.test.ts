import { expect, test } from "vitest";
import { clock, marks, moment, words } from "../src/axis";
import { cpuList, ranges } from "../src/cpus";

test("lengths have four digits and the largest unit that fits", () => {
  expect([0, 999, 1000, 1_234_567, 61e9].map(words)).toEqual(["0 ns", "999 ns", "1 us", "1.235 ms", "61 s"]);
});

test("a moment has the digits that tell it from the next mark", () => {
  expect(moment(1_500_000, 100_000)).toBe("1.5 ms");
  expect(moment(1_500_000, 10)).toBe("1.50000 ms");
  expect(moment(0, 1e6)).toBe("0 ns");
});

test("a clock is exact where numbers are not", () => {
  expect(clock("1234567890123456789", 1)).toBe("1234567890.123456790");
});

test("marks are round, and as many as fit", () => {
  for (const [from, to] of [[0, 1], [0, 100], [3, 1e9], [7e12, 7e12 + 50]] as const) {
    const { step, at } = marks(from, to, 8);
    expect(at.length).toBeLessThanOrEqual(10);
    expect(at.length).toBeGreaterThanOrEqual(1);
    for (const mark of at) expect(mark >= from && mark <= to && mark % step === 0).toBe(true);
  }
});

test("CPUs beside each other are a range", () => {
  expect(ranges([3, 1, 2, 7])).toBe("1-3,7");
  expect(ranges([])).toBe("");
});

test("a list of CPUs is read as it is written, and other text is refused", () => {
  expect([...(cpuList("0-3, 7") ?? [])]).toEqual([0, 1, 2, 3, 7]);
  for (const none of ["", "x", "1-", "3-1", "1,,2", "-1", "1-2-3", "0-999999999"]) expect(cpuList(none), none).toBeUndefined();
});
