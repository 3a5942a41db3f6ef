//! A counterexample, in words and as a History that can be drawn and checked like any other.

pub(crate) mod annexes;
pub(crate) mod situation;
mod telling;
pub(crate) mod wakeup;
pub(crate) mod words;

use wastenot_model::History;
use wastenot_rota::ir::Policy;

use crate::explore::Found;
use crate::wakeup::Lost;

/// The length of each step: a microsecond, in ns.
const STEP_NS: u64 = 1_000;

/// A counterexample to a claim.
#[derive(Clone, Debug)]
pub enum Counterexample {
    /// A situation, and the steps from it.
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
    /// The name of the machine.
    pub fn machine(&self) -> String {
        match self {
            Counterexample::Situation(found) => found.small.machine.name.clone(),
            Counterexample::Wakeup(lost) => match lost.cpus {
                1 => "1 CPU".to_owned(),
                cpus => format!("{cpus} CPUs"),
            },
        }
    }
    /// The number of CPUs of the machine, and the number of tasks.
    pub fn size(&self) -> (usize, usize) {
        match self {
            Counterexample::Situation(found) => {
                (found.small.tree.cpus().len(), found.situation.tasks.len())
            }
            Counterexample::Wakeup(lost) => (lost.cpus, lost.tasks),
        }
    }
    /// The initial state: a line for each CPU and each task that does not run.
    pub fn situation_in_words(&self, policy: &Policy) -> Vec<String> {
        match self {
            Counterexample::Situation(found) => found.situation_in_words(policy),
            Counterexample::Wakeup(lost) => lost.situation_in_words(),
        }
    }
    /// The steps, a line for each.
    pub fn steps_in_words(&self, policy: &Policy) -> Vec<String> {
        match self {
            Counterexample::Situation(found) => found.steps_in_words(policy),
            Counterexample::Wakeup(lost) => lost.steps_in_words(policy),
        }
    }
    /// The counterexample as a History: the initial state is its start, and each step takes a
    /// microsecond. Annexes hold the rest: the steps that are not events, and all that
    /// [`crate::replay`] needs. `claim` is the name of the claim that it breaks, `text` the text of
    /// the policy.
    pub fn history(&self, policy: &Policy, claim: &str, text: &str) -> History {
        match self {
            Counterexample::Situation(found) => found.history(policy, claim, text),
            Counterexample::Wakeup(lost) => lost.history(policy, claim, text),
        }
    }
}
