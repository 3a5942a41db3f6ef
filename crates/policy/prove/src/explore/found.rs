//! What searches come to.

use wastenot_model::CpuId;
use wastenot_rota::ir::Event;

use super::situation::Situation;
use super::step::Step;
use super::test::Wrong;
use crate::Small;

/// What breaks a claim.
#[derive(Clone, Debug)]
pub struct Found {
    /// What is wrong with it; none of the tests of situations if it is about keys.
    pub wrong: Option<Wrong>,
    /// The machine.
    pub small: Small,
    /// What it begins with.
    pub situation: Situation,
    /// The CPU that it is about.
    pub cpu: CpuId,
    /// What happens.
    pub steps: Vec<Step>,
    /// What is wrong with that, in one sentence.
    pub why: String,
}

/// What a search came to.
#[derive(Clone, Debug)]
pub struct Searched {
    /// The smallest counterexample: fewest CPUs first, where an event during an attempt counts as
    /// one; then, if there is one, at rest; then fewest tasks. `None` is none.
    pub found: Option<Found>,
    /// How many situations were looked at.
    pub looked: u64,
    /// All machines of so many CPUs were looked at, with all tasks and events within the bounds.
    pub cpus: usize,
    /// A queue where tasks may come to wait and that the search left out.
    pub doubt: Option<Doubt>,
}

/// Where it is unknown whether a task may come to wait, so that the search left it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Whether this handler ever goes each way to its `put` into this queue.
    Put(Event, usize),
    /// Whether periodic balancing ever moves a task into this queue.
    Move(usize),
    /// Whether any run leads to what would break the claim.
    Run,
}
