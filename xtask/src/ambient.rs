//! `crates/simulate/scenario/src/ambient.csv`: what ran next to the recorded workloads, by kernel.
//!
//! A recording's ambient tasks are those that it did not see created and that created none
//! themselves, whoever launched the workload. Threads that the scheduler wakes in order to move
//! tasks (`migration/N`) are the simulated scheduler's business. The recordings of a kernel are
//! parted by name: the first, third, ... are one half, the others the other; the second half's
//! ambient load has `-b` behind its name, and each is for judging the recordings of the other.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use wastenot_model::{
    CpuId, CpuMode, Event, History, Observer, Phase, Silent, Span, State, TaskId, TaskState, Time,
    replay,
};
use wastenot_scenario::ambient::{self, Ambient, Thread};

/// The kernels of the recordings.
const KERNELS: [&str; 4] = ["5.10", "6.1", "6.12", "7.2"];
/// The workloads whose recordings count, as they are called at the end of a file's name.
const WORKLOADS: [&str; 6] = ["barrier", "hotplug", "make", "pipe", "tpch", "twonode"];
/// What is called after the half that it is of.
const HALVES: [&str; 2] = ["", "-b"];
/// The scheduler's own, which a simulated one has itself.
const OWN: &str = "migration/";

/// Derives the table from the recordings in `traces`. The verdict in a line.
pub(crate) fn write(traces: &Path, table: &Path) -> Result<String, String> {
    let mut all = Vec::new();
    for kernel in KERNELS {
        let names = recordings(traces, kernel)?;
        for (half, suffix) in HALVES.iter().enumerate() {
            let mut seen = Seen::default();
            for name in names.iter().skip(half).step_by(HALVES.len()) {
                seen.add(&read(&traces.join(name))?);
            }
            all.push(seen.ambient(format!("linux-{kernel}{suffix}")));
        }
    }
    fs::write(table, ambient::write(&all)).map_err(|e| format!("{}: {e}", table.display()))?;
    Ok(format!("{}: {} ambient loads", table.display(), all.len()))
}

/// The recordings of a kernel, by name.
fn recordings(traces: &Path, kernel: &str) -> Result<Vec<String>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", traces.display());
    let names = fs::read_dir(traces).map_err(failed)?;
    let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_of = |name: &String| {
        let stem = name.strip_suffix(".dat").unwrap_or_default();
        let workload = stem.rsplit('-').next().unwrap_or_default();
        name.starts_with(&format!("{kernel}-")) && WORKLOADS.contains(&workload)
    };
    let mut names: Vec<String> = names.filter(is_of).collect();
    names.sort();
    Ok(names)
}

/// The ambient load that was not fitted on this recording, `5.10-t4x4-make` of `5.10`; and how long
/// a task of the same recordings takes to create another (the median from fork to fork of one that
/// keeps its CPU).
pub(crate) fn held_out(traces: &Path, recording: &str) -> Result<(String, Span), String> {
    let kernel = recording.split('-').next().unwrap_or_default();
    let names = recordings(traces, kernel)?;
    let place = names.iter().position(|name| name.strip_suffix(".dat") == Some(recording));
    let place = place.ok_or_else(|| format!("{}: no {recording}.dat", traces.display()))?;
    let half = (place + 1) % HALVES.len();
    let mut forks = Vec::new();
    for name in names.iter().skip(half).step_by(HALVES.len()) {
        forks.extend(from_fork_to_fork(&read(&traces.join(name))?));
    }
    forks.sort_unstable();
    let fork = forks.get(forks.len() / 2).copied().unwrap_or_default();
    Ok((format!("linux-{kernel}{}", HALVES[half]), fork))
}

/// How long after one task its creator creates the next, if it keeps its CPU meanwhile.
fn from_fork_to_fork(history: &History) -> Vec<Span> {
    let mut last: BTreeMap<TaskId, Time> = BTreeMap::new();
    let mut forks = Vec::new();
    for entry in history.entries() {
        match entry.event {
            Event::Fork { parent, .. } => {
                let before = last.insert(parent, entry.time);
                forks.extend(before.map(|before| entry.time - before));
            }
            Event::Switch { prev, .. } => drop(last.remove(&prev)),
            _ => {}
        }
    }
    forks
}

/// Reads a recording.
pub(crate) fn read(file: &Path) -> Result<History, String> {
    let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let history = wastenot_read::read(&bytes, &wastenot_read::Options::default());
    history.map_err(|error| format!("{}: {error}", file.display()))
}

/// What was seen in some recordings.
#[derive(Default)]
struct Seen {
    /// By name, and whether each CPU has one: how long it ran each time that it was woken, in ns.
    runs: BTreeMap<(String, bool), Vec<u64>>,
    /// How long wakeups on idle CPUs took, in ns.
    delays: Vec<u64>,
    /// How long the recordings are together, in ns, and times their CPUs.
    time: u64,
    cpu_time: u64,
}

impl Seen {
    fn add(&mut self, history: &History) {
        let window = history.window();
        let time = (window.to - window.from).0;
        self.time += time;
        self.cpu_time += time * history.cpu_count() as u64;
        let mut others = vec![true; history.task_count()];
        for entry in history.entries() {
            let Event::Fork { parent, child } = entry.event else { continue };
            for index in [parent, child].into_iter().filter_map(TaskId::index) {
                others[index] = false;
            }
        }
        let spent = vec![Span::ZERO; others.len()];
        let alone = vec![None; others.len()];
        let mut watch = Watch { history, others, spent, alone, seen: self };
        replay(history, Silent::Unknown, &mut watch);
    }

    fn ambient(self, name: String) -> Ambient {
        let Seen { runs, delays, time, cpu_time } = self;
        // One wakeup tells no rate.
        let often = runs.into_iter().filter(|(_, runs)| runs.len() > 1);
        let threads = often.map(|((name, each_cpu), runs)| {
            let (mean, deviation) = moments(&runs);
            let observed = if each_cpu { cpu_time } else { time };
            Thread {
                name,
                each_cpu,
                every: Span(observed / runs.len() as u64),
                mean: Span(mean.round() as u64),
                cv_per_mille: (1_000.0 * deviation / mean).round() as u64,
                seen: runs.len() as u64,
            }
        });
        let (delay, _) = moments(&delays);
        let (ipi, wakeups) = (Span(delay.round() as u64), delays.len() as u64);
        Ambient { name, ipi, wakeups, threads: threads.collect() }
    }
}

/// Mean and standard deviation.
fn moments(values: &[u64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().map(|&value| value as f64).sum::<f64>() / count;
    let squares = values.iter().map(|&value| (value as f64 - mean).powi(2)).sum::<f64>();
    (mean, (squares / count).sqrt())
}

/// Looks at a recording.
struct Watch<'a> {
    history: &'a History,
    /// By task: whether it is none of the workload's.
    others: Vec<bool>,
    /// By task: how long it has run since it was woken.
    spent: Vec<Span>,
    /// By task: the idle CPU on which it waits, alone.
    alone: Vec<Option<CpuId>>,
    seen: &'a mut Seen,
}

impl Observer for Watch<'_> {
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        let Some(index) = task.index() else { return };
        if was.phase == Phase::Running && now.phase != Phase::Running {
            self.spent[index] += state.now() - was.since;
        }
        match (was.phase, now.phase) {
            (Phase::Running, Phase::Sleeping | Phase::Dead) => self.sleeps(task, index),
            (Phase::Waiting, Phase::Running) => {
                let alone = self.alone[index].take();
                if alone.is_some() && alone == now.cpu {
                    self.seen.delays.push((state.now() - was.since).0);
                }
            }
            (Phase::Sleeping | Phase::New, Phase::Waiting) => {
                let idles = |cpu: &CpuId| {
                    let cpu = state.cpu(*cpu);
                    cpu.mode == CpuMode::Idle && cpu.waiting == 1
                };
                self.alone[index] = now.cpu.filter(idles);
            }
            (Phase::Waiting, Phase::Waiting) if was.cpu != now.cpu => self.alone[index] = None,
            _ => {}
        }
    }
}

impl Watch<'_> {
    fn sleeps(&mut self, task: TaskId, index: usize) {
        let spent = std::mem::take(&mut self.spent[index]);
        let name = self.history.task_name(task);
        if self.others[index] && !name.starts_with(OWN) {
            self.seen.runs.entry(kind(&name)).or_default().push(spent.0);
        }
    }
}

/// Its name without numbers, and whether each CPU has one: `kworker/3:1` is bound to CPU 3,
/// `kworker/u8:0` and `kcompactd0` are to none.
fn kind(name: &str) -> (String, bool) {
    let bound = name
        .split_once('/')
        .filter(|(_, rest)| rest.split(':').next().is_some_and(|cpu| cpu.parse::<u16>().is_ok()));
    if let Some((name, _)) = bound {
        return (name.to_owned(), true);
    }
    let name = name.split(':').next().unwrap_or(name);
    (name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned(), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_threads_are_of_a_kind_whatever_their_numbers() {
        for (name, kind_of, each_cpu) in [
            ("kworker/12:1", "kworker", true),
            ("ksoftirqd/8", "ksoftirqd", true),
            ("kworker/3:1H", "kworker", true),
            ("kworker/u65:0", "kworker/u", false),
            ("kcompactd0", "kcompactd", false),
            ("kdamond.0", "kdamond", false),
            ("rcu_preempt", "rcu_preempt", false),
        ] {
            assert_eq!(kind(name), (kind_of.to_owned(), each_cpu), "{name}");
        }
    }

    /// What the committed table says is what the recordings say.
    #[test]
    fn the_committed_table_is_that_of_the_recordings() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folder = tempfile::tempdir().expect("a folder");
        let made = folder.path().join("ambient.csv");
        write(&root.join("traces"), &made).expect("a table");
        let made = fs::read_to_string(made).expect("a table");
        assert_eq!(made, ambient::write(&ambient::all()), "run `make long-ambient`");
        let held_out = |name| held_out(&root.join("traces"), name);
        let name = |recording| held_out(recording).map(|(name, _)| name);
        assert_eq!(name("6.12-t4x4-barrier").as_deref(), Ok("linux-6.12-b"));
        assert_eq!(name("6.12-t4x4-hotplug").as_deref(), Ok("linux-6.12"));
    }
}
