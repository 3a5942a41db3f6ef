//! Schedulers of Linux with one decision wrong, chosen by a seed: how many of them the search
//! finds, and how many genomes at random, with equally many trials.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use wastenot_hunt::search::{Arm, Question};
use wastenot_realtime::{paired, wilson};
use wastenot_scenario::scenario::Choice;

use super::hunt;
use super::wrong::{Wrong, choice};
use crate::parts::put;

/// The schedulers, each with as many mutants.
const SCHEDULERS: [&str; 2] = ["cfs-6.1", "eevdf-6.12"];
/// Mutants of each, no two alike. Seeds up to 12 were looked at while the search was written.
const MUTANTS: usize = 25;
/// Trials of each hunt, half of them at random.
const TRIALS: u64 = 4096;
/// After so many trials of each arm they are compared.
const BUDGETS: [u64; 4] = [8, 64, 512, TRIALS / 2];

/// Hunts each, held against the scheduler without the error, and writes the tables of `page`. The
/// verdict in a line.
pub(crate) fn write(page: &Path) -> Result<String, String> {
    let head = "| mutant | finding | trials, search | trials, random |\n|---|---|---|---|\n";
    let mut text = head.to_owned();
    // After how many trials the search and random work found each.
    let mut all: Vec<[Option<u64>; 2]> = Vec::new();
    for name in SCHEDULERS {
        for (number, wrong) in mutants() {
            let question = Question {
                against: Some(Choice::named(name)),
                // Hunts that draw the same genomes would be one hunt.
                seed: all.len() as u64 + 1,
                trials: TRIALS,
                findings: 1,
                both: true,
                ..Question::of(choice(name, number))
            };
            let (outcome, _) = hunt(&question, Duration::MAX)?;
            let after = |arm: &Arm| arm.found.first().map(|(_, trials)| *trials);
            let found = [after(&outcome.search), after(&outcome.random)];
            let [search, random] = found.map(|it| it.map_or("none".into(), |it| it.to_string()));
            let what = outcome.shrunk.first().map_or("", |it| it.name());
            let _ = writeln!(text, "| {number}: {name} ({wrong}) | {what} | {search} | {random} |");
            put(page, &[("mutants", text.clone())])?;
            all.push(found);
        }
    }
    put(page, &[("mutants-found", compared(&all))])?;
    let found = |arm: usize| all.iter().filter(|it| it[arm].is_some()).count();
    let (search, random, of) = (found(0), found(1), all.len());
    Ok(format!("{}: the search found {search} of {of}, random work {random}", page.display()))
}

/// The first seeds whose errors differ.
fn mutants() -> impl Iterator<Item = (u64, Wrong)> {
    let mut seen = HashSet::new();
    let all = (1..).map(|seed| (seed, Wrong::of(seed)));
    all.filter(move |(_, wrong)| seen.insert(wrong.to_string())).take(MUTANTS)
}

/// How many each arm found after how many trials.
fn compared(all: &[[Option<u64>; 2]]) -> String {
    let of = all.len();
    let mut text = format!(
        "| trials | search, of {of} | random | only by search | only by random trials | p \
         |\n|---|---|---|---|---|---|\n"
    );
    for budget in BUDGETS {
        let within = |it: &Option<u64>| it.is_some_and(|trials| trials <= budget);
        let count = |is: &dyn Fn(bool, bool) -> bool| {
            all.iter().filter(|[search, random]| is(within(search), within(random))).count() as u64
        };
        let [search, random] = [count(&|it, _| it), count(&|_, it| it)].map(|found| {
            let (low, high) = wilson(found, of as u64);
            format!("{found} ({:.0} to {:.0} %)", low * 100.0, high * 100.0)
        });
        let (only, other) = (count(&|a, b| a && !b), count(&|a, b| b && !a));
        let chance = paired(only, other);
        let chance = if chance < 0.001 { "< 0.001".into() } else { format!("{chance:.3}") };
        let _ = writeln!(text, "| {budget} | {search} | {random} | {only} | {other} | {chance} |");
    }
    text
}
