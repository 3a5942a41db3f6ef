// The input of the user.

import { element } from "./dom";
import { Page } from "./page";
import { LABEL, Span } from "./panel";

const isTyping = (target: EventTarget | null): boolean => target instanceof HTMLInputElement || target instanceof HTMLSelectElement;

/** Listens to keys, the wheel, the pointer and the tools. */
export function listen(page: Page): void {
  const keys: Record<string, () => void> = {
    w: () => page.zoom(0.5),
    "+": () => page.zoom(0.5),
    ArrowUp: () => page.zoom(0.5),
    s: () => page.zoom(2),
    "-": () => page.zoom(2),
    ArrowDown: () => page.zoom(2),
    a: () => page.pan(-0.2),
    ArrowLeft: () => page.pan(-0.2),
    d: () => page.pan(0.2),
    ArrowRight: () => page.pan(0.2),
    "0": () => page.see(page.whole, "history"),
    n: () => void page.jumps.toViolation(1),
    p: () => void page.jumps.toViolation(-1),
    f: () => page.refold(),
    q: () => page.heighten(1 / 1.25),
    e: () => page.heighten(1.25),
    "/": () => element<HTMLInputElement>("search").select(),
    m: () => page.mark(),
    ".": () => void page.jumps.toRun(1),
    ",": () => void page.jumps.toRun(-1),
    u: () => void page.jumps.toWaker(),
    t: () => page.accounts.ask(),
    Escape: () => page.forget(),
  };
  const lanes = element("lanes");
  document.addEventListener("keydown", (event) => {
    if (isTyping(event.target)) {
      // The search is over: with Escape it is undone, with Enter it leads to the first run of what was found.
      const isSearch = event.target === element("search");
      if (isSearch && event.key === "Escape") page.searchFor("");
      if (isSearch && event.key === "Enter") void page.jumps.toRun(1);
      if (event.key === "Escape" || (isSearch && event.key === "Enter")) lanes.focus({ preventScroll: true });
      if (isSearch && event.key === "Escape") event.preventDefault();
      return;
    }
    // Among words arrows move as they do there.
    if (event.key.startsWith("Arrow") && !lanes.contains(event.target as Node) && event.target !== document.body) {
      if (moveAmongRows(event.target as HTMLElement, event.key)) event.preventDefault();
      return;
    }
    const act = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (event.ctrlKey || event.altKey || event.metaKey || !act) return;
    event.preventDefault();
    act();
  });
  const canvas = element("canvas");
  canvas.addEventListener(
    "wheel",
    (event) => {
      // Over the labels it scrolls the page.
      if (event.offsetX < LABEL) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) page.pan(event.deltaX / 1000);
      else page.zoom(Math.exp(event.deltaY / 300), event.offsetX);
    },
    { passive: false },
  );
  drag(page, canvas);
  element("whole").addEventListener("click", () => page.see(page.whole, "history"));
  element("explain").addEventListener("click", () => page.accounts.ask());
  element("rows").addEventListener("change", () => page.changeRows());
  for (const id of ["colour", "search"]) element(id).addEventListener("input", () => page.changeLook());
  element("cpus").addEventListener("input", () => page.chooseCpus());
  // What is chosen is chosen: keys move again.
  for (const id of ["rows", "colour", "aligned"]) element(id).addEventListener("change", () => lanes.focus({ preventScroll: true }));
  const aligned = element<HTMLSelectElement>("aligned");
  aligned.addEventListener("change", () => void page.align(aligned.value));
  element("tools").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("popstate", () => page.fromAddress());
  window.addEventListener("resize", () => page.resize());
  new ResizeObserver(() => page.resize()).observe(element("lanes"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.changeLook());
  // Paper is white.
  for (const which of ["beforeprint", "afterprint"]) window.addEventListener(which, () => page.print(which === "beforeprint"));
}

/** Goes from a row of a table that leads somewhere to the next, or the one before. Gives whether there was one. */
function moveAmongRows(from: HTMLElement, key: string): boolean {
  let row: Element | null = from.closest("tr[data-from], tr[data-tid]");
  do row = (key === "ArrowDown" ? row?.nextElementSibling : key === "ArrowUp" ? row?.previousElementSibling : null) ?? null;
  while (row && !row.matches("[data-from], [data-tid]"));
  if (!(row instanceof HTMLElement)) return false;
  row.focus();
  return true;
}

/** Drag moves, drag with Shift measures, a click chooses. */
function drag(page: Page, canvas: HTMLElement): void {
  let begun: { x: number; y: number; seen: Span; measures: boolean } | undefined;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    begun = { x: event.offsetX, y: event.offsetY, seen: page.seen, measures: event.shiftKey };
    canvas.setPointerCapture(event.pointerId);
    element("lanes").focus({ preventScroll: true });
  });
  canvas.addEventListener("pointerup", (event) => {
    const isStill = begun && Math.hypot(event.offsetX - begun.x, event.offsetY - begun.y) < 3;
    if (isStill && !begun?.measures) void page.choose();
    if (!isStill && begun?.measures) void page.sumUp();
    begun = undefined;
  });
  canvas.addEventListener("pointermove", (event) => {
    page.pointTo(event.offsetX, event.offsetY);
    if (begun?.measures) page.measure(begun.x, event.offsetX);
    else if (begun) {
      const by = (begun.x - event.offsetX) * page.nsPerPixel;
      page.see({ from: begun.seen.from + by, to: begun.seen.to + by });
    }
  });
  canvas.addEventListener("pointercancel", () => (begun = undefined));
  canvas.addEventListener("pointerleave", () => page.pointTo(-1, -1));
}
