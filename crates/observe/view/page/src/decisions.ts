// The decisions of the scheduler in the visible time, as a table below the lanes.

import { counted } from "./axis";
import type { Recording } from "./data";
import { Latest } from "./latest";
import type { Panel, Span } from "./panel";

/** How long after a move the table follows, in ms. */
const LATER = 150;

/** The section of one recording; it asks for nothing while it is folded. */
export class Decisions {
  private later: ReturnType<typeof setTimeout> | undefined;
  /** The stretch that the table is of. */
  private shown = "";
  private readonly asking: Latest<[number, number]>;

  constructor(
    private readonly section: HTMLDetailsElement,
    private readonly panel: Panel,
    private readonly seen: () => Span,
  ) {
    this.asking = new Latest(([from, to]) => this.show(panel.recording, from, to));
    section.addEventListener("toggle", () => this.follow());
  }

  /** What is seen changed. */
  follow(): void {
    clearTimeout(this.later);
    if (!this.section.open) return;
    this.later = setTimeout(() => {
      const { from, to } = this.seen();
      const { shift } = this.panel;
      // With the moment at its end.
      void this.asking.ask([Math.max(0, Math.floor(from - shift)), Math.max(0, Math.floor(to - shift) + 1)]);
    }, LATER);
  }

  private async show(recording: Recording, from: number, to: number): Promise<void> {
    const [status, box] = this.section.querySelectorAll<HTMLElement>(":scope > p, :scope > div");
    // A table that would be the same stays, with the row that has the focus.
    if (!status || !box || this.shown === `${from},${to}`) return;
    const told = await recording.decisions(from, to);
    if (!told) return;
    this.shown = `${from},${to}`;
    const chosen = box.querySelector(".current")?.innerHTML;
    // The program has escaped what comes from the recording, as on the page itself.
    box.innerHTML = told.words;
    const rows = [...box.querySelectorAll("tbody tr")];
    rows.find(({ innerHTML }) => innerHTML === chosen)?.classList.add("current");
    status.textContent = `${counted(told.count, "decision")} in the visible time${rows.length < told.count ? `; this list has the first ${rows.length}: zoom in to see others` : ""}`;
  }
}
