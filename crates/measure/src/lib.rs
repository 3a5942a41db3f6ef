//! What locks and messages take on this machine.
//!
//! The designs whose overheads `sim` simulates, as far as a program can have them: the same
//! [`Core`](wastenot_sim::edf::Core) decides, behind one lock, behind a lock for each CPU, or on a
//! thread of its own to which the others write. Threads stay on their CPUs; nobody is interrupted,
//! so what a kernel adds (interrupts, switches) is not in the figures.
//!
//! Locks and mailboxes are held against every interleaving of a few threads: `cargo test -p
//! wastenot-measure --features loom`.

mod mailbox;
mod spin;
mod sync;

#[cfg(not(feature = "loom"))]
mod drive;

#[cfg(not(feature = "loom"))]
pub use drive::{Design, Error, Row, clock, measure, usable};
pub use mailbox::{Full, Mailbox};
pub use spin::{Lock, Queued, Ticket};
