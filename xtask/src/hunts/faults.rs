//! The five published faults, each in a scheduler that has only that one, hunted with three seeds;
//! and the same schedulers without any.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use wastenot_experiment::label;
use wastenot_hunt::search::{Arm, Outcome, Question};
use wastenot_scenario::scenario::Choice;

use super::hunt;
use crate::parts::put;

/// Seeds of the searches.
const SEEDS: [u64; 3] = [1, 2, 3];
/// How long a search may take.
const LONG: Duration = Duration::from_secs(15 * 60);
/// How many trials a search has where nothing is to be found, half of them at random.
const TRIALS: u64 = 20_000;

/// CFS of Linux 4.1 with the published fixes.
const FIXED: [(&str, &str); 5] = [
    ("imbalance", "minimum"),
    ("groups", "own-balanced"),
    ("numa-levels", "keep"),
    ("wakeup", "longest-idle"),
    ("wake-affine-idle", "after"),
];

/// A published fault: what it is called, the kernel, what has to be set for it, and its cause.
struct Fault(&'static str, &'static str, &'static [(&'static str, &'static str)], &'static str);

/// Under the fix of wakeups an idle previous CPU is always taken: the last fault can only be seen
/// without that, as in Linux 5.10 and 6.1.
const FAULTS: [Fault; 5] = [
    Fault("group imbalance", "cfs-4.1", &[("imbalance", "average")], "balancing/beside-group"),
    Fault("scheduling groups", "cfs-4.1", &[("groups", "core0")], "balancing/beyond-one-hop"),
    Fault("missing domains", "cfs-4.1", &[("numa-levels", "lose")], "balancing/after-hotplug"),
    Fault("overload on wakeup", "cfs-4.1", &[("wakeup", "llc")], "placement/search-limited"),
    Fault("wake_affine", "cfs-6.1", &[("wake-affine-idle", "before")], "placement/previous-idle"),
];

/// The scheduler with these set; of 4.1 all else is fixed.
fn choice(kernel: &str, set: &[(&str, &str)]) -> Choice {
    let fixed = FIXED
        .iter()
        .filter(|(name, _)| kernel == "cfs-4.1" && !set.iter().any(|(other, _)| other == name));
    let tunables = fixed.chain(set).map(|(name, value)| ((*name).into(), (*value).into()));
    Choice { tunables: tunables.collect(), ..Choice::named(kernel) }
}

/// Hunts, and writes the tables of `page`. The verdict in a line.
pub(crate) fn write(page: &Path) -> Result<String, String> {
    let mut text = String::from(
        "| fault | seed | trials, search | trials, random | time | CPUs | programs | steps | \
         disappears with |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut found = 0;
    for Fault(name, kernel, set, cause) in FAULTS {
        for seed in SEEDS {
            let path = Some(format!("scheduler/{cause}"));
            let question = Question { seed, cause: path, ..Question::of(choice(kernel, set)) };
            let (outcome, took) = hunt(&question, LONG)?;
            let row = row(&outcome, cause, took);
            found += usize::from(!outcome.shrunk.is_empty());
            let _ = writeln!(text, "| {name} | {seed} | {row} |");
            // An hour is long: what is known is kept.
            put(page, &[("faults", text.clone())])?;
        }
    }
    let mut without = String::from(
        "| scheduler | trials | trials per hour | disappear with a change | disappear only with \
         the reference |\n|---|---|---|---|---|\n",
    );
    for kernel in ["cfs-4.1", "cfs-6.1"] {
        let question = Question { trials: TRIALS, ..Question::of(choice(kernel, &[])) };
        let (outcome, took) = hunt(&question, Duration::MAX)?;
        let hourly = TRIALS as f64 / took.as_secs_f64() * 3600.0;
        let by = |is_change: bool| {
            let of = outcome.shrunk.iter().filter(|it| it.control.is_change() == is_change);
            let names: Vec<&str> = of.map(|it| it.name()).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let (label, change, reference) = (label(&question.choice), by(true), by(false));
        let _ = writeln!(without, "| {label} | {TRIALS} | {hourly:.0} | {change} | {reference} |");
        put(page, &[("without", without.clone())])?;
    }
    Ok(format!("{}: found {found} of {}", page.display(), FAULTS.len() * SEEDS.len()))
}

fn row(outcome: &Outcome, cause: &str, took: Duration) -> String {
    let after = |arm: &Arm| {
        let found = arm.found.iter().find(|(it, _)| it.cause.ends_with(cause));
        found.map_or(format!("more than {}", arm.trials), |(_, trials)| trials.to_string())
    };
    let (search, random) = (after(&outcome.search), after(&outcome.random));
    let Some(it) = outcome.shrunk.first() else {
        return format!("{search} | {random} | {} s | | | |", took.as_secs());
    };
    let (cpus, programs) = (it.genome.machine().cpus(), it.genome.kinds());
    let (steps, control) = (it.genome.longest(), it.control.words());
    let took = took.as_secs();
    format!("{search} | {random} | {took} s | {cpus} | {programs} | {steps} | `{control}`")
}
