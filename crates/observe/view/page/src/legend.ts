// The meaning of colours.

import { gigahertz } from "./axis";
import { NOT_CHARGED, printable } from "./data";
import { element } from "./dom";
import { causeColour, DARK, frequencyColour, HATCH, IN_VAIN, LESS, LIGHT, Look, PLAIN, QUEUE, Rgb, taskColour, UNNAMED, WAKING } from "./paint";
import type { Panel } from "./panel";

/** Cgroups that the legend names: as many as there are colours. */
const CGROUPS = 8;

/** Says what colours mean. */
export function explain({ dark, colouring }: Look, panels: Panel[]): void {
  const [{ recording, tasks }] = panels as [Panel];
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
  if (colouring === "cgroup") {
    const cgroups = new Map(panels.flatMap((panel) => panel.cgroups));
    for (const [name, number] of [...cgroups].slice(0, CGROUPS)) add(taskColour(number), printable(name));
    add(UNNAMED, `a task with an unknown cgroup${cgroups.size > CGROUPS ? "; further cgroups share these colours" : ""}; the colour of a task shows its last cgroup`);
  }
  if (colouring === "queue") {
    QUEUE.forEach((colour, n) => add(colour, `${n}${n === QUEUE.length - 1 ? " or more" : ""} waiting`));
  }
  if (colouring === "frequency") {
    const [least, highest] = ofAll(panels.map(({ recording }) => recording.head.khz)) ?? [0, 0];
    const middle = (least + highest) / 2;
    const shown: [number, number][] = highest > least ? [[0, least], [0.5, middle], [1, highest]] : [[1, highest]];
    for (const [share, khz] of shown) add(frequencyColour(share), gigahertz(khz));
    add(UNNAMED, "a task runs at a frequency that is still unknown");
  }
  const { wanted, paper } = dark ? DARK : LIGHT;
  add(wanted, "idle while such a task could have run here");
  add(paper, "idle");
  add(WAKING, "about to start a task");
  add(HATCH, "hatched: unknown or offline");
  if (panels.length > 1) {
    add(IN_VAIN, "differences: more after than before");
    add(LESS, "less after than before");
  }
}

/** The lowest and the highest frequency of all recordings; undefined where none tells any. */
export function ofAll(all: ([number, number] | null)[]): [number, number] | undefined {
  const told = all.filter((it) => it !== null);
  return told.length > 0 ? [Math.min(...told.map(([least]) => least)), Math.max(...told.map(([, highest]) => highest))] : undefined;
}

/** Causes by what they took in all recordings together, each with its rank: 0 took most. Causes that took nothing have none. */
export function ranks(all: [string, string, number][][]): Map<number, number> {
  const took = (all[0] ?? []).map((_, n) => all.reduce((sum, causes) => sum + (causes[n]?.[2] ?? 0), 0));
  const codes = took.flatMap((ns, n) => (ns > 0 ? [n + 1] : []));
  codes.sort((a, b) => (took[b - 1] ?? 0) - (took[a - 1] ?? 0));
  return new Map(codes.map((code, rank) => [code, rank]));
}
