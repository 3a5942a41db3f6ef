//! A recording in progress, independent of the way it is made.

use std::time::Duration;

use wastenot_model::{Head, Sink};

use crate::Error;

/// How to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes of each CPU's ring in the kernel, rounded up to a power of two.
    pub ring_bytes: u32,
    /// The way of recording.
    pub way: Way,
    /// Also record decisions; needs BPF.
    pub decisions: bool,
    /// Also what interrupts and softirqs CPUs serve (only with BPF).
    pub interrupts: bool,
}

/// The ways of recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// BPF if it may be used, else tracefs.
    #[default]
    Best,
    /// Only BPF.
    Bpf,
    /// A tracefs instance.
    Tracefs,
}

impl Options {
    /// The bytes of a ring, rounded to an allowed size.
    pub(crate) fn ring(&self) -> u32 {
        self.ring_bytes.clamp(64 << 10, 1 << 30).next_power_of_two()
    }
}

impl Default for Options {
    fn default() -> Options {
        Options { ring_bytes: 4 << 20, way: Way::default(), decisions: false, interrupts: false }
    }
}

/// The result of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Dropped events.
    pub lost: u64,
}

/// A recording in progress. Dropping it ends it and leaves nothing behind.
pub trait Recording {
    /// Waits until draining is worthwhile, a signal arrives, or the time is over.
    fn wait(&mut self, at_most: Duration);
    /// Moves the events up to a tenth of a second ago into the sink.
    fn drain(&mut self, sink: &mut dyn Sink);
    /// Ends the recording and moves the rest. Its kernel resources are freed when it is dropped.
    fn finish(&mut self, sink: &mut dyn Sink) -> Summary;
}

/// A recorder that is loaded, and can record again after each end.
pub(crate) trait Anew: Recording {
    /// Begins to record, and returns what is known before the first event.
    fn begin(&mut self) -> Result<Head, Error>;
}
