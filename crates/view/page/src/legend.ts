// What colours mean.

import { Head } from "./data";
import { element } from "./dom";
import { causeColour, DARK, HATCH, IN_VAIN, LIGHT, Look, Rgb, WAKING } from "./paint";

/** Says what colours mean. */
export function explain({ dark, colouring }: Look, { causes }: Head): void {
  const legend = element("legend");
  legend.replaceChildren();
  const add = (colour: Rgb, words: string): void => {
    const swatch = legend.appendChild(document.createElement("i"));
    swatch.style.background = `rgb(${colour.join()})`;
    legend.appendChild(document.createElement("span")).textContent = words;
  };
  if (colouring === "cause") {
    const cells = document.querySelectorAll('table[data-name="causes"] td:first-child');
    const found = [...cells].map((cell) => cell.textContent ?? "");
    causes.forEach(([name], n) => {
      if (found.some((it) => it === name || it.endsWith(`/${name}`))) add(causeColour(n + 1), name);
    });
  } else add(IN_VAIN, "a task waited here in vain: a CPU that it may use was idle");
  const { wanted, paper } = dark ? DARK : LIGHT;
  add(wanted, "idle, and such a task could have run here");
  add(paper, "idle");
  add(WAKING, "about to start a task");
  add(HATCH, "hatched: unknown or offline");
}
