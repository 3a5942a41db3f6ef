//! Tests of the whole crate.

mod interpret;
