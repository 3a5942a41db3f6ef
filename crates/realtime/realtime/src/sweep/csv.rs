//! A sweep as CSV: one line a point and curve. Nothing in it tells when or where it ran.

use std::fmt::Write;

use wastenot_bounds::verdict::Reason;
use wastenot_model::sporadic::Criterion;
use wastenot_scenario::sweep::{Curve, Point};

use super::{Row, Swept};
use crate::proportion::wilson;

/// The columns before and after those of reasons.
const BEFORE: &str = "cpus,tasks,total,utilizations,periods,deadlines,working_sets,curve,criterion,\
                      cache_delay,sets,accepted,unknown,share,share_low,share_high,share_max,\
                      utilization_mean";
const AFTER: &str = "extrapolated,empty,guarantee";

/// Why sets are rejected: a column each, by its word.
const REJECTED: [Reason; 5] =
    [Reason::Interrupts, Reason::Latency, Reason::Density, Reason::Utilization, Reason::Test];

impl Swept<'_> {
    /// As CSV: points and curves in the order of the file.
    pub fn csv(&self) -> String {
        let reasons = REJECTED.map(Reason::word).join(",");
        let mut text = format!("{BEFORE},{reasons},{AFTER}\n");
        for (point, row) in self.sweep.points.iter().zip(&self.rows) {
            for (n, curve) in self.sweep.curves.iter().enumerate() {
                line(&mut text, point, row, n, curve).expect("a text takes all");
            }
        }
        text
    }
}

fn line(
    text: &mut String,
    point: &Point,
    row: &Row,
    n: usize,
    curve: &Curve,
) -> Result<(), std::fmt::Error> {
    let recipe = &point.recipe;
    let total = recipe.total.map_or_else(String::new, |total| total.to_string());
    write!(text, "{},{},{total},", point.cpus, recipe.tasks)?;
    write!(text, "{},{},{},", recipe.utilizations, recipe.periods, recipe.deadlines)?;
    write!(text, "{},{},", recipe.working_sets, cell(&curve.name))?;
    write!(text, "{},{},", curve.criterion.word(), curve.cache_delay())?;
    let (sets, count) = (row.sets(), |reason| row.count(n, reason));
    let (accepted, unknown) = (count(None), count(Some(Reason::Budget)));
    let share = |of: u64| of as f64 / sets.max(1) as f64;
    let (low, high) = wilson(accepted, sets);
    write!(text, "{sets},{accepted},{unknown},{:.6},{low:.6},{high:.6},", share(accepted))?;
    let utilization = share(row.utilization_ppb.iter().sum::<u64>()) / 1e9;
    write!(text, "{:.6},{utilization:.6},", share(accepted + unknown))?;
    for reason in REJECTED {
        write!(text, "{},", count(Some(reason)))?;
    }
    writeln!(text, "{},{},{}", row.extrapolated[n], row.empty, guarantee(curve))
}

/// What it means to be accepted.
pub(super) fn guarantee(curve: &Curve) -> &'static str {
    match (curve.criterion, &curve.costs) {
        (Criterion::Hard, None) => "deadlines",
        (Criterion::Soft, None) => "bounded tardiness",
        (Criterion::Hard, Some(_)) => "none: observed maxima",
        (Criterion::Soft, Some(_)) => "none: averages",
    }
}

/// A text as a cell.
fn cell(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
