// Patterns with * and ?, as in a shell.

/** Characters; a text that has one unit for each is itself that. */
const characters = (text: string): ArrayLike<string> => (/[\ud800-\udfff]/.test(text) ? [...text] : text);

/** Whether a text fits a pattern, whatever the case. It takes time in proportion to both, at most. */
export function fits(pattern: string, text: string): boolean {
  return matcher(pattern)(text);
}

/** The same for many texts. */
function matcher(pattern: string): (text: string) => boolean {
  const of = characters(pattern.toLowerCase());
  return (text) => {
    const is = characters(text.toLowerCase());
    let [p, t] = [0, 0];
    // Where the last * stands, and where in the text what follows it is tried.
    let [star, tried] = [-1, 0];
    while (t < is.length) {
      if (of[p] === "*") {
        [star, tried] = [p, t];
        p++;
      } else if (p < of.length && (of[p] === "?" || of[p] === is[t])) {
        p++;
        t++;
      } else if (star >= 0) {
        tried++;
        [p, t] = [star + 1, tried];
      } else return false;
    }
    while (of[p] === "*") p++;
    return p === of.length;
  };
}

/** Texts of tasks: those that there are, and the place of each task's. */
export interface Texts {
  all: string[];
  of: Uint32Array;
}

/** Tasks whose name, tid, both as name:tid, or cgroup fit: 1 for each that does. */
export function find(pattern: string, names: Texts, tids: Int32Array, cgroups?: Texts): { is: Uint8Array; count: number } {
  const is = new Uint8Array(tids.length);
  const fits = matcher(pattern);
  const [byName, byCgroup] = [names.all.map(fits), cgroups?.all.map(fits)];
  // Most patterns cannot fit a number, and most names not what the pattern begins with: tasks may be a million.
  const mayBeTid = /^[\d*?-]*$/.test(pattern);
  const begin = pattern.toLowerCase().split(/[*?]/, 1)[0] ?? "";
  const mayBeBoth = names.all.map((name) => {
    const both = `${name.toLowerCase()}:`;
    return both.startsWith(begin) || begin.startsWith(both);
  });
  let count = 0;
  for (let task = 0; task < is.length; task++) {
    const [name, tid] = [names.of[task] ?? -1, tids[task]];
    const isNamed = byName[name] || (mayBeTid && fits(`${tid}`)) || (mayBeBoth[name] && fits(`${names.all[name]}:${tid}`));
    if (isNamed || byCgroup?.[cgroups?.of[task] ?? -1]) {
      is[task] = 1;
      count++;
    }
  }
  return { is, count };
}
