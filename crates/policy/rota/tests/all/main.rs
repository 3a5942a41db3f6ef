//! Tests of the whole crate.

mod codes;
mod emit;
mod format;
mod hostile;
mod interpret;
mod page;
mod parse;
mod partitions;
mod policies;
mod schedule;
mod texts;
mod told;
