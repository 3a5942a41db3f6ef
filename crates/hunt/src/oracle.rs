//! What is a finding: a loss that the scheduler promises not to have.
//!
//! A fault needs no invariant of its own. [`losses`] asks two questions about the waste that each
//! cause took in a run (`wastenot_check::causes`):
//!
//! - **Does it persist?** Some task waited while a CPU that it may use was idle, without a break
//!   for longer than the scheduler itself takes to look at every CPU: [`bound`], from its own
//!   intervals. That is the loss of the cause that took most of the waste of the run.
//! - **Does it recur?** It took at least [`RECURS`] of the CPU time that tasks used, and at least
//!   [`TIMES`] times as much as its longest stretch: single losses may be short, but there is one
//!   after the other.
//!
//! Only causes within `scheduler` count: what affinities and quotas ask for is no loss of a
//! scheduler, and the tree of causes has it elsewhere. A loss of a run is only a candidate. It is a
//! [finding](crate::finding) if it is there with three seeds and disappears in a control.

use wastenot_check::causes::is_within;
use wastenot_model::Span;
use wastenot_scenario::scenario::Choice;

use crate::trial::{Ended, Seen};

/// The share of the CPU time that tasks used from which on a loss recurs.
pub const RECURS: f64 = 0.05;
/// How many times its longest stretch a loss takes that recurs.
pub const TIMES: f64 = 20.0;
/// The part of the waste that the cause of a loss that persists took.
const MOST: f64 = 0.5;

/// A loss of one run, by one cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss<'s> {
    /// The cause, a path in the tree.
    pub cause: &'s str,
    /// Which it is.
    pub kind: Kind,
    /// What it took of the CPU time that tasks used.
    pub share: f64,
    /// The longest stretch of it: if it persists, of waste without a break, else of one wait.
    pub longest: Span,
    /// How much it is: from 1 on it is a candidate.
    pub grade: f64,
}

/// How a loss breaks a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It lasts longer than the scheduler's own intervals.
    Persists,
    /// It happens again and again.
    Recurs,
}

impl Kind {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Persists => "persists",
            Kind::Recurs => "recurs",
        }
    }
}

/// How long a task may wait while a CPU that it may use is idle, by the intervals of the scheduler
/// itself, on a machine of so many CPUs; `None` where no such interval is known.
///
/// Linux, CFS and EEVDF: an idle CPU balances each domain at least every 2 ms times the number of
/// its CPUs (`sd->max_interval`, kernel/sched/topology.c), rounded up to ticks of 4 ms. The widest
/// has all CPUs. A task that is cache-hot is taken after `cache_nice_tries` + 1 passes that failed,
/// 3 at most, and a running one is pushed away after two more (`need_active_balance`,
/// kernel/sched/fair.c).
pub fn bound(choice: &Choice, cpus: usize) -> Option<Span> {
    const PASSES: u64 = 5;
    const TICK_MS: u64 = 4;
    let is_linux = choice.name.starts_with("cfs-") || choice.name.starts_with("eevdf-");
    match &*choice.name {
        _ if is_linux => {
            let interval = (2 * cpus as u64).next_multiple_of(TICK_MS);
            Some(Span::ms(PASSES * interval))
        }
        // One queue: a CPU that becomes idle takes from it.
        "global-fifo" | "work-conserving" | "linux-2.4" => Some(Span::ms(1)),
        _ => None,
    }
}

/// The losses of a run, the greatest first.
pub fn losses(seen: &Seen, bound: Option<Span>) -> Vec<Loss<'_>> {
    if matches!(seen.ended, Ended::Never(_)) {
        return Vec::new();
    }
    let all = seen.causes.iter().filter(|it| is_within(&it.cause, "scheduler"));
    let mut all: Vec<Loss<'_>> = all
        .map(|took| {
            let share = took.ns as f64 / seen.busy_ns.max(1) as f64;
            let is_most = took.ns as f64 >= MOST * seen.waste_ns as f64;
            let bound = bound.filter(|_| is_most);
            let persists = bound.map_or(0.0, |it| seen.longest_ns as f64 / it.0.max(1) as f64);
            let times = took.ns as f64 / took.longest_ns.max(1) as f64;
            // Both have to be: how far it is from that is the lesser of the two.
            let recurs = (share / RECURS).min(times / TIMES);
            let (kind, longest) = match persists >= recurs {
                true => (Kind::Persists, Span(seen.longest_ns)),
                false => (Kind::Recurs, Span(took.longest_ns)),
            };
            Loss { cause: &took.cause, kind, share, longest, grade: persists.max(recurs) }
        })
        .collect();
    all.sort_by(|a, b| b.grade.total_cmp(&a.grade).then_with(|| a.cause.cmp(b.cause)));
    all
}
