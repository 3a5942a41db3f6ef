//! Proofs about policies: what has to hold, who decides whether it does, and what a text that is
//! wrong leads to.

pub mod cache;
pub mod certificate;
mod counterexample;
mod digest;
pub mod encode;
mod error;
pub mod explore;
pub mod ground;
mod hints;
mod machines;
pub mod mutants;
pub mod obligations;
mod own;
mod partitions;
pub mod replay;
mod report;
pub mod smt;
pub mod solver;
mod verdict;
pub mod wakeup;
mod warnings;
mod written;

pub use counterexample::Counterexample;
pub use error::Error;
pub use machines::{Small, machines};
pub use partitions::judge_partitions;
pub use report::{Judgement, report};
pub use verdict::{Finding, Judged, Options, Outcome, Scope, Verdict, judge};
pub use warnings::{Warning, warnings};
