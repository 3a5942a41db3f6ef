//! The overheads in LITMUS^RT as Feather-Trace's tools print them: samples (`ft2csv`), or
//! statistics of many files of samples (`ft-compute-stats`).
//!
//! A line of samples is `start, end, length`, in cycles; for latencies `0, 0, length`, in ns. The
//! file's name contains the kind of overhead:
//! `overheads_scheduler=GSN-EDF_m=64_overhead=SCHED.csv`. Statistics have a header, which may begin
//! with `#`, and a line for each file.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

use wastenot_model::{Distribution, shortened};

use super::{By, Figure, LONGEST_NS};
use crate::error::Error;

/// The maximum length of a line, in bytes.
pub(crate) const LINE: u64 = 4096;
/// The maximum number of lines in a file of statistics.
const MOST: usize = 100_000;

/// The form of the name of a file of samples.
const NAME: &str = "overheads_scheduler=GSN-EDF_m=64_overhead=SCHED.csv";

/// A file, line by line.
struct Lines<'n, R> {
    file: &'n str,
    read: BufReader<R>,
    line: usize,
}

impl<'n, R: Read> Lines<'n, R> {
    fn new(file: &'n str, read: R) -> Lines<'n, R> {
        Lines { file, read: BufReader::new(read), line: 0 }
    }

    /// The cells of the next line that is not empty.
    fn next(&mut self) -> Result<Option<Vec<String>>, Error> {
        let mut bytes = Vec::new();
        loop {
            self.line += 1;
            bytes.clear();
            let read = self.read.by_ref().take(LINE + 1).read_until(b'\n', &mut bytes);
            if let Err(error) = read {
                let what = format!("the file cannot be read further: {error}");
                return Err(
                    self.wrong(what, "check that the path is a file and that you may read it")
                );
            }
            if bytes.is_empty() {
                return Ok(None);
            }
            if bytes.len() as u64 > LINE {
                let what = format!("the line is longer than {LINE} bytes");
                return Err(
                    self.wrong(what, "give the file exactly as Feather-Trace's tools wrote it")
                );
            }
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim_start_matches('\u{feff}').trim();
            if !text.is_empty() {
                return Ok(Some(text.split(',').map(|cell| cell.trim().to_owned()).collect()));
            }
        }
    }

    fn wrong(&self, what: impl Into<String>, help: impl Into<String>) -> Error {
        let (file, line) = (self.file.to_owned(), self.line.max(1));
        Error::Wrong { file, line, what: what.into(), help: help.into() }
    }

    /// Cycles as a time.
    fn ns(&self, cycles: f64, cycles_per_us: Option<f64>) -> Result<u64, Error> {
        let Some(per_us) = cycles_per_us else {
            let help = "give the clock rate of the machine: `--cycles-per-us 2000` means 2 GHz";
            return Err(self.wrong("the file counts cycles, and the clock rate is unknown", help));
        };
        self.some_ns(cycles * 1_000.0 / per_us)
    }

    fn some_ns(&self, ns: f64) -> Result<u64, Error> {
        if (0.0..LONGEST_NS as f64).contains(&ns) {
            return Ok(ns as u64);
        }
        Err(self.wrong(
            "no overhead has this length",
            "check whether the length is in cycles or in microseconds",
        ))
    }
}

/// The settings in the name of a file: `key=value`, separated by underscores.
fn told(file: &str) -> BTreeMap<&str, &str> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    name.split('_').filter_map(|part| part.split_once('=')).collect()
}

fn cpus(text: &str) -> Option<u32> {
    text.parse().ok().filter(|cpus| (1..=8_192).contains(cpus))
}

/// Whether samples are in ns, as latencies are; all others are in cycles.
fn is_latency(kind: &str) -> bool {
    kind.ends_with("-LATENCY")
}

/// Samples of one kind, from `ft2csv`.
pub(crate) fn samples(
    file: &str,
    read: impl Read,
    cycles_per_us: Option<f64>,
) -> Result<Vec<Figure>, Error> {
    let mut lines = Lines::new(file, read);
    let told = told(file);
    let of = |key: &str| told.get(key).copied().unwrap_or_default();
    let (kind, Some(cpus)) = (of("overhead").to_owned(), cpus(of("m"))) else {
        let what = "the file name lacks the number of CPUs of the measurement, such as `m=64`";
        return Err(lines.wrong(what, format!("rename the file as in `{NAME}`")));
    };
    if kind.is_empty() {
        let what = "the file name lacks the measured overhead (`overhead=`)";
        return Err(lines.wrong(what, format!("rename the file as in `{NAME}`")));
    }
    let mut lengths = Distribution::default();
    while let Some(cells) = lines.next()? {
        let [_, _, length] = cells.as_slice() else {
            let help = "write each line as `ft2csv` does: `start, end, length`";
            return Err(
                lines.wrong(format!("the line has {} cells instead of 3", cells.len()), help)
            );
        };
        let Ok(length) = length.parse::<u64>() else {
            let what = format!("`{}` is not a valid length", shortened(length));
            return Err(lines.wrong(what, "write each line as `ft2csv` does: `start, end, length`"));
        };
        lengths.add(match is_latency(&kind) {
            true => lines.some_ns(length as f64)?,
            false => lines.ns(length as f64, cycles_per_us)?,
        });
    }
    Ok(vec![Figure {
        by: By::FeatherTrace,
        machine: of("host").to_owned(),
        design: of("scheduler").to_owned(),
        kind,
        cpus,
        sockets: None,
        samples: lengths.count,
        mean_ns: lengths.mean().unwrap_or(0),
        median_ns: lengths.quantile(0.5).unwrap_or(0),
        max_ns: lengths.max,
    }])
}

/// The columns of statistics that are read.
const COLUMNS: [&str; 8] =
    ["Plugin", "#cores", "Overhead", "Unit", "#samples", "max", "avg", "med"];

/// Statistics of files of samples, from `ft-compute-stats`.
pub(crate) fn statistics(
    file: &str,
    read: impl Read,
    cycles_per_us: Option<f64>,
) -> Result<Vec<Figure>, Error> {
    let mut lines = Lines::new(file, read);
    let header = lines.next()?.unwrap_or_default();
    let is = |cell: &str, name: &str| cell == name || cell.trim_start_matches(['#', ' ']) == name;
    let mut places = [0; COLUMNS.len()];
    for (place, name) in places.iter_mut().zip(COLUMNS) {
        let Some(found) = header.iter().position(|cell| is(cell, name)) else {
            let help =
                format!("use one of the columns of `ft-compute-stats`: {}", COLUMNS.join(", "));
            return Err(lines.wrong(format!("the file has no column `{name}`"), help));
        };
        *place = found;
    }
    let mut all = Vec::new();
    while let Some(cells) = lines.next()? {
        if all.len() == MOST {
            return Err(
                lines.wrong(format!("the file has more than {MOST} lines"), "give fewer files")
            );
        }
        let cell = |n: usize| cells.get(places[n]).map_or("", String::as_str);
        let Some(cpus) = cpus(cell(1)) else {
            let what = format!("#cores: `{}` is not a valid number of CPUs", shortened(cell(1)));
            return Err(lines.wrong(
                what,
                "write the number of CPUs into the file names, such as `m=64`: `ft-compute-stats` \
                 reads the number there",
            ));
        };
        let number = |n: usize| {
            let number = cell(n).parse::<f64>().ok().filter(|number| number.is_finite());
            let what = || format!("{}: `{}` is not a number", COLUMNS[n], shortened(cell(n)));
            number.ok_or_else(|| {
                lines.wrong(what(), "give the file exactly as `ft-compute-stats` wrote it")
            })
        };
        let ns = |n: usize| match cell(3) {
            "microseconds" => lines.some_ns(number(n)? * 1_000.0),
            "cycles" => lines.ns(number(n)?, cycles_per_us),
            unit => {
                let what = format!("Unit: `{}` is not a known unit", shortened(unit));
                Err(lines.wrong(what, "use cycles or microseconds"))
            }
        };
        all.push(Figure {
            by: By::FeatherTrace,
            machine: String::new(),
            design: cell(0).to_owned(),
            kind: cell(2).to_owned(),
            cpus,
            sockets: None,
            samples: number(4)? as u64,
            mean_ns: ns(6)?,
            median_ns: ns(7)?,
            max_ns: ns(5)?,
        });
    }
    Ok(all)
}
