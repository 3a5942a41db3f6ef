//! The grid: which cells there are, and running them on all CPUs.

use std::path::PathBuf;

use wastenot_host::store::{Store, fill, fill_each};
use wastenot_model::Time;
use wastenot_scenario::scenario::{Choice, Figure, Over, Scenario, Variant};
use wastenot_sim::Scheduler;

use crate::choice::{label, unread};
use crate::experiment::{Experiment, Outcome, work_out};
use crate::{Bench, Cell, Error, Run};

/// Which cells to run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Seeds; those of the scenario if there are none.
    pub seeds: Vec<u64>,
    /// Only these variants; all if there are none.
    pub variants: Vec<String>,
    /// Another scheduler for all of them. Variants that are then the same run once, and what the
    /// scenario expects is not held against them.
    pub scheduler: Option<Choice>,
    /// Switches that are set wherever the scheduler has them and the scenario does not set them.
    pub tunables: Vec<(String, String)>,
    /// Where cells are kept.
    pub store: Option<PathBuf>,
    /// Whether Histories have the scheduler's decisions.
    pub notes: bool,
}

/// What is given each run, with its variant and its seed.
pub type Keep<'k> = dyn Fn(&Variant, u64, &Run) -> Result<(), Error> + Sync + 'k;

/// Every variant with every seed.
#[derive(Debug)]
pub struct Grid<'s> {
    pub(crate) bench: &'s dyn Bench,
    pub(crate) scenario: &'s Scenario,
    pub(crate) variants: Vec<Variant>,
    /// Of each variant the names of others that are the same.
    pub(crate) same: Vec<Vec<String>>,
    /// What is set in place of what the scenario says, in words.
    pub(crate) changes: Vec<String>,
    seeds: Vec<u64>,
    store: Option<PathBuf>,
    notes: bool,
}

impl<'s> Grid<'s> {
    /// The cells of `scenario` that `options` select, to be run on `bench`.
    pub fn new(
        scenario: &'s Scenario,
        bench: &'s dyn Bench,
        options: &Options,
    ) -> Result<Grid<'s>, Error> {
        let known = || scenario.variants.iter().map(|variant| variant.name.clone()).collect();
        for name in &options.variants {
            if !scenario.variants.iter().any(|variant| variant.name == *name) {
                return Err(Error::Variant { name: name.clone(), known: known() });
            }
        }
        let wanted = |variant: &&Variant| {
            options.variants.is_empty() || options.variants.contains(&variant.name)
        };
        let mut variants: Vec<Variant> = scenario.variants.iter().filter(wanted).cloned().collect();
        for variant in &mut variants {
            if let Some(choice) = &options.scheduler {
                variant.scheduler.clone_from(choice);
            }
            set(&mut variant.scheduler, &options.tunables);
        }
        let taken: Vec<Variant> = variants.iter().map(|it| bench.takes(it.clone())).collect();
        taken.iter().try_for_each(|variant| bench.fits(variant))?;
        let mut changes = scenario.changes.clone();
        let has_own = |(taken, given): (&Variant, &Variant)| taken != given;
        let is_other = taken.iter().zip(&variants).any(has_own);
        if is_other && options.scheduler.is_none() {
            changes.insert(0, bench.has());
        }
        if let Some(choice) = &options.scheduler {
            changes.insert(0, format!("scheduler {}", label(choice)));
        }
        let (variants, same) = match is_other || options.scheduler.is_some() {
            true => without_repetitions(taken),
            false => {
                let same = vec![Vec::new(); taken.len()];
                (taken, same)
            }
        };
        let seeds = match options.seeds.is_empty() {
            true => (1..=u64::from(scenario.seeds)).collect(),
            false => options.seeds.clone(),
        };
        let store = options.store.clone();
        let notes = options.notes;
        Ok(Grid { bench, scenario, variants, same, changes, seeds, store, notes })
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.variants.len() * self.seeds.len()
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The name of the scenario.
    pub fn name(&self) -> &str {
        &self.scenario.name
    }
    /// A name for the trace of a run, without its extension.
    pub fn trace_name(&self, variant: &Variant, seed: u64) -> String {
        let name = format!("{} {} {} {seed}", self.name(), variant.name, self.bench.name());
        let is_usual = |letter: char| letter.is_alphanumeric() || ".=+".contains(letter);
        name.chars().map(|letter| if is_usual(letter) { letter } else { '-' }).collect()
    }
    /// Where they run.
    pub fn bench(&self) -> &dyn Bench {
        self.bench
    }
    /// The variants.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }
    /// The seeds.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// Runs what was not run before. `progress` is told how many cells are there.
    pub fn run(&self, progress: impl Fn(usize) + Sync) -> Result<Experiment, Error> {
        self.run_and_keep(progress, &|_, _, _| Ok(()))
    }

    /// The same; `keep` is given each run.
    pub fn run_and_keep(
        &self,
        progress: impl Fn(usize) + Sync,
        keep: &Keep<'_>,
    ) -> Result<Experiment, Error> {
        let store = self.store.as_deref().map(Store::open).transpose()?;
        let cells: Vec<(&Variant, u64)> = (self.variants.iter())
            .flat_map(|variant| self.seeds.iter().map(move |&seed| (variant, seed)))
            .collect();
        let key = self.key();
        let is_there = |cell| store.as_ref().is_some_and(|it| it.get(&key(cell)).is_some());
        let missing = cells.iter().filter(|cell| !is_there(cell));
        let name = || self.scenario.name.clone();
        let missing: Vec<_> =
            missing.map(|&(variant, seed)| (variant, self.options(name(), seed))).collect();
        let prepared = self.bench.prepare(&missing, &progress);
        let make = |&(variant, seed): &(&Variant, u64)| {
            let run = self.bench.run(variant, &self.options(name(), seed))?;
            keep(variant, seed, &run)?;
            Ok::<_, Error>(run.cell(variant))
        };
        let results = match self.bench.is_prepared() {
            false => {
                prepared?;
                fill(store.as_ref(), &cells, self.key(), make, progress)?
            }
            // All that came back is kept before the first failure ends it.
            true => {
                let all = fill_each(store.as_ref(), &cells, self.key(), make, progress);
                prepared?;
                all.into_iter().collect::<Result<_, _>>()?
            }
        };
        let cells = results.chunks(self.seeds.len()).map(<[Cell]>::to_vec);
        Ok(self.worked(cells.collect(), &self.seeds))
    }

    /// Runs the first variant with the first seed, stored or not, and gives the run, too.
    pub fn run_first(&self) -> Result<(Experiment, Run), Error> {
        let store = self.store.as_deref().map(Store::open).transpose()?;
        let (variant, seed) = (&self.variants[0], self.seeds[0]);
        let name = format!("{} {} seed {seed}", self.scenario.name, variant.name);
        let options = self.options(name, seed);
        self.bench.prepare(&[(variant, options.clone())], &|_| ())?;
        let run = self.bench.run(variant, &options)?;
        let cells = [(variant, seed)];
        let make = |_: &(&Variant, u64)| Ok::<_, Error>(run.cell(variant));
        let cells = fill(store.as_ref(), &cells, self.key(), make, |_| ())?;
        Ok((self.worked(vec![cells], &[seed]), run))
    }

    /// What came of it: of each variant the cells, one for each of `seeds`.
    fn worked(&self, cells: Vec<Vec<Cell>>, seeds: &[u64]) -> Experiment {
        let scenario = self.scenario;
        let of_each = self.variants.iter().zip(&self.same).zip(cells);
        let outcome = |((variant, same), cells): ((&Variant, &Vec<String>), Vec<Cell>)| Outcome {
            name: variant.name.clone(),
            same: same.clone(),
            scheduler: label(&variant.scheduler),
            machine: variant.machine.clone(),
            unread: unread(&variant.scheduler, &variant.workload),
            cells,
        };
        let variants: Vec<Outcome> = of_each.map(outcome).collect();
        let ran = |name: &str| variants.iter().any(|variant| variant.is(name));
        let figures = scenario.figures.iter().filter(|figure| {
            ran(&figure.quantity.variant)
                && match &figure.over {
                    Over::Quantity(over) => ran(&over.variant),
                    _ => true,
                }
        });
        let figures = figures.map(|figure| match !self.changes.is_empty() {
            true => Figure { band: None, published: None, formula: None, ..figure.clone() },
            false => figure.clone(),
        });
        Experiment {
            scenario: scenario.name.clone(),
            bench: self.bench.name().to_owned(),
            how: self.bench.how(),
            assumes: self.bench.assumes(),
            about: scenario.about.clone(),
            source: scenario.source.clone(),
            changes: self.changes.clone(),
            seeds: seeds.to_vec(),
            figures: figures.map(|figure| work_out(figure, &variants)).collect(),
            variants,
            notes: scenario.notes.clone(),
        }
    }

    /// What a cell is made from.
    fn key(&self) -> impl Fn(&(&Variant, u64)) -> String + use<> {
        let (limit, bench) = (self.scenario.limit, self.bench.identity());
        move |&(variant, seed)| format!("{bench} {seed} {limit:?} {variant:?}")
    }

    fn options(&self, name: String, seed: u64) -> wastenot_sim::Options {
        let (limit, notes) = (Time(self.scenario.limit.0), self.notes);
        wastenot_sim::Options { name, seed, limit, notes }
    }
}

/// Each variant once, with the names of those that are no other.
fn without_repetitions(all: Vec<Variant>) -> (Vec<Variant>, Vec<Vec<String>>) {
    let (mut variants, mut same): (Vec<Variant>, Vec<Vec<String>>) = Default::default();
    for variant in all {
        let is = |other: &Variant| {
            let named = Variant { name: variant.name.clone(), ..other.clone() };
            named == variant
        };
        match variants.iter().position(is) {
            Some(first) => same[first].push(variant.name),
            None => {
                variants.push(variant);
                same.push(Vec::new());
            }
        }
    }
    (variants, same)
}

fn set(choice: &mut Choice, tunables: &[(String, String)]) {
    let Some(kind) = Scheduler::named(&choice.name) else { return };
    for (name, value) in tunables {
        if kind.tunable(name).is_some() && !choice.tunables.iter().any(|(set, _)| set == name) {
            choice.tunables.push((name.clone(), value.clone()));
        }
    }
}
