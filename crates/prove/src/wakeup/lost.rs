//! The fewest CPUs, and then tasks, with which a protocol loses a wakeup.

use wastenot_rota::ir::Protocol;

use super::{Queue, System, Task, Trace, Variant, explore};

/// CPUs and tasks that are tried, smallest first: one queue, which all read.
const SIZES: [(usize, usize); 4] = [(1, 1), (1, 2), (2, 1), (2, 2)];
/// None of these has more states.
const STATES_MAX: usize = 2_000_000;

/// A wakeup that is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// How many CPUs there are.
    pub cpus: usize,
    /// How many tasks.
    pub tasks: usize,
    /// How it happens.
    pub trace: Trace,
}

impl Lost {
    /// How a protocol loses a wakeup; `None` if it does not with two CPUs and two tasks at most.
    pub fn under(protocol: &Protocol) -> Option<Lost> {
        let variant = Variant::of(protocol);
        SIZES.into_iter().find_map(|(cpus, tasks)| {
            let anywhere = Task { allowed: 0xff, woken: 0xff, direct: 0, queue: 0 };
            let system = System {
                cpus,
                tasks: vec![anywhere; tasks],
                again: true,
                queues: vec![Queue { readers: 0xff, fifo: true }],
                enqueuers: tasks,
                variant,
            };
            let trace = explore(&system, STATES_MAX).lost?;
            Some(Lost { cpus, tasks, trace })
        })
    }
}
