//! How long run queues were: tasks running and waiting on a CPU, over time.

use wastenot_model::{CpuId, CpuState, History, Observer, State, Time};

use crate::Scope;

/// Lengths above this are counted together.
pub const DEPTH_MAX: usize = 16;

/// Time spent at each length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depth {
    /// `by_cpu[c].0[n]` is the time in which n tasks ran or waited on that CPU; the last entry
    /// holds all longer lengths. CPUs that are unknown or offline do not count.
    pub by_cpu: Vec<(CpuId, [u64; DEPTH_MAX + 1])>,
    /// The longest run queue of all, and when and where it first was so long.
    pub longest: Option<(u32, CpuId, Time)>,
}

impl Depth {
    /// Time at each length, over all CPUs.
    pub fn total(&self) -> [u64; DEPTH_MAX + 1] {
        let mut total = [0u64; DEPTH_MAX + 1];
        for (_, times) in &self.by_cpu {
            for (total, time) in total.iter_mut().zip(times) {
                *total = u64::saturating_add(*total, *time);
            }
        }
        total
    }
}

/// Mean length of run queues with these times at each length.
pub fn mean(times: &[u64; DEPTH_MAX + 1]) -> f64 {
    let total = times.iter().fold(0, |all: u64, ns| all.saturating_add(*ns));
    let weighted: f64 = times.iter().enumerate().map(|(n, &ns)| n as f64 * ns as f64).sum();
    if total == 0 { 0.0 } else { weighted / total as f64 }
}

/// The observer.
#[derive(Debug)]
pub struct Watch<'a> {
    scope: &'a Scope,
    /// Since when each run queue is as long as it is.
    since: Vec<Time>,
    times: Vec<[u64; DEPTH_MAX + 1]>,
    longest: Option<(u32, CpuId, Time)>,
}

impl<'a> Watch<'a> {
    /// Watches `history` within `scope`.
    pub fn new(history: &History, scope: &'a Scope) -> Watch<'a> {
        Watch {
            scope,
            since: vec![Time(0); history.cpu_count()],
            times: vec![[0; DEPTH_MAX + 1]; history.cpu_count()],
            longest: None,
        }
    }

    /// What was measured, once the replay has ended.
    pub fn finish(self) -> Depth {
        let by_cpu = self.scope.cpus().map(|cpu| (cpu, self.times[cpu.index()])).collect();
        Depth { by_cpu, longest: self.longest }
    }

    fn close(&mut self, cpu: CpuId, length: Option<u32>, now: Time) {
        let since = std::mem::replace(&mut self.since[cpu.index()], now);
        if let Some(length) = length {
            let ns = self.scope.counted_ns(since, now);
            let time = &mut self.times[cpu.index()][(length as usize).min(DEPTH_MAX)];
            *time = time.saturating_add(ns);
        }
    }
}

/// The longer one, or the one that was so long first.
fn longer(
    longest: Option<(u32, CpuId, Time)>,
    length: Option<u32>,
    cpu: CpuId,
    now: Time,
) -> Option<(u32, CpuId, Time)> {
    let most = longest.map_or(0, |longest| longest.0);
    length.filter(|&length| length > most).map(|length| (length, cpu, now)).or(longest)
}

impl Observer for Watch<'_> {
    /// As the counted time begins, queues are as long as they were before.
    #[inline]
    fn held(&mut self, state: &State, from: Time, to: Time) {
        let begins = self.scope.window.from;
        if from < begins && begins <= to {
            for cpu in self.scope.cpus() {
                self.longest = longer(self.longest, state.cpu(cpu).length(), cpu, begins);
            }
        }
    }

    #[inline]
    fn cpu(&mut self, state: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        if was.length() == now.length() || !self.scope.has_cpu(cpu) {
            return;
        }
        self.close(cpu, was.length(), state.now());
        if self.scope.window.holds(state.now()) {
            self.longest = longer(self.longest, now.length(), cpu, state.now());
        }
    }

    fn end(&mut self, state: &State) {
        let cpus: Vec<CpuId> = self.scope.cpus().collect();
        cpus.into_iter().for_each(|cpu| self.close(cpu, state.cpu(cpu).length(), state.now()));
    }
}
