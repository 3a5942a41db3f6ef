//! Recordings in the browser.
//!
//! A [`Recording`] holds what a page shows of one History: the report of its check, the machine,
//! the names of tasks, and [`Tiles`](wastenot_tiles::Tiles). A [`View`] is one of them, or two side
//! by side; it answers the page's questions (`answer`), and [`Server`] does so over HTTP, for a
//! browser of this machine alone. The page is in `page/` (TypeScript); its built form is part of
//! this crate, so that building needs no Node.

mod answer;
mod folds;
mod recording;
mod server;
mod tables;

use wastenot_check::compare::{self, Comparison};
use wastenot_model::{Report, Time};

pub use self::answer::Answer;
pub use self::recording::{Recording, TILE_CELLS, TILE_LANES, check};
pub use self::server::{Error, Server};

/// What one page shows.
#[derive(Debug)]
pub struct View {
    recordings: Vec<Recording>,
    /// Tables of what differs.
    differences: Vec<serde_json::Value>,
}

impl View {
    /// Of one recording.
    pub fn new(recording: Recording) -> View {
        View { recordings: vec![recording], differences: Vec::new() }
    }

    /// Of two, each with the report of its check.
    pub fn two(before: (Recording, Report), after: (Recording, Report)) -> View {
        let runs = Comparison::of(&[before.1], &[after.1]);
        let differences = tables::tables(&compare::report(&runs), Time(0));
        View { recordings: vec![before.0, after.0], differences }
    }
}
