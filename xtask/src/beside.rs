//! docs/results/ambient.md, its table of ambient load: the workloads of the recordings simulated on
//! a quiet machine and beside ambient load, and what the real kernels did.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use wastenot_check::check;
use wastenot_experiment::{Bench as _, Sim};
use wastenot_model::{Event, History, Left, Span, TaskId, Time};
use wastenot_scenario::{Scenario, ambient};

use crate::ambient::{held_out, read};
use crate::parts::put;

/// The workloads, each a file of scenarios.
const WORKLOADS: [&str; 4] = ["barrier", "make", "tpch", "pipe"];
/// How many seeds are run.
const SEEDS: u64 = 5;
/// How scenarios write that creating a task takes no time to speak of.
const FREE: &str = "fork = \"1us\"";
/// What a variant is called after its kernel and topology.
const QUIET: &str = " quiet";

/// What is compared.
#[derive(Clone, Copy, Default)]
struct Figures {
    makespan: Span,
    waste: Span,
    busy_wakeups: u64,
    migrations: u64,
}

impl Figures {
    fn of(history: &History, makespan: Span) -> Figures {
        let found = check(history, &wastenot_check::Options::default());
        Figures {
            makespan,
            waste: Span(found.waste.cpu_ns),
            busy_wakeups: found.placements.wakeups.on_busy_some_idle
                + found.placements.forks.on_busy_some_idle,
            migrations: found.migrations.total(),
        }
    }
}

/// A recording beside the simulations of it.
struct Row {
    name: String,
    ambient: String,
    fork: Span,
    real: Figures,
    quiet: Figures,
    beside: Figures,
    /// Beside ambient load, and creating a task takes as long as in the recordings.
    forks: Figures,
}

/// Runs the workloads in `scenarios` and writes the parts of `page`. The verdict in a line.
pub(crate) fn write(traces: &Path, scenarios: &Path, page: &Path) -> Result<String, String> {
    let mut rows = Vec::new();
    for workload in WORKLOADS {
        rows.extend(of_workload(traces, &scenarios.join(format!("{workload}.toml")), workload)?);
    }
    put(page, &[("ambient loads", loads()), ("ambient", table(&rows))])?;
    Ok(format!("{}: {} recordings", page.display(), rows.len()))
}

fn of_workload(traces: &Path, file: &Path, workload: &str) -> Result<Vec<Row>, String> {
    let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let shown = file.display().to_string();
    if !text.contains(FREE) {
        return Err(format!("{shown}: has no parameter `{FREE}`"));
    }
    let read_scenario =
        |text: &str| wastenot_experiment::scenario(&shown, text).map_err(|error| error.to_string());
    let scenario = read_scenario(&text)?;
    let names = scenario.variants.iter().filter_map(|variant| variant.name.strip_suffix(QUIET));
    names
        .map(|name| {
            let recording = format!("{name}-{workload}");
            let (ambient, fork) = held_out(traces, &recording)?;
            let real = read(&traces.join(format!("{recording}.dat")))?;
            let beside = format!("{name} {ambient}");
            let with_forks =
                read_scenario(&text.replace(FREE, &format!("fork = \"{}ns\"", fork.0)))?;
            Ok(Row {
                real: Figures::of(&real, makespan(&real)),
                quiet: simulated(&scenario, &format!("{name}{QUIET}"))?,
                beside: simulated(&scenario, &beside)?,
                forks: simulated(&with_forks, &beside)?,
                name: recording,
                ambient,
                fork,
            })
        })
        .collect()
}

/// What the variant of this name gives: the median of each figure.
fn simulated(scenario: &Scenario, name: &str) -> Result<Figures, String> {
    let variant = scenario.variants.iter().find(|variant| variant.name == name);
    let variant = variant.ok_or_else(|| format!("{}: no variant `{name}`", scenario.name))?;
    let limit = Time(scenario.limit.0);
    let runs: Result<Vec<Figures>, String> = (1..=SEEDS)
        .map(|seed| {
            let options = wastenot_sim::Options { seed, limit, ..Default::default() };
            let ran = Sim.run(variant, &options).map_err(|e| e.to_string())?;
            Ok(Figures::of(&ran.history, ran.outcome.time - Time(0)))
        })
        .collect();
    Ok(median(&runs?))
}

/// From when the first task was created until the last of those that were has ended.
fn makespan(history: &History) -> Span {
    let mut created: Vec<TaskId> = Vec::new();
    let (mut first, mut last) = (None, Time(0));
    for entry in history.entries() {
        match entry.event {
            Event::Fork { child, .. } => {
                first.get_or_insert(entry.time);
                created.push(child);
            }
            Event::Switch { prev, left: Left::Dead, .. } if created.contains(&prev) => {
                last = entry.time;
            }
            _ => {}
        }
    }
    first.map_or(Span::ZERO, |first| last.max(first) - first)
}

/// Of each figure the one in the middle.
fn median(runs: &[Figures]) -> Figures {
    let middle = |of: fn(&Figures) -> u64| {
        let mut values: Vec<u64> = runs.iter().map(of).collect();
        values.sort_unstable();
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    Figures {
        makespan: Span(middle(|run| run.makespan.0)),
        waste: Span(middle(|run| run.waste.0)),
        busy_wakeups: middle(|run| run.busy_wakeups),
        migrations: middle(|run| run.migrations),
    }
}

/// What runs beside, by kernel.
fn loads() -> String {
    let mut text = "| ambient load | interrupt | threads of each CPU | threads of the machine |\n\
                    |---|---|---|---|\n"
        .to_owned();
    for ambient in ambient::all() {
        let threads = |each_cpu| {
            let of = ambient.threads.iter().filter(|thread| thread.each_cpu == each_cpu);
            let told = of.map(|it| format!("{} {} every {}", it.name, it.mean, it.every));
            told.collect::<Vec<_>>().join(", ")
        };
        let (each, one) = (threads(true), threads(false));
        let _ = writeln!(text, "| `{}` | {} | {each} | {one} |", ambient.name, ambient.ipi);
    }
    text
}

fn table(rows: &[Row]) -> String {
    let mut text =
        "| trace | ambient load | fork | makespan, ms | waste, ms | wakeups onto a busy CPU | \
         migrations |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    let ms = |span: Span| format!("{:.1}", span.0 as f64 / 1e6);
    for row in rows {
        let Row { name, ambient, fork, real, quiet, beside, forks } = row;
        let all = |of: &dyn Fn(&Figures) -> String| {
            let [real, quiet, beside, forks] = [real, quiet, beside, forks].map(of);
            format!("**{real}** {quiet} {beside} {forks}")
        };
        let _ = writeln!(
            text,
            "| {name} | `{ambient}` | {fork} | {} | {} | {} | {} |",
            all(&|it| ms(it.makespan)),
            all(&|it| ms(it.waste)),
            all(&|it| it.busy_wakeups.to_string()),
            all(&|it| it.migrations.to_string()),
        );
    }
    let waste = |of: fn(&Row) -> &Figures| -> u64 { rows.iter().map(|row| of(row).waste.0).sum() };
    let real = waste(|row| &row.real);
    let told = |of: fn(&Row) -> &Figures| {
        let share = 100.0 * waste(of) as f64 / real.max(1) as f64;
        let times =
            rows.iter().map(|row| of(row).makespan.0 as f64 / row.real.makespan.0.max(1) as f64);
        let mean = times.sum::<f64>() / rows.len().max(1) as f64;
        format!(
            "the simulations have {share:.0} % of the waste of the traces. On average, a \
             simulation takes {mean:.2} times\n  as long as its trace"
        )
    };
    let _ = writeln!(
        text,
        "\nTogether, the traces waste {}. The list compares the simulations with the traces:\n\n- \
         Without ambient load, {}.\n- With ambient load, {}.\n- With ambient load and fork times, \
         {}.",
        Span(real),
        told(|row| &row.quiet),
        told(|row| &row.beside),
        told(|row| &row.forks),
    );
    text
}
