//! Verdicts, checked plainly: every witness shows a deadline that is missed, and nobody who is
//! schedulable misses one.

use std::collections::BTreeMap;

use wastenot_bounds::overheads::{Accounting, Curve, Overheads};
use wastenot_bounds::verdict::{
    Alone, Budgets, Charge, Judgement, Proof, Question, Reason, Spend, Test, Verdict, Witness,
};
use wastenot_bounds::{Answer, Budget, tardiness};
use wastenot_model::sporadic::{Criterion, Sporadic, TaskSet};
use wastenot_model::workload::Random;
use wastenot_sim::edf::{Missed, Rule, Tie, falsify};

use crate::sound::{Observed, random};

const SETS: u64 = 2_000;
const BUDGET: Budget = Budget(10_000_000);

/// Whether deadlines hold under global EDF on so many CPUs, by these tests.
fn question(cpus: u32, tests: &[Test]) -> Question {
    Question {
        cpus,
        clusters: 1,
        first_fit: true,
        overheads: None,
        criterion: Criterion::Hard,
        tests: tests.to_vec(),
        rta_step_us: 1,
        every: true,
        takes_late_deadlines: true,
        budgets: Budgets { tests: Spend::Each(BUDGET), witness: Some(BUDGET) },
    }
}

fn judge(tasks: &TaskSet, question: &Question) -> Judgement<()> {
    question.judge(tasks, || None)
}

/// A random set; now and then with a job that is longer than its deadline, or than its period.
fn set(seed: u64) -> (TaskSet, u32) {
    let (tasks, cpus) = random(seed);
    let mut tasks = tasks.to_vec();
    match seed % 16 {
        0 => tasks[0].deadline_us = tasks[0].wcet_us.max(2) - 1,
        1 => tasks[0].wcet_us = tasks[0].period_us + 1,
        _ => {}
    }
    (TaskSet::new(tasks).expect("a task set"), cpus)
}

/// When the job completes of which a witness tells, by a schedule that is made up anew each
/// microsecond.
fn completes(tasks: &TaskSet, cpus: u32, missed: &Missed) -> u64 {
    /// A task's job: released when, left how much, whether it ran last.
    struct Job {
        released: u64,
        left: u64,
        ran: bool,
    }
    let job = |n: usize, released| Job { released, left: tasks[n].wcet_us, ran: false };
    let first = missed.offsets_us.iter().enumerate();
    let mut jobs: Vec<Job> = first.map(|(n, &at)| job(n, at)).collect();
    for now in 0.. {
        let mut ready: Vec<usize> = (0..jobs.len()).filter(|&n| jobs[n].released <= now).collect();
        ready.sort_by_key(|&n| {
            let due = jobs[n].released + tasks[n].deadline_us;
            match missed.tie {
                Tie::First => (due, 0, n),
                Tie::Last => (due, 0, jobs.len() - n),
                Tie::Running => (due, u8::from(!jobs[n].ran), n),
            }
        });
        ready.truncate(cpus as usize);
        for (n, it) in jobs.iter_mut().enumerate() {
            it.ran = ready.contains(&n);
            it.left -= u64::from(it.ran);
            if it.left == 0 {
                let of = (missed.job.task as usize, missed.job.released_us);
                if (n, it.released) == of {
                    return now + 1;
                }
                *it = job(n, it.released + tasks[n].period_us);
            }
        }
    }
    unreachable!("time goes on");
}

/// Fails unless the witness shows what it says.
fn check(tasks: &TaskSet, cpus: u32, witness: &Witness<Missed>, at: &str) -> &'static str {
    match witness {
        Witness::Alone(Alone { task, released_us, deadline_us, completed_us }) => {
            let it = &tasks[*task];
            // On a CPU of its own: each job begins when it is released and the last is complete.
            let (mut released, mut free) = (0, 0);
            loop {
                free = u64::max(free, released) + it.wcet_us;
                if free > released + it.deadline_us {
                    break;
                }
                released += it.period_us;
            }
            let found = (released, released + it.deadline_us, free);
            assert_eq!((*released_us, *deadline_us, *completed_us), found, "{at}");
            "alone"
        }
        Witness::Overuse => {
            let all: u64 = tasks.iter().map(|it| it.period_us).product();
            let used: u64 = tasks.iter().map(|it| all / it.period_us * it.wcet_us).sum();
            assert!(used > u64::from(cpus) * all, "{at}");
            "utilization"
        }
        Witness::Demand { window_us, demand_us } => {
            let due = |it: &Sporadic| {
                let releases = (0..).map(|job| job * it.period_us);
                let due = releases.take_while(|at| at + it.deadline_us <= *window_us).count();
                due as u64 * it.wcet_us
            };
            assert_eq!(tasks.iter().map(due).sum::<u64>(), *demand_us, "{at}");
            assert!(*demand_us > u64::from(cpus) * window_us, "{at}");
            "demand"
        }
        Witness::Missed(missed) => {
            let job = &missed.job;
            assert_eq!(completes(tasks, cpus, missed), job.at_us, "{at}");
            let of = &tasks[job.task as usize];
            assert_eq!(job.deadline_us, job.released_us + of.deadline_us, "{at}");
            assert!(job.at_us > job.deadline_us && missed.ties.contains(&missed.tie), "{at}");
            "miss"
        }
    }
}

/// Whether some job is late where jobs come when they like.
fn misses(tasks: &TaskSet, cpus: u32, seed: u64) -> bool {
    let mut observed = Observed::none(tasks);
    for tie in [Tie::First, Tie::Last, Tie::Running] {
        let mut random = Random::stream(seed, 2, tie as u64);
        let release = |task: u32, last: Option<u64>| {
            let period = tasks[task as usize].period_us;
            let wait = if random.below(2) == 0 { 0 } else { random.below(period) };
            last.map_or(random.below(period), |last| last + period + wait)
        };
        observed.run(tasks, cpus, Rule::edf(tie), 3_000, release);
    }
    observed.missed
}

#[test]
fn every_witness_shows_a_miss_and_whoever_is_schedulable_has_none() {
    let mut tally: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in 1..=SETS {
        let (tasks, cpus) = set(seed);
        let at = format!("seed {seed}: {tasks:?} on {cpus}");
        let simulate = || falsify(&tasks, cpus, 20_000).missed;
        let judgement = question(cpus, &Test::ALL).judge(&tasks, simulate);
        let kind = match &judgement.verdict {
            Verdict::Schedulable(_) => {
                assert_eq!(simulate(), None, "{at}");
                assert!(!misses(&tasks, cpus, seed), "{at}");
                "schedulable"
            }
            Verdict::Unschedulable(witness) => check(&tasks, cpus, witness, &at),
            Verdict::Unknown => {
                // On one CPU somebody always knows.
                assert!(cpus > 1, "{at}");
                "unknown"
            }
        };
        *tally.entry(kind).or_default() += 1;
    }
    println!("{SETS} sets: {tally:?}");
    assert!(tally.len() == 6 && tally.values().all(|&count| count >= 10), "{tally:?}");
}

/// Tasks with periods that have little in common, which use two CPUs but for at most 10^-12.
fn nearly_two(count: u64) -> Vec<Sporadic> {
    let task = |n| {
        let period = 1_000_000_007 + 1_000 * n;
        Sporadic::implicit(2 * period / (count + 1), period)
    };
    let mut tasks: Vec<Sporadic> = (0..count).map(task).collect();
    let used: f64 = tasks.iter().map(|it| it.wcet_us as f64 / it.period_us as f64).sum();
    let period = TaskSet::MOST_US - 1;
    tasks.push(Sporadic::implicit(((2.0 - used) * period as f64) as u64, period));
    tasks
}

#[test]
fn what_is_close_is_told_in_a_budget_or_unknown() {
    let bounded = |tasks| tardiness::is_bounded(&TaskSet::new(tasks).expect("a task set"), 2);
    let mut few = nearly_two(100);
    assert_eq!(bounded(few.clone()), Some(true));
    let rest = few.last_mut().expect("a task");
    rest.wcet_us += 4;
    assert_eq!(bounded(few.clone()), Some(false));
    let many = TaskSet::new(nearly_two(200_000)).expect("a task set");
    assert_eq!(tardiness::is_bounded(&many, 2), None);
    let judgement = judge(&many, &question(2, &[Test::Gfb, Test::Bar]));
    assert_eq!(judgement.verdict, Verdict::Unknown);
    assert_eq!(judgement.answer(Test::Bar), Some(Answer::Unknown));
}

#[test]
fn what_would_make_it_fit_does_and_a_little_less_does_not() {
    let accepts =
        |tasks: &TaskSet, cpus| judge(tasks, &question(cpus, &Test::ALL)).verdict.is_schedulable();
    let (mut more, mut less) = (0, 0);
    for seed in 1..=300 {
        let (tasks, cpus) = random(seed);
        let at = format!("seed {seed}: {tasks:?} on {cpus}");
        let asked = question(cpus, &Test::ALL);
        if let Some(enough) = asked.least_cpus(&tasks, 1, 20, &mut BUDGET.clone()) {
            assert!(enough.is_least && accepts(&tasks, enough.cpus), "{at}: {enough:?}");
            assert!((1..enough.cpus).all(|fewer| !accepts(&tasks, fewer)), "{at}: {enough:?}");
            more += 1;
        }
        let with = |per_mille: u64| {
            let scaled = tasks.iter().map(|it| {
                let wcet_us = (it.wcet_us * per_mille).div_ceil(1_000);
                Sporadic { wcet_us, ..*it }
            });
            TaskSet::new(scaled.collect()).ok()
        };
        if let Some(scale) = asked.most_work(&tasks, 3_000, &mut BUDGET.clone()) {
            let set = with(scale.per_mille).expect("a task set");
            assert!(scale.is_most && accepts(&set, cpus), "{at}: {scale:?}");
            less += 1;
        }
    }
    assert!(more > 200 && less > 200, "{more} {less}");
}

fn set_of(tasks: &[(u64, u64)]) -> TaskSet {
    TaskSet::new(tasks.iter().map(|&(c, t)| Sporadic::implicit(c, t)).collect()).expect("a set")
}

/// So many us for each decision.
fn charge(us: u64, accounting: Accounting) -> Option<Charge> {
    let overheads = Overheads { schedule: Curve::constant(us * 1_000), ..Overheads::default() };
    Some(Charge { overheads, accounting, extrapolate: true })
}

/// Reports ask every test, sweeps and clusters stop at the first that accepts; both look at the
/// same set on the same CPUs, with overheads and without.
#[test]
fn the_answer_does_not_depend_on_who_asks() {
    let mut tally: BTreeMap<Option<Reason>, u64> = BTreeMap::new();
    for seed in 1..=SETS {
        let (tasks, cpus) = set(seed);
        let us = [0, 1, 20][seed as usize % 3];
        let mut report = question(cpus, &Test::ALL);
        report.overheads = (us > 0).then(|| charge(us, Accounting::Shared)).flatten();
        let sweep = Question { every: false, first_fit: false, ..report.clone() };
        let blind = Budgets { witness: None, ..sweep.budgets };
        let sweep = Question { budgets: blind, ..sweep };
        let clusters = Question { every: false, ..report.clone() };
        let at = format!("seed {seed}: {tasks:?} on {cpus}, {us} us");
        let [all, one, row] = [&report, &clusters, &sweep].map(|asked| judge(&tasks, asked));
        assert_eq!((&all.verdict, all.reason), (&one.verdict, one.reason), "{at}");
        // A sweep looks for no witness: what it does not see is that no test accepts.
        let seen = match all.reason {
            Some(Reason::Demand) => Some(Reason::Test),
            reason => reason,
        };
        let refuted = matches!(all.verdict, Verdict::Unschedulable(_)) && us > 0;
        assert!(refuted || row.reason == seen, "{at}: {:?} and {:?}", row.reason, all.reason);
        *tally.entry(all.reason).or_default() += 1;
    }
    use Reason::{Demand, Density, Test as NoTest, Utilization};
    for reason in [None, Some(Demand), Some(Density), Some(NoTest), Some(Utilization)] {
        assert!(tally.get(&reason).is_some_and(|&count| count >= 10), "{reason:?}: {tally:?}");
    }
}

#[test]
fn a_cluster_that_is_overloaded_says_so() {
    // Two halves of three thirds do not fit on either CPU.
    let tasks = set_of(&[(2, 3), (2, 3), (2, 3)]);
    let asked = Question { clusters: 2, every: false, ..question(1, &Test::ALL) };
    let judged = judge(&tasks, &asked);
    assert_eq!((judged.verdict.word(), judged.reason), ("unknown", Some(Reason::Utilization)));
    assert_eq!((judged.open(), judged.spent), (Some(0), false));
}

#[test]
fn a_job_that_is_too_long_with_overheads_is_no_matter_of_interrupts() {
    let tasks = set_of(&[(1_000, 10_000)]);
    let mut asked = question(2, &Test::ALL);
    asked.overheads = charge(TaskSet::MOST_US, Accounting::Shared);
    let judged = judge(&tasks, &asked);
    assert_eq!(judged.reason, Some(Reason::Density));
    assert!(judged.answers().is_none());
}

#[test]
fn on_one_cpu_partitioned_edf_is_global_edf_and_the_exact_test_decides() {
    let tasks = set_of(&[(1, 2), (1, 3)]);
    let judged = judge(&tasks, &question(1, &[Test::Partitioned]));
    assert_eq!(judged.verdict, Verdict::Schedulable(Proof::Test(Test::Qpa)));
    assert_eq!(judged.answer(Test::Partitioned), Some(Answer::Accept));
    let judged = judge(&tasks, &question(2, &[Test::Partitioned]));
    assert_eq!((judged.verdict, judged.reason), (Verdict::Unknown, Some(Reason::Test)));
    // QPA is exact: if it rejects a set, no test accepts it, even if another exceeds its budget.
    let late = TaskSet::new((0..40).map(|_| Sporadic::implicit(100, 4_001).due(3_999)).collect());
    let late = late.expect("a set");
    let mut asked = question(1, &[Test::Rta, Test::Qpa]);
    asked.budgets = Budgets { tests: Spend::Each(Budget(4_000)), witness: None };
    assert_eq!(judge(&late, &asked).answer(Test::Rta), Some(Answer::Unknown), "of little budget");
    assert_eq!(judge(&late, &asked).answer(Test::Qpa), Some(Answer::Reject));
    assert_eq!(judge(&late, &asked).reason, Some(Reason::Test));
    asked.tests = vec![Test::Rta];
    assert_eq!(judge(&late, &asked).reason, Some(Reason::Budget));
}

#[test]
fn bounded_tardiness_is_the_same_question_by_another_criterion() {
    let soft = |cpus| Question { criterion: Criterion::Soft, ..question(cpus, &Test::ALL) };
    let full = set_of(&[(80, 100), (33, 66), (7, 10)]);
    let judged = judge(&full, &soft(2));
    assert_eq!(judged.verdict, Verdict::Schedulable(Proof::Utilization));
    assert_eq!(judged.is_bounded(), Some(true));
    let judged = judge(&full, &soft(1));
    assert_eq!((judged.reason, judged.is_bounded()), (Some(Reason::Utilization), Some(false)));
    let many = TaskSet::new(nearly_two(200_000)).expect("a task set");
    assert_eq!(judge(&many, &soft(2)).is_bounded(), None);
    // Deadlines do not matter to it, periods do.
    let short = TaskSet::new(vec![Sporadic::implicit(5, 10).due(3)]).expect("a set");
    assert_eq!(judge(&short, &soft(1)).is_bounded(), Some(true));
    let long = TaskSet::new(vec![Sporadic::implicit(12, 10).due(30)]).expect("a set");
    assert_eq!(judge(&long, &soft(2)).reason, Some(Reason::Density));
}
