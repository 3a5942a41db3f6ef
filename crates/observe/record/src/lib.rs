//! Records a live kernel: events are pushed into a [`Sink`](wastenot_model::Sink).
//!
//! BPF programs on the scheduler's tracepoints write into one ring per CPU; the rings are drained,
//! merged in time order, and tids are resolved to tasks ([`begin`]). If BPF may not be used, a
//! tracefs instance records with less information: no affinities, no state at the start.
#![cfg_attr(not(bpf), allow(dead_code, reason = "only the BPF programs use a part of this code"))]

mod begin;
#[cfg(bpf)]
mod bpf;
mod clock;
mod decided;
mod error;
mod flight;
mod host;
mod interrupts;
mod merge;
mod newidle;
mod quota;
mod recording;
mod sched_ext;
mod schedstat;
mod steal;
mod thin;
mod tracefs;
mod trigger;
pub mod watch;
mod weave;
mod wire;

pub use begin::{Begun, begin, probe_bpf};
pub use clock::now;
pub use error::Error;
pub use flight::Flight;
pub use recording::{Options, Recording, Summary, Way};
pub use trigger::{Fired, Trigger};
