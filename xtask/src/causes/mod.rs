//! docs/causes.md: how well `check` finds causes, held against truth by intervention.
//!
//! A fault is planted in a simulation that is drawn by chance (`faults`, `setup`). The same
//! simulation runs with the fault and with only that fault off, and what is lost with it and not
//! without it is the fault's (`truth`). `check` sees the Histories without anything that gives the
//! answer away, and is scored by nanoseconds (`score`, `page`).

mod faults;
mod page;
mod score;
mod setup;
mod truth;

use std::fs;
use std::path::Path;

use indicatif::ProgressBar;
use rayon::prelude::*;

use faults::FAULTS;
use truth::Case;

/// The seed of docs/causes.md.
pub(crate) const SEED: &str = "1";
/// How often each fault is planted.
const TIMES: u64 = 60;
/// Where the figures of all cases are kept, to be looked at.
const CASES: &str = "target/causes";

/// Runs all cases of `seed` and writes the page. What came of it, in a line.
pub(crate) fn write(seed: &str, output: &Path) -> Result<String, String> {
    let seed: u64 = seed.parse().map_err(|_| format!("{seed}: a seed is a whole number"))?;
    let (cases, failed) = cases(seed, TIMES);
    let write = |path: &Path, text: String| {
        fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    fs::create_dir_all(CASES).map_err(|error| format!("{CASES}: {error}"))?;
    write(&Path::new(CASES).join(format!("{seed}.csv")), page::csv(&cases))?;
    write(output, page::page(seed, &cases, &failed))?;
    Ok(format!("{}: {} cases; {}", output.display(), cases.len(), page::verdict(&cases)))
}

/// Every fault, planted so many times; and which runs did not end as they should.
fn cases(seed: u64, times: u64) -> (Vec<Case>, Vec<String>) {
    let plans = (0..times).flat_map(|number| (0..FAULTS.len()).map(move |fault| (fault, number)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_causes_took_sums_up_to_what_was_lost_in_every_case() {
        // `Case::run` fails where it does not.
        let (cases, failed) = cases(1, 1);
        assert!(failed.is_empty(), "{}", failed.join("\n"));
        assert_eq!(cases.len(), FAULTS.len());
    }
}
