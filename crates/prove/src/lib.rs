//! Proofs about policies: what has to hold, who decides whether it does, and what a text that is
//! wrong leads to.

pub mod explore;
mod machines;

pub use machines::{Small, machines};
