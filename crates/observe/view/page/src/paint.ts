// Cells as pixels: a tile is painted once, a pixel for each cell, and drawn at any scale from one
// pixel a cell on, so that none is left out.

import { CELL, Field, NO_TASK, NOT_CHARGED, taskAt } from "./data";

export type Colouring = "task" | "command" | "cgroup" | "queue" | "cause" | "frequency";

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
export const QUEUE: Rgb[] = [
  [140, 179, 217],
  [240, 184, 95],
  [224, 142, 61],
  [200, 98, 42],
  [160, 58, 42],
];
/** Of causes, those that took most first; all others share the last. */
const CAUSES: Rgb[] = [
  [213, 94, 0],
  [0, 114, 178],
  [0, 158, 115],
  [204, 121, 167],
  [230, 159, 0],
  [86, 180, 233],
  [110, 60, 160],
  [90, 90, 90],
];
/** More tasks waited than CPUs were idle. */
const UNCHARGED: Rgb = [150, 110, 90];
export const IN_VAIN: Rgb = [213, 94, 0];
/** Where a second recording has less. */
export const LESS: Rgb = [0, 114, 178];
/** CPUs that a decision considered. */
export const CONSIDERED: Rgb = [40, 80, 255];
/** The lowest and the highest frequency: lightness alone tells them apart, and names of tasks are read on both. */
const [SLOW, FAST]: [Rgb, Rgb] = [
  [205, 224, 242],
  [64, 128, 204],
];
const NOT_FOUND: Rgb = [200, 200, 200];
const NOT_FOUND_DARK: Rgb = [84, 84, 84];
export const UNNAMED: Rgb = [136, 136, 136];
export const PLAIN: Rgb = [170, 178, 186];
export const WAKING: Rgb = [240, 228, 66];
export const HATCH: Rgb = [153, 153, 153];
export const LIGHT = { paper: [242, 242, 242] as Rgb, wanted: [250, 222, 190] as Rgb };
export const DARK = { paper: [36, 36, 36] as Rgb, wanted: [92, 62, 30] as Rgb };

/** Colour of a cause, by its place among all: the first has taken most. */
export function causeColour(code: number, ranks: Map<number, number>): Rgb {
  if (code === NOT_CHARGED) return UNCHARGED;
  return CAUSES[Math.min(ranks.get(code) ?? CAUSES.length, CAUSES.length - 1)] ?? IN_VAIN;
}

/** Colour of a frequency, as a share of the way from the lowest to the highest. */
export const frequencyColour = (share: number): Rgb => SLOW.map((slow, n) => Math.round(slow + ((FAST[n] ?? 0) - slow) * share)) as Rgb;

/** Colour of what has a number. */
export const taskColour = (number: number): Rgb => TASKS[number % TASKS.length] ?? UNNAMED;

/** The part of a lane's height, from above, in which waits in vain are marked. */
export const BAND = 0.3;

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
}

/** How tasks are coloured together. */
export interface Groups {
  /** Of each task the place of its group. */
  of: Uint32Array;
  /** Of each place a number that is the same in all recordings. */
  numbers: number[];
}

/** What tasks of a recording look like. */
export interface Tasks {
  /** 1 for the tasks that the search found; undefined where it looks for none. */
  found: Uint8Array | undefined;
  /** Commands or cgroups, where tasks are coloured by them, and they are known. */
  groups: Groups | undefined;
  /** The place of each cause among all by what they took: 0 took most. */
  causes: Map<number, number>;
  /** Of each byte that says a frequency its pixel. */
  frequencies: number[];
}

export const pixel = ([red, green, blue]: Rgb): number => (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;

/** Between two pixels; `share` of 256 is the one above. */
const mix = (below: number, above: number, share: number): number => {
  const rest = 256 - share;
  const outer = (((below & 0xff00ff) * rest + (above & 0xff00ff) * share) >>> 8) & 0xff00ff;
  const green = (((below & 0xff00) * rest + (above & 0xff00) * share) >>> 8) & 0xff00;
  return (0xff000000 | outer | green) >>> 0;
};

const [TASK_PIXELS, QUEUE_PIXELS] = [TASKS.map(pixel), QUEUE.map(pixel)];
const [NOT_FOUND_PIXEL, NOT_FOUND_DARK_PIXEL] = [pixel(NOT_FOUND), pixel(NOT_FOUND_DARK)];
const [UNNAMED_PIXEL, PLAIN_PIXEL, WAKING_PIXEL, HATCH_PIXEL] = [pixel(UNNAMED), pixel(PLAIN), pixel(WAKING), pixel(HATCH)];
const IN_VAIN_PIXEL = pixel(IN_VAIN);
/** What a share that is just above zero counts for, of 256: it must be seen. */
const LEAST_MARK = 170;
const LEAST_SHARE = 30;

/** Pixels of the bytes that say a frequency; `share` is where one is between the lowest and the highest of all recordings. */
export const frequencyPixels = (share: (byte: number) => number | undefined): number[] =>
  Array.from({ length: 256 }, (_, byte) => {
    const at = share(byte);
    return at === undefined ? UNNAMED_PIXEL : pixel(frequencyColour(at));
  });

/** The pixels of a tile, row by row, each as 0xAABBGGRR: a row of `look.tall` pixels for each lane, a column for each of
    `cells` cells. Whatever is above zero is seen. They go into `into`, which has only zeros. `frequencies` has a byte for each cell
    where time is coloured so. */
export function pixels(
  tile: Uint8Array,
  cells: number,
  look: Look,
  tasks: Tasks,
  into: Uint32Array = new Uint32Array((tile.length / CELL) * look.tall),
  frequencies?: Uint8Array,
): Uint32Array {
  const lanes = tile.length / CELL / cells;
  const { tall } = look;
  const pixels = into;
  const gap = tall > 4 ? 1 : 0;
  const scheme = look.dark ? DARK : LIGHT;
  const [paper, wanted] = [pixel(scheme.paper), pixel(scheme.wanted)];
  const height = tall - gap;
  const band = Math.max(2, Math.round(height * BAND));
  for (let lane = 0; lane < lanes; lane++) {
    const of = (field: Field): number => (lane * CELL + field) * cells;
    const [busyAt, wakingAt, unknownAt, offlineAt] = [of(Field.Busy), of(Field.Waking), of(Field.Unknown), of(Field.Offline)];
    const [wantedAt, vainAt, whyAt] = [of(Field.Wanted), of(Field.InVain), of(Field.Why)];
    const waitingAt = of(Field.Waiting);
    const byte = (at: number): number => tile[at] ?? 0;
    for (let x = 0; x < cells; x++) {
      const [busy, vain, wants] = [byte(busyAt + x), byte(vainAt + x), byte(wantedAt + x)];
      const [waking, unknown] = [byte(wakingAt + x), Math.min(255, byte(unknownAt + x) + byte(offlineAt + x))];
      const idle = wants > 0 ? mix(paper, wanted, LEAST_SHARE + (((256 - LEAST_SHARE) * wants) >> 8)) : paper;
      let colour = idle;
      if (busy > 0) {
        colour = busyPixel(taskAt(tile, cells, lane, x), byte(waitingAt + x), look, tasks, frequencies?.[lane * cells + x] ?? 0);
      }
      const marked = (below: number): number => {
        const pure = look.colouring === "cause" ? pixel(causeColour(byte(whyAt + x), tasks.causes)) : IN_VAIN_PIXEL;
        return mix(below, pure, LEAST_MARK + (((256 - LEAST_MARK) * vain) >> 8));
      };
      let at = lane * tall * cells + x;
      if (height < 4) {
        // Too low for parts: one colour, in which each part has its share.
        let is = busy > 0 ? mix(idle, colour, Math.max(LEAST_SHARE, busy)) : idle;
        if (unknown > 0) is = mix(is, HATCH_PIXEL, Math.max(80, unknown));
        if (vain > 0) is = marked(is);
        for (let y = 0; y < height; y++, at += cells) pixels[at] = is;
        continue;
      }
      const mark = vain > 0 ? marked(colour) : 0;
      const rows = (share: number): number => Math.ceil((share * height) / 255);
      const busyFrom = height - rows(busy);
      const wakingFrom = busyFrom - rows(waking);
      const unknownFrom = vain > 0 ? band : 0;
      const unknownTo = unknownFrom + rows(unknown);
      for (let y = 0; y < height; y++, at += cells) {
        let is = idle;
        if (vain > 0 && y < band) is = mark;
        else if (y < unknownTo && (y === unknownFrom || (x + y) % 4 === 0)) is = HATCH_PIXEL;
        else if (y >= busyFrom) is = colour;
        else if (y >= wakingFrom) is = WAKING_PIXEL;
        pixels[at] = is;
      }
    }
  }
  return pixels;
}

function busyPixel(task: number, waiting: number, { colouring, dark }: Look, tasks: Tasks, frequency: number): number {
  if (task !== NO_TASK && tasks.found && !tasks.found[task]) return dark ? NOT_FOUND_DARK_PIXEL : NOT_FOUND_PIXEL;
  if (colouring === "queue") return QUEUE_PIXELS[Math.min(QUEUE_PIXELS.length - 1, Math.ceil(waiting / 16))] ?? PLAIN_PIXEL;
  if (colouring === "cause") return PLAIN_PIXEL;
  if (colouring === "frequency") return tasks.frequencies[frequency] ?? UNNAMED_PIXEL;
  if (task === NO_TASK) return UNNAMED_PIXEL;
  const number = colouring === "task" ? task : numberOf(task, tasks.groups);
  return TASK_PIXELS[number % TASK_PIXELS.length] ?? UNNAMED_PIXEL;
}

/** The number of a task's group; NaN where that is not known. */
const numberOf = (task: number, groups: Groups | undefined): number => groups?.numbers[groups.of[task] ?? -1] ?? Number.NaN;

/** How much a new measurement of what a painting takes counts. */
const NEWS = 0.2;

/** Painted tiles: those that were used last. */
export class Painted {
  private readonly kept = new Map<string, { canvas: OffscreenCanvas; version: number }>();
  /** Canvases that are painted anew: making one takes longer than painting it. */
  private readonly free: OffscreenCanvas[] = [];
  private scratch: ImageData | undefined;
  /** How long it takes to paint a tile, in ms. */
  private paintMs = 0;
  /** The frame in which a tile was painted last. */
  private frame = 0;

  constructor(private readonly cells: number) {}

  /** Forgets what was used longest ago, down to so many. */
  keep(most: number): void {
    for (const [oldest, { canvas }] of this.kept) {
      if (this.kept.size <= most) break;
      this.kept.delete(oldest);
      if (this.free.length < most) this.free.push(canvas);
    }
  }

  /** What was painted, if it is here. */
  peek(key: string): OffscreenCanvas | undefined {
    return this.kept.get(key)?.canvas;
  }

  /** The tile as it looks now; an older look of it, or none, where there is no time left to paint it in this frame. */
  get(key: string, tile: Uint8Array, look: Look, tasks: Tasks, frequencies?: Uint8Array): { canvas: OffscreenCanvas; fresh: boolean } | undefined {
    const here = this.kept.get(key);
    this.kept.delete(key);
    const now = performance.now();
    // One tile is painted in any case, so that all are at last.
    const hurry = this.frame === look.until && now + this.paintMs > look.until;
    if (here && (here.version === look.version || hurry)) {
      this.kept.set(key, here);
      return { canvas: here.canvas, fresh: here.version === look.version };
    }
    if (hurry) return undefined;
    this.frame = look.until;
    const canvas = this.paint(tile, look, tasks, frequencies, here?.canvas ?? this.free.pop());
    this.paintMs += NEWS * (performance.now() - now - this.paintMs);
    this.kept.set(key, { canvas, version: look.version });
    return { canvas, fresh: true };
  }

  private paint(tile: Uint8Array, look: Look, tasks: Tasks, frequencies: Uint8Array | undefined, canvas = new OffscreenCanvas(this.cells, 1)): OffscreenCanvas {
    const height = Math.max(1, (tile.length / CELL / this.cells) * look.tall);
    if (this.scratch?.height !== height) this.scratch = new ImageData(this.cells, height);
    const into = new Uint32Array(this.scratch.data.buffer).fill(0);
    pixels(tile, this.cells, look, tasks, into, frequencies);
    if (canvas.height !== height) canvas.height = height;
    canvas.getContext("2d")?.putImageData(this.scratch, 0, 0);
    return canvas;
  }
}
