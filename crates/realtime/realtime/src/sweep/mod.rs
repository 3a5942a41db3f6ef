//! Sweeps: which share of random task sets is schedulable, at many points, by many curves.
//!
//! A curve is a [`Question`]. A row is a point with all its sets and all curves: it is computed on
//! one CPU, kept, and continued with. So all curves judge the same sets. Shares, intervals and
//! comparisons are computed from rows and never kept.

mod beside;
mod csv;
mod names;
mod page;
mod report;
mod row;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use wastenot_bounds::Budget;
use wastenot_bounds::overheads::Overheads;
use wastenot_bounds::verdict::{Budgets, Charge, Question, Spend, Test};
use wastenot_host::store::{Store, digest, fill};
use wastenot_model::sporadic::Criterion;
use wastenot_scenario::sweep::{Costs, Curve, Point, Sweep};

use crate::{Error, Implementation};

pub use beside::Beside;
pub use names::NAMES;
pub use row::Row;

/// How to work a sweep out.
#[derive(Clone, Debug, Default)]
pub struct Working {
    /// Where rows are kept.
    pub store: Option<PathBuf>,
    /// Only these points; all if there is none.
    pub shard: Option<Shard>,
}

/// One of several parts of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 0.
    pub index: usize,
    /// Of how many; at least 1.
    pub of: usize,
}

impl FromStr for Shard {
    type Err = &'static str;

    /// `2/3` is the second of three.
    fn from_str(text: &str) -> Result<Shard, &'static str> {
        let read = || {
            let (index, of) = text.split_once('/')?;
            let (index, of): (usize, usize) = (index.parse().ok()?, of.parse().ok()?);
            (1..=of).contains(&index).then(|| Shard { index: index - 1, of })
        };
        read().ok_or("the second of three is `2/3`")
    }
}

/// A sweep that can be worked out.
#[derive(Debug)]
pub struct Plan<'s> {
    sweep: &'s Sweep,
    /// By the number of CPUs, and by curve.
    questions: BTreeMap<u32, Vec<Question>>,
    /// Points by their number, the dearest first.
    order: Vec<usize>,
}

/// A sweep that was worked out.
#[derive(Debug)]
pub struct Swept<'s> {
    pub(crate) sweep: &'s Sweep,
    /// By point, as the file has them.
    pub rows: Vec<Row>,
    /// Which kinds of overheads count as 0, in words: of which curves.
    uncounted: Vec<String>,
}

/// A table of overheads that a curve counts with.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Its file, by its path from the sweep.
    pub file: String,
    /// Its implementation.
    pub implementation: Implementation,
    /// CPUs of the machine, or of a cluster.
    pub cpus: u32,
    /// The longest that were seen if `hard`, averages if `soft`.
    pub criterion: Criterion,
}

/// What came of it.
#[derive(Debug)]
pub enum Outcome<'s> {
    /// All rows are there.
    Whole(Swept<'s>),
    /// Some are not: others work on them.
    Part {
        /// How many are there.
        there: usize,
        /// How many are not.
        missing: usize,
    },
}

impl<'s> Plan<'s> {
    /// `overheads` reads tables.
    ///
    /// # Errors
    /// Those of `overheads`.
    pub fn new<E>(
        sweep: &'s Sweep,
        overheads: impl Fn(&Wanted) -> Result<Overheads, E>,
    ) -> Result<Plan<'s>, E> {
        let mut questions = BTreeMap::new();
        for Point { cpus, .. } in &sweep.points {
            if !questions.contains_key(cpus) {
                let of = sweep.curves.iter().map(|curve| asked(sweep, *cpus, curve, &overheads));
                questions.insert(*cpus, of.collect::<Result<_, E>>()?);
            }
        }
        let mut order: Vec<usize> = (0..sweep.points.len()).collect();
        // So that nobody waits for one long row at the end, and shards are alike.
        order.sort_by_key(|&n| Reverse(sweep.points[n].recipe.tasks));
        Ok(Plan { sweep, questions, order })
    }

    /// Of which curves which kinds count as 0, since their tables do not have them: a sentence for
    /// all that lack the same.
    fn uncounted(&self) -> Vec<String> {
        let mut lacking: BTreeMap<Vec<&str>, Vec<String>> = BTreeMap::new();
        for questions in self.questions.values() {
            for (question, curve) in questions.iter().zip(&self.sweep.curves) {
                let curves = lacking.entry(question.missing()).or_default();
                let name = format!("{} ({})", curve.name, curve.criterion.word());
                if !curves.contains(&name) {
                    curves.push(name);
                }
            }
        }
        let lacking = lacking.into_iter().filter(|(kinds, _)| !kinds.is_empty());
        let said = |(kinds, curves): (Vec<&str>, Vec<String>)| {
            let (curves, kinds) = (curves.join(", "), kinds.join(", "));
            format!("the tables of {curves} lack these overheads, which count as 0: {kinds}")
        };
        lacking.map(said).collect()
    }

    /// How many rows a shard has, or all.
    pub fn len(&self, shard: Option<Shard>) -> usize {
        self.of(shard).len()
    }

    fn of(&self, shard: Option<Shard>) -> Vec<usize> {
        let Shard { index, of } = shard.unwrap_or(Shard { index: 0, of: 1 });
        self.order.iter().copied().skip(index).step_by(of).collect()
    }

    /// Works out what was not worked out before. `progress` is told how many rows are there.
    ///
    /// # Errors
    /// Rows cannot be kept, or a point's sets cannot be made.
    pub fn run(
        &self,
        how: &Working,
        progress: impl Fn(usize) + Sync,
    ) -> Result<Outcome<'s>, Error> {
        let sweep = self.sweep;
        let store: Option<Store<Row>> = how.store.as_deref().map(Store::open).transpose()?;
        // All that goes into every row of so many CPUs.
        let all = |questions: &Vec<Question>| {
            let Sweep { seed, sets, .. } = sweep;
            digest(format!("{seed} {sets} {questions:?}").as_bytes())
        };
        let all: BTreeMap<u32, String> =
            self.questions.iter().map(|(cpus, of)| (*cpus, all(of))).collect();
        let from = |point: &Point| format!("sweep {} {point}", all[&point.cpus]);
        let make = |&n: &usize| {
            let point = &sweep.points[n];
            Row::of(sweep, point, &self.questions[&point.cpus])
        };
        let own = self.of(how.shard);
        let made = fill(store.as_ref(), &own, |&n| from(&sweep.points[n]), make, progress)?;
        let mut rows: Vec<Option<Row>> = vec![None; sweep.points.len()];
        own.into_iter().zip(made).for_each(|(n, row)| rows[n] = Some(row));
        let kept = |point| store.as_ref().and_then(|store| store.get(&from(point)).cloned());
        for (row, point) in rows.iter_mut().zip(&sweep.points) {
            *row = row.take().or_else(|| kept(point));
        }
        let there: Vec<Row> = rows.into_iter().flatten().collect();
        let missing = sweep.points.len() - there.len();
        if missing > 0 {
            return Ok(Outcome::Part { there: there.len(), missing });
        }
        let fits = |row: &Row| row.fits(sweep.sets, sweep.curves.len());
        assert!(there.iter().all(fits), "each row has the sets and the curves of the sweep");
        Ok(Outcome::Whole(Swept { sweep, rows: there, uncounted: self.uncounted() }))
    }
}

/// What a curve asks on so many CPUs.
fn asked<E>(
    sweep: &Sweep,
    cpus: u32,
    curve: &Curve,
    overheads: impl Fn(&Wanted) -> Result<Overheads, E>,
) -> Result<Question, E> {
    let size = curve.cluster.unwrap_or(cpus);
    let charge = |costs: &Costs| {
        let implementation: Implementation =
            costs.implementation.parse().expect("a sweep is read with NAMES");
        let table = overheads(&Wanted {
            file: costs.table(size),
            implementation,
            cpus: size,
            criterion: curve.criterion,
        })?;
        let cache_delay = table.cache_delay.scaled(costs.cache_delay);
        Ok(Charge {
            overheads: Overheads { cache_delay, ..table },
            accounting: implementation.accounting(),
            extrapolate: true,
        })
    };
    let test = |key: &&str| key.parse::<Test>().expect("a sweep is read with NAMES");
    Ok(Question {
        cpus: size - curve.spare,
        clusters: cpus / size,
        // As the simulator does, whose schedules curves are compared with.
        first_fit: false,
        overheads: curve.costs.as_ref().map(charge).transpose()?,
        criterion: curve.criterion,
        tests: sweep.tests.hard.iter().map(test).collect(),
        rta_step_us: sweep.tests.rta_step_us,
        every: false,
        // A sweep that has others is refused when it is read.
        takes_late_deadlines: true,
        budgets: Budgets { tests: Spend::Each(Budget(sweep.tests.budget)), witness: None },
    })
}
