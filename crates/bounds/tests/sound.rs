//! What tests say, held against jobs that are simulated: whoever is accepted never misses, nobody
//! is later than a bound.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use rayon::prelude::*;
use wastenot_bounds::gedf::{self, Rta};
use wastenot_bounds::single::{self, Response, Slack};
use wastenot_bounds::tardiness::{self, Point, Tardiness};
use wastenot_bounds::{Answer, Budget, partitioned};
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_model::workload::Random;
use wastenot_sim::edf::{Rule, Tie, gedf as simulate, synchronous};

/// Sets in `make test`; `WASTENOT_SETS` asks for more.
const SETS: u64 = 10_000;
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

/// The longest response time of each task, in several schedules, and whether some job missed.
fn observed(tasks: &TaskSet, cpus: u32, seed: u64) -> (Vec<u64>, bool) {
    let (mut longest, mut missed) = (vec![0; tasks.len()], false);
    let mut run = |tie, release: &mut dyn FnMut(u32, Option<u64>) -> u64| {
        simulate(tasks, cpus, Rule::edf(tie), UNTIL_US, release, |done| {
            let longest = &mut longest[done.task as usize];
            *longest = (*longest).max(done.at_us - done.released_us);
            missed |= done.at_us > done.deadline_us;
            ControlFlow::Continue(())
        });
    };
    for tie in [Tie::First, Tie::Last, Tie::Running] {
        run(tie, &mut synchronous(tasks));
        let mut random = Random::stream(seed, 1, tie as u64);
        run(tie, &mut |task, last| {
            let period = tasks[task as usize].period_us;
            let late = if random.below(2) == 0 { 0 } else { random.below(period) };
            last.map_or(random.below(period), |last| last + period + late)
        });
    }
    (longest, missed)
}

/// By test: how many it accepted.
type Tally = BTreeMap<&'static str, u64>;

fn judge(seed: u64) -> Tally {
    let (tasks, cpus) = random(seed);
    let (longest, missed) = observed(&tasks, cpus, seed);
    let at = || format!("seed {seed}: {tasks:?} on {cpus}");
    let budget = || Budget(20_000_000);
    let rta = gedf::rta(&tasks, cpus, &Rta { fixpoint: true, ..Rta::default() }, &mut budget());
    let answers = [
        ("gfb", gedf::gfb(&tasks, cpus)),
        ("bak", gedf::bak(&tasks, cpus, &mut budget())),
        ("bcl", gedf::bcl(&tasks, cpus, &mut budget())),
        ("bcli", gedf::bcli(&tasks, cpus, &mut budget())),
        ("rta", rta.answer),
        ("bar", gedf::bar(&tasks, cpus, &mut budget())),
        ("ffdbf", gedf::ff_dbf(&tasks, cpus, &mut budget())),
        ("load", gedf::load(&tasks, cpus, &mut budget())),
    ];
    for (name, answer) in answers {
        assert!(answer != Answer::Accept || !missed, "{name} accepts what misses: {}", at());
    }
    for (response, seen) in rta.response_us.iter().zip(&longest) {
        assert!(response >= seen, "rta {:?} < {longest:?}: {}", rta.response_us, at());
    }
    let accepts = |name| answers.contains(&(name, Answer::Accept));
    let partition = partitioned::first_fit(&tasks, cpus, &mut budget()).answer;
    assert!(!accepts("bcl") || accepts("bcli"), "bcl but not bcli: {}", at());
    assert!(!accepts("bcli") || accepts("rta"), "bcli but not rta: {}", at());
    // Of "trivial" partitionings it is a theorem (Biondi, Sun, "On the ineffectiveness of 1/m-based
    // interference bounds in the analysis of global EDF and FIFO scheduling", 2018), of this an
    // observation.
    assert!(!accepts("rta") || partition == Answer::Accept, "rta but not p-edf: {}", at());
    if cpus == 1 {
        one(&tasks, &longest, missed, &at());
    }
    for (name, bound) in [
        ("devi", tardiness::devi_anderson(&tasks, cpus)),
        ("gel", tardiness::compliant(&tasks, cpus, Point::Deadline)),
    ] {
        if let Tardiness::Responses(all) = bound {
            let within = all.iter().zip(&longest).all(|(bound, seen)| bound >= seen);
            assert!(within, "{name}: {all:?} < {longest:?}: {}", at());
        }
    }
    let mut tally: Tally = answers.map(|it| (it.0, u64::from(it.1 == Answer::Accept))).into();
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

#[test]
fn whoever_is_accepted_never_misses_and_nobody_is_later_than_a_bound() {
    let sets = std::env::var("WASTENOT_SETS").ok().and_then(|text| text.parse().ok());
    let sets = sets.unwrap_or(SETS);
    let tally = (1..=sets).into_par_iter().map(judge).reduce(Tally::new, |mut sum, one| {
        one.into_iter().for_each(|(name, count)| *sum.entry(name).or_default() += count);
        sum
    });
    println!("{sets} sets: {tally:?}");
    assert!(tally.values().all(|&count| count * 50 > sets), "{tally:?}");
}
