//! Differences between two runs, or between two sets of runs.
//!
//! Each measure of [`crate::Check::report`] is compared. For sets of runs, the medians are
//! compared, with a 95 % bootstrap interval of the difference of medians. The bootstrap uses 10 000
//! resamples from a generator with a fixed seed, so the same files give the same result. [`runs`]
//! decides if the figures of two traces are comparable at all.

mod report;
mod runs;

use wastenot_model::workload::Random;
use wastenot_model::{Measure, Report, Unit, Value};

pub use self::report::report;
pub use self::runs::{Comparison, Run};

/// A measure in both sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The measure's name.
    pub name: String,
    /// The label of the measure.
    pub label: String,
    /// The unit of the measure.
    pub unit: Unit,
    /// Median of the first set.
    pub before: f64,
    /// Median of the second set.
    pub after: f64,
    /// `after - before`.
    pub change: f64,
    /// `change / before`; `None` when `before` is zero.
    pub relative: Option<f64>,
    /// 95 % interval of the change; `None` with fewer than two runs on both sides.
    pub interval: Option<(f64, f64)>,
}

/// Measures that are better if they are smaller. `--worse-than` judges these.
pub const SMALLER_IS_BETTER: &[&str] = &[
    "waste.cpu_ns",
    "waste.share",
    "waste.longest_ns",
    "waste.wall_ns",
    "wake_delay.cpu_ns",
    "waits.wait_ns",
    "latency.from_wakeup.p50_ns",
    "latency.from_wakeup.p99_ns",
    "latency.from_wakeup.max_ns",
];

/// Measures that grow with the length of a recording and with its CPUs.
const TOTALS: &[&str] = &[
    "waste.cpu_ns",
    "waste.cpu_ns_max",
    "waste.episodes",
    "lost.placement_ns",
    "lost.balancing_ns",
    "lost.policy_ns",
    "lost.host_ns",
    "wake_delay.cpu_ns",
    "cpu.busy_ns",
    "cpu.idle_ns",
    "violation_count",
    "waits.count",
    "waits.wait_ns",
    "placements.wakeups.total",
    "placements.wakeups.on_busy_some_idle",
    "placements.wakeups.on_busy_prev_idle",
    "placements.forks.total",
    "placements.forks.on_busy_some_idle",
    "migrations.total",
];

/// Compares the numbers that all reports contain.
fn compare(before: &[Report], after: &[Report]) -> Vec<Difference> {
    differences(before, after, |report, name| number(report.get(name)?))
}

/// Compares totals, each divided by the CPU time that was counted in its run.
fn per_cpu_second(before: &[Report], after: &[Report]) -> Vec<Difference> {
    differences(before, after, |report, name| {
        let seconds = number(report.get("cpu.online_ns")?)? / 1e9;
        let total = TOTALS.contains(&name).then(|| report.get(name).and_then(number))??;
        (seconds > 0.0).then(|| total / seconds)
    })
}

fn differences(
    before: &[Report],
    after: &[Report],
    figure: impl Fn(&Report, &str) -> Option<f64>,
) -> Vec<Difference> {
    let Some(first) = before.first() else { return Vec::new() };
    let figures = |reports: &[Report], name: &str| -> Option<Vec<f64>> {
        reports.iter().map(|report| figure(report, name)).collect()
    };
    let difference = |(label, measure): (String, &Measure)| {
        let (a, b) = (figures(before, &measure.name)?, figures(after, &measure.name)?);
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let (before, after) = (median(&a), median(&b));
        let change = after - before;
        Some(Difference {
            name: measure.name.clone(),
            label,
            unit: measure.unit,
            before,
            after,
            change,
            relative: (before != 0.0).then(|| change / before.abs()),
            interval: (a.len() > 1 && b.len() > 1).then(|| bootstrap(&a, &b)),
        })
    };
    first.shown_measures().filter_map(difference).collect()
}

/// The measures whose medians got worse by more than `share`. The first list has the certain ones:
/// the 95 % interval is above zero, or there is no interval. The second list may be chance.
pub fn worse(differences: &[Difference], share: f64) -> (Vec<&Difference>, Vec<&Difference>) {
    let judged = differences.iter().filter(|d| SMALLER_IS_BETTER.contains(&d.name.as_str()));
    let grew = judged.filter(|difference| match difference.relative {
        Some(relative) => relative > share,
        None => difference.change > 0.0,
    });
    grew.partition(|difference| difference.interval.is_none_or(|(low, _)| low > 0.0))
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Num(value) => Some(*value),
        _ => None,
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        0 => (sorted[middle - 1] + sorted[middle]) / 2.0,
        _ => sorted[middle],
    }
}

/// Percentile bootstrap of the difference of medians.
fn bootstrap(before: &[f64], after: &[f64]) -> (f64, f64) {
    const RESAMPLES: usize = 10_000;
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let mut draw = |values: &[f64]| -> f64 {
        let pick = |_| values[(random.bits() % values.len() as u64) as usize];
        median(&(0..values.len()).map(pick).collect::<Vec<_>>())
    };
    let mut changes: Vec<f64> = (0..RESAMPLES).map(|_| draw(after) - draw(before)).collect();
    changes.sort_by(f64::total_cmp);
    (changes[RESAMPLES / 40], changes[RESAMPLES - 1 - RESAMPLES / 40])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(waste: u64) -> Report {
        let mut report = Report::new("check/1", "");
        report.measure("waste.cpu_ns", "CPU time wasted", waste, Unit::Ns);
        report
    }

    #[test]
    fn sets_that_differ_clearly_are_worse_and_noise_is_not() {
        let runs = |values: &[u64]| values.iter().map(|&v| run(v)).collect::<Vec<_>>();
        let clear = compare(&runs(&[100, 101, 99, 100]), &runs(&[120, 121, 119, 122]));
        assert_eq!(clear[0].before, 100.0);
        assert_eq!(worse(&clear, 0.05).0.len(), 1);
        assert!(worse(&clear, 0.5).0.is_empty());
        let noise = compare(&runs(&[100, 10, 190, 100]), &runs(&[120, 20, 200, 90]));
        let (worse, chance) = worse(&noise, 0.01);
        assert_eq!((worse.len(), chance.len()), (0, 1));
    }

    #[test]
    fn one_run_a_side_is_compared_without_an_interval() {
        let (before, after) = ([run(100)], [run(106)]);
        let pair = compare(&before, &after);
        assert_eq!(pair[0].interval, None);
        assert_eq!(worse(&pair, 0.05).0.len(), 1);
        let runs = Comparison::of(&before, &after);
        assert!(report(&runs).verdict.contains("may be chance"));
    }
}
