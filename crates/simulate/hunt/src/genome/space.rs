//! What genomes may have under a scheduler.

use wastenot_experiment::times;
use wastenot_model::Span;
use wastenot_scenario::scenario::Choice;
use wastenot_sim::{REAL_TIME, Scheduler, Values};

/// What genomes may have under a scheduler, or under two that are held against one another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// All tasks are sporadic: real-time schedulers schedule jobs, and nothing else. How many CPUs
    /// run none of them: on one CPU 0 schedules for the others, or takes all interrupts.
    pub sporadic: Option<u8>,
    /// What a user of the scheduler may set, with the values that a genome may ask for.
    pub tunables: Vec<(String, String)>,
}

/// What those who configure a kernel set. Other words that may be set are what versions of a
/// scheduler differ in: which version it is the question says, and no genome.
const CONFIGURED: [&str; 2] = ["hz", "autogroup"];

impl Space {
    /// That of a scheduler, and of the one that it is held against.
    pub fn of(choice: &Choice, against: Option<&Choice>) -> Space {
        // A real-time scheduler is held against others, which have other tunables.
        let has_master = |it: &Choice| {
            let is_dedicated = |(name, value): &(String, String)| {
                (&**name, &**value) == ("interrupts", "dedicated")
            };
            it.name.ends_with("-mp") || it.tunables.iter().any(is_dedicated)
        };
        let has_master = has_master(choice) || against.is_some_and(has_master);
        let sporadic = is_real_time(choice).then_some(u8::from(has_master));
        let mut tunables = if sporadic.is_some() { Vec::new() } else { settable(choice) };
        if let Some(other) = against {
            let others = settable(other);
            tunables.retain(|it| others.contains(it));
        }
        Space { sporadic, tunables }
    }
}

/// Whether a scheduler is one of those for sporadic tasks.
pub fn is_real_time(choice: &Choice) -> bool {
    REAL_TIME.iter().any(|kind| kind.name == choice.name)
}

/// What may be set beside what is set: times to a quarter and to four times their default, and
/// words that are [`CONFIGURED`].
fn settable(choice: &Choice) -> Vec<(String, String)> {
    let times = times(choice).into_iter().flat_map(|(name, default)| {
        let shortest = Span::us(10);
        [Span(default.0 / 4), Span(default.0.saturating_mul(4))]
            .into_iter()
            .filter(move |time| *time >= shortest && default > Span::ZERO)
            .map(move |time| (name.clone(), time.exact()))
    });
    let kind = Scheduler::named(&choice.name);
    let words = kind.into_iter().flat_map(|kind| kind.tunables).flat_map(|tunable| {
        let words = if let Values::Words(words) = tunable.values { words } else { &[] };
        let others = words.iter().filter(|word| **word != tunable.default);
        others.map(|word| (tunable.name.to_owned(), (*word).to_owned()))
    });
    let mut all: Vec<(String, String)> =
        times.chain(words.filter(|(name, _)| CONFIGURED.contains(&name.as_str()))).collect();
    all.retain(|(name, _)| !choice.tunables.iter().any(|(set, _)| set == name));
    all
}
