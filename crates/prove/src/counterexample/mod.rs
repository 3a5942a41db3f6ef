//! A counterexample: in words, and as a History, which can be drawn and checked like any other.

pub(crate) mod annexes;
pub(crate) mod situation;
mod telling;
pub(crate) mod wakeup;
pub(crate) mod words;

use wastenot_model::History;
use wastenot_rota::ir::Policy;

use crate::explore::Found;
use crate::wakeup::Lost;

/// Every step takes so long: a microsecond, in ns.
const STEP_NS: u64 = 1_000;

/// What breaks a claim.
#[derive(Clone, Debug)]
pub enum Counterexample {
    /// A situation, and what follows from it.
    Situation(Box<Found>),
    /// An interleaving of CPUs and enqueuers.
    Wakeup(Lost),
}

impl Counterexample {
    /// What is wrong, in one sentence.
    pub fn why(&self) -> String {
        match self {
            Counterexample::Situation(found) => found.why.clone(),
            Counterexample::Wakeup(lost) => lost.why(),
        }
    }
    /// On which machine.
    pub fn machine(&self) -> String {
        match self {
            Counterexample::Situation(found) => found.small.machine.name.clone(),
            Counterexample::Wakeup(lost) => match lost.cpus {
                1 => "1 CPU".to_owned(),
                cpus => format!("{cpus} CPUs"),
            },
        }
    }
    /// How many CPUs that machine has, and how many tasks there are.
    pub fn size(&self) -> (usize, usize) {
        match self {
            Counterexample::Situation(found) => {
                (found.small.tree.cpus().len(), found.situation.tasks.len())
            }
            Counterexample::Wakeup(lost) => (lost.cpus, lost.tasks),
        }
    }
    /// What it begins with, a line for each CPU and each task that waits.
    pub fn situation_in_words(&self, policy: &Policy) -> Vec<String> {
        match self {
            Counterexample::Situation(found) => found.situation_in_words(policy),
            Counterexample::Wakeup(lost) => lost.situation_in_words(),
        }
    }
    /// What happens, a line for each step.
    pub fn steps_in_words(&self, policy: &Policy) -> Vec<String> {
        match self {
            Counterexample::Situation(found) => found.steps_in_words(policy),
            Counterexample::Wakeup(lost) => lost.steps_in_words(policy),
        }
    }
    /// As a History: what it begins with is its start, and each step takes a microsecond. Annexes
    /// tell the rest: what was done that is no event, and all that takes to force it
    /// ([`crate::replay`]). `claim` is the name of the one that it breaks, `text` is that of the
    /// policy.
    pub fn history(&self, policy: &Policy, claim: &str, text: &str) -> History {
        match self {
            Counterexample::Situation(found) => found.history(policy, claim, text),
            Counterexample::Wakeup(lost) => lost.history(policy, claim, text),
        }
    }
}
