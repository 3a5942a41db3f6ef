//! Loads schedulers that `wastenot rota emit` wrote into the running kernel.
//!
//! An [`Object`] is what clang made of the emitted C. It gets the tables of the machine and the
//! constants of the kernel, then the kernel verifies it ([`Object::load`]), and from
//! [`Loaded::start`] on it schedules, until the [`Running`] is dropped or the process ends, however
//! that is: nothing is pinned. A [`Scheduler`] does all that for a policy, and again when CPUs came
//! or went.

mod compile;
mod drain;
mod error;
mod exit;
mod fill;
mod log;
mod metrics;
mod object;
mod refusal;
mod running;
mod scheduler;

pub use compile::compile;
pub use error::Error;
pub use exit::Exit;
pub use fill::tables;
pub use metrics::Seen;
pub use object::{Loaded, Object, Verified, digest, operations};
pub use refusal::Refusal;
pub use running::{Running, STEPS};
pub use scheduler::Scheduler;
