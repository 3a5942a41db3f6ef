// Starts the page.

import { embedded, Heads, json, served } from "./data";
import { element } from "./dom";
import { listen } from "./input";
import { Page } from "./page";

async function start(): Promise<void> {
  // Answers that were saved in the page, or those of its server.
  const saved = document.getElementById("saved")?.textContent;
  const source = saved ? embedded(JSON.parse(saved) as Record<string, string>) : served;
  const heads = await json<Heads>(source, "head");
  if (!heads) throw new Error("there is no head");
  const page = new Page(heads, source, !saved);
  listen(page);
  Object.assign(window, { wastenot: page });
}

start().catch((error: unknown) => {
  element("keys").textContent = `Time cannot be shown: ${String(error)}`;
});
