//! Scenarios in real kernels. A bench runs the tasks of a variant for real, by the runner, and
//! records meanwhile; so its cells are made from Histories like those of the simulator.
//!
//! [`Host`] is this machine. [`Guests`] are machines that QEMU builds: each boots a kernel with
//! this program as its first process ([`guest`]), which does the same there and powers off.

pub mod bisect;
mod boot;
mod error;
mod fault;
mod guest;
mod guests;
mod host;
mod image;
mod job;
pub mod kernels;
mod kmsg;
mod loaded;
mod object;
mod pack;
mod qemu;
mod real;
pub mod runner;
mod topology;

pub use error::Error;
pub use guest::guest;
pub use guests::{Guests, Options};
pub use host::Host;
pub use object::Scheduler;
pub use qemu::{Qemu, exec, has_equal_turns, shell};
pub use topology::Unbuildable;
