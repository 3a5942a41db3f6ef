//! Random task sets: their parameters, and the sets for a seed.
//!
//! A [`Recipe`] gives the distributions of utilizations, periods, deadlines and working sets; each
//! can be written as text. Its [`Maker`] makes one set after the other: the same seed and number
//! give the same set on every machine. Utilizations, periods, deadlines and working sets have
//! separate random streams, so a change of one leaves the others unchanged, and every question
//! about a set, for any scheduler, is about the same working sets.
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
mod source;
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
use source::Source;

/// The maximum number of tasks in a set whose utilizations have a given sum: the memory of
/// [`FixedSum`] grows with the square, to 32 MiB here.
pub const MOST_OF_A_SUM: usize = 4096;

/// The parameters of task sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The number of tasks in a set; a maximum if `total` is a cap.
    pub tasks: usize,
    /// The total utilization of a set: exact with `randfixedsum` and `uunifast-discard`, which
    /// require it. With the other distributions it is a cap: tasks are added until the next one
    /// would exceed it, so that a set may be empty; `None` is no cap.
    pub total: Option<f64>,
    /// The distribution of a task's utilization.
    pub utilizations: Utilizations,
    /// The distribution of its period.
    pub periods: Periods,
    /// The distribution of its deadline.
    pub deadlines: Deadlines,
    /// The distribution of its working set.
    pub working_sets: WorkingSets,
}

impl Recipe {
    /// Whether such sets exist.
    ///
    /// # Errors
    /// If no such set exists, or if it is too large to be made.
    pub fn check(&self) -> Result<(), Error> {
        self.periods.check()?;
        self.working_sets.check()?;
        self.utilizations.check(self.tasks, self.total)
    }

    /// Makes such sets. What all of them share is computed once, here.
    ///
    /// # Errors
    /// Those of [`Recipe::check`].
    pub fn maker(&self) -> Result<Maker, Error> {
        self.check()?;
        let source = self.utilizations.source(self.tasks, self.total)?;
        Ok(Maker { recipe: self.clone(), source })
    }
}

/// Makes the sets of a [`Recipe`].
#[derive(Clone, Debug)]
pub struct Maker {
    recipe: Recipe,
    source: Source,
}

/// A task set.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// Its tasks.
    pub tasks: TaskSet,
    /// The sum of the utilizations that were drawn.
    pub drawn: f64,
    /// The sum of C/T over the tasks, whose times are whole microseconds.
    pub utilization: f64,
}

/// The random streams.
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
    /// least 1 us. So the requested sum is not exceeded unless some uT is below 1 us, and rounding
    /// does not lose a set of U = m; `utilization` is lower than `drawn` by less than the sum of 1
    /// us / T.
    ///
    /// # Errors
    /// If `uunifast-discard` gave up ([`uunifast_discard`]); whether it does depends only
    /// on recipe, seed and number.
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
