//! The tests of the crate.

mod known;
mod machine;
mod overheads;
mod sound;
mod verdict;
