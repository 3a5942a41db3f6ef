// A description of a moment on a lane, in words.

import { counted, gigahertz, moment, words } from "./axis";
import { ranges } from "./cpus";
import { At, NO_TASK, Recording } from "./data";
import { Told } from "./panel";

const share = (part: number): string => (part < 3 ? "under 1 %" : `${Math.round((part / 255) * 100)} %`);

/** What the cells of a pixel say. */
export function told(recording: Recording, is: Told): string[] {
  const lines: string[] = [];
  if (is.busy) lines.push(`busy ${share(is.busy)}${is.task === NO_TASK ? "" : `: ${recording.name(is.task)}`}`);
  if (is.khz !== undefined) lines.push(`at ${gigahertz(is.khz)} on average`);
  if (is.inVain) lines.push(`a task waited here in vain while a CPU that it may use was idle: ${share(is.inVain)} (${recording.why(is.why)})`);
  if (is.wanted) lines.push(`idle while a task that could run here waited elsewhere: ${share(is.wanted)}`);
  if (is.waking) lines.push(`about to start a task: ${share(is.waking)}`);
  if (is.unknown) lines.push(`unknown ${share(is.unknown)}`);
  if (is.offline) lines.push(`offline ${share(is.offline)}`);
  if (is.widthNs) lines.push(`averages over ${words(is.widthNs)}: finer data is not loaded`);
  if (is.waitingMax) lines.push(`longest queue: ${counted(is.waitingMax, "waiting task")}`);
  return lines.length > 0 ? lines : ["idle"];
}

/** Tasks of a queue that are named. */
const NAMED = 8;

/** What was exactly so at a moment. */
export function exact(recording: Recording, cpu: number, time: number, at: At): string[] {
  const ago = (since: number): string => (since === 0 ? "since the start of the trace or earlier" : `for ${words(time - since)}`);
  const lines = [`CPU ${cpu} at ${moment(time, 1)}`];
  if (at.task !== null) lines.push(`runs ${recording.name(at.task)} ${ago(at.since)}`);
  else lines.push(`${at.is === "waking" ? "about to start a task" : at.is} ${ago(at.since)}`);
  for (const [task, since, origin, waker] of at.waiting.slice(0, NAMED)) {
    const by = waker === null ? "" : ` by ${recording.name(waker)}`;
    lines.push(`  waits here: ${recording.name(task)} ${ago(since)} (${origin}${by})`);
  }
  if (at.count > NAMED) lines.push(`  and ${counted(at.count - NAMED, "more task")}`);
  if (at.idle.length > 0) lines.push(`idle at this time: CPU ${ranges(at.idle)}`);
  else lines.push(at.unknown > 0 ? "no CPU is known to have been idle at this time" : "no CPU was idle at this time");
  if (at.unknown > 0) lines.push(`unknown at this time: ${counted(at.unknown, "CPU")}`);
  return lines;
}
