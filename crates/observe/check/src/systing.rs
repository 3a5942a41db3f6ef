//! systing's total: the time in which one observed CPU had more than one task in its run queue
//! while another observed CPU was idle (`sched_aggregate.rs`). Unknown CPUs are not observed.

use wastenot_model::{CpuId, CpuState, Observer, State, Time};

use crate::Scope;

/// The total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// Time of violation.
    pub violation_ns: u64,
    /// The counted time.
    pub span_ns: u64,
}

impl Total {
    /// As a part of the counted time.
    pub(crate) fn fraction(&self) -> f64 {
        if self.span_ns == 0 { 0.0 } else { self.violation_ns as f64 / self.span_ns as f64 }
    }
}

/// The observer.
#[derive(Debug)]
pub struct Watch<'a> {
    scope: &'a Scope,
    idle: u64,
    long: u64,
    total: Total,
}

impl<'a> Watch<'a> {
    /// Watches within `scope`.
    pub fn new(scope: &'a Scope) -> Watch<'a> {
        let total = Total { violation_ns: 0, span_ns: scope.window.span().0 };
        Watch { scope, idle: 0, long: 0, total }
    }
    /// The total, once the replay has ended.
    pub fn finish(&self) -> Total {
        self.total
    }
}

impl Observer for Watch<'_> {
    #[inline]
    fn held(&mut self, _: &State, from: Time, to: Time) {
        if self.idle > 0 && self.long > 0 {
            self.total.violation_ns += self.scope.counted_ns(from, to);
        }
    }

    #[inline]
    fn cpu(&mut self, _: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        if !self.scope.has_cpu(cpu) {
            return;
        }
        let long = |cpu: &CpuState| u64::from(cpu.length().is_some_and(|length| length > 1));
        self.idle = self.idle + u64::from(now.is_idle()) - u64::from(was.is_idle());
        self.long = self.long + long(now) - long(was);
    }
}
