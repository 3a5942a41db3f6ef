// The runs and waits of the followed task: on a separate lane, and over the lanes of CPUs.

import { words as length } from "./axis";
import type { Recording, Stretch } from "./data";
import { PLAIN, taskColour } from "./paint";

/** A task that is followed; `isFound` if it is so since it was found. */
export interface Way {
  task: number;
  stretches: Stretch[];
  isFound: boolean;
}

/** Height of its own lane, in pixels. */
export const FOLLOWED = 22;
/** A CPU is named on a run that is so wide. */
const NAMED = 24;

/** Where things stand: a box, and what tells the place of a time and of a CPU; undefined where that has no lane. */
export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: (time: number) => number;
  y: (cpu: number) => number | undefined;
  /** Height of a lane. */
  lane: number;
}

/** Draws the lane of its own, with words, the task's name or a hint, at a height: it ran, as high as the lane, in the colour of its CPU; it waited, a low bar. */
export function drawFollowed(to: CanvasRenderingContext2D, way: Way | undefined, words: string, top: number, frame: Frame, ink: string): void {
  const { left, right, x } = frame;
  to.fillStyle = ink;
  to.globalAlpha = way ? 1 : 0.55;
  to.fillText(words, way ? 4 : left + 4, top + 14, way ? left - 8 : right - left);
  to.globalAlpha = 1;
  const [high, middle] = [FOLLOWED - 4, top + FOLLOWED / 2 - 1];
  for (const [cpu, from, until, origin] of way?.stretches ?? []) {
    const [x0, x1] = [Math.max(left, x(from)), Math.min(right, Math.max(x(until), x(from) + 1))];
    if (x1 <= left || x0 >= right) continue;
    to.fillStyle = `rgb(${(origin === null ? taskColour(cpu) : PLAIN).join()})`;
    if (origin === null) to.fillRect(x0, top, x1 - x0, high);
    else to.fillRect(x0, middle - 2, x1 - x0, 4);
    if (origin !== null || x1 - x0 < NAMED) continue;
    to.fillStyle = "#1a1a1a";
    to.fillText(x1 - x0 < 2 * NAMED ? `${cpu}` : `CPU ${cpu}`, x0 + 3, top + 13, x1 - x0 - 4);
  }
}

/** Draws the way over lanes: where it ran a box, where it waited a line, and an arrow from where it was woken. */
export function drawWay(to: CanvasRenderingContext2D, way: Way, frame: Frame, ink: string): void {
  const { left, right, top, bottom, x, y, lane } = frame;
  to.save();
  to.beginPath();
  to.rect(left, top, right - left, bottom - top);
  to.clip();
  to.strokeStyle = to.fillStyle = ink;
  const line = (x0: number, y0: number, x1: number, y1: number): void => {
    to.beginPath();
    to.moveTo(x0, y0);
    to.lineTo(x1, y1);
    to.stroke();
  };
  let last: { x: number; y: number } | undefined;
  for (const [cpu, from, until, origin, , wakerCpu] of [...way.stretches].sort((a, b) => a[1] - b[1])) {
    const [x0, x1, y0] = [x(from), Math.max(x(until), x(from) + 1), y(cpu)];
    // Its lane is not shown.
    if (y0 === undefined) continue;
    const middle = y0 + lane / 2;
    to.lineWidth = 1;
    if (last && last.y !== middle) line(last.x, last.y, x0, middle);
    if (origin === null) {
      to.lineWidth = 1.5;
      to.strokeRect(x0, y0 + 0.5, x1 - x0, Math.max(1, lane - 1));
    } else {
      to.fillRect(x0, middle - 1, x1 - x0, 2);
      const woken = wakerCpu === null || wakerCpu === undefined || wakerCpu === cpu ? undefined : y(wakerCpu);
      if (woken !== undefined) arrow(to, x0, woken + lane / 2, middle);
    }
    last = { x: x1, y: middle };
  }
  to.restore();
}

/** An arrow upwards or downwards: it begins where the waker ran, and ends where the task was queued. */
function arrow(to: CanvasRenderingContext2D, x: number, from: number, until: number): void {
  const head = Math.sign(until - from) * Math.min(7, Math.abs(until - from));
  to.setLineDash([2, 2]);
  to.beginPath();
  to.moveTo(x, from);
  to.lineTo(x, until - head);
  to.stroke();
  to.setLineDash([]);
  to.beginPath();
  to.arc(x, from, 2.5, 0, 2 * Math.PI);
  to.moveTo(x, until);
  to.lineTo(x - 4, until - head);
  to.lineTo(x + 4, until - head);
  to.fill();
}

/** What the task did at a moment, in words. */
export function didThen(recording: Recording, way: Way, time: number): string[] {
  const name = recording.name(way.task);
  const is = way.stretches.find(([, from, to]) => from <= time && time < to);
  if (!is) return [`${name} neither ran nor waited`];
  const [cpu, from, to, origin, waker, wakerCpu] = is;
  const then = `for ${length(to - from)} of the visible time`;
  if (origin === null) return [`${name} ran on CPU ${cpu} ${then}`];
  const where = wakerCpu === null || wakerCpu === undefined ? "" : ` on CPU ${wakerCpu}`;
  const by = waker === null || waker === undefined ? "" : ` by ${recording.name(waker)}${where}`;
  return [`${name} waited on CPU ${cpu} ${then} (${origin}${by})`];
}
