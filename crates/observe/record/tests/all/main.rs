//! Recordings of this machine, as far as it allows them.
#![allow(clippy::print_stdout, reason = "skips and figures are said aloud")]

mod agree;
mod names;
mod tracefs;
mod watch;
