import { expect, test } from "vitest";
import { CELL, Field } from "../src/data";
import { Colouring, frequencyColour, frequencyPixels, Look, pixel, pixels, Tasks, UNNAMED } from "../src/paint";

const CELLS = 8;
const tasks: Tasks = { found: undefined, groups: { of: new Uint32Array(9), numbers: [1] }, causes: new Map([[1, 0]]), frequencies: frequencyPixels((byte) => (byte ? byte / 255 : undefined)) };

/** One lane, of which some fields of the cell at 3 are set. */
function tile(fields: Partial<Record<Field, number>>): Uint8Array {
  const tile = new Uint8Array(CELL * CELLS);
  for (const [field, value] of Object.entries(fields)) tile[Number(field) * CELLS + 3] = value;
  return tile;
}

const look = (tall: number, colouring: Colouring, dark: boolean): Look => ({ version: 0, colouring, dark, tall, until: 0 });

/** The pixels of a column. */
const column = (all: Uint32Array, x: number): number[] => [...all].filter((_, n) => n % CELLS === x);

const looks = [1, 2, 3, 4, 5, 24].flatMap((tall) =>
  (["task", "command", "cgroup", "queue", "cause", "frequency"] as const).flatMap((colouring) => [false, true].map((dark) => look(tall, colouring, dark))),
);

test("whatever is above zero is seen at any height, in every colouring", () => {
  for (const it of looks) {
    for (const below of [{}, { [Field.Busy]: 255 }, { [Field.Busy]: 1 }, { [Field.Unknown]: 9 }, { [Field.InVain]: 9 }]) {
      const plain = column(pixels(tile(below), CELLS, it, tasks), 3);
      for (const field of [Field.InVain, Field.Unknown, Field.Offline].filter((field) => !(field in below))) {
        // A share that is there already may hide another.
        if (field === Field.Offline && Field.Unknown in below) continue;
        const marked = column(pixels(tile({ ...below, [field]: 1 }), CELLS, it, tasks), 3);
        expect(marked, `${JSON.stringify(it)} ${field}`).not.toEqual(plain);
      }
    }
    const idle = column(pixels(tile({}), CELLS, it, tasks), 3);
    for (const field of [Field.Busy, Field.Wanted]) {
      expect(column(pixels(tile({ [field]: 1 }), CELLS, it, tasks), 3), `${JSON.stringify(it)} ${field}`).not.toEqual(idle);
    }
  }
});

test("a cell is painted in its own column alone", () => {
  for (const it of looks) {
    const all = pixels(tile({ [Field.Busy]: 255, [Field.InVain]: 255 }), CELLS, it, tasks);
    expect(column(all, 2)).toEqual(column(pixels(tile({}), CELLS, it, tasks), 2));
  }
});

test("tasks that the search did not find are dimmed", () => {
  const busy = tile({ [Field.Busy]: 255, [Field.Task]: 5 });
  const it = look(24, "task", false);
  const of = (found: number[]): Uint32Array => pixels(busy, CELLS, it, { ...tasks, found: new Uint8Array(9).map((_, task) => Number(found.includes(task))) });
  expect(of([5])).toEqual(pixels(busy, CELLS, it, tasks));
  expect(of([6])).not.toEqual(of([5]));
});

test("a busy cell has the colour of its frequency, and grey where that is unknown", () => {
  const busy = tile({ [Field.Busy]: 255 });
  const of = (frequency: number): number | undefined => {
    const frequencies = new Uint8Array(CELLS).fill(7);
    frequencies[3] = frequency;
    return column(pixels(busy, CELLS, look(24, "frequency", false), tasks, undefined, frequencies), 3)[20];
  };
  expect(of(0)).toBe(pixel(UNNAMED));
  expect(of(255)).toBe(pixel(frequencyColour(1)));
  const lightness = [1, 60, 120, 255].map((byte) => (of(byte) ?? 0) & 0xff);
  expect(lightness).toEqual([...lightness].sort((a, b) => b - a));
  expect(new Set(lightness).size).toBe(4);
});

test("a canvas of pixels that is used again has nothing of what it had", () => {
  const it = look(5, "task", false);
  const into = pixels(tile({ [Field.Busy]: 255, [Field.InVain]: 255 }), CELLS, it, tasks).fill(0);
  expect(pixels(tile({}), CELLS, it, tasks, into)).toEqual(pixels(tile({}), CELLS, it, tasks));
});
