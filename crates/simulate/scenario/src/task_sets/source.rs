//! The source of utilizations: the algorithm that draws them.

use wastenot_model::workload::Random;

use super::utilizations::{One, Utilizations};
use super::{FixedSum, uunifast_discard};
use crate::Error;

/// The source of a recipe's utilizations.
#[derive(Clone, Debug)]
pub(super) enum Source {
    FixedSum(FixedSum),
    Trial { tasks: usize, total: f64 },
    OneByOne { one: One, tasks: usize, cap: f64 },
}

impl Utilizations {
    /// The source for sets of `tasks` tasks with the sum `total`.
    pub(super) fn source(self, tasks: usize, total: Option<f64>) -> Result<Source, Error> {
        self.check(tasks, total)?;
        let total = total.unwrap_or(f64::INFINITY);
        Ok(match self.one() {
            Some(one) => Source::OneByOne { one, tasks, cap: total },
            None if self == Utilizations::RandFixedSum => {
                Source::FixedSum(FixedSum::new(tasks, total)?)
            }
            None => Source::Trial { tasks, total },
        })
    }
}

impl Source {
    /// The utilizations of the next set.
    pub(super) fn draw(&self, random: &mut Random) -> Result<Vec<f64>, Error> {
        match *self {
            Source::FixedSum(ref sum) => Ok(sum.draw(random)),
            Source::Trial { tasks, total } => uunifast_discard(tasks, total, random),
            Source::OneByOne { one, tasks, cap } => {
                let (mut shares, mut sum) = (Vec::new(), 0.0);
                while shares.len() < tasks {
                    let share = one.draw(random);
                    sum += share;
                    if sum > cap {
                        break;
                    }
                    shares.push(share);
                }
                Ok(shares)
            }
        }
    }
}

impl One {
    fn draw(self, random: &mut Random) -> f64 {
        match self {
            One::Uniform { from, to } => from + (to - from) * random.unit(),
            One::Exponential { mean } => loop {
                let drawn = -libm::log(random.unit()) * mean;
                if drawn <= 1.0 {
                    return drawn;
                }
            },
            One::Bimodal { light_in_9 } => {
                let light = random.below(9) < light_in_9;
                let (from, to) = if light { (0.001, 0.5) } else { (0.5, 0.9) };
                One::Uniform { from, to }.draw(random)
            }
        }
    }
}
