//! What tests say, held against jobs that are simulated: whoever is accepted never misses, nobody
//! is later than a bound.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use rayon::prelude::*;
use wastenot_bounds::gedf::{self, Rta};
use wastenot_bounds::single::{self, Response, Slack};
use wastenot_bounds::tardiness::{self, Point, Tardiness};
use wastenot_bounds::{Answer, Budget, partitioned};
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_model::workload::Random;
use wastenot_needs::effort;
use wastenot_sim::edf::{Order, Rule, Tie, gedf as simulate, synchronous};

/// Random task sets.
const SETS: u64 = 4_000;
/// How long each is simulated, in us.
const UNTIL_US: u64 = 3_000;

/// A random set of short tasks, and how many CPUs it has.
pub(crate) fn random(seed: u64) -> (TaskSet, u32) {
    let mut random = Random::stream(seed, 0, 0);
    let cpus = 1 + random.below(4) as u32;
    let count = 1 + random.below(2 * u64::from(cpus) + 3);
    let kind = random.below(3);
    let tasks = (0..count).map(|_| {
        let period = 2 + random.below(19);
        let light = if random.below(3) == 0 { 1 } else { 3 };
        let wcet = 1 + random.below(period.div_ceil(light));
        let deadline = match kind {
            0 => period,
            1 => wcet + random.below(period - wcet + 1),
            _ => wcet + random.below(3 * period),
        };
        Sporadic::implicit(wcet, period).due(deadline)
    });
    (TaskSet::new(tasks.collect()).expect("a task set"), cpus)
}

/// When the next job of a task comes, given when the last one did.
type Release<'t> = Box<dyn FnMut(u32, Option<u64>) -> u64 + 't>;

/// All jobs together and as often as they may, or each a while later.
fn releases(tasks: &TaskSet, seed: u64, stream: u64) -> [Release<'_>; 2] {
    let mut random = Random::stream(seed, 1, stream);
    let later = move |task, last: Option<u64>| {
        let period = tasks[task as usize].period_us;
        let late = if random.below(2) == 0 { 0 } else { random.below(period) };
        last.map_or(random.below(period), |last| last + period + late)
    };
    [Box::new(synchronous(tasks)), Box::new(later)]
}

/// What jobs did in one schedule or several.
pub(crate) struct Observed {
    /// The longest response time of each task; of a job that is not complete at the end, what it
    /// came to by then.
    pub(crate) longest: Vec<u64>,
    /// Whether some job was late, or is not complete though it was due.
    pub(crate) missed: bool,
}

impl Observed {
    pub(crate) fn none(tasks: &TaskSet) -> Observed {
        Observed { longest: vec![0; tasks.len()], missed: false }
    }

    /// Adds a schedule.
    pub(crate) fn run(
        &mut self,
        tasks: &TaskSet,
        cpus: u32,
        rule: Rule,
        until_us: u64,
        mut release: impl FnMut(u32, Option<u64>) -> u64,
    ) {
        // Of each task the job that is not complete: it is released by then, or will be.
        let pending = RefCell::new(vec![0; tasks.len()]);
        let next = |task: u32, last| {
            let at = release(task, last);
            pending.borrow_mut()[task as usize] = at;
            at
        };
        let mut job = |task: usize, released: u64, at: u64, is_complete: bool| {
            self.longest[task] = self.longest[task].max(at.saturating_sub(released));
            let due = released + tasks[task].deadline_us;
            self.missed |= if is_complete { at > due } else { at >= due };
        };
        simulate(tasks, cpus, rule, until_us, next, |done| {
            job(done.task as usize, done.released_us, done.at_us, true);
            ControlFlow::Continue(())
        });
        let pending = pending.into_inner().into_iter().enumerate();
        pending.for_each(|(task, released)| job(task, released, until_us, false));
    }
}

/// What jobs did in several schedules.
fn observed(tasks: &TaskSet, cpus: u32, order: Order, seed: u64) -> Observed {
    let mut observed = Observed::none(tasks);
    for &tie in ties(order) {
        for release in releases(tasks, seed, tie as u64) {
            observed.run(tasks, cpus, Rule { order, tie }, UNTIL_US, release);
        }
    }
    observed
}

/// Of equals somebody goes first; of fixed priorities it is the first task.
fn ties(order: Order) -> &'static [Tie] {
    if order == Order::Fixed { &[Tie::First] } else { &[Tie::First, Tie::Last, Tie::Running] }
}

/// By test: how many it accepted.
type Tally = BTreeMap<&'static str, u64>;

fn judge(seed: u64) -> Tally {
    let (tasks, cpus) = random(seed);
    let Observed { longest, missed } = observed(&tasks, cpus, Order::Deadline, seed);
    let at = || format!("seed {seed}: {tasks:?} on {cpus}");
    let budget = || Budget(20_000_000);
    let ask = |how: Rta| gedf::rta(&tasks, cpus, &how, &mut budget());
    let rta = ask(Rta { fixpoint: true, ..Rta::default() });
    // As sweeps ask it: times here are short, so that this is a long step.
    let steps = ask(Rta { step_us: 3, ..Rta::default() });
    let answers = [
        ("gfb", gedf::gfb(&tasks, cpus)),
        ("bak", gedf::bak(&tasks, cpus, &mut budget())),
        ("bcl", gedf::bcl(&tasks, cpus, &mut budget())),
        ("bcli", gedf::bcli(&tasks, cpus, &mut budget())),
        ("rta", rta.answer),
        ("rta by 3 us", steps.answer),
        ("bar", gedf::bar(&tasks, cpus, &mut budget())),
        ("ffdbf", gedf::ff_dbf(&tasks, cpus, &mut budget())),
        ("load", gedf::load(&tasks, cpus, &mut budget())),
    ];
    for (name, answer) in answers {
        assert!(answer != Answer::Accept || !missed, "{name} accepts what misses: {}", at());
    }
    for all in [&rta.response_us, &steps.response_us] {
        let within = all.iter().zip(&longest).all(|(response, seen)| response >= seen);
        assert!(within, "rta {all:?} < {longest:?}: {}", at());
    }
    let accepts = |name| answers.contains(&(name, Answer::Accept));
    let partition = partitioned::first_fit(&tasks, cpus, &mut budget()).answer;
    assert!(!accepts("bcl") || accepts("bcli"), "bcl but not bcli: {}", at());
    assert!(!accepts("bcli") || accepts("rta"), "bcli but not rta: {}", at());
    assert!(!accepts("rta by 3 us") || accepts("rta"), "by 3 us, but not by 1: {}", at());
    // Of "trivial" partitionings it is a theorem (Biondi, Sun, "On the ineffectiveness of 1/m-based
    // interference bounds in the analysis of global EDF and FIFO scheduling", 2018), of this an
    // observation.
    assert!(!accepts("rta") || partition == Answer::Accept, "rta but not p-edf: {}", at());
    let mut tally = Tally::new();
    if cpus == 1 {
        one(&tasks, &longest, missed, &at());
        tally = other_policies(&tasks, seed, &at());
    }
    tally.extend(fair_lateness(&tasks, cpus, seed, &at()));
    for (name, bound) in [
        ("devi", tardiness::devi_anderson(&tasks, cpus)),
        ("gel", tardiness::compliant(&tasks, cpus, Point::Deadline)),
    ] {
        if let Tardiness::Responses(all) = bound {
            let within = all.iter().zip(&longest).all(|(bound, seen)| bound >= seen);
            assert!(within, "{name}: {all:?} < {longest:?}: {}", at());
        }
    }
    tally.extend(answers.map(|it| (it.0, u64::from(it.1 == Answer::Accept))));
    tally.insert("missed", missed.into());
    tally.insert("pedf", (partition == Answer::Accept).into());
    tally
}

/// On one CPU the tests are exact.
fn one(tasks: &TaskSet, longest: &[u64], missed: bool, at: &str) {
    let mut budget = Budget::USUAL;
    let qpa = single::qpa(tasks, &mut budget);
    let exact = single::edf(tasks, Slack::Exact, &mut budget);
    assert_eq!(qpa == Answer::Accept, exact.meets(tasks), "{exact:?} {at}");
    if let Response::Within(exact) = &exact {
        let approximate = single::edf(tasks, Slack::Approximate, &mut budget);
        let Response::Within(approximate) = approximate else { panic!("{approximate:?} {at}") };
        assert!(exact.iter().zip(longest).all(|(bound, seen)| bound >= seen), "{exact:?} {at}");
        assert!(approximate.iter().zip(exact).all(|(more, less)| more >= less), "{at}");
    }
    // All begin at once, for longer than any busy period: what can miss does.
    let used: f64 = tasks.iter().map(|it| it.wcet_us as f64 / it.period_us as f64).sum();
    assert!(qpa == Answer::Accept || missed || used > 0.9, "{at}");
    assert!(qpa != Answer::Accept || !missed, "{at}");
}

/// Nobody is later under global fair lateness than its bounds say.
fn fair_lateness(tasks: &TaskSet, cpus: u32, seed: u64, at: &str) -> Tally {
    // Of times that are multiples of the CPUs, priority points are whole: nothing is rounded.
    let cpus_us = u64::from(cpus);
    let times = |task: &Sporadic| Sporadic {
        wcet_us: task.wcet_us * cpus_us,
        period_us: task.period_us * cpus_us,
        deadline_us: task.deadline_us * cpus_us,
        ..*task
    };
    let exact = TaskSet::new(tasks.iter().map(times).collect()).expect("a task set");
    let mut bounded = 0;
    for (set, point, unit) in
        [(&exact, Point::FairLateness, cpus_us), (tasks, Point::FairLatenessWhole, 1)]
    {
        let Tardiness::Responses(all) = tardiness::compliant(tasks, cpus, point) else { continue };
        let longest = observed(set, cpus, Order::FairLateness, seed).longest;
        let within = all.iter().zip(&longest).all(|(bound, seen)| bound * unit >= *seen);
        assert!(within, "{point:?}: {all:?} < {longest:?} / {unit}: {at}");
        bounded = 1;
    }
    [("g-fl bounded", bounded)].into()
}

/// On one CPU, no job takes longer under fixed priorities, or if none is preempted, than is said.
fn other_policies(tasks: &TaskSet, seed: u64, at: &str) -> Tally {
    let (mut tally, budget) = (Tally::new(), || Budget(20_000_000));
    if let Response::Within(all) = single::fixed_priority(tasks, &mut budget()) {
        let longest = observed(tasks, 1, Order::Fixed, seed).longest;
        assert!(all.iter().zip(&longest).all(|(bound, seen)| bound >= seen), "{all:?}, {at}");
        // All at once is the worst case, and it is not long until the CPU has nothing to do.
        assert!(all == longest || all.iter().max() >= Some(&1_000), "{all:?} {longest:?}: {at}");
        tally.insert("fp on one CPU", 1);
    }
    if let Response::Within(all) = single::non_preemptive(tasks, &mut budget()) {
        let longest = without_preemption(tasks, seed);
        assert!(all.iter().zip(&longest).all(|(bound, seen)| bound >= seen), "np {all:?}, {at}");
        tally.insert("np on one CPU", 1);
        tally.insert("np is reached", (all == longest).into());
    }
    tally
}

/// The longest response time of each task on one CPU that, whenever it is free, takes the job with
/// the earliest deadline and finishes it.
fn without_preemption(tasks: &TaskSet, seed: u64) -> Vec<u64> {
    let mut longest = vec![0; tasks.len()];
    for mut release in releases(tasks, seed, 0) {
        // Of each task the job that is next: its jobs run in order.
        let mut jobs: Vec<u64> = (0..tasks.len()).map(|n| release(n as u32, None)).collect();
        let mut now = 0;
        while now < UNTIL_US {
            let ready = (0..tasks.len()).filter(|&n| jobs[n] <= now);
            let Some(n) = ready.min_by_key(|&n| jobs[n] + tasks[n].deadline_us) else {
                now = jobs.iter().copied().min().unwrap_or(UNTIL_US);
                continue;
            };
            now += tasks[n].wcet_us;
            longest[n] = longest[n].max(now - jobs[n]);
            jobs[n] = release(n as u32, Some(jobs[n]));
        }
    }
    longest
}

#[test]
fn whoever_is_accepted_never_misses_and_nobody_is_later_than_a_bound() {
    let sets = effort(SETS);
    let tally = (1..=sets).into_par_iter().map(judge).reduce(Tally::new, |mut sum, one| {
        one.into_iter().for_each(|(name, count)| *sum.entry(name).or_default() += count);
        sum
    });
    println!("{sets} sets: {tally:?}");
    assert!(tally.values().all(|&count| count * 50 > sets), "{tally:?}");
}
