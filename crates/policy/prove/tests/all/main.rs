//! Tests of the whole crate.
#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]
#![allow(clippy::print_stdout, reason = "tests say what they found")]

mod certificate;
mod conforms;
mod conforms_rules;
mod decided;
mod false_proofs;
mod false_refutations;
mod farther;
mod gallery;
mod ground;
mod interpreted;
mod partitions;
mod random;
mod real_refutations;
mod remarks;
mod replay;
mod solvers;
mod texts;
mod theorems;
mod wakeup;
mod warnings;
mod words;
