//! What locks and messages take on this machine.
//!
//! The designs whose overheads `sim` simulates, as far as a program can have them: the same
//! [`Core`](wastenot_sim::edf::Core) decides, behind one lock, or on a thread of its own to which
//! the others write; or each CPU does for itself, behind a lock of its own. Threads stay on their
//! CPUs; nobody is interrupted, so what a kernel adds (interrupts, switches) is not in the figures.
//!
//! Locks and mailboxes are held against all interleavings of a few threads with up to three
//! preemptions: `cargo test -p wastenot-measure --features loom`.

mod apart;
mod mailbox;
mod spin;
mod sync;

#[cfg(not(feature = "loom"))]
mod drive;

#[cfg(not(feature = "loom"))]
pub use drive::{Benchmark, Error, Row, clock, measure, usable};
pub use mailbox::{Full, Mailbox};
pub use spin::{Lock, Queued, Ticket, take_beside};
