//! Task sets at random: what they are like, and the sets that come of a seed.
//!
//! A [`Recipe`] says what utilizations, periods, deadlines and working sets are distributed like;
//! each can be written as text. Its [`Maker`] gives set after set: the same seed and number give
//! the same set on every machine. Utilizations, periods, deadlines and working sets have streams of
//! their own, so that whoever changes one of them keeps the others, and whatever is asked about a
//! set, of any scheduler, is asked about the same working sets.
//!
//! ```
//! use wastenot_scenario::task_sets::Recipe;
//! let recipe = Recipe {
//!     tasks: 24,
//!     total: Some(6.0),
//!     utilizations: "randfixedsum".parse()?,
//!     periods: "log-uniform 10-100 ms".parse()?,
//!     deadlines: "implicit".parse()?,
//!     working_sets: "4-512 KiB".parse()?,
//! };
//! let made = recipe.maker()?.make(1, 0)?;
//! assert_eq!(made.tasks.len(), 24);
//! assert!((made.utilization - 6.0).abs() < 0.003);
//! # Ok::<(), wastenot_scenario::Error>(())
//! ```

mod deadlines;
mod fixed_sum;
mod periods;
mod utilizations;
mod uunifast;
mod words;
mod working_sets;

use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_model::workload::Random;

pub use deadlines::{DEADLINES, Deadlines};
pub use fixed_sum::FixedSum;
pub use periods::{Periods, SPREADS, Spread};
pub use utilizations::{UTILIZATIONS, Utilizations, Weight};
pub use uunifast::uunifast_discard;
pub use working_sets::WorkingSets;

use crate::Error;
use utilizations::Source;

/// Most tasks of a set whose utilizations have a given sum: what [`FixedSum`] remembers grows with
/// the square, to 32 MiB here.
pub const MOST_OF_A_SUM: usize = 4096;

/// What task sets are like.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// How many tasks a set has; at most so many if `total` caps it.
    pub tasks: usize,
    /// What the utilizations of a set come to: exactly that with `randfixedsum` and
    /// `uunifast-discard`, which need it. With the others, that at most: tasks are added until the
    /// next one would be too much, so that a set may be empty; `None` is no cap.
    pub total: Option<f64>,
    /// What a task's utilization is distributed like.
    pub utilizations: Utilizations,
    /// What its period is.
    pub periods: Periods,
    /// Its deadline.
    pub deadlines: Deadlines,
    /// Its working set.
    pub working_sets: WorkingSets,
}

impl Recipe {
    /// Whether there are such sets.
    ///
    /// # Errors
    /// There is none, or what there is of it is too large to be made.
    pub fn check(&self) -> Result<(), Error> {
        self.periods.check()?;
        self.working_sets.check()?;
        self.utilizations.check(self.tasks, self.total)
    }

    /// Makes such sets. What all of them need is worked out here, once.
    ///
    /// # Errors
    /// Those of [`Recipe::check`].
    pub fn maker(&self) -> Result<Maker, Error> {
        self.check()?;
        let source = self.utilizations.source(self.tasks, self.total)?;
        Ok(Maker { recipe: self.clone(), source })
    }
}

/// What makes the sets of a [`Recipe`].
#[derive(Clone, Debug)]
pub struct Maker {
    recipe: Recipe,
    source: Source,
}

/// A set that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// Its tasks.
    pub tasks: TaskSet,
    /// The sum of the utilizations that were drawn.
    pub drawn: f64,
    /// The sum of C/T over the tasks, whose times are whole microseconds.
    pub utilization: f64,
}

/// What random numbers are drawn for.
#[derive(Clone, Copy)]
enum Stream {
    Utilizations,
    Periods,
    Deadlines,
    WorkingSets,
}

impl Maker {
    /// Set `number` of this seed.
    ///
    /// A task of utilization u and period T (whole microseconds) has C = uT rounded down, but at
    /// least 1 us. So a sum that was asked for is not exceeded unless some uT is below 1 us, and a
    /// set of U = m is not lost to rounding; `utilization` is lower than `drawn` by less than the
    /// sum of 1 us / T.
    ///
    /// # Errors
    /// `uunifast-discard` gave up ([`uunifast_discard`]); whether it does depends on nothing but
    /// recipe, seed and number.
    pub fn make(&self, seed: u64, number: u64) -> Result<Made, Error> {
        let stream = |of: Stream| Random::stream(seed, of as u32, number);
        let mut of_periods = stream(Stream::Periods);
        let mut of_deadlines = stream(Stream::Deadlines);
        let mut of_working_sets = stream(Stream::WorkingSets);
        let shares = self.source.draw(&mut stream(Stream::Utilizations))?;
        let recipe = &self.recipe;
        let tasks = shares.iter().map(|share| {
            let period_us = recipe.periods.draw(&mut of_periods);
            let wcet_us = ((share * period_us as f64) as u64).max(1);
            let deadline_us = recipe.deadlines.draw(wcet_us, period_us, &mut of_deadlines);
            let wss_kb = recipe.working_sets.draw(&mut of_working_sets);
            Sporadic { wcet_us, period_us, deadline_us, wss_kb }
        });
        let tasks = TaskSet::new(tasks.collect()).expect("periods are checked");
        let utilization = tasks.iter().map(|it| it.wcet_us as f64 / it.period_us as f64).sum();
        Ok(Made { tasks, drawn: shares.iter().sum(), utilization })
    }
}
