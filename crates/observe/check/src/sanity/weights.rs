//! The weights of tasks, as far as events show them.

use wastenot_model::{CpuId, CpuMode, State, TaskState, nice};

/// The weight of `SCHED_IDLE` tasks, whatever their nice value.
const IDLE: u64 = 3;

/// What a task weighs, of nice 0 where its nice value is not known; `None` where it is in no fair
/// class: those have no weights.
pub(super) fn of(task: &TaskState) -> Option<u64> {
    match task.policy {
        Some(5) => Some(IDLE),
        // SCHED_OTHER, SCHED_BATCH, SCHED_EXT
        None | Some(0 | 3 | 7) => Some(nice::weight(task.nice.unwrap_or(0))),
        _ => None,
    }
}

/// What runs and waits on `cpu` weighs together; `None` where that is not known.
pub(super) fn on(state: &State, cpu: CpuId) -> Option<u64> {
    let weigh = |task| of(&state.task(task)).unwrap_or(0);
    let running = match state.cpu(cpu).mode {
        CpuMode::Busy(task) => weigh(task),
        CpuMode::Idle => 0,
        CpuMode::Unknown | CpuMode::Offline => return None,
    };
    Some(running + state.waiting(cpu).map(weigh).sum::<u64>())
}
