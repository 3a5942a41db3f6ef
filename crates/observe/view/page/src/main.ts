// Starts the page.

import { embedded, Heads, json, served, Source } from "./data";
import { element } from "./dom";
import { listen } from "./input";
import { Page } from "./page";

/** How often a glance asks whether all is there, in ms. */
const AGAIN = 1000;

/** Goes to the page of the whole recording once it is there, to the same time and look. */
async function whole(source: Source): Promise<void> {
  for (;;) {
    const isThere = await json<boolean>(source, "complete").catch(() => undefined);
    if (isThere) break;
    // A program that is gone has no more to show: the glance stays.
    if (isThere === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
  location.replace(`../${location.hash}`);
}

async function start(): Promise<void> {
  // Answers that were saved in the page, or those of its server.
  const saved = document.getElementById("saved")?.textContent;
  const source = saved ? embedded(JSON.parse(saved) as Record<string, string>) : served;
  const heads = await json<Heads>(source, "head");
  if (!heads) throw new Error("there is no head");
  const page = new Page(heads, source, !saved);
  listen(page);
  Object.assign(window, { wastenot: page });
  if (heads.glance) await whole(source);
}

start().catch((error: unknown) => {
  element("keys").textContent = `The page cannot show the lanes: ${String(error)}`;
});
