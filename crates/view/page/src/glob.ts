// Patterns with * and ?, as in a shell.

/** Whether a text fits a pattern, whatever the case. It takes time in proportion to both, at most. */
export function fits(pattern: string, text: string): boolean {
  const [of, is] = [[...pattern.toLowerCase()], [...text.toLowerCase()]];
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
}

/** Tells whether a task is meant: by its name, its tid, or both as name:tid. */
export function meant(pattern: string): (tid: number, name: string) => boolean {
  return (tid, name) => [name, `${tid}`, `${name}:${tid}`].some((text) => fits(pattern, text));
}
