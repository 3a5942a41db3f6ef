"use strict";
// Sorts a table by a column: first click descending for numbers, ascending for names. Tables may
// also come later than this script.
document.addEventListener("click", (event) => {
  const head = event.target.closest("th > button")?.parentElement;
  if (!head) {
    return;
  }
  const table = head.closest("table");
  const heads = [...table.tHead.rows[0].cells];
  const column = heads.indexOf(head);
  const rows = [...table.tBodies[0].rows];
  const number = (row) => {
    const value = row.cells[column].dataset.v;
    return value === undefined ? null : Number(value);
  };
  const numeric = rows.some((row) => number(row) !== null);
  const was = head.getAttribute("aria-sort");
  const up = was ? was === "descending" : !numeric;
  heads.forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const name = (row) => row.cells[column].textContent;
  const compare = (a, b) => {
    const x = number(a), y = number(b);
    if (numeric && (x === null || y === null)) {
      return (x === null) - (y === null); // what is not known stands last either way
    }
    const order = numeric ? x - y : name(a).localeCompare(name(b), undefined, { numeric: true });
    return up ? order : -order;
  };
  table.tBodies[0].append(...rows.sort(compare));
});
// Unfolds what a link leads to; some browsers leave that to the page.
const unfold = () => {
  const aim = location.hash && document.getElementById(location.hash.slice(1));
  if (!aim) {
    return;
  }
  for (let at = aim.closest("details"); at; at = at.parentElement.closest("details")) {
    at.open = true;
  }
  aim.scrollIntoView({ block: "center" });
};
addEventListener("hashchange", unfold);
unfold();
// Paper cannot be unfolded.
addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach((details) => { details.open = true; });
});
