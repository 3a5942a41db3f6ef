// The activity of CPUs in a measured stretch of time.

import { counted, words } from "./axis";
import type { Stretch } from "./data";
import type { Panel, Span } from "./panel";

/** What is summed up of a CPU, after its number, in the order of `Recording::sums` of the program; a column that is all 0 is
    left out, where that says nothing. */
const COLUMNS: [string, boolean][] = [
  ["busy", true],
  ["idle", true],
  ["about to start a task", false],
  ["unknown", false],
  ["offline", false],
  ["idle while a task waited elsewhere", true],
  ["total wait time", true],
  ["a task waited in vain", true],
];
/** Columns of which a share of the time is given. */
const SHARED = COLUMNS.length - 2;

const share = (ns: number, of: number): string => (ns === 0 ? "0" : `${words(ns)} (${Number(((ns / of) * 100).toPrecision(3))} %)`);

/** A table of sums: all CPUs, then each. */
function table(name: string, sums: number[][], length: number): HTMLElement {
  const all = COLUMNS.map((_, n) => sums.reduce((sum, cpu) => sum + (cpu[n + 1] ?? 0), 0));
  const shown = COLUMNS.flatMap(([, always], n) => (always || (all[n] ?? 0) > 0 ? [n] : []));
  const box = document.createElement("div");
  box.className = "wide";
  const table = box.appendChild(document.createElement("table"));
  if (name) table.createCaption().textContent = name;
  const head = table.createTHead().insertRow();
  for (const name of ["CPU", ...shown.map((n) => COLUMNS[n]?.[0] ?? "")]) {
    const cell = head.appendChild(document.createElement("th"));
    cell.scope = "col";
    cell.textContent = name;
    if (name !== "CPU") cell.className = "n";
  }
  const body = table.createTBody();
  const add = (name: string, values: number[], of: number): void => {
    const row = body.insertRow();
    row.insertCell().textContent = name;
    for (const n of shown) {
      const [cell, ns] = [row.insertCell(), values[n] ?? 0];
      cell.className = "n";
      cell.textContent = n === SHARED && ns > 0 ? words(ns) : share(ns, of);
    }
  };
  add(`all ${sums.length}`, all, length * sums.length);
  for (const [cpu = 0, ...values] of sums) add(`${cpu}`, values, length);
  return box;
}

/** What the task that is followed did in a stretch of the page's time, in words; nothing where none is followed. */
export async function summedUpOfTask({ recording, shift, way }: Panel, { from, to }: Span): Promise<string | undefined> {
  if (!way) return undefined;
  const [begin, end] = [Math.max(0, from - shift), Math.max(0, to - shift)];
  const [found] = await Promise.all([recording.wholeWay(way.task, begin, end, 0), recording.known()]).catch(() => []);
  if (!found) return undefined;
  const waits = found.stretches.filter(([, , , origin]) => origin !== null);
  const runs = found.stretches.filter(([, , , origin]) => origin === null);
  const sum = (all: Stretch[]): string => words(all.reduce((sum, [, from, to]) => sum + to - from, 0));
  const on = new Set(runs.map(([cpu]) => cpu)).size;
  const where = runs.length > 0 ? ` on ${counted(on, "CPU")}` : "";
  const times = (all: Stretch[]): string => counted(all.length, "time");
  return `${recording.name(way.task)} ran for ${sum(runs)}, ${times(runs)}${where}, and waited for ${sum(waits)}, ${times(waits)}${found.cut ? " (at least)" : ""}`;
}

/** What all CPUs of a recording did in a stretch of the page's time, and each, as a table. A page in a file has words about
    what all did together. */
export async function summedUp(panel: Panel, { from, to }: Span, nsPerPixel: number): Promise<string | HTMLElement> {
  const { recording, shift } = panel;
  const within = (time: number): number => Math.round(Math.max(0, Math.min(recording.head.span, time - shift)));
  const [begin, end] = [within(from), within(to)];
  if (begin >= end) return `${panel.name}: no data for this time`;
  const sums = await recording.sums(begin, end).catch(() => undefined);
  if (sums) return table(panel.name, sums, end - begin);
  const [busy = 0, unknown = 0, wanted = 0, waiting = 0, inVain = 0] = await panel.sumsAbout(begin, end, nsPerPixel);
  const of = (end - begin) * (recording.head.folds[0]?.lanes.length ?? 1);
  return (
    `Approximately: busy ${share(busy, of)}, unknown ${share(unknown, of)}, idle while a task waited elsewhere ${share(wanted, of)}, ` +
    `total wait time ${words(waiting)}, a task waited in vain ${share(inVain, of)}`
  );
}
