//! docs/results/causes.md: how well `check` finds causes, held against truth by intervention.
//!
//! A fault is planted in a simulation that is drawn by chance (`faults`, `setup`). The same
//! simulation runs with the fault and with only that fault off, and what is lost with it and not
//! without it is the fault's (`truth`). `check` sees the Histories without anything that gives the
//! answer away, and is scored by nanoseconds (`score`, `page`).

mod faults;
mod misses;
mod page;
mod score;
mod setup;
/// As pages have it.
fn seconds(ns: f64) -> String {
    format!("{:.2}", ns / 1e9)
}

#[cfg(test)]
mod tests;
mod truth;

use std::fs;
use std::path::Path;

use indicatif::ProgressBar;
use rayon::prelude::*;

use faults::FAULTS;
use setup::Draw;
use truth::Case;

/// The seed of docs/results/causes.md, whose cases were not looked at before the rules were
/// written.
pub(crate) const SEED: &str = "5";
/// Those whose cases were.
const LOOKED_AT: &str = "Seeds 1, 2 and 3";
/// Where the figures of all cases are kept, to be looked at.
const CASES: &str = "target/causes";

/// Runs the cases of `seed`, of each fault so many at most, and writes the page. What came of it,
/// in a line.
pub(crate) fn write(seed: &str, output: &Path, times: u64) -> Result<String, String> {
    let seed = number(seed)?;
    let (cases, failed) = cases(seed, times);
    let write = |path: &Path, text: String| {
        fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    fs::create_dir_all(CASES).map_err(|error| format!("{CASES}: {error}"))?;
    write(&Path::new(CASES).join(format!("{seed}.csv")), page::csv(&cases))?;
    write(output, page::page(seed, &cases, &failed))?;
    Ok(format!("{}: {} cases; {}", output.display(), cases.len(), page::verdict(&cases)))
}

/// The two scenarios of a case: with the fault, and without it.
pub(crate) fn show(seed: &str, fault: &str, case: &str) -> Result<String, String> {
    let known = FAULTS.iter().position(|known| known.name == fault);
    let names: Vec<&str> = FAULTS.iter().map(|known| known.name).collect();
    let fault = known.ok_or_else(|| format!("{fault}: the faults are {}", names.join(", ")))?;
    let mut draw = Draw::new(number(seed)?, fault as u32, number(case)?);
    let [on, off] = (FAULTS[fault].plant)(&mut draw).map(|setup| setup.text());
    Ok(format!("{on}\n# The same without the fault, seed {}\n{off}", draw.seed()))
}

pub(crate) fn number(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("{word}: this is no whole number"))
}

/// Every fault, planted as often as it says but at most so many times; and which runs did not end
/// as they should.
fn cases(seed: u64, times: u64) -> (Vec<Case>, Vec<String>) {
    let faults = FAULTS.iter().enumerate();
    let plans =
        faults.flat_map(|(n, fault)| (0..fault.times.min(times)).map(move |case| (n, case)));
    let plans: Vec<(usize, u64)> = plans.collect();
    let bar = ProgressBar::new(plans.len() as u64);
    let run = |&(fault, number): &(usize, u64)| {
        let case = Case::run(&FAULTS[fault], fault as u32, seed, number);
        bar.inc(1);
        case
    };
    let ran: Vec<Result<Case, String>> = plans.par_iter().map(run).collect();
    bar.finish_and_clear();
    let (mut cases, mut failed) = (Vec::new(), Vec::new());
    for case in ran {
        match case {
            Ok(case) => cases.push(case),
            Err(error) => failed.push(error),
        }
    }
    (cases, failed)
}
