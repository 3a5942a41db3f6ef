// A description of the place under the pointer: at once from the drawn cells, and exactly when the pointer rests.

import { clock, moment } from "./axis";
import { exact, told } from "./details";
import { element } from "./dom";
import { Panel } from "./panel";

/** How long the pointer rests before a moment is asked for, in ms. */
const REST = 60;

/** Where the pointer is: on which lane of which recording, at which time of it. */
export interface Under {
  panel: Panel;
  fold: number;
  lane: number;
  label: string;
  /** The CPU, where the lane is one. */
  cpu: number | undefined;
  time: number;
  nsPerPixel: number;
}

/** The box beside the pointer. */
export class Hover {
  private readonly box = element("hover");
  private resting: ReturnType<typeof setTimeout> | undefined;
  /** Grows with each move of the pointer. */
  private moves = 0;

  /** Says what is there; nothing where that is nothing. */
  tell(x: number, y: number, under: Under | undefined): void {
    if (!under) {
      this.box.hidden = true;
      return;
    }
    const { panel, fold, lane, label, cpu, time, nsPerPixel } = under;
    const { recording } = panel;
    const is = panel.read(fold, lane, time, nsPerPixel / devicePixelRatio);
    const where = `${label}, at ${moment(time, nsPerPixel)} (@${clock(recording.head.from, time)})`;
    const words = (): string[] => [where, ...(is ? told(recording, is) : ["…"])];
    this.say(x, y, words());
    const move = this.moves;
    this.resting = setTimeout(async () => {
      // Where there is no answer, what is drawn is said, with the names of tasks.
      const [at] = await Promise.all([cpu === undefined ? undefined : recording.at(cpu, time), recording.known()]).catch(() => []);
      if (this.moves !== move) return;
      this.say(x, y, cpu === undefined || !at ? words() : [...words(), "", "exactly at this time:", ...exact(recording, cpu, time, at).slice(1)]);
    }, REST);
  }

  /** The pointer moved: what was asked for is not told any more. */
  rest(): void {
    clearTimeout(this.resting);
    this.moves++;
  }

  /** Says this. */
  say(x: number, y: number, lines: string[]): void {
    const { box } = this;
    box.textContent = lines.join("\n");
    box.hidden = false;
    const room = box.parentElement?.clientWidth ?? 0;
    const left = x + 16 + box.offsetWidth > room ? x - 16 - box.offsetWidth : x + 16;
    box.style.left = `${Math.max(0, left)}px`;
    // Above the pointer where there is no room in the window below it.
    const below = (box.parentElement?.getBoundingClientRect().top ?? 0) + y + 8 + box.offsetHeight;
    box.style.top = `${below > window.innerHeight ? y - 8 - box.offsetHeight : y + 8}px`;
  }
}
