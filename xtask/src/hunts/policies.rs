//! Policies in Rota, hunted: each wrong one until something is found, each proved one for as long,
//! though nothing is to be found.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use wastenot_hunt::search::{Outcome, Question};
use wastenot_scenario::scenario::Choice;

use super::hunt;
use crate::parts::{files, put};

/// How long each is hunted.
const LONG: Duration = Duration::from_secs(5 * 60);

/// Hunts those of `folder`, and writes the tables of `page`. The verdict in a line.
pub(crate) fn write(folder: &Path, page: &Path) -> Result<String, String> {
    let mut found = [0, 0];
    let wrong = files(&folder.join("wrong"), "rota")?;
    let right = files(folder, "rota")?;
    let head = "| policy | finding | trials, search | trials, random | time | CPUs | programs | \
                steps |\n|---|---|---|---|---|---|---|---|\n";
    for (n, (name, files)) in [("wrong", &wrong), ("proved", &right)].into_iter().enumerate() {
        let mut text = head.to_owned();
        for file in files {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            let mut choice = Choice::named(&file.display().to_string());
            let row = match wastenot_experiment::resolve(&mut choice, Path::new("")) {
                Err(error) => format!("is refused: {error} | | | | | | |"),
                Ok(()) => {
                    let (outcome, took) = hunt(&question(choice), LONG)?;
                    found[n] += usize::from(!outcome.shrunk.is_empty());
                    row(&outcome, took)
                }
            };
            let _ = writeln!(text, "| {stem} | {row} |");
            put(page, &[(name, text.clone())])?;
        }
    }
    let [broken, alarms] = found;
    let count = (wrong.len(), right.len());
    Ok(format!(
        "{}: broke {broken} of {} wrong policies, and {alarms} of {} proved ones",
        page.display(),
        count.0,
        count.1
    ))
}

pub(super) fn question(choice: Choice) -> Question {
    Question { findings: 1, ..Question::of(choice) }
}

pub(super) fn row(outcome: &Outcome, took: Duration) -> String {
    let took = took.as_secs();
    let (search, random) = (&outcome.search, &outcome.random);
    let Some(it) = outcome.shrunk.first() else {
        return format!("nothing found | {} | {} | {took} s | | | ", search.trials, random.trials);
    };
    let [by_search, by_random] = [search, random].map(|arm| {
        let found = arm.found.first();
        found.map_or(format!("more than {}", arm.trials), |(_, trials)| trials.to_string())
    });
    let what = if it.kind.is_waste() { it.cause.as_str() } else { "" };
    let (kind, cpus, programs) = (it.kind.name(), it.genome.machine().cpus(), it.genome.kinds());
    let steps = it.genome.longest();
    format!("{what} {kind} | {by_search} | {by_random} | {took} s | {cpus} | {programs} | {steps}")
        .trim_start()
        .to_owned()
}
