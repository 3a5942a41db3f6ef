//! The tables of the page.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use wastenot_experiment::shifts;

use super::rows::{Figures, OWN, Row, SIM, is_of};
use super::runs::{CONTROLLED, CONTROLS, FAILED, FIRST, KERNELS, Known, POLICIES, PRICED};

/// A figure: how it is headed, and how it is shown.
struct Shown {
    head: &'static str,
    of: fn(&Figures) -> u64,
    is_time: bool,
}

const fn shown(head: &'static str, of: fn(&Figures) -> u64, is_time: bool) -> Shown {
    Shown { head, of, is_time }
}

const FIGURES: [Shown; 6] = [
    shown("completion, ms", |it| it.completion_ns, true),
    shown("waste, ms", |it| it.waste_ns, true),
    shown("wakeups onto busy CPUs", |it| it.busy_wakeups, false),
    shown("migrations", |it| it.migrations, false),
    shown("remote", |it| it.remote, false),
    shown("wait, ms", |it| it.wait_ns, true),
];
/// How a figure is marked that depends on what an instruction costs.
const MOVES: &str = " (moves)";

/// Each part of the page, by name.
pub(super) fn parts(rows: &[Row]) -> Result<Vec<(&'static str, String)>, String> {
    Ok(vec![
        ("kernels", kernels(rows)),
        ("controls", controls(rows)),
        ("waste under policies", under_policies(rows, &waste_share)),
        ("completion under policies", under_policies(rows, &completion)),
        ("endings", endings(rows)),
    ])
}

fn workloads(rows: &[Row]) -> BTreeSet<&str> {
    rows.iter().map(|row| row.workload.as_str()).collect()
}

/// The runs of a workload that gave figures.
fn of<'r>(rows: &'r [Row], workload: &str, is: impl Fn(&Row) -> bool) -> Vec<&'r Row> {
    let is = |row: &&Row| row.workload == workload && row.end != FAILED && is(row);
    rows.iter().filter(is).collect()
}

fn is_own(row: &Row, wanted: &str, boot: &str) -> bool {
    is_of(row, wanted) && row.boot == boot && row.scheduler == OWN
}

/// A table for each workload: kernels, each beside the model of it.
fn kernels(rows: &[Row]) -> String {
    let mut text = String::new();
    for workload in workloads(rows) {
        let _ = write!(text, "\n### {workload}\n\n| |");
        for (n, figure) in FIGURES.iter().enumerate() {
            let mark = if moves(rows, workload, n) { MOVES } else { "" };
            let _ = write!(text, " {}{mark} |", figure.head);
        }
        text += "\n|---|---|---|---|---|---|---|\n";
        let mut models: Vec<(&str, &str)> = Vec::new();
        for Known { kernel, model, ambient } in &KERNELS {
            let real = of(rows, workload, |row| is_own(row, kernel, FIRST));
            let name = real.first().map_or(*kernel, |row| &row.kernel);
            line(&mut text, &format!("**Linux {name}**"), &real);
            models.push((model, ambient));
        }
        models.dedup();
        let mut last = "";
        for (model, ambient) in models {
            let simulated = |boot: &str| {
                of(rows, workload, |row| {
                    row.kernel == SIM && row.scheduler == model && row.boot == boot
                })
            };
            if last != model {
                line(&mut text, &format!("`{model}`, simulated"), &simulated(FIRST));
            }
            line(&mut text, &format!("`{model}` with `{ambient}`"), &simulated(ambient));
            let same = |it: &&Known| (it.model, it.ambient) == (model, ambient);
            for Known { kernel, .. } in KERNELS.iter().filter(same) {
                let priced = simulated(&format!("{PRICED} {kernel}"));
                if let Some(row) = priced.first() {
                    let us = row.scan_ns as f64 / 1e3;
                    line(
                        &mut text,
                        &format!(
                            "the same with the newly-idle cost of {kernel}, {us:.0} us per CPU"
                        ),
                        &priced,
                    );
                }
            }
            last = model;
        }
    }
    text
}

fn line(text: &mut String, name: &str, rows: &[&Row]) {
    let _ = write!(text, "| {name} |");
    for figure in &FIGURES {
        let _ = write!(text, " {} |", cell(figure, rows));
    }
    text.push('\n');
}

/// Median, smallest and largest.
fn cell(figure: &Shown, rows: &[&Row]) -> String {
    let Some((low, median, high)) = range(figure, rows) else { return "-".into() };
    let show = |value: f64| if figure.is_time { ms(value) } else { format!("{value:.0}") };
    match low == high {
        true => show(median),
        false => format!("{} ({} to {})", show(median), show(low), show(high)),
    }
}

fn ms(ns: f64) -> String {
    let ms = ns / 1e6;
    let digits = usize::from(ms < 99.95) + usize::from(ms < 0.995);
    format!("{ms:.digits$}")
}

fn range(figure: &Shown, rows: &[&Row]) -> Option<(f64, f64, f64)> {
    let mut values: Vec<u64> = rows.iter().map(|row| (figure.of)(&row.figures)).collect();
    values.sort_unstable();
    let (first, last) = (*values.first()?, *values.last()?);
    Some((first as f64, median(&values), last as f64))
}

fn median(sorted: &[u64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        1 => sorted[middle] as f64,
        _ => (sorted[middle - 1] + sorted[middle]) as f64 / 2.0,
    }
}

/// Whether a figure of the controlled kernel depends on what an instruction takes.
fn moves(rows: &[Row], workload: &str, figure: usize) -> bool {
    let at = |boots: &[&str]| {
        let is = |row: &Row| boots.iter().any(|boot| is_own(row, CONTROLLED, boot));
        let value = |row: &&Row| (FIGURES[figure].of)(&row.figures) as f64;
        of(rows, workload, is).iter().map(value).collect::<Vec<f64>>()
    };
    let others = CONTROLS[1..].iter().map(|(boot, _)| at(&[boot]));
    let all: Vec<Vec<f64>> = [at(&[FIRST, CONTROLS[0].0])].into_iter().chain(others).collect();
    shifts::moves(&all).unwrap_or(false)
}

/// A table of the controlled kernel: every boot of it.
fn controls(rows: &[Row]) -> String {
    let mut text = "| workload | boot |".to_owned();
    FIGURES.iter().for_each(|figure| {
        let _ = write!(text, " {} |", figure.head);
    });
    text += "\n|---|---|---|---|---|---|---|---|\n";
    for workload in workloads(rows) {
        for boot in [FIRST].into_iter().chain(CONTROLS.iter().map(|it| it.0)) {
            let all = of(rows, workload, |row| is_own(row, CONTROLLED, boot));
            line(&mut text, &format!("{workload} | {boot}"), &all);
        }
    }
    text
}

/// A table for each kernel: policies by workload.
fn under_policies(rows: &[Row], show: &dyn Fn(&[&Row], &[&Row]) -> String) -> String {
    let tried: Vec<&Row> = rows.iter().filter(|row| row.boot.starts_with(POLICIES)).collect();
    let mut kernels: Vec<&str> = tried.iter().map(|row| row.kernel.as_str()).collect();
    kernels.sort_unstable_by_key(|kernel| number(kernel));
    kernels.dedup();
    let schedulers: BTreeSet<&str> = tried.iter().map(|row| row.scheduler.as_str()).collect();
    let workloads: BTreeSet<&str> = tried.iter().map(|row| row.workload.as_str()).collect();
    let mut text = String::new();
    for kernel in kernels.into_iter().chain([SIM]) {
        let name = if kernel == SIM { "simulated".into() } else { format!("Linux {kernel}") };
        let _ = write!(text, "\n| {name} |");
        workloads.iter().for_each(|workload| {
            let _ = write!(text, " {workload} |");
        });
        let _ = writeln!(text, "\n|---|{}", "---|".repeat(workloads.len()));
        let with = |workload: &str, scheduler: &str| {
            let model = if kernel == SIM && scheduler == OWN { MODEL } else { scheduler };
            of(rows, workload, |row| {
                row.kernel == kernel
                    && row.scheduler == model
                    && (row.boot.starts_with(POLICIES) || kernel == SIM && row.boot == FIRST)
            })
        };
        let others = schedulers.iter().copied().filter(|it| *it != OWN);
        for scheduler in [OWN].into_iter().chain(others) {
            let name = if scheduler == OWN { "EEVDF" } else { scheduler };
            let _ = write!(text, "| {name} |");
            for workload in &workloads {
                let shown = show(&with(workload, scheduler), &with(workload, OWN));
                let _ = write!(text, " {shown} |");
            }
            text.push('\n');
        }
    }
    text
}

/// The model of the kernel's own scheduler in tables of policies.
const MODEL: &str = "eevdf-6.12";

fn number(version: &str) -> Vec<u32> {
    version.split('.').filter_map(|part| part.parse().ok()).collect()
}

/// Waste in ms of each second of a CPU; smallest to largest.
fn waste_share(rows: &[&Row], _: &[&Row]) -> String {
    let share = |row: &&Row| {
        1e3 * row.figures.waste_ns as f64 / (row.time_ns.max(1) * row.cpus.max(1)) as f64
    };
    spread(rows.iter().map(share).collect(), &|value| match value {
        value if value < 0.05 => "0".into(),
        value if value < 9.95 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    })
}

/// Completion as a multiple of the median of that under EEVDF.
fn completion(rows: &[&Row], own: &[&Row]) -> String {
    let Some((_, usual, _)) = range(&FIGURES[0], own) else { return "-".into() };
    let times = |row: &&Row| row.figures.completion_ns as f64 / usual;
    spread(rows.iter().map(times).collect(), &|value| format!("{value:.2}"))
}

fn spread(mut values: Vec<f64>, show: &dyn Fn(f64) -> String) -> String {
    values.sort_by(f64::total_cmp);
    let Some((first, last)) = values.first().zip(values.last()) else { return "-".into() };
    match (show(*first), show(*last)) {
        (first, last) if first == last => first,
        (first, last) => format!("{first} to {last}"),
    }
}

/// What ended otherwise than when its work was done.
fn endings(rows: &[Row]) -> String {
    let mut text =
        "| kernel | scheduler | workload | runs | how |\n|---|---|---|---|---|\n".to_owned();
    let bad: Vec<&Row> = rows.iter().filter(|row| row.end != "done").collect();
    let mut seen: Vec<(&str, &str, &str, &str)> = Vec::new();
    for row in &bad {
        let key = |row: &Row| {
            let how = if row.end == FAILED { row.why.clone() } else { "reached its limit".into() };
            (row.kernel.clone(), row.scheduler.clone(), row.workload.clone(), without_seed(&how))
        };
        let mine = key(row);
        let known =
            (row.kernel.as_str(), row.scheduler.as_str(), row.workload.as_str(), row.end.as_str());
        if seen.contains(&known) {
            continue;
        }
        seen.push(known);
        let count = bad.iter().filter(|other| key(other) == mine).count();
        let (kernel, scheduler, workload, how) = mine;
        let how = how.replace('|', "\\|");
        let _ = writeln!(text, "| {kernel} | {scheduler} | {workload} | {count} | {how} |");
    }
    let count = rows.iter().filter(|row| row.kernel != SIM).count();
    let _ = writeln!(
        text,
        "\n{} of {count} runs in kernels completed their work.",
        count - bad.iter().filter(|row| row.kernel != SIM).count()
    );
    text
}

/// What failed, without the run's own name.
fn without_seed(why: &str) -> String {
    why.split_once(": ").map_or(why, |(_, what)| what).to_owned()
}
