//! The fewest CPUs, and then tasks, with which a policy loses a wakeup.

use wastenot_model::Machine;
use wastenot_rota::ir::Policy;

use super::{Bounds, Trace, search};

/// Every broken variant of the protocol loses a wakeup within these.
const BOUNDS: Bounds = Bounds { cpus: 2, tasks: 2, states: 2_000_000 };

/// A wakeup that is lost.
#[derive(Clone, Debug)]
pub struct Lost {
    /// On which machine.
    pub machine: Machine,
    /// How many CPUs there are.
    pub cpus: usize,
    /// How many tasks.
    pub tasks: usize,
    /// How it happens.
    pub trace: Trace,
}

impl Lost {
    /// How a policy loses a wakeup; `None` if it does not with two CPUs and two tasks at most.
    pub fn of(policy: &Policy) -> Option<Lost> {
        let (small, system, trace) = search(policy, BOUNDS).lost?;
        let (cpus, tasks) = (system.cpus, system.tasks.len());
        Some(Lost { machine: small.machine, cpus, tasks, trace })
    }
}
