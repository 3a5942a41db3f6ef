//! A row: all sets of a point, and what each curve says of each.

use serde::{Deserialize, Serialize};
use wastenot_bounds::verdict::{Question, Reason};
use wastenot_model::sporadic::TaskSet;
use wastenot_scenario::sweep::{Point, Sweep};

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
    /// By curve: a letter for each set ([`Reason::letter`]).
    pub verdicts: Vec<String>,
    /// By curve: with how many sets overheads were asked for beyond where they were measured.
    pub extrapolated: Vec<u32>,
}

impl Row {
    /// Makes the sets, and has them judged.
    pub(super) fn of(sweep: &Sweep, point: &Point, questions: &[Question]) -> Result<Row, Error> {
        let failed = |error| Error::Draw { point: point.to_string(), error };
        let maker = point.recipe.maker().map_err(failed)?;
        let seed = point.seed(sweep.seed);
        let mut row = Row {
            point: point.to_string(),
            utilization_ppb: Vec::with_capacity(sweep.sets as usize),
            empty: 0,
            verdicts: vec![String::with_capacity(sweep.sets as usize); questions.len()],
            extrapolated: vec![0; questions.len()],
        };
        for number in 0..sweep.sets {
            let made = maker.make(seed, number.into()).map_err(failed)?;
            row.utilization_ppb.push((made.utilization * 1e9).round() as u64);
            row.empty += u32::from(made.tasks.is_empty());
            row.judge(questions, &made.tasks);
        }
        Ok(row)
    }

    fn judge(&mut self, questions: &[Question], tasks: &TaskSet) {
        for (n, question) in questions.iter().enumerate() {
            let judged = question.judge(tasks, || None::<()>);
            self.verdicts[n].push(letter(judged.reason));
            self.extrapolated[n] += u32::from(judged.beyond().is_some());
        }
    }

    /// How many sets there are.
    pub fn sets(&self) -> u64 {
        self.utilization_ppb.len() as u64
    }
    /// How many sets this curve rejects for `reason`; `None`: how many it accepts.
    pub fn count(&self, curve: usize, reason: Option<Reason>) -> u64 {
        self.verdicts[curve].chars().filter(|&it| it == letter(reason)).count() as u64
    }
    /// Which sets this curve accepts.
    pub fn accepted(&self, curve: usize) -> impl Iterator<Item = bool> + '_ {
        self.verdicts[curve].chars().map(|it| it == Reason::NONE)
    }
    /// Of each set whether this curve accepts it; `None` if that is unknown.
    pub(crate) fn known(&self, curve: usize) -> impl Iterator<Item = Option<bool>> + '_ {
        let letters = self.verdicts[curve].chars();
        letters.map(|it| (it != Reason::Budget.letter()).then_some(it == Reason::NONE))
    }
    /// Whether it may be of a sweep of so many sets and curves.
    pub(super) fn fits(&self, sets: u32, curves: usize) -> bool {
        let sets = sets as usize;
        let is_letter = |it| it == Reason::NONE || Reason::ALL.iter().any(|r| r.letter() == it);
        let judged = |letters: &String| letters.len() == sets && letters.chars().all(is_letter);
        self.utilization_ppb.len() == sets
            && (self.verdicts.len(), self.extrapolated.len()) == (curves, curves)
            && self.verdicts.iter().all(judged)
    }
}

fn letter(reason: Option<Reason>) -> char {
    reason.map_or(Reason::NONE, Reason::letter)
}
