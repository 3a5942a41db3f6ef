//! What happened on this machine by other means than a recording: threads that measure their own
//! gaps, and events that the kernel's tracefs wrote meanwhile. Nothing of it stays.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::thread::{CpuSet, gettid, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use wastenot_needs::{program, skipped};

use crate::shell::Desk;

/// A stretch of CLOCK_MONOTONIC in ns, half-open.
pub(crate) type Stretch = (u64, u64);

/// Nanoseconds of CLOCK_MONOTONIC.
pub(crate) fn now() -> u64 {
    ns(ClockId::Monotonic)
}

fn ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// What is in both; each in order and without overlaps.
pub(crate) fn common(a: &[Stretch], b: &[Stretch]) -> Vec<Stretch> {
    let mut all = Vec::new();
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let (from, to) = (x.0.max(y.0), x.1.min(y.1));
        if from < to {
            all.push((from, to));
        }
        if x.1 < y.1 { i += 1 } else { j += 1 }
    }
    all
}

/// What is in one of them at least.
pub(crate) fn either(a: &[Stretch], b: &[Stretch]) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = [a, b].concat();
    all.sort_unstable();
    all.dedup_by(|next, last| {
        let meets = next.0 <= last.1;
        if meets {
            last.1 = last.1.max(next.1);
        }
        meets
    });
    all
}

/// How long they are together.
pub(crate) fn sum(all: &[Stretch]) -> u64 {
    all.iter().map(|(from, to)| to - from).sum()
}

/// Binds the calling thread to these CPUs.
pub(crate) fn bind(cpus: &[usize]) {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|&cpu| set.set(cpu));
    sched_setaffinity(None, &set).expect("CPUs that are online");
}

/// Makes the calling thread a real-time one.
pub(crate) fn become_fifo() {
    let tid = gettid().as_raw_nonzero().to_string();
    let done = Command::new("chrt").args(["--fifo", "--pid", "10", &tid]).status();
    assert!(done.expect("chrt, of util-linux").success());
}

/// Moves the calling thread into a cgroup of version 1.
pub(crate) fn join(cgroup: &Path) {
    let tid = gettid().as_raw_nonzero().to_string();
    fs::write(cgroup.join("tasks"), tid).expect("the cgroup takes it");
}

/// A thread that computes, and knows when it was runnable and did not run.
#[derive(Default)]
pub(crate) struct Spinner {
    /// When it last looked at the clock, and for how long it had not run by then.
    last: Option<(u64, u64)>,
}

impl Spinner {
    /// Computes for so long. Returns when it did not run since the last call.
    pub(crate) fn spin(&mut self, length: Duration) -> Vec<Stretch> {
        /// Shorter ones are interrupts.
        const GAP_NS: u64 = 200_000;
        let look = || {
            let now = now();
            (now, now.saturating_sub(ns(ClockId::ThreadCPUTime)))
        };
        let until = now() + length.as_nanos() as u64;
        let mut last = self.last.unwrap_or_else(look);
        let mut gaps = Vec::new();
        while last.0 < until {
            let this = look();
            // It runs again since just now, and may have run between the last look and the gap.
            let gap = this.1.saturating_sub(last.1);
            if gap > GAP_NS {
                gaps.push((this.0 - gap, this.0));
            }
            // Less than before if time passed between the two clocks.
            last = (this.0, this.1.max(last.1));
        }
        self.last = Some(last);
        gaps
    }
}

/// Sleeps until then by CLOCK_MONOTONIC.
pub(crate) fn sleep_until(then: u64) {
    thread::sleep(Duration::from_nanos(then.saturating_sub(now())));
}

/// Threads that work beside a recording.
pub(crate) struct Crew {
    ends: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Vec<(usize, Stretch)>>>,
}

impl Crew {
    pub(crate) fn new() -> Crew {
        Crew { ends: Arc::default(), threads: Vec::new() }
    }

    /// A thread of this `name` that begins with `first`, and repeats `turn` until the crew is
    /// dismissed. What turns return are stretches of some kind.
    pub(crate) fn add(
        &mut self,
        name: &str,
        first: impl FnOnce() + Send + 'static,
        mut turn: impl FnMut() -> Vec<(usize, Stretch)> + Send + 'static,
    ) {
        let ends = Arc::clone(&self.ends);
        let work = move || {
            first();
            let mut all = Vec::new();
            while !ends.load(Ordering::Relaxed) {
                all.extend(turn());
            }
            all
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
        self.threads.push(thread.expect("a thread"));
    }

    /// Ends all, and returns what each saw of each of `kinds` kinds.
    pub(crate) fn dismiss(mut self, kinds: usize) -> Vec<Vec<Vec<Stretch>>> {
        self.ends.store(true, Ordering::Relaxed);
        let ended = self.threads.drain(..).map(|thread| thread.join().expect("it ends"));
        let sort = |all: Vec<(usize, Stretch)>| {
            let of = |kind| all.iter().filter(move |it| it.0 == kind).map(|it| it.1).collect();
            (0..kinds).map(of).collect()
        };
        ended.map(sort).collect()
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// A shell that undoes what it did once this process lets go of it or ends, however that is.
pub(crate) struct Undone(Child);

impl Undone {
    /// Lets it do `what`, and later `undo`; `$0` and `$1` are `words`. `None`, with a message, if
    /// that fails.
    pub(crate) fn after(test: &str, what: &str, undo: &str, words: [&Path; 2]) -> Option<Undone> {
        if !program(test, "unshare", "util-linux") {
            return None;
        }
        // A mount is seen by this shell alone.
        let mut shell = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-c"])
            .arg(format!("{{ {what}; }} 2>&1 && echo ready || exit; read -r _; {undo}"))
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("unshare runs");
        let mut line = String::new();
        BufReader::new(shell.stdout.take().expect("a pipe")).read_line(&mut line).expect("text");
        let this = Undone(shell);
        let is_ready = line.trim() == "ready";
        if !is_ready {
            skipped(test, line.trim(), "run the tests as root of the host");
        }
        is_ready.then_some(this)
    }
}

impl Drop for Undone {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Events that tell when a CPU is idle.
pub(crate) const SCHED: [&str; 3] =
    ["sched/sched_switch", "sched/sched_wakeup", "sched/sched_migrate_task"];

/// A row that the kernel wrote down.
pub(crate) struct Noted {
    pub(crate) cpu: usize,
    /// ns of CLOCK_MONOTONIC.
    pub(crate) time: u64,
    /// Whether it is of the idle task, or of what interrupted this.
    of_idle: bool,
    pub(crate) event: String,
    pub(crate) text: String,
}

/// An instance of tracefs that writes down some events.
pub(crate) struct Tracefs {
    instance: PathBuf,
    _shell: Undone,
}

impl Tracefs {
    /// Writes down `events`, as `sched/sched_switch`, from now on. `None`, with a message, where it
    /// cannot.
    pub(crate) fn begin(test: &str, desk: &Desk, events: &[&str]) -> Option<Tracefs> {
        let root = desk.path().join("tracefs");
        fs::create_dir(&root).expect("a folder");
        let inner = root.join(format!("instances/wastenot-witness-{}", std::process::id()));
        let what = "mount -t tracefs nodev $0 && mkdir $1";
        let shell = Undone::after(test, what, "echo 0 >$1/tracing_on; rmdir $1", [&root, &inner])?;
        let instance = PathBuf::from(format!("/proc/{}/root{}", shell.0.id(), inner.display()));
        let this = Tracefs { instance, _shell: shell };
        this.set("trace_clock", "mono");
        this.set("buffer_size_kb", "32768");
        events.iter().for_each(|event| this.set(&format!("events/{event}/enable"), "1"));
        Some(this)
    }

    fn set(&self, file: &str, value: &str) {
        let path = self.instance.join(file);
        fs::write(&path, value).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// What it wrote down, in order. None of it is lost.
    pub(crate) fn end(self) -> Vec<Noted> {
        self.set("tracing_on", "0");
        let lines = fs::read_to_string(self.instance.join("trace")).expect("text");
        let lost = lines.lines().find(|line| line.contains("LOST"));
        assert_eq!(lost, None, "its buffer was too small");
        // `  name-123  [001] d..2.  12.345678: sched_switch: prev_comm=...`
        let row = |line: &str| {
            let (task, rest) = line.split_once(" [")?;
            let of_idle = task.trim() == "<idle>-0";
            let (cpu, rest) = rest.split_once("] ")?;
            let (_, rest) = rest.trim_start().split_once(' ')?;
            let (time, rest) = rest.trim_start().split_once(": ")?;
            let (event, text) = rest.split_once(": ")?;
            let (seconds, us) = time.split_once('.')?;
            let us = seconds.parse::<u64>().ok()? * 1_000_000 + us.parse::<u64>().ok()?;
            let (event, text) = (event.to_owned(), text.to_owned());
            Some(Noted { cpu: cpu.parse().ok()?, time: us * 1_000, of_idle, event, text })
        };
        lines.lines().filter(|line| !line.starts_with('#')).filter_map(row).collect()
    }
}

/// When `cpu` ran no task, and was not about to.
pub(crate) fn free(rows: &[Noted], cpu: usize) -> Vec<Stretch> {
    // A task that is moved while it sleeps is about to be woken there.
    let texts = [format!(" target_cpu={cpu:03}"), format!(" dest_cpu={cpu}")];
    let comes = |row: &Noted| texts.iter().any(|text| row.text.ends_with(text));
    let all = idle(rows, cpu, comes);
    all.into_iter().map(|(from, woken, to)| (from, woken.unwrap_or(to))).collect()
}

/// When a task of this name that had been woken to run on `cpu` kept it from being idle any more,
/// and it still was.
pub(crate) fn waking(rows: &[Noted], cpu: usize, name: &str) -> Vec<Stretch> {
    let (from, to) = (format!("comm={name} "), format!(" target_cpu={cpu:03}"));
    let comes = |row: &Noted| row.text.starts_with(&from) && row.text.ends_with(&to);
    let all = idle(rows, cpu, comes);
    all.into_iter().filter_map(|(_, woken, to)| Some((woken?, to))).collect()
}

/// When `cpu` ran no task: from, since the first row with which a task `comes`, to.
fn idle(
    rows: &[Noted],
    cpu: usize,
    comes: impl Fn(&Noted) -> bool,
) -> Vec<(u64, Option<u64>, u64)> {
    let (mut since, mut all) = (None, Vec::new());
    for row in rows {
        let is_switch = row.event == "sched_switch";
        // Some guests have no row of the idle task of some CPUs, except of interrupts: the next row
        // of another task shows that it ended.
        if row.cpu == cpu && (is_switch || !row.of_idle) {
            all.extend(since.take().map(|(from, woken)| (from, woken, row.time)));
            let is_idle = is_switch && row.text.contains(" next_pid=0 ");
            since = is_idle.then_some((row.time, None));
        } else if let Some((_, woken @ None)) = &mut since
            && comes(row)
        {
            *woken = Some(row.time);
        }
    }
    all
}

/// When `cpu` ran tasks of this name: from each switch to one to the next switch.
pub(crate) fn runs(rows: &[Noted], cpu: usize, name: &str) -> Vec<Stretch> {
    let next = format!(" next_comm={name} ");
    let (mut since, mut all) = (None, Vec::new());
    for row in rows.iter().filter(|row| row.cpu == cpu && row.event == "sched_switch") {
        all.extend(since.take().map(|since| (since, row.time)));
        since = row.text.contains(&next).then_some(row.time);
    }
    all
}

/// When `cpu` was in an idle state.
pub(crate) fn in_idle_states(rows: &[Noted], cpu: usize) -> Vec<Stretch> {
    let (mut since, mut all) = (None, Vec::new());
    for row in rows.iter().filter(|row| row.cpu == cpu && row.event == "cpu_idle") {
        if row.text.starts_with("state=4294967295 ") {
            all.extend(since.take().map(|since| (since, row.time)));
        } else {
            since = Some(row.time);
        }
    }
    all
}

/// When `cpu` served interrupts or softirqs.
pub(crate) fn served(rows: &[Noted], cpu: usize) -> Vec<Stretch> {
    let of = |entry: &str, exit: &str| {
        let (mut since, mut all) = (None, Vec::new());
        for row in rows.iter().filter(|row| row.cpu == cpu) {
            if row.event == entry {
                since = Some(row.time);
            } else if row.event == exit {
                all.extend(since.take().map(|since| (since, row.time)));
            }
        }
        all
    };
    let hard = of("irq_handler_entry", "irq_handler_exit");
    either(&hard, &of("softirq_entry", "softirq_exit"))
}
