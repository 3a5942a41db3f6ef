//! Findings in a kernel: the same work under the kernel's own scheduler, and under a policy in Rota
//! in the same kernel, as the control.

use std::fmt::Write;
use std::path::Path;

use wastenot_check::causes::is_within;
use wastenot_experiment::{Bench, Cell, Grid, Options, Sim, resolve};
use wastenot_hunt::finding::LEFT;
use wastenot_hunt::oracle::RECURS;
use wastenot_scenario::scenario::{Choice, Scenario};

use super::{read, wasted};
use crate::guests;
use crate::parts::put;

/// The kernel: the newest that takes policies.
const KERNEL: &str = "7.2";
/// Seeds of each run.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;
/// What of the waste the cause takes at least, in all runs together.
const MOST: f64 = 0.5;

/// Runs the scenarios of `folder`, in the kernel also under `policy`, and writes the table of
/// `page`. The verdict in a line.
pub(crate) fn write(folder: &Path, policy: &Path, page: &Path) -> Result<String, String> {
    let mut choice = Choice::named(&policy.display().to_string());
    resolve(&mut choice, Path::new("")).map_err(|error| error.to_string())?;
    let (guests, version) = guests::of(KERNEL, 1, &|_| ())?;
    let policy = policy.file_stem().unwrap_or_default().to_string_lossy();
    let mut text = format!(
        "| scenario | cause | simulated | control | Linux {version} | by this cause | under \
         {policy} | confirmed |\n|---|---|---|---|---|---|---|---|\n"
    );
    let (scenarios, mut confirmed) = (read(folder)?, 0);
    for (name, scenario) in &scenarios {
        let cause = scenario.about.split(':').next().unwrap_or_default();
        let cause = cause.strip_prefix("scheduler/").unwrap_or(cause);
        let [found, control] = ["found", "control"].map(|it| cells(scenario, &Sim, it, None));
        let own = cells(scenario, &guests, "found", None)?;
        let other = cells(scenario, &guests, "found", Some(choice.clone()))?;
        let is_sound = own.iter().chain(&other).all(|cell| cell.done && cell.fault.is_none());
        let is_gone = |(own, other): (&Cell, &Cell)| {
            wasted(own) >= RECURS && wasted(other) <= LEFT * wasted(own)
        };
        let is_lost = is_sound && own.iter().zip(&other).all(is_gone);
        let is_cause = of_cause(&own, cause) >= MOST;
        confirmed += usize::from(is_lost && is_cause);
        let _ = writeln!(
            text,
            "| {name} | {cause} | {} | {} | {} | {} | {} | {} |",
            percent(&found?, wasted),
            percent(&control?, wasted),
            percent(&own, wasted),
            shown(of_cause(&own, cause)),
            percent(&other, wasted),
            match (is_lost, is_cause) {
                (true, true) => "yes",
                (true, false) => "only the loss, not the cause",
                (false, _) => "no",
            }
        );
    }
    put(page, &[("kernel", text)])?;
    Ok(format!("{}: {confirmed} of {} findings are confirmed", page.display(), scenarios.len()))
}

fn cells(
    scenario: &Scenario,
    bench: &dyn Bench,
    variant: &str,
    scheduler: Option<Choice>,
) -> Result<Vec<Cell>, String> {
    let (seeds, variants) = (SEEDS.collect(), vec![variant.to_owned()]);
    let options = Options { seeds, variants, scheduler, ..Options::default() };
    let grid = Grid::new(scenario, bench, &options).map_err(|error| error.to_string())?;
    let ran = grid.run(|_| ()).map_err(|error| error.to_string())?;
    Ok(ran.variants.into_iter().flat_map(|it| it.cells).collect())
}

/// What part of the waste of all runs a cause took, with those within it.
fn of_cause(cells: &[Cell], cause: &str) -> f64 {
    let causes = || cells.iter().flat_map(|cell| &cell.causes);
    let all: u64 = causes().map(|(_, ns)| ns).sum();
    let took = causes().filter(|(path, _)| is_within(path, cause)).map(|(_, ns)| ns);
    took.sum::<u64>() as f64 / all.max(1) as f64
}

/// The least and the most of all runs.
fn spread(cells: &[Cell], of: impl Fn(&Cell) -> f64) -> (f64, f64) {
    let all = || cells.iter().map(&of);
    (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max))
}

fn percent(cells: &[Cell], of: impl Fn(&Cell) -> f64) -> String {
    let (least, most) = spread(cells, of);
    format!("{:.1} to {}", 100.0 * least, shown(most))
}

fn shown(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
