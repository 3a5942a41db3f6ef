//! Every scheduler and every policy on every scenario of the suite.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use wastenot_experiment::{Cell, Grid, Kind, Options, Sim, YARDSTICK, resolve};
use wastenot_hunt::genome::is_real_time;
use wastenot_model::Distribution;
use wastenot_model::workload::Random;
use wastenot_scenario::scenario::{Choice, Scenario};
use wastenot_sim::{REAL_TIME, SCHEDULERS};

use super::{read, used_ns, wasted};
use crate::parts::{files, put};

/// Seeds of each run.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;
/// How often scenarios are drawn for an interval.
const DRAWS: usize = 2000;

/// The measures, and what is measured.
const MEASURES: [(&str, &str); 5] = [
    ("waste", "wasted CPU time, in % of the used CPU time"),
    ("time", "time until all work is done, relative to the reference"),
    ("wait", "99th percentile of the wait for a CPU, in ms"),
    (
        "fairness",
        "time at which the first of several equal tasks ends, relative to the time at \
                  which the last of them ends",
    ),
    ("migrations", "migrations per second of used CPU time"),
];

/// Runs `suite` under all schedulers and the policies of `folder`, and writes the tables of `page`
/// and all numbers beside it. The verdict in a line.
pub(crate) fn write(suite: &Path, folder: &Path, page: &Path) -> Result<String, String> {
    let scenarios = read(suite)?;
    let (jobs, threads): (Vec<_>, Vec<_>) =
        scenarios.iter().partition(|(_, it)| is_real_time(&it.variants[0].scheduler));
    let mut csv = String::from("scenario,scheduler,ended");
    MEASURES.iter().for_each(|(name, _)| csv = format!("{csv},{name}"));
    csv += ",missed\n";

    let mut choices: Vec<Choice> = SCHEDULERS.iter().map(|it| Choice::named(it.name)).collect();
    for file in files(folder, "rota")? {
        let mut choice = Choice::named(&file.display().to_string());
        resolve(&mut choice, Path::new("")).map_err(|error| error.to_string())?;
        choices.push(choice);
    }
    let reference = Choice::named(YARDSTICK);
    let reference: Vec<Option<Vec<Cell>>> =
        threads.iter().map(|(_, it)| cells(it, &reference)).collect();
    let mut text = String::from("| scheduler | did not end |");
    MEASURES.iter().for_each(|(name, _)| text = format!("{text} {name} |"));
    text += "\n|---|---|---|---|---|---|---|\n";
    for choice in &choices {
        let name = called(choice);
        let mut scores = Vec::new();
        for ((scenario, it), reference) in threads.iter().zip(&reference) {
            let ran = cells(it, choice);
            let score = ran.map(|ran| score(&ran, reference.as_deref()));
            let _ = write!(csv, "{scenario},{name},{}", score.is_some());
            for value in score.unwrap_or_default() {
                let _ = write!(csv, ",{}", value.map_or(String::new(), |it| format!("{it:.4}")));
            }
            csv += ",\n";
            scores.push(score);
        }
        let _ = write!(text, "| {name} | {} |", scores.iter().filter(|it| it.is_none()).count());
        for n in 0..MEASURES.len() {
            let values: Vec<f64> = scores.iter().flatten().filter_map(|it| it[n]).collect();
            let _ = write!(text, " {} |", interval(&values, n == 1));
        }
        text += "\n";
    }
    let mut late = String::from("| scheduler |");
    jobs.iter().for_each(|(name, _)| late = format!("{late} {name} |"));
    let _ = write!(late, "\n|---|{}\n", "---|".repeat(jobs.len()));
    for kind in REAL_TIME {
        let _ = write!(late, "| {} |", kind.name);
        for (scenario, it) in &jobs {
            let ran = cells(it, &Choice::named(kind.name));
            let missed = ran.as_deref().map(missed);
            let value = missed.map_or(String::new(), |it| format!("{it:.4}"));
            let _ = writeln!(csv, "{scenario},{},{},,,,,,{value}", kind.name, ran.is_some());
            let shown = missed.map_or("refused".to_owned(), |it| format!("{:.1} %", 100.0 * it));
            let _ = write!(late, " {shown} |");
        }
        late += "\n";
    }
    let mut measures = String::from("| measure | meaning |\n|---|---|\n");
    MEASURES.iter().for_each(|(name, what)| measures += &format!("| {name} | {what} |\n"));
    put(page, &[("scoreboard", text), ("deadlines", late), ("measures", measures)])?;
    let table = page.with_extension("csv");
    fs::write(&table, csv).map_err(|error| format!("{}: {error}", table.display()))?;
    let count = scenarios.len();
    Ok(format!("{}: {} schedulers on {count} scenarios", page.display(), choices.len()))
}

fn called(choice: &Choice) -> String {
    let name = Path::new(&choice.name).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// What the first variant of a scenario does under a scheduler, with each seed; `None` where a run
/// never ends, or the scheduler refuses the scenario.
fn cells(scenario: &Scenario, choice: &Choice) -> Option<Vec<Cell>> {
    let options = Options {
        seeds: SEEDS.collect(),
        variants: vec![scenario.variants[0].name.clone()],
        scheduler: Some(choice.clone()),
        ..Options::default()
    };
    let mut experiment = Grid::new(scenario, &Sim, &options).ok()?.run(|_| ()).ok()?;
    Some(experiment.variants.pop()?.cells)
}

fn score(cells: &[Cell], reference: Option<&[Cell]>) -> [Option<f64>; MEASURES.len()] {
    let cell = |(n, cell)| measured(cell, reference.and_then(|all| all.get(n)));
    let all: Vec<_> = cells.iter().enumerate().map(cell).collect();
    std::array::from_fn(|n| {
        let known: Option<Vec<f64>> = all.iter().map(|it| it[n]).collect();
        known.map(|it| it.iter().sum::<f64>() / it.len().max(1) as f64)
    })
}

fn measured(cell: &Cell, reference: Option<&Cell>) -> [Option<f64>; MEASURES.len()] {
    let mut waits = Distribution::default();
    cell.kinds.iter().for_each(|kind| waits.merge(&kind.waits));
    let done = reference.filter(|it| it.done && cell.done);
    let is_alike = |kind: &&Kind| kind.awaited && kind.tasks > 1 && kind.ended == kind.tasks;
    let alike = cell.kinds.iter().filter(is_alike);
    let fairness =
        alike.filter_map(|kind| Some(kind.first_ns? as f64 / kind.last_ns?.max(1) as f64));
    let migrations: u64 = cell.kinds.iter().map(|kind| kind.migrations).sum();
    [
        Some(100.0 * wasted(cell)),
        done.map(|it| cell.time_ns as f64 / it.time_ns.max(1) as f64),
        waits.quantile(0.99).map(|ns| ns as f64 / 1e6),
        fairness.reduce(f64::min),
        Some(migrations as f64 * 1e9 / used_ns(cell)),
    ]
}

/// The share of all jobs that were late.
fn missed(cells: &[Cell]) -> f64 {
    let kinds = || cells.iter().flat_map(|cell| &cell.kinds);
    let jobs: u64 = kinds().map(|kind| kind.deadlines.jobs).sum();
    kinds().map(|kind| kind.deadlines.missed).sum::<u64>() as f64 / jobs.max(1) as f64
}

/// The mean over scenarios, of ratios the geometric one, with the interval that has 95 % of the
/// means of as many scenarios that are drawn from them (bootstrap: Efron, 1979).
fn interval(values: &[f64], is_ratio: bool) -> String {
    if values.is_empty() {
        return "?".to_owned();
    }
    let mean = |of: &mut dyn Iterator<Item = f64>| {
        let sum: f64 = of.map(|it| if is_ratio { it.max(1e-9).ln() } else { it }).sum();
        let mean = sum / values.len() as f64;
        if is_ratio { mean.exp() } else { mean }
    };
    let mut random = Random::stream(1, 0, 0);
    let mut drawn: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let count = values.len() as u64;
            mean(&mut values.iter().map(|_| values[random.below(count) as usize]))
        })
        .collect();
    drawn.sort_by(f64::total_cmp);
    let (low, high) = (drawn[DRAWS / 40], drawn[DRAWS - DRAWS / 40 - 1]);
    let show = |it: f64| match it {
        it if it >= 100.0 => format!("{it:.0}"),
        it if it >= 10.0 => format!("{it:.1}"),
        it => format!("{it:.2}"),
    };
    format!("**{}** {} to {}", show(mean(&mut values.iter().copied())), show(low), show(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_the_mean() {
        assert_eq!(interval(&[1.0, 1.0, 1.0], false), "**1.00** 1.00 to 1.00");
        assert_eq!(interval(&[1.0, 4.0], true), "**2.00** 1.00 to 4.00");
        assert_eq!(interval(&[], true), "?");
    }
}
