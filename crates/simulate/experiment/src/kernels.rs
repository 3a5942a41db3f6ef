//! What schedulers did in real kernels, side by side: those that failed, who waited longest and why
//! time was lost, and which figures differ by more than chance.

use wastenot_model::report::number;
use wastenot_model::{Distribution, Span, Table};
use wastenot_scenario::scenario::{Figure, Measure, Over};

use crate::cell::Cell;
use crate::experiment::{Experiment, Outcome, Worked};
use crate::longest::Wait;
use crate::ranks::{self, CHANCE};

impl Experiment {
    /// Whether a run reached its limit.
    pub fn is_limited(&self) -> bool {
        self.variants.iter().any(|it| it.sound().any(|cell| !cell.done))
    }

    /// Whether something was wrong with the scheduler in a run.
    pub fn has_fault(&self) -> bool {
        self.variants.iter().any(|it| it.sound().count() < it.cells.len())
    }
}

/// What was wrong, each once, with how often: for the verdict.
pub(crate) fn sentences(all: &[Experiment]) -> String {
    let mut text = String::new();
    for experiment in all {
        let cells = || experiment.variants.iter().flat_map(|it| &it.cells);
        // The first stands for all: tasks, numbers and times differ from run to run.
        if let Some(fault) = cells().find_map(|cell| cell.fault.as_ref()) {
            let faulty = cells().filter(|it| it.fault.is_some()).count();
            let of = match cells().count() {
                1 => String::new(),
                count if count == faulty => format!(" (in all {count} runs)"),
                count => format!(" (in {faulty} of {count} runs)"),
            };
            text += &format!("Linux {}: {}{of}.", kernel(experiment), fault.what);
            if let Some(dump) = &fault.dump {
                text += &format!(" Kernel dump: {dump}");
            }
            text += " ";
        }
    }
    text
}

/// The bench without the scheduler: `7.2.13`.
fn kernel(experiment: &Experiment) -> &str {
    let scheduler = experiment.variants.first().map_or("", |it| it.scheduler.as_str());
    experiment.bench.strip_suffix(scheduler).map_or(&*experiment.bench, str::trim_end)
}

/// Every run whose scheduler was refused or ended.
pub(crate) fn faults_table(all: &[Experiment]) -> Table {
    let mut table = Table::new("faults", "Schedulers that failed", []);
    for (experiment, variant, seed, cell) in cells(all) {
        let Some(fault) = &cell.fault else { continue };
        table.row(|row| {
            row.cell("bench", "on", experiment.bench.as_str())
                .cell("variant", "variant", variant.name.as_str())
                .cell("seed", "seed", seed)
                .ns("after_ns", "after", fault.after_ns)
                .cell("what", "what happened", fault.what.as_str())
                .cell("dump", "", fault.dump.clone())
                .cell("help", "", fault.help.as_str())
                .cell("lines", "", fault.lines.clone())
        });
    }
    table
}

/// The lines that decide, of the first run that failed on each bench.
pub(crate) fn lines_table(all: &[Experiment]) -> Table {
    let mut table = Table::new("", "Last messages of the scheduler's program and the kernel", [])
        .shown(usize::MAX);
    for experiment in all {
        let mut cells = experiment.variants.iter().flat_map(|it| &it.cells);
        let Some(fault) = cells.find_map(|cell| cell.fault.as_ref()) else { continue };
        for line in &fault.lines {
            table.row(|row| {
                row.cell("", "on", experiment.bench.as_str()).cell("", "line", line.as_str())
            });
        }
    }
    table
}

/// What to do about what went wrong, each sentence once.
pub(crate) fn help(all: &[Experiment]) -> Vec<String> {
    let mut help: Vec<String> = Vec::new();
    for (experiment, _, _, cell) in cells(all) {
        if let Some(fault) = &cell.fault {
            let sentence = format!("{}: {}", experiment.bench, fault.help);
            if !fault.help.is_empty() && !help.contains(&sentence) {
                help.push(sentence);
            }
        }
    }
    help
}

fn cells(all: &[Experiment]) -> impl Iterator<Item = (&Experiment, &Outcome, u64, &Cell)> {
    all.iter().flat_map(|experiment| {
        experiment.variants.iter().flat_map(move |variant| {
            let cells = experiment.seeds.iter().zip(&variant.cells);
            cells.map(move |(&seed, cell)| (experiment, variant, seed, cell))
        })
    })
}

/// Who waited how long, and by which causes time was wasted; of real tasks.
pub(crate) fn waits_table<'e>(all: &'e [Experiment]) -> Table {
    let waited = |experiment: &'e Experiment| {
        experiment.variants.iter().filter_map(|variant| {
            let longest = variant.sound().filter_map(|cell| cell.longest.as_ref());
            Some((experiment.bench.as_str(), variant, longest.max_by_key(|wait| wait.ns)?))
        })
    };
    let title = "Waits for a CPU, and wakeups onto busy CPUs";
    Table::of("waits", title, all.iter().flat_map(waited), |row, (bench, variant, longest)| {
        let mut waits = Distribution::default();
        let kinds = || variant.sound().flat_map(|cell| &cell.kinds);
        kinds().for_each(|kind| waits.merge(&kind.waits));
        let busy = kinds().map(|kind| kind.busy_wakeups).sum::<u64>();
        let busy = busy as f64 / variant.sound().count().max(1) as f64;
        row.cell("bench", "on", bench)
            .cell("variant", "variant", variant.name.as_str())
            .ns("p99_ns", "p99 wait", waits.quantile(0.99))
            .ns("max_ns", "longest", longest.ns)
            .cell("longest", "task", of_wait(longest))
            .cell("busy_wakeups", "wakeups onto busy CPUs", number(busy, None))
            .cell("causes", "causes of the waste", causes(variant))
    })
    .shown(40)
}

fn of_wait(wait: &Wait) -> String {
    let cpu = wait.cpu.map_or(String::new(), |cpu| format!(" on CPU {cpu}"));
    let open = if wait.is_open { ", until the end of the run" } else { "" };
    format!("{}{cpu} from {}{open}", wait.task, Span(wait.from_ns))
}

/// The three largest causes of the waste of all runs.
fn causes(variant: &Outcome) -> String {
    let mut sums: Vec<(&str, u64)> = Vec::new();
    for (label, ns) in variant.sound().flat_map(|cell| &cell.causes) {
        match sums.iter_mut().find(|(known, _)| known == label) {
            Some((_, sum)) => *sum = sum.saturating_add(*ns),
            None => sums.push((label, *ns)),
        }
    }
    sums.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    let all: u64 = sums.iter().map(|(_, ns)| ns).sum();
    let share = |ns: u64| ns as f64 / all.max(1) as f64 * 100.0;
    let shown = sums
        .iter()
        .filter(|(_, ns)| share(*ns) >= 1.0)
        .take(3)
        .map(|&(label, ns)| format!("{label} {:.0} %", share(ns)));
    shown.collect::<Vec<_>>().join(", ")
}

/// How a figure of one scheduler stands to that of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Smaller, where that is better.
    Better,
    /// Larger, where smaller is better.
    Worse,
    /// Other, where neither is better.
    Other,
    /// By chance alone they would differ as much too often.
    NotTold,
}

/// A figure of two schedulers.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The benches: before, after.
    pub benches: [String; 2],
    /// The figure.
    pub figure: String,
    /// Its value and its range, in words: before, after.
    pub shown: [(String, String); 2],
    /// The chance of a difference like this by chance alone.
    pub chance: f64,
    /// What follows.
    pub change: Change,
}

impl Compared {
    /// `waste: 3.1 ms -> 9.8 ms, worse (p = 0.008)`.
    pub fn sentence(&self) -> String {
        let [(before, _), (after, _)] = &self.shown;
        let word = match self.change {
            Change::Better => "better",
            Change::Worse => "worse",
            Change::Other => "different",
            Change::NotTold => "no significant difference",
        };
        format!("{}: {before} -> {after}, {word} (p = {:.3})", self.figure, self.chance)
    }
}

/// Whether smaller values are better.
fn is_cost(figure: &Figure) -> bool {
    let is_cost = matches!(
        figure.quantity.measure,
        Measure::Completion
            | Measure::FirstCompletion
            | Measure::Waste
            | Measure::Wait
            | Measure::BusyWakeups
            | Measure::PrevIdleWakeups
            | Measure::Missed
            | Measure::Tardiness
            | Measure::Response
    );
    is_cost && !matches!(figure.over, Over::Quantity(_))
}

/// The figures of two schedulers side by side. Several figures are looked at, so each must be less
/// likely by chance, by their number (Bonferroni).
pub fn compared(before: &Experiment, after: &Experiment) -> Vec<Compared> {
    let known = |it: &Worked| it.values.iter().flatten().copied().collect::<Vec<f64>>();
    let pairs: Vec<(&Worked, &Worked)> = (before.figures.iter())
        .filter_map(|it| Some((it, after.figure(&it.figure.name)?)))
        .filter(|(a, b)| a.value.is_some() && b.value.is_some())
        .collect();
    let one = |&(a, b): &(&Worked, &Worked)| {
        let chance = ranks::chance(&known(a), &known(b));
        let is_more = b.value > a.value;
        let change = match (chance * (pairs.len() as f64) < CHANCE, is_cost(&a.figure)) {
            (false, _) => Change::NotTold,
            (true, false) => Change::Other,
            (true, true) if is_more => Change::Worse,
            (true, true) => Change::Better,
        };
        let shown = [a, b].map(|it| {
            let value = it.value.map_or("unknown".to_owned(), |value| it.show(value));
            (value, it.show_range().unwrap_or_default())
        });
        let benches = [before.bench.clone(), after.bench.clone()];
        Compared { benches, figure: a.figure.name.clone(), shown, chance, change }
    };
    pairs.iter().map(one).collect()
}

/// How many runs of each are the least that can tell so many figures apart.
pub(crate) fn least_runs(figures: usize) -> usize {
    let chance = |runs: usize| {
        let values = |from: usize| (from..from + runs).map(|it| it as f64).collect::<Vec<_>>();
        ranks::chance(&values(0), &values(runs))
    };
    (1..20).find(|&runs| chance(runs) * (figures as f64) < CHANCE).unwrap_or(20)
}

/// Why nothing may be told apart, if that is so.
pub(crate) fn too_few(before: &Experiment, after: &Experiment) -> Option<String> {
    let figures = compared(before, after).len();
    let least = least_runs(figures);
    let runs = |it: &Experiment| it.variants.iter().map(|it| it.sound().count()).min();
    let is_few = figures > 0 && runs(before).min(runs(after)).is_some_and(|runs| runs < least);
    is_few.then(|| {
        format!(
            "use --repeat {least}: a comparison of {figures} figures needs at least {least} runs \
             per scheduler"
        )
    })
}

/// What differs between schedulers.
pub(crate) fn compared_table(all: &[Compared]) -> Table {
    Table::of("compared", "Each scheduler compared with the previous scheduler", all, |row, it| {
        let [before, after] = &it.benches;
        let [(was, was_range), (is, is_range)] = &it.shown;
        let change = match it.change {
            Change::Better => "better",
            Change::Worse => "worse",
            Change::Other => "different",
            Change::NotTold => "",
        };
        row.cell("before", "", before.as_str())
            .cell("after", "on", after.as_str())
            .cell("figure", "figure", it.figure.as_str())
            .cell("", "before", was.as_str())
            .cell("", "after", is.as_str())
            .cell("before_range", "", was_range.as_str())
            .cell("after_range", "", is_range.as_str())
            .cell("p", "p", it.chance)
            .cell("change", "change", change)
    })
    .shown(60)
}
