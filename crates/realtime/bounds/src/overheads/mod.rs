//! What a kernel takes for itself, and what tasks become once that is counted as theirs.
//!
//! Brandenburg, "Scheduling and locking in multiprocessor real-time operating systems", PhD thesis,
//! University of North Carolina (2011), chapter 3: preemption-centric accounting.

mod curve;
mod inflate;

pub use curve::{Curve, Twice};
use inflate::Largest;
pub use inflate::{Accounting, TooMuch, inflate};

use wastenot_model::sporadic::TaskSet;

/// What each thing costs that a kernel does, each by the number of tasks (`cache_delay` and
/// `cache_load` by working set in KiB). What was not measured costs nothing.
///
/// Kinds are those of Feather-Trace. For hard real-time they are maxima that were observed: a
/// sample's maximum, no proven worst case. Averages bound nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overheads {
    /// How often the tick comes, in us.
    pub quantum_us: u64,
    /// Choosing whom to run, spinning for locks included (SCHED and SCHED2).
    pub schedule: Curve,
    /// Switching to it (CXS).
    pub switch: Curve,
    /// The tick's handler (TICK).
    pub tick: Curve,
    /// The handler of a release (RELEASE).
    pub release: Curve,
    /// From sending an interrupt to its handler on another CPU (SEND_RESCHED).
    pub ipi: Curve,
    /// From when a timer was due to its handler (RELEASE_LATENCY).
    pub latency: Curve,
    /// One message handled by the dedicated processor (DSP_HANDLER).
    pub handler: Curve,
    /// From a message to its being handled (CLIENT_REQUEST_LATENCY).
    pub request: Curve,
    /// What a preemption or migration costs a working set of so many KiB (CPMD).
    pub cache_delay: Curve,
    /// What it takes to load that in the first place.
    pub cache_load: Curve,
}

impl Default for Overheads {
    /// None.
    fn default() -> Overheads {
        let none = Curve::default;
        Overheads {
            quantum_us: 1_000,
            schedule: none(),
            switch: none(),
            tick: none(),
            release: none(),
            ipi: none(),
            latency: none(),
            handler: none(),
            request: none(),
            cache_delay: none(),
            cache_load: none(),
        }
    }
}

/// A place at which a kind of overhead is asked for, and was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beyond {
    /// Its name in tables.
    pub kind: &'static str,
    /// A number of tasks, or of KiB.
    pub at: u64,
    /// The first place at which it was measured.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// Whether places are sizes of working sets, in KiB.
    pub is_size: bool,
}

/// A kind of overhead.
struct Kind<'o> {
    name: &'static str,
    curve: &'o Curve,
    /// What it depends on.
    by: By,
}

/// What an overhead depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// How many tasks there are.
    Count,
    /// The task's own working set.
    Own,
    /// The working sets of those that preempt it.
    Others,
}

impl Overheads {
    /// What jobs pay for on so many CPUs, in the order in which they meet it.
    fn paid(&self, cpus: u32, who: Accounting) -> impl Iterator<Item = Kind<'_>> {
        let passing = who == Accounting::MessagePassing;
        let all = [
            ("schedule", &self.schedule, true),
            ("switch", &self.switch, true),
            ("tick", &self.tick, true),
            ("release", &self.release, true),
            ("ipi", &self.ipi, who.interrupts(cpus)),
            ("latency", &self.latency, true),
            ("handler", &self.handler, passing),
            ("request", &self.request, passing),
        ];
        let sizes = [
            Kind { name: "cache_delay", curve: &self.cache_delay, by: By::Others },
            Kind { name: "cache_load", curve: &self.cache_load, by: By::Own },
        ];
        let count = |(name, curve, _)| Kind { name, curve, by: By::Count };
        all.into_iter().filter(|it| it.2).map(count).chain(sizes)
    }

    /// The kinds that jobs pay for on so many CPUs and that were not measured: they count as 0.
    pub fn missing(&self, cpus: u32, who: Accounting) -> Vec<&'static str> {
        self.paid(cpus, who).filter(|kind| kind.curve.is_empty()).map(|kind| kind.name).collect()
    }

    /// The first place at which `tasks` on so many CPUs ask for what was not measured.
    pub fn beyond(&self, tasks: &TaskSet, cpus: u32, who: Accounting) -> Option<Beyond> {
        let largest = Largest::of(tasks);
        let asked = |by, n: usize| match by {
            By::Count => Some(tasks.len() as u64),
            By::Own => Some(tasks[n].wss_kb.into()),
            By::Others => largest.preempting(n, who).map(u64::from),
        };
        self.paid(cpus, who).find_map(|Kind { name, curve, by }| {
            let (first, last) = curve.range()?;
            let mut all = (0..tasks.len()).filter_map(|n| asked(by, n));
            let at = all.find(|at| !(first..=last).contains(at))?;
            Some(Beyond { kind: name, at, first, last, is_size: by != By::Count })
        })
    }
}
