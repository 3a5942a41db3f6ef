//! The sanity checker of "The Linux Scheduler: a Decade of Wasted Cores" (Lozi et al., EuroSys
//! 2016), applied to a trace.
//!
//! The checker has three invariants: no CPU is idle while tasks wait (`idle`); tasks of equal
//! weight wait equally long (`deficit`); no task is moved to a CPU where at least as many tasks
//! wait (`useless`). The first invariant has two published rules:
//!
//! - The paper: every period (1 s), look for an idle CPU and a CPU with at least two runnable
//!   tasks, of which a waiting one may run on the idle CPU. Then watch for the confirmation time
//!   (100 ms). If the violation ends within this time, it was transient.
//! - The released module: look every period in the same way, and report a CPU after ten consecutive
//!   failing looks. If the CPU has taken a task from another CPU since the last look, its count
//!   starts again.

mod deficit;
mod idle;
mod useless;
mod weights;

use wastenot_model::{
    CpuId, Entry, Event, History, Observer, Span, State, TaskId, TaskState, Time,
};

pub use self::deficit::Deficit;
use self::deficit::Deficits;
use self::idle::{Idle, Part};
pub use self::useless::Useless;
use self::useless::UselessMoves;
use crate::{Movable, Scope};

/// When to look and when to believe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Time between looks.
    pub period: Span,
    /// How long a violation must last after a look to be confirmed.
    pub confirm: Span,
    /// After how many consecutive failing looks the module reports a CPU.
    pub consecutive: u32,
    /// A violation goes on that is interrupted for no longer than this. Nothing by the published
    /// rules; a live watch allows for the kernel threads that run for microseconds on idle CPUs.
    pub grace: Span,
    /// Run-time deficits are sums over so long a time.
    pub fairness: Span,
}

impl Default for Rules {
    fn default() -> Rules {
        let (period, confirm) = (Span::s(1), Span::ms(100));
        Rules { period, confirm, consecutive: 10, grace: Span::ZERO, fairness: Span::s(1) }
    }
}

/// What the checker would have said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Looks made.
    pub looks: u64,
    /// Looks that found an idle CPU beside waiting work.
    pub suspected: u64,
    /// Suspicions that lasted for the confirmation time: the paper's reports.
    pub confirmed: u64,
    /// Suspicions that ended within it.
    pub transient: u64,
    /// Suspicions still open when the trace ended.
    pub unfinished: u64,
    /// CPUs reported after enough consecutive failing looks: the module's reports.
    pub consecutive: u64,
    /// When each confirmed suspicion was raised, and for which idle CPU; the first 1000.
    pub reports: Vec<(Time, CpuId)>,
    /// Run-time deficits: the second invariant.
    pub deficits: u64,
    /// The first 1000 of them.
    pub deficit_reports: Vec<Deficit>,
    /// Useless migrations: the third invariant.
    pub useless: u64,
    /// The first 1000 of them.
    pub useless_reports: Vec<Useless>,
}

/// So many of a kind are listed.
const LISTED: usize = 1000;

/// Checks a recording, or parts of one that begin where the last one ended.
#[derive(Clone, Debug)]
pub struct Checker {
    idle: Idle,
    deficits: Deficits,
    useless: UselessMoves,
}

impl Checker {
    /// A checker of what happens from `from` on.
    pub fn new(rules: Rules, from: Time) -> Checker {
        Checker {
            idle: Idle::new(rules, from),
            deficits: Deficits::new(rules.fairness, from),
            useless: UselessMoves::default(),
        }
    }

    /// Looks at the next part, as an observer of its replay.
    pub fn over<'a>(
        &'a mut self,
        history: &'a History,
        scope: &'a Scope,
        movable: &'a Movable,
    ) -> Watch<'a> {
        self.idle.know_cpus(scope.cpu_count());
        Watch { part: Part { history, scope, movable }, checker: self }
    }

    /// What was found since this was asked last.
    pub fn take(&mut self) -> Verdicts {
        let mut verdicts = self.idle.take();
        (verdicts.deficits, verdicts.deficit_reports) = self.deficits.take();
        (verdicts.useless, verdicts.useless_reports) = self.useless.take();
        verdicts
    }
}

/// The observer.
#[derive(Debug)]
pub struct Watch<'a> {
    part: Part<'a>,
    checker: &'a mut Checker,
}

impl Observer for Watch<'_> {
    #[inline]
    fn held(&mut self, state: &State, from: Time, to: Time) {
        self.checker.idle.held(self.part, state, from, to);
        self.checker.deficits.held(self.part, state, to);
    }

    #[inline]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        self.checker.deficits.changed(state.now(), task, was);
        self.checker.useless.changed(self.part, state, task, was, now);
    }

    #[inline(always)]
    fn event(&mut self, state: &State, entry: &Entry) {
        if let Event::Migrate { task, to, .. } = entry.event {
            self.checker.idle.migrated(state, task, to);
        }
    }

    fn end(&mut self, state: &State) {
        self.checker.deficits.pause(state);
    }
}
