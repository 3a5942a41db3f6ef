//! The decisions of the scheduler in a stretch of time, as a table, if the trace contains
//! decisions.

use std::collections::HashMap;

use crate::html::{self, ROWS_AT_ONCE};
use serde_json::{Value, json};
use wastenot_model::decisions::Decision;
use wastenot_model::{Column, History, Table, Time, Unit, Window};

/// Bytes of a row.
const ROW: usize = 8 + 2 + 4 * WORDS;
/// Cells of a row that are words: what, task, CPUs considered, outcome.
const WORDS: usize = 4;

/// All decisions, by time. There may be as many as events, and few of their words differ.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Decisions {
    /// Of each its time and its CPU, then the places of its words; the lowest byte comes first.
    pub(crate) rows: Vec<u8>,
    pub(crate) words: Vec<String>,
}

impl Decisions {
    pub(crate) fn of(history: &History) -> Decisions {
        let mut all: Vec<Decision<'_>> = history.decisions().into_iter().flatten().collect();
        all.sort_by_key(|it| it.time);
        let (mut known, mut words) = (HashMap::new(), Vec::new());
        let mut place = |text: String| -> u32 {
            *known.entry(text).or_insert_with_key(|text| {
                words.push(text.clone());
                words.len() as u32 - 1
            })
        };
        let mut rows = Vec::with_capacity(all.len() * ROW);
        for it in &all {
            rows.extend(it.time.0.to_le_bytes());
            rows.extend(it.cpu.0.to_le_bytes());
            let task = it.task.map_or(String::new(), |task| history.task_label(task));
            // The span of a domain was not considered for anything.
            let (considered, outcome) = match it.what {
                _ if it.considers() => (it.considered.to_string(), it.outcome.to_owned()),
                Decision::DOMAIN => (String::new(), format!("CPUs {}", it.considered)),
                _ => (String::new(), it.outcome.to_owned()),
            };
            for text in [it.what.to_owned(), task, considered, outcome] {
                rows.extend(place(text).to_le_bytes());
            }
        }
        Decisions { rows, words }
    }

    /// The section of the page that tells those of what is seen; nothing if there are none.
    pub(crate) fn section(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        format!(
            "<details class=\"decisions\">\n<summary><h2>Decisions in the visible time</h2> \
             <span class=\"hint\">{} in total</span></summary>\n<p role=\"status\"></p>\n\
             <div></div>\n</details>\n",
            self.len()
        )
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len() / ROW
    }

    /// Those of a window: how many there are, and the first of them as HTML.
    pub(crate) fn told(&self, window: Window, begin: Time) -> Value {
        let (rows, _) = self.rows.as_chunks::<ROW>();
        let time = |row: &[u8; ROW]| Time(number(&row[..8]));
        let first = rows.partition_point(|row| time(row) < window.from);
        let last = rows.partition_point(|row| time(row) < window.to).max(first);
        let columns = [
            Column::new("time_ns", "time", Unit::At),
            Column::new("cpu", "CPU", Unit::None),
            Column::new("what", "decision", Unit::None),
            Column::new("task", "task", Unit::None),
            Column::new("considered", "CPUs considered", Unit::None),
            Column::new("outcome", "outcome", Unit::None),
        ];
        let mut table = Table::new("decisions", "Decisions", columns);
        for row in rows[first..last].iter().take(ROWS_AT_ONCE) {
            let word = |n: usize| {
                let place = number(&row[10 + 4 * n..][..4]) as usize;
                self.words.get(place).map_or("", String::as_str).into()
            };
            let (at, cpu) = (time(row).into(), number(&row[8..10]).into());
            table.push(vec![at, cpu, word(0), word(1), word(2), word(3)]);
        }
        let words = html::table(&table, Some(begin)).whole();
        json!({ "count": last - first, "words": words })
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use wastenot_model::decisions::table;
    use wastenot_model::{Annex, Builder, CpuId, CpuSet, Head, Machine, Sink, Task, TaskId};

    use super::*;

    #[test]
    fn decisions_of_a_window_are_counted_and_the_first_are_listed() {
        let mut sink = Builder::new(Head::new(Machine::flat(4)));
        let name = sink.name("<i>");
        sink.task(Task::new(5, name));
        let span: CpuSet = [CpuId(1), CpuId(2), CpuId(3)].into_iter().collect();
        let of = |time: u64, what: &'static str| Decision {
            time: Time(time),
            cpu: CpuId(3),
            what,
            task: (what == Decision::WAKEUP).then_some(TaskId::nth(0)),
            considered: span.clone(),
            local: CpuSet::default(),
            busiest: CpuSet::default(),
            outcome: "3 to 1",
        };
        let rows = (0..300).rev().map(|time| of(time, Decision::WAKEUP));
        let table = table(rows.chain([of(300, Decision::DOMAIN)]));
        sink.annex(Annex { table });
        let decisions = Decisions::of(&sink.finish());
        assert_eq!((decisions.len(), decisions.words.len()), (301, 7));
        let told = |from: u64, to: u64| {
            let window = Window { from: Time(from), to: Time(to) };
            let told = decisions.told(window, Time(100));
            (told["count"].clone(), told["words"].as_str().expect("HTML").to_owned())
        };
        let (count, words) = told(102, 104);
        assert_eq!((count, words.matches("<tr data-from").count()), (2.into(), 2));
        let row = "<tr data-from=\"2\" data-to=\"2\" tabindex=\"0\">";
        assert!(words.contains(row) && words.contains("<td>1-3</td>"), "{words}");
        assert!(words.contains("&lt;i&gt;:5") && words.contains("<td>3 to 1</td>"), "{words}");
        let (count, words) = told(0, 300);
        assert_eq!((count, words.matches("<tr data").count()), (300.into(), ROWS_AT_ONCE));
        let (_, words) = told(300, 301);
        assert!(words.contains("CPUs 1-3") && !words.contains("<td>1-3</td>"), "{words}");
        assert_eq!(told(9, 5).0, 0);
    }
}
