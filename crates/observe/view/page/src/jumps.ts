// Jumps to times: from rows of tables, violations, runs of a task and its wakers.

import { moment, words as length } from "./axis";
import { cpuList } from "./cpus";
import { At, Source } from "./data";
import { element } from "./dom";
import { List, lists } from "./lists";
import type { Page } from "./page";
import type { Panel, Span } from "./panel";
import type { Way } from "./way";

/** A run that is so wide is seen, in pixels. */
const LEAST_SEEN = 4;

/** Which part of what is seen stays seen when a moment comes nearer. */
const NEARER = 8;
/** The name of the table of steps, of a recording that tells them. */
const STEPS = "annex-steps";

/** Leads to times on a page. */
export class Jumps {
  /** Where the last one led. */
  current: Target | undefined;
  /** Lists of each recording. */
  private readonly lists: Map<string, List>[];
  /** Violations that tables list: they are asked for when they are needed first. */
  private violations: Promise<Target[]> | undefined;
  /** Jumps that have not come to their place yet, and the last of them. */
  private underWay = 0;
  private last = Promise.resolve();

  constructor(
    private readonly page: Page,
    source: Source,
    atOnce: number,
  ) {
    this.lists = page.panels.map(() => new Map());
    for (const words of document.querySelectorAll<HTMLElement>("[data-recording]")) {
      const place = Number(words.dataset["recording"]);
      for (const [name, list] of lists(words, source, atOnce)) this.lists[place]?.set(name, list);
      const panel = page.panels[place];
      if (panel) this.leads(words, panel);
    }
  }

  get isUnderWay(): boolean {
    return this.underWay > 0;
  }

  /** The table to whose rows N and P lead: that of the steps, where a recording tells them. */
  private stops(panel: Panel): List | undefined {
    const lists = this.lists[panel.recording.place];
    return lists?.get(STEPS) ?? lists?.get("violations");
  }

  /** Marks the CPUs that the decision of a row considered; none where it is no decision. */
  private consider(row: HTMLElement | undefined, panel: Panel): void {
    for (const it of this.page.panels) it.considered = undefined;
    const heads = [...(row?.closest("table")?.tHead?.rows[0]?.cells ?? [])];
    const cell = row?.querySelectorAll("td")[heads.findIndex(({ textContent }) => textContent === "CPUs considered")];
    const cpus = cpuList(cell?.textContent ?? "");
    if (row && cpus) panel.considered = { cpus, time: Number(row.dataset["from"]) };
    this.page.soon();
  }

  /** Nothing is marked any more. */
  forget(): void {
    this.choseRow(undefined);
    for (const panel of this.page.panels) panel.considered = undefined;
    this.current = undefined;
  }

  /** What has a time in the words about a recording leads there. */
  leads(words: HTMLElement, panel: Panel): void {
    const go = ({ target }: Event): void => {
      const element = (target as HTMLElement).closest<HTMLElement>("[data-from], [data-tid]");
      if (!element) return;
      if (element.dataset["tid"] !== undefined) return void this.followRow(element, panel);
      const { from, to, n } = element.dataset;
      const isStop = element.closest("table") === this.stops(panel)?.element;
      void this.go({ panel, from: Number(from), to: Number(to), n: isStop ? Number(n) : undefined }, element);
    };
    words.addEventListener("focusin", ({ target }) => this.consider((target as HTMLElement).closest<HTMLElement>("tr[data-from]") ?? undefined, panel));
    words.addEventListener("click", go);
    words.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.target as HTMLElement).matches("[data-from], [data-tid]")) go(event);
    });
  }

  /** Follows the task that a row is about. */
  private async followRow(row: HTMLElement, panel: Panel): Promise<void> {
    const isLast = this.page.act();
    await panel.recording.known().catch(() => undefined);
    if (!isLast()) return;
    const [name, tid] = [row.querySelector("td")?.textContent, row.dataset["tid"]];
    const { tids } = panel.recording.tasks ?? {};
    // Tids are used again, by tasks of other names.
    const tasks = [...(tids?.keys() ?? [])].filter((task) => `${tids?.[task]}` === tid);
    const task = tasks.find((task) => panel.recording.name(task) === `${name}:${tid}`) ?? tasks[0];
    if (task === undefined) return;
    if (panel.recording.isServed) panel.follow(task);
    else this.page.standOut(panel, task);
    this.choseRow(row);
    this.page.say(inWords(row, row.closest("table") ?? undefined));
    this.page.toAddress("history");
    await this.page.followTasks();
  }

  /** Shows that a row was chosen last, and what it led to. */
  private choseRow(row: HTMLElement | undefined): void {
    document.querySelector(".current")?.classList.remove("current");
    row?.classList.add("current");
    if (!row) return;
    element("lanes").focus({ preventScroll: true });
    element("time").scrollIntoView({ block: "nearest" });
  }

  /** Goes where a row leads, with twice as much before and after it, and says what it says. */
  private async go(target: Target, chosen?: HTMLElement | string): Promise<void> {
    const clicked = typeof chosen === "string" ? undefined : chosen;
    const seen = this.around(target, clicked?.classList.contains("current") === true);
    this.choseRow(undefined);
    this.current = target;
    this.consider(clicked, target.panel);
    this.page.see(seen, seen === this.page.seen ? "address" : "history");
    element("lanes").focus({ preventScroll: true });
    element("time").scrollIntoView({ block: "nearest" });
    if (typeof chosen === "string") return this.page.say(chosen);
    const list = this.stops(target.panel);
    const row = chosen ?? (target.n === undefined ? undefined : await list?.row(target.n).catch(() => undefined));
    if (!row || this.current !== target) return;
    row.classList.add("current");
    this.page.say(inWords(row, row.closest("table") ?? list?.element));
  }

  /** What is seen when a jump has led to a time; whether it has led there before. */
  private around(target: Target, isAgain: boolean): Span {
    const { from, to } = placeOf(target);
    const { seen, nsPerPixel } = this.page;
    const moved = (width: number): Span => ({ from: (from + to - width) / 2, to: (from + to + width) / 2 });
    const width = seen.to - seen.from;
    if (from === to) {
      // A moment that is seen is marked; if it is chosen again, it comes nearer.
      if (isAgain) return moved(width / NEARER);
      return from >= seen.from && to <= seen.to ? seen : moved(width);
    }
    // From run to run what is seen moves only, where a run is to be seen in it.
    const keeps = target.task !== undefined && to - from > nsPerPixel * LEAST_SEEN && to - from < width / 2;
    if (keeps) return moved(width);
    const around = Math.max(1000, (to - from) * 2);
    return { from: from - around, to: to + around };
  }

  /** Goes to the next violation, or step, or with -1 to the one before. */
  toViolation(step: number): Promise<void> {
    return this.arrive((goesOn) => this.toViolationNow(step, goesOn));
  }

  private async toViolationNow(step: number, goesOn: () => boolean): Promise<void> {
    this.violations ??= Promise.all(this.page.panels.map((panel) => this.stopsOf(panel))).then((all) => all.flat());
    // What failed is asked for again at the next jump.
    const known = await this.violations.catch(() => (this.violations = undefined));
    const rows = [...(known ?? [])].sort((a, b) => (placeOf(a).from - placeOf(b).from || (a.n ?? 0) - (b.n ?? 0)) * step);
    const { current } = this;
    // From the last one, if it is seen; else the first that is seen, or that comes after what is.
    const last = rows.findIndex(({ panel, n }) => panel === current?.panel && n === current.n);
    const { from, to } = this.page.seen;
    const isSeen = current && placeOf(current).from <= to && placeOf(current).to >= from;
    const edge = step > 0 ? from : to;
    const next =
      last >= 0 && isSeen ? rows[last + 1] : rows.find((row) => (step > 0 ? placeOf(row).to > edge : placeOf(row).from < edge));
    if (next && goesOn()) await this.go(next);
  }

  /** All to which N and P lead. */
  private async stopsOf(panel: Panel): Promise<Target[]> {
    const list = this.stops(panel);
    if (list?.element.dataset["name"] !== STEPS) return violationsOf(panel);
    const rows = await list.all();
    return rows.map(({ dataset }, n) => ({ panel, from: Number(dataset["from"]), to: Number(dataset["to"]), n }));
  }

  /** Goes to the next run of the task that is followed, or with -1 to the one before. */
  toRun(step: number): Promise<void> {
    return this.withFollowed(async (panel, way, goesOn) => {
      const { from: left, to: right } = this.page.seen;
      // From the last one, if it is seen; else the first that begins in what is seen, or after it.
      const time = this.runSeen(panel, way)?.from ?? (step > 0 ? left : right) - panel.shift;
      await this.goToRun(panel, way.task, time, step > 0, goesOn);
    });
  }

  /** Follows the task that woke the one that is followed for the run where one is, or that is in the middle of what is seen. */
  toWaker(): Promise<void> {
    return this.withFollowed(async (panel, way, goesOn) => {
      const { recording } = panel;
      const middle = (this.page.seen.from + this.page.seen.to) / 2 - panel.shift;
      const known = this.runSeen(panel, way);
      const run = known ?? targetOf(panel, way.task, await recording.run(way.task, middle, false));
      const [, since, , waker] = (run && (await waitBefore(run))) ?? [];
      if (!goesOn()) return;
      if (waker === undefined || waker === null || since === undefined) return this.page.say(`the waker of ${recording.name(way.task)} is unknown`);
      // The search found another task.
      if (panel.way?.isFound) this.page.searchFor("");
      panel.follow(waker);
      // The last run that began before is the one in which it did so.
      await this.goToRun(panel, waker, since + 1, false, goesOn);
    });
  }

  /** Does something with a task that is followed. */
  private withFollowed(go: (panel: Panel, way: Way, goesOn: () => boolean) => Promise<void>): Promise<void> {
    return this.arrive(async (goesOn) => {
      const panel = this.page.panels.find(({ way }) => way);
      if (panel?.way) await Promise.all([panel.recording.known(), go(panel, panel.way, goesOn)]);
    });
  }

  /** Jumps one after the other: each begins where the last one led, unless the user did something else meanwhile. */
  private arrive(jump: (goesOn: () => boolean) => Promise<void>): Promise<void> {
    this.underWay++;
    this.page.soon();
    const goesOn = this.page.untilAct();
    // What a server does not answer leads nowhere.
    const arrives = this.last.then(() => (goesOn() ? jump(goesOn) : undefined)).catch(() => undefined);
    this.last = arrives.then(() => {
      this.underWay--;
      this.page.soon();
    });
    return this.last;
  }

  /** The run to which the last jump led, if it is one of the task that is followed, and seen. */
  private runSeen(panel: Panel, { task }: Way): Target | undefined {
    const { current } = this;
    if (current?.panel !== panel || current.task !== task) return undefined;
    const { from, to } = placeOf(current);
    return from < this.page.seen.to && to > this.page.seen.from ? current : undefined;
  }

  /** Goes to the run of a task that begins after a time, or else before it, and says how it began. */
  private async goToRun(panel: Panel, task: number, time: number, isAfter: boolean, goesOn: () => boolean): Promise<void> {
    const { recording } = panel;
    const target = targetOf(panel, task, await recording.run(task, time, isAfter));
    if (!target) return;
    const { cpu, from, to } = target;
    const [wait] = await Promise.all([waitBefore(target), recording.known()]);
    if (!goesOn()) return;
    const words = [`${recording.name(task)} ran on CPU ${cpu} for ${length(to - from)}, from ${moment(from, 1)} on`];
    if (wait) {
      const [, since, origin, waker] = wait;
      const by = waker === null ? "" : ` by ${recording.name(waker)}`;
      words.push(`before that, it waited for ${length(from - since)} (${origin}${by})`);
    }
    await this.go(target, words.join("\n"));
  }
}

/** A time of a recording to which words about it lead. */
export interface Target extends Span {
  panel: Panel;
  /** Its place in the table of violations, if it is there. */
  n: number | undefined;
  /** The task that ran then, and where, if it is a run. */
  task?: number;
  cpu?: number;
}

/** All that the table of violations of a recording has. */
async function violationsOf(panel: Panel): Promise<Target[]> {
  return (await panel.recording.violations()).map(([from, to], n) => ({ panel, from, to, n }));
}

/** A run of a task. */
type Run = Target & { task: number; cpu: number };

const targetOf = (panel: Panel, task: number, run: [number, number, number] | undefined): Run | undefined =>
  run && { panel, cpu: run[0], from: run[1], to: run[2], n: undefined, task };

/** How a task waited before it ran. */
async function waitBefore({ panel, task, cpu, from }: Target): Promise<At["waiting"][number] | undefined> {
  if (from === 0 || cpu === undefined) return undefined;
  return (await panel.recording.at(cpu, from - 1))?.waiting.find(([waiting]) => waiting === task);
}

/** Where it is on the page. */
export const placeOf = ({ panel, from, to }: Target): Span => ({ from: from + panel.shift, to: to + panel.shift });

/** What a row of a table says, with the names of its columns; another element as it is. */
function inWords(element: HTMLElement, table: HTMLElement | undefined): string {
  if (!(table instanceof HTMLTableElement) || !(element instanceof HTMLTableRowElement)) return element.innerText;
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map((head) => head.textContent ?? "");
  const cells = [...element.querySelectorAll("td")].map((cell) => cell.textContent ?? "");
  return cells.map((cell, n) => `${heads[n]}: ${cell}`).filter((_, n) => cells[n] !== "").join(", ");
}
