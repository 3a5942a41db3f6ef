//! Reads the CSV with the results of a sweep.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;

use wastenot_model::shortened;

use crate::error::Error;
use crate::table::{Column, Row, Table};

/// The maximum number of lines in a file: more than a picture could show.
const MOST: usize = 1_000_000;

/// All columns, all required.
const COLUMNS: &[Column] = &[
    needed("cpus"),
    needed("tasks"),
    needed("total"),
    needed("utilizations"),
    needed("periods"),
    needed("deadlines"),
    needed("working_sets"),
    needed("curve"),
    needed("criterion"),
    needed("cache_delay"),
    needed("sets"),
    needed("accepted"),
    needed("unknown"),
    needed("share"),
    needed("share_low"),
    needed("share_high"),
    needed("share_max"),
    needed("utilization_mean"),
    needed("interrupts"),
    needed("latency"),
    needed("density"),
    needed("utilization"),
    needed("test"),
    needed("extrapolated"),
    needed("empty"),
    needed("guarantee"),
];
const CPUS: usize = 0;
const TASKS: usize = 1;
const TOTAL: usize = 2;
const UTILIZATIONS: usize = 3;
const PERIODS: usize = 4;
const DEADLINES: usize = 5;
const WORKING_SETS: usize = 6;
const CURVE: usize = 7;
const CRITERION: usize = 8;
const CACHE_DELAY: usize = 9;
const SETS: usize = 10;
const ACCEPTED: usize = 11;
const UNKNOWN: usize = 12;
const SHARE: usize = 13;
const SHARE_LOW: usize = 14;
const SHARE_HIGH: usize = 15;
const UTILIZATION: usize = 17;
const EXTRAPOLATED: usize = 23;
const EMPTY: usize = 24;
const GUARANTEE: usize = 25;

const fn needed(name: &'static str) -> Column {
    Column { name, needed: true }
}

/// The result of one curve at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The number of CPUs of the machine.
    pub cpus: u32,
    /// The number of tasks in a set; with a cap, its maximum.
    pub tasks: u32,
    /// The total utilization, or its cap, if it was given.
    pub total: Option<f64>,
    /// The distribution of utilizations.
    pub utilizations: Arc<str>,
    /// The distribution of periods.
    pub periods: Arc<str>,
    /// The distribution of deadlines.
    pub deadlines: Arc<str>,
    /// The distribution of working sets.
    pub working_sets: Arc<str>,
    /// The curve's name.
    pub curve: Arc<str>,
    /// The condition that a set must meet: `hard` or `soft`.
    pub criterion: Arc<str>,
    /// The factor of the table's cache delay; 0 without overheads.
    pub cache_delay: f64,
    /// The number of sets.
    pub sets: u32,
    /// The number of sets for which no test gave an answer.
    pub unknown: u32,
    /// The share of accepted sets.
    pub share: f64,
    /// The lower end of its interval.
    pub share_low: f64,
    /// The upper end.
    pub share_high: f64,
    /// The mean utilization of the sets.
    pub utilization: f64,
    /// The number of sets for which overheads were extrapolated beyond the measured points.
    pub extrapolated: u32,
    /// The number of sets without tasks.
    pub empty: u32,
    /// What acceptance guarantees.
    pub guarantee: Arc<str>,
}

impl Judged {
    /// Whether overheads were counted. Without overheads there is no cache delay either.
    pub fn has_overheads(&self) -> bool {
        self.guarantee.starts_with("none")
    }
}

/// Reads a file that `wastenot bounds sweep -o FILE.csv` wrote, in its order. `file` is the file's
/// name in messages.
///
/// # Errors
/// The first error, with its line and column.
pub fn results(file: &str, read: impl Read) -> Result<Vec<Judged>, Error> {
    let mut table = Table::begin(file, read, COLUMNS).map_err(foreign)?;
    let (mut words, mut all) = (Words::default(), Vec::new());
    while let Some(row) = table.next()? {
        if all.len() == MOST {
            let what = format!("the file has more than {MOST} lines");
            return Err(table.wrong(what, "keep the header and only the lines that you need"));
        }
        all.push(judged(&row, &mut words)?);
    }
    match all.is_empty() {
        true => Err(table.wrong("the file has a header but no point", MAKE)),
        false => Ok(all),
    }
}

/// How to make such a file.
const MAKE: &str = "write a result with `wastenot bounds sweep EXPERIMENT.toml -o FILE.csv` \
                    (docs/reference/sweep.md)";

/// The error that the header belongs to another kind of file.
fn foreign(error: Error) -> Error {
    match error {
        Error::Wrong { file, line, what, .. } => {
            let what = format!("the file is not a result of a sweep: {what}");
            Error::Wrong { file, line, what, help: MAKE.to_owned() }
        }
        other => other,
    }
}

/// Words, each stored once: a file repeats them on every line.
#[derive(Default)]
struct Words(BTreeSet<Arc<str>>);

impl Words {
    fn of(&mut self, row: &Row<'_>, column: usize) -> Result<Arc<str>, Error> {
        let Some(text) = row.text(column) else {
            return Err(row.wrong(column, "the cell is empty", MAKE));
        };
        if let Some(known) = self.0.get(text) {
            return Ok(known.clone());
        }
        let word: Arc<str> = text.into();
        self.0.insert(word.clone());
        Ok(word)
    }
}

fn judged(row: &Row<'_>, words: &mut Words) -> Result<Judged, Error> {
    let judged = Judged {
        cpus: whole(row, CPUS)?,
        tasks: whole(row, TASKS)?,
        total: row.text(TOTAL).map(|_| number(row, TOTAL)).transpose()?,
        utilizations: words.of(row, UTILIZATIONS)?,
        periods: words.of(row, PERIODS)?,
        deadlines: words.of(row, DEADLINES)?,
        working_sets: words.of(row, WORKING_SETS)?,
        curve: words.of(row, CURVE)?,
        criterion: words.of(row, CRITERION)?,
        cache_delay: number(row, CACHE_DELAY)?,
        sets: whole(row, SETS)?,
        unknown: whole(row, UNKNOWN)?,
        share: number(row, SHARE)?,
        share_low: number(row, SHARE_LOW)?,
        share_high: number(row, SHARE_HIGH)?,
        utilization: number(row, UTILIZATION)?,
        extrapolated: whole(row, EXTRAPOLATED)?,
        empty: whole(row, EMPTY)?,
        guarantee: words.of(row, GUARANTEE)?,
    };
    let (accepted, sets) = (whole(row, ACCEPTED)?, judged.sets);
    if u64::from(accepted) + u64::from(judged.unknown) > u64::from(sets) {
        let what = format_args!(
            "{accepted} accepted sets and {} unknown sets are together more than all {sets} sets",
            judged.unknown
        );
        return Err(row.wrong(
            ACCEPTED,
            what,
            "if you changed this line, undo the change; otherwise, run the sweep again",
        ));
    }
    let Judged { share, share_low: low, share_high: high, .. } = judged;
    if !(low <= share && share <= high && high <= 1.0) {
        let what =
            format_args!("the share {share} and its interval from {low} to {high} are not valid");
        return Err(row.wrong(
            SHARE,
            what,
            "if you changed this line, undo the change; otherwise, run the sweep again",
        ));
    }
    Ok(judged)
}

fn whole(row: &Row<'_>, column: usize) -> Result<u32, Error> {
    let text = row.text(column).unwrap_or_default();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or_else(|| {
        let what = format!("`{}` is not a whole number below 2^32", shortened(text));
        row.wrong(column, what, MAKE)
    })
}

/// A non-negative number, up to a maximum.
fn number(row: &Row<'_>, column: usize) -> Result<f64, Error> {
    /// The maximum of all numbers here: tasks, CPUs, totals.
    const GREATEST: f64 = 1e9;
    let text = row.text(column).unwrap_or_default();
    let number = text.parse().ok().filter(|number| (0.0..=GREATEST).contains(number));
    number.ok_or_else(|| {
        let what = format!("`{}` is not a number from 0 to 10^9", shortened(text));
        row.wrong(column, what, MAKE)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wastenot_model::Help;

    const LINE: &str = "2,4,1.5,randfixedsum,log-uniform 10-100 ms,implicit,4-512 KiB,\
                        \"mail, by post\",soft,1,5,3,1,0.6,0.23,0.88,0.8,1.499,0,0,0,0,1,2,0,\
                        none: averages";

    fn header() -> String {
        COLUMNS.iter().map(|column| column.name).collect::<Vec<_>>().join(",")
    }

    fn read(lines: &[&str]) -> Result<Vec<Judged>, Error> {
        results("r.csv", format!("{}\n{}\n", header(), lines.join("\n")).as_bytes())
    }

    #[test]
    fn a_line_is_what_it_says() {
        let judged = &read(&[LINE]).expect("a result")[0];
        assert_eq!((judged.cpus, judged.tasks, judged.total), (2, 4, Some(1.5)));
        assert_eq!((&*judged.curve, judged.sets, judged.unknown), ("mail, by post", 5, 1));
        assert_eq!((judged.share, judged.share_low, judged.share_high), (0.6, 0.23, 0.88));
        assert!(judged.has_overheads() && judged.utilization == 1.499);
        let free = LINE.replace("none: averages", "bounded tardiness").replace(",1.5,", ",,");
        let judged = &read(&[&free]).expect("a result")[0];
        assert!(!judged.has_overheads() && judged.total.is_none());
    }

    #[test]
    fn what_is_none_is_refused_with_its_line() {
        let other = results("t.csv", "wcet_us,period_us\n1,2\n".as_bytes()).expect_err("tasks");
        let said = other.to_string();
        assert!(
            said.starts_with("t.csv:1: the file is not a result of a sweep: unknown column"),
            "{said}"
        );
        assert!(other.help().contains("bounds sweep"), "{}", other.help());
        for (line, what) in [
            (String::new(), "the file has a header but no point"),
            (
                LINE.replace(",5,3,1,", ",5,5,1,"),
                "r.csv:2: accepted: 5 accepted sets and 1 unknown sets are together more than all \
                 5 sets",
            ),
            (
                LINE.replace("0.23", "0.7"),
                "share: the share 0.6 and its interval from 0.7 to 0.88 are not valid",
            ),
            (LINE.replace("0.6,", "NaN,"), "share: `NaN` is not a number"),
            (LINE.replace("2,4,", "2,-4,"), "tasks: `-4` is not a whole number"),
            (LINE.replace("2,4,", "2,+4,"), "tasks: `+4` is not a whole number"),
            (LINE.replace(",1.5,", ",1e99,"), "total: `1e99` is not a number"),
            (LINE.replace("implicit", ""), "deadlines: the cell is empty"),
            (LINE.replace(",implicit", ""), "25 cells, but the header has 26"),
        ] {
            let error = read(&[&line]).expect_err(what);
            assert!(error.to_string().contains(what), "{error}");
            assert!(!error.help().is_empty());
        }
    }
}
