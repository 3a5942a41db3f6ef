// Tables with their first rows on the page. Further rows are requested on demand.

import type { Source } from "./data";

/** Pixels before the end of a table that is scrolled, from which on more rows are asked for. */
const AHEAD = 300;

/** One table, or list of findings. */
export class List {
  /** The rows that the page has from the beginning, in the order of the report. */
  private readonly first: HTMLElement[];
  /** Those after them, so many at once: not on the page before the user wants them. */
  private readonly later = new Map<number, Promise<HTMLElement[]>>();
  private readonly count: number;
  /** Rows on the page. */
  private shown: number;
  private asking: Promise<boolean> | undefined;
  private readonly status = document.createElement("span");
  private readonly button = document.createElement("button");

  constructor(
    readonly element: HTMLElement,
    private readonly source: Source,
    private readonly path: string,
    private readonly atOnce: number,
  ) {
    this.first = numbered([...this.body.children] as HTMLElement[], 0);
    this.shown = this.first.length;
    this.count = Number(element.dataset["rows"]) || 0;
    if (this.isWhole) return;
    if (element instanceof HTMLTableElement) element.setAttribute("aria-rowcount", `${this.count + 1}`);
    const below = document.createElement("p");
    below.className = "more";
    this.status.setAttribute("role", "status");
    this.button.type = "button";
    this.button.textContent = "More rows";
    this.button.addEventListener("click", () => void this.more());
    below.append(this.button, this.status);
    const box = element.closest(".wide");
    (box ?? element).after(below);
    box?.addEventListener("scroll", () => {
      if (box.scrollTop + box.clientHeight > box.scrollHeight - AHEAD) void this.more();
    });
    // Rows that are not here must be sorted, too.
    const sort = async (event: Event): Promise<void> => {
      if (this.isWhole) return;
      event.stopPropagation();
      while (!this.isWhole && (await this.more()));
      if (this.isWhole) (event.target as HTMLElement).click();
    };
    element.querySelector("thead")?.addEventListener("click", (event) => void sort(event), { capture: true });
    this.tell();
  }

  private get body(): HTMLElement {
    return this.element instanceof HTMLTableElement ? (this.element.tBodies[0] ?? this.element) : this.element;
  }

  private get isWhole(): boolean {
    return this.shown >= this.count;
  }

  private tell(): void {
    this.status.textContent = `${this.shown} of ${this.count} rows`;
  }

  /** Puts more rows on the page. Gives whether there were some. */
  private more(): Promise<boolean> {
    return (this.asking ??= this.append().finally(() => (this.asking = undefined)));
  }

  private async append(): Promise<boolean> {
    const rows = this.isWhole ? [] : await this.after(this.shown).catch(() => []);
    this.body.append(...rows);
    this.shown += rows.length;
    this.tell();
    // The control goes with its purpose; who pressed it goes on with the rows that came.
    const isFocused = document.activeElement === this.button;
    this.button.hidden = this.isWhole;
    if (isFocused && this.isWhole) rows[0]?.focus();
    return rows.length > 0;
  }

  /** All rows, on the page or not. */
  all(): Promise<HTMLElement[]> {
    const places = Array.from({ length: this.count }, (_, n) => this.row(n));
    return Promise.all(places).then((rows) => rows.filter((row) => row !== undefined));
  }

  /** A row, by its place in the report, whether it is on the page or not. */
  async row(n: number): Promise<HTMLElement | undefined> {
    const here = this.first.length;
    if (n < here) return this.first[n];
    const skipped = Math.floor((n - here) / this.atOnce) * this.atOnce;
    return (await this.after(here + skipped))[n - here - skipped];
  }

  private after(from: number): Promise<HTMLElement[]> {
    const known = this.later.get(from) ?? this.ask(from);
    this.later.set(from, known);
    // What failed is asked for again.
    known.catch(() => this.later.delete(from));
    return known;
  }

  private async ask(from: number): Promise<HTMLElement[]> {
    const bytes = await this.source(`${this.path}/${from}`);
    const made = document.createElement("template");
    // As on the page itself, what comes from a recording is text there.
    made.innerHTML = bytes ? new TextDecoder().decode(bytes) : "";
    return numbered([...made.content.children] as HTMLElement[], from);
  }
}

/** Rows that know their places. */
function numbered(rows: HTMLElement[], from: number): HTMLElement[] {
  rows.forEach((row, n) => (row.dataset["n"] = `${from + n}`));
  return rows;
}

/** All lists of the words about one recording, or about what differs, by their names. */
export function lists(of: HTMLElement, source: Source, atOnce: number): Map<string, List> {
  const all = [...of.querySelectorAll<HTMLElement>("[data-rows]")].map((element) => {
    const name = element.dataset["name"] ?? "";
    return [name, new List(element, source, `${of.dataset["recording"]}/rows/${name}`, atOnce)] as const;
  });
  return new Map(all);
}
