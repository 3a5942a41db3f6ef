//! The lengths of run queues over time: running and waiting tasks on a CPU.

use wastenot_model::{CpuId, CpuState, Observer, State, Time};

use crate::Scope;

/// Lengths above this are counted together.
pub(crate) const DEPTH_MAX: usize = 16;

/// Time spent at each length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depth {
    /// `by_cpu[c].0[n]` is the time in which n tasks ran or waited on that CPU; the last entry
    /// holds all longer lengths. CPUs that are unknown or offline do not count.
    pub by_cpu: Vec<(CpuId, [u64; DEPTH_MAX + 1])>,
    /// The longest run queue of all, with the CPU and the time of its first occurrence.
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
pub(crate) fn mean(times: &[u64; DEPTH_MAX + 1]) -> f64 {
    let total = times.iter().fold(0, |all: u64, ns| all.saturating_add(*ns));
    let weighted: f64 = times.iter().enumerate().map(|(n, &ns)| n as f64 * ns as f64).sum();
    if total == 0 { 0.0 } else { weighted / total as f64 }
}

/// The observer.
#[derive(Debug)]
pub struct Watch<'a> {
    scope: &'a Scope,
    /// Empty before the start is told.
    cpus: Vec<Lengths>,
    longest: Option<(u32, CpuId, Time)>,
}

/// The lengths of one CPU's run queue.
#[derive(Clone, Debug)]
struct Lengths {
    /// Since when it has the present one.
    since: Time,
    /// Counted time at each length so far.
    times: [u64; DEPTH_MAX + 1],
}

impl<'a> Watch<'a> {
    /// Watches what happens within `scope`.
    pub fn new(scope: &'a Scope) -> Watch<'a> {
        Watch { scope, cpus: Vec::new(), longest: None }
    }

    /// The lengths, after the end of the replay.
    pub fn finish(self) -> Depth {
        let by_cpu = self.scope.cpus().map(|cpu| (cpu, self.cpus[cpu.index()].times)).collect();
        Depth { by_cpu, longest: self.longest }
    }

    /// The run queue of `cpu` was so long up to `now`.
    #[inline]
    fn was(&mut self, cpu: CpuId, length: Option<u32>, now: Time) {
        let Some(known) = self.cpus.get_mut(cpu.index()) else { return };
        let from = std::mem::replace(&mut known.since, now);
        if let Some(length) = length {
            let time = &mut known.times[(length as usize).min(DEPTH_MAX)];
            *time = time.saturating_add(self.scope.counted_ns(from, now));
        }
    }

    /// The run queue of `cpu` is so long at `now`, which counts.
    #[inline]
    fn is(&mut self, cpu: CpuId, length: Option<u32>, now: Time) {
        let most = self.longest.map_or(0, |longest| longest.0);
        if let Some(length) = length.filter(|&length| length > most && self.scope.has_cpu(cpu)) {
            self.longest = Some((length, cpu, now));
        }
    }
}

impl Observer for Watch<'_> {
    fn begun(&mut self, state: &State) {
        let at_first = Lengths { since: state.now(), times: [0; DEPTH_MAX + 1] };
        self.cpus = vec![at_first; state.cpu_count()];
    }

    /// As the counted time begins, queues are as long as they were before.
    #[inline]
    fn held(&mut self, state: &State, from: Time, to: Time) {
        let begins = self.scope.window.from;
        if from < begins && begins <= to {
            state.cpus().for_each(|(cpu, known)| self.is(cpu, known.length(), begins));
        }
    }

    #[inline]
    fn cpu(&mut self, state: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        if was.length() == now.length() {
            return;
        }
        self.was(cpu, was.length(), state.now());
        if self.scope.window.holds(state.now()) {
            self.is(cpu, now.length(), state.now());
        }
    }

    fn end(&mut self, state: &State) {
        state.cpus().for_each(|(cpu, known)| self.was(cpu, known.length(), state.now()));
    }
}
