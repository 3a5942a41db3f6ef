import { expect, test } from "vitest";
import { gzipSync } from "node:zlib";
import { embedded, levelFor, Source, Store } from "../src/data";

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
