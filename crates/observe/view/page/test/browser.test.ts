import { appendFileSync, copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ABOVE, begin, counterexample, decided, end, folder, frequencies, lacks, onLane, open, Opened, run, seen, served, settled, traces } from "./served";

const SMALL = "7.2-t4x4-make.dat";
const WIDE = "7.2-s4x16x2-make.dat";
/** Bytes that a screen may take: issue, "must hold". */
const SCREEN = 256 * 1024;

if (lacks) console.log(`SKIPPED the page in a browser: ${lacks}`);

/** Nothing is asked but of its own server, and nothing goes wrong. */
function expectQuiet({ requests, complaints, page }: Opened): void {
  const { origin } = new URL(page.url());
  expect(requests.filter((url) => !url.startsWith(`${origin}/`))).toEqual([]);
  expect(complaints).toEqual([]);
}

describe.skipIf(lacks)("in a browser", () => {
  beforeAll(begin, 60_000);
  afterAll(end);

  test("the first screen of 128 CPUs is small, and the page asks its own server alone", async () => {
    const opened = await served([WIDE, "--machine", "s4x16x2"]);
    expect(opened.bytes).toBeLessThan(SCREEN);
    // What is asked for is asked for once.
    expect(new Set(opened.requests).size).toBe(opened.requests.length);
    expect(await opened.page.textContent(".verdict")).toContain("of CPU time was wasted");
    expect(await opened.page.locator("#rows option").allTextContents()).toContain("cores (64)");
    for (const key of ["f", "f", "f", "0"]) {
      opened.bytes = 0;
      await opened.page.keyboard.press(key);
      await settled(opened.page);
      expect(opened.bytes).toBeLessThan(SCREEN);
    }
    expectQuiet(opened);
    await opened.close();
  });

  test("one moves with keys, the wheel and the pointer, and back", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    await page.keyboard.press("w");
    const [from, to] = await seen(page);
    await page.keyboard.press("d");
    const right = await seen(page);
    expect(right[0]).toBeGreaterThan(from);
    expect(right[1] - right[0]).toBeCloseTo(to - from, -1);
    await page.keyboard.press("a");
    expect((await seen(page))[0]).toBeCloseTo(from, -1);

    // The wheel keeps what is under the pointer there.
    const [x, y] = await onLane(opened, 2, 300);
    await page.mouse.move(x, y);
    const under = async (): Promise<number> => {
      const [from, to] = await seen(page);
      return from + (300 / ((await page.locator("#canvas").boundingBox())!.width - 84)) * (to - from);
    };
    const before = await under();
    await page.mouse.wheel(0, -300);
    await settled(page);
    const [zoomed, end] = await seen(page);
    expect(end - zoomed).toBeLessThan((to - from) / 2);
    expect(Math.abs((await under()) - before)).toBeLessThan((end - zoomed) / 100);

    await page.mouse.down();
    await page.mouse.move(x + 100, y, { steps: 4 });
    await page.mouse.up();
    expect((await seen(page))[0]).toBeLessThan(zoomed);

    await page.keyboard.press("n");
    const first = await seen(page);
    await page.keyboard.press("n");
    expect((await seen(page))[0]).toBeGreaterThan(first[0]);
    await page.goBack();
    expect(await seen(page)).toEqual(first);
    await page.reload();
    await settled(page);
    expect(await seen(page)).toEqual(first);
    expectQuiet(opened);
    await opened.close();
  });

  test("rows of tables lead to their moment, with the keyboard too", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    const row = page.locator('table[data-name="violations"] tr[data-from]').first();
    const [from, to] = [Number(await row.getAttribute("data-from")), Number(await row.getAttribute("data-to"))];
    await page.getByText("Violations, longest idle stretch first").click();
    await row.focus();
    await page.keyboard.press("Enter");
    const [seenFrom, seenTo] = await seen(page);
    expect(seenFrom).toBeLessThanOrEqual(from);
    expect(seenTo).toBeGreaterThanOrEqual(to);
    expect(seenTo - seenFrom).toBeLessThan((to - from) * 6 + 3000);
    await opened.close();
  });

  test("the pointer and a click tell what was so", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    const [x, y] = await onLane(opened, 3, 500);
    await page.mouse.move(x, y);
    await expect.poll(() => page.textContent("#hover")).toMatch(/busy 100 %[^]*runs .+:\d+ for /);
    await page.mouse.click(x, y);
    await expect.poll(() => page.textContent("#selected")).toMatch(/^CPU 3 at .*\nruns /);
    await expect.poll(() => page.url()).toContain("task=");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.url()).not.toContain("task=");
    expect(await page.isVisible("#selected")).toBe(false);
    await opened.close();
  });

  test("one goes from run to run of a task, and its own lane shows it", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    await page.fill("#search", "rcu_preempt");
    await page.locator("#lanes").focus();
    const said: string[] = [];
    for (const key of [".", ".", ".", ","]) {
      await page.keyboard.press(key);
      await settled(page);
      said.push((await page.textContent("#selected")) ?? "");
    }
    for (const words of said) expect(words).toMatch(/^rcu_preempt:\d+ ran on CPU \d+ for [\d.]+ [mun]?s, from .* on(\nbefore that, it waited for .* \(.*\))?$/);
    expect(new Set(said).size).toBe(3);
    expect(said[3]).toBe(said[1]);
    // Who woke it ran then, too.
    await page.keyboard.press("u");
    await settled(page);
    const [, waker] = /\(wakeup by (.+)\)$/.exec(said[3] ?? "") ?? [];
    expect(waker).toBeDefined();
    expect((await page.textContent("#selected"))?.startsWith(`${waker} ran on CPU`)).toBe(true);
    await page.goBack();
    await settled(page);
    const box = (await page.locator("#canvas").boundingBox())!;
    // The run is in the middle of what is seen.
    await page.mouse.move(box.x + 84 + (box.width - 84) / 2, box.y + ABOVE - 10);
    expect(await page.textContent("#hover")).toMatch(/^rcu_preempt:\d+ ran on CPU \d+ for /);
    // Keys that are pressed faster than the server answers lead as far.
    await page.fill("#search", "");
    await page.fill("#search", "rcu_preempt");
    await page.locator("#lanes").focus();
    for (const key of ["0", ".", ".", "."]) await page.keyboard.press(key);
    await settled(page);
    expect(await page.textContent("#selected")).toBe(said[2]);
    expectQuiet(opened);
    await opened.close();
  });

  test("a row about a task follows it", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    const row = page.locator('table[data-name="tasks"] tbody tr').nth(3);
    const words = (await row.locator("td").allTextContents()).slice(0, 2).join(":");
    await page.locator("details", { has: row }).locator("summary").click();
    await row.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain("task=");
    expect(await page.textContent("#selected")).toContain(`tid: ${words.split(":").at(-1)}`);
    expect(await row.getAttribute("class")).toBe("current");
    await page.keyboard.press(".");
    await settled(page);
    expect(await page.textContent("#selected")).toContain(`${words} ran on CPU`);
    await opened.close();
  });

  test("the account of a task says where its time went, and its path is drawn", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    // The page follows no task.
    await page.keyboard.press("t");
    expect(await page.textContent("#said")).toContain("Follow a task first");
    await page.fill("#search", "rcu_preempt");
    await page.locator("#lanes").focus();
    await page.keyboard.press("t");
    const words = page.locator("#accounted");
    await expect.poll(() => page.textContent("#accounting"), { timeout: 20_000 }).toMatch(/^Account of rcu_preempt:\d+ over .*critical path/);
    expect(await words.locator(".verdict").textContent()).toMatch(/rcu_preempt/);
    const path = (): Promise<number> =>
      page.evaluate(() => (window as unknown as { wastenot: { panels: { path?: unknown[] }[] } }).wastenot.panels[0]?.path?.length ?? 0);
    expect(await path()).toBeGreaterThan(10);
    // Its rows lead to their times, and can be sorted.
    const table = page.locator('table[data-name="path"]');
    await words.locator("details", { has: table }).locator("summary").click();
    await table.getByRole("button", { name: "time", exact: true }).click();
    const row = table.locator("tbody tr").first();
    const [from, to] = [Number(await row.getAttribute("data-from")), Number(await row.getAttribute("data-to"))];
    const lengths = await table.locator("tbody tr").evaluateAll((all) => all.map(({ dataset }) => Number(dataset["to"]) - Number(dataset["from"])));
    expect(lengths[0]).toBe(Math.max(...lengths));
    await row.focus();
    await page.keyboard.press("Enter");
    const [left, right] = await seen(page);
    expect(left).toBeLessThanOrEqual(from);
    expect(right).toBeGreaterThanOrEqual(to);
    expect(page.url()).toContain("account=");
    await page.reload();
    await expect.poll(path, { timeout: 20_000 }).toBeGreaterThan(10);
    await page.keyboard.press("Escape");
    expect(await page.isVisible("#account")).toBe(false);
    expect(await path()).toBe(0);
    await expect.poll(() => page.url()).not.toContain("account=");
    expectQuiet(opened);
    await opened.close();
  });

  test("a recording that has changed is not read again", async () => {
    const file = join(folder, "changes.dat");
    copyFileSync(join(traces, SMALL), file);
    const opened = await served([file]);
    const { page } = opened;
    appendFileSync(file, "x");
    await page.fill("#search", "rcu_preempt");
    await page.getByRole("button", { name: "Where did its time go?" }).click();
    await expect.poll(() => page.textContent("#accounting")).toContain("has changed since");
    expect(await page.textContent("#accounted")).toMatch(/^wastenot explain .*changes.dat --task \d+ --from @/);
    expectQuiet(opened);
    await opened.close();
  });

  test("decisions of what is seen are listed, and the CPUs that one considered are marked", async () => {
    const file = await decided();
    const opened = await served([file]);
    const { page } = opened;
    const section = page.locator("details.decisions");
    const rows = section.locator("tbody tr");
    // A section that is folded asks for nothing.
    await page.keyboard.press("w");
    await seen(page);
    expect(opened.requests.filter((url) => url.includes("/decisions/"))).toEqual([]);
    await page.keyboard.press("0");
    await section.locator("summary").click();
    await expect.poll(() => rows.count()).toBe(200);
    expect(await section.getByRole("status").textContent()).toMatch(/^(\d+) decisions in the visible time; this list has the first 200/);
    expect(await section.locator("summary").textContent()).toContain(`${parseInt((await section.getByRole("status").textContent()) ?? "", 10)} in total`);
    await page.evaluate(() => (location.hash = "t=2000000,5000000"));
    await expect.poll(() => rows.count()).toBeLessThan(200);
    const times = await rows.evaluateAll((all) => all.map(({ dataset }) => Number(dataset["from"])));
    expect(times.filter((time) => time < 2e6 || time > 5e6)).toEqual([]);
    const considered = (): Promise<number[] | undefined> =>
      page.evaluate(() => {
        const { wastenot } = window as unknown as { wastenot: { panels: { considered?: { cpus: Set<number> } }[] } };
        return wastenot.panels[0]?.considered && [...wastenot.panels[0].considered.cpus];
      });
    const pair = rows.filter({ hasText: "2-3" }).first();
    await pair.focus();
    expect(await considered()).toEqual([2, 3]);
    await page.keyboard.press("Enter");
    // It is seen already, so what is seen stays.
    expect(await seen(page)).toEqual([2e6, 5e6]);
    expect(await page.textContent("#said")).toContain("CPUs considered: 2-3");
    // Chosen again, it comes nearer.
    const time = Number(await pair.getAttribute("data-from"));
    await pair.click();
    const [from, to] = await seen(page);
    expect(to - from).toBeLessThan(1e6);
    expect((from + to) / 2).toBeCloseTo(time, -1);
    await page.keyboard.press("Escape");
    expect(await considered()).toBeUndefined();
    expectQuiet(opened);
    await opened.close();

    const saved = join(folder, "decides.html");
    await run(["report", file, "-o", saved]);
    const inFile = await open(`file://${saved}`);
    expect(await inFile.page.locator("details.decisions").count()).toBe(0);
    // Other annexes are there.
    expect(await inFile.page.locator('table[data-name="annex-program_of"]').count()).toBe(1);
    await inFile.close();
  });

  test("busy time has the colour of its frequency, where that is told", async () => {
    const file = frequencies();
    const opened = await served([file]);
    const { page } = opened;
    const options = page.locator("#colour option");
    expect(await options.last().textContent()).toBe("frequency");
    await page.selectOption("#colour", "frequency");
    await settled(page);
    expect(await page.textContent("#legend")).toMatch(/1 GHz2 GHz3 GHza task runs at a frequency that is still unknown/);
    const box = (await page.locator("#canvas").boundingBox())!;
    const colourAt = async (lane: number, ms: number): Promise<string> => {
      const [x, y] = await onLane(opened, lane, ((box.width - 84) * ms) / 40);
      return page.evaluate(
        ([x, y]) => {
          const canvas = document.querySelector("canvas")!;
          const at = canvas.getBoundingClientRect();
          const pixel = new OffscreenCanvas(1, 1).getContext("2d")!;
          pixel.drawImage(canvas, (x - at.x) * devicePixelRatio, (y - 6 - at.y) * devicePixelRatio, 1, 1, 0, 0, 1, 1);
          return pixel.getImageData(0, 0, 1, 1).data.join();
        },
        [x, y] as const,
      );
    };
    expect(await colourAt(0, 5)).toBe("136,136,136,255");
    expect(await colourAt(0, 15)).toBe("205,224,242,255");
    expect(await colourAt(0, 30)).toBe("64,128,204,255");
    expect(await colourAt(1, 30)).toBe("136,136,136,255");
    await page.mouse.move(...(await onLane(opened, 0, ((box.width - 84) * 30) / 40)));
    expect(await page.textContent("#hover")).toContain("at 3 GHz on average");
    await page.selectOption("#rows", { label: "whole machine (1)" });
    await settled(page);
    expect(await colourAt(0, 30)).toBe("64,128,204,255");
    // The address changes a little later.
    await page.waitForURL(/colour=frequency/);
    await page.reload();
    await settled(page);
    expect(await page.inputValue("#colour")).toBe("frequency");
    expectQuiet(opened);
    await opened.close();

    const without = await served([SMALL]);
    expect(await without.page.locator("#colour option").allTextContents()).not.toContain("frequency");
    await without.close();
    const saved = join(folder, "frequencies.html");
    await run(["report", file, "-o", saved]);
    const inFile = await open(`file://${saved}`);
    expect(await inFile.page.locator("#colour option").allTextContents()).not.toContain("frequency");
    await inFile.close();
  });

  test("a counterexample has its steps, and keys lead from one to the next", async () => {
    const file = await counterexample();
    const saved = join(folder, "counterexample.html");
    await run(["report", file, "-o", saved]);
    for (const opened of [await served([file]), await open(`file://${saved}`)]) {
      const { page } = opened;
      const rows = page.locator('table[data-name="annex-steps"] tbody tr');
      expect(await rows.first().isVisible()).toBe(true);
      expect(await page.locator("summary h2").allTextContents()).toEqual(expect.arrayContaining(["Counterexample", "Queues", "Situation"]));
      const words = await rows.locator("td:last-child").allTextContents();
      const whole = await seen(page);
      const said: string[] = [];
      for (const key of ["n", "n", "n", "p", "p", "p", "p", "p"]) {
        await page.keyboard.press(key);
        await settled(page);
        said.push(((await page.textContent("#said")) ?? "").replace(/^.*step: /, ""));
      }
      // From the first step that takes time on.
      expect(words.length).toBe(6);
      expect(said).toEqual([3, 4, 5, 4, 3, 2, 1, 0].map((n) => words[n]));
      expect(await seen(page)).toEqual(whole);
      expect(opened.complaints).toEqual([]);
      await opened.close();
    }
  });

  test("what CPUs did in a stretch that is measured is summed up", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    const measure = async (opened: Opened): Promise<void> => {
      const { page } = opened;
      await page.keyboard.down("Shift");
      await page.mouse.move(...(await onLane(opened, 4, 300)));
      await page.mouse.down();
      await page.mouse.move(...(await onLane(opened, 4, 700)));
      await page.mouse.up();
      await page.keyboard.up("Shift");
    };
    await measure(opened);
    const rows = page.locator("#selected tbody tr");
    await expect.poll(() => rows.count()).toBe(17);
    expect(await rows.first().textContent()).toMatch(/^all 16/);
    expect(await page.textContent("#selected")).toMatch(/^CPU activity in [\d.]+ ms/);
    await page.fill("#search", "rcu_preempt");
    await measure(opened);
    await expect.poll(() => page.textContent("#said")).toMatch(/\nrcu_preempt:\d+ ran for [\d.]+ [mu]s, \d+ times on \d+ CPUs?, and waited for [\d.]+ [mu]s, \d+ times$/);
    // The address holds it.
    await expect.poll(() => page.url()).toContain("measured=");
    const told = await page.textContent("#said");
    await page.reload();
    await expect.poll(() => page.textContent("#said")).toBe(told);
    await page.keyboard.press("Escape");
    expect(await page.isVisible("#selected")).toBe(false);
    await expect.poll(() => page.url()).not.toContain("measured=");
    await opened.close();

    const file = join(folder, "sums.html");
    await run(["report", SMALL, "-o", file]);
    const saved = await open(`file://${file}`);
    await measure(saved);
    await expect.poll(() => saved.page.textContent("#selected")).toMatch(/^CPU activity in [\d.]+ ms\nApproximately: busy [\d.]+ m?s \(\d/);
    // The address holds it here, too, and the pointer names tasks.
    const about = await saved.page.textContent("#said");
    await expect.poll(() => saved.page.url()).toContain("measured=");
    await saved.page.reload();
    await expect.poll(() => saved.page.textContent("#said")).toBe(about);
    await saved.page.mouse.move(...(await onLane(saved, 3, 500)));
    await expect.poll(() => saved.page.textContent("#hover")).toMatch(/busy 100 %: [^ ]+:\d+/);
    expect(saved.complaints).toEqual([]);
    await saved.close();
  });

  test("CPUs and the height of lanes are chosen, and stay in the address", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    const height = async (): Promise<number> => (await page.locator("#canvas").boundingBox())!.height - ABOVE;
    expect(await height()).toBe(16 * 24);
    await page.fill("#cpus", "2-3,15");
    await settled(page);
    expect(await height()).toBe(3 * 24);
    const [x, y] = await onLane(opened, 2, 300);
    await page.mouse.move(x, y);
    await expect.poll(() => page.textContent("#hover")).toContain("CPU 15");
    await page.locator("#lanes").focus();
    for (const key of ["e", "e", "q"]) await page.keyboard.press(key);
    await settled(page);
    expect(await height()).toBe(3 * 30);
    await expect.poll(() => page.url()).toContain("height=30");
    expect(page.url()).toContain("cpus=2-3%2C15");
    await page.reload();
    await settled(page);
    expect(await height()).toBe(3 * 30);
    for (const wrong of ["99", "x", "3-1"]) {
      await page.fill("#cpus", wrong);
      await settled(page);
      expect(await page.getAttribute("#cpus", "aria-invalid")).toBe("true");
      expect(await height()).toBe(16 * 30);
    }
    await page.fill("#cpus", "");
    expect(await page.getAttribute("#cpus", "aria-invalid")).toBe("false");
    expectQuiet(opened);
    await opened.close();
  });

  test("a search finds by name, tid and pattern", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    const found = async (pattern: string): Promise<string | null> => {
      await page.fill("#search", pattern);
      return page.textContent("#found");
    };
    expect(await found("cc1*")).toMatch(/^\d+ tasks$/);
    expect(await found("512")).toBe("1 task");
    expect(await found("cc1:512")).toBe("1 task");
    expect(await found("(.*)")).toBe("0 tasks");
    expect(await found("")).toBe("");
    await opened.close();
  });

  test("Escape ends a search, Enter leads to what it found", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    await page.keyboard.press("/");
    await page.keyboard.type("rcu_preempt");
    await expect.poll(() => page.textContent("#found")).toBe("1 task");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.textContent("#said")).toMatch(/^rcu_preempt:\d+ ran on CPU \d+/);
    // Keys move again; the next search begins anew.
    await page.keyboard.press("/");
    await page.keyboard.type("cc*");
    expect(await page.inputValue("#search")).toBe("cc*");
    await page.keyboard.press("Escape");
    expect(await page.inputValue("#search")).toBe("");
    await expect.poll(() => page.textContent("#found")).toBe("");
    await expect.poll(() => page.url()).not.toContain("find=");
    await page.keyboard.press("w");
    expect(await page.inputValue("#search")).toBe("");
    await opened.close();
  });

  test("what the pointer is told follows what is seen, and arrows in a table stay in it", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    await page.mouse.move(...(await onLane(opened, 3, 500)));
    const told = async (): Promise<string> => (await page.textContent("#hover"))?.split(" (@")[0] ?? "";
    await expect.poll(told).toMatch(/^CPU 3, at /);
    const before = await told();
    await page.keyboard.press("w");
    await expect.poll(told).not.toBe(before);
    await page.mouse.move(0, 0);

    const place = await seen(page);
    await page.getByText("Violations, longest idle stretch first").click();
    const rows = page.locator("[data-name=violations] tbody tr");
    await rows.first().focus();
    await page.keyboard.press("ArrowDown");
    expect(await rows.nth(1).evaluate((row) => row === document.activeElement)).toBe(true);
    await page.keyboard.press("ArrowUp");
    expect(await rows.first().evaluate((row) => row === document.activeElement)).toBe(true);
    expect(await seen(page)).toEqual(place);
    await opened.close();
  });

  test("two recordings stand side by side, and can be aligned", async () => {
    const opened = await served(["5.10-t4x4-make.dat", SMALL]);
    const { page } = opened;
    expect(await page.locator("h2", { hasText: /^(Before|After)$/ }).count()).toBe(2);
    await page.fill("#search", "make");
    await page.selectOption("#aligned", "task");
    await settled(page);
    // A row of the second leads there, too.
    const row = page.locator('[data-recording="1"] table[data-name="violations"] tr[data-from]').first();
    await row.evaluate((it: HTMLElement) => it.click());
    await settled(page);
    const [from, to] = await seen(page);
    expect(to - from).toBeLessThan(1e9);
    expectQuiet(opened);
    await opened.close();
  });

  test("a file opens from disk, asks for nothing, and moves", async () => {
    const file = join(folder, "page.html");
    await run(["report", SMALL, "-o", file]);
    const opened = await open(`file://${file}`);
    const { page } = opened;
    await page.keyboard.press("n");
    await settled(page);
    // What it cannot answer is not offered.
    for (const id of ["#explain", "#askingkeys"]) expect(await page.isVisible(id)).toBe(false);
    const [from, to] = await seen(page);
    expect(to - from).toBeLessThan(50e6);
    expect(await page.locator("p.more").count()).toBe(0);
    const table = page.locator('table[data-name="violations"]');
    expect(await table.locator("tbody tr").count()).toBe(Number(await table.getAttribute("data-rows")));
    const [x, y] = await onLane(opened, 3, 500);
    await page.mouse.move(x, y);
    expect(await page.textContent("#hover")).toContain("CPU 3");
    expect(opened.requests.filter((url) => !url.startsWith("file:"))).toEqual([]);
    expect(opened.complaints).toEqual([]);
    await opened.close();
  });

  test("a file shows the finest that it has, and says if that is coarse", async () => {
    const file = join(folder, "small.html");
    await run(["report", WIDE, "--machine", "s4x16x2", "--size", "1MB", "-o", file]);
    const opened = await open(`file://${file}`);
    const { page } = opened;
    for (let n = 0; n < 30; n++) await page.keyboard.press("n");
    await settled(page);
    await page.reload();
    await settled(page);
    for (let n = 0; n < 4; n++) {
      const [x, y] = await onLane(opened, 0, 600);
      await page.mouse.move(x, y - 10);
      const words = await page.textContent("#hover");
      expect(words).not.toContain("…");
      expect(words).toContain("averages over");
      await page.keyboard.press("f");
      await settled(page);
    }
    expect(opened.complaints).toEqual([]);
    await opened.close();
  });

  test("many moves do no harm to the address and the browser's history", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    const [x, y] = await onLane(opened, 2, 300);
    await page.mouse.move(x, y);
    for (let n = 0; n < 300; n++) await page.mouse.wheel(0, n % 2 ? 40 : -60);
    await settled(page);
    await seen(page);
    await page.keyboard.press("n");
    const first = await seen(page);
    await page.keyboard.press("n");
    await page.goBack();
    expect(await seen(page)).toEqual(first);
    expect(opened.complaints).toEqual([]);
    await opened.close();
  });

  test("next and previous go through all violations, also those whose rows are not here", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    const table = page.locator('table[data-name="violations"]');
    const all = Number(await table.getAttribute("data-rows"));
    expect(all).toBeGreaterThan(100);
    expect(await table.locator("tbody tr").count()).toBe(20);
    const walk = (key: string): Promise<string[]> =>
      page.evaluate(
        async ([key, presses]) => {
          const words = document.getElementById("selected")!;
          const said = [words.innerText];
          for (let n = 0; n < presses; n++) {
            const before = performance.now();
            document.dispatchEvent(new KeyboardEvent("keydown", { key }));
            while (words.innerText === said.at(-1) && performance.now() < before + 300) await new Promise((done) => setTimeout(done));
            if (words.innerText !== said.at(-1)) said.push(words.innerText);
          }
          return said.slice(1);
        },
        [key, all + 2] as const,
      );
    const there = await walk("n");
    expect(there.length).toBe(all);
    expect(there.filter((words) => !/^task: .+, CPU: .+, from: /.test(words))).toEqual([]);
    expect(await walk("p")).toEqual(there.slice(0, -1).reverse());
    await opened.close();
  });

  test("a table has its first rows, and more when they are wanted: by a button, by scrolling, by sorting", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    const table = page.locator('table[data-name="tasks"]');
    const all = Number(await table.getAttribute("data-rows"));
    expect(all).toBeGreaterThan(260);
    expect(await table.getAttribute("aria-rowcount")).toBe(`${all + 1}`);
    const count = (): Promise<number> => table.locator("tbody tr").count();
    const box = page.locator("details", { has: table });
    await box.locator("summary").click();
    await expect.poll(() => box.getByRole("status").textContent()).toBe(`20 of ${all} rows`);
    await box.getByRole("button", { name: "More rows" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(count).toBe(220);
    await expect.poll(() => box.getByRole("status").textContent()).toBe(`220 of ${all} rows`);
    await box.locator(".wide").evaluate((it) => it.scrollTo(0, 1e9));
    await expect.poll(count).toBeGreaterThan(220);

    // Sorting looks at all rows.
    const violations = page.locator('table[data-name="violations"]');
    const rows = Number(await violations.getAttribute("data-rows"));
    await page.getByText("Violations, longest idle stretch first").click();
    await violations.getByRole("button", { name: "from", exact: true }).click();
    await expect.poll(() => violations.locator("th[aria-sort]").count()).toBe(1);
    expect(await violations.locator("tbody tr").count()).toBe(rows);
    const begins = await violations.locator("tbody tr").evaluateAll((all) => all.map((row) => Number((row as HTMLElement).dataset["from"])));
    expect(begins).toEqual([...begins].sort((a, b) => b - a));
    // A row that came later leads to its moment, too.
    const last = violations.locator("tbody tr").last();
    await last.focus();
    await page.keyboard.press("Enter");
    const [from, to] = await seen(page);
    expect(from).toBeLessThanOrEqual(begins.at(-1)!);
    expect(to).toBeGreaterThan(begins.at(-1)!);
    expect(await last.getAttribute("class")).toContain("current");
    expectQuiet(opened);
    await opened.close();
  });

  test("a glance asks when all is there, and goes to the same place of it", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    const whole = page.url().replace(/#.*/, "");
    let allThere = false;
    await page.route("**/glance/**", async (route) => {
      const path = route.request().url().replace(/.*\/glance\//, "").replace(/#.*/, "");
      if (path === "complete") return route.fulfill({ json: allThere });
      const response = await route.fetch({ url: whole + path });
      if (path !== "head") return route.fulfill({ response });
      const heads = await response.json();
      // Its first stretch may begin later than the recording.
      heads.recordings[0].from = `${BigInt(heads.recordings[0].from) + 1000n}`;
      return route.fulfill({ response, json: { ...heads, glance: true } });
    });
    await page.goto(`${whole}glance/`);
    await settled(page);
    await page.keyboard.press("w");
    const place = await seen(page);
    expect(place[0]).toBeGreaterThan(0);
    // The number of a task in a glance is that of another one in the whole.
    await page.mouse.click(...(await onLane(opened, 3, 500)));
    await expect.poll(() => page.textContent("#said")).toMatch(/^CPU 3 at /);
    allThere = true;
    await page.waitForURL((url) => !url.pathname.includes("glance"));
    expect(page.url()).not.toContain("task=");
    expect(page.url().replace(/#.*/, "")).toBe(whole);
    await expect.poll(() => page.url()).not.toContain("begin=");
    expect(await seen(page)).toEqual(place.map((time) => time + 1000));
    expectQuiet(opened);
    await opened.close();
  });

  test("a window too narrow for lanes does not stop the page", async () => {
    const opened = await served([SMALL]);
    const { page } = opened;
    for (const width of ["60px", "0", "100%"]) {
      await page.evaluate((width) => void (document.getElementById("lanes")!.style.width = width), width);
      await page.keyboard.press("w");
      await page.waitForTimeout(100);
    }
    await settled(page);
    expectQuiet(opened);
    await opened.close();
  });

  test("marks align two recordings, whatever is said first", async () => {
    const opened = await served(["5.10-t4x4-make.dat", SMALL], { height: 1600 });
    const { page } = opened;
    await page.selectOption("#aligned", "marks");
    expect(await page.textContent("#alignment")).toContain("before and after");
    const box = await page.locator("#canvas").boundingBox();
    // The second is below the lanes of the first.
    const lane = (box!.height - 2 * ABOVE + 22 - 86) / 32;
    await page.mouse.move(box!.x + 300, box!.y + ABOVE + lane);
    await page.keyboard.press("m");
    expect(await page.textContent("#alignment")).toContain("no mark after");
    await page.mouse.move(box!.x + 500, box!.y + 2 * ABOVE - 22 + 17 * lane);
    await page.keyboard.press("M");
    await expect.poll(() => page.url()).toContain("shift=");
    expect(await page.textContent("#alignment")).toBe("");
    const shift = new URLSearchParams(new URL(page.url()).hash.slice(1)).get("shift");
    await page.reload();
    await settled(page);
    await page.keyboard.press("w");
    await expect.poll(() => page.url()).toContain(`shift=${encodeURIComponent(shift ?? "")}`);
    expectQuiet(opened);
    await opened.close();
  });

  test("names from a recording are text, whatever they contain", async () => {
    const name = "<img/src/onerror=alert(1)>".slice(0, 15);
    const line = (time: string, prev: string, next: string): string =>
      `          <idle>-0     [000] d..2.   ${time}: sched_switch: prev_comm=${prev} prev_prio=120 prev_state=S ==> next_comm=${next} next_prio=120\n`;
    const file = join(folder, "hostile.txt");
    const idle = "swapper/0 prev_pid=0";
    writeFileSync(
      file,
      `# tracer: nop\n#\n${line("1.000010", idle, `${name} next_pid=7`)}${line("1.000020", `${name} prev_pid=7`, "</script> next_pid=8")}${line("1.000030", "</script> prev_pid=8", "swapper/0 next_pid=0")}`,
    );
    const opened = await served([file]);
    const [x, y] = await onLane(opened, 0, 300);
    await opened.page.mouse.move(x, y);
    await expect.poll(() => opened.page.textContent("#hover")).toContain("<img/src");
    expect(await opened.page.locator("img").count()).toBe(0);
    expectQuiet(opened);
    await opened.close();
  });
});
