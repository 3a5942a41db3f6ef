//! How long run queues were: tasks running and waiting on a CPU, over time.

use wastenot_model::{
    CpuId, CpuReceiver, CpuSpans, CpuState, History, Observer, State, Time, Window,
};

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
    lengths: CpuSpans<Times<'a>>,
    longest: Option<(u32, CpuId, Time)>,
}

impl<'a> Watch<'a> {
    /// Watches `history` within `scope`.
    pub fn new(history: &History, scope: &'a Scope) -> Watch<'a> {
        let by_cpu = vec![[0; DEPTH_MAX + 1]; history.cpu_count()];
        Watch { scope, lengths: CpuSpans::new(Times { scope, by_cpu }), longest: None }
    }

    /// What was measured, once the replay has ended.
    pub fn finish(self) -> Depth {
        let times = &self.lengths.to.by_cpu;
        let by_cpu = self.scope.cpus().map(|cpu| (cpu, times[cpu.index()])).collect();
        Depth { by_cpu, longest: self.longest }
    }
}

impl Watch<'_> {
    /// The run queue of `cpu` is longer than any before.
    #[cold]
    fn grow(&mut self, state: &State, cpu: CpuId, now: &CpuState) {
        if self.scope.window.holds(state.now()) {
            self.longest = longer(self.longest, now.length(), cpu, state.now());
        }
    }
}

/// Time at each length, by CPU.
#[derive(Debug)]
struct Times<'a> {
    scope: &'a Scope,
    by_cpu: Vec<[u64; DEPTH_MAX + 1]>,
}

impl CpuReceiver for Times<'_> {
    type Seen = Option<u32>;

    #[inline]
    fn see(&self, is: &CpuState) -> Option<u32> {
        is.length()
    }

    #[inline]
    fn span(&mut self, cpu: CpuId, length: Option<u32>, window: Window) {
        if let (Some(length), true) = (length, self.scope.has_cpu(cpu)) {
            let time = &mut self.by_cpu[cpu.index()][(length as usize).min(DEPTH_MAX)];
            *time = time.saturating_add(self.scope.counted_ns(window.from, window.to));
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
    fn begun(&mut self, state: &State) {
        self.lengths.begun(state);
    }

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
        self.lengths.cpu(state, cpu, was, now);
        let most = self.longest.map_or(0, |longest| longest.0);
        let is_longer = now.length().is_some_and(|length| length > most);
        if is_longer && was.length() != now.length() && self.scope.has_cpu(cpu) {
            self.grow(state, cpu, now);
        }
    }

    fn end(&mut self, state: &State) {
        self.lengths.end(state);
    }
}
