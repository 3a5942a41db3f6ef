import { expect, test } from "vitest";
import { find, fits, Texts } from "../src/glob";

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

const names = { all: ["kworker/0:1", "cc1", "Foo*"], of: new Uint32Array([0, 1, 2, 1]) };
const tids = new Int32Array([512, 7, 8, 71]);
const found = (pattern: string, cgroups?: Texts): number[] => {
  const { is, count } = find(pattern, names, tids, cgroups);
  const all = [...is.keys()].filter((task) => is[task]);
  expect(all.length).toBe(count);
  return all;
};

test("a task is found by its name, its tid, or both", () => {
  for (const pattern of ["kworker/0:1", "512", "kworker/0:1:512", "KWORKER*", "*:512", "k*2", "5?2"]) expect(found(pattern), pattern).toEqual([0]);
  for (const pattern of ["kworker", "51", "0:1", "cc1:8"]) expect(found(pattern), pattern).toEqual([]);
  expect(found("cc1")).toEqual([1, 3]);
  expect(found("cc1:7*")).toEqual([1, 3]);
  expect(found("cc1:7?")).toEqual([3]);
  expect(found("*")).toEqual([0, 1, 2, 3]);
  expect(found("7*")).toEqual([1, 3]);
});

test("a search looks at each task as a slow one does", () => {
  for (const pattern of ["c*", "*1", "?c1:*1", "f*:8", "*:*", "*:7", "-*", "cc1:", "71", ""]) {
    const slow = [...tids.keys()].filter((task) => {
      const [name, tid] = [names.all[names.of[task]!]!, tids[task]!];
      return [name, `${tid}`, `${name}:${tid}`].some((text) => fits(pattern, text));
    });
    expect(found(pattern), pattern).toEqual(slow);
  }
});

test("a task is found by its cgroup where that is told", () => {
  const cgroups = { all: ["/", "/system.slice/cron.service"], of: new Uint32Array([0xffffffff, 1, 1, 0]) };
  expect(found("/system*", cgroups)).toEqual([1, 2]);
  expect(found("*cron*", cgroups)).toEqual([1, 2]);
  expect(found("/", cgroups)).toEqual([3]);
  expect(found("/system*")).toEqual([]);
  expect(found("cc1", cgroups)).toEqual([1, 3]);
});

test("no pattern takes long", () => {
  const begin = performance.now();
  expect(fits(`${"*A".repeat(50)}x`, "a".repeat(10_000))).toBe(false);
  expect(performance.now() - begin).toBeLessThan(2_000);
});

test("a million tasks are searched at once", () => {
  const many = { names: { ...names, of: new Uint32Array(1e6).fill(1) }, tids: new Int32Array(1e6).map((_, n) => n) };
  const begin = performance.now();
  expect(find("kworker*", many.names, many.tids).count).toBe(0);
  expect(find("12345?", many.names, many.tids).count).toBe(10);
  expect(performance.now() - begin).toBeLessThan(2_000);
});
