// Tables of the report; a row that has a time leads there.

import { Table } from "./data";
import { Span } from "./panel";

/** Shows tables in `into`, `of` before their titles, and gives the places of violations in order. */
export function show(into: HTMLElement, tables: Table[], of: string, go: (place: Span) => void): Span[] {
  for (const table of tables) if (table.rows.length > 0) into.appendChild(element(table, of, go));
  const violations = tables.find((table) => table.name === "violations");
  const places = (violations?.places ?? []).filter((place) => place !== null);
  return places.map(([from, to]) => ({ from, to })).sort((a, b) => a.from - b.from);
}

function element({ title, columns, rows, places, count }: Table, of: string, go: (place: Span) => void): HTMLElement {
  const details = document.createElement("details");
  const summary = details.appendChild(document.createElement("summary"));
  summary.textContent = `${of}${title} (${count > rows.length ? `${rows.length} of ` : ""}${count})`;
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const column of columns) {
    const cell = head.appendChild(document.createElement("th"));
    cell.scope = "col";
    cell.textContent = column;
  }
  const body = table.createTBody();
  rows.forEach((row, n) => {
    const line = body.insertRow();
    for (const cell of row) line.insertCell().textContent = cell;
    const place = places[n];
    if (!place) return;
    const jump = (): void => go({ from: place[0], to: place[1] });
    line.dataset["from"] = String(place[0]);
    line.tabIndex = 0;
    line.addEventListener("click", jump);
    line.addEventListener("keydown", (event) => {
      if (event.key === "Enter") jump();
    });
  });
  details.appendChild(document.createElement("div")).appendChild(table);
  return details;
}
