// What colours mean.

import { NOT_CHARGED } from "./data";
import { element } from "./dom";
import { causeColour, DARK, HATCH, IN_VAIN, LIGHT, Look, PLAIN, QUEUE, Rgb, WAKING } from "./paint";
import type { Panel } from "./panel";

/** Says what colours mean. */
export function explain({ dark, colouring }: Look, { recording, tasks }: Panel): void {
  const legend = element("legend");
  legend.replaceChildren();
  const add = (colour: Rgb, words: string): void => {
    const item = legend.appendChild(document.createElement("span"));
    item.appendChild(document.createElement("i")).style.background = `rgb(${colour.join()})`;
    item.append(words);
  };
  if (colouring === "cause") {
    add(PLAIN, "a task runs");
    for (const code of [...tasks.causes.keys(), NOT_CHARGED]) add(causeColour(code, tasks.causes), recording.why(code));
  } else add(IN_VAIN, "a task waited here in vain: a CPU that it may use was idle");
  if (colouring === "queue") {
    QUEUE.forEach((colour, n) => add(colour, `${n}${n === QUEUE.length - 1 ? " or more" : ""} waiting`));
  }
  const { wanted, paper } = dark ? DARK : LIGHT;
  add(wanted, "idle, and such a task could have run here");
  add(paper, "idle");
  add(WAKING, "about to start a task");
  add(HATCH, "hatched: unknown or offline");
}

/** Numbers of causes, each with its place in the table of causes of a recording. */
export function ranks(place: number, causes: [string, string][]): Map<number, number> {
  const cells = document.querySelectorAll(`[data-recording="${place}"] table[data-name="causes"] td:first-child`);
  const found = [...cells].map((cell) => cell.textContent ?? "");
  const codes = found.map((path) => causes.findIndex(([name]) => path === name || path.endsWith(`/${name}`)) + 1);
  return new Map([...new Set(codes.filter((code) => code > 0))].map((code, rank) => [code, rank]));
}
