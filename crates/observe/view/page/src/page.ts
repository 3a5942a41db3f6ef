// The page: the visible time, and how it is drawn.

import { Accounts } from "./account";
import { counted, marks, moment, words as length } from "./axis";
import { Heads, NO_TASK, Recording, Source, Store, withTasks } from "./data";
import { cpuList } from "./cpus";
import { Decisions } from "./decisions";
import { exact } from "./details";
import { DIFFERENCES, drawDifferences } from "./differences";
import { element } from "./dom";
import { Hover, Under } from "./hover";
import { Jumps, placeOf } from "./jumps";
import { explain, ofAll, ranks } from "./legend";
import { Colouring, IN_VAIN, Look } from "./paint";
import { LABEL, Panel, Span } from "./panel";
import { summedUp, summedUpOfTask } from "./sums";
import { didThen } from "./way";

const RULER = 22;
/** Height of a lane where there is room, unless another is wanted, and the most that can be wanted, in pixels. */
const USUAL = 24;
const TALLEST = 96;
/** Height of all, in pixels of the device. */
const HIGHEST = 16_000;
/** How long tiles are painted in one frame, in ms. */
const FRAME = 4;
/** What is seen is at least so long, in ns. */
const SHORTEST = 100;
/** Colours on paper, and how long tiles are painted for it, in ms. */
const PAPER = { backgroundColor: "#fff", color: "#1a1a1a" };
const PRINTED = 1000;
/** How long after a move the address follows, in ms: browsers allow a page few changes of it. */
const LATER = 200;
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
  /** What stands first in it: screen readers tell it. */
  private readonly said = element("said");
  private readonly rows = element<HTMLSelectElement>("rows");
  private readonly colour = element<HTMLSelectElement>("colour");
  private readonly search = element<HTMLInputElement>("search");
  private readonly cpus = element<HTMLInputElement>("cpus");
  private readonly aligned = element<HTMLSelectElement>("aligned");
  private readonly hover = new Hover();
  private readonly store: Store;
  readonly panels: Panel[];
  readonly jumps: Jumps;
  readonly accounts: Accounts;
  private readonly decisions: Decisions[];
  private readonly first: Panel;
  private later: ReturnType<typeof setTimeout> | undefined;
  private look: Look = { version: 0, colouring: "task", dark: false, tall: 0, until: 0 };
  private measured: Span | undefined;
  private pointer = { x: -1, y: -1 };
  /** What was shown when the pointer was last told about. */
  private pointedAt = "";
  private isDue = false;
  private isPrinted = false;
  private acts = 0;
  private paper = "";
  private ink = "";
  private usualColour = "task";
  /** Height of a lane that the user wants; 0: as there is room. */
  private wantedHeight = 0;

  /** Whether only stretches were read so far. */
  private readonly isGlance: boolean;

  constructor({ recordings, glance }: Heads, source: Source, isServed: boolean) {
    this.isGlance = glance;
    const { tile: { cells = 0 } = {}, rows: atOnce = 0 } = recordings[0] ?? {};
    this.store = new Store(source, () => this.soon(), (path, answer) => (path.includes("/tile/") ? withTasks(answer, cells) : answer));
    const numbers = { command: new Map<string, number>(), cgroup: new Map<string, number>() };
    const causes = ranks(recordings.map(({ causes }) => causes));
    const khz = ofAll(recordings.map(({ khz }) => khz));
    const names = recordings.length > 1 ? ["before", "after"] : [];
    this.panels = recordings.map((head, n) => {
      const recording = new Recording(head, n, source, this.store, () => this.changeLook("nowhere"), isServed);
      return new Panel(recording, names[n] ?? "", numbers, causes, khz);
    });
    const [first] = this.panels;
    if (!first) throw new Error("there is no recording");
    this.first = first;
    this.jumps = new Jumps(this, source, atOnce);
    this.accounts = new Accounts(this);
    this.decisions = [...document.querySelectorAll<HTMLDetailsElement>("details.decisions")].flatMap((section) => {
      const panel = this.panels[Number(section.closest<HTMLElement>("[data-recording]")?.dataset["recording"])];
      return panel ? [new Decisions(section, panel, () => this.seen)] : [];
    });
    // What only a server can answer.
    for (const id of ["explain", "askingkeys"]) element(id).hidden = !isServed;
    first.recording.head.folds.forEach(({ name, lanes }, n) => this.rows.add(new Option(`${name} (${lanes.length})`, `${n}`)));
    element("align").hidden = this.panels.length < 2;
    if (recordings.some(({ cgroups }) => cgroups.length > 1)) this.colour.add(new Option("last cgroup", "cgroup"), 2);
    // A page in a file does not have them.
    if (khz && isServed) this.colour.add(new Option("frequency", "frequency"));
    // Tasks have other numbers in each recording.
    if (this.panels.length > 1) this.colour.value = this.usualColour = "command";
    this.seen = this.whole;
    this.fromAddress();
  }

  /** The time that there is. */
  get whole(): Span {
    return { from: 0, to: Math.max(1, ...this.panels.map(({ shift, recording }) => shift + recording.head.span)) };
  }

  /** What is measured, or else seen. */
  get stretch(): Span {
    return this.measured ?? this.seen;
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
    this.toAddress(into);
    void this.followTasks();
    for (const it of this.decisions) it.follow();
    this.soon();
  }

  /** Looks for tasks, as if the user had typed it. */
  searchFor(pattern: string): void {
    this.search.value = pattern;
    this.changeLook();
  }

  /** Before it is printed, and after that. */
  print(isBegin: boolean): void {
    this.isPrinted = isBegin;
    this.changeLook("nowhere");
    this.draw(performance.now() + PRINTED);
  }

  /** Says something below the lanes; nothing, where that is empty. */
  say(words: string, ...more: HTMLElement[]): void {
    this.said.textContent = words;
    this.selected.replaceChildren(this.said, ...more);
    this.selected.hidden = words === "";
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

  /** Says what CPUs did in the stretch that was measured. */
  async sumUp(): Promise<void> {
    const { measured } = this;
    if (!measured) return;
    this.toAddress("address");
    const title = `CPU activity in ${length(measured.to - measured.from)}`;
    this.say(`${title}: …`);
    const { nsPerPixel } = this;
    const ofTasks = this.panels.map((panel) => summedUpOfTask(panel, measured));
    const all = await Promise.all([...ofTasks, ...this.panels.map((panel) => summedUp(panel, measured, nsPerPixel))]);
    if (this.measured !== measured) return;
    const tables = all.filter((it) => it instanceof HTMLElement);
    this.say([title, ...all.filter((it) => typeof it === "string")].join("\n"), ...tables);
  }

  // The address holds all that is chosen.

  /** Notes what is chosen: at once as a step, else when the moves have ended. */
  toAddress(into: Into): void {
    clearTimeout(this.later);
    if (into === "address") this.later = setTimeout(() => this.writeAddress(false), LATER);
    if (into === "history") this.writeAddress(true);
  }

  private writeAddress(isStep: boolean): void {
    const { from, to } = this.seen;
    const all = new URLSearchParams({ t: `${Math.round(from)},${Math.round(to)}` });
    if (this.fold > 0) all.set("rows", this.rows.value);
    if (this.colour.value !== this.usualColour) all.set("colour", this.colour.value);
    if (this.search.value) all.set("find", this.search.value);
    if (this.cpus.value.trim()) all.set("cpus", this.cpus.value.trim());
    if (this.measured) all.set("measured", `${Math.round(this.measured.from)},${Math.round(this.measured.to)}`);
    if (this.wantedHeight > 0) all.set("height", `${this.wantedHeight}`);
    // The page that follows a glance may begin earlier, and numbers tasks otherwise.
    if (this.isGlance) all.set("begin", this.panels.map(({ recording }) => recording.head.from).join());
    const ways = this.panels.map(({ way }) => (this.isGlance ? "" : (way?.task ?? "")));
    if (ways.some((task) => task !== "")) all.set("task", ways.join());
    if (this.accounts.address && !this.isGlance) all.set("account", this.accounts.address);
    const shifts = this.panels.map(({ shift }) => shift);
    if (shifts.some((shift) => shift !== 0)) all.set("shift", shifts.join());
    if (this.aligned.value !== "begin") all.set("aligned", this.aligned.value);
    try {
      if (isStep) history.pushState(null, "", `#${all}`);
      else history.replaceState(null, "", `#${all}`);
    } catch {
      // The browser refuses further changes for a while: what is seen matters more.
    }
  }

  /** Shows what the address says; where it says nothing, what is seen at first. */
  fromAddress(): void {
    this.act();
    this.jumps.forget();
    const all = new URLSearchParams(location.hash.slice(1));
    const choose = (select: HTMLSelectElement, value: string | null, other: string): void => {
      select.value = [...select.options].some((it) => it.value === value) ? (value ?? other) : other;
    };
    choose(this.rows, all.get("rows"), "0");
    choose(this.aligned, all.get("aligned"), "begin");
    choose(this.colour, all.get("colour"), this.usualColour);
    this.search.value = all.get("find") ?? "";
    this.cpus.value = all.get("cpus") ?? "";
    const height = Number(all.get("height"));
    this.wantedHeight = height >= 1 && height <= TALLEST ? Math.round(height) : 0;
    this.changeCpus();
    this.say("");
    const numbers = (name: string): number[] => (all.get(name) ?? "").split(",").map((it) => (it === "" ? Number.NaN : Number(it)));
    const [tasks, shifts, late] = [numbers("task"), numbers("shift"), this.lateness(all.get("begin"))];
    this.panels.forEach((panel, n) => {
      const [task, shift] = [tasks[n] ?? Number.NaN, (shifts[n] ?? 0) + (late[0] ?? 0) - (late[n] ?? 0)];
      panel.follow(panel.recording.isTask(task) ? task : undefined);
      // What is followed is said here, and not left to the search.
      if (panel.way) panel.sought = this.search.value;
      panel.shift = Number.isSafeInteger(shift) && shift >= 0 ? shift : 0;
    });
    this.accounts.address = all.get("account") ?? "";
    this.changeLook("nowhere");
    this.resize();
    const [begin, end] = this.first.recording.head.seen;
    const usual = this.panels.length > 1 ? this.whole : { from: begin, to: end };
    const span = (name: string): Span | undefined => {
      const [from = 0, to = 0] = numbers(name).map((time) => time + (late[0] ?? 0));
      return from >= 0 && from < to && to <= this.whole.to ? { from, to } : undefined;
    };
    this.see(span("t") ?? usual, "nowhere");
    this.measured = span("measured");
    // From now on it counts from where these recordings begin.
    if (all.has("begin")) this.writeAddress(false);
    void this.sumUp();
  }

  /** How much later each recording of an address begins, in ns; 0 where the address does not say so. */
  private lateness(begins: string | null): number[] {
    const of = (begins ?? "").split(",");
    return this.panels.map(({ recording }, n) => {
      const begin = of[n] ?? "";
      return /^\d{1,20}$/.test(begin) ? Number(BigInt(begin) - BigInt(recording.head.from)) : 0;
    });
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
    for (const panel of this.panels) panel.search(pattern);
    const count = this.panels.reduce((sum, { found }) => sum + (found?.count ?? 0), 0);
    element<HTMLOutputElement>("found").value = pattern ? counted(count, "task") : "";
    for (const panel of this.panels) panel.followFound(pattern);
    const dark = !this.isPrinted && matchMedia("(prefers-color-scheme: dark)").matches;
    ({ backgroundColor: this.paper, color: this.ink } = this.isPrinted ? PAPER : getComputedStyle(document.body));
    this.look = { ...this.look, version: this.look.version + 1, colouring: this.colour.value as Colouring, dark };
    explain(this.look, this.panels);
    this.toAddress(into);
    void this.followTasks();
    this.soon();
  }

  /** Heights follow the window. */
  resize(): void {
    const lanes = this.panels.reduce((sum, panel) => sum + panel.shown(this.fold).length, 0);
    const fixed = RULER + this.panels.reduce((sum, panel) => sum + panel.height(this.fold, 0), 0) + this.differences;
    const top = this.lanes.getBoundingClientRect().top + window.scrollY;
    const free = Math.max(window.innerHeight / 2, window.innerHeight - top - 60) - fixed;
    const [width, ratio] = [this.lanes.clientWidth, devicePixelRatio];
    const usual = Math.min(USUAL, Math.floor(free / Math.max(1, lanes)));
    // Browsers draw nothing on a canvas that is too high.
    const most = Math.floor(HIGHEST / ratio / Math.max(1, lanes));
    const lane = Math.max(1, Math.min(most, this.wantedHeight || usual));
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

  /** Makes lanes lower or higher. */
  heighten(factor: number): void {
    const { lane } = this.first.place;
    const next = factor > 1 ? Math.max(lane + 1, Math.round(lane * factor)) : Math.floor(lane * factor);
    this.wantedHeight = Math.max(1, Math.min(TALLEST, next));
    this.resize();
    this.toAddress("address");
  }

  /** The field of CPUs changed. */
  chooseCpus(): void {
    this.changeCpus();
    this.toAddress("address");
  }

  /** Only the lanes of CPUs that the field names are shown. */
  private changeCpus(): void {
    const text = this.cpus.value.trim();
    const cpus = text ? cpuList(text) : undefined;
    const known = this.panels.map((panel) => panel.choose(cpus)).every(Boolean) && (!text || cpus !== undefined);
    if (!known) for (const panel of this.panels) panel.choose(undefined);
    this.cpus.setAttribute("aria-invalid", `${!known}`);
    this.cpus.title = known ? "" : "no such CPUs: give numbers and ranges, such as 0-15,64";
    this.resize();
  }

  /** Height of the lanes of differences. */
  private get differences(): number {
    return this.panels.length > 1 ? DIFFERENCES : 0;
  }

  // The pointer.

  /** The pointer is there; -1 is nowhere. */
  pointTo(x: number, y: number): void {
    this.pointer = { x, y };
    const on = this.panels.find((panel) => x >= LABEL && panel.isOnFollowed(y));
    this.hover.rest();
    if (on?.way) this.hover.say(x, y, didThen(on.recording, on.way, this.timeAt(x) - on.shift));
    else this.hover.tell(x, y, this.under());
  }

  /** Says what is under the pointer after something else came there. */
  private pointAgain(): void {
    const { x, y } = this.pointer;
    const { from, to } = this.seen;
    const shown = [from, to, this.fold, this.first.place.lane, this.colour.value].join();
    if (x >= 0 && shown !== this.pointedAt) this.pointTo(x, y);
    this.pointedAt = shown;
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
    const { y } = this.pointer;
    const { recording } = panel;
    const is = panel.read(fold, lane, time, nsPerPixel / devicePixelRatio);
    const isLast = this.act();
    const [at] = await Promise.all([recording.at(cpu, time), recording.known()]).catch(() => []);
    if (!isLast()) return;
    if (at) {
      // On the mark of a wait the task that waits is meant, else the one that runs.
      const waits = at.waiting[0]?.[0];
      panel.follow(is?.inVain && panel.isOnBand(y) ? (waits ?? at.task ?? undefined) : (at.task ?? waits));
      const why = is?.inVain ? [`a task waited here in vain: ${recording.why(is.why)}`] : [];
      this.say([...exact(recording, cpu, time, at), ...why].join("\n"));
    } else if (recording.isServed) return this.say("wastenot does not answer. Check that it still runs.");
    else this.standOut(panel, is?.task);
    this.toAddress("history");
    void this.followTasks();
  }

  /** Other tasks are dimmed: all that a page in a file, which knows no ways, can do to follow one. */
  standOut({ recording }: Panel, task: number | undefined): void {
    this.searchFor(task === undefined || task === NO_TASK ? "" : recording.name(task));
  }

  /** Asks where tasks that are followed ran and waited. */
  async followTasks(): Promise<void> {
    await Promise.all(this.panels.map((panel) => panel.askWay(this.seen, this.nsPerPixel)));
    this.soon();
  }

  /** The user does something: what was asked for before is not waited for. Gives whether it is still the last. */
  act(): () => boolean {
    this.acts++;
    return this.untilAct();
  }

  /** Gives whether the user did nothing that `act` counts since. */
  untilAct(): () => boolean {
    const { acts } = this;
    return () => acts === this.acts;
  }

  /** Nothing is chosen, marked or measured any more. */
  forget(): void {
    this.act();
    this.say("");
    this.jumps.forget();
    this.accounts.forget();
    this.measured = undefined;
    for (const panel of this.panels) {
      panel.follow(undefined);
      panel.mark = undefined;
    }
    this.toAddress("address");
    this.soon();
  }

  measure(x: number, y: number): void {
    const within = (x: number): number => Math.max(0, Math.min(this.whole.to, this.timeAt(x)));
    const [from, to] = [within(x), within(y)].sort((a, b) => a - b);
    if (from !== undefined && to !== undefined && from < to) this.measured = { from, to };
    this.soon();
  }

  /** Marks the moment under the pointer. Once both recordings have a mark, they are aligned there. */
  mark(): void {
    const under = this.under();
    if (under) under.panel.mark = under.time;
    if (this.panels.length > 1 && this.panels.every(({ mark }) => mark !== undefined)) this.aligned.value = "marks";
    if (this.aligned.value === "marks") void this.align("marks");
    this.soon();
  }

  /** Puts two recordings so that the same moment of both is at one place. */
  async align(how: string): Promise<void> {
    const [before, after] = this.panels;
    if (!before || !after) return;
    let [a, b]: (number | undefined)[] = [0, 0];
    if (how === "marks") [a, b] = [before.mark, after.mark];
    if (how === "task") [a, b] = await Promise.all([before.begin(), after.begin()]);
    const lacks = [a === undefined ? "before" : "", b === undefined ? "after" : ""].filter(Boolean).join(" and ");
    const help = how === "marks" ? `no mark ${lacks}: point at a moment there and press M` : `no task found ${lacks}: search for a task that runs in both traces`;
    element<HTMLOutputElement>("alignment").value = lacks && help;
    if (a === undefined || b === undefined) return;
    const shift = Math.round(a - b);
    // Neither begins before the page does.
    before.shift = Math.max(0, -shift);
    after.shift = Math.max(0, shift);
    this.see(this.whole, "history");
  }

  // Drawing.

  /** Draws in the next frame, and says what is under the pointer then. */
  soon(): void {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      const begin = performance.now();
      this.draw(begin);
      this.pointAgain();
      this.work.push(performance.now() - begin);
      if (this.work.length > FRAMES) this.work.shift();
    });
  }

  private draw(begin: number): void {
    const to = this.canvas.getContext("2d");
    if (!to || this.look.tall === 0) return;
    const { width, ratio } = this.first.place;
    if (width < 2 * LABEL) return;
    const height = this.canvas.height / ratio;
    to.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { paper, ink } = this;
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
    this.drawCurrent(to, height, ink);
    this.drawTrouble(to, width);
    this.store.ask();
    // Tests wait for this: all that is seen is drawn as it should be.
    this.lanes.dataset["settled"] = `${isFresh && this.store.settled && !this.jumps.isUnderWay && !this.panels.some(({ recording }) => recording.waits)}`;
    if (!isFresh) this.soon();
  }

  private drawRuler(to: CanvasRenderingContext2D, width: number): void {
    const { step, at } = marks(this.seen.from, this.seen.to, (width - LABEL) / 120);
    for (const mark of at) {
      const text = moment(mark, step);
      to.fillRect(this.xOf(mark), RULER - 5, 1, 5);
      if (this.xOf(mark) + 3 + to.measureText(text).width < width) to.fillText(text, this.xOf(mark) + 3, RULER - 8);
    }
    to.fillText(length(this.seen.to - this.seen.from), 4, RULER - 8, LABEL - 8);
  }

  /** Brackets the row that was chosen last. */
  private drawCurrent(to: CanvasRenderingContext2D, height: number, ink: string): void {
    if (!this.jumps.current) return;
    const { from, to: until } = placeOf(this.jumps.current);
    to.strokeStyle = ink;
    to.lineWidth = 1;
    to.setLineDash([3, 3]);
    for (const x of [this.xOf(from), this.xOf(until)]) {
      if (x < LABEL) continue;
      to.beginPath();
      to.moveTo(x, RULER);
      to.lineTo(x, height);
      to.stroke();
    }
    to.setLineDash([]);
  }

  /** Says at the end of the ruler what is not as it should be. */
  private drawTrouble(to: CanvasRenderingContext2D, width: number): void {
    const widest = Math.max(...this.panels.map((panel) => panel.finestNs));
    const lines: string[] = [];
    if (this.store.fails) lines.push("wastenot does not answer. Check that it still runs.");
    else if (widest > 0 && this.store.settled) lines.push(`averages over ${length(widest)}: finer data is not loaded`);
    const text = lines.join(" ");
    if (!text) return;
    const wide = to.measureText(text).width;
    to.fillStyle = `rgb(${IN_VAIN.join()})`;
    to.fillRect(width - wide - 12, 0, wide + 12, 15);
    to.fillStyle = "#fff";
    to.fillText(text, width - wide - 6, 11);
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
    to.fillText(length(until - from), x0 + 4, RULER + 10);
  }
}
