//! The differences as a Report.

use wastenot_model::{Report, Table, Unit, Value};

use super::Difference;
use super::runs::{Comparison, Run};

/// The differences between two sets of runs, and the limits of their comparison.
pub fn report(runs: &Comparison) -> Report {
    let mut report = Report::new("compare/1", title(runs));
    report.verdict = verdict(runs);
    report.measure("before.runs", "", runs.before.len(), Unit::None);
    report.measure("after.runs", "", runs.after.len(), Unit::None);
    report.measure("comparable", "", runs.bars.is_empty(), Unit::None);
    report.measure("incomparable", "", runs.bars.clone(), Unit::None);
    report.measure("notes", "", runs.notes.clone(), Unit::None);
    report.tables = vec![
        run_table(runs),
        table("differences", "Differences (medians)", &runs.differences),
        table("per_cpu_second", "Totals per second of CPU time", &runs.rates),
    ];
    report.assumptions.clone_from(&runs.notes);
    report
}

fn title(runs: &Comparison) -> String {
    match (runs.before.as_slice(), runs.after.as_slice()) {
        ([before], [after]) => format!("{} versus {}", before.file(), after.file()),
        (before, after) => format!("{} runs before, {} runs after", before.len(), after.len()),
    }
}

/// The compared runs.
fn run_table(runs: &Comparison) -> Table {
    let before = runs.before.iter().map(|run| ("before", run));
    let rows = before.chain(runs.after.iter().map(|run| ("after", run)));
    Table::of("runs", "Runs: before, then after", rows, |row, (side, run)| {
        let Run { name, kernel, cpus, length_ns, lost, known_share, .. } = run;
        row.cell("side", "", side)
            .cell("file", "file", name.as_str())
            .cell("kernel", "", kernel.clone())
            .cell("release", "kernel", run.release().map(str::to_owned))
            .cell("cpus", "CPUs", *cpus)
            .ns("length_ns", "counted", *length_ns)
            .cell("lost_events", "lost events", *lost)
            .share("known_share", "known", *known_share)
    })
    .shown(usize::MAX)
}

fn table(name: &str, label: &str, differences: &[Difference]) -> Table {
    Table::of(name, label, differences, |row, it| {
        let show = |value: f64| signed(value, it.unit);
        let interval = it.interval.map(|(low, high)| format!("{} .. {}", show(low), show(high)));
        let (low, high) = it.interval.unzip();
        let end = |end: Option<f64>| end.map(|end| whole(end, it.unit));
        let relative = it.relative.map(|relative| format!("{:+.1} %", relative * 100.0));
        row.cell("measure", "", it.name.clone())
            .cell("label", "", it.label.clone())
            .cell("before", "", whole(it.before, it.unit))
            .cell("after", "", whole(it.after, it.unit))
            .cell("change", "", whole(it.change, it.unit))
            .share("relative", "", it.relative)
            .cell("low", "", end(low))
            .cell("high", "", end(high))
            // For people: with units, and short.
            .cell("shown", "measure", it.label.trim().to_owned())
            .cell("before_shown", "before", show(it.before))
            .cell("after_shown", "after", show(it.after))
            .cell("relative_shown", "change", relative.unwrap_or_else(|| show(it.change)))
            .cell("interval_shown", "95 %", interval.unwrap_or_default())
    })
    .shown(usize::MAX)
}

/// The class of causes with the largest change in the direction of the total, if it is more than
/// half of the total change.
fn cause_of(runs: &Comparison, total: &Difference) -> String {
    let parts = runs.differences.iter().filter_map(|it| {
        let class = it.name.strip_prefix("lost.")?.strip_suffix("_ns")?;
        Some((it.change * total.change.signum(), class))
    });
    let most = parts.max_by(|(a, _), (b, _)| a.total_cmp(b));
    most.filter(|(change, _)| *change > total.change.abs() / 2.0).map_or(String::new(), |most| {
        format!(", {} of it by {}", Value::Num(most.0).show(Unit::Ns), most.1)
    })
}

/// A value with its unit; lengths of time may be negative here.
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

fn verdict(runs: &Comparison) -> String {
    let bars = match runs.bars.is_empty() {
        true => String::new(),
        false => format!(
            "The runs are not comparable: {}. The tables show their figures anyway. These reasons \
             may cause differences even if the scheduler is the same. Therefore, --worse-than \
             gives no verdict unless you add --anyway. ",
            runs.bars.join("; ")
        ),
    };
    let named = |all: &[Difference], name: &str| all.iter().find(|it| it.name == name).cloned();
    let Some(total) = named(&runs.differences, "waste.cpu_ns") else {
        return format!("{bars}The runs have no figure to compare.");
    };
    let show = |value: f64| Value::Num(value).show(Unit::Ns);
    let rate = named(&runs.rates, "waste.cpu_ns").map_or(String::new(), |rate| {
        let (before, after) = (show(rate.before), show(rate.after));
        format!(
            " Of each second of CPU time, {before} was wasted before the change, {after} after it."
        )
    });
    let most = named(&runs.differences, "waste.cpu_ns_max");
    if let Some(most) = most.filter(|most| most.before > total.before || most.after > total.after) {
        // These are bounds. The value between them is unknown.
        let what = if total.before > most.after {
            "Less CPU time was wasted"
        } else if total.after > most.before {
            "More CPU time was wasted"
        } else {
            "It is unknown which side wasted more CPU time"
        };
        let side = |low: f64, high: f64| match high > low {
            true => format!("at least {}, at most {}", show(low), show(high)),
            false => show(low),
        };
        let (before, after) = (side(total.before, most.before), side(total.after, most.after));
        return format!("{bars}{what}: {before} before; {after} after.");
    }
    let direction = match total.change {
        change if change > 0.0 => "more",
        change if change < 0.0 => "less",
        _ => return format!("{bars}Both sides wasted {}.{rate}", show(total.before)),
    };
    let sure = match total.interval {
        Some((low, high)) if low <= 0.0 && high >= 0.0 => {
            "; this change is within the variation of the runs, so it may be noise"
        }
        Some(_) => "",
        None => "; with one run per side, this change may be chance",
    };
    format!(
        "{bars}{} {direction} CPU time was wasted{}: {} before, {} after{sure}.{rate}",
        show(total.change.abs()),
        cause_of(runs, &total),
        show(total.before),
        show(total.after)
    )
}
