//! Task sets in CSV: one sporadic task per line.
//!
//! ```
//! let text = "wcet_us,period_us,deadline_us\n2000,10000,\n3000,15000,9000\n";
//! let tasks = wastenot_scenario::task_set::read("tasks.csv", text.as_bytes())?;
//! assert_eq!(tasks[0].deadline_us, 10_000);
//! let mut again = Vec::new();
//! wastenot_scenario::task_set::write(&tasks, &mut again).expect("memory");
//! assert_eq!(wastenot_scenario::task_set::read("again.csv", &again[..])?, tasks);
//! # Ok::<(), wastenot_scenario::Error>(())
//! ```

use std::io::{self, BufWriter, Read, Write};

use wastenot_model::shortened;
use wastenot_model::sporadic::{Sporadic, TaskSet};

use crate::error::Error;
use crate::table::{Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column { name: "wcet_us", needed: true },
    Column { name: "period_us", needed: true },
    Column { name: "deadline_us", needed: false },
    Column { name: "wss_kb", needed: false },
];
const WCET: usize = 0;
const PERIOD: usize = 1;
const DEADLINE: usize = 2;
const WSS: usize = 3;

/// Reads tasks: a header with the columns in any order, then one task per line. Times are whole
/// microseconds; a missing deadline is the period. `file` is the file's name in messages.
///
/// # Errors
/// The first error, with its line and column. A task whose cost exceeds its deadline is
/// not an error: such a set just cannot be scheduled.
pub fn read(file: &str, read: impl Read) -> Result<TaskSet, Error> {
    let mut table = Table::begin(file, read, COLUMNS)?;
    let mut tasks = Vec::new();
    while let Some(row) = table.next()? {
        if tasks.len() == TaskSet::MOST_TASKS {
            let what = format!("the set has more than {} tasks", TaskSet::MOST_TASKS);
            return Err(table.wrong(what, "give only the tasks of one machine"));
        }
        tasks.push(task(&row)?);
    }
    if tasks.is_empty() {
        let what = "the file has a header but no task";
        return Err(table.wrong(what, "write one task per line below the header"));
    }
    // Every number was checked above.
    TaskSet::new(tasks).map_err(|error| table.wrong(error.to_string(), "change this value"))
}

/// Writes tasks in the form that [`read`] reads.
///
/// # Errors
/// The errors of `write`.
pub fn write(tasks: &TaskSet, write: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(write);
    writeln!(out, "wcet_us,period_us,deadline_us,wss_kb")?;
    for it in tasks.iter() {
        writeln!(out, "{},{},{},{}", it.wcet_us, it.period_us, it.deadline_us, it.wss_kb)?;
    }
    out.flush()
}

fn task(row: &Row<'_>) -> Result<Sporadic, Error> {
    let needed = |column| match time(row, column)? {
        Some(time_us) => Ok(time_us),
        None => Err(row.wrong(
            column,
            "the cell is empty",
            "write a whole number of microseconds, at least 1",
        )),
    };
    let (wcet_us, period_us) = (needed(WCET)?, needed(PERIOD)?);
    let deadline_us = time(row, DEADLINE)?.unwrap_or(period_us);
    let wss_kb = match row.text(WSS) {
        None => 0,
        Some(text) => u32::try_from(whole(row, WSS, text)?).map_err(|_| {
            row.wrong(WSS, format_args!("{text} KiB is too large"), "write fewer than 2^32 KiB")
        })?,
    };
    Ok(Sporadic { wcet_us, period_us, deadline_us, wss_kb })
}

/// The time in a cell, in us, unless it is empty.
fn time(row: &Row<'_>, column: usize) -> Result<Option<u64>, Error> {
    let Some(text) = row.text(column) else { return Ok(None) };
    match whole(row, column, text)? {
        0 => Err(row.wrong(
            column,
            "the value is 0",
            "write a whole number of microseconds, at least 1",
        )),
        TaskSet::MOST_US.. => {
            let what = format_args!("{} us is longer than 12 days", shortened(text));
            let help = format!("write less than {} us", TaskSet::MOST_US);
            Err(row.wrong(column, what, help))
        }
        time_us => Ok(Some(time_us)),
    }
}

/// The whole number in a cell.
fn whole(row: &Row<'_>, column: usize, text: &str) -> Result<u64, Error> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that does not fit is longer than any allowed time.
        return Ok(text.parse().unwrap_or(u64::MAX));
    }
    let what = format!("`{}` is not a whole number", shortened(text));
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    let help = match number {
        Some(number) if number < 0.0 => "write 1 or more",
        Some(number) if number.fract() == 0.0 => {
            "write all digits, for example 1000 instead of 1e3"
        }
        Some(_) => "round the value: round wcet_us up, and period_us and deadline_us down",
        None => "write only digits; the name of the column gives the unit",
    };
    Err(row.wrong(column, what, help))
}
