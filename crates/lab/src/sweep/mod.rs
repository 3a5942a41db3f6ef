//! Sweeps: which share of random task sets is schedulable, at many points, by many curves.
//!
//! A row is a point with all its sets and all curves: it is what is worked out on one CPU, kept,
//! and gone on with. So all curves judge the same sets. Shares, intervals and comparisons are
//! worked out of rows and never kept.

mod beside;
mod csv;
mod judge;
mod page;
mod report;
mod row;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use wastenot_bounds::overheads::Overheads;
use wastenot_scenario::sweep::{Criterion, Curve, Point, Sweep};

use crate::Error;
use crate::store::{Store, fill, hex};
use judge::Judge;

pub use beside::Beside;
pub use judge::{NAMES, Verdict};
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

/// A sweep that can be worked out.
#[derive(Debug)]
pub struct Plan<'s> {
    sweep: &'s Sweep,
    /// By the number of CPUs, and by curve.
    judges: BTreeMap<u32, Vec<Judge>>,
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
pub struct Wanted<'s> {
    /// Its file, by its path from the sweep.
    pub file: String,
    /// Who decides, where.
    pub implementation: &'s str,
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
        overheads: impl Fn(&Wanted<'_>) -> Result<Overheads, E>,
    ) -> Result<Plan<'s>, E> {
        let judge = |cpus: u32, curve: &Curve| {
            let costs = match &curve.costs {
                None => None,
                Some(costs) => {
                    let (cpus, name) = (curve.cluster.unwrap_or(cpus), &costs.implementation);
                    let table = overheads(&Wanted {
                        file: costs.table(cpus),
                        implementation: name,
                        cpus,
                        criterion: curve.criterion,
                    })?;
                    let costs = Judge::costs(name, table, costs.cache_delay);
                    Some(costs.expect("a sweep is read with NAMES"))
                }
            };
            let Curve { spare, cluster, criterion, .. } = *curve;
            Ok(Judge { spare, cluster, criterion, costs })
        };
        let mut judges = BTreeMap::new();
        for Point { cpus, .. } in &sweep.points {
            if !judges.contains_key(cpus) {
                let of = sweep.curves.iter().map(|curve| judge(*cpus, curve));
                judges.insert(*cpus, of.collect::<Result<_, E>>()?);
            }
        }
        let mut order: Vec<usize> = (0..sweep.points.len()).collect();
        // So that nobody waits for one long row at the end, and shards are alike.
        order.sort_by_key(|&n| Reverse(sweep.points[n].recipe.tasks));
        Ok(Plan { sweep, judges, order })
    }

    /// Of which curves which kinds count as 0, since their tables do not have them: a sentence for
    /// all that lack the same.
    fn uncounted(&self) -> Vec<String> {
        let mut lacking: BTreeMap<Vec<&str>, Vec<String>> = BTreeMap::new();
        for (cpus, judges) in &self.judges {
            for (judge, curve) in judges.iter().zip(&self.sweep.curves) {
                let kinds = judge.missing(*cpus);
                let curves = lacking.entry(kinds).or_default();
                let name = format!("{} ({})", curve.name, curve.criterion.word());
                if !curves.contains(&name) {
                    curves.push(name);
                }
            }
        }
        let lacking = lacking.into_iter().filter(|(kinds, _)| !kinds.is_empty());
        let said = |(kinds, curves): (Vec<&str>, Vec<String>)| {
            let (curves, kinds) = (curves.join(", "), kinds.join(", "));
            format!("tables of {curves} do not have these, which count as 0: {kinds}")
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
        let all = |judges: &Vec<Judge>| {
            let Sweep { seed, sets, tests, .. } = sweep;
            hex(format!("{seed} {sets} {tests:?} {judges:?}").as_bytes())
        };
        let all: BTreeMap<u32, String> =
            self.judges.iter().map(|(cpus, judges)| (*cpus, all(judges))).collect();
        let from = |point: &Point| format!("sweep {} {point}", all[&point.cpus]);
        let make = |&n: &usize| {
            let point = &sweep.points[n];
            Row::of(sweep, point, &self.judges[&point.cpus])
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
        assert!(there.iter().all(fits), "rows are of the sweep that their keys name");
        Ok(Outcome::Whole(Swept { sweep, rows: there, uncounted: self.uncounted() }))
    }
}
