//! Implementations of global EDF, on a machine where every operation may take time.

use std::ops::ControlFlow;

use wastenot_chance::Worst;
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_model::workload::Random;
use wastenot_model::{History, Machine, Span, Time};
use wastenot_sim::edf::{
    Design, Done, Mailboxes, Order, Overheads, Profile, Real, Rule, Rules, Section, Server, Tie,
    gedf, run,
};
use wastenot_sim::{End, Options, Overhead, checkers};

const UNTIL_US: u64 = 500;

fn random_set(random: &mut Random, cpus: u32) -> TaskSet {
    let count = 1 + random.below(2 * u64::from(cpus) + 3);
    let tasks = (0..count).map(|_| {
        let period = 2 + random.below(19);
        let wcet = 1 + random.below(period);
        Sporadic::implicit(wcet, period).due(wcet + random.below(2 * period))
    });
    TaskSet::new(tasks.collect()).expect("a task set")
}

/// When the next job of each task comes: random, but the same for each caller.
fn sporadic(tasks: &TaskSet, seed: u64) -> impl FnMut(u32, Option<u64>) -> u64 {
    let mut random: Vec<Random> =
        (0..tasks.len() as u64).map(|task| Random::stream(seed, 1, task)).collect();
    let periods: Vec<u64> = tasks.iter().map(|task| task.period_us).collect();
    move |task, last| {
        let (random, period) = (&mut random[task as usize], periods[task as usize]);
        let late = if random.below(2) == 0 { 0 } else { random.below(period) };
        last.map_or(late, |last| last + period + late)
    }
}

fn plain(tasks: &TaskSet, cpus: u32, rule: Rule, seed: u64) -> Vec<Done> {
    let mut all = Vec::new();
    gedf(tasks, cpus, rule, UNTIL_US, sporadic(tasks, seed), |done| {
        all.push(done);
        ControlFlow::Continue(())
    });
    sorted(all)
}

fn sorted(mut all: Vec<Done>) -> Vec<Done> {
    all.sort_by_key(|done| (done.at_us, done.task, done.released_us));
    all
}

fn done_by(
    machine: &Machine,
    tasks: &TaskSet,
    real: &Real,
    seed: u64,
) -> (Vec<Done>, History, Overheads) {
    done_when(machine, tasks, real, seed, sporadic(tasks, seed))
}

fn done_when(
    machine: &Machine,
    tasks: &TaskSet,
    real: &Real,
    seed: u64,
    mut release: impl FnMut(u32, Option<u64>) -> u64,
) -> (Vec<Done>, History, Overheads) {
    let options = Options { limit: Time(UNTIL_US * 1_000), ..Options::default() };
    let mut comes = vec![Vec::new(); tasks.len()];
    let ran = run(machine, tasks, real, &options, |task, last| {
        let at_us = release(task, last);
        comes[task as usize].push(at_us);
        at_us
    });
    assert_eq!(ran.outcome.end, End::Limit, "seed {seed}, {:?}", real.design);
    // Each job that was released and is not done is reported as pending.
    for (task, comes) in comes.iter().enumerate() {
        let done = ran.done.iter().filter(|job| job.task as usize == task).count();
        let next = comes.get(done).copied().filter(|at_us| *at_us <= UNTIL_US);
        let pending = ran.pending.iter().find(|job| job.task as usize == task);
        assert_eq!(pending.map(|job| job.released_us), next, "seed {seed}, {:?}", real.design);
        let late = pending.is_some_and(|job| job.deadline_us < UNTIL_US);
        assert_eq!(late, pending.is_some_and(|job| job.overdue > 0), "{pending:?}");
    }
    (sorted(ran.done), ran.history, ran.overheads)
}

/// Designs, and how many more CPUs than global EDF each needs.
fn designs() -> [(Design, usize); 4] {
    [
        (Design::Coarse { master: false }, 0),
        (Design::Coarse { master: true }, 1),
        (Design::Messages(Mailboxes::Shared(2)), 1),
        (Design::Messages(Mailboxes::Own), 1),
    ]
}

#[test]
fn what_takes_no_time_is_global_edf() {
    for seed in 0..300 {
        let mut random = Random::stream(seed, 0, 0);
        let cpus = 1 + random.below(5) as u32;
        let tasks = random_set(&mut random, cpus);
        let tie = if random.below(2) == 0 { Tie::First } else { Tie::Last };
        let orders = [Order::Deadline, Order::FairLateness, Order::Fixed];
        let rule = Rule { order: orders[random.below(3) as usize], tie };
        let expected = plain(&tasks, cpus, rule, seed);
        for (design, more) in designs() {
            let machine = Machine::flat(cpus as usize + more);
            let real = Real { design, rule, profile: Profile::FREE };
            let (done, history, _) = done_by(&machine, &tasks, &real, seed);
            assert_eq!(done, expected, "seed {seed}, {real:?}: {tasks:?} on {cpus}");
            assert_eq!(checkers::wrong(&history), Vec::<String>::new(), "seed {seed}");
        }
    }
}

#[test]
fn clusters_that_take_no_time_are_global_edf_each() {
    for seed in 0..200 {
        let mut random = Random::stream(seed, 0, 0);
        let (size, clusters) = (1 + random.below(3) as u32, 1 + random.below(3) as u32);
        let tasks = random_set(&mut random, size * clusters);
        let cluster_of: Vec<u32> =
            tasks.iter().map(|_| random.below(clusters.into()) as u32).collect();
        let mut expected = Vec::new();
        for cluster in 0..clusters {
            let mine = |task: &u32| cluster_of[*task as usize] == cluster;
            let own: Vec<u32> = (0..tasks.len() as u32).filter(mine).collect();
            let set = TaskSet::new(own.iter().map(|&task| tasks[task as usize]).collect());
            let mut all = sporadic(&tasks, seed);
            let release = |task: u32, last| all(own[task as usize], last);
            gedf(&set.expect("a set"), size, Rule::default(), UNTIL_US, release, |done| {
                expected.push(Done { task: own[done.task as usize], ..done });
                ControlFlow::Continue(())
            });
        }
        let design = Design::Clustered { size, cluster_of };
        let real = Real { design, rule: Rule::default(), profile: Profile::FREE };
        let machine = Machine::flat((size * clusters) as usize);
        let (done, _, _) = done_by(&machine, &tasks, &real, seed);
        assert_eq!(done, sorted(expected), "seed {seed}: {tasks:?}, {real:?}");
    }
}

/// Tasks whose deadlines are never equal: periods are multiples of 32, and the nth begins at n.
fn apart(random: &mut Random, cpus: u32) -> TaskSet {
    let count = 1 + random.below(2 * u64::from(cpus) + 3);
    let tasks = (0..count).map(|_| {
        let period = 32 << random.below(3);
        Sporadic::implicit(1 + random.below(period / 2), period)
    });
    TaskSet::new(tasks.collect()).expect("a task set")
}

/// Releases `every` per cent of a period apart, from `first` on.
fn regular(
    tasks: &TaskSet,
    every: u64,
    first: impl Fn(u32) -> u64,
) -> impl FnMut(u32, Option<u64>) -> u64 {
    move |task, last| {
        let period = tasks[task as usize].period_us;
        last.map_or(first(task), |last| last + period * every / 100)
    }
}

/// Conditions on a set under which per-CPU queues are global EDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dropped {
    Nothing,
    /// No job is late: a late job uses up what is left of its budget under the old deadline.
    Late,
    /// A job needs no more than its server's budget.
    Budget,
    /// Tasks wake after the previous deadline: otherwise the server keeps that deadline.
    Early,
    /// No two deadlines are equal: the queue does not know the numbers of tasks.
    Ties,
    /// The CPU or task that is found is the one that is locked.
    Atomic,
}

/// How many sets were global EDF to the microsecond under per-CPU queues, and how many were not.
fn like_global_edf(dropped: Dropped) -> (u32, u32) {
    let (mut alike, mut different) = (0, 0);
    for seed in 0..600 {
        let mut random = Random::stream(seed, 0, 0);
        let cpus = 1 + random.below(5) as u32;
        let tasks = apart(&mut random, cpus);
        let every = if dropped == Dropped::Early { 75 } else { 100 };
        let first = |task| if dropped == Dropped::Ties { 0 } else { u64::from(task) };
        let mut expected = Vec::new();
        gedf(&tasks, cpus, Rule::default(), UNTIL_US, regular(&tasks, every, first), |done| {
            expected.push(done);
            ControlFlow::Continue(())
        });
        let late = expected.iter().any(|done| done.at_us > done.deadline_us);
        if late != (dropped == Dropped::Late) {
            continue;
        }
        let percent = if dropped == Dropped::Budget { 80 } else { 120 };
        let server = Some(Server { percent, spare: Span::ZERO });
        // A thousandth of a microsecond, in which other CPUs may act.
        let work = if dropped == Dropped::Atomic { Span(1) } else { Span::ZERO };
        let profile = Profile { run_queue: Section { work, lines: 0 }, ..Profile::FREE };
        for master in [false, true] {
            let machine = Machine::flat(cpus as usize + usize::from(master));
            let design = Design::PerCpu { master, rules: Rules::Heap, server };
            let real = Real { design, rule: Rule::default(), profile };
            let release = regular(&tasks, every, first);
            let (done, _, _) = done_when(&machine, &tasks, &real, seed, release);
            let near = |(a, b): (&Done, &Done)| {
                (a.task, a.released_us) == (b.task, b.released_us) && a.at_us.abs_diff(b.at_us) <= 1
            };
            // A job that is done at the very end may be done after it in the other schedule.
            let by_job = |mut all: Vec<Done>| {
                all.retain(|done| done.at_us + 2 < UNTIL_US);
                all.sort_by_key(|done| (done.task, done.released_us));
                all
            };
            let (found, expected) = (by_job(done), by_job(expected.clone()));
            let same = match dropped {
                Dropped::Atomic => {
                    found.len() == expected.len() && found.iter().zip(&expected).all(near)
                }
                _ => found == expected,
            };
            *(if same { &mut alike } else { &mut different }) += 1;
        }
    }
    (alike, different)
}

#[test]
fn queues_of_cpus_that_take_no_time_are_global_edf_under_five_conditions() {
    let (alike, different) = like_global_edf(Dropped::Nothing);
    assert!(alike > 300 && different == 0, "{alike} alike, {different} different");
    let conditions =
        [Dropped::Late, Dropped::Budget, Dropped::Early, Dropped::Ties, Dropped::Atomic];
    for dropped in conditions {
        let (alike, different) = like_global_edf(dropped);
        println!("without {dropped:?}: {alike} alike, {different} different");
        assert!(different > 0, "{dropped:?} is no condition");
    }
}

/// No path took longer or took more locks than it may; in these tests no path of SCHED_DEADLINE
/// takes more locks than the mean of the paths in the worst case.
fn within_bounds(real: &Real, seen: &Overheads, cpus: usize, tasks: usize, what: &str) {
    let worst = Worst { profile: &real.profile, cpus, tasks };
    let bounds = match real.design {
        // All CPUs may contend for the lock of a cluster.
        Design::Coarse { .. } | Design::Clustered { .. } => {
            let coarse = worst.coarse();
            vec![(Overhead::Schedule, coarse), (Overhead::Release, coarse)]
        }
        Design::Messages(_) => vec![
            (Overhead::Schedule, worst.client()),
            (Overhead::Release, worst.handler(tasks)),
            (Overhead::Handler, worst.handler(1)),
            (Overhead::RequestLatency, worst.request()),
        ],
        Design::PerCpu { rules, .. } => {
            let path = worst.run_queues(rules);
            vec![(Overhead::Schedule, path), (Overhead::Release, path)]
        }
    };
    let locks = match real.design {
        Design::Coarse { .. } | Design::Clustered { .. } => 1,
        // The lock of each client to which a task is linked; a client needs only its own.
        Design::Messages(_) => cpus,
        // And for each, the lock of the heap of CPUs, if two of its entries change.
        Design::PerCpu { rules: Rules::Heap, .. } => 3 * worst.queue_locks() as usize,
        Design::PerCpu { rules: Rules::V8, .. } => worst.queue_locks() as usize,
    };
    let (first, others) = seen.locks_of_path.split_first().expect("a CPU");
    let others = others.iter().max().copied().unwrap_or(0);
    let of_client = if matches!(real.design, Design::Messages(_)) { 1 } else { locks };
    assert!(*first <= locks && others <= of_client, "{what}: {:?}", seen.locks_of_path);
    for (kind, bound) in bounds {
        let most = seen.seen(kind).max;
        assert!(bound.is_none_or(|bound| most <= bound), "{what}: {kind:?} {most:?} > {bound:?}");
    }
}

#[test]
fn a_job_is_complete_though_its_cpu_has_not_said_so_at_the_end() {
    let section = Section { work: Span::ms(10), lines: 0 };
    let profile = Profile { coarse: section, run_queue: section, ..Profile::FREE };
    let tasks = TaskSet::new(vec![Sporadic::implicit(25_000, 50_000)]).expect("a task set");
    let server = Some(Server::AMPLE);
    for design in [
        Design::Coarse { master: false },
        Design::PerCpu { master: false, rules: Rules::Heap, server },
    ] {
        let real = Real { design, rule: Rule::default(), profile };
        let release = |_, last: Option<u64>| last.map_or(0, |last| last + 50_000);
        let done = |limit| {
            let options = Options { limit: Time(limit), ..Options::default() };
            let ran = run(&Machine::flat(1), &tasks, &real, &options, release);
            assert!(ran.pending.iter().all(|job| job.overdue == 0), "{:?}", ran.pending);
            ran.done
        };
        // The run ends before the mechanism processes the completion, and after that.
        let whole = done(Span::ms(90).0);
        let at_ns = whole[0].at_us * 1_000;
        assert!(whole[0].at_us < 50_000, "{whole:?}");
        for later in [1, 5_000_000, 9_000_000] {
            assert_eq!(done(at_ns + later)[..1], whole[..1], "{real:?}");
        }
        assert_eq!(done(at_ns - 1), []);
    }
}

#[test]
fn whatever_it_takes_jobs_are_done_in_order_and_in_full() {
    let mut done_all = 0;
    for seed in 0..400 {
        let mut random = Random::stream(seed, 0, 0);
        let cpus = 2 + random.below(7) as u32;
        let count = 1 + random.below(3 * u64::from(cpus));
        // From idle machines to machines that kernels alone keep busy.
        let scale = 10 << random.below(5);
        let tasks = (0..count).map(|_| {
            let period = scale + random.below(4 * scale);
            Sporadic::implicit(1 + random.below(period * 2 / 3), period)
        });
        let tasks = TaskSet::new(tasks.collect()).expect("a task set");
        let profile = wastenot_chance::profile(&mut random);
        let tie = if random.below(2) == 0 { Tie::First } else { Tie::Last };
        let per_cpu = |master, rules| {
            (
                Design::PerCpu {
                    master,
                    rules,
                    server: Some(Server { percent: 120, spare: Span::ZERO }),
                },
                0,
            )
        };
        let pairs = Design::Clustered {
            size: 2,
            cluster_of: (0..count as u32).map(|task| task % cpus.div_ceil(2)).collect(),
        };
        let more = [
            per_cpu(false, Rules::Heap),
            per_cpu(true, Rules::Heap),
            per_cpu(false, Rules::V8),
            (pairs, 0),
        ];
        for (design, _) in designs().into_iter().chain(more) {
            let real = Real { design, rule: Rule::edf(tie), profile };
            let what = format!("seed {seed}, {:?}, {cpus} CPUs", real.design);
            let machine = Machine::flat(cpus as usize);
            let (done, history, seen) = done_by(&machine, &tasks, &real, seed);
            assert_eq!(checkers::wrong(&history), Vec::<String>::new(), "{what}");
            let mut last = vec![None; tasks.len()];
            for job in &done {
                let wcet_us = tasks[job.task as usize].wcet_us;
                let began_us = last[job.task as usize].unwrap_or(0).max(job.released_us);
                assert!(job.at_us >= began_us + wcet_us, "{what}: {job:?}");
                last[job.task as usize] = Some(job.at_us);
            }
            done_all += done.len();
            within_bounds(&real, &seen, cpus as usize, tasks.len(), &what);
            let contenders = seen.locks.iter().map(|lock| lock.contenders_max).max();
            if let Design::Messages(mailboxes) = real.design {
                // The client, and the processor.
                assert!(contenders <= Some(2), "{what}: {contenders:?}");
                let clients = cpus as usize - 1;
                let share = if mailboxes == Mailboxes::Own { 1 } else { clients.div_ceil(2) };
                let writers = seen.mailbox_writers.iter().max();
                assert!(writers <= Some(&(share + 1)), "{what}: {writers:?}");
            }
        }
    }
    assert!(done_all > 50_000, "{done_all}");
}

#[test]
fn whether_whoever_runs_stays_depends_on_the_order_of_what_comes_at_one_instant() {
    let mut different = [0; 4];
    for seed in 0..200 {
        let mut random = Random::stream(seed, 0, 0);
        let cpus = 1 + random.below(5) as u32;
        let tasks = random_set(&mut random, cpus);
        let rule = Rule::edf(Tie::Running);
        let expected = plain(&tasks, cpus, rule, seed);
        for (n, (design, more)) in designs().into_iter().enumerate() {
            let machine = Machine::flat(cpus as usize + more);
            let real = Real { design, rule, profile: Profile::FREE };
            different[n] += u32::from(done_by(&machine, &tasks, &real, seed).0 != expected);
        }
    }
    println!("{different:?} of 200");
    assert!(different.iter().all(|&count| count > 0), "the condition can be dropped");
}
