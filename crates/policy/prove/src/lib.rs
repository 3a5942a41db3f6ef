//! Proofs of the claims of policies: the obligations of a claim, the engines that decide them, and
//! the counterexamples of claims that do not hold.
//!
//! A claim follows from [`obligations`]. Each [`engine`] refutes it, shows it, or is silent;
//! [`judge()`] concludes from their answers. A counterexample is a situation that a run of the
//! interpreter leads to; [`replay`] forces its steps again.

pub mod cache;
pub mod certificate;
pub mod conforms;
mod counterexample;
pub mod encode;
pub mod engine;
mod error;
pub mod explore;
pub mod ground;
mod judge;
mod machines;
pub mod obligations;
mod options;
pub mod replay;
mod report;
pub mod smt;
pub mod solver;
mod text;
pub mod wakeup;
mod warnings;

pub use counterexample::Counterexample;
pub use engine::{Finding, Judged, Scope};
pub use error::Error;
pub use judge::{
    Conclusion, Judgement, Outcome, Verdict, choose, judge, judge_partitions, judge_program,
};
pub use machines::{Small, machines};
pub use options::Options;
pub use report::report;
pub use text::interrupting;
pub use warnings::{Warning, warnings};
