//! Policies in Rota, hunted: each wrong one until something is found, each proved one for as long,
//! though nothing is to be found.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wastenot_hunt::search::{Outcome, Question};
use wastenot_scenario::scenario::Choice;

use super::hunt;
use crate::parts::put;

/// How long each is hunted.
const LONG: Duration = Duration::from_secs(5 * 60);

/// Hunts those of `folder`, and writes the tables of `page`. The verdict in a line.
pub(crate) fn write(folder: &Path, page: &Path) -> Result<String, String> {
    let mut found = [0, 0];
    let wrong = files(&folder.join("wrong"))?;
    let right = files(folder)?;
    let head = "| policy | it | trials | at random | time | CPUs | programs | steps |\n\
                |---|---|---|---|---|---|---|---|\n";
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

pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|it| it == "rota") {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

pub(super) fn question(choice: Choice) -> Question {
    let (against, cause) = (None, None);
    Question { choice, against, seed: 1, trials: u64::MAX, findings: 1, cause }
}

pub(super) fn row(outcome: &Outcome, took: Duration) -> String {
    let took = took.as_secs();
    let (search, random) = (&outcome.search, &outcome.random);
    let Some(it) = outcome.shrunk.first() else {
        return format!("nothing found | {} | {} | {took} s | | | ", search.trials, random.trials);
    };
    let at_random = random.found.first().map(|(_, trials)| *trials);
    let at_random = at_random.map_or(format!("over {}", random.trials), |it| it.to_string());
    let what = if it.kind.is_waste() { it.cause.as_str() } else { "" };
    let (kind, cpus, programs) = (it.kind.name(), it.genome.machine().cpus(), it.genome.kinds());
    let steps = it.genome.longest();
    format!(
        "{what} {kind} | {} | {at_random} | {took} s | {cpus} | {programs} | {steps}",
        search.found[0].1
    )
    .trim_start()
    .to_owned()
}
