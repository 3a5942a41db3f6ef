//! What differs between two runs, or two sets of runs.
//!
//! Each measure of [`crate::Check::report`] is set side by side. Of sets of runs the medians are
//! compared, with a 95 % bootstrap interval of the difference of medians: 10 000 resamples drawn
//! by a fixed generator, so that the same files give the same answer.

use wastenot_model::{Report, Table, Unit, Value};

/// One measure in both sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The measure's name.
    pub name: String,
    /// What it says.
    pub label: String,
    /// How to show it.
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

/// Measures that are better when they are smaller: those that `--worse-than` looks at.
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

/// Compares every number that all reports have.
pub fn compare(before: &[Report], after: &[Report]) -> Vec<Difference> {
    let Some(first) = before.first() else { return Vec::new() };
    let numbers = |reports: &[Report], name: &str| -> Option<Vec<f64>> {
        reports.iter().map(|report| report.get(name).and_then(number)).collect()
    };
    let compared = first.measures.iter().filter(|measure| !measure.label.is_empty());
    let difference = |measure: &wastenot_model::Measure| {
        let (a, b) = (numbers(before, &measure.name)?, numbers(after, &measure.name)?);
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let (before, after) = (median(&a), median(&b));
        let change = after - before;
        Some(Difference {
            name: measure.name.clone(),
            label: measure.label.clone(),
            unit: measure.unit,
            before,
            after,
            change,
            relative: (before != 0.0).then(|| change / before.abs()),
            interval: (a.len() > 1 && b.len() > 1).then(|| bootstrap(&a, &b)),
        })
    };
    compared.filter_map(difference).collect()
}

/// The differences as a Report; its exit code is 1 when [`worse`] finds any.
pub fn report(differences: &[Difference], before: usize, after: usize) -> Report {
    let mut report = Report::new("compare/1", format!("{before} before, {after} after"));
    report.verdict = verdict(differences);
    let columns = [
        ("measure", "", Unit::None),
        ("label", "", Unit::None),
        ("before", "", Unit::None),
        ("after", "", Unit::None),
        ("change", "", Unit::None),
        ("relative", "", Unit::Share),
        ("low", "", Unit::None),
        ("high", "", Unit::None),
        // For people: with units, and short.
        ("shown", "measure", Unit::None),
        ("before_shown", "before", Unit::None),
        ("after_shown", "after", Unit::None),
        ("relative_shown", "change", Unit::None),
        ("interval_shown", "95 %", Unit::None),
    ];
    let mut table = Table::new("differences", "Differences (medians)", &columns);
    table.shown = usize::MAX;
    for it in differences {
        let show = |value: f64| signed(value, it.unit);
        let interval = it.interval.map(|(low, high)| format!("{} .. {}", show(low), show(high)));
        let relative = it.relative.map(|relative| format!("{:+.1} %", relative * 100.0));
        table.push(vec![
            it.name.clone().into(),
            it.label.clone().into(),
            whole(it.before, it.unit),
            whole(it.after, it.unit),
            whole(it.change, it.unit),
            it.relative.into(),
            it.interval.map_or(Value::Unknown, |interval| whole(interval.0, it.unit)),
            it.interval.map_or(Value::Unknown, |interval| whole(interval.1, it.unit)),
            it.label.trim().to_owned().into(),
            show(it.before).into(),
            show(it.after).into(),
            relative.unwrap_or_else(|| show(it.change)).into(),
            interval.unwrap_or_default().into(),
        ]);
    }
    report.measure("before.runs", "", before, Unit::None);
    report.measure("after.runs", "", after, Unit::None);
    report.tables.push(table);
    report
}

/// With its unit; lengths of time may be negative here.
fn signed(value: f64, unit: Unit) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", whole(value.abs(), unit).show(unit))
}

/// Times stay whole numbers.
fn whole(value: f64, unit: Unit) -> Value {
    match unit {
        Unit::Ns | Unit::At => Value::Int(value.round() as i64),
        _ if value.fract() == 0.0 => Value::Int(value as i64),
        _ => Value::Num(value),
    }
}

/// The measures that got worse by more than `share` of what they were, and not by chance.
pub fn worse(differences: &[Difference], share: f64) -> Vec<&Difference> {
    let judged = differences.iter().filter(|d| SMALLER_IS_BETTER.contains(&d.name.as_str()));
    let worse = judged.filter(|difference| {
        let grew = match difference.relative {
            Some(relative) => relative > share,
            None => difference.change > 0.0,
        };
        grew && difference.interval.is_none_or(|(low, _)| low > 0.0)
    });
    worse.collect()
}

fn verdict(differences: &[Difference]) -> String {
    let waste = differences.iter().find(|difference| difference.name == "waste.cpu_ns");
    let Some(waste) = waste else { return "Nothing to compare.".to_owned() };
    let show = |value: f64| Value::Num(value).show(Unit::Ns);
    let direction = match waste.change {
        change if change > 0.0 => "more",
        change if change < 0.0 => "less",
        _ => return format!("The same waste: {}.", show(waste.before)),
    };
    let sure = match waste.interval {
        Some((low, high)) if low <= 0.0 && high >= 0.0 => {
            "; the runs vary so much that this may be chance"
        }
        Some(_) => "",
        None => "; one run a side says nothing of chance",
    };
    format!(
        "{} {direction} CPU time wasted: {} before, {} after{sure}.",
        show(waste.change.abs()),
        show(waste.before),
        show(waste.after)
    )
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
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    // SplitMix64 (Steele, Lea, Flood 2014).
    let mut random = move || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut draw = |values: &[f64]| -> f64 {
        let pick = |_| values[(random() % values.len() as u64) as usize];
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
        assert_eq!(worse(&clear, 0.05).len(), 1);
        assert!(worse(&clear, 0.5).is_empty());
        let noise = compare(&runs(&[100, 10, 190, 100]), &runs(&[120, 20, 200, 90]));
        assert!(worse(&noise, 0.05).is_empty());
    }

    #[test]
    fn one_run_a_side_is_compared_without_an_interval() {
        let pair = compare(&[run(100)], &[run(106)]);
        assert_eq!(pair[0].interval, None);
        assert_eq!(worse(&pair, 0.05).len(), 1);
        assert!(report(&pair, 1, 1).verdict.contains("says nothing of chance"));
    }
}
