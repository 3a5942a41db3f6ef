//! Schedulers of Linux with one decision wrong, chosen by a seed: how many of them the search
//! finds, and how many genomes at random, with equally many trials.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use wastenot_experiment::{MUTANT, label};
use wastenot_hunt::search::{Arm, Question};
use wastenot_realtime::{paired, wilson};
use wastenot_scenario::scenario::Choice;

use super::hunt;
use crate::parts::put;

/// The schedulers, each with as many mutants.
const SCHEDULERS: [&str; 2] = ["cfs-6.1", "eevdf-6.12"];
/// Mutants of each. Seeds up to half of them were looked at while the search was written.
const MUTANTS: u64 = 25;
/// Trials of each hunt, half of them at random.
const TRIALS: u64 = 2048;

/// Hunts each, held against the scheduler without the error, and writes a table of `page`. The
/// verdict in a line.
pub(crate) fn write(page: &Path) -> Result<String, String> {
    let mut text = String::from("| scheduler | it | trials | at random |\n|---|---|---|---|\n");
    let (mut searched, mut drawn, mut all) = (0, 0, 0);
    let (mut only_searched, mut only_drawn) = (0, 0);
    for name in SCHEDULERS {
        for seed in 1..=MUTANTS {
            let set = vec![(MUTANT.to_owned(), seed.to_string())];
            let choice = Choice { tunables: set, ..Choice::named(name) };
            let against = Some(Choice::named(name));
            let question = Question {
                against,
                trials: TRIALS,
                findings: 1,
                both: true,
                ..Question::of(choice)
            };
            let (outcome, _) = hunt(&question, Duration::MAX)?;
            let after = |arm: &Arm| {
                let found = arm.found.first();
                found.map_or("none".to_owned(), |(_, trials)| trials.to_string())
            };
            let found = outcome.shrunk.first();
            let what = found.map_or("", |it| it.name());
            all += 1;
            let [by_search, by_random] =
                [&outcome.search, &outcome.random].map(|arm| !arm.found.is_empty());
            searched += u64::from(by_search);
            drawn += u64::from(by_random);
            only_searched += u64::from(by_search && !by_random);
            only_drawn += u64::from(by_random && !by_search);
            let (search, random) = (after(&outcome.search), after(&outcome.random));
            let _ = writeln!(
                text,
                "| {seed}: {} | {what} | {search} | {random} |",
                label(&question.choice)
            );
            put(page, &[("mutants", text.clone())])?;
        }
    }
    let (search, random) = (share(searched, all), share(drawn, all));
    let _ = writeln!(text, "| **found, of {all}** | | {search} | {random} |");
    let chance = paired(only_searched, only_drawn);
    let _ = writeln!(
        text,
        "| only by one of them | p = {chance:.3} | {only_searched} | {only_drawn} |"
    );
    put(page, &[("mutants", text)])?;
    Ok(format!("{}: the search found {searched} of {all}, random work {drawn}", page.display()))
}

/// `found` of `of`, with the interval that has it with 95 %.
fn share(found: u64, of: u64) -> String {
    let (low, high) = wilson(found, of);
    format!("{found} ({:.0} to {:.0} %)", low * 100.0, high * 100.0)
}
