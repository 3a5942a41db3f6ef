//! The annexes of a trace as tables of the page. Only the producer of the trace records them.

use std::borrow::Cow;

use crate::html::{self, Words};
use wastenot_model::decisions::Decision;
use wastenot_model::report::Audience;
use wastenot_model::{Column, History, Table, TaskId, Time, Value};

/// The annex that tells in words what was done, and when; its rows have columns for programs, too.
const STEPS: &str = "steps";
const TOLD: [&str; 4] = ["time_ns", "cpu", "task", "step"];
/// Annexes whose `task` is the place of a task in the History.
const OF_TASKS: [&str; 3] = [STEPS, "situation", "marks"];

/// What stands before the rest of the report, and what stands behind it: all annexes but decisions,
/// which the page asks for. A recording that tells its steps is about them, so they stand first.
/// Names of lists begin with `annex-`: those of the report have the same words.
pub(crate) fn words(history: &History, begin: Time) -> [Words; 2] {
    let all = history.annexes.iter().map(|annex| &annex.table);
    let is_story = all.clone().any(|table| table.name == STEPS);
    let all = all.filter(|table| table.name != Decision::ANNEX);
    let (steps, others): (Vec<Table>, Vec<Table>) =
        all.map(|table| shown(table, history, is_story)).partition(|it| it.name == "annex-steps");
    let others = html::tables(&others, Some(begin), false);
    let steps = html::tables(&steps, Some(begin), true);
    match is_story {
        true => [Words([steps.0, others.0].concat()), Words::default()],
        false => [Words::default(), others],
    }
}

/// An annex for people: its first rows, without columns that say nothing, and with names of tasks.
fn shown(table: &Table, history: &History, is_story: bool) -> Table {
    let rows = &table.rows[..table.rows.len().min(html::ROWS)];
    let has_tasks = OF_TASKS.contains(&&*table.name);
    let column = |(n, column): (usize, &Column)| {
        let cells = rows.iter().filter_map(|row| row.get(n));
        let is_told = table.name != STEPS || TOLD.contains(&&*column.key);
        let audience = match is_told && says_something(cells) {
            true => column.audience,
            false => Audience::Programs,
        };
        Column { audience, ..column.clone() }
    };
    let columns: Vec<Column> = table.columns.iter().enumerate().map(column).collect();
    let cell = |(value, column): (&Value, &Column)| match value {
        // It does not apply.
        Value::Unknown if is_story => Value::Text(String::new()),
        Value::Int(task) if has_tasks && column.key == "task" => {
            let task = usize::try_from(*task).ok().map(TaskId::nth);
            let known = task.filter(|task| history.task(*task).is_some());
            known.map_or(value.clone(), |task| history.task_label(task).into())
        }
        _ => value.clone(),
    };
    let rows: Vec<Vec<Value>> =
        rows.iter().map(|row| row.iter().zip(&columns).map(cell).collect()).collect();
    let title = match table.rows.len().checked_sub(html::ROWS + 1) {
        None => Cow::Borrowed(&*table.title),
        Some(_) => format!("{}: first rows of {}", table.title, table.rows.len()).into(),
    };
    Table { rows, name: format!("annex-{}", table.name), ..Table::new("", &title, columns) }
}

/// Whether people learn something from such cells: not where there are none, nor from the text of a
/// file.
fn says_something<'v>(cells: impl Iterator<Item = &'v Value>) -> bool {
    let (mut any, mut is_long) = (false, false);
    for value in cells {
        match value {
            Value::Unknown => {}
            Value::Text(text) => {
                any |= !text.is_empty();
                is_long |= text.contains('\n');
            }
            Value::List(values) => any |= !values.is_empty(),
            _ => any = true,
        }
    }
    any && !is_long
}

#[cfg(test)]
mod tests {
    use wastenot_model::report::Unit;
    use wastenot_model::{Annex, Builder, Head, Machine, Sink, Task};

    use super::*;

    fn table(name: &str, columns: &[&str], rows: Vec<Vec<Value>>) -> Annex {
        let unit = |key: &str| if key == "time_ns" { Unit::At } else { Unit::None };
        let columns: Vec<Column> =
            columns.iter().map(|key| Column::new(key, key, unit(key))).collect();
        let mut table = Table::new(name, name, columns);
        rows.into_iter().for_each(|row| table.push(row));
        Annex { table }
    }

    fn history(annexes: Vec<Annex>) -> History {
        let mut sink = Builder::new(Head::new(Machine::flat(2)));
        let name = sink.name("<i>");
        sink.task(Task::new(5, name));
        annexes.into_iter().for_each(|annex| sink.annex(annex));
        sink.finish()
    }

    #[test]
    fn steps_stand_first_with_their_times_and_the_names_of_tasks() {
        let none = Value::Unknown;
        let history = history(vec![
            table("situation", &["task", "text"], vec![vec![0u64.into(), "a\nb".into()]]),
            table(
                "steps",
                &["time_ns", "cpu", "task", "step", "kind"],
                vec![
                    vec![30u64.into(), none.clone(), none, "first".into(), "x".into()],
                    vec![35u64.into(), 1u64.into(), 0u64.into(), "second".into(), "y".into()],
                ],
            ),
        ]);
        let [before, after] = words(&history, Time(30)).map(|it| it.whole());
        assert_eq!(after, "");
        assert!(before.find("annex-steps") < before.find("annex-situation"), "{before}");
        assert!(before.contains("<tr data-from=\"5\" data-to=\"5\" tabindex=\"0\">"), "{before}");
        assert_eq!(before.matches("&lt;i&gt;:5").count(), 2);
        assert!(!before.contains("kind") && !before.contains("a\nb") && !before.contains('?'));
    }

    #[test]
    fn other_annexes_stand_behind_the_report_and_decisions_are_not_among_them() {
        let rows = (0..html::ROWS as u64 + 1).map(|n| vec![n.into(), Value::Unknown]).collect();
        let history = history(vec![
            table("tasks", &["tid", "group"], rows),
            table(Decision::ANNEX, &["time_ns"], vec![vec![1u64.into()]]),
        ]);
        let [before, after] = words(&history, Time(0)).map(|it| it.whole());
        assert_eq!(before, "");
        assert!(after.contains("data-name=\"annex-tasks\""), "{after}");
        assert!(after.contains("tasks: first rows of 1001") && !after.contains("JSON"));
        assert!(!after.contains("group") && !after.contains("annex-decisions"));
    }
}
