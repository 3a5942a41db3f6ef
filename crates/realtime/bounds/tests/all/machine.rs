//! Overheads, accounted for and simulated: a set that is accepted once it pays for what was seen in
//! a machine never misses in that machine.

use std::collections::BTreeMap;

use rayon::prelude::*;
use wastenot_bounds::gedf::{self, Rta};
use wastenot_bounds::overheads::{self, Accounting, Curve, inflate};
use wastenot_bounds::{Answer, Budget, single};
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_model::workload::Random;
use wastenot_model::{Machine, Span, Time};
use wastenot_needs::effort;
use wastenot_sim::edf::{Design, Mailboxes, Real, Rule, Rules, Server, run};
use wastenot_sim::{Options, Overhead, Seen};

/// Random task sets.
const SETS: u64 = 300;
const UNTIL_US: u64 = 20_000;

/// Deadlines at the end of periods, before it, or behind it.
fn random_set(random: &mut Random, cpus: u64) -> TaskSet {
    let count = 1 + random.below(3 * cpus);
    let (share, deadlines) = (1 + random.below(60), random.below(4));
    let tasks = (0..count).map(|_| {
        let period = 300 + random.below(5_000);
        let most = (period * cpus * share / 100 / count).clamp(1, period);
        let wcet = 1 + random.below(2 * most).min(period - 1);
        Sporadic::implicit(wcet, period).due(match deadlines {
            0 => wcet + random.below(period - wcet + 1),
            1 => period + random.below(period),
            _ => period,
        })
    });
    TaskSet::new(tasks.collect()).expect("a task set")
}

/// So many CPUs, some of which may share a node.
fn machine(cpus: u32, node: u32) -> Machine {
    let mut machine = Machine::flat(cpus as usize);
    for (n, cpu) in machine.cpus.iter_mut().enumerate() {
        cpu.node = (node > 0).then(|| n as u32 / node);
    }
    machine
}

/// A job that missed.
struct Late {
    task: u32,
    deadline_us: u64,
    /// When it was complete; `None`: it never was.
    at_us: Option<u64>,
}

/// What was seen of each kind, and the jobs that missed.
fn observed(
    tasks: &TaskSet,
    machine: &Machine,
    real: &Real,
    seed: u64,
) -> ([Seen; Overhead::ALL.len()], Vec<Late>) {
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
        let ran = run(machine, tasks, real, &options, release);
        let late = ran.done.iter().filter(|job| job.at_us > job.deadline_us);
        missed.extend(late.map(|job| Late {
            task: job.task,
            deadline_us: job.deadline_us,
            at_us: Some(job.at_us),
        }));
        // Who is never done is late, too.
        let overdue = ran.pending.iter().filter(|job| job.overdue > 0);
        missed.extend(overdue.map(|job| Late {
            task: job.task,
            deadline_us: job.deadline_us,
            at_us: None,
        }));
        for (most, seen) in most.iter_mut().zip(ran.overheads.seen) {
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
    accounting: Accounting,
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
    inflate(tasks, cpus, &overheads, accounting).ok()
}

fn scaled(tasks: &TaskSet, percent: u64) -> TaskSet {
    let scale = |task: &Sporadic| {
        let wcet_us = (task.wcet_us * percent / 100).clamp(1, task.period_us.min(task.deadline_us));
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
    /// Late when jobs came otherwise than when maxima were looked for: no more than samples.
    late_unseen: bool,
}

/// Who decides, and who is told by which accounting; with clusters, on so many CPUs each.
struct Kind {
    name: &'static str,
    design: Design,
    accounting: Accounting,
    cluster: u32,
}

fn kinds(cpus: u32, tasks: u32) -> Vec<Kind> {
    use Accounting::{MessagePassing, Shared, SharedDedicated};
    let server = Some(Server::AMPLE);
    let global = |name, accounting, design| Kind { name, design, accounting, cluster: cpus };
    let per_cpu = |master, rules| Design::PerCpu { master, rules, server };
    let clustered = |name, size: u32| {
        let clusters = cpus.div_ceil(size);
        let cluster_of = (0..tasks).map(|task| task % clusters).collect();
        let design = Design::Clustered { size, cluster_of };
        Kind { name, design, accounting: Shared, cluster: size }
    };
    let mut all = vec![
        global("gsn-edf", Shared, Design::Coarse { master: false }),
        global("gsn-edf-dedicated", SharedDedicated, Design::Coarse { master: true }),
        global("sched-deadline", Shared, per_cpu(false, Rules::Heap)),
        global("sched-deadline-v8", Shared, per_cpu(false, Rules::V8)),
        global("sched-deadline-dedicated", SharedDedicated, per_cpu(true, Rules::Heap)),
        global("gedf-mp", MessagePassing, Design::Messages(Mailboxes::Shared(8))),
        global("gedf-mp-own", MessagePassing, Design::Messages(Mailboxes::Own)),
        clustered("p-edf", 1),
    ];
    all.extend(cpus.is_multiple_of(2).then(|| clustered("c-edf", 2)));
    all
}

impl Kind {
    /// Whether every cluster accepts its tasks once they pay for what was seen.
    fn accepts(
        &self,
        tasks: &TaskSet,
        seen: &[Seen; Overhead::ALL.len()],
        switch: Span,
        cpus: u32,
    ) -> bool {
        let clusters = cpus.div_ceil(self.cluster.max(1)) as usize;
        (0..clusters).all(|cluster| {
            let own: Vec<Sporadic> =
                tasks.iter().skip(cluster).step_by(clusters).copied().collect();
            let Ok(own) = TaskSet::new(own) else { return true };
            let with = inflated(&own, self.cluster, seen, switch, self.accounting);
            own.is_empty() || with.is_some_and(|with| accepts(&with, self.cluster))
        })
    }
}

/// How long the jobs of a random set may be until it is accepted no more, by design; at each step
/// nobody who is accepted is late.
fn limits(seed: u64) -> Vec<Limit> {
    let mut random = Random::stream(seed, 0, 0);
    // On one CPU the test is exact, so that what is left out is found soonest.
    let cpus = match random.below(4) {
        0 | 1 => 1,
        2 => 2 + random.below(5),
        _ => 2 + random.below(15),
    };
    let set = random_set(&mut random, cpus);
    let profile = wastenot_chance::profile(&mut random);
    let (cpus, node) = (cpus as u32, random.below(5) as u32);
    let limit = |kind: Kind| {
        let more = u32::from(kind.accounting != Accounting::Shared);
        let machine = machine(cpus + more, node);
        let real = Real { design: kind.design.clone(), rule: Rule::default(), profile };
        let mut limit =
            Limit { name: kind.name, percent: None, missed: Vec::new(), late_unseen: false };
        let (mut percent, mut step) = (100, 400);
        while step > 1 {
            let tasks = scaled(&set, percent);
            let (seen, missed) = observed(&tasks, &machine, &real, seed);
            step /= 2;
            if kind.accepts(&tasks, &seen, profile.switch, cpus) {
                limit.percent = limit.percent.max(Some(percent));
                let late = missed.first();
                limit.missed.extend(late.map(|job| {
                    let name = kind.name;
                    let Late { task, deadline_us, at_us } = job;
                    let job = format!("task {task}, due at {deadline_us}, is done at {at_us:?} us");
                    format!("seed {seed}, {name}, {percent} %: {job}, of {tasks:?}: {seen:?}")
                }));
                percent += step;
            } else {
                percent = (percent - step.min(percent - 1)).max(1);
            }
        }
        if let Some(percent) = limit.percent {
            let other = observed(&scaled(&set, percent), &machine, &real, !seed);
            limit.late_unseen = !other.1.is_empty();
        }
        limit
    };
    // Linux takes no deadline beyond the period.
    let may = |kind: &Kind| set.is_constrained() || !matches!(kind.design, Design::PerCpu { .. });
    kinds(cpus, set.len() as u32).into_iter().filter(may).map(limit).collect()
}

#[test]
fn who_pays_for_what_was_seen_never_misses() {
    let sets = effort(SETS);
    let all: Vec<Limit> = (0..sets).into_par_iter().flat_map_iter(limits).collect();
    let mut accepted = BTreeMap::<&str, [u64; 3]>::new();
    for limit in &all {
        let [tried, accepted, late_unseen] = accepted.entry(limit.name).or_default();
        *tried += 1;
        *accepted += u64::from(limit.percent.is_some());
        *late_unseen += u64::from(limit.late_unseen);
    }
    println!(
        "{sets} sets; tried, accepted at some length, late if jobs come otherwise: {accepted:?}"
    );
    let missed: Vec<&String> = all.iter().flat_map(|limit| &limit.missed).collect();
    assert!(missed.is_empty(), "{} are accepted and late, the first: {}", missed.len(), missed[0]);
    let most = |&[tried, accepted, _]: &[u64; 3]| accepted * 10 > tried * 6;
    assert!(accepted.values().all(most), "{accepted:?}");
}
