//! What the fix of each fault does to the figures of experiments that are about something else:
//! nothing, or it was no fix of that fault alone.

use std::fmt::Write;

use wastenot_lab::Experiment;
use wastenot_scenario::scenario::Variant;

use crate::seeds::number;
use crate::trial::Trial;

/// The fix of each fault.
const FIXES: [(&str, &str); 5] = [
    ("imbalance", "minimum"),
    ("groups", "own-balanced"),
    ("numa-levels", "keep"),
    ("wakeup", "longest-idle"),
    ("wake-affine-idle", "after"),
];
/// Seeds with which they are tried.
const SEEDS: u64 = 3;
/// More than this share of a figure is a change.
const CHANGE: f64 = 0.05;
/// Figures below this (shares that are left) change by so much of this at most.
const SMALL: f64 = 0.1;

/// What was found.
#[derive(Default)]
pub(crate) struct Elsewhere {
    compared: usize,
    /// Of those, figures of runs in which the fix made any difference at all.
    at_work: usize,
    changed: Vec<Change>,
}

/// A figure that a fix changed although the experiment is not about it.
struct Change {
    scenario: String,
    figure: String,
    fix: String,
    without: f64,
    with: f64,
}

impl Elsewhere {
    /// Turns on each fix that the scenario is not about and that its schedulers have.
    pub(crate) fn look(&mut self, trial: &Trial) -> Result<(), String> {
        let seeds: Vec<u64> = (1..=SEEDS).collect();
        let plain = trial.variants(&[])?;
        for (switch, value) in FIXES {
            let fix = [(switch.to_owned(), value.to_owned())];
            let set =
                |variant: &Variant| variant.scheduler.switches.iter().any(|it| it.0 == switch);
            let about_it = plain.iter().any(set);
            let has_it = trial.variants(&fix)?.iter().any(set);
            if has_it && !about_it {
                let (before, after) = (trial.run(&seeds)?, trial.run_with(&seeds, &fix)?);
                self.compare(&before, &after, &format!("{switch}={value}"));
            }
        }
        Ok(())
    }

    fn compare(&mut self, before: &Experiment, after: &Experiment, fix: &str) {
        let differs = digests(before) != digests(after);
        for worked in before.figures.iter().filter(|it| it.figure.band.is_some()) {
            let figure = worked.figure.name.clone();
            let other = after.figure(&figure).and_then(|other| other.value);
            let Some((without, with)) = worked.value.zip(other) else { continue };
            self.compared += 1;
            self.at_work += usize::from(differs);
            if (with - without).abs() > CHANGE * without.abs().max(SMALL) {
                let (scenario, fix) = (before.scenario.clone(), fix.to_owned());
                self.changed.push(Change { scenario, figure, fix, without, with });
            }
        }
    }

    /// The part of the page.
    pub(crate) fn section(&self) -> String {
        let mut text = format!(
            "\n## Fixes elsewhere\n\nEach fix, turned on alone in every experiment that is not \
             about it: {} figures were compared (in {} of\nthem it changed what was run), {} changed \
             by more than {:.0} %.\n",
            self.compared,
            self.at_work,
            self.changed.len(),
            CHANGE * 100.0
        );
        if !self.changed.is_empty() {
            text += "\n| scenario | figure | fix | without | with |\n|---|---|---|---|---|\n";
        }
        for Change { scenario, figure, fix, without, with } in &self.changed {
            let (without, with) = (number(*without), number(*with));
            let _ = writeln!(text, "| {scenario} | {figure} | {fix} | {without} | {with} |");
        }
        text
    }
}

fn digests(experiment: &Experiment) -> Vec<u64> {
    experiment.variants.iter().flat_map(|it| &it.cells).map(|cell| cell.digest).collect()
}
