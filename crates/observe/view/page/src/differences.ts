// The differences between two traces, as separate lanes.

import { Sum } from "./data";
import { IN_VAIN, LESS } from "./paint";
import { LABEL, most, Panel, Span } from "./panel";

/** Height of a lane, in pixels. */
const HEIGHT = 26;
const SUMS: [string, Sum][] = [
  ["busy CPUs", Sum.Busy],
  ["waiting tasks", Sum.Waiting],
  ["in vain", Sum.InVain],
];

/** Height of all. */
export const DIFFERENCES = SUMS.length * HEIGHT + 8;

/** Draws bars up where the second recording has more, down where it has less. */
export function drawDifferences(to: CanvasRenderingContext2D, before: Panel, after: Panel, seen: Span, top: number, ink: string): void {
  const columns = Math.round(before.place.width - LABEL);
  const [sums, others] = [before, after].map((panel) => panel.sums(SUMS.map(([, sum]) => sum), seen, columns));
  SUMS.forEach(([name], n) => {
    const [a, b] = [sums?.[n], others?.[n]];
    if (!a || !b) return;
    const scale = (HEIGHT / 2 - 2) / Math.max(1, most(a), most(b));
    const middle = top + 8 + n * HEIGHT + HEIGHT / 2;
    for (let x = 0; x < columns; x++) {
      const more = ((b[x] ?? Number.NaN) - (a[x] ?? Number.NaN)) * scale;
      // Beyond the end of one there is no difference.
      if (more === 0 || Number.isNaN(more)) continue;
      const high = Math.max(1, Math.abs(more));
      to.fillStyle = `rgb(${(more > 0 ? IN_VAIN : LESS).join()})`;
      to.fillRect(LABEL + x, more > 0 ? middle - high : middle, 1, high);
    }
    to.fillStyle = ink;
    to.fillRect(LABEL, middle, columns, 0.5);
    to.fillText(name, 4, middle + 4, LABEL - 8);
  });
}
