//! How much some tasks ran apart: while another one of them waited for a CPU.
//!
//! # Why it matters
//! Tasks of a parallel program meet at barriers. One that comes early and spins runs, as far as a
//! trace can show, but only consumes CPU time until the last one comes. Which of its time that was
//! no scheduling event tells. But where tasks neither block nor have more work than others, one is
//! later than another only by the time for which it waited for a CPU while that one ran. So they
//! spin no longer than they run apart. A scheduler that runs them at the same time saves it.
//!
//! # Source
//! Ousterhout, "Scheduling techniques for concurrent systems", ICDCS 1982; Frachtenberg and Etsion,
//! "Hardware parallelism: are operating systems ready?" (case studies of mis-scheduling).

use wastenot_model::{TaskId, Time, Window};

use super::walk::Ground;
use super::watch::Is;

/// CPU time of some tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// For how long they ran, in all.
    pub ran_ns: u64,
    /// For how long of that another one of them waited for a CPU.
    pub apart_ns: u64,
}

impl Apart {
    /// Of `tasks` in `window`.
    pub(super) fn of(ground: &Ground, tasks: &[TaskId], window: Window) -> Apart {
        // By time: how many more run and wait from then on.
        let mut changes: Vec<(Time, i64, i64)> = Vec::new();
        let lives = tasks.iter().filter_map(|task| ground.life(*task));
        for segment in lives.flat_map(|life| &life.segments) {
            let (runs, waits) = match segment.is {
                Is::Running(_) => (1, 0),
                Is::Waiting { .. } => (0, 1),
                Is::Held | Is::Sleeping { .. } => continue,
            };
            if let Some((from, to)) = window.clip(segment.window.from, segment.window.to) {
                changes.extend([(from, runs, waits), (to, -runs, -waits)]);
            }
        }
        changes.sort_unstable_by_key(|(time, ..)| *time);
        let (mut running, mut waiting, mut since) = (0, 0, Time(0));
        let mut found = Apart { ran_ns: 0, apart_ns: 0 };
        for (time, runs, waits) in changes {
            let ran = (running as u64).saturating_mul(time.since(since).0);
            found.ran_ns = found.ran_ns.saturating_add(ran);
            if waiting > 0 {
                found.apart_ns = found.apart_ns.saturating_add(ran);
            }
            (running, waiting, since) = (running + runs, waiting + waits, time);
        }
        found
    }

    /// How much of what they ran that is.
    pub fn share(self) -> f64 {
        self.apart_ns as f64 / self.ran_ns.max(1) as f64
    }
}
