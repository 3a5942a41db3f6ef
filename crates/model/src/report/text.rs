//! The plain text form of a report: at most 72 columns, suitable for a mailing list.

use super::{Column, Proportion, Report, Table, Unit, Value};
use crate::printable;

/// Widest line of a text report.
pub const COLUMNS: usize = 72;

impl Report {
    /// What stands first, for a screen: title, verdict, proportions, the worst moment, losses in a
    /// line, then `more` on what is left out, and what to try next.
    pub fn first_screen(&self, more: &str) -> String {
        let mut out = self.first();
        let losses = match self.loss_counts().as_str() {
            "" => String::new(),
            counts => format!("Losses: {counts}"),
        };
        let next = self.next_line();
        for table in self.tables.iter().filter(|table| table.first && table.is_shown()) {
            out += &table.section();
        }
        out += "\n";
        // A command stays on one line, to be copied.
        for line in [&losses, more] {
            out += &wrap(line, "  ");
        }
        out + next.trim_start()
    }

    /// What the first screen leaves out, in words.
    pub fn left_out(&self) -> String {
        let tables = self.tables.iter().filter(|table| table.is_shown()).count();
        format!(
            "More: {} measures, {tables} tables, {} assumptions (add --text or --json)",
            self.shown_measures().count(),
            self.assumptions.len()
        )
    }

    /// The whole report as plain text of at most [`COLUMNS`] columns.
    pub fn text(&self) -> String {
        let mut out = self.first();
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
        for table in self.tables.iter().filter(|table| table.is_shown()) {
            out += &table.section();
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
        out + &self.next_line()
    }

    fn first(&self) -> String {
        let title = printable(&self.title);
        let mut out = wrap(&title, "");
        out += &format!("{}\n\n", "=".repeat(width(&title).min(COLUMNS)));
        out += &wrap(&self.verdict, "");
        out += &proportions(&self.proportions);
        if let Some(worst) = &self.worst {
            let line = format!("Worst moment, @{}: {}", worst.window.from, worst.message);
            out += &format!("\n{}", wrap(&line, ""));
        }
        out
    }

    fn next_line(&self) -> String {
        let next = self.next.as_ref().map(|next| format!("\nNext: {}\n", printable(next)));
        next.unwrap_or_default()
    }

    /// How much was lost of each kind: `7 lost events, 6 missing`. A loss of unknown size is one.
    pub fn loss_counts(&self) -> String {
        let mut counts: Vec<(&str, u64)> = Vec::new();
        for loss in &self.losses {
            let size = loss.count.unwrap_or(1);
            match counts.iter_mut().find(|(name, _)| *name == loss.kind.name()) {
                Some((_, count)) => *count = count.saturating_add(size),
                None => counts.push((loss.kind.name(), size)),
            }
        }
        let words = |&(name, count): &(&str, u64)| {
            let plural = if name == "contradiction" && count > 1 { "s" } else { "" };
            format!("{count} {}{plural}", name.replace('_', " "))
        };
        counts.iter().map(words).collect::<Vec<_>>().join(", ")
    }

    fn loss_lines(&self) -> Vec<String> {
        let line = |loss: &crate::Loss| {
            let cpu = loss.cpu.map_or(String::new(), |cpu| format!(" on CPU {cpu}"));
            let count = loss.count.map_or(String::new(), |count| format!(", {count} in total"));
            let time = loss.time.map_or(String::new(), |time| format!(", first at @{time}"));
            format!("{}{cpu}: {}{count}{time}", loss.kind.name(), loss.note)
        };
        self.losses.iter().map(line).collect()
    }
}

impl Table {
    /// The same under its heading.
    fn section(&self) -> String {
        let label = printable(&self.title);
        format!("\n{label}\n{}\n{}", "-".repeat(width(&label)), self.text())
    }

    /// The first `shown` rows, numbers to the right, within [`COLUMNS`]: what is too wide goes on
    /// in the next line, and nothing is cut. Sentences stand below their row.
    pub fn text(&self) -> String {
        let shown = &self.rows[..self.rows.len().min(self.shown)];
        let (below, beside): (Vec<_>, Vec<_>) =
            self.shown_columns().partition(|(_, column)| column.below);
        let beside = beside.into_iter();
        let mut lanes: Vec<Lane> =
            beside.map(|(index, column)| Lane::new(column, index, shown)).collect();
        fit(&mut lanes);
        let mut out = String::new();
        for row in 0..=shown.len() {
            let cells: Vec<Vec<String>> = lanes.iter().map(|lane| lane.cell(row)).collect();
            let lines = cells.iter().map(Vec::len).max().unwrap_or(0);
            for line in 0..lines {
                let piece = |(lane, cell): (&Lane, &Vec<String>)| {
                    lane.pad(cell.get(line).map_or("", String::as_str))
                };
                let pieces: Vec<String> = lanes.iter().zip(&cells).map(piece).collect();
                out += format!("  {}", pieces.join(" ")).trim_end();
                out += "\n";
            }
            for (index, column) in below.iter().filter(|_| row > 0) {
                match &shown[row - 1][*index] {
                    Value::Unknown => {}
                    cell => out += &wrap(&format!("    {}", cell.show(column.unit)), "    "),
                }
            }
        }
        if self.rows.len() > shown.len() {
            out += &format!("  ... and {} more\n", self.rows.len() - shown.len());
        }
        out
    }
}

/// Figures with bars, one a line.
fn proportions(all: &[Proportion]) -> String {
    const BAR: usize = 8;
    let rows: Vec<[String; 3]> =
        all.iter().map(|it| [it.label.clone(), it.value.show(it.unit), it.shares()]).collect();
    let [label, value, share] =
        [0, 1, 2].map(|n| rows.iter().map(|row| width(&row[n])).max().unwrap_or(0));
    let mut out = String::from(if rows.is_empty() { "" } else { "\n" });
    for (it, row) in all.iter().zip(&rows) {
        let [name, figure, shares] = row;
        let (bar, of) = (it.strip(BAR), &it.of);
        let line = format!("  {name:label$} {figure:>value$} {shares:>share$} {bar} of {of}");
        out += &wrap(&line, "    ");
    }
    out
}

/// A column as text: its label, then a cell a row.
struct Lane {
    cells: Vec<String>,
    width: usize,
    right: bool,
}

impl Lane {
    fn new(column: &Column, index: usize, rows: &[Vec<Value>]) -> Lane {
        let mut cells = vec![printable(&column.title).into_owned()];
        let shown = rows.iter().map(|row| row[index].show(column.unit));
        cells.extend(shown.map(|cell| printable(&cell).into_owned()));
        let width = cells.iter().map(|cell| width(cell)).max().unwrap_or(0);
        let number = |cell: &Value| matches!(cell, Value::Int(_) | Value::Num(_));
        let right = column.unit != Unit::None || rows.iter().any(|row| number(&row[index]));
        Lane { cells, width, right }
    }
    /// A cell in pieces as wide as the lane.
    fn cell(&self, row: usize) -> Vec<String> {
        broken(&self.cells[row], self.width)
    }
    /// As narrow as its pieces are.
    fn shrink(&mut self) {
        let pieces = (0..self.cells.len()).flat_map(|row| self.cell(row));
        self.width = pieces.map(|piece| width(&piece)).max().unwrap_or(0);
    }
    fn pad(&self, text: &str) -> String {
        let space = " ".repeat(self.width.saturating_sub(width(text)));
        if self.right { space + text } else { text.to_owned() + &space }
    }
    /// As narrow as it gets if only broken behind these; numbers are not at all, what stands over
    /// them is.
    fn least(&self, behind: &[char]) -> usize {
        let parts = |cell: &String| {
            let parts = cell.split_inclusive(behind).map(|part| width(part.trim_end()));
            parts.max().unwrap_or(0)
        };
        let (label, cells) = self.cells.split_first().expect("a label");
        let cells = cells.iter().map(|cell| if self.right { width(cell) } else { parts(cell) });
        cells.chain([parts(label)]).max().unwrap_or(0)
    }
}

/// Where a cell may be broken: behind spaces and the bars and commas of lists; where that does not
/// do, within names; and anywhere.
const BREAKS: [&[char]; 2] = [&[' ', '|', ','], &[' ', '|', ',', '-', '_', '/', ':', '=']];

/// Narrows the widest lane until the line fits. What stands over numbers is broken first, between
/// words; then cells of words; within words only where nothing else is left, and numbers last.
fn fit(lanes: &mut [Lane]) {
    const LEAST: usize = 4;
    let room = COLUMNS.saturating_sub(1 + lanes.len());
    let whole: Vec<usize> = lanes.iter().map(|lane| lane.width).collect();
    let all = |lanes: &[Lane]| lanes.iter().map(|lane| lane.width).sum::<usize>();
    let over_numbers = |lane: &Lane| if lane.right { lane.least(BREAKS[0]) } else { lane.width };
    let in_words = |lane: &Lane| if lane.right { lane.least(BREAKS[1]) } else { LEAST };
    let least: [Vec<usize>; 5] = [
        lanes.iter().map(over_numbers).collect(),
        lanes.iter().map(|lane| lane.least(BREAKS[0])).collect(),
        lanes.iter().map(|lane| lane.least(BREAKS[1])).collect(),
        lanes.iter().map(in_words).collect(),
        vec![LEAST; lanes.len()],
    ];
    for least in least {
        while all(lanes) > room {
            let wide = (0..lanes.len()).filter(|&n| lanes[n].width > least[n]);
            let Some(widest) = wide.max_by_key(|&n| lanes[n].width) else { break };
            lanes[widest].width -= 1;
        }
    }
    // What is left where words end goes to the first that can use it: to words before what stands
    // over numbers, which takes a line only once.
    lanes.iter_mut().for_each(Lane::shrink);
    for right in [false, true] {
        for (n, &whole) in whole.iter().enumerate() {
            if lanes[n].right != right {
                continue;
            }
            lanes[n].width = whole.min(lanes[n].width + room.saturating_sub(all(lanes)));
            lanes[n].shrink();
        }
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// `text` in pieces of at most `room` characters.
fn broken(text: &str, room: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    lay(text, room, &BREAKS, &mut pieces);
    pieces.iter().map(|piece| piece.trim_end().to_owned()).collect()
}

/// Adds `text` to the last of the pieces and to further ones.
fn lay(text: &str, room: usize, breaks: &[&[char]], pieces: &mut Vec<String>) {
    let Some((behind, rest)) = breaks.split_first() else {
        for char in text.chars() {
            add(&char.to_string(), room, pieces);
        }
        return;
    };
    for part in text.split_inclusive(*behind) {
        match width(part.trim_end()) <= room {
            true => add(part, room, pieces),
            false => lay(part, room, rest, pieces),
        }
    }
}

/// Adds a part to the last piece if it fits there, and else begins another.
fn add(part: &str, room: usize, pieces: &mut Vec<String>) {
    match pieces.last_mut() {
        Some(last) if last.is_empty() || width(last) + width(part.trim_end()) <= room => {
            last.push_str(part);
        }
        _ => pieces.push(part.to_owned()),
    }
}

/// A paragraph, broken at spaces; lines after the first begin with `indent`.
fn wrap(paragraph: &str, indent: &str) -> String {
    let mut out = String::new();
    if paragraph.is_empty() {
        return out;
    }
    let paragraph = printable(paragraph);
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
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Report, Table, Unit, Value};
    use super::COLUMNS;

    #[test]
    fn sentences_stand_below_their_row_and_do_not_narrow_the_others() {
        let columns =
            [Column::new("cause", "cause", Unit::None), Column::below("next", "next step")];
        let mut table = Table::new("t", "Table", columns);
        table.push(vec!["balancing".into(), "Look at the domains. ".repeat(5).trim_end().into()]);
        table.push(vec!["unknown".into(), Value::Unknown]);
        let lines = [
            "  cause",
            "  balancing",
            "    Look at the domains. Look at the domains. Look at the domains. Look",
            "    at the domains. Look at the domains.",
            "  unknown",
            "",
        ];
        assert_eq!(table.text(), lines.join("\n"));
    }

    #[test]
    fn nothing_is_wider_than_72_columns() {
        let mut report =
            Report::new("check/1", "check of a file with a rather long name ".repeat(3));
        report.verdict = "word ".repeat(60);
        report.measure("waste.cpu_ns", "CPU time wasted", 1_234_567u64, Unit::Ns);
        let mut table = Table::new(
            "t",
            "Table",
            [Column::new("a", "A", Unit::None), Column::new("b", "B", Unit::Ns)],
        );
        table.push(vec!["x".repeat(100).into(), 5u64.into()]);
        report.tables.push(table);
        report.assumptions.push("assumed ".repeat(30));
        let text = report.text();
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert!(text.contains("1.235 ms"));
    }

    fn table(columns: &[Column], rows: &[&[&str]]) -> String {
        let mut table = Table::new("t", "Table", columns);
        rows.iter().for_each(|row| table.push(row.iter().map(|&cell| cell.into()).collect()));
        table.text()
    }

    #[test]
    fn what_is_too_wide_goes_on_in_the_next_line_at_spaces_bars_and_commas() {
        let columns =
            [Column::new("n", "name", Unit::None), Column::new("v", "values", Unit::None)];
        let name = "imbalance-of-loads-between-groups-of-cpus";
        let text = table(&columns, &[&[name, "average|minimum|minimum-literal|v5.5"], &["b", "x"]]);
        let under = " ".repeat(2 + name.len() + 1);
        let expected = format!(
            "  name{}values\n  {name} average|minimum|\n{under}minimum-literal|v5.5\n  b{}x\n",
            " ".repeat(name.len() - 3),
            " ".repeat(name.len()),
        );
        assert_eq!(text, expected);
        let names = ["g=5ms scheduler=linux-2.4 s=12", "g=5ms scheduler=gang alternative=on s=12"];
        let text = table(
            &columns,
            &names
                .map(|name| vec![name, "1.2 s to 3.4 s and more of it all"])
                .each_ref()
                .map(|row| &row[..]),
        );
        for word in names.iter().flat_map(|name| name.split(' ')) {
            assert!(text.contains(word), "{word} is whole\n{text}");
        }
    }

    #[test]
    fn nothing_of_a_cell_is_lost_however_narrow_its_column() {
        let columns = [
            Column::new("a", "a", Unit::None),
            Column::new("b", "b", Unit::None),
            Column::new("c", "c", Unit::None),
        ];
        let long: String = ('a'..='z').cycle().take(100).collect();
        let text = table(&columns, &[&[&long, &long, "1 2 3"]]);
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert_eq!(text.matches(|c: char| c.is_ascii_lowercase()).count(), 200 + 3, "{text}");
        assert!(!text.contains(".."), "{text}");
    }

    #[test]
    fn a_name_is_broken_behind_its_dashes_rather_than_anywhere() {
        let columns = [Column::new("a", "task", Unit::None), Column::new("b", "what", Unit::None)];
        let (name, other) = ("a-name-that-is-longer-than-its-column-is-wide", "x".repeat(30));
        let text = table(&columns, &[&[name, &other]]);
        let lines: Vec<&str> = text.lines().skip(1).collect();
        let first = format!("  a-name-that-is-longer-than-its-column- {other}");
        assert_eq!(lines, [&first, "  is-wide"]);
    }

    #[test]
    fn what_stands_over_numbers_is_broken_between_words_before_a_word_is_anywhere() {
        let columns = [
            Column::new("a", "curve", Unit::None),
            Column::new("b", "criterion", Unit::None),
            Column::new("c", "cache delay", Unit::None),
            Column::new("d", "sets only it accepts", Unit::None),
            Column::new("e", "only the other", Unit::None),
            Column::new("f", "accepted", Unit::Share),
            Column::new("g", "weighted", Unit::Share),
            Column::new("h", "of it unknown", Unit::None),
        ];
        let mut table = Table::new("t", "Table", columns);
        let mut row = vec!["no overheads, one CPU less".into(), "hard".into()];
        row.extend([1_u64, 1_600, 1_600].map(super::Value::from));
        row.extend([1.0, 0.5].map(super::Value::from));
        row.push(0_u64.into());
        table.push(row);
        let text = table.text();
        let words = ["overheads,", "criterion", "accepted", "weighted", "unknown", "100.00 %"];
        for word in words {
            assert!(text.contains(word), "{word} is whole\n{text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
    }

    #[test]
    fn words_are_whole_before_what_stands_over_numbers_is() {
        let columns = [
            Column::new("a", "what stands over a short number", Unit::None),
            Column::new("b", "words", Unit::None),
            Column::new("c", "more words", Unit::None),
        ];
        let mut table = Table::new("t", "Table", columns);
        let words = ["some words that are long", "others that are as long"];
        table.push(vec![1_u64.into(), words[0].into(), words[1].into()]);
        let text = table.text();
        assert!(words.iter().all(|words| text.contains(words)), "{text}");
        assert_eq!(text.lines().count(), 3, "{text}");
    }

    #[test]
    fn a_number_is_not_broken_while_words_can_be() {
        let columns = [Column::new("a", "words", Unit::None), Column::new("b", "time", Unit::Ns)];
        let mut table = Table::new("t", "Table", columns);
        table.push(vec!["word ".repeat(30).into(), 1_234_567u64.into()]);
        let text = table.text();
        assert!(text.contains("1.235 ms") && text.lines().count() > 2, "{text}");
    }
}
