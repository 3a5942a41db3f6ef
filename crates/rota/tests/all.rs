//! Tests of the whole crate.

#[path = "all/interpret/mod.rs"]
mod interpret;
#[path = "all/parse.rs"]
mod parse;
#[path = "all/texts.rs"]
mod texts;
