//! Tests of the pictures through the public face of the crate.
#![allow(clippy::print_stdout, reason = "skips and figures are said aloud")]

mod chosen;
mod curves;
mod faces;
mod golden;
mod hostile;
mod made;
mod marked;
mod measured;
mod speed;
mod story;
