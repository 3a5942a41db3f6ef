//! Proofs about policies: what has to hold, who decides whether it does, and what a text that is
//! wrong leads to.

mod error;
pub mod smt;
pub mod solver;
pub mod wakeup;

pub use error::Error;
