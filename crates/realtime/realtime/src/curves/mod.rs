//! The result of a sweep as a picture: which lines are drawn, over which column.

mod sheet;

use std::fmt::Display;
use std::str::FromStr;

use wastenot_draw::Chart;
use wastenot_model::{Help, suggest_of};
use wastenot_scenario::sweep::Judged;

use self::sheet::{Sheet, cell};

/// The picture of the lines that have what `only` asks for, over this column or the best one.
///
/// # Errors
/// No line has it, or lines do not make one picture.
pub fn chart(
    name: &str,
    lines: &[Judged],
    only: &[Only],
    over: Option<Column>,
) -> Result<Chart, Undrawable> {
    Sheet::new(chosen(lines, only)?, over)?.chart(name)
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct Undrawable {
    what: String,
    help: String,
}

impl Undrawable {
    fn new(what: impl Display, help: impl Display) -> Undrawable {
        Undrawable { what: what.to_string(), help: help.to_string() }
    }
}

impl Help for Undrawable {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        self.help.as_str().into()
    }
}

/// What tells lines of a result apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// CPUs of the machine.
    Cpus,
    /// Tasks of a set.
    Tasks,
    /// Not in the file, but what machines of different size have in common.
    TasksPerCpu,
    /// The total utilization, or its cap.
    Total,
    /// The distribution of utilizations.
    Utilizations,
    /// The same of periods.
    Periods,
    /// The same of deadlines.
    Deadlines,
    /// The same of working sets.
    WorkingSets,
    /// The name of the curve.
    Curve,
    /// Hard or soft.
    Criterion,
    /// The factor of the table's cache delay.
    CacheDelay,
}

impl Column {
    /// Those of the file.
    const ALL: [Column; 10] = [
        Column::Cpus,
        Column::Tasks,
        Column::Total,
        Column::Utilizations,
        Column::Periods,
        Column::Deadlines,
        Column::WorkingSets,
        Column::Curve,
        Column::Criterion,
        Column::CacheDelay,
    ];
    /// Those that may be on an axis.
    const NUMBERS: [Column; 4] = [Column::Total, Column::Tasks, Column::Cpus, Column::CacheDelay];

    /// As the file has it.
    pub fn name(self) -> &'static str {
        match self {
            Column::Cpus => "cpus",
            Column::Tasks => "tasks",
            Column::TasksPerCpu => "tasks_per_cpu",
            Column::Total => "total",
            Column::Utilizations => "utilizations",
            Column::Periods => "periods",
            Column::Deadlines => "deadlines",
            Column::WorkingSets => "working_sets",
            Column::Curve => "curve",
            Column::Criterion => "criterion",
            Column::CacheDelay => "cache_delay",
        }
    }

    /// One of numbers, as typed.
    ///
    /// # Errors
    /// There is none of this name, or it is none of numbers.
    pub fn axis(text: &str) -> Result<Column, String> {
        Column::find(text, &Column::NUMBERS)
    }

    fn find(typed: &str, among: &[Column]) -> Result<Column, String> {
        let names = || among.iter().map(|column| column.name());
        let found = among.iter().find(|column| column.name() == typed).copied();
        found.ok_or_else(|| suggest_of(typed, names(), "use one of the columns"))
    }
}

/// `cpus=8`: what a column shall have.
#[derive(Clone, Debug)]
pub struct Only {
    /// In which.
    pub column: Column,
    /// Which.
    pub value: String,
}

impl FromStr for Only {
    type Err = String;

    fn from_str(text: &str) -> Result<Only, String> {
        let (column, value) =
            text.split_once('=').ok_or("write COLUMN=VALUE, for example `cpus=8`")?;
        let column = Column::find(column.trim(), &Column::ALL)?;
        Ok(Only { column, value: value.trim().to_owned() })
    }
}

/// The lines that have what was asked for.
fn chosen<'l>(all: &'l [Judged], only: &[Only]) -> Result<Vec<&'l Judged>, Undrawable> {
    let mut lines: Vec<&Judged> = all.iter().collect();
    for Only { column, .. } in only {
        // Several values of a column: any of them.
        let own = only.iter().filter(|it| it.column == *column);
        let values: Vec<&str> = own.map(|it| it.value.as_str()).collect();
        let kept = lines.iter().filter(|line| values.iter().any(|value| has(line, *column, value)));
        let kept: Vec<&Judged> = kept.copied().collect();
        if kept.is_empty() {
            let what = format!("no line of the file has {}={}", column.name(), values.join(" or "));
            return Err(Undrawable::new(
                what,
                format!("use one of the values {}", known(&lines, *column)),
            ));
        }
        lines = kept;
    }
    Ok(lines)
}

/// Whether a line has this value; numbers may be written otherwise.
fn has(line: &Judged, column: Column, value: &str) -> bool {
    if column == Column::CacheDelay && !line.has_overheads() {
        return true; // it has none, so that it goes with any
    }
    let cell = cell(line, column);
    let number = |text: &str| text.parse::<f64>().ok();
    cell == value || number(&cell).is_some_and(|is| Some(is) == number(value))
}

/// What a column has, some of it.
fn known(lines: &[&Judged], column: Column) -> String {
    const SHOWN: usize = 12;
    let mut values: Vec<String> = Vec::new();
    for line in lines {
        let value = cell(line, column);
        if !values.contains(&value) {
            values.push(value);
        }
        if values.len() > SHOWN {
            values[SHOWN] = "...".to_owned();
            break;
        }
    }
    values.join(", ")
}
