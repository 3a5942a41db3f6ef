//! Tests of the whole crate.

#[path = "all/codes.rs"]
mod codes;
#[path = "all/emit/mod.rs"]
mod emit;
#[path = "all/format.rs"]
mod format;
#[path = "all/hostile.rs"]
mod hostile;
#[path = "all/interpret/mod.rs"]
mod interpret;
#[path = "all/page.rs"]
mod page;
#[path = "all/parse.rs"]
mod parse;
#[path = "all/policies.rs"]
mod policies;
#[path = "all/texts.rs"]
mod texts;
