//! `wastenot lab bisect`: finds the kernel version that changed a figure.

use wastenot_experiment::ranks::CHANCE;
use wastenot_experiment::shifts::USUAL;
use wastenot_experiment::{Grid, Options, Worked};
use wastenot_lab::bisect::{End, bisect};
use wastenot_lab::kernels::{Kernels, Lists, Package};
use wastenot_model::{Report, Table};
use wastenot_scenario::Scenario;

use super::{guests, offer};
use crate::args::lab::Bisect;
use crate::fail::{Answer, Stop};
use crate::{open, progress};

/// Searches for the version.
pub(super) fn run(args: &Bisect) -> Result<Answer, Stop> {
    let help =
        "give a scenario (TOML); examples: scenarios/lab, format: docs/reference/scenario.md";
    let (name, text) = open::text(&args.file, help)?;
    let scenario = wastenot_experiment::scenario(&name, &text)?;
    let names = scenario.figures.iter().map(|it| it.name.as_str()).collect::<Vec<_>>();
    if !names.contains(&args.figure.as_str()) {
        let what = format!("the scenario has no figure `{}`", args.figure);
        return Err(Stop::new(what, format!("choose one of its figures: {}", names.join(", "))));
    }
    let versions = between(&args.from, &args.to)?;
    // The figure of the version that was tested last, which formats values.
    let mut worked: Option<Worked> = None;
    let found = bisect(versions.len(), |version| {
        let figure = worked.insert(measure(args, &scenario, &versions[version])?);
        let values = figure.values.iter().copied().collect::<Option<Vec<f64>>>();
        values.ok_or_else(|| {
            let version = versions[version].version.kernel();
            let what = format!("{} is unknown in Linux {version}", args.figure);
            Stop::new(what, "raise `limit` in the scenario, because a run may have reached it")
        })
    })?;
    let shown = |value: f64| worked.as_ref().map(|worked| worked.show(value));
    let mut report = Report::new("bisect/1", format!("{}: {}", scenario.name, args.figure));
    let (text, answer) = verdict(found.end, &versions);
    report.verdict = text;
    let title = "Versions that were tried";
    let table = Table::of("versions", title, &found.tried, |row, (version, values)| {
        let package = &versions[*version];
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |n: usize| sorted.get(n).copied().and_then(shown);
        row.cell("version", "Linux", package.version.kernel())
            .cell("suite", "suite", package.suite.as_str())
            .cell("", "min", at(0))
            .cell("", "median", at((sorted.len() - 1) / 2))
            .cell("", "max", at(sorted.len() - 1))
            .cell("values", "", values.clone())
    })
    .shown(usize::MAX);
    report.tables.push(table);
    args.face.print(&report)?;
    Ok(answer)
}

/// The verdict and the answer of a search of `versions`.
fn verdict(end: End, versions: &[Package]) -> (String, Answer) {
    let of = |version: usize| versions[version].version.kernel();
    match end {
        End::Alike { chance } => {
            let text = format!(
                "The figure does not differ significantly between Linux {} and {}. Chance alone \
                 would cause a difference of this size in {:.0} % of cases. More repeats may show \
                 a significant difference.",
                of(0),
                of(versions.len() - 1),
                chance * 100.0
            );
            (text, Answer::No)
        }
        End::Changed { before, after, chance } => {
            let (between, percent) = (format!("{} and {}", of(before), of(after)), chance * 100.0);
            let text = match chance < CHANCE {
                true => format!(
                    "The figure changed between Linux {between}. Debian has no version between \
                     them. Chance alone would cause a difference of this size in {percent:.1} % \
                     of cases."
                ),
                false => format!(
                    "The figure differs between the first and the last version. The search ended \
                     with two consecutive versions, Linux {between}. Their figures do not differ \
                     significantly. Chance alone would cause a difference of this size in \
                     {percent:.0} % of cases. Either the figure changed gradually, or more repeats \
                     are needed."
                ),
            };
            (text, Answer::Yes)
        }
    }
}

/// The available kernels from one version to another, oldest first, without duplicates.
fn between(from: &str, to: &str) -> Result<Vec<Package>, Stop> {
    let kernels = Kernels::of_user()?;
    let offer = offer(&kernels, Lists::Kept)?;
    let end = |name: &str| offer.newest(name).cloned();
    let (from, to) = (end(from)?, end(to)?);
    let mut all = offer.kernels.clone();
    all.retain(|it| from.version <= it.version && it.version <= to.version);
    all.sort_by(|a, b| a.version.cmp(&b.version));
    all.dedup_by(|a, b| a.version.kernel() == b.version.kernel());
    if all.len() < 2 {
        let (from, to) = (from.version.kernel(), to.version.kernel());
        let what = format!("there are no two kernels from Linux {from} to {to}");
        return Err(Stop::new(what, "give the older version first: see `wastenot lab list`"));
    }
    Ok(all)
}

/// Measures the figure in one version.
fn measure(args: &Bisect, scenario: &Scenario, package: &Package) -> Result<Worked, Stop> {
    let guests = guests(package.version.kernel(), USUAL, (None, Vec::new()), false)?;
    let options = Options { seeds: (1..=args.repeat).collect(), ..Options::default() };
    let grid = Grid::new(scenario, &guests, &options)?;
    let experiment = progress::of_grid(&grid, &|_, _, _| Ok(()))?;
    let worked = experiment.figure(&args.figure).cloned().ok_or_else(|| {
        let what = format!("{} has no figure `{}`", scenario.name, args.figure);
        Stop::new(what, "give a figure of the scenario")
    })?;
    if experiment.is_untimed() && worked.value.is_none() {
        let why = "QEMU counted instructions, so the times of programs are unknown";
        let what = format!("{} is unknown: {why}", args.figure);
        return Err(Stop::new(what, "choose a figure of waits, migrations or waste"));
    }
    Ok(worked)
}
