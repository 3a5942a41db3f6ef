//! A sweep as CSV: one line a point and curve. Nothing in it tells when or where it ran.

use std::fmt::Write;

use wastenot_scenario::sweep::{Criterion, Curve, Point};

use super::{Row, Swept, Verdict};
use crate::proportion::wilson;

/// The columns.
const HEADER: &str = "cpus,tasks,total,utilizations,periods,deadlines,working_sets,curve,\
                      criterion,cache_delay,sets,accepted,unknown,share,share_low,share_high,\
                      share_max,utilization_mean,interrupts,latency,density,over,tests,\
                      extrapolated,empty,guarantee";

impl Swept<'_> {
    /// As CSV: points and curves in the order of the file.
    pub fn csv(&self) -> String {
        let mut text = format!("{HEADER}\n");
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
    let (sets, count) = (row.sets(), |verdict| row.count(n, verdict));
    let (accepted, unknown) = (count(Verdict::Accepted), count(Verdict::Unknown));
    let share = |of: u64| of as f64 / sets.max(1) as f64;
    let (low, high) = wilson(accepted, sets);
    write!(text, "{sets},{accepted},{unknown},{:.6},{low:.6},{high:.6},", share(accepted))?;
    let utilization = share(row.utilization_ppb.iter().sum::<u64>()) / 1e9;
    write!(text, "{:.6},{utilization:.6},", share(accepted + unknown))?;
    for verdict in
        [Verdict::Interrupts, Verdict::Latency, Verdict::Density, Verdict::Over, Verdict::Tests]
    {
        write!(text, "{},", count(verdict))?;
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
