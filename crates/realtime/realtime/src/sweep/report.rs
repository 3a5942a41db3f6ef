//! A sweep in words and tables: what counts over all points, and which curve is above which.

use std::collections::BTreeSet;

use wastenot_bounds::verdict::Reason;
use wastenot_model::report::Unit;
use wastenot_model::{Column, Report, Table, Value};
use wastenot_scenario::sweep::Curve;

use super::beside::Beside;
use super::csv::guarantee;
use super::{Row, Swept, page};
use crate::Implementation;
use crate::proportion::wilson;

/// What a curve says of all sets of some points.
#[derive(Default)]
struct Sum {
    sets: u64,
    accepted: u64,
    unknown: u64,
    extrapolated: u64,
    utilization: f64,
    /// That of the sets that are accepted.
    utilization_accepted: f64,
}

impl Sum {
    fn of<'r>(rows: impl IntoIterator<Item = &'r Row>, curve: usize) -> Sum {
        let mut sum = Sum::default();
        for row in rows {
            sum.sets += row.sets();
            sum.accepted += row.count(curve, None);
            sum.unknown += row.count(curve, Some(Reason::Budget));
            sum.extrapolated += u64::from(row.extrapolated[curve]);
            for (ppb, accepted) in row.utilization_ppb.iter().zip(row.accepted(curve)) {
                let utilization = *ppb as f64 / 1e9;
                sum.utilization += utilization;
                sum.utilization_accepted += if accepted { utilization } else { 0.0 };
            }
        }
        sum
    }

    /// Sets that have more to do count more (Bastoni, Brandenburg, Anderson, OSPERT 2010).
    fn weighted(&self) -> Option<f64> {
        (self.utilization > 0.0).then(|| self.utilization_accepted / self.utilization)
    }
}

impl Swept<'_> {
    /// The answer of `wastenot bounds sweep`.
    pub fn report(&self) -> Report {
        let mut report = Report::new("bounds-sweep/1", self.sweep.name.clone());
        let (points, curves) = (&self.sweep.points, &self.sweep.curves);
        let sets: u64 = self.rows.iter().map(Row::sets).sum();
        report.verdict = match self.sweep.about.as_str() {
            "" => format!("The sweep judged {sets} task sets at {} points.", points.len()),
            about => about.into(),
        };
        report.measure("name", "", self.sweep.name.as_str(), Unit::None);
        report.measure("points", "points", points.len() as u64, Unit::None);
        report.measure("curve_count", "curves", curves.len() as u64, Unit::None);
        report.measure("sets", "sets", sets, Unit::None);
        let sums: Vec<Sum> = (0..curves.len()).map(|n| Sum::of(&self.rows, n)).collect();
        let unknown: u64 = sums.iter().map(|sum| sum.unknown).sum();
        report.measure("unknown", "verdicts out of budget", unknown, Unit::None);
        report.measure("missing", "", 0_u64, Unit::None);
        report.tables = vec![self.curves(), self.pairs()];
        let page = page::tables(&report.tables[0], &report.tables[1]);
        report.tables.extend(page);
        report.assumptions = self.assumptions(&sums);
        report
    }

    fn assumptions(&self, sums: &[Sum]) -> Vec<String> {
        let mut said = vec![
            "tests are only sufficient: shares are lower bounds on the share of sets that can be \
             scheduled"
                .to_owned(),
            "each interval is a 95 % Wilson interval for one share. `above` and `below` mean that \
             McNemar's exact paired test is significant at 5 %, whether or not the sets with \
             unknown verdicts can be scheduled. Intervals and tests are not corrected for multiple \
             comparisons"
                .to_owned(),
        ];
        let with = |word: &str| self.sweep.curves.iter().any(|curve| guarantee(curve) == word);
        if with("none: observed maxima") {
            said.push("observed maxima are not proven worst cases".into());
        }
        if with("none: averages") {
            said.push(
                "averages are not upper bounds, so the criterion `soft` with overheads guarantees \
                 nothing"
                    .into(),
            );
        }
        if self.sweep.curves.iter().any(|curve| curve.costs.is_some()) {
            said.push(
                "a table that states no implementation and no number of CPUs is assumed to be valid \
                 for those of its curve. No table states its machine"
                    .into(),
            );
        }
        let costs = self.sweep.curves.iter().filter_map(|curve| curve.costs.as_ref());
        let named: BTreeSet<&str> = costs.map(|costs| costs.implementation.as_str()).collect();
        let mut all = Implementation::ALL.to_vec();
        all.retain(|it| named.contains(it.name()));
        said.extend(Implementation::assumption(&all));
        said.extend(self.uncounted.iter().cloned());
        let extrapolated: u64 = sums.iter().map(|sum| sum.extrapolated).sum();
        if extrapolated > 0 {
            let all: u64 = sums.iter().map(|sum| sum.sets).sum();
            said.push(format!(
                "{extrapolated} of {all} verdicts use overheads that are extrapolated beyond the \
                 measured range"
            ));
        }
        let empty: u64 = self.rows.iter().map(|row| u64::from(row.empty)).sum();
        if empty > 0 {
            said.push(format!(
                "{empty} sets are empty and count as accepted: their utilization cap is below the \
                 utilization of the first task"
            ));
        }
        said
    }

    /// The numbers of CPUs, and the rows of each.
    fn machines(&self) -> Vec<(u32, Vec<&Row>)> {
        let points = || self.sweep.points.iter().zip(&self.rows);
        let cpus: BTreeSet<u32> = self.sweep.points.iter().map(|point| point.cpus).collect();
        let rows = |cpus| points().filter(|it| it.0.cpus == cpus).map(|it| it.1).collect();
        cpus.into_iter().map(|cpus| (cpus, rows(cpus))).collect()
    }

    fn curves(&self) -> Table {
        let mut table = programs("curves", &page::CURVES);
        for (cpus, rows) in self.machines() {
            for (n, curve) in self.sweep.curves.iter().enumerate() {
                let sum = Sum::of(rows.iter().copied(), n);
                let (low, high) = wilson(sum.accepted, sum.sets);
                let mut row = named(cpus, curve, curve.name.clone());
                row.extend([
                    sum.sets.into(),
                    (sum.accepted as f64 / sum.sets.max(1) as f64).into(),
                    low.into(),
                    high.into(),
                    sum.weighted().into(),
                    sum.unknown.into(),
                    guarantee(curve).into(),
                ]);
                table.push(row);
            }
        }
        table
    }

    /// Each curve beside the one before it of the same criterion and cache delay.
    fn pairs(&self) -> Table {
        let mut table = programs("pairs", &page::PAIRS);
        let curves = &self.sweep.curves;
        for (cpus, rows) in self.machines() {
            for (n, curve) in curves.iter().enumerate() {
                let Some(other) = (0..n).rev().find(|&m| comparable(&curves[m], curve)) else {
                    continue;
                };
                let beside = Beside::of(rows.iter().copied(), n, other);
                let mut row = named(cpus, curve, curve.name.clone());
                row.extend([
                    curves[other].name.clone().into(),
                    beside.word().into(),
                    beside.only_one.into(),
                    beside.only_other.into(),
                    beside.unknown.into(),
                    beside.p().into(),
                ]);
                table.push(row);
            }
        }
        table
    }
}

/// A table that is not shown to people.
fn programs(name: &str, columns: &[&str]) -> Table {
    let columns: Vec<_> =
        columns.iter().map(|column| Column::for_programs(column, Unit::None)).collect();
    Table::new(name, "", columns)
}

fn named(cpus: u32, curve: &Curve, name: String) -> Vec<Value> {
    let factor = curve.cache_delay();
    let is_whole = factor.fract() == 0.0;
    let factor = if is_whole { Value::from(factor as u64) } else { Value::from(factor) };
    vec![cpus.into(), name.into(), curve.criterion.word().into(), factor]
}

/// Whether two curves differ in nothing but who decides. Without overheads there is no cache delay
/// to differ in.
fn comparable(one: &Curve, other: &Curve) -> bool {
    let alike = match (&one.costs, &other.costs) {
        (Some(one), Some(other)) => one.cache_delay == other.cache_delay,
        _ => true,
    };
    one.name != other.name && one.criterion == other.criterion && alike
}
