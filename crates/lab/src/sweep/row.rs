//! A row: all sets of a point, and what each curve says of each.

use serde::{Deserialize, Serialize};
use wastenot_model::sporadic::TaskSet;
use wastenot_scenario::sweep::{Point, Sweep};

use super::judge::{Judge, Verdict};
use crate::Error;

/// All sets of a point, and what was said of them. Numbers are whole, so that they are the same
/// when they come back from a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The point, for whoever reads the file.
    pub point: String,
    /// Of each set the sum of C/T, in billionths.
    pub utilization_ppb: Vec<u64>,
    /// How many sets have no task: the cap of utilizations was below the first.
    pub empty: u32,
    /// By curve: a letter for each set ([`Verdict::letter`]).
    pub verdicts: Vec<String>,
    /// By curve: with how many sets overheads were asked for beyond where they were measured.
    pub extrapolated: Vec<u32>,
}

impl Row {
    /// Makes the sets, and has them judged.
    pub(super) fn of(sweep: &Sweep, point: &Point, judges: &[Judge]) -> Result<Row, Error> {
        let failed = |error| Error::Draw { point: point.to_string(), error };
        let maker = point.recipe.maker().map_err(failed)?;
        let seed = point.seed(sweep.seed);
        let mut row = Row {
            point: point.to_string(),
            utilization_ppb: Vec::with_capacity(sweep.sets as usize),
            empty: 0,
            verdicts: vec![String::with_capacity(sweep.sets as usize); judges.len()],
            extrapolated: vec![0; judges.len()],
        };
        for number in 0..sweep.sets {
            let made = maker.make(seed, number.into()).map_err(failed)?;
            row.utilization_ppb.push((made.utilization * 1e9).round() as u64);
            row.empty += u32::from(made.tasks.is_empty());
            row.judge(sweep, point, judges, &made.tasks);
        }
        Ok(row)
    }

    fn judge(&mut self, sweep: &Sweep, point: &Point, judges: &[Judge], tasks: &TaskSet) {
        for (n, judge) in judges.iter().enumerate() {
            let (verdict, is_beyond) = judge.judge(tasks, point.cpus, &sweep.tests);
            self.verdicts[n].push(verdict.letter());
            self.extrapolated[n] += u32::from(is_beyond);
        }
    }

    /// How many sets there are.
    pub fn sets(&self) -> u64 {
        self.utilization_ppb.len() as u64
    }
    /// Of how many sets this curve says that.
    pub fn count(&self, curve: usize, verdict: Verdict) -> u64 {
        let letters = self.verdicts[curve].bytes();
        letters.filter(|&letter| char::from(letter) == verdict.letter()).count() as u64
    }
    /// Which sets this curve accepts.
    pub fn accepted(&self, curve: usize) -> impl Iterator<Item = bool> + '_ {
        let accepted = Verdict::Accepted.letter();
        self.verdicts[curve].bytes().map(move |letter| char::from(letter) == accepted)
    }
    /// Of each set whether this curve accepts it; `None` if that is unknown.
    pub fn known(&self, curve: usize) -> impl Iterator<Item = Option<bool>> + '_ {
        let [accepted, unknown] = [Verdict::Accepted, Verdict::Unknown].map(Verdict::letter);
        let letters = self.verdicts[curve].chars();
        letters.map(move |letter| (letter != unknown).then_some(letter == accepted))
    }
    /// Whether it may be of a sweep of so many sets and curves.
    pub(super) fn fits(&self, sets: u32, curves: usize) -> bool {
        let sets = sets as usize;
        let is_letter = |c: char| Verdict::ALL.iter().any(|verdict| verdict.letter() == c);
        let judged = |letters: &String| letters.len() == sets && letters.chars().all(is_letter);
        self.utilization_ppb.len() == sets
            && (self.verdicts.len(), self.extrapolated.len()) == (curves, curves)
            && self.verdicts.iter().all(judged)
    }
}
