//! Figures agree: of each scenario, what the run says, what `check` says of its `.wn`, and what it
//! says of the same History as trace-cmd records and prints it, where that carries what the figure
//! needs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use wastenot_check::{Check, Options, check};
use wastenot_experiment::{Bench as _, Cell, Run, Sim};
use wastenot_model::{
    Carries, Change, CpuId, CpuReceiver, CpuSet, CpuSpans, CpuState, Entry, Event, History,
    Missing, Phase, Silent, Span, TaskId, TaskReceiver, TaskSpan, TaskSpans, TaskState, Time,
    Window, replay,
};
use wastenot_read::{read, write};
use wastenot_scenario::scenario::{Instead, Variant};
use wastenot_tests::encode::ring::Ring;
use wastenot_tests::encode::text::{Text, text};
use wastenot_tests::encode::tracedat::{Compression, TraceDat, Version, trace_dat};
use wastenot_tests::encode::tracepoint::Layout;
use wastenot_tests::fuzz::Tamper;
use wastenot_tests::random::adapted;

/// As trace-cmd records.
const RECORDED: TraceDat = TraceDat {
    layout: Layout::X86_64,
    ring: Ring { page: 65_536, records: 10_000, absolute: 0, discarded: 0, counts: true },
    version: Version::V7(Compression::None),
    tamper: Tamper::NOT,
};

/// Of a run the beginning is looked at.
const LONGEST: Span = Span::ms(120);

/// Files that tell less, of which the waste, above 0, was compared with that of the run.
static WASTED: AtomicUsize = AtomicUsize::new(0);
/// The same of the lengths of run queues, which need as much and are never all 0.
static QUEUED: AtomicUsize = AtomicUsize::new(0);

/// Every file in `scenarios` that is a scenario.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let inside = |folder: PathBuf| fs::read_dir(folder).expect("a folder");
    let folders = inside(root).map(|entry| entry.expect("an entry").path());
    let all = folders.filter(|path| path.is_dir()).flat_map(inside);
    let all = all.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file());
    let is_scenario = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a text");
        text.contains("wastenot.scenario/1") || path.extension().is_some_and(|it| it == "json")
    };
    let mut files: Vec<PathBuf> = all.filter(is_scenario).collect();
    files.sort();
    files
}

fn variants(file: &Path) -> Vec<(Variant, Time)> {
    let name = file.display().to_string();
    let text = fs::read_to_string(file).expect("a text");
    let scenario = wastenot_experiment::given(&name, &text, Instead::default(), None);
    let (scenario, _) = scenario.unwrap_or_else(|e| panic!("{e}"));
    let limit = Time(scenario.limit.min(LONGEST).0);
    scenario.variants.into_iter().map(|variant| (variant, limit)).collect()
}

/// What is compared, by name; whatever a figure is, it is a number.
type Figures = BTreeMap<String, u64>;

/// What a run says of itself.
fn of_run(cell: &Cell) -> Figures {
    let mut all = Figures::from([("waste".to_owned(), cell.waste_cpu_ns)]);
    for kind in &cell.kinds {
        let figures = [
            ("run", kind.cpu_ns),
            ("switches", kind.switches),
            ("migrations", kind.migrations),
            ("remote migrations", kind.remote_migrations),
            ("busy wakeups", kind.busy_wakeups),
            ("prev idle wakeups", kind.prev_idle_wakeups),
        ];
        all.extend(figures.map(|(name, value)| (format!("{name} of {}", kind.name), value)));
    }
    all
}

/// The same out of a check.
fn as_a_run_says(history: &History, check: &Check, cell: &Cell) -> Figures {
    let mut all = Figures::from([("waste".to_owned(), check.waste.cpu_ns)]);
    for kind in &cell.kinds {
        let tasks = history.tasks().filter(|(_, task)| history.name(task.name) == kind.name);
        let tasks: Vec<usize> = tasks.map(|(task, _)| task.ordinal()).collect();
        let sum = |of: &dyn Fn(usize) -> u64| tasks.iter().map(|&task| of(task)).sum::<u64>();
        let figures = [
            ("run", sum(&|task| check.waits.by_task[task].run_ns)),
            ("switches", sum(&|task| check.waits.by_task[task].runs)),
            ("migrations", sum(&|task| check.migrations.by_task[task].count)),
            ("remote migrations", sum(&|task| check.migrations.by_task[task].remote)),
            ("busy wakeups", sum(&|task| check.placements.wakeups_by_task[task].on_busy_some_idle)),
            (
                "prev idle wakeups",
                sum(&|task| check.placements.wakeups_by_task[task].on_busy_prev_idle),
            ),
        ];
        all.extend(figures.map(|(name, value)| (format!("{name} of {}", kind.name), value)));
    }
    all
}

/// The figures of a check that need `carries` at most.
fn of_check(history: &History, check: &Check, carries: Carries) -> Figures {
    let mut all = Figures::new();
    let mut add = |name: &str, needs: Carries, value: u64| {
        // A print has no task that did nothing.
        if carries.has(needs) && value > 0 {
            all.insert(name.to_owned(), value);
        }
    };
    let waits_begin = Carries::WAKEUPS | Carries::PLACEMENT | Carries::NEW;
    let (waste, waits) = (&check.waste, &check.waits);
    for (task, known) in history.tasks() {
        let (name, waited) = (history.task_label(task), &waits.by_task[task.ordinal()]);
        add(&format!("run of {name}"), Carries::NONE, waited.run_ns);
        add(&format!("runs of {name}"), Carries::NONE, waited.runs);
        add(&format!("waits of {name}"), waits_begin, waited.waits.count);
        add(&format!("waited by {name}"), waits_begin, waited.waits.sum);
        let moved = check.migrations.by_task[task.ordinal()].count;
        add(&format!("migrations of {name}"), Carries::MIGRATIONS | waits_begin, moved);
        assert!(known.tid > 0, "{name}");
    }
    let everything = waits_begin | Carries::MIGRATIONS;
    // Where moves or new tasks are not told, a CPU that idles may be about to start one.
    add("idle", everything, waste.idle_ns);
    add("busy", Carries::NONE, waste.busy_ns);
    add("waste", everything, waste.cpu_ns);
    add("waste at most", everything, waste.cpu_ns_max);
    add("episodes", everything, waste.episodes);
    add("longest episode", everything, waste.longest_ns);
    add("wake delay", everything, waste.wake_delay.cpu_ns);
    add("waiting", everything, waste.wait_ns);
    add("violations", everything, check.violations.total.count);
    add("idle in violations", everything, check.violations.total.idle_ns);
    add("wakeups onto idle", everything, check.placements.wakeups.on_idle);
    add("wakeups onto busy", everything, check.placements.wakeups.on_busy_some_idle);
    add("new onto busy", everything, check.placements.forks.on_busy_some_idle);
    for (length, ns) in check.depth.total().into_iter().enumerate() {
        add(&format!("run queues of {length}"), everything, ns);
    }
    let held = check.throttled.as_ref().map_or(0, |held| held.all.held_ns);
    add("held back", Carries::THROTTLING, held);
    all
}

/// What spans add up to: the same figures by another way.
#[derive(Default)]
struct Sums {
    run: BTreeMap<TaskId, u64>,
    waiting: u64,
    held: u64,
    idle: u64,
    busy: u64,
}

impl TaskReceiver for &mut Sums {
    type Seen = (Phase, Option<CpuId>);
    fn see(&self, is: &TaskState) -> Self::Seen {
        (is.phase, is.cpu.filter(|_| is.phase.wants_to_run()))
    }
    fn span(&mut self, span: TaskSpan<'_, Self::Seen>) {
        let ns = span.window.span().0;
        match span.seen.0 {
            Phase::Running => *self.run.entry(span.task).or_default() += ns,
            Phase::Waiting => self.waiting += ns,
            Phase::Held => self.held += ns,
            _ => {}
        }
    }
}

impl CpuReceiver for Sums {
    type Seen = wastenot_model::Activity;
    fn see(&self, is: &CpuState) -> Self::Seen {
        is.activity()
    }
    fn span(&mut self, _: CpuId, seen: Self::Seen, window: Window) {
        match seen {
            Self::Seen::Idle | Self::Seen::Waking => self.idle += window.span().0,
            Self::Seen::Run(_) => self.busy += window.span().0,
            _ => {}
        }
    }
}

fn differing(what: &str, ours: &Figures, theirs: &Figures) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let differ = |name: &&String| ours.get(*name) != theirs.get(*name);
    let line =
        |name: &String| format!("{what}: {name}: {:?}, not {:?}", theirs.get(name), ours.get(name));
    names.into_iter().filter(differ).take(5).map(line).collect()
}

/// What disagrees.
fn wrong(variant: &Variant, run: &Run) -> Vec<String> {
    let (history, cell) = (&run.history, run.cell(variant));
    let options = Options::default();
    let checked = check(history, &options);
    let mut wrong = differing("spans", &by_spans(history), &spanned(history, &checked));

    let mut bytes = Vec::new();
    write::wn(history, &mut bytes).expect("memory");
    let own = read(&bytes, &Default::default()).expect("our own format");
    let again = check(&own, &options);
    wrong.extend(differing("wn", &of_run(&cell), &as_a_run_says(&own, &again, &cell)));
    let (first, mut second) = (checked.report(history, &options), again.report(&own, &options));
    second.title.clone_from(&first.title);
    if first != second {
        wrong.push("wn: another report".to_owned());
    }

    let (spread, parts) = spread(history);
    let whole = check(&spread, &options);
    wrong.extend(moved(history, &cell, parts, &whole, &spread));
    let files = [
        ("trace.dat", trace_dat(&spread, &RECORDED)),
        ("printed", text(&spread, Text::ReportPlain).into_bytes()),
    ];
    for (how, bytes) in files {
        match read(&bytes, &Default::default()) {
            Ok(read) => wrong.extend(as_read(how, &spread, read)),
            // Nothing was switched in so short a time.
            Err(error) => {
                let switch = |it: Entry| matches!(it.event, Event::Switch { .. });
                assert!(!spread.entries().any(switch), "{how}: {error}");
            }
        }
    }
    wrong
}

fn by_spans(history: &History) -> Figures {
    let mut sums = Sums::default();
    replay(history, Silent::Unknown, &mut TaskSpans::new(&mut sums));
    replay(history, Silent::Unknown, &mut CpuSpans::new(&mut sums));
    let mut all = Figures::from([
        ("idle".to_owned(), sums.idle),
        ("busy".to_owned(), sums.busy),
        ("waiting".to_owned(), sums.waiting),
        ("held back".to_owned(), sums.held),
    ]);
    let runs = sums.run.iter().filter(|(_, ns)| **ns > 0);
    all.extend(runs.map(|(task, ns)| (format!("run of {task:?}"), *ns)));
    all
}

fn spanned(history: &History, check: &Check) -> Figures {
    let held = check.throttled.as_ref().map_or(0, |held| held.all.held_ns);
    let mut all = Figures::from([
        ("idle".to_owned(), check.waste.idle_ns),
        ("busy".to_owned(), check.waste.busy_ns),
        ("waiting".to_owned(), check.waste.wait_ns),
        ("held back".to_owned(), held),
    ]);
    let runs = history.tasks().map(|(task, _)| (task, &check.waits.by_task[task.ordinal()]));
    let runs = runs.filter(|(_, waited)| waited.run_ns > 0);
    all.extend(runs.map(|(task, waited)| (format!("run of {task:?}"), waited.run_ns)));
    all
}

/// The same rows in the same order, each at an instant of its own, and into how many parts each
/// nanosecond was divided for that. Readers order by CPU what several CPUs record at one instant;
/// in a simulation much happens at one.
fn spread(history: &History) -> (History, u64) {
    let times: Vec<Time> = history.entries().map(|entry| entry.time).collect();
    let most = times.chunk_by(|a, b| a == b).map(<[Time]>::len).max().unwrap_or(1);
    let (parts, mut last) = ((most as u64 + 1).next_power_of_two(), 0);
    let mut spread = adapted(history, |mut entry| {
        entry.time.0 = (entry.time.0 * parts).max(last + 1);
        last = entry.time.0;
        Some(entry)
    });
    let Window { from, to } = history.window();
    spread.head.window = Window { from: Time(from.0 * parts), to: Time((to.0 * parts).max(last)) };
    (spread, parts)
}

/// What moves by more than the nanosecond that each row may move.
fn moved(
    history: &History,
    cell: &Cell,
    parts: u64,
    check: &Check,
    spread: &History,
) -> Vec<String> {
    let most = (history.len() * history.cpu_count()) as u64;
    let spread = as_a_run_says(spread, check, cell);
    let is_time = |name: &str| name == "waste" || name.starts_with("run of");
    let ours = of_run(cell).into_iter().filter(|(name, _)| is_time(name));
    let far = ours.filter(|(name, ns)| (spread[name] / parts).abs_diff(*ns) > most);
    far.map(|(name, ns)| format!("spread: {name}: {} / {parts}, not {ns}", spread[&name])).collect()
}

/// What differs when the History is read from a file that tells less.
fn as_read(how: &str, history: &History, mut printed: History) -> Vec<String> {
    // What the file does not tell and a command line does: `--machine`, `--silent-cpus idle`.
    printed.head.machine = history.head.machine.clone();
    let mut carries = history.head.carries & printed.head.carries;
    let changes = |of: &dyn Fn(&Change) -> bool| {
        history.entries().any(|it| matches!(it.event, Event::Changed { what, .. } if of(&what)))
    };
    let all = CpuSet::first(history.cpu_count());
    let binds = |it: &Change| match it {
        Change::Affinity(mask) => history.mask(*mask) != Some(&all),
        _ => false,
    };
    let (bound, held) = (changes(&binds), changes(&|it| matches!(it, Change::Throttled(_))));
    // What binds or holds back a task is not told, so that it seems movable, or to wait.
    if bound || held {
        carries = carries.without(Carries::MIGRATIONS);
    }
    if held {
        carries = carries.without(Carries::WAKEUPS);
    }
    let options = Options { window: printed.window(), silent: Silent::Idle, ..Options::default() };
    let (run, file) = (check(history, &options), check(&printed, &options));
    let (exact, read) = (of_check(history, &run, carries), of_check(&printed, &file, carries));
    // Known: where moves are not told, the upper bound of `dhall p-edf` is too low, by less than a
    // nanosecond of the run: the instants between rows of one instant.
    let (low, high) = (file.waste.cpu_ns, file.waste.cpu_ns_max);
    let (waste, room) = (run.waste.cpu_ns, history.len() as u64);
    if !bound && !held && !(low..=high + room).contains(&waste) {
        return vec![format!("{how}: the waste, {waste}, is not in {low} to {high}")];
    }
    // A simulated CPU may idle beside its queue for longer than any real one does. Then a reader
    // that does not know the start takes rows for missing, and waste for a range.
    if !Missing::find(&printed).is_empty() {
        return Vec::new();
    }
    WASTED.fetch_add(usize::from(exact.contains_key("waste")), Ordering::Relaxed);
    let queued = exact.keys().any(|name| name.starts_with("run queues of "));
    QUEUED.fetch_add(usize::from(queued), Ordering::Relaxed);
    differing(how, &exact, &read)
}

#[test]
fn the_figures_of_a_run_of_its_file_and_of_what_tools_print_agree() {
    let files = files();
    assert!(files.len() > 55, "{} scenarios", files.len());
    let all: Vec<(&PathBuf, Variant, Time)> = (files.iter())
        .flat_map(|file| variants(file).into_iter().map(move |(it, limit)| (file, it, limit)))
        .collect();
    let wrong: Vec<String> = (all.par_iter())
        .flat_map_iter(|(file, variant, limit)| {
            let options = wastenot_sim::Options { limit: *limit, ..Default::default() };
            let run = Sim.run(variant, &options).unwrap_or_else(|e| panic!("{e}"));
            let name = file.file_stem().unwrap_or_default().display().to_string();
            let wrong = wrong(variant, &run);
            wrong.into_iter().map(move |it| format!("{name} {}: {it}", variant.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), all.len(), wrong.join("\n"));
    let (queued, wasted) = (QUEUED.load(Ordering::Relaxed), WASTED.load(Ordering::Relaxed));
    println!(
        "{} variants of {} scenarios: of {queued} files that tell less run queues are the same, \
         of {wasted} waste",
        all.len(),
        files.len()
    );
    assert!(wasted >= 20, "{wasted}");
}
