//! An experiment: all cells, and the scenario's figures worked out from them.

use wastenot_scenario::scenario::{Figure, Measure, Over, Pick, Quantity, Scenario, Variant};

use crate::cell::{Cell, Kind, Run};

/// What came of a scenario.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The scenario's name.
    pub scenario: String,
    /// What it shows.
    pub about: String,
    /// Where its numbers are from.
    pub source: String,
    /// Its seeds.
    pub seeds: Vec<u64>,
    /// Each variant with a cell for each seed.
    pub variants: Vec<Outcome>,
    /// The figures of variants that were run.
    pub figures: Vec<Worked>,
}

/// A variant and its cells, one a seed.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The variant.
    pub name: String,
    /// In the order of the seeds.
    pub cells: Vec<Cell>,
}

/// A figure with its value.
#[derive(Clone, Debug)]
pub struct Worked {
    /// What was asked.
    pub figure: Figure,
    /// Its value for each seed; `None` where a run reached its limit before it was known.
    pub values: Vec<Option<f64>>,
    /// The one that was to be picked.
    pub value: Option<f64>,
}

impl Worked {
    /// Whether it lies in its band; `None` where there is none, or no value.
    pub fn in_band(&self) -> Option<bool> {
        let (low, high) = self.figure.band?;
        Some(self.value.is_some_and(|value| (low..=high).contains(&value)))
    }
    /// Smallest and largest of the known values.
    pub fn range(&self) -> Option<(f64, f64)> {
        let mut known = self.values.iter().flatten().copied();
        let first = known.next()?;
        Some(known.fold((first, first), |(low, high), value| (low.min(value), high.max(value))))
    }
}

impl Experiment {
    pub(crate) fn new(
        scenario: &Scenario,
        cells: Vec<(String, Vec<Cell>)>,
        seeds: &[u64],
    ) -> Experiment {
        let variants: Vec<Outcome> =
            cells.into_iter().map(|(name, cells)| Outcome { name, cells }).collect();
        let ran = |name: &str| variants.iter().any(|variant| variant.name == name);
        let figures = scenario.figures.iter().filter(|figure| {
            ran(&figure.quantity.variant)
                && match &figure.over {
                    Over::Quantity(over) => ran(&over.variant),
                    _ => true,
                }
        });
        Experiment {
            scenario: scenario.name.clone(),
            about: scenario.about.clone(),
            source: scenario.source.clone(),
            seeds: seeds.to_vec(),
            figures: figures.map(|figure| work_out(figure, &variants)).collect(),
            variants,
        }
    }

    /// The experiment of a single run.
    pub fn of_one(scenario: &Scenario, variant: &Variant, seed: u64, run: &Run) -> Experiment {
        let cells = vec![(variant.name.clone(), vec![run.cell(variant)])];
        Experiment::new(scenario, cells, &[seed])
    }

    /// The figure of this name.
    pub fn figure(&self, name: &str) -> Option<&Worked> {
        self.figures.iter().find(|worked| worked.figure.name == name)
    }
}

fn work_out(figure: &Figure, variants: &[Outcome]) -> Worked {
    let cells = |quantity: &Quantity| {
        variants.iter().find(|variant| variant.name == quantity.variant).map(|it| &it.cells)
    };
    let Some(mine) = cells(&figure.quantity) else {
        return Worked { figure: figure.clone(), values: Vec::new(), value: None };
    };
    let values: Vec<Option<f64>> = (0..mine.len())
        .map(|seed| {
            let above = measure(&figure.quantity, &mine[seed])?;
            let below = match &figure.over {
                Over::Nothing => 1.0,
                Over::Span(span) => span.0 as f64,
                Over::Number(number) => *number,
                Over::Quantity(over) => measure(over, cells(over)?.get(seed)?)?,
            };
            (below > 0.0 || above > 0.0).then(|| above / below)
        })
        .collect();
    let value = pick(figure.pick, &values);
    Worked { figure: figure.clone(), values, value }
}

/// Of the values of all seeds the one that is asked for; unknown if any of them is.
fn pick(pick: Pick, values: &[Option<f64>]) -> Option<f64> {
    let known: Option<Vec<f64>> = values.iter().copied().collect();
    let mut known = known.filter(|known| !known.is_empty())?;
    known.sort_by(f64::total_cmp);
    let (min, max) = (known[0], known[known.len() - 1]);
    let (middle, count) = (known.len() / 2, known.len() as f64);
    Some(match pick {
        Pick::Median if known.len() % 2 == 1 => known[middle],
        Pick::Median => (known[middle - 1] + known[middle]) / 2.0,
        Pick::Min => min,
        Pick::Max => max,
        Pick::Spread => max / min,
        Pick::Mean => known.iter().sum::<f64>() / count,
        Pick::ShareAtLeast(least) => {
            known.iter().filter(|&&value| value >= least).count() as f64 / count
        }
    })
}

/// A quantity of one run; times are in nanoseconds.
fn measure(quantity: &Quantity, cell: &Cell) -> Option<f64> {
    let kinds = || cell.kinds.iter().filter(|kind| quantity.covers(&kind.name, kind.awaited));
    let sum = |of: fn(&Kind) -> u64| kinds().map(of).sum::<u64>() as f64;
    Some(match quantity.measure {
        Measure::Completion => {
            let all_ended = kinds().all(|kind| kind.ended == kind.tasks);
            let last = kinds().filter_map(|kind| kind.last_ns).max();
            return last.filter(|_| all_ended).map(|ns| ns as f64);
        }
        Measure::FirstCompletion => {
            return kinds().filter_map(|kind| kind.first_ns).min().map(|ns| ns as f64);
        }
        Measure::CpuTime => sum(|kind| kind.cpu_ns),
        Measure::Share => sum(|kind| kind.cpu_ns) / cell.time_ns.max(1) as f64,
        Measure::Slice => sum(|kind| kind.cpu_ns) / sum(|kind| kind.switches).max(1.0),
        Measure::Switches => sum(|kind| kind.switches),
        Measure::Migrations => sum(|kind| kind.migrations),
        Measure::RemoteMigrations => sum(|kind| kind.remote_migrations),
        Measure::BusyWakeups => sum(|kind| kind.busy_wakeups),
        Measure::PrevIdleWakeups => sum(|kind| kind.prev_idle_wakeups),
        Measure::Tasks => sum(|kind| kind.tasks),
        Measure::Waste => cell.waste_cpu_ns as f64,
        Measure::Marks => {
            let limit = quantity.within.map_or(u64::MAX, |span| span.0);
            let marks = cell.marks.iter().filter(|(name, _)| quantity.covers(name, true));
            marks.map(|(_, late)| late.partition_point(|&ns| ns <= limit)).sum::<usize>() as f64
        }
    })
}
