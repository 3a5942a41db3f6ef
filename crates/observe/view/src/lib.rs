//! Traces on a page in a browser.
//!
//! A [`Recording`] contains the content of the page for one History: the report of its check, the
//! machine, the names of tasks, and [`Tiles`](crate::tiles::Tiles). A [`View`] contains one of
//! them, or two for a comparison, and answers the requests of the page (`answer`). [`Server`]
//! serves the answers over HTTP, only to browsers on this machine. [`View::file`] puts the answers
//! into the page, which is then a file that opens from disk. The script of the page is in `page/`
//! (TypeScript). Its built form is part of this crate, so building the crate needs no Node.

mod account;
mod annexes;
mod answer;
mod decisions;
mod file;
mod folds;
mod frequency;
pub mod html;
mod kept;
mod recording;
mod server;
mod sums;
mod tasks;
pub mod tiles;
mod way;

use std::sync::OnceLock;

use self::html::{Extra, Words};
use wastenot_check::compare::{self, Comparison};
use wastenot_model::Report;

pub use self::answer::Answer;
pub use self::html::html;
pub use self::recording::{Content, Events, Read, Recording, check};
pub use self::server::{Error, Server};
pub use crate::tiles::{Bytes, Spill};

/// What one page shows.
#[derive(Debug)]
pub struct View {
    recordings: Vec<Recording>,
    /// What differs, as HTML: what stands first, and the rest.
    differences: Option<(String, Words)>,
    /// The page and its head, which do not change: made when they are first asked for.
    made: [OnceLock<Answer>; 2],
}

/// Rows of each list that a page has from the beginning if it can ask for more.
pub(crate) const FIRST_ROWS: usize = 20;

const SCRIPT: &str = include_str!("../page/page.js");
const STYLE: &str = include_str!("../page/src/style.css");
const LANES: &str = include_str!("../page/src/lanes.html");

impl View {
    /// Of one recording.
    pub fn new(recording: Recording) -> View {
        View::of(vec![recording])
    }

    /// Of recordings beside each other, without what differs: of one, or of glances at two.
    pub fn of(recordings: Vec<Recording>) -> View {
        View { recordings, differences: None, made: Default::default() }
    }

    /// Of two, each with the report of its check.
    pub fn two(before: (Recording, Report), after: (Recording, Report)) -> View {
        let report = compare::report(&Comparison::of(&[before.1], &[after.1]));
        let differences = Some((html::first(&report), html::rest(&report, None)));
        View { differences, ..View::of(vec![before.0, after.0]) }
    }

    /// The page: what stands first of each report, time, and the rest in words. `data` is an
    /// element with answers, or empty: then it asks a server, also for all but the first rows of
    /// tables. `detail` says what it has of time.
    fn page(&self, data: &str, detail: &str) -> String {
        let asks = data.is_empty();
        let rows = if asks { FIRST_ROWS } else { usize::MAX };
        let titles: Vec<&str> = self.recordings.iter().map(|it| it.title.as_str()).collect();
        let of = |words: &dyn Fn(&Recording) -> String| {
            let all = self.recordings.iter().enumerate().map(|(n, it)| {
                let side = match (self.recordings.len(), n) {
                    (1, _) => "",
                    (_, 0) => "<h2>Before</h2>\n",
                    _ => "<h2>After</h2>\n",
                };
                format!("<div data-recording=\"{n}\">\n{side}{}</div>\n", words(it))
            });
            all.collect::<String>()
        };
        let rest = |it: &Recording| {
            let decisions = if asks { it.decisions.section() } else { String::new() };
            decisions + &it.rest.cut(rows)
        };
        let lanes = LANES.replace("<!-- detail -->", detail);
        let content = match &self.differences {
            None => {
                let (first, rest) = (of(&|it| it.first.clone()), of(&rest));
                format!("{first}{lanes}{rest}")
            }
            // What differs is asked; what each says alone stands below.
            Some((first, both)) => {
                let both = both.cut(rows);
                let each = of(&|it| it.first.clone() + &rest(it));
                format!("{first}{lanes}<div data-recording=\"both\">\n{both}</div>\n{each}")
            }
        };
        let extra = Extra { style: STYLE, data, script: SCRIPT, asks };
        html::page(&titles.join(" and "), &content, &extra)
    }
}
