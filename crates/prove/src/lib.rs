//! Proofs about policies: what has to hold, who decides whether it does, and what a text that is
//! wrong leads to.

pub mod cache;
pub mod certificate;
mod counterexample;
mod digest;
pub mod encode;
pub mod engine;
mod error;
pub mod explore;
pub mod ground;
mod judge;
mod machines;
pub mod obligations;
pub mod replay;
mod report;
pub mod smt;
pub mod solver;
mod text;
pub mod wakeup;
mod warnings;

pub use counterexample::Counterexample;
pub use engine::{Finding, Judged, Options, Scope};
pub use error::Error;
pub use judge::{
    Conclusion, Judgement, Outcome, Verdict, choose, judge, judge_partitions, judge_program,
};
pub use machines::{Small, machines};
pub use report::report;
pub use text::interrupting;
pub use warnings::{Warning, warnings};
