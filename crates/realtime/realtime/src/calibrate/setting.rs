//! Where a design is timed: in the simulated machine, as it was timed on a real one.

use std::str::FromStr;

use wastenot_model::machine::{Profile, Section};
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_model::workload::Random;
use wastenot_model::{History, Machine, Span, Time, Value};
use wastenot_sim::edf::{Design, Overheads, Real, Rule, run, synchronous};
use wastenot_sim::{Options, Overhead};

/// What a kernel does while it is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A kernel runs four tasks a CPU that use half of the machine and begin together: all alike,
    /// so that jobs end together, too.
    Together,
    /// The same with tasks of 10 to 100 ms by chance.
    Apart,
    /// Jobs are as long as each other and begin together, so that CPUs look for the next one
    /// together, and some on every CPU are more urgent than those elsewhere.
    Storm,
    /// Threads decide all the time, and nobody is interrupted: what `wastenot-measure` does.
    Threads,
}

/// What is taken of all samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// Their mean.
    Mean,
    /// The middle one.
    Median,
    /// The longest.
    Max,
}

impl Statistic {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Statistic::Mean => "mean",
            Statistic::Median => "median",
            Statistic::Max => "max",
        }
    }
}

impl FromStr for Statistic {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Statistic, &'static str> {
        let all = [Statistic::Mean, Statistic::Median, Statistic::Max];
        all.into_iter().find(|it| it.name() == text).ok_or("write mean, median or max")
    }
}

/// So many CPUs, spread evenly over so many sockets.
pub fn machine(cpus: u32, sockets: u32) -> Machine {
    let sockets = sockets.clamp(1, cpus);
    let socket = cpus.div_ceil(sockets);
    let mut machine = Machine::flat(cpus as usize);
    for (n, cpu) in machine.cpus.iter_mut().enumerate() {
        let home = n as u32 / socket;
        (cpu.core, cpu.llc) = (Some(n as u32), Some(home));
        (cpu.node, cpu.package) = (Some(home), Some(home));
    }
    machine
}

const SMALL: &str = "a machine has few enough CPUs";

/// Four tasks a CPU that use half of the machine.
fn half(cpus: u32, setting: Setting) -> TaskSet {
    let mut random = Random::stream(1, 0, 0);
    let tasks = (0..4 * cpus).map(|_| match setting {
        Setting::Apart => {
            let period = 10_000 + random.below(90_000);
            Sporadic::implicit(period / 8, period)
        }
        Setting::Storm => {
            let deadline_us = 20_000 - random.below(15_000);
            Sporadic { deadline_us, ..Sporadic::implicit(2_500, 20_000) }
        }
        Setting::Together | Setting::Threads => Sporadic::implicit(2_500, 20_000),
    });
    TaskSet::new(tasks.collect()).expect(SMALL)
}

/// What `design` takes of each kind on so many CPUs of so many sockets.
pub fn overheads(
    setting: Setting,
    design: &Design,
    (cpus, sockets): (u32, u32),
    profile: Profile,
) -> Overheads {
    timed(setting, design, (cpus, sockets), profile, false).1
}

/// What `design` takes to choose whom to run.
pub(super) fn schedule_ns(
    setting: Setting,
    design: &Design,
    on: (u32, u32),
    profile: Profile,
    of: Statistic,
) -> f64 {
    let (history, overheads) = timed(setting, design, on, profile, of == Statistic::Median);
    let seen = overheads.seen(Overhead::Schedule);
    let ns = match of {
        Statistic::Mean => seen.sum.0 as f64 / seen.count.max(1) as f64,
        Statistic::Max => seen.max.0 as f64,
        Statistic::Median => median(&history),
    };
    if setting == Setting::Threads { ns / SLOWER as f64 } else { ns }
}

fn timed(
    setting: Setting,
    design: &Design,
    (cpus, sockets): (u32, u32),
    profile: Profile,
    notes: bool,
) -> (History, Overheads) {
    let machine = machine(cpus, sockets);
    let real = |profile| Real { design: design.clone(), rule: Rule::default(), profile };
    let options = |limit: Span| Options { limit: Time(limit.0), notes, ..Options::default() };
    if setting != Setting::Threads {
        let tasks = half(cpus, setting);
        let options = options(Span::ms(200));
        let release = synchronous(&tasks);
        let ran = run(&machine, &tasks, &real(profile), &options, release);
        return (ran.history, ran.overheads);
    }
    let tasks = vec![Sporadic::implicit(1, 2); 4 * cpus as usize];
    let tasks = TaskSet::new(tasks).expect(SMALL);
    let real = real(slowed(alone(profile)));
    let mut limit = Span::ms(1);
    loop {
        let mut random = Random::stream(1, 0, 0);
        let release = |_, last: Option<u64>| last.map_or(0, |last| last + 2 + random.below(2));
        let ran = run(&machine, &tasks, &real, &options(limit), release);
        let count = ran.overheads.seen(Overhead::Schedule).count;
        if count >= DECISIONS * u64::from(cpus) || limit >= LONGEST {
            return (ran.history, ran.overheads);
        }
        limit = limit * 4;
    }
}

/// So often each thread decides, at least, unless that takes too long.
const DECISIONS: u64 = 60;
const LONGEST: Span = Span::s(100);

/// Jobs are timed in us, and of threads that only decide they take nothing: everything else is
/// slowed down by so much that a us is nothing.
const SLOWER: u64 = 1_000;

/// What is left of a kernel's costs for threads that do nothing but decide: nobody is interrupted,
/// nothing is switched, and who decides does all of it under the lock.
pub(super) fn alone(profile: Profile) -> Profile {
    let mut it = Profile { spin: profile.spin, coarse: profile.coarse, ..Profile::FREE };
    it.run_queue = profile.run_queue;
    let (lines, all) = (&mut it.hardware, profile.hardware);
    (lines.line_own, lines.line_near, lines.line_far) = (all.line_own, all.line_near, all.line_far);
    lines.fetches = all.fetches;
    it
}

fn slowed(profile: Profile) -> Profile {
    let slow = |section: Section| Section { work: section.work * SLOWER, ..section };
    let mut it = Profile { coarse: slow(profile.coarse), ..profile };
    it.run_queue = slow(it.run_queue);
    let lines = &mut it.hardware;
    for span in [&mut lines.line_own, &mut lines.line_near, &mut lines.line_far] {
        *span = *span * SLOWER;
    }
    it
}

/// Half of all decisions take no longer, in ns.
fn median(history: &History) -> f64 {
    let of = |row: &Vec<Value>| match row.as_slice() {
        [_, _, Value::Text(kind), Value::Int(ns)] if kind == Overhead::Schedule.name() => Some(*ns),
        _ => None,
    };
    let tables = history.annexes.iter().map(|annex| &annex.table);
    let table = tables.filter(|table| table.name == "overheads");
    let mut all: Vec<i64> = table.flat_map(|table| table.rows.iter().filter_map(of)).collect();
    all.sort_unstable();
    all.get(all.len().saturating_sub(1) / 2).map_or(0.0, |ns| *ns as f64)
}
