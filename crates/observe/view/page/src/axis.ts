// Times in words, and the ticks of a ruler.

const UNITS: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "us"],
  [1, "ns"],
];

/** A length of time with four digits at most. */
export function words(ns: number): string {
  const [size, unit] = UNITS.find(([size]) => Math.abs(ns) >= size) ?? [1, "ns"];
  return `${Number((ns / size).toPrecision(4))} ${unit}`;
}

/** A moment to the digits that `step` needs. */
export function moment(ns: number, step: number): string {
  const [size, unit] = UNITS.find(([size]) => Math.abs(ns) >= size || size === 1) ?? [1, "ns"];
  // No clock is finer than a nanosecond.
  const digits = Math.max(0, Math.min(Math.ceil(Math.log10(size / step)), Math.round(Math.log10(size))));
  return `${(ns / size).toFixed(digits)} ${unit}`;
}

/** A frequency with three digits. */
export const gigahertz = (khz: number): string => `${Number((khz / 1e6).toPrecision(3))} GHz`;

/** So many things of a name. */
export const counted = (count: number, name: string): string => `${count} ${name}${count === 1 ? "" : "s"}`;

/** Moments for marks, about so many in the span: multiples of 1, 2 or 5 times a power of ten. */
export function marks(from: number, to: number, count: number): { step: number; at: number[] } {
  const rough = Math.max(1, (to - from) / Math.max(1, count));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((it) => it * power).find((it) => it >= rough) ?? power * 10;
  const at: number[] = [];
  for (let mark = Math.ceil(from / step) * step; mark <= to; mark += step) at.push(mark);
  return { step, at };
}

/** A moment of the recording's clock in seconds, as in its tables: `begin` in ns, and ns since then. */
export function clock(begin: string, since: number): string {
  const ns = BigInt(begin) + BigInt(Math.round(since));
  return `${ns / 1_000_000_000n}.${String(ns % 1_000_000_000n).padStart(9, "0")}`;
}
