// One trace over time: a curve of the activity of all CPUs, and lanes.

import { drawPath } from "./account";
import { CELL, Field, fieldAt, Fold, levelFor, NO_TASK, Recording, Step, Sum, taskAt } from "./data";
import { find } from "./glob";
import { Latest } from "./latest";
import { BAND, Colouring, CONSIDERED, frequencyPixels, Groups, IN_VAIN, Look, Painted, Tasks } from "./paint";
import { drawFollowed, drawWay, FOLLOWED, Frame, Way } from "./way";

/** What is seen: the begin and the end, in ns. */
export interface Span {
  from: number;
  to: number;
}

/** Pixels left of the lanes. */
export const LABEL = 84;
/** Height of the curves above the lanes, in pixels. */
export const CURVE = 56;

/** Painted tiles that are kept, for each that is seen. */
const PAINTED = 2;

/** Levels of wider cells that may stand in the place of cells that are not painted yet. */
const STAND_INS = 3;

/** On lanes that are so high one can point at what stands above, in pixels. */
const PARTED = 8;

/** Lanes that are so high, and runs that are so wide, have names in them, in pixels. */
const NAMED_LANE = 14;
const NAMED_WIDTH = 36;

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
  /** Width of the cell, where it is wider than a pixel: narrower ones are not here. */
  widthNs: number;
  /** The mean frequency, where frequencies are drawn. */
  khz: number | undefined;
}

/** The most of some numbers, of which some may be unknown. */
export const most = (values: Float32Array): number => values.reduce((a, b) => (b > a ? b : a), 0);

/** A recording on the page. */
export class Panel {
  /** What is added to a time of the recording to get the page's. */
  shift = 0;
  /** A moment that the user marked. */
  mark: number | undefined;
  place: Place = { top: 0, width: 0, lane: 1, ratio: 1 };
  /** Where the task that is followed ran and waited. */
  way: Way | undefined;
  /** CPUs that a decision considered, and when that was. */
  considered: { cpus: Set<number>; time: number } | undefined;
  /** The critical path of the account that is shown. */
  path: Step[] | undefined;
  readonly tasks: Tasks;
  /** Of each name of a command or cgroup a number that is the same in all recordings. */
  private readonly numbers: { command: number[]; cgroup: number[] };
  /** How many tasks the search found, and the first; undefined where it looks for none. */
  found: { count: number; first: number } | undefined;
  /** Width of the widest cells that are drawn in the place of narrower ones; 0 where none are. */
  finestNs = 0;
  /** The search of which it was seen whether it finds a task alone. */
  sought = "";
  /** CPUs whose lanes are shown, where not all are, and the lanes of each fold. */
  private cpus: Set<number> | undefined;
  private readonly shownOf = new Map<number, number[]>();
  private readonly asking = new Latest<[Span, number]>(([seen, nsPerPixel]) => this.askWayNow(seen, nsPerPixel));
  private readonly painted: Painted;

  /** `numbers`, `causes` and `khz` are of all recordings: numbers of commands and cgroups, ranks of causes, the lowest and the
      highest frequency. */
  constructor(
    readonly recording: Recording,
    /** What it is called among others. */
    readonly name: string,
    numbers: { command: Map<string, number>; cgroup: Map<string, number> },
    causes: Map<number, number>,
    khz: [number, number] | undefined,
  ) {
    const { head } = recording;
    this.painted = new Painted(head.tile.cells);
    const number = (of: Map<string, number>) => (name: string): number => {
      const known = of.get(name) ?? of.size;
      of.set(name, known);
      return known;
    };
    this.numbers = { command: head.names.map(number(numbers.command)), cgroup: head.cgroups.map(number(numbers.cgroup)) };
    const [least = 0, highest = 0] = khz ?? [];
    const frequencies = frequencyPixels((byte) => {
      const here = recording.khz(byte);
      return here === undefined ? undefined : highest > least ? (here - least) / (highest - least) : 1;
    });
    this.tasks = { found: undefined, groups: undefined, causes, frequencies };
  }

  /** Cgroups, each with its number. */
  get cgroups(): [string, number][] {
    return this.recording.head.cgroups.map((name, n) => [name, this.numbers.cgroup[n] ?? 0]);
  }

  /** Finds tasks by name, tid or cgroup; all stand out where there is no pattern. */
  search(pattern: string): void {
    const { head } = this.recording;
    const tasks = pattern ? this.recording.tasks : undefined;
    if (tasks) {
      const cgroups = tasks.cgroups && { all: head.cgroups, of: tasks.cgroups };
      const { is, count } = find(pattern, { all: head.names, of: tasks.names }, tasks.tids, cgroups);
      this.found = { count, first: is.indexOf(1) };
      this.tasks.found = is;
      return;
    }
    this.found = undefined;
    this.tasks.found = undefined;
    if (!head.chosen) return;
    const is = (this.tasks.found = new Uint8Array(head.tasks));
    for (const task of head.chosen) is[task] = 1;
  }

  /** How tasks are coloured together; undefined where each has its own colour, or where it is not known. */
  private groups(colouring: Colouring): Groups | undefined {
    if (colouring !== "command" && colouring !== "cgroup") return undefined;
    const { tasks } = this.recording;
    const of = colouring === "command" ? tasks?.names : tasks?.cgroups;
    return of && { of, numbers: this.numbers[colouring] };
  }

  /** How CPUs are put on lanes. */
  fold(n: number): Fold {
    return this.recording.head.folds[n] ?? { name: "", lanes: [] };
  }

  /** Only lanes of these CPUs are shown; undefined: all. Gives whether there are such. */
  choose(cpus: Set<number> | undefined): boolean {
    this.cpus = cpus;
    this.shownOf.clear();
    return !cpus || this.fold(0).lanes.some(([, of]) => of.some((cpu) => cpus.has(cpu)));
  }

  /** The lanes that are shown, from above: their places among those of a fold. */
  shown(fold: number): number[] {
    const { cpus } = this;
    const known = this.shownOf.get(fold);
    if (known) return known;
    const shown = this.fold(fold).lanes.flatMap(([, of], n) => (!cpus || of.some((cpu) => cpus.has(cpu)) ? [n] : []));
    this.shownOf.set(fold, shown);
    return shown;
  }

  /** Where lanes begin. */
  private get lanesTop(): number {
    return this.place.top + CURVE + FOLLOWED;
  }

  /** Whether a height on the canvas is in the upper part of a lane, where waits in vain are marked: on a low one that is all of
      it. */
  isOnBand(y: number): boolean {
    const { lane } = this.place;
    return lane < PARTED || ((y - this.lanesTop) % lane) / lane < BAND;
  }

  /** Whether a height on the canvas is on the lane of the task that is followed. */
  isOnFollowed(y: number): boolean {
    return y >= this.lanesTop - FOLLOWED && y < this.lanesTop;
  }

  /** The lane at a height on the canvas. */
  laneAt(fold: number, y: number): number | undefined {
    return this.shown(fold)[Math.floor((y - this.lanesTop) / this.place.lane)];
  }

  /** Height of all, for lanes of that height. */
  height(fold: number, lane: number): number {
    return CURVE + FOLLOWED + lane * this.shown(fold).length;
  }

  /** Follows the way of a task; of none. */
  follow(task: number | undefined, isFound = false): void {
    if (task === this.way?.task) return;
    this.way = task === undefined || task === NO_TASK ? undefined : { task, stretches: [], isFound };
  }

  /** Once a search has found a task alone it is followed, until another search, or the user, follows another. */
  followFound(pattern: string): void {
    // While tasks have not come, nothing is found.
    if (pattern === this.sought || (pattern && !this.found)) return;
    this.sought = pattern;
    if (!this.recording.isServed) return;
    if (this.found?.count === 1) this.follow(this.found.first, true);
    else if (this.way?.isFound) this.follow(undefined);
  }

  /** Asks for the way of the task that is followed. */
  askWay(seen: Span, nsPerPixel: number): Promise<void> {
    return this.asking.ask([seen, nsPerPixel]);
  }

  private async askWayNow(seen: Span, nsPerPixel: number): Promise<void> {
    const { way, shift } = this;
    if (!way) return;
    const [from, to] = [Math.max(0, seen.from - shift), Math.max(0, seen.to - shift)];
    way.stretches = await this.recording.way(way.task, from, to, nsPerPixel);
  }

  /** When the first of the tasks that the search found first ran. */
  async begin(): Promise<number | undefined> {
    const task = this.found?.first ?? -1;
    if (task < 0) return undefined;
    const { span } = this.recording.head;
    const stretches = await this.recording.way(task, 0, span, span);
    const runs = stretches.filter(([, , , origin]) => origin === null);
    return runs.reduce<number | undefined>((least, [, from]) => Math.min(least ?? from, from), undefined);
  }

  /** Draws all of it. Gives whether it is as it should be, and not stale. */
  draw(to: CanvasRenderingContext2D, fold: number, seen: Span, look: Look, ink: string): boolean {
    to.fillStyle = ink;
    const isFresh = this.drawLanes(to, fold, seen, look);
    this.drawCurves(to, seen, look.dark ? "#3a5a74" : "#b7d3e8", ink);
    const { way, recording } = this;
    const frame = this.frame(fold, seen);
    const hint = recording.isServed ? "click a task to follow it" : "in wastenot view, this lane shows where a task ran and waited";
    drawFollowed(to, way, way ? recording.name(way.task) : hint, this.lanesTop - FOLLOWED, frame, ink);
    if (way) drawWay(to, way, frame, ink);
    if (this.path) drawPath(to, this.path, frame, look.dark);
    this.drawConsidered(to, fold, frame);
    this.drawMark(to, fold, seen, ink);
    return isFresh;
  }

  /** Marks the lanes of CPUs that a decision considered: beside their labels, and at its moment. */
  private drawConsidered(to: CanvasRenderingContext2D, fold: number, { x }: Frame): void {
    const { considered } = this;
    if (!considered) return;
    const { lane } = this.place;
    to.fillStyle = `rgb(${CONSIDERED.join()})`;
    this.shown(fold).forEach((n, row) => {
      if (!this.fold(fold).lanes[n]?.[1].some((cpu) => considered.cpus.has(cpu))) return;
      const [top, high] = [this.lanesTop + row * lane, Math.max(1, lane - 1)];
      to.fillRect(LABEL - 7, top, 5, high);
      const at = x(considered.time);
      if (at >= LABEL) to.fillRect(at - 1, top, 3, high);
    });
  }

  private drawMark(to: CanvasRenderingContext2D, fold: number, seen: Span, ink: string): void {
    if (this.mark === undefined) return;
    const { top, width, lane } = this.place;
    const x = LABEL + ((this.mark + this.shift - seen.from) * (width - LABEL)) / (seen.to - seen.from);
    if (x < LABEL) return;
    to.fillStyle = ink;
    to.fillRect(x, top, 1, this.height(fold, lane));
    to.fillText("mark", x + 3, top + 10);
  }

  /** Draws labels and lanes. Gives whether all of it is as it should be, and not stale. */
  private drawLanes(to: CanvasRenderingContext2D, fold: number, seen: Span, look: Look): boolean {
    const { width, lane, ratio } = this.place;
    const shown = this.shown(fold);
    const { head } = this.recording;
    const [from, until] = [seen.from - this.shift, seen.to - this.shift];
    const perPixel = (until - from) / (width - LABEL);
    const level = levelFor(perPixel / ratio);
    const tileNs = head.tile.cells * 4 ** level;
    const x = (time: number): number => Math.round((LABEL + (time - from) / perPixel) * ratio) / ratio;
    const [first, last] = [Math.max(0, Math.floor(from / tileNs)), Math.floor(Math.min(until, head.span) / tileNs)];
    const isFrequency = look.colouring === "frequency";
    const suffix = isFrequency ? "/frequency" : "";
    let fresh = true;
    this.finestNs = 0;
    this.tasks.groups = this.groups(look.colouring);
    to.save();
    to.beginPath();
    // Beyond its begin and its end there is nothing, which is not idle.
    const [begin, end] = [Math.max(LABEL, x(0)), Math.min(width, x(head.span))];
    to.rect(begin, this.lanesTop, Math.max(0, end - begin), lane * shown.length);
    to.clip();
    to.imageSmoothingEnabled = false;
    let seenTiles = 0;
    const together = head.tile.lanes;
    for (let row = 0, count = 0; row < shown.length; row += count) {
      // Lanes that are beside each other in a tile, too, are drawn at once.
      const lanesFrom = shown[row] ?? 0;
      const group = Math.floor(lanesFrom / together);
      for (count = 1; shown[row + count] === lanesFrom + count && (lanesFrom + count) % together > 0; ) count++;
      const y = this.lanesTop + row * lane;
      for (let n = first; n <= last; n++) {
        const found = this.recording.tile(fold, level, n, group);
        if (!found) continue;
        const { bytes: tile, key, up } = found;
        this.finestNs = Math.max(this.finestNs, up > 0 ? 4 ** (level + up) : 0);
        seenTiles++;
        const frequencies = isFrequency ? this.recording.frequencies(fold, level + up, Math.floor(n / 4 ** up), group) : undefined;
        // Without its frequencies it is not painted: it would have to be painted again.
        const image = isFrequency && !frequencies ? undefined : this.painted.get(key + suffix, tile, look, this.tasks, frequencies);
        if (!image?.fresh) fresh = false;
        // Until there is time to paint it, what was painted of wider cells stands there.
        let [canvas, above] = [image?.canvas, up];
        while (!canvas && above < up + STAND_INS) {
          above++;
          canvas = this.painted.peek(this.recording.tileKey(fold, level + above, Math.floor(n / 4 ** above), group) + suffix);
        }
        if (!canvas) continue;
        const cells = head.tile.cells / 4 ** above;
        const skipped = (n % 4 ** above) * cells;
        const [x0, x1] = [x(n * tileNs), x((n + 1) * tileNs)];
        // What was painted for another height of lanes has as many of them.
        const tall = (canvas.height * head.tile.cells * CELL) / tile.length;
        to.drawImage(canvas, skipped, (lanesFrom % together) * tall, cells, count * tall, x0, y, x1 - x0, count * lane);
      }
    }
    this.drawNames(to, fold, first, last, level, x);
    to.restore();
    this.painted.keep(seenTiles * PAINTED);
    this.drawLabels(to, fold);
    return fresh;
  }

  /** Names tasks where they ran for long enough. */
  private drawNames(to: CanvasRenderingContext2D, fold: number, first: number, last: number, level: number, x: (time: number) => number): void {
    const { lane } = this.place;
    if (lane < NAMED_LANE) return;
    const { head } = this.recording;
    const { cells, lanes: together } = head.tile;
    const ink = to.fillStyle;
    to.fillStyle = "#1a1a1a";
    this.shown(fold).forEach((n, row) => {
      let [task, since] = [NO_TASK, 0];
      const end = (time: number): void => {
        const [x0, x1] = [Math.max(x(since), LABEL), x(time)];
        const isSeen = task !== NO_TASK && (!this.tasks.found || this.tasks.found[task] === 1);
        if (isSeen && x1 - x0 > NAMED_WIDTH) {
          to.fillText(this.recording.name(task), x0 + 3, this.lanesTop + row * lane + lane - 5, x1 - x0 - 6);
        }
      };
      for (let tileAt = first; tileAt <= last; tileAt++) {
        const found = this.recording.tile(fold, level, tileAt, Math.floor(n / together));
        const up = found?.up ?? 0;
        const [begin, count] = [(tileAt % 4 ** up) * (cells / 4 ** up), Math.max(1, cells / 4 ** up)];
        for (let cell = Math.floor(begin); cell < begin + count; cell++) {
          const isBusy = found && fieldAt(found.bytes, cells, n % together, cell, Field.Busy) >= 128;
          const runs = isBusy ? taskAt(found.bytes, cells, n % together, cell) : NO_TASK;
          if (runs === task) continue;
          const time = (Math.floor(tileAt / 4 ** up) * cells + cell) * 4 ** (level + up);
          end(time);
          [task, since] = [runs, time];
        }
      }
      end(Math.min((last + 1) * cells * 4 ** level, head.span));
    });
    to.fillStyle = ink;
  }

  private drawLabels(to: CanvasRenderingContext2D, fold: number): void {
    const { lane } = this.place;
    const every = Math.ceil(12 / lane);
    this.shown(fold).forEach((n, row) => {
      const [label] = this.fold(fold).lanes[n] ?? [""];
      if (row % every === 0) to.fillText(label, 4, this.lanesTop + row * lane + Math.max(9, lane / 2 + 4), LABEL - 8);
    });
  }

  /** Draws how many CPUs ran tasks; below, how many tasks waited, and on how many CPUs in vain. */
  private drawCurves(to: CanvasRenderingContext2D, seen: Span, soft: string, ink: string): void {
    const { top, width } = this.place;
    const columns = Math.round(width - LABEL);
    const [busy, waiting, vain] = this.sums([Sum.Busy, Sum.Waiting, Sum.InVain], seen, columns);
    if (!busy || !waiting || !vain) return;
    const half = CURVE / 2;
    const strip = (top: number, values: Float32Array, scale: number, style: string): void => {
      const [bottom, high] = [top + half - 3, half - 6];
      to.fillStyle = style;
      // A box for all columns beside each other that are as high.
      let [since, height] = [0, 0];
      for (let n = 0; n <= columns; n++) {
        const value = values[n] ?? Number.NaN;
        // What is above zero is seen.
        const next = value > 0 ? Math.max(1, (value / scale) * high) : 0;
        if (next === height && n < columns) continue;
        if (height > 0) to.fillRect(LABEL + since, bottom - height, n - since, height);
        [since, height] = [n, next];
      }
    };
    const [cpus, queued] = [Math.max(1, most(busy)), Math.max(1, most(waiting), most(vain))];
    strip(top, busy, cpus, soft);
    strip(top + half, waiting, queued, soft);
    strip(top + half, vain, queued, `rgb(${IN_VAIN.join()})`);
    to.fillStyle = ink;
    const digits = (value: number): string => `${Number(value.toPrecision(3))}`;
    to.fillText(this.name, LABEL + 4, top + 12);
    to.fillText(`running ${digits(most(busy))}`, 4, top + half - 6, LABEL - 8);
    to.fillText(`waiting ${digits(most(waiting))}`, 4, top + CURVE - 6, LABEL - 8);
  }

  /** Numbers of all CPUs on each pixel column: the most of the cells that fall on it. NaN is beyond the recording. */
  sums(sums: Sum[], seen: Span, columns: number): Float32Array[] {
    const { head } = this.recording;
    const [from, perColumn] = [seen.from - this.shift, (seen.to - seen.from) / columns];
    const level = levelFor(perColumn);
    const { cells } = head.tile;
    const width = 4 ** level;
    const all = sums.map(() => new Float32Array(columns).fill(Number.NaN));
    let [known, up] = [Number.NaN, 0];
    let totals: Float32Array | undefined;
    // Cells are a pixel wide or wider: on a column are the one at its begin and the one at its end.
    for (let column = 0; column < columns; column++) {
      const begin = from + column * perColumn;
      if (begin < 0 || begin >= head.span) continue;
      const last = Math.floor(Math.min(begin + perColumn * 0.999, head.span - 1) / width);
      for (const values of all) values[column] = 0;
      for (let cell = Math.floor(begin / width); cell <= last; cell++) {
        const n = Math.floor(cell / cells);
        if (known !== n) {
          const found = this.recording.totals(level, n);
          [known, totals, up] = [n, found?.totals, found?.up ?? 0];
        }
        if (!totals) continue;
        const at = Math.floor(cell / 4 ** up) % cells;
        for (let n = 0; n < sums.length; n++) {
          const [values, value] = [all[n], totals[(sums[n] ?? 0) * cells + at] ?? 0];
          if (values && value > (values[column] ?? 0)) values[column] = value;
        }
      }
    }
    return all;
  }

  /** Sums over all CPUs in a stretch of the recording's time, from totals as wide as a pixel: about, and in the order of totals. */
  async sumsAbout(from: number, to: number, nsPerPixel: number): Promise<number[]> {
    const { cells } = this.recording.head.tile;
    const level = levelFor(nsPerPixel);
    const width = 4 ** level;
    const sums = [0, 0, 0, 0, 0];
    let known = Number.NaN;
    let found: Awaited<ReturnType<Recording["totalsSoon"]>>;
    for (let cell = Math.floor(from / width); cell * width < to; cell++) {
      const n = Math.floor(cell / cells);
      if (known !== n) [known, found] = [n, await this.recording.totalsSoon(level, n)];
      if (!found) continue;
      const { totals, up } = found;
      const ns = Math.min(to, (cell + 1) * width) - Math.max(from, cell * width);
      const at = Math.floor(cell / 4 ** up) % cells;
      sums.forEach((sum, n) => (sums[n] = sum + ns * (totals[n * cells + at] ?? 0)));
    }
    return sums;
  }

  /** What the cells say that are on a pixel at a time of the recording; undefined while none have come. */
  read(fold: number, lane: number, time: number, perPixel: number): Told | undefined {
    const { head } = this.recording;
    const level = levelFor(perPixel);
    const { cells, lanes } = head.tile;
    const found = this.recording.tile(fold, level, Math.floor(time / (cells * 4 ** level)), Math.floor(lane / lanes));
    if (!found || time < 0 || time >= head.span) return undefined;
    const cell = Math.floor(time / 4 ** (level + found.up)) % cells;
    // They are here where they are drawn.
    const n = Math.floor(time / (cells * 4 ** (level + found.up)));
    const frequencies = this.recording.frequencies(fold, level + found.up, n, Math.floor(lane / lanes), false);
    const of = (field: number): number => fieldAt(found.bytes, cells, lane % lanes, cell, field);
    return {
      busy: of(Field.Busy),
      waking: of(Field.Waking),
      unknown: of(Field.Unknown),
      offline: of(Field.Offline),
      wanted: of(Field.Wanted),
      inVain: of(Field.InVain),
      waitingMax: of(Field.WaitingMax),
      why: of(Field.Why),
      task: taskAt(found.bytes, cells, lane % lanes, cell),
      widthNs: found.up > 0 ? 4 ** (level + found.up) : 0,
      khz: this.recording.khz(frequencies?.[(lane % lanes) * cells + cell] ?? 0),
    };
  }

  /** Where things stand for the way of a task. */
  private frame(fold: number, seen: Span): Frame {
    const { width, lane } = this.place;
    const rowOf = new Map<number, number>();
    // Only a way and a path are drawn over lanes.
    if (this.way || this.path) this.shown(fold).forEach((n, row) => this.fold(fold).lanes[n]?.[1].forEach((cpu) => rowOf.set(cpu, row)));
    const perPixel = (seen.to - seen.from) / (width - LABEL);
    return {
      left: LABEL,
      right: width,
      top: this.lanesTop,
      bottom: this.lanesTop + lane * this.shown(fold).length,
      x: (time) => LABEL + Math.max(-10, Math.min(width + 10, (time + this.shift - seen.from) / perPixel)),
      y: (cpu) => {
        const row = rowOf.get(cpu);
        return row === undefined ? undefined : this.lanesTop + row * lane;
      },
      lane,
    };
  }
}
