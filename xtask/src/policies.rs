//! docs/results/rota-simulated.md: policies in Rota beside the schedulers of Linux, on the
//! workloads of the seeds; and each on the scenario that is its own.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use indicatif::ProgressBar;
use wastenot_experiment::{Cell, Experiment, Grid, Options, Sim};
use wastenot_model::Span;
use wastenot_scenario::scenario::{Choice, Scenario};

use crate::parts::files;

/// Seeds of random numbers that each is run with.
const SEEDS: u64 = 3;
/// The machine of the experiments with wasted cores.
const MACHINE: &str = "bulldozer64";
/// What Linux 4.1 is without its four faults.
const MENDED: &[(&str, &str)] = &[
    ("groups", "own-balanced"),
    ("imbalance", "minimum"),
    ("numa-levels", "keep"),
    ("wakeup", "longest-idle"),
];
/// A column: how it is headed, and who schedules.
struct Column {
    head: &'static str,
    name: &'static str,
    tunables: &'static [(&'static str, &'static str)],
}

const COLUMNS: [Column; 6] = [
    Column { head: "cfs-4.1 with faults", name: "cfs-4.1", tunables: &[] },
    Column { head: "cfs-4.1 mended", name: "cfs-4.1", tunables: MENDED },
    Column { head: "eevdf-6.12", name: "eevdf-6.12", tunables: &[] },
    Column { head: "pinned", name: "pinned", tunables: &[] },
    Column { head: "work-stealing", name: "policies/work-stealing.rota", tunables: &[] },
    Column { head: "fair-vtime", name: "policies/fair-vtime.rota", tunables: &[] },
];

/// Runs all scenarios of `seeds` and of `own`, and writes the page. What was done, in a line.
pub(crate) fn write(seeds: &Path, own: &Path, output: &Path) -> Result<String, String> {
    let choices: Vec<Choice> = COLUMNS.iter().map(choice).collect::<Result<_, _>>()?;
    let (mut page, mut rows) = (head(), 0);
    let workloads_of = files(seeds, "toml")?;
    let bar = ProgressBar::new(workloads_of.len() as u64);
    for file in &workloads_of {
        bar.set_message(file.display().to_string());
        rows += workloads(&mut page, file, &choices)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    page += OWN;
    for file in files(own, "toml")? {
        figures(&mut page, &file)?;
    }
    fs::write(output, page).map_err(|error| format!("{}: {error}", output.display()))?;
    Ok(format!("{}: {rows} workloads under {} schedulers", output.display(), COLUMNS.len()))
}

const OWN: &str = "\n## Each policy on its own scenario\n\nThe scenarios are in scenarios/rota. \
                   Each scenario runs with the seeds in its file. The *band* is the range in which \
                   we\nexpect the figure. A test checks that every figure is in its band.\n\n| \
                   policy | figure | ours | band | why |\n|---|---|---|---|---|\n";

fn head() -> String {
    let mut page = format!(
        "# Policies, simulated\n\nThis page compares completion times of two policies and of \
         Linux's schedulers, for the workloads of the seeds on a\nmachine of 64 CPUs ({MACHINE}). \
         The prover proves both policies in a model, under listed assumptions. The proofs show \
         a\nlimit for idle CPUs. Suppose that a task waits and that an idle CPU may run this task. \
         Then this CPU stays idle for at\nmost a stated number of attempts to get a task. `make \
         long-policies` writes this page; do not edit it by hand. The table\ngives medians of \
         {SEEDS} seeds. If CPU time was wasted (CPUs were idle while tasks waited elsewhere), the \
         wasted time is\nin parentheses.\n\nThe column *with faults* is for Linux 4.1 without \
         fixes. The column *mended* is for Linux 4.1 with the four fixes of \"A\nDecade of Wasted \
         Cores\". The scheduler *pinned* binds each thread to one CPU and uses the CPUs in turn. \
         Caches and memory cause overheads only if a scenario sets them. Without these overheads, \
         migrations take no time. To keep all CPUs busy, a\npolicy moves tasks away from their \
         data. The table does not show how much time such moves cost.\n\n| workload |"
    );
    COLUMNS.iter().for_each(|column| {
        let _ = write!(page, " {} |", column.head);
    });
    page += "\n|---|";
    COLUMNS.iter().for_each(|_| page += "---|");
    page + "\n"
}

fn choice(column: &Column) -> Result<Choice, String> {
    let owned = |(name, value): &(&str, &str)| (String::from(*name), String::from(*value));
    let tunables = column.tunables.iter().map(owned).collect();
    let mut choice = Choice { tunables, ..Choice::named(column.name) };
    wastenot_experiment::resolve(&mut choice, Path::new("")).map_err(|error| error.to_string())?;
    Ok(choice)
}

fn scenario(file: &Path) -> Result<Scenario, String> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    wastenot_experiment::scenario(&name, &text).map_err(|error| error.to_string())
}

fn run(scenario: &Scenario, options: &Options) -> Result<Experiment, String> {
    let said = |error: wastenot_experiment::Error| format!("{}: {error}", scenario.name);
    Grid::new(scenario, &Sim, options).map_err(said)?.run(|_| {}).map_err(said)
}

/// A row for each workload of a scenario that runs on the machine; how many.
fn workloads(page: &mut String, file: &Path, choices: &[Choice]) -> Result<usize, String> {
    let mut scenario = scenario(file)?;
    scenario.variants.retain(|variant| variant.machine.name == MACHINE);
    if scenario.variants.is_empty() {
        return Ok(0);
    }
    let seeds: Vec<u64> = (1..=SEEDS).collect();
    let mut rows: Vec<String> = Vec::new();
    for choice in choices {
        let scheduler = Some(choice.clone());
        let options = Options { seeds: seeds.clone(), scheduler, ..Options::default() };
        let experiment = run(&scenario, &options)?;
        let alone = experiment.variants.len() == 1;
        for (row, outcome) in experiment.variants.iter().enumerate() {
            if rows.len() <= row {
                let which = if alone { String::new() } else { format!(": {}", outcome.name) };
                rows.push(format!("| {}{which} |", scenario.name));
            }
            let _ = write!(rows[row], " {} |", completion(&outcome.cells));
        }
    }
    rows.iter().for_each(|row| {
        let _ = writeln!(page, "{row}");
    });
    Ok(rows.len())
}

/// The median time, with what was wasted meanwhile.
fn completion(cells: &[Cell]) -> String {
    let median = |of: fn(&Cell) -> u64| {
        let mut all: Vec<u64> = cells.iter().map(of).collect();
        all.sort_unstable();
        all[all.len() / 2]
    };
    let more = if cells.iter().all(|cell| cell.done) { "" } else { "more than " };
    match median(|cell| cell.waste_cpu_ns) {
        0 => format!("{more}{}", Span(median(|cell| cell.time_ns))),
        waste => format!("{more}{} ({})", Span(median(|cell| cell.time_ns)), Span(waste)),
    }
}

/// A row for each figure of a policy's own scenario.
fn figures(page: &mut String, file: &Path) -> Result<(), String> {
    let scenario = scenario(file)?;
    let experiment = run(&scenario, &Options::default())?;
    for worked in &experiment.figures {
        let figure = &worked.figure;
        let value = worked.value.map_or("?".into(), |value| worked.show(value));
        let _ = writeln!(
            page,
            "| {} | {} | {value} | {} | {} |",
            scenario.name,
            figure.name,
            worked.show_band().unwrap_or_default(),
            figure.why,
        );
    }
    Ok(())
}
