//! What the fix of each fault does to the figures of experiments that are about something else:
//! nothing, or it was no fix of that fault alone.

use std::fmt::Write;

use wastenot_experiment::Experiment;
use wastenot_model::report::number;
use wastenot_scenario::scenario::{Choice, Over, Variant};
use wastenot_sim::Scheduler;

use crate::trial::Trial;

/// A fault, as a switch of the schedulers that have it.
struct Fault {
    switch: &'static str,
    faulty: &'static str,
    mended: &'static str,
    /// How its fix can reach figures that are about something else.
    reach: &'static str,
}

const FAULTS: [Fault; 5] = [
    Fault {
        switch: "imbalance",
        faulty: "average",
        mended: "minimum",
        reach: "with the fix, balancing compares minimum loads instead of average loads; minima \
            change more often, so balancing moves more tasks in every scenario",
    },
    Fault {
        switch: "groups",
        faulty: "core0",
        mended: "own-balanced",
        reach: "without the fix, only the first idle CPU of a group may balance. With the fix, \
                every CPU may balance, so tasks move sooner",
    },
    Fault {
        switch: "numa-levels",
        faulty: "lose",
        mended: "keep",
        reach: "the fix has no effect where no CPU goes offline",
    },
    Fault {
        switch: "wakeup",
        faulty: "llc",
        mended: "longest-idle",
        reach: "with the fix, a woken task goes to an idle CPU of any node. Domains and groups do \
                not restrict this choice. So faults of balancing affect only programs that never \
                block",
    },
    Fault {
        switch: "wake-affine-idle",
        faulty: "before",
        mended: "after",
        reach: "with the fix, a woken task stays on its previous CPU more often",
    },
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
    /// Mends each fault in every variant that has it and is not about it.
    pub(crate) fn look(&mut self, trial: &Trial) -> Result<(), String> {
        let seeds: Vec<u64> = (1..=SEEDS).collect();
        let plain = trial.variants(&[])?;
        for Fault { switch, faulty, mended, .. } in FAULTS {
            let has_it = |variant: &&Variant| has_by_default(&variant.scheduler, switch, faulty);
            let names: Vec<&str> = plain.iter().filter(has_it).map(|it| &*it.name).collect();
            if names.is_empty() {
                continue;
            }
            let fix = [(switch.to_owned(), mended.to_owned())];
            let (before, after) = (trial.run(&seeds)?, trial.run_with(&seeds, &fix)?);
            self.compare(&before, &after, &names, &format!("{switch}={mended}"));
        }
        Ok(())
    }

    /// Figures all of whose variants are among `names`, those that have the fault by default.
    fn compare(&mut self, before: &Experiment, after: &Experiment, names: &[&str], fix: &str) {
        for worked in before.figures.iter().filter(|it| it.figure.band.is_some()) {
            let mut variants = vec![worked.figure.quantity.variant.as_str()];
            if let Over::Quantity(over) = &worked.figure.over {
                variants.push(&over.variant);
            }
            let figure = worked.figure.name.clone();
            let other = after.figure(&figure).and_then(|other| other.value);
            let Some((without, with)) = worked.value.zip(other) else { continue };
            if !variants.iter().all(|variant| names.contains(variant)) {
                continue;
            }
            self.compared += 1;
            let ran = |it| digests(it, &variants);
            self.at_work += usize::from(ran(before) != ran(after));
            if (with - without).abs() > CHANGE * without.abs().max(SMALL) {
                let (scenario, fix) = (before.scenario.clone(), fix.to_owned());
                self.changed.push(Change { scenario, figure, fix, without, with });
            }
        }
    }

    /// The part of the page.
    pub(crate) fn section(&self) -> String {
        let mut text = format!(
            "\n## Fixes elsewhere\n\nIn some variants, the scheduler has a fault that the variant \
             does not study. For this section, we ran each such variant\nagain with a fix of only \
             this fault. We compared {} figures of runs without this fix and of runs with this \
             fix. For {}\nof these figures, the runs differ. The table lists the {} figures that \
             the fix changed by more than {:.0} %.\n",
            self.compared,
            self.at_work,
            self.changed.len(),
            CHANGE * 100.0
        );
        if !self.changed.is_empty() {
            text += "\n| scenario | figure | fix | without | with |\n|---|---|---|---|---|\n";
        }
        for Change { scenario, figure, fix, without, with } in &self.changed {
            let (without, with) = (number(*without, None), number(*with, None));
            let _ = writeln!(text, "| {scenario} | {figure} | {fix} | {without} | {with} |");
        }
        for Fault { switch, reach, .. } in FAULTS {
            let of_it = |change: &&Change| change.fix.starts_with(switch);
            let count = self.changed.iter().filter(of_it).count();
            if count > 0 {
                let _ = write!(text, "\n- {switch} ({count}): {reach}.");
            }
        }
        text + "\n"
    }
}

/// Whether `choice` has a fault because nobody said otherwise.
fn has_by_default(choice: &Choice, tunable: &str, faulty: &str) -> bool {
    let set = choice.tunables.iter().any(|(name, _)| name == tunable);
    let known = Scheduler::named(&choice.name).and_then(|kind| kind.tunable(tunable));
    !set && known.is_some_and(|known| known.default == faulty)
}

fn digests(experiment: &Experiment, variants: &[&str]) -> Vec<u64> {
    let ran = experiment.variants.iter().filter(|it| variants.contains(&it.name.as_str()));
    ran.flat_map(|it| &it.cells).map(|cell| cell.digest).collect()
}
