//! Tables of a report as the page shows them: words, and where a row leads.

use serde_json::{Value as Json, json};
use wastenot_model::{Report, Table, Time, Value};

/// Rows of a table that a page holds; the rest is in `check --json`.
const ROWS: usize = 1000;
/// Columns that say from when to when a row is, or for how long.
const WHEN: [(&str, &str, &str); 2] =
    [("from_ns", "to_ns", "length_ns"), ("worst_from_ns", "worst_to_ns", "")];

/// The tables that people see, and the findings.
pub(crate) fn tables(report: &Report, begin: Time) -> Vec<Json> {
    let findings = report.findings.iter().take(ROWS);
    let (rows, places): (Vec<Json>, Vec<Json>) = findings
        .map(|it| {
            let place = json!([(it.window.from - begin).0, (it.window.to - begin).0]);
            (json!([it.message, it.help]), place)
        })
        .unzip();
    let findings = json!({
        "name": "findings", "title": "Findings", "columns": ["", "what to do"],
        "rows": rows, "places": places, "count": report.findings.len(),
    });
    let shown = report.tables.iter().filter(|table| table.is_shown());
    std::iter::once(findings).chain(shown.map(|table| of(table, begin))).collect()
}

fn of(table: &Table, begin: Time) -> Json {
    let columns: Vec<&str> = table.shown_columns().map(|(_, it)| it.title.as_str()).collect();
    let shown = table.rows.iter().take(ROWS);
    let rows = shown.clone().map(|row| {
        let cells = table.shown_columns().map(|(n, it)| row[n].show(it.unit));
        cells.collect::<Vec<String>>()
    });
    json!({
        "name": table.name,
        "title": table.title,
        "columns": columns,
        "rows": rows.collect::<Vec<_>>(),
        "places": shown.map(|row| place(table, row, begin)).collect::<Vec<_>>(),
        "count": table.rows.len(),
    })
}

/// From when to when a row is, in ns from the begin.
fn place(table: &Table, row: &[Value], begin: Time) -> Option<(u64, u64)> {
    // The bounds of a class of lengths are no moments.
    if table.name.ends_with("histogram") {
        return None;
    }
    let number = |key: &str| {
        let column = table.columns.iter().position(|column| column.key == key)?;
        row.get(column)?.int::<u64>()
    };
    let (from, to) = WHEN.iter().find_map(|(from, to, length)| {
        let from = number(from)?;
        Some((from, number(to).or_else(|| Some(from + number(length)?)).unwrap_or(from)))
    })?;
    let since = |time: u64| Time(time).since(begin).0;
    Some((since(from), since(to.max(from))))
}
