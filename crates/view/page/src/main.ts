// The page: what is seen, what the user does, and what is drawn.

import { clock, marks, moment, words } from "./axis";
import { embedded, Heads, json, Recording, served, Source, Store, Sum } from "./data";
import { exact, told } from "./details";
import { causeColour, Colouring, DARK, HATCH, IN_VAIN, LIGHT, Look, Rgb, WAKING } from "./paint";
import { CURVE, LABEL, Panel, Span } from "./panel";
import { show } from "./tables";

const RULER = 22;
/** Height of the lanes of differences, in pixels. */
const DIFFERENCE = 26;
/** How long the work of a frame may take, in ms. */
const FRAME = 6;
/** How long the pointer rests before a moment is asked for, in ms. */
const REST = 60;

const element = <T extends HTMLElement>(id: string): T => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
};

/** What differs between two recordings, and is drawn as lanes of its own. */
const DIFFERENCES: [string, Sum][] = [
  ["busy CPUs", Sum.Busy],
  ["waiting tasks", Sum.Waiting],
  ["in vain", Sum.InVain],
];

class Page {
  private readonly canvas = element<HTMLCanvasElement>("canvas");
  private readonly lanes = element("lanes");
  private readonly hover = element("hover");
  private readonly selected = element("selected");
  private readonly rows = element<HTMLSelectElement>("rows");
  private readonly colour = element<HTMLSelectElement>("colour");
  private readonly find = element<HTMLInputElement>("search");
  private readonly store: Store;
  private readonly panels: Panel[];
  private readonly violations: Span[];
  private seen: Span;
  private look: Look = {
    version: 0,
    colouring: "task",
    dark: false,
    tall: 0,
    until: 0,
  };
  private due = false;
  private measured: Span | undefined;
  private pointer = { x: -1, y: -1 };
  private resting: ReturnType<typeof setTimeout> | undefined;
  /** Work of frames in ms, the last ones: for who measures the page. */
  readonly work: number[] = [];

  constructor(heads: Heads, source: Source) {
    this.store = new Store(source, () => this.soon());
    const commands = new Map<string, number>();
    const names = heads.recordings.length > 1 ? ["before", "after"] : [];
    this.panels = heads.recordings.map((head, n) => {
      return new Panel(new Recording(head, n, source, this.store), names[n] ?? "", commands);
    });
    this.seen = { from: 0, to: this.span };
    const titles = heads.recordings.map((head) => head.title);
    document.title = `${titles.join(", ")}: Wastenot`;
    element("title").textContent = titles.join(" beside ");
    element("verdict").textContent = this.panels.map((panel) => `${titled(panel)}${panel.recording.head.verdict}`).join("\n");
    this.first.recording.head.folds.forEach((fold, n) => this.rows.add(new Option(`${fold.name} (${fold.lanes.length})`, `${n}`)));
    const tables = element("tables");
    show(tables, heads.differences, "", () => undefined);
    this.violations = this.panels.flatMap((panel, n) => {
      const { head } = panel.recording;
      const places = show(tables, head.tables, titled(panel), ({ from, to }) => this.go({ from: from + panel.shift, to: to + panel.shift }));
      return n === 0 ? places : [];
    });
    element("align").hidden = this.panels.length < 2;
    this.listen();
    this.fromAddress();
    this.resize();
  }

  private get first(): Panel {
    const first = this.panels[0];
    if (!first) throw new Error("there is no recording");
    return first;
  }

  /** The time that there is. */
  private get span(): number {
    return Math.max(1, ...this.panels.map((panel) => panel.shift + panel.recording.head.span));
  }

  private get fold(): number {
    return Number(this.rows.value) || 0;
  }

  private get nsPerPixel(): number {
    return (this.seen.to - this.seen.from) / Math.max(1, this.lanes.clientWidth - LABEL);
  }

  /** Shows a span, kept within the recording, and wide enough to be seen. */
  private see(span: Span, into: "history" | "address" | "nowhere" = "address"): void {
    const most = this.span;
    const width = Math.min(most, Math.max(100, span.to - span.from));
    const middle = (span.from + span.to) / 2;
    const from = Math.max(0, Math.min(most - width, middle - width / 2));
    this.seen = { from, to: from + width };
    if (into !== "nowhere") this.toAddress(into === "history");
    this.wayOfTask();
    this.soon();
  }

  /** Jumps to a place, with as much before and after it. */
  private go(place: Span): void {
    const around = Math.max(1000, (place.to - place.from) * 2);
    this.see({ from: place.from - around, to: place.to + around }, "history");
    this.lanes.focus({ preventScroll: true });
    this.lanes.scrollIntoView({ block: "nearest" });
  }

  /** Everything that is chosen stands in the address. */
  private toAddress(isStep: boolean): void {
    const told = new URLSearchParams({ t: `${Math.round(this.seen.from)},${Math.round(this.seen.to)}` });
    if (this.fold > 0) told.set("rows", this.rows.value);
    if (this.look.colouring !== "task") told.set("colour", this.look.colouring);
    if (this.find.value) told.set("find", this.find.value);
    const task = this.first.way?.task;
    if (task !== undefined) told.set("task", `${task}`);
    const hash = `#${told}`;
    if (isStep) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
  }

  private fromAddress(): void {
    const told = new URLSearchParams(location.hash.slice(1));
    const [from, to] = (told.get("t") ?? "").split(",").map(Number);
    const has = (select: HTMLSelectElement, value: string | null): boolean => [...select.options].some((it) => it.value === value);
    const [rows, colour, task] = [told.get("rows"), told.get("colour"), told.get("task")];
    this.rows.value = rows && has(this.rows, rows) ? rows : "0";
    this.colour.value = colour && has(this.colour, colour) ? colour : "task";
    this.find.value = told.get("find") ?? "";
    this.chooseTask(task && this.first.recording.head.tasks[Number(task)] ? Number(task) : undefined);
    this.changeLook();
    const isSpan = from !== undefined && to !== undefined && from >= 0 && from < to && to <= this.span;
    this.see(isSpan ? { from, to } : { from: 0, to: this.span }, "nowhere");
  }

  private zoom(factor: number, x = (this.lanes.clientWidth + LABEL) / 2): void {
    const { from, to } = this.seen;
    const at = from + (x - LABEL) * this.nsPerPixel;
    this.see({ from: at - (at - from) * factor, to: at + (to - at) * factor });
  }

  private pan(share: number): void {
    const by = (this.seen.to - this.seen.from) * share;
    this.see({ from: this.seen.from + by, to: this.seen.to + by });
  }

  private jump(step: number): void {
    const middle = (this.seen.from + this.seen.to) / 2;
    const center = (place: Span): number => (place.from + place.to) / 2;
    const next =
      step > 0
        ? this.violations.find((place) => center(place) > middle + 1)
        : this.violations.findLast((place) => center(place) < middle - 1);
    if (next) this.go(next);
  }

  /** The next way to put CPUs on lanes. */
  private refold(): void {
    this.rows.value = `${(this.fold + 1) % this.rows.options.length}`;
    this.resize();
    this.toAddress(false);
  }

  /** Something is to be painted in another way. */
  private changeLook(): void {
    const pattern = this.find.value;
    const found = element<HTMLOutputElement>("found");
    const all = this.panels.map((panel) => panel.search(pattern ? glob(pattern) : undefined));
    const count = all.reduce((sum, found) => sum + (found?.size ?? 0), 0);
    found.value = pattern ? `${count} task${count === 1 ? "" : "s"}` : "";
    const [only] = all[0] ?? [];
    if (all[0]?.size === 1) this.chooseTask(only);
    const colouring = this.colour.value as Colouring;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    this.look = { ...this.look, version: this.look.version + 1, colouring, dark };
    this.explain();
    this.soon();
  }

  /** The legend. */
  private explain(): void {
    const legend = element("legend");
    legend.replaceChildren();
    const { dark, colouring } = this.look;
    const add = (colour: Rgb, words: string): void => {
      const swatch = legend.appendChild(document.createElement("i"));
      swatch.style.background = `rgb(${colour.join()})`;
      legend.appendChild(document.createElement("span")).textContent = words;
    };
    const scheme = dark ? DARK : LIGHT;
    if (colouring === "cause") {
      const { head } = this.first.recording;
      const seen = new Set(head.tables.find((it) => it.name === "causes")?.rows.map((row) => row[0]));
      head.causes.forEach(([name], n) => {
        if (seen.has(name) || [...seen].some((it) => it?.endsWith(`/${name}`))) add(causeColour(n + 1), name);
      });
    } else add(IN_VAIN, "a task waited here in vain: a CPU that it may use was idle");
    add(scheme.wanted, "idle, and such a task could have run here");
    add(scheme.paper, "idle");
    add(WAKING, "about to start a task");
    add(HATCH, "hatched: unknown or offline");
  }

  /** Heights of lanes follow the window. */
  private resize(): void {
    const lanes = this.panels.reduce((sum, panel) => sum + panel.fold(this.fold).lanes.length, 0);
    const fixed = RULER + this.panels.length * CURVE + this.differences;
    const free = Math.max(200, window.innerHeight - this.lanes.offsetTop - 60) - fixed;
    const lane = Math.max(1, Math.min(24, Math.floor(free / Math.max(1, lanes))));
    const [width, ratio] = [this.lanes.clientWidth, devicePixelRatio];
    let top = RULER;
    for (const panel of this.panels) {
      panel.place = { top, width, lane, ratio };
      top += panel.height(this.fold, lane);
    }
    const height = top + this.differences;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    const tall = Math.max(1, Math.round(lane * ratio));
    if (tall !== this.look.tall) this.look = { ...this.look, version: this.look.version + 1, tall };
    this.soon();
  }

  /** Height of the lanes of differences. */
  private get differences(): number {
    return this.panels.length > 1 ? DIFFERENCES.length * DIFFERENCE + 8 : 0;
  }

  /** Shows the way of a task; of none. */
  private chooseTask(task: number | undefined): void {
    for (const panel of this.panels) panel.way = undefined;
    if (task !== undefined) this.first.way = { task, stretches: [] };
    this.wayOfTask();
  }

  private async wayOfTask(): Promise<void> {
    const { way, recording, shift } = this.first;
    if (!way) return;
    const { from, to } = this.seen;
    try {
      const stretches = await recording.way(way.task, Math.max(0, from - shift), Math.max(0, to - shift), this.nsPerPixel);
      if (this.first.way?.task === way.task && from === this.seen.from) this.first.way.stretches = stretches;
    } catch {
      // The next move asks again.
    }
    this.soon();
  }

  private panelAt(y: number): Panel | undefined {
    return this.panels.find(({ place: { top, lane } }, n) => {
      const panel = this.panels[n];
      return panel && y >= top && y < top + panel.height(this.fold, lane);
    });
  }

  private timeAt(x: number): number {
    return this.seen.from + (x - LABEL) * this.nsPerPixel;
  }

  /** Says what is under the pointer: what is drawn there at once, and exactly when it rests. */
  private tell(): void {
    clearTimeout(this.resting);
    const { x, y } = this.pointer;
    const panel = this.panelAt(y);
    const lane = panel?.laneAt(this.fold, y);
    const of = lane === undefined ? undefined : panel?.fold(this.fold).lanes[lane];
    if (!panel || lane === undefined || !of || x < LABEL) {
      this.hover.hidden = true;
      return;
    }
    const time = this.timeAt(x);
    const is = panel.read(this.fold, lane, time, this.nsPerPixel / devicePixelRatio);
    const own = time - panel.shift;
    const lines = [`${of[0]}, at ${moment(own, this.nsPerPixel)} (@${clock(panel.recording.head.from, own)})`];
    lines.push(...(is ? told(panel.recording, is) : ["…"]));
    this.say(lines);
    const [cpu] = of[1];
    if (of[1].length !== 1 || cpu === undefined) return;
    this.resting = setTimeout(async () => {
      try {
        const at = await panel.recording.at(cpu, own);
        if (at && this.pointer.x === x && this.pointer.y === y && !this.hover.hidden) {
          this.say([...lines, "", ...exact(panel.recording, cpu, own, at)]);
        }
      } catch {
        // What is drawn is said already.
      }
    }, REST);
  }

  private say(lines: string[]): void {
    const { x, y } = this.pointer;
    this.hover.textContent = lines.join("\n");
    this.hover.hidden = false;
    const right = x + 16 + this.hover.offsetWidth > this.lanes.clientWidth;
    this.hover.style.left = `${Math.max(0, right ? x - 16 - this.hover.offsetWidth : x + 16)}px`;
    this.hover.style.top = `${y + 8}px`;
  }

  /** Chooses what is under the pointer: its task's way, and what was so at that moment. */
  private async choose(): Promise<void> {
    const { x, y } = this.pointer;
    const panel = this.panelAt(y);
    const lane = panel?.laneAt(this.fold, y);
    const cpu = lane === undefined ? undefined : panel?.fold(this.fold).lanes[lane]?.[1];
    if (!panel || cpu?.[0] === undefined || cpu.length !== 1 || x < LABEL) return;
    const time = this.timeAt(x) - panel.shift;
    const at = await panel.recording.at(cpu[0], time).catch(() => undefined);
    if (!at) return;
    this.selected.hidden = false;
    this.selected.textContent = exact(panel.recording, cpu[0], time, at).join("\n");
    const task = at.task ?? at.waiting[0]?.[0];
    if (panel === this.first) this.chooseTask(task ?? undefined);
    this.toAddress(true);
    this.soon();
  }

  private forget(): void {
    this.selected.hidden = true;
    this.measured = undefined;
    this.chooseTask(undefined);
    this.toAddress(false);
    this.soon();
  }

  /** Puts the second recording so that the same moment of both is at one place. */
  private async align(how: string): Promise<void> {
    const [before, after] = this.panels;
    if (!before || !after) return;
    let shift = 0;
    if (how === "marks" && before.mark !== undefined && after.mark !== undefined) shift = before.mark - after.mark;
    if (how === "task" && this.find.value) {
      const starts = await Promise.all(this.panels.map((panel) => this.start(panel)));
      const [a, b] = starts;
      if (a !== undefined && b !== undefined) shift = a - b;
    }
    // Neither begins before the page does.
    before.shift = Math.max(0, -shift);
    after.shift = Math.max(0, shift);
    this.see({ from: 0, to: this.span }, "history");
  }

  /** When the first task that the search finds first ran. */
  private async start({ recording, tasks }: Panel): Promise<number | undefined> {
    const [task] = tasks.found ?? [];
    if (task === undefined) return undefined;
    const stretches = await recording.way(task, 0, recording.head.span, recording.head.span);
    return stretches.reduce<number | undefined>((least, [, from]) => Math.min(least ?? from, from), undefined);
  }

  private listen(): void {
    const keys: Record<string, () => void> = {
      w: () => this.zoom(0.5),
      "+": () => this.zoom(0.5),
      ArrowUp: () => this.zoom(0.5),
      s: () => this.zoom(2),
      "-": () => this.zoom(2),
      ArrowDown: () => this.zoom(2),
      a: () => this.pan(-0.2),
      ArrowLeft: () => this.pan(-0.2),
      d: () => this.pan(0.2),
      ArrowRight: () => this.pan(0.2),
      "0": () => this.see({ from: 0, to: this.span }, "history"),
      n: () => this.jump(1),
      p: () => this.jump(-1),
      f: () => this.refold(),
      "/": () => this.find.focus(),
      m: () => {
        const panel = this.panelAt(this.pointer.y);
        if (panel) panel.mark = this.timeAt(this.pointer.x) - panel.shift;
        this.soon();
      },
      Escape: () => this.forget(),
    };
    document.addEventListener("keydown", (event) => {
      const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (typing && event.key === "Escape") (event.target as HTMLElement).blur();
      const act = keys[event.key];
      if (typing || event.ctrlKey || event.altKey || event.metaKey || !act) return;
      event.preventDefault();
      act();
    });
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX / 1000);
        else this.zoom(Math.exp(event.deltaY / 300), event.offsetX);
      },
      { passive: false },
    );
    this.drag();
    element("whole").addEventListener("click", () => this.see({ from: 0, to: this.span }, "history"));
    this.rows.addEventListener("change", () => {
      this.resize();
      this.toAddress(false);
    });
    for (const input of [this.colour, this.find]) {
      input.addEventListener("input", () => {
        this.changeLook();
        this.toAddress(false);
      });
    }
    const align = element<HTMLSelectElement>("aligned");
    align.addEventListener("change", () => void this.align(align.value));
    element("tools").addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("popstate", () => {
      this.fromAddress();
      this.resize();
    });
    new ResizeObserver(() => this.resize()).observe(this.lanes);
    window.addEventListener("resize", () => this.resize());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.changeLook());
  }

  /** Drag moves, drag with Shift measures, a click chooses. */
  private drag(): void {
    let dragged: { x: number; y: number; seen: Span; measures: boolean } | undefined;
    this.canvas.addEventListener("pointerdown", (event) => {
      dragged = { x: event.offsetX, y: event.offsetY, seen: this.seen, measures: event.shiftKey };
      this.canvas.setPointerCapture(event.pointerId);
      this.lanes.focus({ preventScroll: true });
    });
    this.canvas.addEventListener("pointerup", (event) => {
      const still = dragged && Math.hypot(event.offsetX - dragged.x, event.offsetY - dragged.y) < 3;
      if (still && !dragged?.measures) void this.choose();
      dragged = undefined;
    });
    this.canvas.addEventListener("pointermove", (event) => {
      this.pointer = { x: event.offsetX, y: event.offsetY };
      if (dragged?.measures) {
        const [a, b] = [this.timeAt(dragged.x), this.timeAt(event.offsetX)];
        this.measured = { from: Math.min(a, b), to: Math.max(a, b) };
        this.soon();
      } else if (dragged) {
        const by = (dragged.x - event.offsetX) * this.nsPerPixel;
        this.see({ from: dragged.seen.from + by, to: dragged.seen.to + by });
      }
      this.tell();
    });
    this.canvas.addEventListener("pointerleave", () => {
      clearTimeout(this.resting);
      this.hover.hidden = true;
    });
  }

  private soon(): void {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      const begin = performance.now();
      this.draw(begin);
      this.work.push(performance.now() - begin);
      if (this.work.length > 1000) this.work.shift();
    });
  }

  private draw(begin: number): void {
    const to = this.canvas.getContext("2d");
    if (!to || this.look.tall === 0) return;
    const { width, ratio } = this.first.place;
    to.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.body);
    const [paper, ink] = [style.backgroundColor, style.color];
    to.fillStyle = paper;
    to.fillRect(0, 0, width, this.canvas.height / ratio);
    to.fillStyle = ink;
    to.font = "11px system-ui, sans-serif";
    this.drawRuler(to, width);
    this.store.begin();
    this.look.until = begin + FRAME;
    let fresh = true;
    for (const panel of this.panels) {
      to.fillStyle = ink;
      fresh = panel.drawLanes(to, this.fold, this.seen, this.look) && fresh;
      panel.drawCurves(to, this.seen, this.look.dark ? "#3a5a74" : "#b7d3e8", ink);
      panel.drawWay(to, this.fold, this.seen, ink);
      if (panel.mark !== undefined) this.drawMark(to, panel, panel.mark, ink);
    }
    this.drawDifferences(to, width, ink);
    this.drawMeasured(to, ink);
    this.store.ask();
    // For tests: all that is seen is drawn as it should be.
    this.lanes.dataset["settled"] = `${fresh && this.store.settled}`;
    if (!fresh) this.soon();
  }

  private drawRuler(to: CanvasRenderingContext2D, width: number): void {
    const { step, at } = marks(this.seen.from, this.seen.to, (width - LABEL) / 120);
    for (const mark of at) {
      const x = LABEL + (mark - this.seen.from) / this.nsPerPixel;
      to.fillRect(x, RULER - 5, 1, 5);
      to.fillText(moment(mark, step), x + 3, RULER - 8);
    }
    to.fillText(words(this.seen.to - this.seen.from), 4, RULER - 8);
  }

  private drawMark(to: CanvasRenderingContext2D, panel: Panel, mark: number, ink: string): void {
    const x = LABEL + (mark + panel.shift - this.seen.from) / this.nsPerPixel;
    if (x < LABEL) return;
    to.fillStyle = ink;
    to.fillRect(x, panel.place.top, 1, panel.height(this.fold, panel.place.lane));
    to.fillText("mark", x + 3, panel.place.top + 10);
  }

  /** Bars up where the second recording has more, down where it has less. */
  private drawDifferences(to: CanvasRenderingContext2D, width: number, ink: string): void {
    const [before, after] = this.panels;
    if (!before || !after) return;
    const columns = Math.round(width - LABEL);
    let top = after.place.top + after.height(this.fold, after.place.lane) + 8;
    for (const [name, sum] of DIFFERENCES) {
      const [a, b] = [before.sums(sum, this.seen, columns), after.sums(sum, this.seen, columns)];
      const most = Math.max(1, ...[a, b].map((all) => all.reduce((x, y) => Math.max(x, y), 0)));
      const middle = top + DIFFERENCE / 2;
      for (let x = 0; x < columns; x++) {
        const more = ((b[x] ?? 0) - (a[x] ?? 0)) / most;
        to.fillStyle = more > 0 ? `rgb(${IN_VAIN.join()})` : "rgb(0,114,178)";
        const high = Math.abs(more) * (DIFFERENCE / 2 - 2);
        if (high > 0) to.fillRect(LABEL + x, more > 0 ? middle - high : middle, 1, Math.max(1, high));
      }
      to.fillStyle = ink;
      to.fillRect(LABEL, middle, columns, 0.5);
      to.fillText(name, 4, middle + 4, LABEL - 8);
      top += DIFFERENCE;
    }
  }

  private drawMeasured(to: CanvasRenderingContext2D, ink: string): void {
    if (!this.measured) return;
    const x = (time: number): number => LABEL + (time - this.seen.from) / this.nsPerPixel;
    const [x0, x1] = [x(this.measured.from), x(this.measured.to)];
    const height = this.canvas.height / this.first.place.ratio;
    to.fillStyle = ink;
    to.globalAlpha = 0.12;
    to.fillRect(x0, RULER, x1 - x0, height);
    to.globalAlpha = 1;
    to.fillRect(x0, RULER, 1, height);
    to.fillRect(x1, RULER, 1, height);
    to.fillText(words(this.measured.to - this.measured.from), x0 + 4, RULER + 10);
  }
}

/** What words about a recording begin with. */
const titled = ({ name }: Panel): string => (name ? `${name.charAt(0).toUpperCase()}${name.slice(1)}: ` : "");

/** A pattern with * and ?, for a name, a tid, or both as name:tid. */
function glob(pattern: string): RegExp {
  const of = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
  return new RegExp(`^(${of})$|^(${of}):|:(${of})$`, "i");
}

/** Answers that were saved in the page, or those of its server. */
function source(): Source {
  const saved = document.getElementById("saved")?.textContent;
  return saved ? embedded(JSON.parse(saved) as Record<string, string>) : served;
}

const from = source();
json<Heads>(from, "head").then(
  (heads) => {
    if (!heads) throw new Error("there is no head");
    Object.assign(window, { wastenot: new Page(heads, from) });
  },
).catch((error: unknown) => {
  element("verdict").textContent = `This page could not be filled: ${String(error)}`;
});
