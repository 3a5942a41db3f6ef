//! An experiment: all cells, and the scenario's figures worked out from them.

use wastenot_model::report::number;
use wastenot_model::{Distribution, Machine, Span};
use wastenot_scenario::scenario::{Figure, Measure, Over, Pick, Quantity};

use crate::cell::{Cell, Kind};
use crate::real_time::Deadlines;

/// A band up to here or further is meant to be open.
const OPEN: f64 = 1e6;

/// What came of a scenario.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The scenario's name.
    pub scenario: String,
    /// The bench that it ran on, as in `--on sim`.
    pub bench: String,
    /// How: `simulated`.
    pub how: String,
    /// What its figures rest on.
    pub assumes: Vec<String>,
    /// What it shows.
    pub about: String,
    /// Where its numbers are from.
    pub source: String,
    /// What was set in place of what the scenario says, in words: then what it expects does not
    /// apply.
    pub changes: Vec<String>,
    /// Its seeds.
    pub seeds: Vec<u64>,
    /// Each variant with a cell for each seed.
    pub variants: Vec<Outcome>,
    /// The figures of variants that were run.
    pub figures: Vec<Worked>,
    /// What was left out of the scenario, or taken for granted.
    pub notes: Vec<String>,
}

/// A variant and its cells, one a seed.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The variant.
    pub name: String,
    /// Other variants that are the same.
    pub same: Vec<String>,
    /// The label of its scheduler: `osv thyst=5ms`.
    pub scheduler: String,
    /// The machine that it ran on.
    pub machine: Machine,
    /// What its scheduler does not look at.
    pub unread: Option<String>,
    /// In the order of the seeds.
    pub cells: Vec<Cell>,
}

impl Outcome {
    /// The cells whose scheduler neither was refused nor ended.
    pub(crate) fn sound(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(|cell| cell.fault.is_none())
    }

    pub(crate) fn is(&self, variant: &str) -> bool {
        self.name == variant || self.same.iter().any(|name| name == variant)
    }
}

/// A figure with its value.
#[derive(Clone, Debug)]
pub struct Worked {
    /// What was asked.
    pub figure: Figure,
    /// Its value for each seed; `None` where a run reached its limit before it was known, or its
    /// times are left out ([`Cell::untimed`]).
    pub values: Vec<Option<f64>>,
    /// The one that was to be picked.
    pub value: Option<f64>,
}

impl Worked {
    /// Whether it lies in its band; `None` where there is none, or its value is unknown.
    pub fn in_band(&self) -> Option<bool> {
        let (low, high) = self.figure.band?;
        self.value.map(|value| (low..=high).contains(&value))
    }
    /// Smallest and largest of the known values, where the picked one is a value of that kind.
    pub fn range(&self) -> Option<(f64, f64)> {
        if matches!(self.figure.pick, Pick::Spread | Pick::ShareAtLeast(_)) {
            return None;
        }
        let mut known = self.values.iter().flatten().copied();
        let first = known.next()?;
        Some(known.fold((first, first), |(low, high), value| (low.min(value), high.max(value))))
    }

    /// A value as people read it: a length of time, or a number with as many digits as show whether
    /// it lies in the band.
    pub fn show(&self, value: f64) -> String {
        let band = self.figure.band;
        if !self.is_time() {
            return number(value, band);
        }
        let hidden = |limit: f64| limit != value && self.show_given(limit) == nanoseconds(value);
        match band.is_some_and(|(low, high)| hidden(low) || hidden(high)) {
            true => format!("{value:.0} ns"),
            false => nanoseconds(value),
        }
    }
    /// A number that the scenario gives, as it is written there.
    pub fn show_given(&self, value: f64) -> String {
        if self.is_time() { nanoseconds(value) } else { value.to_string() }
    }
    /// Smallest and largest as people read them, where they differ.
    pub fn show_range(&self) -> Option<String> {
        let (low, high) = self.range().map(|(low, high)| (self.show(low), self.show(high)))?;
        (low != high).then(|| format!("{low} to {high}"))
    }
    /// Its band as people read it; one that ends at [`OPEN`] or above has no upper end.
    pub fn show_band(&self) -> Option<String> {
        let (low, high) = self.figure.band?;
        Some(match high >= OPEN && !self.is_time() {
            true => format!("at least {}", self.show_given(low)),
            false => format!("{} to {}", self.show_given(low), self.show_given(high)),
        })
    }
    fn is_time(&self) -> bool {
        let same_kind = !matches!(self.figure.pick, Pick::Spread | Pick::ShareAtLeast(_));
        self.figure.over == Over::Nothing && self.figure.quantity.measure.is_time() && same_kind
    }
}

impl Experiment {
    /// Whether completions are left out ([`Cell::untimed`]).
    pub fn is_untimed(&self) -> bool {
        self.variants.iter().flat_map(|it| &it.cells).any(|cell| cell.untimed)
    }

    /// The figure of this name.
    pub fn figure(&self, name: &str) -> Option<&Worked> {
        self.figures.iter().find(|worked| worked.figure.name == name)
    }
}

fn nanoseconds(value: f64) -> String {
    Span(value as u64).to_string()
}

pub(crate) fn work_out(figure: Figure, variants: &[Outcome]) -> Worked {
    let cells = |quantity: &Quantity| {
        variants.iter().find(|variant| variant.is(&quantity.variant)).map(|it| &it.cells)
    };
    let Some(mine) = cells(&figure.quantity) else {
        return Worked { figure, values: Vec::new(), value: None };
    };
    let over_ran = |figure: &Figure, seed: usize| match &figure.over {
        Over::Quantity(over) => cells(over).is_some_and(|cells| is_sound(cells, seed)),
        _ => true,
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
    // Where the scheduler was refused or ended, its figure is unknown; the others tell it.
    let ran = |seed: &usize| is_sound(mine, *seed) && over_ran(&figure, *seed);
    let sound: Vec<Option<f64>> = (0..mine.len()).filter(ran).map(|seed| values[seed]).collect();
    let value = pick(figure.pick, &sound);
    Worked { figure, values, value }
}

/// Whether a cell has the figures of its scheduler.
fn is_sound(cells: &[Cell], seed: usize) -> bool {
    cells.get(seed).is_some_and(|cell| cell.fault.is_none())
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
    if cell.fault.is_some() {
        return None;
    }
    let kinds = || cell.kinds.iter().filter(|kind| quantity.covers(&kind.name, kind.awaited));
    let sum = |of: fn(&Kind) -> u64| kinds().map(of).sum::<u64>() as f64;
    // Of no job nothing was the longest.
    let most = |of: fn(&Deadlines) -> Option<u64>| {
        kinds().filter_map(|kind| of(&kind.deadlines)).max().map(|ns| ns as f64)
    };
    let is_end = matches!(quantity.measure, Measure::Completion | Measure::FirstCompletion);
    if cell.untimed && is_end {
        return None;
    }
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
        Measure::Jobs => sum(|kind| kind.deadlines.jobs),
        Measure::Missed => sum(|kind| kind.deadlines.missed),
        Measure::Tardiness => return most(Deadlines::tardiness_ns),
        Measure::Response => return most(Deadlines::response_ns),
        Measure::Wait => {
            let mut all = Distribution::default();
            kinds().for_each(|kind| all.merge(&kind.waits));
            let share = quantity.percentile.map_or(1.0, |it| f64::from(it) / 100_000.0);
            return all.quantile(share).map(|ns| ns as f64);
        }
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
