//! Points: the parameters from which sets are drawn.

use std::fmt;

use wastenot_model::workload::Random;

use super::MOST_POINTS;
use super::axis::{Numbers, Placed, placed, texts};
use super::schema::POINTS;
use crate::scenario::fields::{Fields, default_of};
use crate::scenario::node::{Table, Wrong, wrong};
use crate::task_sets::{Deadlines, Periods, Recipe, Utilizations, WorkingSets};

/// The maximum number of CPUs of a machine.
const CPUS: f64 = 8192.0;
/// The maximum number of tasks in a set of a sweep: all are judged, at many points.
const TASKS: f64 = 65_536.0;
/// How far a number may be from a whole one and still count as whole.
const NEAR: f64 = 1e-9;

/// The parameters from which the sets of one row are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// How many CPUs the machine has.
    pub cpus: u32,
    /// The recipe for sets.
    pub recipe: Recipe,
}

/// Exactly the parameters that affect which sets are drawn.
impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Recipe { tasks, total, utilizations, periods, deadlines, working_sets } = &self.recipe;
        write!(f, "{} CPUs, {tasks} tasks", self.cpus)?;
        if let Some(total) = total {
            write!(f, " of {total}")?;
        }
        write!(f, ", {utilizations}, {periods}, {deadlines}, {working_sets}")
    }
}

/// The random stream for the seeds of points.
const SEEDS: u32 = 0x706f_696e;

impl Point {
    /// The seed of this point's sets, given the seed of the sweep. It depends on the point's
    /// parameters and not on its position: a new value on an axis leaves the sets of all other
    /// points unchanged.
    pub fn seed(&self, of_sweep: u64) -> u64 {
        let next = |seed, byte| Random::stream(seed, SEEDS, u64::from(byte)).bits();
        self.to_string().bytes().fold(of_sweep, next)
    }
}

/// All axes.
struct Axes {
    cpus: Vec<Placed<f64>>,
    tasks: Numbers,
    per_cpu: bool,
    total: Option<Numbers>,
    utilizations: Vec<Placed<Utilizations>>,
    periods: Vec<Placed<Periods>>,
    deadlines: Vec<Placed<Deadlines>>,
    working_sets: Vec<Placed<WorkingSets>>,
}

/// The points, with the first axis as the slowest.
pub(super) fn read(at: usize, table: &Table) -> Result<Vec<Point>, Wrong> {
    let fields = Fields::new(&POINTS, at, table);
    fields.check()?;
    let axes = Axes::read(&fields)?;
    let mut points = Vec::new();
    for cpus in &axes.cpus {
        axes.with(cpus, &mut points)?;
    }
    Ok(points)
}

impl Axes {
    fn read(fields: &Fields) -> Result<Axes, Wrong> {
        let numbers = |key| fields.get(key).map(|node| Numbers::read(node, key)).transpose();
        let (tasks, per_cpu) = match (numbers("tasks")?, numbers("tasks_per_cpu")?) {
            (Some(tasks), None) => (tasks, false),
            (None, Some(tasks)) => (tasks, true),
            (both, _) => {
                let how = if both.is_some() { "twice" } else { "nowhere" };
                let what = format!("the number of tasks is set {how}");
                return Err(wrong(fields.at(), what, "write either `tasks` or `tasks_per_cpu`"));
            }
        };
        let cpus = Numbers::read(fields.need("cpus", "[8, 16]")?, "cpus")?.values(None)?;
        let utilizations = fields.need("utilizations", "\"randfixedsum\"")?;
        let periods = fields.need("periods", "\"log-uniform 10-100 ms\"")?;
        let or = |key, usual: String| {
            fields.get(key).cloned().unwrap_or_else(|| default_of(fields.at(), &usual))
        };
        let deadlines = or("deadlines", Deadlines::default().to_string());
        let working_sets = or("working_sets", WorkingSets::default().to_string());
        Ok(Axes {
            cpus,
            tasks,
            per_cpu,
            total: numbers("total")?,
            utilizations: texts(utilizations, "utilizations")?,
            periods: texts(periods, "periods")?,
            deadlines: texts(&deadlines, "deadlines")?,
            working_sets: texts(&working_sets, "working_sets")?,
        })
    }

    /// The points with this number of CPUs.
    fn with(&self, cpus: &Placed<f64>, points: &mut Vec<Point>) -> Result<(), Wrong> {
        let count = whole(cpus, "CPUs", CPUS)?;
        let totals = match &self.total {
            None => vec![None],
            Some(total) => total.values(Some(cpus.value))?.into_iter().map(Some).collect(),
        };
        for tasks in self.tasks.values(None)? {
            let factor = if self.per_cpu { cpus.value } else { 1.0 };
            let tasks = Placed { value: tasks.value * factor, ..tasks };
            let tasks = Placed { at: tasks.at, value: whole(&tasks, "tasks", TASKS)? as usize };
            for utilizations in &self.utilizations {
                for total in &totals {
                    let recipe = self.first(&tasks, total.as_ref(), utilizations)?;
                    self.others(count, &recipe, points)?;
                }
            }
        }
        Ok(())
    }

    fn first(
        &self,
        tasks: &Placed<usize>,
        total: Option<&Placed<f64>>,
        utilizations: &Placed<Utilizations>,
    ) -> Result<Recipe, Wrong> {
        let recipe = Recipe {
            tasks: tasks.value,
            total: total.map(|total| total.value),
            utilizations: utilizations.value,
            periods: self.periods[0].value,
            deadlines: self.deadlines[0].value,
            working_sets: self.working_sets[0].value,
        };
        let at = total.map_or(utilizations.at, |total| total.at);
        recipe.check().map_err(|error| placed(at, &error))?;
        Ok(recipe)
    }

    /// The points that differ from `recipe` only in what was not checked: periods, deadlines and
    /// working sets.
    fn others(&self, cpus: u32, recipe: &Recipe, points: &mut Vec<Point>) -> Result<(), Wrong> {
        for periods in &self.periods {
            for deadlines in &self.deadlines {
                for working_sets in &self.working_sets {
                    if points.len() == MOST_POINTS {
                        let what = format!("the sweep has more than {MOST_POINTS} points");
                        return Err(wrong(periods.at, what, "split the sweep into several files"));
                    }
                    let (periods, deadlines) = (periods.value, deadlines.value);
                    let working_sets = working_sets.value;
                    let recipe = Recipe { periods, deadlines, working_sets, ..recipe.clone() };
                    points.push(Point { cpus, recipe });
                }
            }
        }
        Ok(())
    }
}

/// A count.
fn whole(number: &Placed<f64>, of: &str, most: f64) -> Result<u32, Wrong> {
    let rounded = number.value.round();
    if (number.value - rounded).abs() > NEAR * rounded || !(1.0..=most).contains(&rounded) {
        let what = format!("{} {of} are not possible", number.value);
        return Err(wrong(number.at, what, format!("write a whole number from 1 to {most}")));
    }
    Ok(rounded as u32)
}
