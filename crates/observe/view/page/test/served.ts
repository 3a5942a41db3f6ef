// A recording on a page in a real browser.

import { ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Browser, chromium, Page } from "playwright-core";
import { expect } from "vitest";

const root = resolve(import.meta.dirname, "../../../../..");
export const program = join(process.env["CARGO_TARGET_DIR"] ?? join(root, "target"), "debug/wastenot");
const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

/** Why the browser cannot be used; undefined if it can. */
export const lacks = !browserPath
  ? "no Chromium: apt install chromium"
  : !existsSync(program)
    ? "no program: cargo build -p wastenot"
    : undefined;

/** Where the program runs: beside recordings of this project, which pages then name as a user would. */
export const traces = join(root, "traces");

/** A folder that is removed at the end. */
export const folder = mkdtempSync(join(tmpdir(), "wastenot-page-"));

/** What programs write into the home of their user goes with the folder. */
const env = { ...process.env, HOME: folder, XDG_CACHE_HOME: folder, XDG_CONFIG_HOME: folder };

let browser: Browser | undefined;

export async function begin(): Promise<void> {
  // As root there is no sandbox; without a GPU it is as slow as anywhere.
  const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
  // People's browsers slow down pages that change their address too often.
  const ignoreDefaultArgs = ["--disable-ipc-flooding-protection"];
  browser = await chromium.launch({ executablePath: browserPath ?? "", args, ignoreDefaultArgs, downloadsPath: folder, env });
}

/** Servers; some are left when a test fails. */
const children = new Set<ChildProcess>();

export async function end(): Promise<void> {
  for (const child of children) child.kill("SIGINT");
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Runs the program to its end; 1 is what it answers where a claim does not hold. */
export function run(words: string[], expected = 0): Promise<void> {
  const child = spawn(program, words, { stdio: ["ignore", "ignore", "inherit"], cwd: traces, env });
  return new Promise((done, failed) => {
    child.on("error", failed);
    child.on("exit", (code) => (code === expected ? done() : failed(new Error(`${words.join(" ")}: ${code}`))));
  });
}

/** A simulation with the decisions of its scheduler. */
export async function decided(): Promise<string> {
  const [scenario, file] = [join(folder, "decides.toml"), join(folder, "decides.wn")];
  const tasks = '[[tasks]]\nname = "worker"\ncount = 12\nprogram = ["loop 40", "compute 700us", "sleep 300us", "end"]';
  writeFileSync(scenario, `schema = "wastenot.scenario/1"\nmachine = "core:4 pu:2"\nscheduler = { name = "cfs-6.1" }\n${tasks}\n`);
  await run(["run", scenario, "--decisions", "-o", file]);
  return file;
}

/** A recording of two CPUs that run all the time: CPU 0 at 1 GHz from 10 ms on and at 3 GHz from 20 ms on; of CPU 1 nothing is told. */
export function frequencies(): string {
  const file = join(folder, "frequencies.txt");
  const at = (ms: number): string => `1.${`${ms}`.padStart(3, "0")}000`;
  const row = (cpu: number, ms: number, event: string): string => `          <idle>-0     [00${cpu}] d..2.   ${at(ms)}: ${event}\n`;
  const task = (name: string, pid: number): [string, string] => [`prev_comm=${name} prev_pid=${pid} prev_prio=120 prev_state=S`, `next_comm=${name} next_pid=${pid} next_prio=120`];
  const [idle, a, b] = [task("swapper/0", 0), task("busy", 7), task("other", 8)];
  const runs = (cpu: number, ms: number, from: [string, string], to: [string, string]): string => row(cpu, ms, `sched_switch: ${from[0]} ==> ${to[1]}`);
  const changes = (ms: number, khz: number): string => row(0, ms, `cpu_frequency: state=${khz} cpu_id=0`);
  const rows = [runs(0, 0, idle, a), runs(1, 0, idle, b), changes(10, 1_000_000), changes(20, 3_000_000), runs(0, 40, a, idle), runs(1, 40, b, idle)];
  writeFileSync(file, `# tracer: nop\n#\n${rows.join("")}`);
  return file;
}

/** A counterexample of a policy that steals a task which may not run there. */
export async function counterexample(): Promise<string> {
  const file = join(folder, "counterexample.wn");
  await run(["prove", "../policies/wrong/unchecked-steal.rota", "--allow-unsafe", "--cex", file], 1);
  return file;
}

/** What a page did. */
export interface Opened {
  page: Page;
  /** What it asked for. */
  requests: string[];
  /** Bytes of the answers since this was set to 0. */
  bytes: number;
  /** Errors, dialogs, and what stands on its console. */
  complaints: string[];
  close: () => Promise<void>;
}

/** Serves recordings, and opens their page. */
export async function served(files: string[], look: { dark?: boolean; height?: number } = {}): Promise<Opened> {
  const child = spawn(program, ["view", ...files, "--no-open"], { stdio: ["ignore", "pipe", "inherit"], cwd: traces, env });
  children.add(child);
  child.once("exit", () => children.delete(child));
  const address = await new Promise<string>((done, failed) => {
    child.stdout.once("data", (line: Buffer) => done(line.toString().trim()));
    child.once("exit", (code) => failed(new Error(`view ended: ${code}`)));
  });
  const opened = await open(address, look);
  const close = opened.close;
  return Object.assign(opened, {
    close: async () => {
      await close();
      child.kill("SIGINT");
    },
  });
}

/** Opens a page. */
export async function open(address: string, { dark = false, height = 900 } = {}): Promise<Opened> {
  if (!browser) throw new Error("no browser");
  const context = await browser.newContext({ viewport: { width: 1280, height }, colorScheme: dark ? "dark" : "light" });
  const page = await context.newPage();
  const opened: Opened = { page, requests: [], bytes: 0, complaints: [], close: () => context.close() };
  page.on("request", (it) => opened.requests.push(it.url()));
  page.on("response", (it) => (opened.bytes += Number(it.headers()["content-length"] ?? 0)));
  page.on("pageerror", (it) => opened.complaints.push(it.message));
  page.on("console", (it) => opened.complaints.push(it.text()));
  page.on("dialog", (it) => {
    opened.complaints.push(`dialog ${it.message()}`);
    void it.dismiss();
  });
  await page.goto(address);
  await settled(page);
  return opened;
}

/** Waits until all that is seen is drawn as it should be. */
export async function settled(page: Page): Promise<void> {
  // One frame, in which it may find that something has not come.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.waitForSelector("#lanes[data-settled=true]", { timeout: 20_000 });
}

/** The span that is seen. The address says it a little later. */
export async function seen(page: Page): Promise<[number, number]> {
  await settled(page);
  const shown = await page.evaluate(() => {
    const { from, to } = (window as unknown as { wastenot: { seen: { from: number; to: number } } }).wastenot.seen;
    return [Math.round(from), Math.round(to)] as [number, number];
  });
  await page.waitForTimeout(250);
  const told = await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("t"));
  expect((told ?? shown.join()).split(",").map(Number)).toEqual(shown);
  return shown;
}

/** Height of all that stands above the lanes of the first recording. */
export const ABOVE = 22 + 56 + 22;

/** A place on a lane, from its left edge on; of recordings whose lanes are as high as they can be. */
export async function onLane({ page }: Opened, lane: number, x: number): Promise<[number, number]> {
  const box = await page.locator("#canvas").boundingBox();
  if (!box) throw new Error("no canvas");
  // The ruler, the curves and the lane of the task that is followed stand above.
  return [box.x + 84 + x, box.y + ABOVE + lane * 24 + 12];
}
