// The page: lanes of CPUs, a ruler, and the tables of the report.

import { clock, marks, moment, words } from "./axis";
import { head, Head, NO_TASK, Tiles } from "./data";
import { Colouring, Columns, Span } from "./lanes";
import { show } from "./tables";

const LABEL = 56;
const RULER = 22;
/** Tiles that are kept: 48 KiB each. */
const KEPT = 2000;

const element = <T extends HTMLElement>(id: string): T => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
};

class Page {
  private readonly canvas = element<HTMLCanvasElement>("canvas");
  private readonly lanes = element("lanes");
  private readonly hover = element("hover");
  private readonly tiles: Tiles;
  /** What was drawn last. */
  private columns: Columns | undefined;
  private readonly names: Map<number, string>;
  private readonly violations: Span[];
  private seen: Span;
  private colouring: Colouring = "task";
  private dims: ((task: number) => boolean) | undefined;
  private due = false;

  constructor(private readonly head: Head) {
    this.tiles = new Tiles(KEPT, () => this.soon());
    this.names = new Map(head.tasks.map(([id, tid, name]) => [id, `${name}:${tid}`]));
    this.seen = this.fromAddress() ?? { from: 0, to: head.span };
    document.title = `${head.title}: Wastenot`;
    element("title").textContent = head.title;
    element("verdict").textContent = head.verdict;
    this.violations = show(element("tables"), head.tables, (place) => this.go(place));
    this.listen();
    this.soon();
  }

  /** Height of a lane in pixels of the screen. */
  private get laneHeight(): number {
    return Math.max(2, Math.min(24, Math.floor(700 / Math.max(1, this.head.cpus.length))));
  }

  private get nsPerPixel(): number {
    return (this.seen.to - this.seen.from) / Math.max(1, this.lanes.clientWidth - LABEL);
  }

  /** Shows a span, kept within the recording, and wide enough to be seen. */
  private look(span: Span, into: "history" | "address" | "nowhere" = "address"): void {
    const most = this.head.span;
    const width = Math.min(most, Math.max(100, span.to - span.from));
    const middle = (span.from + span.to) / 2;
    const from = Math.max(0, Math.min(most - width, middle - width / 2));
    this.seen = { from, to: from + width };
    const hash = `#${Math.round(this.seen.from)},${Math.round(this.seen.to)}`;
    if (into === "history") history.pushState(null, "", hash);
    if (into === "address") history.replaceState(null, "", hash);
    this.soon();
  }

  /** Jumps to a place, with as much before and after it. */
  private go(place: Span): void {
    const around = Math.max(1000, (place.to - place.from) * 2);
    this.look({ from: place.from - around, to: place.to + around }, "history");
    this.lanes.focus();
  }

  private fromAddress(): Span | undefined {
    const told = /^#(\d+),(\d+)$/.exec(location.hash);
    const [from, to] = [Number(told?.[1]), Number(told?.[2])];
    return told && from < to && to <= this.head.span ? { from, to } : undefined;
  }

  private zoom(factor: number, x = (this.lanes.clientWidth + LABEL) / 2): void {
    const { from, to } = this.seen;
    const at = from + (x - LABEL) * this.nsPerPixel;
    this.look({ from: at - (at - from) * factor, to: at + (to - at) * factor });
  }

  private pan(share: number): void {
    const by = (this.seen.to - this.seen.from) * share;
    this.look({ from: this.seen.from + by, to: this.seen.to + by });
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
      "0": () => this.look({ from: 0, to: this.head.span }, "history"),
      n: () => this.jump(1),
      p: () => this.jump(-1),
    };
    document.addEventListener("keydown", (event) => {
      const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
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
    let dragged: { x: number; seen: Span } | undefined;
    this.canvas.addEventListener("pointerdown", (event) => {
      dragged = { x: event.offsetX, seen: this.seen };
      this.canvas.setPointerCapture(event.pointerId);
      this.lanes.focus();
    });
    this.canvas.addEventListener("pointerup", () => (dragged = undefined));
    this.canvas.addEventListener("pointermove", (event) => {
      if (dragged) {
        const by = (dragged.x - event.offsetX) * this.nsPerPixel;
        this.look({ from: dragged.seen.from + by, to: dragged.seen.to + by });
      }
      this.tell(event.offsetX, event.offsetY);
    });
    this.canvas.addEventListener("pointerleave", () => (this.hover.hidden = true));
    element("whole").addEventListener("click", () => this.look({ from: 0, to: this.head.span }, "history"));
    const colour = element<HTMLSelectElement>("colour");
    colour.addEventListener("change", () => {
      this.colouring = colour.value === "waiting" ? "waiting" : "task";
      this.soon();
    });
    const search = element<HTMLInputElement>("search");
    search.addEventListener("input", () => this.search(search.value));
    element("tools").addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("popstate", () => {
      const span = this.fromAddress() ?? { from: 0, to: this.head.span };
      this.look(span, "nowhere");
    });
    new ResizeObserver(() => this.soon()).observe(this.lanes);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.soon());
  }

  /** Dims all tasks but those that a pattern names. */
  private search(pattern: string): void {
    const found = element<HTMLOutputElement>("found");
    if (!pattern) {
      this.dims = undefined;
      found.value = "";
      return this.soon();
    }
    const glob = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
    const is = new RegExp(`^(${glob})$|^(${glob}):|:(${glob})$`, "i");
    const named = new Set(this.head.tasks.filter(([id]) => is.test(this.names.get(id) ?? "")).map(([id]) => id));
    this.dims = (task) => !named.has(task);
    found.value = `${named.size} task${named.size === 1 ? "" : "s"}`;
    this.soon();
  }

  private tell(x: number, y: number): void {
    const lane = Math.floor((y - RULER) / this.laneHeight);
    const cpu = this.head.cpus[lane];
    const of = this.columns;
    if (!cpu || !of || x < LABEL) {
      this.hover.hidden = true;
      return;
    }
    const from = this.seen.from + (x - LABEL) * this.nsPerPixel;
    const is = of.read(lane, from, from + this.nsPerPixel);
    const share = (part: number): string => `${Math.round((part / 255) * 100)} %`;
    const lines = [`CPU ${cpu.cpu}${cpu.node === null ? "" : `, node ${cpu.node}`}, at ${moment(from, this.nsPerPixel)} (@${clock(this.head.from, from)})`];
    if (!is) lines.push("…");
    else {
      if (of.busy) lines.push(`busy ${share(of.busy)}: ${of.task === NO_TASK ? "" : (this.names.get(of.task) ?? `task ${of.task}`)}`);
      if (of.wanted) lines.push(`idle while a task waited elsewhere: ${share(of.wanted)}`);
      if (of.waking) lines.push(`about to start a task: ${share(of.waking)}`);
      if (of.unknown) lines.push(`unknown ${share(of.unknown)}`);
      if (of.offline) lines.push(`offline ${share(of.offline)}`);
      if (of.waitingMax) lines.push(`tasks waiting here: ${of.waitingMax} at most`);
      if (lines.length === 1) lines.push("idle");
    }
    this.hover.textContent = lines.join("\n");
    this.hover.hidden = false;
    const right = x + 16 + this.hover.offsetWidth > this.lanes.clientWidth;
    this.hover.style.left = `${right ? x - 16 - this.hover.offsetWidth : x + 16}px`;
    this.hover.style.top = `${y + 8}px`;
  }

  private soon(): void {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.draw();
    });
  }

  private draw(): void {
    const ratio = devicePixelRatio;
    const lane = this.laneHeight;
    const [width, height] = [this.lanes.clientWidth, RULER + lane * this.head.cpus.length];
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    const to = this.canvas.getContext("2d");
    if (!to) return;
    to.scale(ratio, ratio);
    const style = getComputedStyle(document.body);
    to.fillStyle = style.backgroundColor;
    to.fillRect(0, 0, width, height);
    to.fillStyle = style.color;
    to.font = "11px system-ui, sans-serif";
    this.drawRuler(to, width);
    const every = Math.ceil(12 / lane);
    this.head.cpus.forEach((cpu, n) => {
      if (n % every === 0) to.fillText(`CPU ${cpu.cpu}`, 4, RULER + n * lane + Math.max(9, lane / 2 + 4));
    });
    const image = new ImageData(Math.max(1, Math.round((width - LABEL) * ratio)), Math.max(1, Math.round(lane * ratio) * this.head.cpus.length));
    const pixels = new Uint32Array(image.data.buffer);
    const tall = Math.round(lane * ratio);
    const gap = tall > 4 ? 1 : 0;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const paper = dark ? { paper: 0x242424, wanted: 0x184080 } : { paper: 0xf2f2f2, wanted: 0xa0c8fa };
    const how = { colouring: this.colouring, dims: this.dims, ...paper };
    const columns = new Columns(this.head, this.tiles, this.seen, image.width);
    this.columns = columns;
    this.head.cpus.forEach((_, n) => {
      columns.paint(n, pixels, image.width, n * tall, tall - gap, how);
    });
    to.putImageData(image, Math.round(LABEL * ratio), Math.round(RULER * ratio));
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
}

head().then(
  (head) => new Page(head),
  (error: unknown) => {
    element("verdict").textContent = `This page could not be filled: ${String(error)}`;
  },
);
