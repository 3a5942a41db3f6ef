//! Tests of the whole crate.

#[cfg(test)]
#[path = "all/solvers.rs"]
mod solvers;
