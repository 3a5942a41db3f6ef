// What the server says of a recording, and the cells that it has.

/** A CPU and what it shares; null where that is not known. */
export interface Cpu {
  cpu: number;
  core: number | null;
  llc: number | null;
  node: number | null;
  package: number | null;
}

/** What is known of a recording before a cell is fetched. */
export interface Head {
  /** Its begin, in ns of its clock. */
  from: string;
  /** Its length in ns. All other times of the page count from its begin. */
  span: number;
  cpus: Cpu[];
  /** Id, tid and name of each task. */
  tasks: [number, number, string][];
  tile: { cells: number; cpus: number };
  title: string;
  verdict: string;
  tables: Table[];
}

/** A table of the report, in words. */
export interface Table {
  name: string;
  title: string;
  columns: string[];
  rows: (string | null)[][];
  /** Where each row leads: from and to. */
  places: ([number, number] | null)[];
  /** How many rows the report has. */
  count: number;
}

/** Bytes of a cell; the places of its numbers. See src/answer.rs. */
export const CELL = 12;
export const BUSY = 0;
export const WAKING = 1;
export const UNKNOWN = 2;
export const OFFLINE = 3;
export const WANTED = 4;
export const WAITING = 5;
export const WAITING_MAX = 6;
export const TASK = 8;
export const NO_TASK = 0xffffffff;

/** The cells of some CPUs in a stretch of time: CPU after CPU, `tile.cells` each. */
export type Tile = Uint8Array;

/** Requests that are under way at once. */
const AT_ONCE = 4;
/** How long the page waits before it asks again for what failed, in ms. */
const AGAIN = 500;

/** Fetches tiles and keeps those that were used last. */
export class Tiles {
  private readonly kept = new Map<string, Tile>();
  private readonly asked = new Set<string>();
  private wanted: string[] = [];

  /** `changed` is called when a tile came. */
  constructor(
    private readonly most: number,
    private readonly changed: () => void,
  ) {}

  /** Forgets what was wanted and has not been asked for: what is seen changed. */
  begin(): void {
    this.wanted = [];
  }

  /** The tile, if it is here; it is wanted if not. */
  get(level: number, n: number, group: number): Tile | undefined {
    const key = `${level}/${n}/${group}`;
    const tile = this.kept.get(key);
    if (tile) {
      this.kept.delete(key);
      this.kept.set(key, tile);
    } else if (!this.asked.has(key)) {
      this.wanted.push(key);
    }
    return tile;
  }

  /** The tile, if it is here. */
  peek(level: number, n: number, group: number): Tile | undefined {
    return this.kept.get(`${level}/${n}/${group}`);
  }

  /** Asks for what is wanted. */
  ask(): void {
    while (this.asked.size < AT_ONCE) {
      const key = this.wanted.shift();
      if (key === undefined) return;
      this.asked.add(key);
      void this.fetch(key).finally(() => {
        this.asked.delete(key);
        this.ask();
      });
    }
  }

  private async fetch(key: string): Promise<void> {
    try {
      const answer = await fetch(`tile/${key}`);
      if (!answer.ok) throw new Error(answer.statusText);
      this.kept.set(key, new Uint8Array(await answer.arrayBuffer()));
    } catch {
      // The program may be busy, or gone: the page stays as it is, and asks again.
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= this.most) break;
      this.kept.delete(oldest);
    }
    this.changed();
  }
}

/** Asks for the head. */
export async function head(): Promise<Head> {
  const answer = await fetch("head");
  if (!answer.ok) throw new Error(`the server says ${answer.status} ${answer.statusText}`);
  return (await answer.json()) as Head;
}
