//! Runs a [`Workload`](wastenot_model::Workload) for real, on this machine.
//!
//! A [`Plan`] is a workload as the program in `c/` reads it: one file that the program and all
//! its tasks map. [`Plan::run`] runs it, and gives what its tasks [`Did`]. Who wants to see how
//! they were scheduled records meanwhile.
//!
//! A task is a thread of the process of the task that creates it. It is a process where it is in
//! another session or cgroup than that one, where one of the two executes programs, and where it
//! exists from the start. CPU time is that of the task: `compute 2ms` ends when the kernel has
//! given it 2 ms, however fast the CPU is.

mod bytes;
pub mod class;
mod error;
mod groups;
mod notes;
mod plan;
mod program;
mod run;

pub use error::{Error, Unfit};
pub use notes::{Did, End, Marked, Told};
pub use plan::Plan;
pub use program::Program;
pub use run::Running;
