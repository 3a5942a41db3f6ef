//! Overheads in CSV: the cost of each kernel operation by the number of tasks, as measured.
//!
//! ```text
//! kind,at,max_us,average_us
//! schedule,40,22.5,3.1
//! schedule,80,41,3.4
//! ipi,40,4,3.5
//! cache_delay,64,71,65
//! ```
//!
//! `at` is the number of tasks; for `cache_delay` and `cache_load` it is the working set in KiB. It
//! may be empty if a cost depends on nothing. Absent kinds cost nothing; at least one must be
//! present. `quantum` is not a cost but the period of the tick, by default 1000 us. Two more
//! columns, `implementation` and `cpus`, may name the implementation and the number of CPUs; all
//! rows must agree.

use std::io::Read;

use wastenot_model::report::counted;
use wastenot_model::{shortened, suggest_of};

use crate::error::Error;
use crate::table::{self, Column, Row};

const COLUMNS: &[Column] = &[
    Column { name: "kind", needed: true },
    Column { name: "at", needed: true },
    Column { name: "max_us", needed: true },
    Column { name: "average_us", needed: false },
    Column { name: "implementation", needed: false },
    Column { name: "cpus", needed: false },
];
const KIND: usize = 0;
const AT: usize = 1;
const MAX: usize = 2;
const AVERAGE: usize = 3;
const IMPLEMENTATION: usize = 4;
const CPUS: usize = 5;

/// The kinds, in the order in which a job meets them.
pub const KINDS: [&str; 11] = [
    "schedule",
    "switch",
    "tick",
    "release",
    "ipi",
    "latency",
    "handler",
    "request",
    "cache_delay",
    "cache_load",
    "quantum",
];

/// The maximum number of rows in a file.
const MOST: usize = 100_000;
/// The longest overhead, in ns: a quarter of an hour.
const LONGEST_NS: u64 = 1 << 40;

/// One measured point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overhead {
    /// One of [`KINDS`].
    pub kind: &'static str,
    /// The number of tasks or of KiB; `None` if the cost depends on nothing.
    pub at: Option<u64>,
    /// The maximum, in ns.
    pub max_ns: u64,
    /// The average, in ns, if it is known.
    pub average_ns: Option<u64>,
}

/// The measured overheads, and where they were measured, if that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The implementation of the scheduler.
    pub implementation: Option<String>,
    /// The number of CPUs of the machine, including those that run no task.
    pub cpus: Option<u32>,
    /// The rows, in the order of the table.
    pub rows: Vec<Overhead>,
}

impl Table {
    /// The table's origin, in words, unless it may be of this implementation on this many CPUs.
    pub fn stranger(&self, implementation: &str, cpus: u32) -> Option<String> {
        let own = self.implementation.as_deref().unwrap_or(implementation);
        let is_own = own == implementation && self.cpus.unwrap_or(cpus) == cpus;
        let on = |cpus: u32| counted(cpus, "CPU");
        (!is_own).then(|| match self.cpus {
            Some(cpus) if self.implementation.is_some() => format!("{own} on {}", on(cpus)),
            Some(cpus) => on(cpus),
            None => own.to_owned(),
        })
    }
    /// Whether both the implementation and the number of CPUs are known.
    pub fn is_told(&self) -> bool {
        self.implementation.is_some() && self.cpus.is_some()
    }
}

/// Reads overheads. `file` is its name in messages.
///
/// # Errors
/// The first error, with its line and column.
pub fn read(file: &str, read: impl Read) -> Result<Table, Error> {
    let mut table = table::Table::begin(file, read, COLUMNS)?;
    let (mut implementation, mut cpus) = (None, None);
    let mut all: Vec<Overhead> = Vec::new();
    // By kind: the points at which it was measured.
    let mut seen: [std::collections::BTreeSet<Option<u64>>; KINDS.len()] = Default::default();
    while let Some(row) = table.next()? {
        if all.len() == MOST {
            return Err(
                table.wrong(format!("the table has more than {MOST} rows"), "keep fewer rows")
            );
        }
        let (kind, overhead) = overhead(&row)?;
        let text = row.text(IMPLEMENTATION).map(str::to_owned);
        one(&row, IMPLEMENTATION, &mut implementation, text)?;
        one(&row, CPUS, &mut cpus, cpus_of(&row)?)?;
        let places = &mut seen[kind];
        if places.contains(&overhead.at) {
            let what = format!("another row of `{}` has the same value in `at`", overhead.kind);
            return Err(row.wrong(AT, what, "remove one of the two rows"));
        }
        let others =
            if overhead.at.is_none() { !places.is_empty() } else { places.contains(&None) };
        if others {
            let what = format!(
                "some rows of {} have a value in the column `at`, but other rows have no value \
                 there",
                overhead.kind
            );
            return Err(row.wrong(
                AT,
                what,
                "if the overhead is the same for every value of `at`, keep only the row in which \
                 `at` is empty",
            ));
        }
        places.insert(overhead.at);
        all.push(overhead);
    }
    // A table with only a quantum would count no cost, and every kernel has costs.
    if all.iter().all(|row| row.kind == "quantum") {
        let help = "write a row for each measured kind of overhead, for example: schedule,,9";
        return Err(table.wrong("the table has no overhead", help));
    }
    Ok(Table { implementation, cpus, rows: all })
}

/// Writes a table that [`read`] reads. Each line of `about` becomes a comment above it.
pub fn write(about: &str, table: &Table) -> String {
    let us = |ns: u64| format!("{}.{:03}", ns / 1_000, ns % 1_000);
    let about = about.lines().map(|line| format!("# {line}\n"));
    let header = COLUMNS.iter().map(|column| column.name).collect::<Vec<_>>().join(",") + "\n";
    let cpus = table.cpus.map_or_else(String::new, |cpus| cpus.to_string());
    let own = format!("{},{cpus}", table.implementation.as_deref().unwrap_or_default());
    let rows = table.rows.iter().map(|row| {
        let at = row.at.map_or_else(String::new, |at| at.to_string());
        let average = row.average_ns.map_or_else(String::new, us);
        format!("{},{at},{},{average},{own}\n", row.kind, us(row.max_ns))
    });
    about.chain([header]).chain(rows).collect()
}

fn overhead(row: &Row<'_>) -> Result<(usize, Overhead), Error> {
    let name = row.text(KIND).unwrap_or_default();
    let Some(kind) = KINDS.iter().position(|kind| *kind == name) else {
        let help = suggest_of(name, KINDS, "use one of the kinds");
        return Err(row.wrong(KIND, format_args!("there is no kind `{}`", shortened(name)), help));
    };
    let at = match row.text(AT) {
        None => None,
        Some(text) => Some(text.parse::<u32>().map(u64::from).map_err(|_| {
            let what = format!("`{}` is not a valid number of tasks or KiB", shortened(text));
            row.wrong(AT, what, "write a whole number, or leave the cell empty")
        })?),
    };
    let Some(max_ns) = ns(row, MAX)? else {
        return Err(row.wrong(MAX, "the cell is empty", "write the longest measured time, in us"));
    };
    if KINDS[kind] == "quantum" && max_ns < 1_000 {
        let what = "the period of the tick is below 1 us";
        return Err(row.wrong(MAX, what, "write the period in us, for example 1000 for 1 kHz"));
    }
    let average_ns = ns(row, AVERAGE)?;
    if average_ns.is_some_and(|average| average > max_ns) {
        return Err(row.wrong(
            AVERAGE,
            "the average is above the maximum",
            "check whether the two columns are swapped",
        ));
    }
    Ok((kind, Overhead { kind: KINDS[kind], at, max_ns, average_ns }))
}

/// The origin in a row: it must equal that of the rows before it, or be absent.
fn one<T: PartialEq + std::fmt::Display>(
    row: &Row<'_>,
    column: usize,
    own: &mut Option<T>,
    said: Option<T>,
) -> Result<(), Error> {
    match (said, &own) {
        (Some(said), Some(own)) if said != *own => {
            let what = format!(
                "the rows above belong to `{own}`, but this row belongs to `{}`",
                shortened(row.text(column).unwrap_or_default())
            );
            Err(row.wrong(
                column,
                what,
                "keep a separate table for each implementation and machine",
            ))
        }
        (Some(said), None) => {
            *own = Some(said);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn cpus_of(row: &Row<'_>) -> Result<Option<u32>, Error> {
    let Some(text) = row.text(CPUS) else { return Ok(None) };
    let cpus = text.parse().ok().filter(|&cpus: &u32| cpus > 0);
    cpus.map(Some).ok_or_else(|| {
        let what = format!("`{}` is not a valid number of CPUs", shortened(text));
        row.wrong(CPUS, what, "write the number of CPUs of the machine, or leave the cell empty")
    })
}

/// A length in us, with up to three decimals, in ns.
fn ns(row: &Row<'_>, column: usize) -> Result<Option<u64>, Error> {
    let Some(text) = row.text(column) else { return Ok(None) };
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || decimals.len() > 3 {
        let what = format!("`{}` is not a valid length in us", shortened(text));
        return Err(row.wrong(
            column,
            what,
            "write digits with at most three decimals, for example 22.5",
        ));
    }
    let long = || {
        row.wrong(
            column,
            format_args!("{} us is too long for an overhead", shortened(text)),
            "check that the value is in us",
        )
    };
    let whole: u64 = whole.parse().map_err(|_| long())?;
    let rest: u64 = format!("{decimals:0<3}").parse().map_err(|_| long())?;
    let ns = whole.checked_mul(1_000).and_then(|ns| ns.checked_add(rest));
    ns.filter(|&ns| ns < LONGEST_NS).ok_or_else(long).map(Some)
}
