// The account of the followed task below the lanes, and its critical path over the lanes.

import { words as length } from "./axis";
import { Account, Step } from "./data";
import { element } from "./dom";
import { Latest } from "./latest";
import type { Page } from "./page";
import type { Panel } from "./panel";
import { Rgb } from "./paint";
import type { Frame } from "./way";

/** Colours of the path: no task and no cause has them. */
export const PATH: Rgb = [120, 40, 160];
export const PATH_DARK: Rgb = [205, 150, 255];
/** Where the path is a wait, it is dashed so, in pixels. */
const DASHES = [2, 3];

/** Where the line is in a lane, from above: names stand below it. */
const HEIGHT = 0.3;

/** What is asked: of which task of which recording, and of which stretch of the recording's time. */
interface Question {
  panel: Panel;
  task: number;
  from: number;
  to: number;
}

/** The account that is shown. */
export class Accounts {
  private readonly box = element("account");
  private readonly status = element("accounting");
  private readonly words = element("accounted");
  /** What was asked last. */
  private asked: Question | undefined;
  private readonly asking = new Latest<Question>((asked) => this.answer(asked));

  constructor(private readonly page: Page) {}

  /** Asks for the account of the task that is followed in what is measured, or else seen. */
  ask(): void {
    const panel = this.page.panels.find(({ way }) => way);
    if (!this.page.panels.some(({ recording }) => recording.isServed)) return this.page.say("Only wastenot view says where the time of a task went.");
    if (!panel?.way) return this.page.say("Follow a task first: click a task, or search for one.");
    const { from, to } = this.page.stretch;
    const within = (time: number): number => Math.round(Math.max(0, Math.min(panel.recording.head.span, time - panel.shift)));
    this.show({ panel, task: panel.way.task, from: within(from), to: within(to) });
    this.page.toAddress("history");
  }

  /** What the address holds of it: the place of the recording, task, from, to. */
  get address(): string {
    const { asked } = this;
    return asked ? [asked.panel.recording.place, asked.task, asked.from, asked.to].join() : "";
  }

  /** Shows what the address holds. */
  set address(text: string) {
    if (text === this.address) return;
    const [place = -1, task = -1, from = 0, to = 0] = text.split(",").map(Number);
    const panel = text === "" ? undefined : this.page.panels[place];
    const isKnown = panel?.recording.isServed && panel.recording.isTask(task) && from >= 0 && from <= to;
    if (panel && isKnown) this.show({ panel, task, from, to });
    else this.forget();
  }

  /** Nothing is asked any more. */
  forget(): void {
    this.asked = undefined;
    this.box.hidden = true;
    this.words.replaceChildren();
    for (const panel of this.page.panels) panel.path = undefined;
  }

  private show(asked: Question): void {
    this.forget();
    this.asked = asked;
    this.say("Reading the events again to find where the time went …");
    void this.asking.ask(asked);
  }

  private async answer(asked: Question): Promise<void> {
    const { panel, task, from, to } = asked;
    // It was forgotten while another one was asked.
    if (this.asked !== asked) return;
    const answers = [panel.recording.account(task, from, to), panel.recording.known()] as const;
    const [account] = await Promise.all(answers).catch(() => []);
    if (this.asked === asked) this.tell(asked, account);
  }

  private tell({ panel, task, from, to }: Question, account: Account | undefined): void {
    const whose = `Account of ${panel.recording.name(task)} over ${length(to - from)}`;
    if (account?.words === undefined) {
      this.say(`${whose}: ${account?.why ?? "wastenot does not answer."}`);
      if (account?.command) this.words.appendChild(document.createElement("code")).textContent = account.command;
      return;
    }
    const { path, steps } = account;
    const drawn = path.length < steps ? ` Only the first ${path.length} of its ${steps} steps are drawn.` : "";
    this.say(path.length === 0 ? `${whose}: the task did not run.` : `${whose}. The violet line over the lanes shows the critical path; dotted parts are waits.${drawn}`);
    const words = document.createElement("div");
    // The program has escaped what comes from the recording, as on the page itself.
    words.innerHTML = account.words;
    this.page.jumps.leads(words, panel);
    this.words.replaceChildren(words);
    panel.path = path;
    this.page.soon();
  }

  private say(words: string): void {
    this.status.textContent = words;
    this.box.hidden = false;
  }
}

/** Draws a critical path over lanes: along the CPUs where its tasks ran or waited. */
export function drawPath(to: CanvasRenderingContext2D, path: Step[], frame: Frame, dark: boolean): void {
  const { left, right, top, bottom, x, y, lane } = frame;
  const [runs, waits] = [new Path2D(), new Path2D()];
  let last: { x: number; y: number } | undefined;
  for (const [cpu, from, until, kind] of path) {
    const [x0, x1, y0] = [x(from), x(until), cpu === null ? undefined : y(cpu)];
    // Where it is on no CPU, or on one without a lane, nothing is drawn.
    const at = y0 === undefined ? undefined : y0 + lane * HEIGHT;
    if (at !== undefined && x1 >= left && x0 <= right) {
      if (last && last.y !== at) line(runs, x0, last.y, x0, at);
      line(kind.startsWith("run") ? runs : waits, x0, at, Math.max(x1, x0 + 1), at);
    }
    last = at === undefined ? undefined : { x: x1, y: at };
  }
  to.save();
  to.beginPath();
  to.rect(left, top, right - left, bottom - top);
  to.clip();
  const stroke = (colour: Rgb, width: number): void => {
    to.strokeStyle = `rgb(${colour.join()})`;
    to.lineWidth = width;
    to.setLineDash([]);
    to.stroke(runs);
    to.setLineDash(DASHES);
    to.stroke(waits);
  };
  // It is seen on any colour, since it has an edge.
  stroke(dark ? [0, 0, 0] : [255, 255, 255], 5);
  stroke(dark ? PATH_DARK : PATH, 3);
  to.restore();
}

function line(on: Path2D, x0: number, y0: number, x1: number, y1: number): void {
  on.moveTo(x0, y0);
  on.lineTo(x1, y1);
}
