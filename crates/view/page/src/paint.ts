// Cells as pixels: a tile is painted once, a pixel for each cell, and drawn at any scale from one
// pixel a cell on, so that none is left out.

import { CELL, Field, NO_TASK, NOT_CHARGED } from "./data";

export type Colouring = "task" | "command" | "queue" | "cause";

/** Red, green, blue. */
export type Rgb = [number, number, number];

// Okabe and Ito's colours, which colour-blind people tell apart, made paler: their vermilion is for
// waits in vain, and must be seen beside them.
const TASKS: Rgb[] = [
  [77, 154, 201],
  [139, 203, 239],
  [89, 186, 159],
  [160, 184, 210],
  [217, 169, 199],
  [200, 168, 168],
  [168, 214, 181],
  [176, 199, 216],
];
const QUEUE: Rgb[] = [
  [140, 179, 217],
  [240, 184, 95],
  [224, 142, 61],
  [200, 98, 42],
  [160, 58, 42],
];
const CAUSES: Rgb[] = [
  [0, 114, 178],
  [213, 94, 0],
  [0, 158, 115],
  [204, 121, 167],
  [230, 159, 0],
  [86, 180, 233],
  [120, 94, 40],
];
export const IN_VAIN: Rgb = [213, 94, 0];
const NOT_FOUND: Rgb = [200, 200, 200];
const UNNAMED: Rgb = [136, 136, 136];
const PLAIN: Rgb = [170, 178, 186];
const WAKING: Rgb = [240, 228, 66];
const HATCH: Rgb = [153, 153, 153];
export const LIGHT = { paper: [242, 242, 242] as Rgb, wanted: [250, 222, 190] as Rgb };
export const DARK = { paper: [36, 36, 36] as Rgb, wanted: [92, 62, 30] as Rgb };

/** Colour of a cause. */
export const causeColour = (code: number): Rgb => (code === NOT_CHARGED ? [150, 110, 90] : (CAUSES[code % CAUSES.length] ?? IN_VAIN));

/** How time is coloured. */
export interface Look {
  /** It grows whenever something else here changes. */
  version: number;
  colouring: Colouring;
  dark: boolean;
  /** When the frame must be done: what is not painted by then stays for the next. */
  until: number;
  /** Height of a lane in pixels of the device. */
  tall: number;
  /** Whether the search leaves a task out. */
  dims: ((task: number) => boolean) | undefined;
  /** A number for each task's command. */
  command: (task: number) => number;
}

const mix = (below: Rgb, above: Rgb, share: number): Rgb => [
  below[0] + (above[0] - below[0]) * share,
  below[1] + (above[1] - below[1]) * share,
  below[2] + (above[2] - below[2]) * share,
];

const pixel = ([red, green, blue]: Rgb): number => (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;

/** Paints a tile: a row of `look.tall` pixels for each lane, a column for each of `cells` cells. */
export function paint(tile: Uint8Array, cells: number, look: Look): OffscreenCanvas {
  const lanes = tile.length / CELL / cells;
  const { tall } = look;
  const canvas = new OffscreenCanvas(cells, Math.max(1, lanes * tall));
  const to = canvas.getContext("2d");
  if (!to || lanes === 0) return canvas;
  const image = new ImageData(cells, lanes * tall);
  const pixels = new Uint32Array(image.data.buffer);
  const gap = tall > 4 ? 1 : 0;
  const { paper, wanted } = look.dark ? DARK : LIGHT;
  const [paperPixel, wantedPixel, wakingPixel, hatchPixel] = [pixel(paper), pixel(wanted), pixel(WAKING), pixel(HATCH)];
  const height = tall - gap;
  const band = Math.max(1, Math.round(height * 0.3));
  for (let lane = 0; lane < lanes; lane++) {
    const of = (field: Field): number => (lane * CELL + field) * cells;
    const [busyAt, wakingAt, unknownAt, offlineAt] = [of(Field.Busy), of(Field.Waking), of(Field.Unknown), of(Field.Offline)];
    const [wantedAt, vainAt, whyAt, taskAt] = [of(Field.Wanted), of(Field.InVain), of(Field.Why), of(Field.Task)];
    const waitingAt = of(Field.Waiting);
    for (let x = 0; x < cells; x++) {
      const byte = (at: number): number => tile[at + x] ?? 0;
      const busy = byte(busyAt);
      const vain = byte(vainAt);
      const task = byte(taskAt) | (byte(taskAt + cells) << 8) | (byte(taskAt + 2 * cells) << 16);
      const colour = busy > 0 ? busyColour(task, byte(waitingAt), look) : paper;
      const mark = vain > 0 ? (look.colouring === "cause" ? causeColour(byte(whyAt)) : IN_VAIN) : paper;
      const unknown = byte(unknownAt) + byte(offlineAt);
      const top = lane * tall;
      if (height < 4) {
        // Too low for parts: one colour, in which each part has its share.
        let is = mix(mix(paper, wanted, byte(wantedAt) > 0 ? 1 : 0), colour, busy / 255);
        if (unknown > 0) is = mix(is, HATCH, Math.max(0.3, unknown / 255));
        if (vain > 0) is = mix(is, mark, 0.35 + (0.65 * vain) / 255);
        for (let y = 0; y < height; y++) pixels[(top + y) * cells + x] = pixel(is);
        continue;
      }
      const rows = (share: number): number => Math.ceil((share / 255) * height);
      const busyRows = rows(busy);
      const wakingRows = Math.min(height, busyRows + rows(byte(wakingAt)));
      const unknownRows = rows(Math.min(255, unknown));
      const idlePixel = byte(wantedAt) > 0 ? wantedPixel : paperPixel;
      const busyPixel = pixel(colour);
      const markPixel = pixel(mix(busy > 0 ? colour : paper, mark, 0.35 + (0.65 * vain) / 255));
      for (let y = 0, at = top * cells + x; y < height; y++, at += cells) {
        const fromBelow = height - y;
        let is = idlePixel;
        if (vain > 0 && y < band) is = markPixel;
        else if (y < unknownRows && (x + y) % 4 === 0) is = hatchPixel;
        else if (fromBelow <= busyRows) is = busyPixel;
        else if (fromBelow <= wakingRows) is = wakingPixel;
        pixels[at] = is;
      }
    }
  }
  to.putImageData(image, 0, 0);
  return canvas;
}

function busyColour(task: number, waiting: number, { colouring, dims, command }: Look): Rgb {
  if (task !== NO_TASK && dims?.(task)) return NOT_FOUND;
  if (colouring === "queue") return QUEUE[Math.min(QUEUE.length - 1, Math.ceil(waiting / 16))] ?? PLAIN;
  if (colouring === "cause") return PLAIN;
  if (task === NO_TASK) return UNNAMED;
  return TASKS[(colouring === "command" ? command(task) : task) % TASKS.length] ?? UNNAMED;
}

/** Painted tiles: those that were used last. */
export class Painted {
  private readonly kept = new Map<string, { canvas: OffscreenCanvas; version: number }>();

  constructor(
    private readonly most: number,
    private readonly cells: number,
  ) {}

  /** The tile as it looks now. Where `hurry` and an older look is here, that. */
  get(key: string, tile: Uint8Array, look: Look, hurry: boolean): { canvas: OffscreenCanvas; fresh: boolean } | undefined {
    const here = this.kept.get(key);
    this.kept.delete(key);
    if (here && (here.version === look.version || hurry)) {
      this.kept.set(key, here);
      return { canvas: here.canvas, fresh: here.version === look.version };
    }
    if (hurry) return undefined;
    const canvas = paint(tile, this.cells, look);
    this.kept.set(key, { canvas, version: look.version });
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= this.most) break;
      this.kept.delete(oldest);
    }
    return { canvas, fresh: true };
  }
}
