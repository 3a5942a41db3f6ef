//! Threads that decide as fast as they can, each on its CPU, in one of the designs.

use std::collections::BTreeSet;
use std::hint::{black_box, spin_loop};
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use wastenot_model::workload::Random;
use wastenot_model::{Distribution, Span, nearest};
use wastenot_sim::Overhead;
use wastenot_sim::edf::{Core, Tie};

use crate::apart::Apart;
use crate::{Lock, Mailbox, Queued, Ticket, take_beside};

/// Tasks for each CPU that runs them.
const TASKS: usize = 4;
/// Deadlines are so far apart, in us.
const PERIOD_US: u64 = 10_000;
/// Places of a mailbox: no client has more than one letter under way.
const PLACES: usize = 1 << 10;

/// What threads do while they are timed: who decides, under which locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Benchmark {
    /// All CPUs, under one ticket lock.
    CoarseTicket,
    /// All CPUs, under one lock for which each spins on a line of its own.
    CoarseQueued,
    /// Each CPU, under its own ticket lock and those of the others, one after the other.
    PerCpu,
    /// One CPU, to which the others write.
    Messages,
    /// Nobody: two CPUs write a cache line in turns.
    Line,
}

impl Benchmark {
    /// All of them.
    pub const ALL: [Benchmark; 5] = [
        Benchmark::CoarseTicket,
        Benchmark::CoarseQueued,
        Benchmark::PerCpu,
        Benchmark::Messages,
        Benchmark::Line,
    ];
    /// So many CPUs it can be of: who decides for others is one of them.
    pub fn cpus(self) -> RangeInclusive<usize> {
        match self {
            Benchmark::Messages => 2..=usize::MAX,
            Benchmark::Line => 2..=2,
            _ => 1..=usize::MAX,
        }
    }
    /// What is measured of it.
    pub fn kinds(self) -> &'static [Overhead] {
        match self {
            Benchmark::CoarseTicket | Benchmark::CoarseQueued | Benchmark::PerCpu => {
                &[Overhead::Schedule]
            }
            Benchmark::Messages => {
                &[Overhead::Schedule, Overhead::RequestLatency, Overhead::Handler]
            }
            Benchmark::Line => &[Overhead::RequestLatency],
        }
    }
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Benchmark::CoarseTicket => "coarse-ticket",
            Benchmark::CoarseQueued => "coarse-queued",
            Benchmark::PerCpu => "per-cpu",
            Benchmark::Messages => "messages",
            Benchmark::Line => "line",
        }
    }
}

impl FromStr for Benchmark {
    type Err = String;

    fn from_str(text: &str) -> Result<Benchmark, String> {
        let all = Benchmark::ALL;
        let found = all.into_iter().find(|it| it.name() == text);
        found.ok_or_else(|| match nearest(text, all.map(Benchmark::name)) {
            Some(near) => format!("there is no design with this name; did you mean `{near}`?"),
            None => format!("use one of {}", all.map(Benchmark::name).join(", ")),
        })
    }
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// With so many threads, each on a CPU of its own.
    pub cpus: usize,
    /// What threads did.
    pub benchmark: Benchmark,
    /// What it took.
    pub kind: Overhead,
    /// How long each took, in ns; once of what [`clock`] tells is in it.
    pub lengths: Distribution,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel does not tell where this process may run, or does not let a thread stay.
    #[error("cannot bind a thread to its CPU: {0}")]
    Affinity(#[from] rustix::io::Errno),
    /// A benchmark is not of so many CPUs.
    #[error("`{benchmark}` cannot be measured on {asked} CPUs")]
    Other {
        /// Which.
        benchmark: &'static str,
        /// So many were asked for.
        asked: usize,
    },
}

/// The CPUs on which this process may run, by number.
///
/// # Errors
/// The kernel does not tell.
pub fn usable() -> Result<Vec<usize>, Error> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// What reading the clock takes.
pub fn clock() -> Span {
    const READINGS: u32 = 10_000;
    let start = Instant::now();
    for _ in 1..READINGS {
        black_box(Instant::now());
    }
    Span((start.elapsed() / READINGS).as_nanos() as u64)
}

/// Runs a benchmark for so long, each thread on one of the CPUs `on`. Of a kind that was not seen
/// once there is no row: on a busy machine not every thread runs within a short span.
///
/// # Errors
/// It does not [run](Benchmark::cpus) on so many CPUs, or threads cannot be kept on them.
pub fn measure(benchmark: Benchmark, on: &[usize], span: Duration) -> Result<Vec<Row>, Error> {
    let cpus = on.len();
    if !benchmark.cpus().contains(&cpus) {
        return Err(Error::Other { benchmark: benchmark.name(), asked: cpus });
    }
    let seen = match benchmark {
        Benchmark::CoarseTicket => drive(on, span, &Coarse::new(cpus, Ticket::new()))?,
        Benchmark::CoarseQueued => drive(on, span, &Coarse::new(cpus, Queued::new(cpus)))?,
        Benchmark::PerCpu => drive(on, span, &PerCpu::new(cpus))?,
        Benchmark::Messages => drive(on, span, &Messages::new(cpus - 1))?,
        Benchmark::Line => drive(on, span, &Line::default())?,
    };
    let rows = seen.into_iter().filter(|(_, lengths)| lengths.count > 0);
    Ok(rows.map(|(kind, lengths)| Row { cpus, benchmark, kind, lengths }).collect())
}

/// What a thread saw, by kind.
type Sight = Vec<(Overhead, Distribution)>;

fn nothing() -> Sight {
    Overhead::ALL.map(|kind| (kind, Distribution::default())).into()
}

/// State that threads share, and what each does with it.
trait Shared: Sync {
    /// One decision of the thread with that number; `see` is told what it took.
    fn decide(&self, me: usize, random: &mut Random, see: &mut impl FnMut(Overhead, Span));
}

fn drive(on: &[usize], span: Duration, shared: &impl Shared) -> Result<Sight, Error> {
    let (begin, over) = (Barrier::new(on.len() + 1), AtomicBool::new(false));
    let one = |me: usize, cpu: usize| -> Result<Sight, Error> {
        let mut only = CpuSet::new();
        only.set(cpu);
        let stays = sched_setaffinity(None, &only);
        begin.wait();
        stays?;
        let mut sight = nothing();
        let mut random = Random::stream(1, 0, me as u64);
        while !over.load(Ordering::Relaxed) {
            shared.decide(me, &mut random, &mut |kind, span| sight[kind as usize].1.add(span.0));
        }
        Ok(sight)
    };
    let one = &one;
    let all: Result<Vec<Sight>, Error> = thread::scope(|scope| {
        let threads: Vec<_> =
            on.iter().enumerate().map(|(me, &cpu)| scope.spawn(move || one(me, cpu))).collect();
        begin.wait();
        thread::sleep(span);
        over.store(true, Ordering::Relaxed);
        let ended = threads.into_iter().map(|it| it.join().unwrap_or_else(|_| Ok(Vec::new())));
        ended.collect()
    });
    let mut sum = nothing();
    for (kind, lengths) in all?.into_iter().flatten() {
        sum[kind as usize].1.merge(&lengths);
    }
    Ok(sum)
}

fn since(start: Instant) -> Span {
    Span(start.elapsed().as_nanos() as u64)
}

/// Data that a lock of ours keeps apart: this one is never contended.
fn own<T, R>(data: &Mutex<T>, then: impl FnOnce(&mut T) -> R) -> R {
    then(&mut data.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Links and queues of all, and when each task is due next.
struct State {
    core: Core,
    due_us: Vec<u64>,
}

impl State {
    fn new(cpus: usize) -> State {
        let tasks = cpus * TASKS;
        let mut core = Core::new(tasks, cpus as u32, Tie::First);
        let due_us: Vec<u64> = (0..tasks as u64).map(|n| PERIOD_US + n).collect();
        for (task, due_us) in due_us.iter().enumerate() {
            core.ready(task as u32, *due_us);
        }
        while core.decide().is_some() {}
        State { core, due_us }
    }

    /// The job of a CPU is complete, and the next one of its task comes at once. `linked` hears of
    /// every CPU that has another job by now.
    fn completes(&mut self, cpu: u32, random: &mut Random, mut linked: impl FnMut(u32)) {
        if let Some(task) = self.core.linked(cpu) {
            self.core.forget(task, cpu);
            let due_us = &mut self.due_us[task as usize];
            *due_us += PERIOD_US + random.below(PERIOD_US);
            self.core.ready(task, *due_us);
        }
        self.core.take(cpu);
        linked(cpu);
        while let Some(link) = self.core.decide() {
            linked(link.cpu);
        }
    }
}

/// Whoever waits looks at the lock only: what is done under it is on other lines.
struct Coarse<L> {
    lock: Apart<L>,
    state: Apart<Mutex<State>>,
}

impl<L: Lock> Coarse<L> {
    fn new(cpus: usize, lock: L) -> Coarse<L> {
        Coarse { lock: Apart(lock), state: Apart(Mutex::new(State::new(cpus))) }
    }
}

impl<L: Lock> Shared for Coarse<L> {
    fn decide(&self, me: usize, random: &mut Random, see: &mut impl FnMut(Overhead, Span)) {
        let start = Instant::now();
        self.lock.acquire(me);
        own(&self.state, |state| state.completes(me as u32, random, |_| {}));
        self.lock.release(me);
        see(Overhead::Schedule, since(start));
    }
}

/// The queue of a CPU.
struct Queue {
    lock: Apart<Ticket>,
    waits: Apart<Mutex<BTreeSet<(u64, u32)>>>,
    /// The earliest deadline of those who wait, for who looks without the lock.
    first: Apart<AtomicU64>,
}

struct PerCpu {
    queues: Vec<Queue>,
}

impl PerCpu {
    fn new(cpus: usize) -> PerCpu {
        let queue = |cpu: usize| {
            let tasks = (0..TASKS).map(|n| (cpu * TASKS + n) as u32);
            let waits: BTreeSet<_> =
                tasks.map(|task| (PERIOD_US + u64::from(task), task)).collect();
            let first = waits.first().map_or(u64::MAX, |(due, _)| *due);
            Queue {
                lock: Apart(Ticket::new()),
                waits: Apart(Mutex::new(waits)),
                first: Apart(AtomicU64::new(first)),
            }
        };
        PerCpu { queues: (0..cpus).map(queue).collect() }
    }

    fn changes<R>(&self, cpu: usize, then: impl FnOnce(&mut BTreeSet<(u64, u32)>) -> R) -> R {
        own(&self.queues[cpu].waits, |waits| {
            let result = then(waits);
            let first = waits.first().map_or(u64::MAX, |(due, _)| *due);
            self.queues[cpu].first.store(first, Ordering::Relaxed);
            result
        })
    }
}

impl Shared for PerCpu {
    fn decide(&self, me: usize, random: &mut Random, see: &mut impl FnMut(Overhead, Span)) {
        let start = Instant::now();
        let own = &self.queues[me];
        own.lock.acquire(me);
        // Whoever is first has run; its next job comes at once.
        let later = PERIOD_US + random.below(PERIOD_US);
        self.changes(me, |waits| {
            let ran = waits.pop_first();
            waits.extend(ran.map(|(due, task)| (due + later, task)));
        });
        for (other, queue) in self.queues.iter().enumerate().filter(|(other, _)| *other != me) {
            if queue.first.load(Ordering::Relaxed) >= own.first.load(Ordering::Relaxed) {
                continue;
            }
            take_beside((me, &*own.lock), (other, &*queue.lock), me);
            let mine = own.first.load(Ordering::Relaxed);
            let better = |waits: &mut BTreeSet<(u64, u32)>| {
                let first = waits.first().copied().filter(|(due, _)| *due < mine)?;
                waits.take(&first)
            };
            let pulled = self.changes(other, better);
            self.changes(me, |waits| waits.extend(pulled));
            queue.lock.release(me);
        }
        own.lock.release(me);
        see(Overhead::Schedule, since(start));
    }
}

/// What a client should run: all of it on one line, as it is in G-EDF-MP.
#[repr(align(128))]
struct Entry {
    lock: Ticket,
    /// How often it was written.
    written: AtomicU64,
}

struct Messages {
    start: Instant,
    /// Of the processor alone.
    state: Apart<Mutex<State>>,
    mailbox: Mailbox,
    /// The processor is the thread after the last client.
    entries: Vec<Entry>,
}

impl Messages {
    fn new(clients: usize) -> Messages {
        let entry = |_| Entry { lock: Ticket::new(), written: AtomicU64::new(0) };
        Messages {
            start: Instant::now(),
            state: Apart(Mutex::new(State::new(clients))),
            mailbox: Mailbox::new(PLACES),
            entries: (0..clients).map(entry).collect(),
        }
    }

    /// A client: its job is complete.
    fn client(&self, me: usize, see: &mut impl FnMut(Overhead, Span)) {
        let entry = &self.entries[me];
        let start = Instant::now();
        entry.lock.acquire(me);
        let seen = entry.written.load(Ordering::Relaxed);
        entry.lock.release(me);
        // When, in the upper bits: a letter is a number.
        let letter = (since(self.start).0 << CLIENT_BITS) | me as u64;
        let posted = self.mailbox.post(letter).is_ok();
        see(Overhead::Schedule, since(start));
        if posted {
            comes(|| entry.written.load(Ordering::Acquire) != seen);
        }
    }

    /// The processor: the next message.
    fn processor(&self, random: &mut Random, see: &mut impl FnMut(Overhead, Span)) {
        let Some(letter) = self.mailbox.read() else { return spin_loop() };
        let start = Instant::now();
        let sent = Span(letter >> CLIENT_BITS);
        see(Overhead::RequestLatency, Span(since(self.start).0.saturating_sub(sent.0)));
        let client = (letter & ((1 << CLIENT_BITS) - 1)) as u32;
        let me = self.entries.len();
        own(&self.state, |state| {
            state.completes(client, random, |linked| {
                let entry = &self.entries[linked as usize];
                entry.lock.acquire(me);
                entry.written.fetch_add(1, Ordering::Release);
                entry.lock.release(me);
            });
        });
        see(Overhead::Handler, since(start));
    }
}

/// Bits of a letter that say which client wrote it.
const CLIENT_BITS: u32 = 12;
/// Nobody waits longer for another thread, which may have gone.
const PATIENCE: Duration = Duration::from_millis(100);

/// Waits for what another thread does; whether it came.
fn comes(is_there: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !is_there() {
        spin_loop();
        if start.elapsed() > PATIENCE {
            return false;
        }
    }
    true
}

impl Shared for Messages {
    fn decide(&self, me: usize, random: &mut Random, see: &mut impl FnMut(Overhead, Span)) {
        if me < self.entries.len() { self.client(me, see) } else { self.processor(random, see) }
    }
}

/// A word on a line of its own, which two threads count up in turns.
#[derive(Default)]
#[repr(align(128))]
struct Line {
    turn: AtomicU64,
}

/// So often there and back is one sample: what the clock takes is little beside that.
const ROUNDS: u32 = 50;

impl Shared for Line {
    fn decide(&self, me: usize, _: &mut Random, see: &mut impl FnMut(Overhead, Span)) {
        let turn = self.turn.load(Ordering::Acquire);
        if turn % 2 != me as u64 {
            // It is the other's, who may have gone.
            return;
        }
        if me == 1 {
            return self.turn.store(turn + 1, Ordering::Release);
        }
        let start = Instant::now();
        for round in 0..u64::from(ROUNDS) {
            self.turn.store(turn + 2 * round + 1, Ordering::Release);
            let back = || self.turn.load(Ordering::Acquire) == turn + 2 * round + 2;
            if !(0..SOON).any(|_| back()) && !comes(back) {
                return;
            }
        }
        see(Overhead::RequestLatency, Span(since(start).0 / u64::from(2 * ROUNDS)));
    }
}

/// So often is looked without a look at the clock.
const SOON: u32 = 1_000;

#[cfg(test)]
mod tests {
    use super::{Coarse, PerCpu};
    use crate::Ticket;
    use crate::apart::lines;

    #[test]
    fn who_waits_for_a_lock_looks_at_no_line_that_is_written_under_it() {
        let coarse = Coarse::new(2, Ticket::new());
        let (lock, state) = (lines(&coarse.lock), lines(&coarse.state));
        assert!(lock.end() < state.start() || state.end() < lock.start(), "{lock:?} {state:?}");
        let queues = PerCpu::new(2).queues;
        let of = |n: usize| {
            let queue = &queues[n];
            [lines(&queue.lock), lines(&queue.waits), lines(&queue.first)]
        };
        let mut all = [of(0), of(1)].concat();
        all.sort_by_key(|it| *it.start());
        assert!(all.is_sorted_by(|one, next| one.end() < next.start()), "{all:?}");
    }
}
