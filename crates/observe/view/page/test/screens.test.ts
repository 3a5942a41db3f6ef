// The pictures of docs/how-to/view.md. `SNAPSHOTS=overwrite` writes them there. Otherwise only one is made and not compared,
// because fonts differ between machines; browser.test.ts does the same steps and checks what they show.

import { mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { begin, counterexample, decided, end, folder, lacks, onLane, open, Opened, run, served, settled } from "./served";

const SMALL = "7.2-t4x4-make.dat";
const keeps = process.env["SNAPSHOTS"] === "overwrite";
const into = keeps ? resolve(import.meta.dirname, "../../../../../docs/pictures/view") : folder;

/** What is done before each picture is taken, and with which recordings. */
const SCREENS: [string, () => Promise<Opened>, (opened: Opened) => Promise<void>][] = [
  ["overview", () => served([SMALL]), async () => undefined],
  [
    "violation",
    () => served([SMALL]),
    async ({ page }) => {
      await page.keyboard.press("n");
      await page.keyboard.press("n");
    },
  ],
  [
    "moment",
    () => served([SMALL]),
    async (opened) => {
      const { page } = opened;
      for (let n = 0; n < 4; n++) await page.keyboard.press("n");
      await settled(page);
      await page.mouse.move(...(await onLane(opened, 15, 560)));
      await expect.poll(() => page.textContent("#hover")).toContain("waits here");
    },
  ],
  [
    "way",
    () => served([SMALL]),
    async ({ page }) => {
      // One of its runs for which a task on another CPU woke it.
      await page.evaluate(() => (location.hash = "t=247380000,247640000&find=rcu_preempt"));
      await expect.poll(() => page.textContent("#found")).toBe("1 task");
    },
  ],
  [
    "account",
    () => served([SMALL], { height: 1200 }),
    async ({ page }) => {
      await page.evaluate(() => (location.hash = "t=0,40000000&task=6"));
      await expect.poll(() => page.url()).toContain("task=6");
      await page.keyboard.press("t");
      await expect.poll(() => page.textContent("#accounting")).toContain("critical path");
    },
  ],
  [
    "decision",
    async () => served([await decided()]),
    async ({ page }) => {
      await page.evaluate(() => (location.hash = "t=2000000,5000000"));
      await page.locator("details.decisions summary").click();
      await page.locator("details.decisions tbody tr", { hasText: "newidle" }).filter({ hasText: "2-3" }).nth(1).click();
    },
  ],
  [
    "steps",
    async () => served([await counterexample()]),
    async ({ page }) => {
      for (const key of ["n", "n"]) await page.keyboard.press(key);
    },
  ],
  ["causes", () => served([SMALL]), async ({ page }) => void (await page.selectOption("#colour", "cause"))],
  ["wide", () => served(["7.2-s4x16x2-make.dat", "--machine", "s4x16x2"]), async () => undefined],
  [
    "folded",
    () => served(["7.2-s4x16x2-make.dat", "--machine", "s4x16x2"]),
    async ({ page }) => void (await page.selectOption("#rows", { label: "cores (64)" })),
  ],
  [
    "beside",
    () => served(["5.10-t4x4-make.dat", SMALL], { height: 1100 }),
    async ({ page }) => {
      await page.fill("#search", "make");
      await page.selectOption("#aligned", "task");
      await page.fill("#search", "");
    },
  ],
  [
    "dark",
    () => served([SMALL], { dark: true, height: 1300 }),
    async (opened) => {
      const { page } = opened;
      await page.keyboard.press("n");
      await settled(page);
      await page.keyboard.down("Shift");
      await page.mouse.move(...(await onLane(opened, 4, 300)));
      await page.mouse.down();
      await page.mouse.move(...(await onLane(opened, 4, 700)));
      await page.mouse.up();
      await page.keyboard.up("Shift");
      await page.mouse.move(0, 0);
    },
  ],
  [
    "file",
    async () => {
      const file = join(folder, "file.html");
      await run(["report", SMALL, "-o", file]);
      return open(`file://${file}`);
    },
    async ({ page }) => {
      await page.getByText("Violations, longest idle stretch first").click();
      await page.locator('table[data-name="violations"]').scrollIntoViewIfNeeded();
    },
  ],
];

describe.skipIf(lacks)("pictures", () => {
  beforeAll(begin, 60_000);
  afterAll(end);

  test.each(keeps ? SCREENS : SCREENS.slice(0, 1))("of %s", async (name, open, act) => {
    const opened = await open();
    await act(opened);
    await settled(opened.page);
    mkdirSync(into, { recursive: true });
    const path = join(into, `${name}.png`);
    await opened.page.screenshot({ path });
    expect(statSync(path).size).toBeGreaterThan(10_000);
    expect(opened.complaints).toEqual([]);
    await opened.close();
  });
});
