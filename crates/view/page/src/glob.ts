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

/** Tasks whose name, tid, or both as name:tid fit: 1 for each that does. `of` is the place of each task's name. */
export function find(pattern: string, names: string[], of: Uint32Array, tids: Int32Array): { is: Uint8Array; count: number } {
  const is = new Uint8Array(tids.length);
  const fits = matcher(pattern);
  const byName = names.map(fits);
  // Most patterns cannot fit a number, and most names not what the pattern begins with: tasks may be a million.
  const mayBeTid = /^[\d*?-]*$/.test(pattern);
  const begin = pattern.toLowerCase().split(/[*?]/, 1)[0] ?? "";
  const mayBeBoth = names.map((name) => {
    const both = `${name.toLowerCase()}:`;
    return both.startsWith(begin) || begin.startsWith(both);
  });
  let count = 0;
  for (let task = 0; task < is.length; task++) {
    const name = of[task] ?? -1;
    const tid = tids[task];
    if (byName[name] || (mayBeTid && fits(`${tid}`)) || (mayBeBoth[name] && fits(`${names[name]}:${tid}`))) {
      is[task] = 1;
      count++;
    }
  }
  return { is, count };
}
