//! Records a live kernel: what happened becomes a History, pushed into a [`Tape`].
//!
//! BPF programs on the scheduler's tracepoints write into one ring a CPU; the rings are drained,
//! merged in time order and given tasks ([`begin`]). Where BPF may not be used a tracefs
//! instance does the same with less: no affinities, no state at the start.

#[cfg(bpf)]
mod bpf;
mod cgroups;
mod clock;
mod error;
mod host;
mod merge;
mod mounts;
mod recording;
mod tape;
mod tracefs;
mod weave;
mod wire;

pub use error::Error;
pub use recording::{Begun, Options, Recording, Summary, Way, begin};
pub use tape::Tape;
