//! The page as a single file that contains its answers.
//!
//! The file contains whole levels of cells, from the widest one on, as long as they fit and show
//! more detail. Then the file contains narrower cells around violations, the worst violations
//! first.

use crate::tiles::{LEVELS, TILE_CELLS, TILE_LANES, width_ns};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rayon::prelude::*;
use serde_json::{Map, Value};
use wastenot_model::Span;

use crate::recording::tile;
use crate::{Answer, Recording, View};

/// Cells for each event beyond which narrower ones show little more.
const CELLS_PER_EVENT: u64 = 64;
/// A violation is shown at least so many cells wide.
const CELLS_OF_VIOLATION: u64 = 64;

/// Stretches of which answers are made at the same time.
const AT_ONCE: u64 = 16;

/// So many violations have more detail around them.
const VIOLATIONS: usize = 100;

/// Answers by what is asked, and how large the page is with them.
struct Answers {
    all: Map<String, Value>,
    bytes: usize,
}

impl Answers {
    /// Takes answers in; false, and none of them, if they make the page larger than `most`.
    fn add(&mut self, answers: impl Iterator<Item = (String, Answer)>, most: usize) -> bool {
        let before = self.bytes;
        let mut new = Vec::new();
        for (path, answer) in answers {
            let packed = STANDARD.encode(&answer.body);
            // With quotes, a colon and a comma.
            self.bytes += path.len() + packed.len() + 6;
            if self.bytes > most {
                self.bytes = before;
                return false;
            }
            new.push((path, packed.into()));
        }
        self.all.extend(new);
        true
    }

    fn has(&self, path: &str) -> bool {
        self.all.contains_key(path)
    }
}

/// A recording, and its place in the view.
struct Part<'v>(usize, &'v Recording);

impl Part<'_> {
    /// The widest level: one cell has it all.
    fn widest(&self) -> u32 {
        let span = self.1.tiles.window().span().0;
        (0..LEVELS).find(|level| width_ns(*level) >= span).unwrap_or(LEVELS - 1)
    }

    /// Where the totals of a stretch of time are asked for.
    fn totals(&self, level: u32, n: u64) -> String {
        format!("{}/totals/{level}/{n}", self.0)
    }

    /// All answers on cells `n * TILE_CELLS` on of a level, for so many folds.
    fn stretch(&self, folds: usize, level: u32, n: u64) -> impl Iterator<Item = (String, Answer)> {
        let Part(place, of) = *self;
        let cells = of.cells(of.folds.iter().take(1).flat_map(|fold| &fold.lanes), level, n);
        let totals = (self.totals(level, n), Answer::bytes(&of.totals(level, n)));
        let tiles = of.folds.iter().take(folds).enumerate().flat_map(move |(place, fold)| {
            let groups = fold.lanes.len().div_ceil(TILE_LANES);
            (0..groups).map(move |group| (place, group, Recording::lanes(fold, group)))
        });
        let tiles = tiles.map(move |(fold, group, lanes)| {
            let path = format!("{place}/tile/{fold}/{level}/{n}/{group}");
            (path, Answer::bytes(&tile(lanes, &cells)))
        });
        [totals].into_iter().chain(tiles)
    }

    /// All answers on a level. Some are made at the same time, not all: they may not fit.
    fn level(&self, level: u32) -> impl Iterator<Item = (String, Answer)> {
        let cells = self.1.tiles.window().span().0.div_ceil(width_ns(level));
        let count = cells.div_ceil(TILE_CELLS as u64);
        let all = move |n| self.stretch(usize::MAX, level, n).collect::<Vec<_>>();
        (0..count).step_by(AT_ONCE as usize).flat_map(move |n| {
            let some: Vec<_> =
                (n..count.min(n + AT_ONCE)).into_par_iter().flat_map_iter(all).collect();
            some
        })
    }

    /// Whether narrower cells than those of `level` show more.
    fn shows_more(&self, level: u32) -> bool {
        let cells = self.1.tiles.window().span().0.div_ceil(width_ns(level));
        let most = CELLS_PER_EVENT.saturating_mul(self.1.events as u64 + 1000);
        cells.saturating_mul(self.1.tiles.cpus() as u64) < most
    }

    /// Takes in all levels that fit and show more. Gives the narrowest.
    fn levels(&self, answers: &mut Answers, most: usize) -> u32 {
        let widest = self.widest();
        let mut narrowest = widest;
        let mut took = 0;
        for level in (0..=widest).rev() {
            let (least, before) = (if level == widest { usize::MAX } else { most }, answers.bytes);
            // Narrower cells take no fewer bytes.
            if before.saturating_add(took) > least || !answers.add(self.level(level), least) {
                break;
            }
            (narrowest, took) = (level, answers.bytes - before);
            if !self.shows_more(level) {
                break;
            }
        }
        narrowest
    }

    /// Takes in what is around violations, the worst first, in narrower cells than those of
    /// `level`, until they are wide enough to be seen.
    /// Gives how many there are.
    fn around_violations(&self, answers: &mut Answers, level: u32, most: usize) -> usize {
        let begin = self.1.tiles.window().from;
        for (before, it) in self.1.worst.iter().take(VIOLATIONS).enumerate() {
            let length = it.span().0.max(1);
            for level in (0..level).rev() {
                let width = width_ns(level);
                let stretch = width.saturating_mul(TILE_CELLS as u64);
                let (from, to) = (it.from.since(begin).0, it.to.since(begin).0);
                let around = from.saturating_sub(length) / stretch..=(to + length) / stretch;
                for n in around {
                    let is_new = !answers.has(&self.totals(level, n));
                    if is_new && !answers.add(self.stretch(1, level, n), most) {
                        return before;
                    }
                }
                if length / width >= CELLS_OF_VIOLATION {
                    break;
                }
            }
        }
        self.1.worst.len().min(VIOLATIONS)
    }
}

impl View {
    /// The page as one file of about `size` bytes at most, and the width in ns of the narrowest
    /// cells that it has everywhere.
    pub fn file(&self, size: usize) -> (String, u64) {
        let mut answers = Answers { all: Map::new(), bytes: self.page("x", "").len() };
        // Without the head there is no page, however large it is.
        let head = ("head".to_owned(), Answer::json(&self.head()));
        answers.add([head].into_iter(), usize::MAX);
        let (mut narrowest, mut around) = (0, usize::MAX);
        for (place, recording) in self.recordings.iter().enumerate() {
            let left = size.saturating_sub(answers.bytes);
            let most = answers.bytes + left / (self.recordings.len() - place);
            // Without its tasks a recording is not shown, and jumps need its violations.
            let always = [
                (format!("{place}/tasks"), Answer::bytes(&recording.tasks)),
                (format!("{place}/violations"), Answer::json(&recording.violations())),
            ];
            answers.add(always.into_iter(), usize::MAX);
            let part = Part(place, recording);
            let level = part.levels(&mut answers, most);
            around = around.min(part.around_violations(&mut answers, level, most));
            narrowest = narrowest.max(level);
        }
        let json = Value::Object(answers.all).to_string();
        // Paths and base64 have nothing that ends an element.
        let data = format!("<script type=\"application/json\" id=\"saved\">{json}</script>\n");
        let narrowest_ns = width_ns(narrowest);
        let finer = match around {
            0 => String::new(),
            around => format!(", and finer steps around the {around} worst violations"),
        };
        let detail = format!(
            "The timeline of this page has steps of {}{finer}. <code>wastenot view</code> shows \
             more: the exact state at each moment, the CPUs of each task, how tasks spent their \
             time, decisions and frequencies.",
            Span(narrowest_ns)
        );
        (self.page(&data, &detail), narrowest_ns)
    }
}
