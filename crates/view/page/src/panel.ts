// One recording over time: a curve of what all CPUs did together, and lanes.

import { CELL, Field, Fold, levelFor, Recording, Stretch, Sum } from "./data";
import { IN_VAIN, Look, Painted } from "./paint";

/** What is seen: the begin and the end, in ns. */
export interface Span {
  from: number;
  to: number;
}

/** Pixels left of the lanes. */
export const LABEL = 84;
/** Height of a curve, in pixels. */
export const CURVE = 44;

/** Where things stand on the canvas, in pixels of the screen. */
export interface Place {
  /** The curve's top; lanes stand below it. */
  top: number;
  width: number;
  /** Height of a lane. */
  lane: number;
  ratio: number;
}

/** What one cell says, or several on one pixel. */
export interface Told {
  busy: number;
  waking: number;
  unknown: number;
  offline: number;
  wanted: number;
  inVain: number;
  waitingMax: number;
  why: number;
  task: number;
}

/** A recording on the page. */
export class Panel {
  /** What is added to a time of the recording to get the page's. */
  shift = 0;
  /** A moment that the user marked. */
  mark: number | undefined;
  place: Place = { top: 0, width: 0, lane: 1, ratio: 1 };
  way: { task: number; stretches: Stretch[] } | undefined;

  constructor(
    readonly recording: Recording,
    private readonly painted: Painted,
    private readonly key: number,
  ) {}

  /** How CPUs are put on lanes. */
  fold(n: number): Fold {
    return this.recording.head.folds[n] ?? { name: "", lanes: [] };
  }

  /** The lane at a height on the canvas. */
  laneAt(fold: number, y: number): number | undefined {
    const lane = Math.floor((y - this.place.top - CURVE) / this.place.lane);
    return lane >= 0 && lane < this.fold(fold).lanes.length ? lane : undefined;
  }

  /** Height of all, for lanes of that height. */
  height(fold: number, lane: number): number {
    return CURVE + lane * this.fold(fold).lanes.length;
  }

  /** Draws labels and lanes. Gives whether all of it is as it should be, and not stale. */
  drawLanes(to: CanvasRenderingContext2D, fold: number, seen: Span, look: Look): boolean {
    const { top, width, lane, ratio } = this.place;
    const { lanes } = this.fold(fold);
    const { head } = this.recording;
    const [from, until] = [seen.from - this.shift, seen.to - this.shift];
    const perPixel = (until - from) / (width - LABEL);
    const level = levelFor(perPixel / ratio);
    const tileNs = head.tile.cells * 4 ** level;
    const x = (time: number): number => Math.round((LABEL + (time - from) / perPixel) * ratio) / ratio;
    const [first, last] = [Math.max(0, Math.floor(from / tileNs)), Math.floor(Math.min(until, head.span) / tileNs)];
    let fresh = true;
    to.save();
    to.beginPath();
    to.rect(LABEL, top + CURVE, width - LABEL, lane * lanes.length);
    to.clip();
    to.imageSmoothingEnabled = false;
    for (let group = 0; group * head.tile.lanes < lanes.length; group++) {
      const y = top + CURVE + group * head.tile.lanes * lane;
      for (let n = first; n <= last; n++) {
        const found = this.recording.tile(fold, level, n, group);
        if (!found) continue;
        const { tile, key, up } = found;
        const image = this.painted.get(`${this.key}/${key}`, tile, look, performance.now() > look.until);
        if (!image?.fresh) fresh = false;
        if (!image) continue;
        const cells = head.tile.cells / 4 ** up;
        const skipped = (n % 4 ** up) * cells;
        const [x0, x1] = [x(n * tileNs), x((n + 1) * tileNs)];
        const rows = image.canvas.height / look.tall;
        to.drawImage(image.canvas, skipped, 0, cells, image.canvas.height, x0, y, x1 - x0, rows * lane);
      }
    }
    to.restore();
    this.drawLabels(to, fold);
    return fresh;
  }

  private drawLabels(to: CanvasRenderingContext2D, fold: number): void {
    const { top, lane } = this.place;
    const every = Math.ceil(12 / lane);
    this.fold(fold).lanes.forEach(([label], n) => {
      if (n % every === 0) to.fillText(label, 4, top + CURVE + n * lane + Math.max(9, lane / 2 + 4), LABEL - 8);
    });
  }

  /** Draws how many CPUs ran tasks, how many tasks waited, and on how many CPUs in vain. */
  drawCurve(to: CanvasRenderingContext2D, seen: Span, soft: string, ink: string): void {
    const { top, width } = this.place;
    const columns = Math.round(width - LABEL);
    const of = (sum: Sum): Float32Array => this.sums(sum, seen, columns);
    const [busy, waiting, vain] = [of(Sum.Busy), of(Sum.Waiting), of(Sum.InVain)];
    const cpus = this.fold(0).lanes.length;
    const most = Math.max(cpus, waiting.reduce((a, b) => Math.max(a, b), 0));
    const [bottom, high] = [top + CURVE - 4, CURVE - 10];
    const y = (value: number): number => bottom - (value / most) * high;
    const area = (values: Float32Array, style: string): void => {
      to.fillStyle = style;
      to.beginPath();
      to.moveTo(LABEL, bottom);
      // What is above zero is seen.
      values.forEach((value, n) => to.lineTo(LABEL + n, value > 0 ? Math.min(y(value), bottom - 1) : bottom));
      to.lineTo(LABEL + columns, bottom);
      to.fill();
    };
    area(busy, soft);
    area(vain, `rgb(${IN_VAIN.join()})`);
    to.strokeStyle = ink;
    to.lineWidth = 1;
    to.beginPath();
    waiting.forEach((value, n) => (n === 0 ? to.moveTo(LABEL, y(value)) : to.lineTo(LABEL + n, y(value))));
    to.stroke();
    to.fillStyle = ink;
    to.fillText(`${Number(most.toPrecision(3))}`, 4, top + 12);
    to.fillText("CPUs, tasks", 4, top + 26, LABEL - 8);
  }

  /** A number of all CPUs on each pixel column; the most of the cells that fall on it. */
  sums(sum: Sum, seen: Span, columns: number): Float32Array {
    const { head } = this.recording;
    const [from, perColumn] = [seen.from - this.shift, (seen.to - seen.from) / columns];
    const level = levelFor(perColumn);
    const { cells } = head.tile;
    const tileNs = cells * 4 ** level;
    const values = new Float32Array(columns);
    let known: { n: number; found: ReturnType<Recording["totals"]> } | undefined;
    for (let column = 0; column < columns; column++) {
      const time = from + column * perColumn;
      if (time < 0 || time >= head.span) continue;
      // Cells are a pixel wide or wider: the one at the column's begin and the one at its end.
      for (const at of [time, Math.min(time + perColumn * 0.999, head.span - 1)]) {
        const n = Math.floor(at / tileNs);
        if (known?.n !== n) known = { n, found: this.recording.totals(level, n) };
        if (!known.found) continue;
        const { totals, up } = known.found;
        const cell = Math.floor(at / (4 ** (level + up))) % cells;
        values[column] = Math.max(values[column] ?? 0, totals[sum * cells + cell] ?? 0);
      }
    }
    return values;
  }

  /** What the cells say that are on a pixel; undefined while none have come. */
  read(fold: number, lane: number, time: number, perPixel: number): Told | undefined {
    const { head } = this.recording;
    const level = levelFor(perPixel);
    const at = time - this.shift;
    const { cells, lanes } = head.tile;
    const found = this.recording.tile(fold, level, Math.floor(at / (cells * 4 ** level)), Math.floor(lane / lanes));
    if (!found || at < 0 || at >= head.span) return undefined;
    const cell = Math.floor(at / 4 ** (level + found.up)) % cells;
    const of = (field: number): number => found.tile[((lane % lanes) * CELL + field) * cells + cell] ?? 0;
    return {
      busy: of(Field.Busy),
      waking: of(Field.Waking),
      unknown: of(Field.Unknown),
      offline: of(Field.Offline),
      wanted: of(Field.Wanted),
      inVain: of(Field.InVain),
      waitingMax: of(Field.WaitingMax),
      why: of(Field.Why),
      task: of(Field.Task) | (of(Field.Task + 1) << 8) | (of(Field.Task + 2) << 16),
    };
  }

  /** Draws the way of a task over lanes: where it ran a box, where it waited a line. */
  drawWay(to: CanvasRenderingContext2D, fold: number, seen: Span, ink: string): void {
    if (!this.way) return;
    const { top, width, lane } = this.place;
    const laneOf = new Map<number, number>();
    this.fold(fold).lanes.forEach(([, cpus], n) => cpus.forEach((cpu) => laneOf.set(cpu, n)));
    const perPixel = (seen.to - seen.from) / (width - LABEL);
    const x = (time: number): number => LABEL + Math.max(-10, Math.min(width + 10, (time + this.shift - seen.from) / perPixel));
    const y = (cpu: number): number => top + CURVE + (laneOf.get(cpu) ?? 0) * lane;
    to.save();
    to.beginPath();
    to.rect(LABEL, top + CURVE, width - LABEL, this.height(fold, lane) - CURVE);
    to.clip();
    to.strokeStyle = to.fillStyle = ink;
    let last: { x: number; y: number } | undefined;
    for (const [cpu, from, until, origin] of [...this.way.stretches].sort((a, b) => a[1] - b[1])) {
      const [x0, x1, y0] = [x(from), Math.max(x(until), x(from) + 1), y(cpu)];
      to.lineWidth = 1;
      if (last && last.y !== y0) {
        to.beginPath();
        to.moveTo(last.x, last.y + lane / 2);
        to.lineTo(x0, y0 + lane / 2);
        to.stroke();
      }
      if (origin === null) {
        to.lineWidth = 1.5;
        to.strokeRect(x0, y0 + 0.5, x1 - x0, Math.max(1, lane - 1));
      } else {
        to.fillRect(x0, y0 + lane / 2 - 1, x1 - x0, 2);
      }
      last = { x: x1, y: y0 };
    }
    to.restore();
  }
}

