//! Proofs about policies: what has to hold, who decides whether it does, and what a text that is
//! wrong leads to.

mod error;
pub mod explore;
mod machines;
pub mod smt;
pub mod solver;

pub use error::Error;
pub use machines::{Small, machines};
