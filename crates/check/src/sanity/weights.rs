//! How much tasks weigh, as far as events tell.

use wastenot_model::{Change, CpuId, CpuMode, Entry, Event, Prio, State, TaskId, TaskState};

/// The weight of nice 0.
pub(super) const UNIT: u64 = 1024;
/// The weight of `SCHED_IDLE` tasks, whatever their nice value.
const IDLE: u64 = 3;

/// The nice values of tasks: of the last `Changed` row, or of the priority in the last switch or
/// wakeup. A task of which neither was seen counts as nice 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    nice: Vec<i8>,
}

impl Weights {
    /// What `entry` tells.
    #[inline]
    pub(super) fn see(&mut self, entry: &Entry) {
        match entry.event {
            Event::Switch { prev, next, prev_prio, next_prio, .. } => {
                self.know(prev, prev_prio);
                self.know(next, next_prio);
            }
            Event::Waking { task, prio, .. } | Event::Queued { task, prio, .. } => {
                self.know(task, prio);
            }
            Event::Changed { task, what: Change::Nice(nice) } => self.set(task, nice),
            // Its number may have been another one's.
            Event::Fork { child, .. } => self.set(child, 0),
            _ => {}
        }
    }

    /// Fair tasks have priorities from 100 (nice -20) to 139.
    #[inline]
    fn know(&mut self, task: TaskId, prio: Prio) {
        if let Some(prio @ 100..=139) = prio.0 {
            self.set(task, (prio - 120) as i8);
        }
    }

    #[inline]
    fn set(&mut self, task: TaskId, nice: i8) {
        let Some(index) = task.index() else { return };
        match self.nice.get_mut(index) {
            Some(known) => *known = nice,
            None if nice == 0 => {}
            None => {
                self.nice.resize(index + 1, 0);
                self.nice[index] = nice;
            }
        }
    }

    /// What `task` weighs; `None` where it is in no fair class: those have no weights.
    pub(super) fn of(&self, task: TaskId, known: &TaskState) -> Option<u64> {
        match known.policy {
            Some(5) => Some(IDLE),
            // SCHED_OTHER, SCHED_BATCH, SCHED_EXT
            None | Some(0 | 3 | 7) => {
                let nice = task.index().and_then(|index| self.nice.get(index)).copied();
                Some(weight(nice.unwrap_or(0)))
            }
            _ => None,
        }
    }

    /// What runs and waits on `cpu` weighs together; `None` where that is not known.
    pub(super) fn on(&self, state: &State, cpu: CpuId) -> Option<u64> {
        let weigh = |task| self.of(task, &state.task(task)).unwrap_or(0);
        let running = match state.cpu(cpu).mode {
            CpuMode::Busy(task) => weigh(task),
            CpuMode::Idle => 0,
            CpuMode::Unknown | CpuMode::Offline => return None,
        };
        Some(running + state.waiting(cpu).map(weigh).sum::<u64>())
    }
}

/// A quarter more for each step down of nice: what the table of the kernel rounds.
fn weight(nice: i8) -> u64 {
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
        assert_eq!(weight(0), 1024);
        // sched(7): ten steps of nice are a factor of about ten.
        for (nice, kernel) in [(-20, 88_761), (-10, 9_548), (-5, 3_121), (5, 335), (19, 15)] {
            let off = weight(nice).abs_diff(kernel) as f64 / kernel as f64;
            assert!(off < 0.04, "nice {nice}: {}", weight(nice));
        }
    }
}
