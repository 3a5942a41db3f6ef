// Reads cells pixel by pixel, and paints CPUs over time.

import { BUSY, CELL, Head, NO_TASK, OFFLINE, TASK, Tile, Tiles, UNKNOWN, WAITING, WAITING_MAX, WAKING, WANTED } from "./data";

/** What is seen: the begin and the end, in ns from the begin of the recording. */
export interface Span {
  from: number;
  to: number;
}

export type Colouring = "task" | "waiting";

// Blue-green-red. Okabe and Ito's colours, which colour-blind people tell apart, made paler: their
// vermilion is for time that was wanted, and must be seen beside them.
const TASKS = [0xc99a4d, 0xefcb8b, 0x9fba59, 0xd2b8a0, 0xc7a9d9, 0xa8a8c8, 0xb5d6a8, 0xd8c7b0];
const QUEUE = [0xd9b38c, 0x5fb8f0, 0x3d8ee0, 0x2a62c8, 0x2a3aa0];
const NOT_FOUND = 0xc8c8c8;
const UNKNOWN_TASK = 0x888888;
const STRIPE = 0x999999;

const opaque = (bgr: number): number => (0xff000000 | bgr) >>> 0;

/** Level of the widest cells of which at least one falls on each pixel. */
export function levelFor(nsPerPixel: number): number {
  return Math.max(0, Math.floor(Math.log(Math.max(1, nsPerPixel)) / Math.log(4)));
}

/** Levels above the wanted one that are looked at while its cells have not come. */
const ABOVE = 8;

/** A tile, or one of wider cells in its place. */
interface Source {
  tile: Tile;
  /** How many cells of the wanted level one of its cells holds. */
  holds: number;
}

/** The cells of CPUs in a span, as they fall on pixel columns. Reading fills its fields. */
export class Columns {
  busy = 0;
  waking = 0;
  unknown = 0;
  offline = 0;
  wanted = 0;
  waiting = 0;
  waitingMax = 0;
  task = NO_TASK;

  private readonly width: number;
  private readonly first: number;
  private readonly groups: (Source | undefined)[][] = [];

  /** Of all CPUs in `seen`, on so many columns; asks for tiles that are missing. */
  constructor(
    private readonly head: Head,
    tiles: Tiles,
    private readonly seen: Span,
    columns: number,
  ) {
    const level = levelFor((seen.to - seen.from) / columns);
    this.width = 4 ** level;
    const { cells, cpus } = head.tile;
    this.first = Math.floor(seen.from / this.width / cells);
    const last = Math.floor(seen.to / this.width / cells);
    tiles.begin();
    for (let group = 0; group * cpus < head.cpus.length; group++) {
      const sources: (Source | undefined)[] = [];
      for (let n = this.first; n <= last; n++) sources.push(find(tiles, level, n, group));
      this.groups.push(sources);
    }
    tiles.ask();
  }

  /** Reads what lane `lane` did between two moments; false where no cells have come yet. */
  read(lane: number, from: number, to: number): boolean {
    const { cells, cpus } = this.head.tile;
    const sources = this.groups[Math.floor(lane / cpus)];
    const first = Math.floor(from / this.width);
    const last = Math.max(first, Math.ceil(to / this.width) - 1);
    this.busy = this.waking = this.unknown = this.offline = this.wanted = this.waiting = this.waitingMax = 0;
    this.task = NO_TASK;
    let most = -1;
    for (let cell = first; cell <= last; cell++) {
      const source = sources?.[Math.floor(cell / cells) - this.first];
      if (!source) return false;
      const { tile, holds } = source;
      const at = ((lane % cpus) * cells + (Math.floor(cell / holds) % cells)) * CELL;
      const of = (field: number): number => tile[at + field] ?? 0;
      const busy = of(BUSY);
      this.busy += busy;
      this.waiting += of(WAITING);
      // What is wanted or unknown stays: the most of the cells that fall on one pixel.
      this.waking = Math.max(this.waking, of(WAKING));
      this.unknown = Math.max(this.unknown, of(UNKNOWN));
      this.offline = Math.max(this.offline, of(OFFLINE));
      this.wanted = Math.max(this.wanted, of(WANTED));
      this.waitingMax = Math.max(this.waitingMax, of(WAITING_MAX));
      if (busy > most) {
        most = busy;
        this.task = (of(TASK) | (of(TASK + 1) << 8) | (of(TASK + 2) << 16) | (of(TASK + 3) << 24)) >>> 0;
      }
    }
    this.busy /= last - first + 1;
    this.waiting /= 16 * (last - first + 1);
    return true;
  }

  /** Paints lane `lane`, `height` pixels high, into the rows of `pixels` from `top` on. */
  paint(lane: number, pixels: Uint32Array, width: number, top: number, height: number, how: Look): void {
    const perColumn = (this.seen.to - this.seen.from) / width;
    for (let x = 0; x < width; x++) {
      const from = this.seen.from + x * perColumn;
      const is = this.read(lane, from, from + perColumn);
      const busy = is ? Math.ceil((this.busy / 255) * height) : 0;
      const unknown = is ? Math.ceil(((this.unknown + this.offline) / 255) * height) : 0;
      const wanted = is && this.wanted > 0 ? Math.max(2, Math.ceil((this.wanted / 255) * height)) : 0;
      const colour = is && busy > 0 ? this.colour(how) : how.paper;
      // From the top: wanted or unknown; from the bottom: busy.
      for (let y = 0, at = top * width + x; y < height; y++, at += width) {
        let bgr = how.paper;
        if (y < wanted) bgr = how.wanted;
        else if (y >= height - busy) bgr = colour;
        else if (y < unknown && (x + y) % 4 === 0) bgr = STRIPE;
        pixels[at] = opaque(bgr);
      }
    }
  }

  private colour({ colouring, dims }: Look): number {
    if (colouring === "waiting") return QUEUE[Math.min(QUEUE.length - 1, Math.ceil(this.waiting))] ?? 0;
    if (this.task === NO_TASK) return UNKNOWN_TASK;
    if (dims?.(this.task)) return NOT_FOUND;
    return TASKS[this.task % TASKS.length] ?? 0;
  }
}

/** How time is coloured. */
export interface Look {
  /** Idle. */
  paper: number;
  /** Idle while a task that could run there waited elsewhere: many CPUs may be so for one task. */
  wanted: number;
  colouring: Colouring;
  /** Tells whether the search leaves a task out. */
  dims: ((task: number) => boolean) | undefined;
}

function find(tiles: Tiles, level: number, n: number, group: number): Source | undefined {
  const here = tiles.get(level, n, group);
  if (here) return { tile: here, holds: 1 };
  for (let up = 1; up <= ABOVE; up++) {
    const holds = 4 ** up;
    const tile = tiles.peek(level + up, Math.floor(n / holds), group);
    if (tile) return { tile, holds };
  }
  return undefined;
}
