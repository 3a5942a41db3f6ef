// The known data about traces, and their cells.

/** What is known of a recording before a cell is fetched. */
export interface Head {
  /** Its begin, in ns of its clock. */
  from: string;
  /** Its length in ns. All other times count from its begin. */
  span: number;
  folds: Fold[];
  /** Number of tasks. */
  tasks: number;
  /** Names of tasks; each stands here once. */
  names: string[];
  /** Cgroups of tasks, in the same way; none where the recording does not tell them. */
  cgroups: string[];
  /** Of each cause its name, what it is in words, and how much CPU time was wasted by it, in ns. */
  causes: [string, string, number][];
  /** The lowest and the highest frequency of a CPU in kHz; null where none is told. */
  khz: [number, number] | null;
  tile: { cells: number; lanes: number };
  /** Rows of a table that one answer has. */
  rows: number;
  /** What is seen at first. */
  seen: [number, number];
  /** The tasks that were asked for; null where all are. */
  chosen: number[] | null;
}

/** A way to put CPUs on lanes. */
export interface Fold {
  name: string;
  /** Of each lane its label and its CPUs. */
  lanes: [string, number[]][];
}

/** All that a page knows at its start. */
export interface Heads {
  recordings: Head[];
  /** Whether short stretches were read so far, and more comes. */
  glance: boolean;
}

/** The tasks of a recording: their numbers are places here. */
export class TaskList {
  readonly tids: Int32Array;
  /** The place of each task's name. */
  readonly names: Uint32Array;
  /** The place of each task's last cgroup; a place beyond the list if the recording does not tell it. */
  readonly cgroups: Uint32Array | undefined;

  /** `bytes` are as the program's `tasks::of` makes them. */
  constructor(bytes: Uint8Array, hasCgroups: boolean) {
    // They may stand at any place of a buffer, and numbers may not.
    const numbers = new Uint32Array(bytes.slice().buffer);
    const count = numbers.length / (hasCgroups ? 3 : 2);
    this.tids = new Int32Array(count);
    let last = 0;
    for (let n = 0; n < count; n++) this.tids[n] = last = (last + (numbers[n] ?? 0)) | 0;
    this.names = numbers.subarray(count, 2 * count);
    this.cgroups = hasCgroups ? numbers.subarray(2 * count) : undefined;
  }
}

/** What a CPU did at a moment. */
export interface At {
  is: string;
  since: number;
  task: number | null;
  /** Task, since when it waits, how its wait began, and who woke it. */
  waiting: [number, number, string, number | null][];
  count: number;
  idle: number[];
  /** Of how many CPUs nothing is known then. */
  unknown: number;
}

/** Where a task ran and waited: CPU, from, to, and how the wait began, null where it ran; of few stretches also who woke it,
    and on which CPU that ran then; null where that is not known. */
export type Stretch = [number, number, number, string | null, (number | null)?, (number | null)?];

/** A step of a critical path: CPU or null, from, to, what it was, and the task. */
export type Step = [number | null, number, number, string, number];

/** Where the time of a task went. */
export interface Account {
  /** HTML of the program; undefined where it is not known. */
  words?: string;
  /** The first steps of the critical path, and how many there are. */
  path: Step[];
  steps: number;
  /** Why it is not known, and a command that tells it. */
  why?: string;
  command?: string | null;
}

/** Fields of a cell, each a byte; the task takes three. In the order of `Cell::bytes`. */
export const enum Field {
  Busy,
  Waking,
  Unknown,
  Offline,
  Wanted,
  InVain,
  Waiting,
  WaitingMax,
  Why,
  Task,
}
/** Bytes of a cell. */
export const CELL = 12;
/** Reads a field of cell `cell` of a lane of a tile that has `cells` cells a lane. */
export const fieldAt = (tile: Uint8Array, cells: number, lane: number, cell: number, field: number): number =>
  tile[(lane * CELL + field) * cells + cell] ?? 0;

/** Reads the task of a cell in the same way: the lowest byte comes first. */
export const taskAt = (tile: Uint8Array, cells: number, lane: number, cell: number): number =>
  fieldAt(tile, cells, lane, cell, Field.Task) |
  (fieldAt(tile, cells, lane, cell, Field.Task + 1) << 8) |
  (fieldAt(tile, cells, lane, cell, Field.Task + 2) << 16);

export const NO_TASK = 0xffffff;

/** Turns tasks of a tile that say how much they differ from the last one on the lane into their numbers, in place. */
export function withTasks(tile: Uint8Array, cells: number): Uint8Array {
  for (let lane = 0; lane * CELL * cells < tile.length; lane++) {
    let last = 0;
    for (let cell = 0; cell < cells; cell++) {
      const differs = taskAt(tile, cells, lane, cell);
      if (differs === NO_TASK) continue;
      last = (last + differs) % NO_TASK;
      const at = (lane * CELL + Field.Task) * cells + cell;
      tile[at] = last;
      tile[at + cells] = last >> 8;
      tile[at + 2 * cells] = last >> 16;
    }
  }
  return tile;
}

/** Why a task waited in vain: more tasks waited than CPUs were idle. */
export const NOT_CHARGED = 255;

/** Fields of a total, each a number for each cell. In the order of `Recording::totals`. */
export const enum Sum {
  Busy,
  Unknown,
  Wanted,
  Waiting,
  InVain,
}

/** Answers a question of the page. It gives undefined if it has no answer. */
export type Source = (path: string) => Promise<Uint8Array | undefined>;

/** A server's answers. */
export const served: Source = async (path) => {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`the server says ${answer.status} ${answer.statusText}`);
  return new Uint8Array(await answer.arrayBuffer());
};

/** Answers that stand in the page, compressed: a page that was saved in a file. */
export function embedded(answers: Record<string, string>): Source {
  return async (path) => {
    const packed = answers[path];
    if (packed === undefined) return undefined;
    const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(plain).arrayBuffer());
  };
}

/** An answer that is JSON. */
export async function json<T>(source: Source, path: string): Promise<T | undefined> {
  const bytes = await source(path);
  return bytes && (JSON.parse(new TextDecoder().decode(bytes)) as T);
}

/** Requests that are under way at once. */
const AT_ONCE = 4;
/** How long the page waits before it asks again for what failed, in ms. */
const AGAIN = 500;
/** Bytes of answers that are kept. */
const KEPT = 100e6;

/** Fetches cells and keeps those that were used last. */
export class Store {
  private readonly kept = new Map<string, Uint8Array>();
  private readonly asked = new Set<string>();
  private readonly absent = new Set<string>();
  private wanted = new Set<string>();
  private bytes = 0;
  /** Whether the last question failed. */
  fails = false;

  /** `changed` is called when something came, which is kept as `made` makes it. */
  constructor(
    private readonly source: Source,
    private readonly changed: () => void,
    private readonly made: (path: string, answer: Uint8Array) => Uint8Array = (_, answer) => answer,
  ) {}

  /** Forgets what was wanted and has not been asked for: what is seen changed. */
  begin(): void {
    this.wanted.clear();
  }

  /** The answer, if it is here; it is wanted if not. */
  get(path: string): Uint8Array | undefined {
    const here = this.kept.get(path);
    if (here) {
      this.kept.delete(path);
      this.kept.set(path, here);
    } else if (!this.asked.has(path) && !this.absent.has(path)) {
      this.wanted.add(path);
    }
    return here;
  }

  /** The answer, if it is here. */
  peek(path: string): Uint8Array | undefined {
    return this.kept.get(path);
  }

  /** Whether it is known that there is no answer. */
  lacks(path: string): boolean {
    return this.absent.has(path);
  }

  /** Whether all that was wanted came. */
  get settled(): boolean {
    return this.asked.size === 0 && this.wanted.size === 0;
  }

  /** Asks for what is wanted, after the frame: asking takes as long as painting. */
  ask(): void {
    if (this.wanted.size > 0) setTimeout(() => this.askNow());
  }

  private askNow(): void {
    while (this.asked.size < AT_ONCE) {
      const [path] = this.wanted;
      if (path === undefined) return;
      this.wanted.delete(path);
      this.asked.add(path);
      void this.fetch(path).finally(() => {
        this.asked.delete(path);
        this.changed();
        this.askNow();
      });
    }
  }

  private async fetch(path: string): Promise<void> {
    try {
      const answer = await this.source(path);
      this.fails = false;
      if (!answer) {
        this.absent.add(path);
        return;
      }
      this.kept.set(path, this.made(path, answer));
      this.bytes += answer.length;
    } catch {
      // The program may be busy, or gone: the page says so, and asks again.
      this.fails = true;
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
    for (const [oldest, { length }] of this.kept) {
      if (this.bytes <= KEPT) break;
      this.kept.delete(oldest);
      this.bytes -= length;
    }
  }
}

/** An answer, and how many levels above the wanted one it is. */
export interface Found {
  bytes: Uint8Array;
  key: string;
  up: number;
}

/** One recording. */
export class Recording {
  private list: TaskList | undefined;
  private asking: Promise<void> | undefined;

  constructor(
    readonly head: Head,
    /** Its place on the page. */
    readonly place: number,
    private readonly source: Source,
    private readonly store: Store,
    /** Called when its tasks have come. */
    private readonly changed: () => void,
    /** Whether a server answers: a page in a file knows no ways of tasks. */
    readonly isServed: boolean,
  ) {}

  /** Whether it has a task of that number. */
  isTask(task: number): boolean {
    return Number.isInteger(task) && task >= 0 && task < this.head.tasks;
  }

  /** Its tasks, if they are here; if not, they come. A picture of many lanes can do without. */
  get tasks(): TaskList | undefined {
    // What failed is asked for again when it is needed again.
    if (!this.list) void this.known().catch(() => undefined);
    return this.list;
  }

  /** Comes when its tasks are here. */
  known(): Promise<void> {
    return (this.asking ??= this.askTasks().catch((error: unknown) => {
      this.asking = undefined;
      throw error;
    }));
  }

  /** Whether its tasks are under way. */
  get waits(): boolean {
    return !this.list && this.asking !== undefined;
  }

  private async askTasks(): Promise<void> {
    const bytes = await this.source(`${this.place}/tasks`);
    this.list = new TaskList(bytes ?? new Uint8Array(), this.head.cgroups.length > 0);
    this.changed();
  }

  /** Cells of lanes; of wider ones, `up` levels above, where there are no others or they have not come. */
  tile(fold: number, level: number, n: number, group: number): Found | undefined {
    return this.finest(level, n, (level, n) => this.tileKey(fold, level, n, group));
  }

  /** Mean frequencies of the cells of a tile that is here, a byte each; undefined while they have not come. */
  frequencies(fold: number, level: number, n: number, group: number, asks = true): Uint8Array | undefined {
    const path = `${this.place}/frequency/${fold}/${level}/${n}/${group}`;
    return asks ? this.store.get(path) : this.store.peek(path);
  }

  /** The frequency in kHz that a byte of them says; undefined where it is unknown. */
  khz(byte: number): number | undefined {
    const [min, max] = this.head.khz ?? [0, 0];
    return byte === 0 ? undefined : min + ((byte - 1) / 254) * (max - min);
  }

  /** What a tile is asked for, and known by. */
  tileKey(fold: number, level: number, n: number, group: number): string {
    return `${this.place}/tile/${fold}/${level}/${n}/${group}`;
  }

  /** Numbers of all CPUs together, in the same way. */
  totals(level: number, n: number): { totals: Float32Array; up: number } | undefined {
    const found = this.finest(level, n, (level, n) => `${this.place}/totals/${level}/${n}`);
    if (!found) return undefined;
    const { buffer, byteOffset, length } = found.bytes;
    return { totals: new Float32Array(buffer, byteOffset, length / 4), up: found.up };
  }

  /** Numbers of all CPUs together, once they have come. */
  async totalsSoon(level: number, n: number): Promise<{ totals: Float32Array; up: number } | undefined> {
    for (let up = 0; level + up < LEVELS; up++) {
      const bytes = await this.source(`${this.place}/totals/${level + up}/${Math.floor(n / 4 ** up)}`);
      if (bytes) return { totals: new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4), up };
    }
    return undefined;
  }

  /** The answer for the finest level that is here; it asks for the finest that there is. */
  private finest(level: number, n: number, path: (level: number, n: number) => string): Found | undefined {
    let asks = true;
    for (let up = 0; level + up < LEVELS; up++) {
      const key = path(level + up, Math.floor(n / 4 ** up));
      const bytes = asks ? this.store.get(key) : this.store.peek(key);
      if (bytes) return { bytes, key, up };
      asks = asks && this.store.lacks(key);
    }
    return undefined;
  }

  /** What a CPU did at a moment. */
  at(cpu: number, time: number): Promise<At | undefined> {
    return json<At>(this.source, `${this.place}/at/${cpu}/${Math.floor(time)}`);
  }

  /** Where a task ran and waited. */
  async way(task: number, from: number, to: number, least: number): Promise<Stretch[]> {
    return (await this.wholeWay(task, from, to, least))?.stretches ?? [];
  }

  /** The same, with whether there are more than are listed; undefined where only a server knows. */
  wholeWay(task: number, from: number, to: number, least: number): Promise<{ stretches: Stretch[]; cut: boolean } | undefined> {
    return json(this.source, `${this.place}/way/${task}/${Math.floor(from)}/${Math.ceil(to)}/${Math.ceil(least)}`);
  }

  /** The first run of a task that begins after a time, or the last that begins before it: CPU, from, to. */
  async run(task: number, time: number, isAfter: boolean): Promise<[number, number, number] | undefined> {
    const path = `${this.place}/${isAfter ? "next" : "previous"}/${task}/${Math.max(0, Math.floor(time))}`;
    return (await json<[number, number, number] | null>(this.source, path)) ?? undefined;
  }

  /** What each CPU did in a stretch of time, in sums; undefined where only a server knows. */
  sums(from: number, to: number): Promise<number[][] | undefined> {
    return json<number[][]>(this.source, `${this.place}/sums/${from}/${to}`);
  }

  /** Where the time of a task went in a stretch of time. */
  account(task: number, from: number, to: number): Promise<Account | undefined> {
    return json<Account>(this.source, `${this.place}/account/${task}/${from}/${to}`);
  }

  /** What the scheduler decided in a stretch of time: how often, and the first of it as HTML. */
  decisions(from: number, to: number): Promise<{ count: number; words: string } | undefined> {
    return json(this.source, `${this.place}/decisions/${from}/${to}`);
  }

  /** When each violation of the table of violations was, in its order. */
  async violations(): Promise<[number, number][]> {
    return (await json<[number, number][]>(this.source, `${this.place}/violations`)) ?? [];
  }

  /** A task in words. */
  name(task: number): string {
    const { tasks } = this;
    const name = this.head.names[tasks?.names[task] ?? -1];
    return name === undefined ? `task ${task}` : `${printable(name)}:${tasks?.tids[task]}`;
  }

  /** Why a task waited in vain, in words. */
  why(code: number): string {
    if (code === NOT_CHARGED) return "there were more waiting tasks than idle CPUs";
    return this.head.causes[code - 1]?.[0] ?? "unknown";
  }
}

/** A name without what a terminal or a line of text would obey: control bytes, changes of direction. */
export const printable = (name: string): string =>
  name.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (char) => `\\u{${char.charCodeAt(0).toString(16)}}`);

/** Levels of widths of cells that exist. */
const LEVELS = 32;

/** Level of the narrowest cells that are at least one pixel wide. */
export function levelFor(nsPerPixel: number): number {
  return Math.max(0, Math.min(LEVELS - 1, Math.ceil(Math.log(Math.max(1, nsPerPixel)) / Math.log(4) - 1e-9)));
}
