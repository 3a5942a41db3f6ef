//! What a kernel takes for itself, and what tasks become once that is counted as theirs.
//!
//! Brandenburg, "Scheduling and locking in multiprocessor real-time operating systems", PhD thesis,
//! University of North Carolina (2011), chapter 3: preemption-centric accounting.

mod curve;
mod inflate;

pub use curve::{Curve, Reach, Twice};
pub use inflate::{Implementation, Inflated, TooMuch, inflate};

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
