//! Time during which tasks ran apart: one task ran while another of the selected tasks waited.
//!
//! # Why it matters
//! Tasks of a parallel program meet at barriers. A task that arrives early and spins looks like a
//! running task in a trace, but it only consumes CPU time until the last task arrives. No
//! scheduling event shows how much of the run time is spinning. But there is a bound if the tasks
//! do not block and have equal work. Then a task is late only by the time that it waited for a CPU
//! while another task ran. So the tasks spin no longer than they run apart. A scheduler that runs
//! them at the same time saves this CPU time.
//!
//! # Source
//! Ousterhout, "Scheduling techniques for concurrent systems", ICDCS 1982; Frachtenberg and Etsion,
//! "Hardware parallelism: are operating systems ready?" (case studies of mis-scheduling).

use wastenot_model::{TaskId, Time, Window};

use super::Ground;
use super::watch::{Is, Segment};

/// CPU time of some tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// For how long they ran, in all.
    pub ran_ns: u64,
    /// For how long of that another one of them waited for a CPU, or was held back by a quota.
    pub apart_ns: u64,
    /// For how long they slept.
    slept_ns: u64,
    /// The shortest time from the first to the last that is known of one.
    shortest_ns: u64,
    window_ns: u64,
}

impl Apart {
    /// Of `tasks` in `window`.
    pub(super) fn of(ground: &Ground, tasks: &[TaskId], window: Window) -> Apart {
        // By time: how many more run and wait from then on.
        let mut changes: Vec<(Time, i64, i64)> = Vec::new();
        let window_ns = window.span().0;
        let mut found =
            Apart { ran_ns: 0, apart_ns: 0, slept_ns: 0, shortest_ns: window_ns, window_ns };
        for life in tasks.iter().filter_map(|task| ground.life(*task)) {
            let clip = |it: &Segment| Some((window.clip(it.window.from, it.window.to)?, it.is));
            let mut segments = life.segments.iter().filter_map(clip).peekable();
            let begins = segments.peek().map(|((from, _), _)| *from);
            let mut ends = begins;
            for ((from, to), is) in segments {
                ends = Some(to);
                match is {
                    Is::Running(_) => changes.extend([(from, 1, 0), (to, -1, 0)]),
                    Is::Waiting { .. } | Is::Held => {
                        changes.extend([(from, 0, 1), (to, 0, -1)]);
                    }
                    Is::Sleeping { .. } => {
                        found.slept_ns = found.slept_ns.saturating_add((to - from).0);
                    }
                }
            }
            let known = begins.zip(ends).map_or(0, |(begins, ends)| (ends - begins).0);
            found.shortest_ns = found.shortest_ns.min(known);
        }
        changes.sort_unstable_by_key(|(time, ..)| *time);
        let (mut running, mut waiting, mut since) = (0, 0, Time(0));
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

    /// Whether they may be the tasks of a program that spins at barriers: all are there for most of
    /// the time, and hardly sleep.
    pub(super) fn may_spin(&self) -> bool {
        self.slept_ns < self.ran_ns / 20 && self.shortest_ns > self.window_ns / 2
    }
    /// How much of what they ran that is.
    pub fn share(self) -> f64 {
        self.apart_ns as f64 / self.ran_ns.max(1) as f64
    }
}
