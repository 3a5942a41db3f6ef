// The page: what is seen, and how it is drawn.

import { marks, moment, words } from "./axis";
import { Heads, Recording, Source, Store } from "./data";
import { exact } from "./details";
import { DIFFERENCES, drawDifferences } from "./differences";
import { element } from "./dom";
import { Hover, Under } from "./hover";
import { explain } from "./legend";
import { Colouring, Look } from "./paint";
import { LABEL, Panel, Span } from "./panel";

const RULER = 22;
/** How long tiles are painted in one frame, in ms. */
const FRAME = 6;
/** What is seen is at least so long, in ns. */
const SHORTEST = 100;
/** Frames whose work is kept. */
const FRAMES = 1000;

/** Where a move goes: into the browser's history, as a step that can be undone, or the address. */
type Into = "history" | "address" | "nowhere";

/** Recordings over time. */
export class Page {
  seen: Span;
  /** Work of the last frames, in ms: measurements read it. */
  readonly work: number[] = [];

  private readonly canvas = element<HTMLCanvasElement>("canvas");
  private readonly lanes = element("lanes");
  private readonly selected = element("selected");
  private readonly rows = element<HTMLSelectElement>("rows");
  private readonly colour = element<HTMLSelectElement>("colour");
  private readonly search = element<HTMLInputElement>("search");
  private readonly hover = new Hover();
  private readonly store: Store;
  private readonly panels: Panel[];
  private readonly first: Panel;
  /** Where violations of the first recording are; they move with it. */
  private readonly violations: (() => Span)[];
  private look: Look = { version: 0, colouring: "task", dark: false, tall: 0, until: 0 };
  private measured: Span | undefined;
  private pointer = { x: -1, y: -1 };
  private isDue = false;

  constructor({ recordings }: Heads, source: Source) {
    this.store = new Store(source, () => this.soon());
    const commands = new Map<string, number>();
    const names = recordings.length > 1 ? ["before", "after"] : [];
    this.panels = recordings.map((head, n) => {
      return new Panel(new Recording(head, n, source, this.store), names[n] ?? "", commands);
    });
    const [first] = this.panels;
    if (!first) throw new Error("there is no recording");
    this.first = first;
    first.recording.head.folds.forEach(({ name, lanes }, n) => this.rows.add(new Option(`${name} (${lanes.length})`, `${n}`)));
    const all = this.panels.map((panel, n) => this.leads(panel, n));
    this.violations = all[0] ?? [];
    element("align").hidden = this.panels.length < 2;
    this.seen = this.whole;
    this.fromAddress();
  }

  /** What has a time in the words about a recording leads there. Gives where violations are. */
  private leads(panel: Panel, n: number): (() => Span)[] {
    const violations: (() => Span)[] = [];
    for (const row of document.querySelectorAll<HTMLElement>(`[data-recording="${n}"] [data-from]`)) {
      const { from, to } = row.dataset;
      const place = (): Span => ({ from: Number(from) + panel.shift, to: Number(to) + panel.shift });
      row.addEventListener("click", () => this.go(place()));
      row.addEventListener("keydown", (event) => {
        if (event.key === "Enter") this.go(place());
      });
      if (row.closest("table")?.dataset["name"] === "violations") violations.push(place);
    }
    return violations;
  }

  /** The time that there is. */
  get whole(): Span {
    return { from: 0, to: Math.max(1, ...this.panels.map(({ shift, recording }) => shift + recording.head.span)) };
  }

  get nsPerPixel(): number {
    return (this.seen.to - this.seen.from) / Math.max(1, this.lanes.clientWidth - LABEL);
  }

  private get fold(): number {
    return Number(this.rows.value) || 0;
  }

  private timeAt(x: number): number {
    return this.seen.from + (x - LABEL) * this.nsPerPixel;
  }

  private xOf(time: number): number {
    return LABEL + (time - this.seen.from) / this.nsPerPixel;
  }

  // Moves.

  /** Shows a span, kept within what there is, and long enough to be seen. */
  see(span: Span, into: Into = "address"): void {
    const most = this.whole.to;
    const length = Math.min(most, Math.max(SHORTEST, span.to - span.from));
    const from = Math.max(0, Math.min(most - length, (span.from + span.to - length) / 2));
    this.seen = { from, to: from + length };
    if (into !== "nowhere") this.toAddress(into);
    void this.followTasks();
    this.soon();
  }

  /** Jumps to a place, with twice as much before and after it. */
  private go(place: Span): void {
    const around = Math.max(1000, (place.to - place.from) * 2);
    this.see({ from: place.from - around, to: place.to + around }, "history");
    this.lanes.focus({ preventScroll: true });
    this.lanes.scrollIntoView({ block: "nearest" });
  }

  /** What is at `x` stays there. */
  zoom(factor: number, x = (this.lanes.clientWidth + LABEL) / 2): void {
    const { from, to } = this.seen;
    const at = this.timeAt(x);
    this.see({ from: at - (at - from) * factor, to: at + (to - at) * factor });
  }

  pan(share: number): void {
    const by = (this.seen.to - this.seen.from) * share;
    this.see({ from: this.seen.from + by, to: this.seen.to + by });
  }

  /** Goes to the next violation, or with -1 to the one before. */
  jump(step: number): void {
    const middle = ({ from, to }: Span): number => (from + to) / 2;
    const ahead = (place: Span): number => (middle(place) - middle(this.seen)) * step;
    const places = this.violations.map((place) => place()).filter((place) => ahead(place) > 1);
    const [next] = places.sort((a, b) => ahead(a) - ahead(b));
    if (next) this.go(next);
  }

  // The address holds all that is chosen.

  private toAddress(into: Into): void {
    const { from, to } = this.seen;
    const all = new URLSearchParams({ t: `${Math.round(from)},${Math.round(to)}` });
    if (this.fold > 0) all.set("rows", this.rows.value);
    if (this.colour.value !== "task") all.set("colour", this.colour.value);
    if (this.search.value) all.set("find", this.search.value);
    if (this.first.way) all.set("task", `${this.first.way.task}`);
    if (into === "history") history.pushState(null, "", `#${all}`);
    else history.replaceState(null, "", `#${all}`);
  }

  /** Shows what the address says; where it says nothing, what is seen at first. */
  fromAddress(): void {
    const all = new URLSearchParams(location.hash.slice(1));
    const choose = (select: HTMLSelectElement, value: string | null, other: string): void => {
      select.value = [...select.options].some((it) => it.value === value) ? (value ?? other) : other;
    };
    choose(this.rows, all.get("rows"), "0");
    choose(this.colour, all.get("colour"), "task");
    this.search.value = all.get("find") ?? "";
    const task = Number(all.get("task") ?? Number.NaN);
    this.first.follow(this.first.recording.head.tasks[task] ? task : undefined);
    this.changeLook("nowhere");
    this.resize();
    const [from = 0, to = 0] = (all.get("t") ?? "").split(",").map(Number);
    const [begin, end] = this.first.recording.head.seen;
    const usual = this.panels.length > 1 ? this.whole : { from: begin, to: end };
    this.see(from >= 0 && from < to && to <= this.whole.to ? { from, to } : usual, "nowhere");
  }

  // How it looks.

  /** The next way to put CPUs on lanes. */
  refold(): void {
    this.rows.value = `${(this.fold + 1) % this.rows.options.length}`;
    this.changeRows();
  }

  changeRows(): void {
    this.resize();
    this.toAddress("address");
  }

  /** Colours or the search changed. */
  changeLook(into: Into = "address"): void {
    const pattern = this.search.value;
    const all = this.panels.map((panel) => panel.search(pattern ? glob(pattern) : undefined));
    const count = all.reduce((sum, found) => sum + (found?.size ?? 0), 0);
    element<HTMLOutputElement>("found").value = pattern ? `${count} task${count === 1 ? "" : "s"}` : "";
    // A task that is found alone is followed.
    this.panels.forEach((panel, n) => {
      const [only] = all[n] ?? [];
      if (all[n]?.size === 1) panel.follow(only);
    });
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    this.look = { ...this.look, version: this.look.version + 1, colouring: this.colour.value as Colouring, dark };
    explain(this.look, this.first.recording.head);
    if (into !== "nowhere") this.toAddress(into);
    void this.followTasks();
    this.soon();
  }

  /** Heights follow the window. */
  resize(): void {
    const lanes = this.panels.reduce((sum, panel) => sum + panel.fold(this.fold).lanes.length, 0);
    const fixed = RULER + this.panels.reduce((sum, panel) => sum + panel.height(this.fold, 0), 0) + this.differences;
    const top = this.lanes.getBoundingClientRect().top + window.scrollY;
    const free = Math.max(window.innerHeight / 2, window.innerHeight - top - 60) - fixed;
    const lane = Math.max(1, Math.min(24, Math.floor(free / Math.max(1, lanes))));
    const [width, ratio] = [this.lanes.clientWidth, devicePixelRatio];
    let height = RULER;
    for (const panel of this.panels) {
      panel.place = { top: height, width, lane, ratio };
      height += panel.height(this.fold, lane);
    }
    height += this.differences;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    const tall = Math.max(1, Math.round(lane * ratio));
    if (tall !== this.look.tall) this.look = { ...this.look, version: this.look.version + 1, tall };
    this.soon();
  }

  /** Height of the lanes of differences. */
  private get differences(): number {
    return this.panels.length > 1 ? DIFFERENCES : 0;
  }

  // The pointer.

  /** The pointer is there; -1 is nowhere. */
  pointTo(x: number, y: number): void {
    this.pointer = { x, y };
    this.hover.tell(x, y, this.under());
  }

  private under(): Under | undefined {
    const { x, y } = this.pointer;
    const { fold, nsPerPixel } = this;
    for (const panel of x < LABEL ? [] : this.panels) {
      const lane = panel.laneAt(fold, y);
      const [label, cpus] = (lane !== undefined && panel.fold(fold).lanes[lane]) || [];
      if (lane === undefined || label === undefined) continue;
      const cpu = cpus?.length === 1 ? cpus[0] : undefined;
      return { panel, fold, lane, label, cpu, time: this.timeAt(x) - panel.shift, nsPerPixel };
    }
    return undefined;
  }

  /** Follows the task under the pointer, and says below what was so then. */
  async choose(): Promise<void> {
    const under = this.under();
    if (under?.cpu === undefined) return;
    const { panel, cpu, time, lane, fold, nsPerPixel } = under;
    const { recording } = panel;
    const at = await recording.at(cpu, time).catch(() => undefined);
    const drawn = panel.read(fold, lane, time, nsPerPixel / devicePixelRatio)?.task;
    panel.follow(at ? (at.task ?? at.waiting[0]?.[0]) : drawn);
    if (at) this.selected.textContent = exact(recording, cpu, time, at).join("\n");
    this.selected.hidden = !at;
    this.toAddress("history");
    void this.followTasks();
  }

  /** Asks where tasks that are followed ran and waited. */
  private async followTasks(): Promise<void> {
    await Promise.all(this.panels.map((panel) => panel.askWay(this.seen, this.nsPerPixel)));
    this.soon();
  }

  /** Nothing is chosen, marked or measured any more. */
  forget(): void {
    this.selected.hidden = true;
    this.measured = undefined;
    for (const panel of this.panels) {
      panel.follow(undefined);
      panel.mark = undefined;
    }
    this.toAddress("address");
    this.soon();
  }

  measure(x: number, y: number): void {
    const [from, to] = [this.timeAt(x), this.timeAt(y)].sort((a, b) => a - b);
    if (from !== undefined && to !== undefined) this.measured = { from, to };
    this.soon();
  }

  /** Marks the moment under the pointer. */
  mark(): void {
    const under = this.under();
    if (under) under.panel.mark = under.time;
    this.soon();
  }

  /** Puts two recordings so that the same moment of both is at one place. */
  async align(how: string): Promise<void> {
    const [before, after] = this.panels;
    if (!before || !after) return;
    let [a, b]: (number | undefined)[] = [0, 0];
    if (how === "marks") [a, b] = [before.mark, after.mark];
    if (how === "task") [a, b] = await Promise.all([before.begin(), after.begin()]);
    const shift = (a ?? 0) - (b ?? 0);
    // Neither begins before the page does.
    before.shift = Math.max(0, -shift);
    after.shift = Math.max(0, shift);
    this.see(this.whole, "history");
  }

  // Drawing.

  private soon(): void {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      const begin = performance.now();
      this.draw(begin);
      this.work.push(performance.now() - begin);
      if (this.work.length > FRAMES) this.work.shift();
    });
  }

  private draw(begin: number): void {
    const to = this.canvas.getContext("2d");
    if (!to || this.look.tall === 0) return;
    const { width, ratio } = this.first.place;
    const height = this.canvas.height / ratio;
    to.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { backgroundColor: paper, color: ink } = getComputedStyle(document.body);
    to.fillStyle = paper;
    to.fillRect(0, 0, width, height);
    to.fillStyle = ink;
    to.font = "11px system-ui, sans-serif";
    this.drawRuler(to, width);
    this.store.begin();
    this.look.until = begin + FRAME;
    let isFresh = true;
    for (const panel of this.panels) isFresh = panel.draw(to, this.fold, this.seen, this.look, ink) && isFresh;
    const [before, after] = this.panels;
    if (before && after) drawDifferences(to, before, after, this.seen, height - DIFFERENCES, ink);
    this.drawMeasured(to, height, ink);
    this.store.ask();
    // Tests wait for this: all that is seen is drawn as it should be.
    this.lanes.dataset["settled"] = `${isFresh && this.store.settled}`;
    if (!isFresh) this.soon();
  }

  private drawRuler(to: CanvasRenderingContext2D, width: number): void {
    const { step, at } = marks(this.seen.from, this.seen.to, (width - LABEL) / 120);
    for (const mark of at) {
      to.fillRect(this.xOf(mark), RULER - 5, 1, 5);
      to.fillText(moment(mark, step), this.xOf(mark) + 3, RULER - 8);
    }
    to.fillText(words(this.seen.to - this.seen.from), 4, RULER - 8);
  }

  private drawMeasured(to: CanvasRenderingContext2D, height: number, ink: string): void {
    if (!this.measured) return;
    const { from, to: until } = this.measured;
    const [x0, x1] = [this.xOf(from), this.xOf(until)];
    to.fillStyle = ink;
    to.globalAlpha = 0.12;
    to.fillRect(x0, RULER, x1 - x0, height);
    to.globalAlpha = 1;
    to.fillRect(x0, RULER, 1, height);
    to.fillRect(x1, RULER, 1, height);
    to.fillText(words(until - from), x0 + 4, RULER + 10);
  }
}

/** A pattern with * and ?, for a name, a tid, or both as name:tid. */
function glob(pattern: string): RegExp {
  const of = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
  return new RegExp(`^(${of})$|^(${of}):|:(${of})$`, "i");
}
