//! The plain text face: at most 72 columns, fit for a mailing list.

use super::{Column, Report, Table, Unit, Value};

/// Widest line of a text report.
pub const COLUMNS: usize = 72;

impl Report {
    /// The whole report as plain text of at most [`COLUMNS`] columns.
    pub fn text(&self) -> String {
        let mut out =
            format!("{}\n{}\n\n", self.title, "=".repeat(width(&self.title).min(COLUMNS)));
        out = wrap(&out, "");
        out += &wrap(&self.verdict, "");
        let shown = self.measures.iter().filter(|measure| !measure.label.is_empty());
        if shown.clone().next().is_some() {
            out += "\n";
        }
        let label_width = self.measures.iter().map(|m| width(&m.label)).max().unwrap_or(0).min(46);
        for measure in shown {
            let value = measure.value.show(measure.unit);
            let line = format!("  {:label_width$}  {value}", measure.label);
            out += &wrap(&line, &" ".repeat(label_width + 4));
        }
        for table in self.tables.iter().filter(|table| !table.rows.is_empty()) {
            out += &format!("\n{}\n{}\n", table.label, "-".repeat(width(&table.label)));
            out += &table.text();
        }
        for (label, lines) in
            [("Losses", self.loss_lines()), ("Assumptions", self.assumptions.clone())]
        {
            if lines.is_empty() {
                continue;
            }
            out += &format!("\n{label}\n{}\n", "-".repeat(label.len()));
            for line in lines {
                out += &wrap(&format!("- {line}"), "  ");
            }
        }
        if let Some(next) = &self.next {
            out += &format!("\nNext: {next}\n");
        }
        out
    }

    fn loss_lines(&self) -> Vec<String> {
        let line = |loss: &crate::Loss| {
            let cpu = loss.cpu.map_or(String::new(), |cpu| format!(" on CPU {cpu}"));
            let count = loss.count.map_or(String::new(), |count| format!(", {count} in all"));
            let time = loss.time.map_or(String::new(), |time| format!(", first at {time}"));
            format!("{}{cpu}: {}{count}{time}", loss.kind.name(), loss.note)
        };
        self.losses.iter().map(line).collect()
    }
}

impl Table {
    /// The first `shown` rows, numbers to the right, cut to [`COLUMNS`]. Columns without a label
    /// are for machines.
    pub fn text(&self) -> String {
        let shown = &self.rows[..self.rows.len().min(self.shown)];
        let columns = self.shown_columns();
        let mut lanes: Vec<Lane> =
            columns.map(|(index, column)| Lane::new(column, index, shown)).collect();
        fit(&mut lanes);
        let mut out = String::new();
        for line in 0..=shown.len() {
            let cells = lanes.iter().map(|lane| lane.cell(line));
            out += format!("  {}", cells.collect::<Vec<_>>().join(" ")).trim_end();
            out += "\n";
        }
        if self.rows.len() > shown.len() {
            out += &format!("  ... and {} more\n", self.rows.len() - shown.len());
        }
        out
    }
}

/// A column as text: its label, then a cell a row.
struct Lane {
    cells: Vec<String>,
    width: usize,
    right: bool,
}

impl Lane {
    fn new(column: &Column, index: usize, rows: &[Vec<Value>]) -> Lane {
        let mut cells = vec![column.label.clone()];
        cells.extend(rows.iter().map(|row| row[index].show(column.unit)));
        let width = cells.iter().map(|cell| width(cell)).max().unwrap_or(0);
        let number = |cell: &Value| matches!(cell, Value::Int(_) | Value::Num(_));
        let right = column.unit != Unit::None || rows.iter().any(|row| number(&row[index]));
        Lane { cells, width, right }
    }
    fn cell(&self, line: usize) -> String {
        pad(&shorten(&self.cells[line], self.width), self.width, self.right)
    }
}

/// Narrows the widest column until the line fits.
fn fit(lanes: &mut [Lane]) {
    let room = COLUMNS.saturating_sub(1 + lanes.len());
    while lanes.iter().map(|lane| lane.width).sum::<usize>() > room {
        match lanes.iter_mut().max_by_key(|lane| lane.width) {
            Some(widest) if widest.width > 4 => widest.width -= 1,
            _ => return,
        }
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn shorten(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(2)).chain("..".chars()).collect()
}

fn pad(text: &str, room: usize, right: bool) -> String {
    let space = " ".repeat(room.saturating_sub(width(text)));
    if right { space + text } else { text.to_owned() + &space }
}

/// Breaks lines at spaces; lines after the first begin with `indent`.
fn wrap(text: &str, indent: &str) -> String {
    let mut out = String::new();
    for paragraph in text.lines() {
        let lead = paragraph.len() - paragraph.trim_start().len();
        let mut line = paragraph[..lead].to_owned();
        let mut empty = true;
        for word in paragraph[lead..].split(' ') {
            if !empty && width(&line) + 1 + width(word) > COLUMNS {
                out += line.trim_end();
                out += "\n";
                line = indent.to_owned();
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line += word;
            empty = false;
        }
        out += line.trim_end();
        out += "\n";
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Report, Table, Unit};
    use super::COLUMNS;

    #[test]
    fn nothing_is_wider_than_72_columns() {
        let mut report =
            Report::new("check/1", "check of a file with a rather long name ".repeat(3));
        report.verdict = "word ".repeat(60);
        report.measure("waste.cpu_ns", "CPU time wasted", 1_234_567u64, Unit::Ns);
        let mut table = Table::new("t", "Table", &[("a", "A", Unit::None), ("b", "B", Unit::Ns)]);
        table.push(vec!["x".repeat(100).into(), 5u64.into()]);
        report.tables.push(table);
        report.assumptions.push("assumed ".repeat(30));
        let text = report.text();
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert!(text.contains("1.235 ms"));
    }
}
