//! The tests of the crate.

mod known;
mod overheads;
mod sound;
mod verdict;
