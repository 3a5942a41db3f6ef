import { expect, test } from "vitest";
import { gzipSync } from "node:zlib";
import { CELL, embedded, Field, levelFor, NO_TASK, Source, Store, taskAt, TaskList, withTasks } from "../src/data";

test("cells are a pixel wide or wider, and no wider than need be", () => {
  for (let perPixel = 0.01; perPixel < 1e12; perPixel *= 1.37) {
    const width = 4 ** levelFor(perPixel);
    expect(width).toBeGreaterThanOrEqual(perPixel * 0.999_999);
    if (width > 1) expect(width / 4).toBeLessThan(perPixel);
  }
});

test("answers that stand in the page are unpacked, and others are not there", async () => {
  const source = embedded({ a: gzipSync("words").toString("base64") });
  expect(new TextDecoder().decode(await source("a"))).toBe("words");
  expect(await source("b")).toBeUndefined();
});

/** Waits until the store has all that it was asked for. */
async function settled(store: Store): Promise<void> {
  store.ask();
  while (!store.settled) await new Promise((resolve) => setTimeout(resolve, 5));
}

test("what came is kept, what is not there is not asked for again", async () => {
  const asked: string[] = [];
  const source: Source = async (path) => {
    asked.push(path);
    return path === "nothing" ? undefined : new Uint8Array([1]);
  };
  const store = new Store(source, () => undefined);
  for (let n = 0; n < 3; n++) {
    store.begin();
    store.get("a");
    store.get("nothing");
    await settled(store);
  }
  expect(asked).toEqual(["a", "nothing"]);
  expect(store.peek("a")).toEqual(new Uint8Array([1]));
});

test("what failed is asked for again when it is wanted", async () => {
  let fails = true;
  const source: Source = async () => {
    if (fails) throw new Error("busy");
    return new Uint8Array([1]);
  };
  const store = new Store(source, () => undefined);
  store.get("a");
  await settled(store);
  expect(store.peek("a")).toBeUndefined();
  fails = false;
  store.get("a");
  await settled(store);
  expect(store.peek("a")).toBeDefined();
});

test("what was used last is kept when there is too much", async () => {
  const store = new Store(async () => new Uint8Array(30e6), () => undefined);
  for (const path of ["a", "b", "c", "a", "d"]) {
    store.begin();
    store.get(path);
    await settled(store);
  }
  expect([..."abcd"].filter((path) => store.peek(path))).toEqual(["a", "c", "d"]);
});

test("what is wanted twice is asked for once", async () => {
  const asked: string[] = [];
  const store = new Store(async (path) => (asked.push(path), new Uint8Array([1])), () => undefined);
  for (let n = 0; n < 3; n++) store.get("a");
  await settled(store);
  expect(asked).toEqual(["a"]);
});

test("tasks of a tile that are told as differences have their numbers again", () => {
  const [cells, lanes] = [6, 2];
  const numbers = [5, 280, NO_TASK, 3, 0xfffffe, 0];
  const tile = new Uint8Array(lanes * CELL * cells).fill(7);
  for (let lane = 0; lane < lanes; lane++) {
    let last = 0;
    numbers.forEach((task, cell) => {
      const differs = task === NO_TASK ? NO_TASK : (task + NO_TASK - last) % NO_TASK;
      if (task !== NO_TASK) last = task;
      for (const byte of [0, 1, 2]) tile[(lane * CELL + Field.Task + byte) * cells + cell] = differs >> (8 * byte);
    });
  }
  withTasks(tile, cells);
  for (let lane = 0; lane < lanes; lane++) {
    expect(numbers.map((_, cell) => taskAt(tile, cells, lane, cell))).toEqual(numbers);
    expect(tile[lane * CELL * cells]).toBe(7);
  }
});

test("tasks have their tids, names and cgroups", () => {
  const bytes = new Uint8Array(new Int32Array([7, -3, 0, 1, 2, -1]).buffer);
  const { tids, names, cgroups } = new TaskList(bytes, true);
  expect([[...tids], [...names], [...(cgroups ?? [])]]).toEqual([[7, 4], [0, 1], [2, 0xffffffff]]);
  expect(new TaskList(bytes, false).cgroups).toBeUndefined();
});
