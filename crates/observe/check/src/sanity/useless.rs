//! The third invariant: no waiting task is moved to a CPU with at least the same load.
//!
//! The released module compares the loads of both run queues when a task is detached. These loads
//! are averaged over time and weighted by cgroups, and no trace records them. Here, the load is the
//! sum of the weights of the fair tasks that run or wait at that instant. The moved task counts on
//! its old CPU. The module samples one migration per CPU and round; here, each migration counts.

use wastenot_model::{CpuId, Phase, State, TaskId, TaskState, Time};

use super::LISTED;
use super::idle::Part;
use super::weights;

/// A waiting task was moved although the load was no lower there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Useless {
    /// When.
    pub time: Time,
    /// Who.
    pub task: TaskId,
    /// Where it waited.
    pub from: CpuId,
    /// Where it was moved.
    pub to: CpuId,
}

#[derive(Clone, Debug, Default)]
pub(super) struct UselessMoves {
    count: u64,
    first: Vec<Useless>,
}

impl UselessMoves {
    /// `task` was `was` and is `now`.
    #[inline]
    pub(super) fn changed(
        &mut self,
        part: Part<'_>,
        state: &State,
        task: TaskId,
        was: &TaskState,
        now: &TaskState,
    ) {
        if was.phase != Phase::Waiting || now.phase != Phase::Waiting || was.cpu == now.cpu {
            return;
        }
        let Some(found) = judge(part, state, task, was, now) else { return };
        self.count += 1;
        if self.first.len() < LISTED {
            self.first.push(found);
        }
    }

    pub(super) fn take(&mut self) -> (u64, Vec<Useless>) {
        (std::mem::take(&mut self.count), std::mem::take(&mut self.first))
    }
}

fn judge(
    part: Part<'_>,
    state: &State,
    task: TaskId,
    was: &TaskState,
    now: &TaskState,
) -> Option<Useless> {
    let (from, to) = (was.cpu?, now.cpu?);
    let counts = part.scope.window.holds(state.now())
        && part.scope.has_task(task)
        && (part.scope.has_cpu(from) || part.scope.has_cpu(to));
    // One that may not stay has to go.
    let mask = now.mask.and_then(|mask| part.history.mask(mask));
    if !counts || mask.is_some_and(|mask| !mask.contains(from)) {
        return None;
    }
    let own = weights::of(now)?;
    let from_load = weights::on(state, from)? + own;
    let to_load = weights::on(state, to)?.saturating_sub(own);
    let found = Useless { time: state.now(), task, from, to };
    (from_load <= to_load).then_some(found)
}
