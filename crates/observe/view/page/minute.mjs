// A minute on the page of `wastenot view`, as a person would spend it, and what it took.
//
//   node crates/observe/view/page/minute.mjs ADDRESS     prints JSON; ADDRESS is what `view --no-open` printed
//
// Work is the time of the page's own code in a frame; frames are the times between them while something
// moves. Both in ms: median, 99th percentile, longest.
import { chromium } from "playwright-core";

const [address] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
let bytes = 0;
page.on("response", (it) => (bytes += Number(it.headers()["content-length"] ?? 0)));

const settled = async () => {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.waitForSelector("#lanes[data-settled=true]", { timeout: 60_000 });
};
const rank = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), longest: at(1) };
};

const begin = Date.now();
await page.goto(address);
await page.waitForFunction(() => window.wastenot?.work.length > 0);
const first_ms = Date.now() - begin;
await settled();
const result = { first_ms, complete_ms: Date.now() - begin, first_screen_bytes: bytes, parts: {} };

await page.evaluate(() => {
  window.frames_ms = [];
  let last = performance.now();
  const look = (now) => {
    window.frames_ms.push(now - last);
    last = now;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
});
const all = { work: [], frames: [] };
let largest_screen_bytes = 0;
const part = async (name, steps) => {
  await page.evaluate(() => void (wastenot.work.splice(0), window.frames_ms.splice(0)));
  for (const step of steps) {
    bytes = 0;
    await step();
    await page.waitForTimeout(30);
    largest_screen_bytes = Math.max(largest_screen_bytes, bytes);
  }
  await settled();
  const [work, frames] = await page.evaluate(() => [wastenot.work.splice(0), window.frames_ms.splice(0)]);
  all.work.push(...work);
  all.frames.push(...frames);
  result.parts[name] = { work: rank(work), frames: rank(frames) };
};
const times = (count, step) => Array.from({ length: count }, () => step);
const key = (name) => () => page.keyboard.press(name);

await page.mouse.move(700, 500);
await part("zoom to a wakeup", times(60, () => page.mouse.wheel(0, -100)));
await part("zoom out", times(60, () => page.mouse.wheel(0, 100)));
await part("pan", [...times(3, key("w")), ...times(60, key("d")), ...times(60, key("a"))]);
await part("50 violations", times(50, key("n")));
await part("search", [..."kworker*"].map((_, n, all) => () => page.fill("#search", all.slice(0, n + 1).join(""))));
await page.fill("#search", "");
await part("fold", [key("0"), ...times(6, async () => (await page.locator("#lanes").focus(), await page.keyboard.press("f"), await settled()))]);
await part(
  "colours",
  ["command", "queue", "cause", "task"].map((it) => async () => (await page.selectOption("#colour", it), await settled())),
);
const session = await page.context().newCDPSession(page);
await session.send("Performance.enable");
const { metrics } = await session.send("Performance.getMetrics");
const heap = metrics.find((it) => it.name === "JSHeapUsedSize")?.value ?? 0;
Object.assign(result, { work: rank(all.work), frames: rank(all.frames), largest_step_bytes: largest_screen_bytes, heap_bytes: heap });
console.log(JSON.stringify(result, undefined, 1));
await browser.close();
