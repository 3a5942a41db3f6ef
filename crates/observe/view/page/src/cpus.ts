// The CPUs that have lanes.

/** The CPUs that a list such as 0-15,64 names; undefined if the text is no such list. */
export function cpuList(text: string): Set<number> | undefined {
  const cpus = new Set<number>();
  for (const part of text.split(",")) {
    const [, first, last] = /^\s*(\d{1,5})(?:\s*-\s*(\d{1,5}))?\s*$/.exec(part) ?? [];
    if (first === undefined || Number(last ?? first) < Number(first)) return undefined;
    for (let cpu = Number(first); cpu <= Number(last ?? first); cpu++) cpus.add(cpu);
  }
  return cpus;
}

/** CPUs as ranges: 0-3,7. */
export function ranges(cpus: number[]): string {
  const parts: [number, number][] = [];
  for (const cpu of [...cpus].sort((a, b) => a - b)) {
    const last = parts.at(-1);
    if (last?.[1] === cpu - 1) last[1] = cpu;
    else parts.push([cpu, cpu]);
  }
  return parts.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`)).join(",");
}
