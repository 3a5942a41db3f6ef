//! Tests that need several crates.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests say what they ran and skipped"
)]

mod accounts;
mod causes;
mod cut;
mod decisions;
mod figures;
mod formats;
mod formulas;
mod fuzz;
mod glance;
mod marks;
mod memory;
mod messages;
mod migrations;
mod missing;
mod policies;
mod properties;
mod random;
mod rejected;
mod seeds;
mod stalls;
mod tiles;
mod tools;
mod traces;
mod waste;
mod windows;
