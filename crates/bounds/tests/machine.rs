//! Overheads, accounted for and simulated: a set that is accepted once it pays for what was seen in
//! a machine never misses in that machine.

use std::collections::BTreeMap;

use rayon::prelude::*;
use wastenot_bounds::gedf::{self, Rta};
use wastenot_bounds::overheads::{self, Curve, Implementation, inflate};
use wastenot_bounds::{Answer, Budget, single};
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_model::workload::Random;
use wastenot_model::{Machine, Span, Time};
use wastenot_sim::edf::{Design, Done, Mailboxes, Profile, Real, Rule, Server, run};
use wastenot_sim::{Options, Overhead, Seen};

/// Sets in `make test`; `WASTENOT_MACHINES` asks for more.
const SETS: u64 = 300;
const UNTIL_US: u64 = 20_000;

fn random_set(random: &mut Random, cpus: u64) -> TaskSet {
    let count = 1 + random.below(3 * cpus);
    let share = 1 + random.below(60);
    let tasks = (0..count).map(|_| {
        let period = 300 + random.below(5_000);
        let most = (period * cpus * share / 100 / count).clamp(1, period);
        let wcet = 1 + random.below(2 * most).min(period - 1);
        Sporadic::implicit(wcet, period)
    });
    TaskSet::new(tasks.collect()).expect("a task set")
}

/// What was seen of each kind, and the jobs that missed.
fn observed(
    tasks: &TaskSet,
    machine: &Machine,
    real: &Real,
    seed: u64,
) -> ([Seen; Overhead::ALL.len()], Vec<Done>) {
    let mut most = [Seen::default(); Overhead::ALL.len()];
    let mut missed = Vec::new();
    for together in [true, false] {
        let mut random: Vec<Random> =
            (0..tasks.len() as u64).map(|task| Random::stream(seed, 1, task)).collect();
        let release = |task: u32, last: Option<u64>| {
            let (random, period) = (&mut random[task as usize], tasks[task as usize].period_us);
            let late = if together || random.below(2) == 0 { 0 } else { random.below(period) };
            last.map_or(late, |last| last + period + late)
        };
        let options = Options { limit: Time(UNTIL_US * 1_000), ..Options::default() };
        let (_, _, seen) = run(machine, tasks, real, &options, release, |done| {
            if done.at_us > done.deadline_us {
                missed.push(done);
            }
        });
        for (most, seen) in most.iter_mut().zip(seen.seen) {
            most.max = most.max.max(seen.max);
        }
    }
    (most, missed)
}

fn accepts(tasks: &TaskSet, cpus: u32) -> bool {
    let budget = || Budget(20_000_000);
    let rta = || gedf::rta(tasks, cpus, &Rta { fixpoint: true, ..Rta::default() }, &mut budget());
    cpus == 1 && single::qpa(tasks, &mut budget()) == Answer::Accept
        || gedf::gfb(tasks, cpus) == Answer::Accept
        || rta().answer == Answer::Accept
        || gedf::bar(tasks, cpus, &mut budget()) == Answer::Accept
}

/// What tasks pay for, if that was seen.
fn inflated(
    tasks: &TaskSet,
    cpus: u32,
    seen: &[Seen; Overhead::ALL.len()],
    switch: Span,
    implementation: Implementation,
) -> Option<TaskSet> {
    let curve = |kind: Overhead| Curve::constant(seen[kind as usize].max.0);
    let overheads = overheads::Overheads {
        schedule: curve(Overhead::Schedule),
        switch: Curve::constant(switch.0),
        release: curve(Overhead::Release),
        ipi: curve(Overhead::SendResched),
        latency: curve(Overhead::ReleaseLatency),
        handler: curve(Overhead::Handler),
        request: curve(Overhead::RequestLatency),
        ..overheads::Overheads::default()
    };
    inflate(tasks, cpus, &overheads, implementation).ok().map(|inflated| inflated.tasks)
}

fn scaled(tasks: &TaskSet, percent: u64) -> TaskSet {
    let scale = |task: &Sporadic| {
        let wcet_us = (task.wcet_us * percent / 100).clamp(1, task.period_us);
        Sporadic { wcet_us, ..*task }
    };
    TaskSet::new(tasks.iter().map(scale).collect()).expect("a task set")
}

/// A design at its limit, for one set: the longest jobs that are accepted.
struct Limit {
    name: &'static str,
    /// In per cent of the set's C.
    percent: Option<u64>,
    /// Accepted, and yet late.
    missed: Vec<String>,
}

/// How long the jobs of a random set may be until it is accepted no more, by design; at each step
/// nobody who is accepted is late.
fn limits(seed: u64) -> Vec<Limit> {
    let mut random = Random::stream(seed, 0, 0);
    let cpus = 1 + random.below(6) * random.below(2);
    let set = random_set(&mut random, cpus);
    let profile = Profile::by_chance(&mut random);
    let cpus = cpus as u32;
    let server = Some(Server::AMPLE);
    let designs = [
        ("gsn-edf", Design::Coarse { master: false }),
        ("gsn-edf-dedicated", Design::Coarse { master: true }),
        ("sched-deadline", Design::PerCpu { master: false, server }),
        ("sched-deadline-dedicated", Design::PerCpu { master: true, server }),
        ("gedf-mp", Design::Messages(Mailboxes::Shared(8))),
        ("gedf-mp-own", Design::Messages(Mailboxes::Own)),
    ];
    let limit = |(name, design): (&'static str, Design)| {
        let implementation = match &design {
            Design::Messages(_) => Implementation::MessagePassing,
            Design::Coarse { master: true } | Design::PerCpu { master: true, .. } => {
                Implementation::SharedDedicated
            }
            _ => Implementation::Shared,
        };
        let more = u32::from(implementation != Implementation::Shared);
        let machine = Machine::flat((cpus + more) as usize);
        let real = Real { design, rule: Rule::default(), profile };
        let mut limit = Limit { name, percent: None, missed: Vec::new() };
        let (mut percent, mut step) = (100, 400);
        while step > 1 {
            let tasks = scaled(&set, percent);
            let (seen, missed) = observed(&tasks, &machine, &real, seed);
            let with = inflated(&tasks, cpus, &seen, profile.switch, implementation);
            let accepted = with.is_some_and(|with| accepts(&with, cpus));
            step /= 2;
            if accepted {
                limit.percent = limit.percent.max(Some(percent));
                let late = missed.first();
                limit.missed.extend(late.map(|job| {
                    format!("seed {seed}, {name}, {percent} %: {job:?} of {tasks:?}: {seen:?}")
                }));
                percent += step;
            } else {
                percent = (percent - step.min(percent - 1)).max(1);
            }
        }
        limit
    };
    designs.map(limit).into()
}

#[test]
fn who_pays_for_what_was_seen_never_misses() {
    let sets = std::env::var("WASTENOT_MACHINES").ok().and_then(|n| n.parse().ok()).unwrap_or(SETS);
    let all: Vec<Limit> = (0..sets).into_par_iter().flat_map_iter(limits).collect();
    let mut accepted = BTreeMap::<&str, u64>::new();
    for limit in &all {
        *accepted.entry(limit.name).or_default() += u64::from(limit.percent.is_some());
    }
    println!("{sets} sets; accepted at some length of jobs: {accepted:?}");
    let missed: Vec<&String> = all.iter().flat_map(|limit| &limit.missed).collect();
    assert!(missed.is_empty(), "{} are accepted and late, the first: {}", missed.len(), missed[0]);
    assert!(accepted.values().all(|&accepted| accepted > sets * 9 / 10), "{accepted:?}");
}
