//! How much tasks weigh, as far as events tell.

use wastenot_model::{CpuId, CpuMode, State, TaskState};

/// The weight of nice 0.
pub(super) const UNIT: u64 = 1024;
/// The weight of `SCHED_IDLE` tasks, whatever their nice value.
const IDLE: u64 = 3;

/// What a task weighs, of nice 0 where its nice value is not known; `None` where it is in no fair
/// class: those have no weights.
pub(super) fn of(task: &TaskState) -> Option<u64> {
    match task.policy {
        Some(5) => Some(IDLE),
        // SCHED_OTHER, SCHED_BATCH, SCHED_EXT
        None | Some(0 | 3 | 7) => Some(of_nice(task.nice.unwrap_or(0))),
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

/// A quarter more for each step down of nice: what the table of the kernel rounds.
fn of_nice(nice: i8) -> u64 {
    const FRACTION: u32 = 30;
    let steps = nice.clamp(-20, 19);
    let step = |weight: u64| if steps < 0 { weight * 5 / 4 } else { weight * 4 / 5 };
    let exact = (0..steps.unsigned_abs()).fold(UNIT << FRACTION, |weight, _| step(weight));
    (exact + (1 << (FRACTION - 1))) >> FRACTION
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_near_the_kernels() {
        assert_eq!(of_nice(0), 1024);
        // sched(7): ten steps of nice are a factor of about ten.
        for (nice, kernel) in [(-20, 88_761), (-10, 9_548), (-5, 3_121), (5, 335), (19, 15)] {
            let off = of_nice(nice).abs_diff(kernel) as f64 / kernel as f64;
            assert!(off < 0.04, "nice {nice}: {}", of_nice(nice));
        }
    }
}
