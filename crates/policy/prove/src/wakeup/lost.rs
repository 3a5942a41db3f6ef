//! The fewest CPUs, and for these the fewest tasks, with which a policy loses a wakeup.

use wastenot_model::Machine;
use wastenot_rota::ir::Policy;

use super::search::{Kind, Places, made};
use super::{Bounds, Trace, search};
use crate::Small;

/// Every broken variant of the protocol loses a wakeup within these.
const BOUNDS: Bounds = Bounds { cpus: 2, tasks: 2, states: 2_000_000 };

/// A wakeup that is lost.
#[derive(Clone, Debug)]
pub struct Lost {
    /// The machine.
    pub machine: Machine,
    /// How many CPUs there are.
    pub cpus: usize,
    /// How many tasks.
    pub tasks: usize,
    /// The steps that lose it.
    pub trace: Trace,
    /// How each task is put.
    pub(crate) kinds: Vec<Kind>,
    /// Which queue of the policy each queue of the trace is.
    pub(crate) places: Places,
}

impl Lost {
    /// The way in which a policy loses a wakeup, if puts of these kinds are `real`. If it loses
    /// none, the bounds that were explored completely, if any.
    pub(crate) fn of(
        policy: &Policy,
        real: impl Fn(&Small, &[Kind]) -> bool,
    ) -> Result<Lost, Option<Bounds>> {
        let searched = search(policy, BOUNDS);
        let complete = Bounds { tasks: searched.complete, ..BOUNDS };
        let explored = (searched.complete > 0).then_some(complete);
        let (small, system, trace) = searched.lost.ok_or(explored)?;
        let (cpus, tasks) = (system.cpus, system.tasks.len());
        let mut all = made(policy, &small, tasks).into_iter().flatten();
        let of = all.find(|made| made.system == system).expect("it was made just so");
        if !real(&small, &of.kinds) {
            return Err(None);
        }
        let (kinds, places, machine) = (of.kinds, of.places, small.machine);
        Ok(Lost { machine, cpus, tasks, trace, kinds, places })
    }
}
