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
#[path = "all/partitions.rs"]
mod partitions;
#[path = "all/policies.rs"]
mod policies;
#[path = "all/schedule.rs"]
mod schedule;
#[path = "all/texts.rs"]
mod texts;
#[path = "all/told.rs"]
mod told;
