//! Proofs about policies: what has to hold, who decides whether it does, and what a text that is
//! wrong leads to.

pub mod encode;
mod error;
pub mod explore;
mod machines;
pub mod obligations;
pub mod smt;
pub mod solver;

pub use error::Error;
pub use machines::{Small, machines};
