//! SchedViz's three totals of "idle while overloaded", as its `sched_analysis.go` defines them.
//!
//! A CPU is idle if it runs its idle task and no task waits on it. It is overloaded if a task waits
//! on it. A CPU that is both (idle and about to start a task) is left out as a transient.
//! Affinities do not count, and unknown CPUs count as neither idle nor overloaded.

use wastenot_model::{CpuId, CpuState, Observer, State, Time};

use crate::Scope;

/// The totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Time with at least one idle and one overloaded CPU.
    pub wall_ns: u64,
    /// Integral of min(idle CPUs, overloaded CPUs).
    pub per_cpu_ns: u64,
    /// Integral of min(idle CPUs, tasks waiting on overloaded CPUs).
    pub per_thread_ns: u64,
}

/// The observer.
#[derive(Debug)]
pub struct Watch<'a> {
    scope: &'a Scope,
    idle: u64,
    overloaded: u64,
    waiting: u64,
    totals: Totals,
}

impl<'a> Watch<'a> {
    /// Watches within `scope`.
    pub fn new(scope: &'a Scope) -> Watch<'a> {
        Watch { scope, idle: 0, overloaded: 0, waiting: 0, totals: Totals::default() }
    }
    /// The totals, once the replay has ended.
    pub fn finish(&self) -> Totals {
        self.totals
    }
}

impl Observer for Watch<'_> {
    #[inline]
    fn held(&mut self, _: &State, from: Time, to: Time) {
        let cpus = self.idle.min(self.overloaded);
        if cpus == 0 {
            return;
        }
        let ns = self.scope.counted_ns(from, to);
        self.totals.wall_ns += ns;
        self.totals.per_cpu_ns = self.totals.per_cpu_ns.saturating_add(cpus.saturating_mul(ns));
        let threads = self.idle.min(self.waiting).saturating_mul(ns);
        self.totals.per_thread_ns = self.totals.per_thread_ns.saturating_add(threads);
    }

    #[inline]
    fn cpu(&mut self, _: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        if !self.scope.has_cpu(cpu) {
            return;
        }
        let load = |cpu: &CpuState| if cpu.is_busy() { cpu.waiting } else { 0 };
        let (left, came) = (load(was), load(now));
        self.idle = self.idle + u64::from(now.is_idle()) - u64::from(was.is_idle());
        self.overloaded = self.overloaded + u64::from(came > 0) - u64::from(left > 0);
        self.waiting = self.waiting + u64::from(came) - u64::from(left);
    }
}
