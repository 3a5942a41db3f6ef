//! Real-time designs under workloads whose tasks suspend, hold locks, come late, leave, or overrun.

use wastenot_chance::Worst;
use wastenot_model::machine::Costs;
use wastenot_model::workload::{Launch, Program, Random, Step, Template, Waiting};
use wastenot_model::{CpuId, Help, Machine, Span, Time, Workload};
use wastenot_sim::edf::{Design, Mailboxes, Profile, Ran, Real, Rule, Rules, Server, run_workload};
use wastenot_sim::{Options, Overhead, checkers};

use crate::made::{self, END, launch, sleep, template};
/// A kind of task: it computes, sleeps, and computes again, in us.
#[derive(Clone, Copy, Debug)]
struct Kind {
    period: u64,
    deadline: u64,
    first: u64,
    sleep: u64,
    second: u64,
    /// When it is launched.
    at: u64,
    /// After how many jobs it ends.
    jobs: Option<u32>,
}

fn compute(us: u64) -> Step {
    made::compute(Span::us(us))
}

fn workload(kinds: &[Kind]) -> Workload {
    let mut load = Workload::new();
    for (n, kind) in kinds.iter().enumerate() {
        let every = Step::Beat(Span::us(kind.period));
        let mut steps = vec![Step::Loop(kind.jobs), every, compute(kind.first)];
        if kind.sleep > 0 {
            steps.push(sleep(Span::us(kind.sleep)));
            steps.push(compute(kind.second));
        }
        steps.push(END);
        let deadline = Some(Span::us(kind.deadline));
        let template = Template { deadline, ..template(&format!("t{n}"), &steps) };
        let (template, from) = (load.template(template), CpuId(0));
        load.launches.push(Launch { at: Time(kind.at * 1_000), template, from });
    }
    load
}

fn ran(load: &Workload, cpus: usize, real: &Real, until_us: u64) -> Ran {
    let options = Options { limit: Time(until_us * 1_000), ..Options::default() };
    let machine = Machine::flat(cpus);
    let ran = run_workload(&machine, &Costs::default(), load, real, &options);
    let ran = ran.unwrap_or_else(|wrong| panic!("{wrong}: {}", wrong.help()));
    assert_eq!(checkers::wrong(&ran.history), Vec::<String>::new(), "{real:?}");
    ran
}

fn jobs(ran: &Ran, real: &Real) -> crate::jobs::Jobs {
    let seen = crate::jobs::jobs(&ran.history, |cpu| cpu != CpuId(0) || !real.has_master());
    let seen = seen.expect("it tells of jobs");
    assert_eq!(seen.wrong, Vec::<String>::new(), "{real:?}");
    seen
}

fn free(design: Design, rule: Rule) -> Real {
    Real { design, rule, profile: Profile::FREE }
}

/// Designs that are global EDF if no operation takes time, and how many more CPUs each needs.
fn exact() -> [(Design, usize); 4] {
    [
        (Design::Coarse { master: false }, 0),
        (Design::Coarse { master: true }, 1),
        (Design::Messages(Mailboxes::Shared(2)), 1),
        (Design::Messages(Mailboxes::Own), 1),
    ]
}

#[test]
fn nobody_sleeps_for_ever_whatever_it_takes() {
    const UNTIL: u64 = 20_000;
    let mut woken = 0;
    for seed in 0..150 {
        let mut random = Random::stream(seed, 0, 1);
        let cpus = 2 + random.below(5) as usize;
        let profile = wastenot_chance::profile(&mut random);
        // Sleeps as short as the time that a kernel takes to put a task to sleep.
        let kinds: Vec<Kind> = (0..1 + random.below(2 * cpus as u64))
            .map(|_| {
                let period = 200 + random.below(800);
                let (first, sleep) = (1 + random.below(period / 8), 1 + random.below(12));
                let second = 1 + random.below(period / 8);
                Kind { period, deadline: period, first, sleep, second, at: 0, jobs: None }
            })
            .collect();
        let server = Some(Server { percent: 120, spare: Span::us(100) });
        let clusters = Design::Clustered { size: 2, cluster_of: Vec::new() };
        let more = [
            (Design::PerCpu { master: false, rules: Rules::Heap, server }, 0),
            (Design::PerCpu { master: true, rules: Rules::Heap, server }, 0),
            (clusters, 0),
        ];
        for (design, _) in exact().into_iter().chain(more) {
            let real = Real { design, rule: Rule::default(), profile };
            let ran = ran(&workload(&kinds), cpus, &real, UNTIL);
            jobs(&ran, &real);
            let mut complete = vec![0; kinds.len()];
            ran.done.iter().for_each(|job| complete[job.task as usize] += 1);
            for (n, kind) in kinds.iter().enumerate() {
                let most = UNTIL / kind.period;
                let what = format!("seed {seed}, {real:?}, task {n}");
                assert!(complete[n] + 3 >= most / 2, "{what}: {} of {most}", complete[n]);
            }
            woken += ran.done.len();
        }
    }
    assert!(woken > 50_000, "{woken}");
}

/// Tasks that each hold a lock of their own, for which they would spin, while they are at `inside`.
fn with_sections(random: &mut Random, count: u64, waiting: Waiting) -> (Workload, u64) {
    let (mut load, mut longest) = (Workload::new(), 0);
    let (begins, ends) = (load.mark("in"), load.mark("out"));
    for n in 0..count {
        let lock = load.lock(&format!("l{n}"), waiting);
        let period = 40 + random.below(200);
        let (before, inside) = (1 + random.below(period / 6), 1 + random.below(period / 6));
        let after = 1 + random.below(period / 6);
        longest = longest.max(inside);
        let steps = [
            Step::Loop(None),
            Step::Beat(Span::us(period)),
            compute(before),
            Step::Lock(lock),
            Step::Mark(begins),
            compute(inside),
            Step::Mark(ends),
            Step::Unlock(lock),
            compute(after),
            END,
        ];
        let wcet = Some(Span::us(inside));
        let template = load.template(Template { wcet, ..template(&format!("t{n}"), &steps) });
        let from = CpuId(0);
        load.launches.push(Launch { at: Time(random.below(period) * 1_000), template, from });
    }
    load.launches.sort_by_key(|launch| launch.at);
    (load, longest)
}

/// How often a task was preempted between its marks: it took longer than it computes there.
fn interrupted(load: &Workload, ran: &Ran) -> usize {
    let mut since = vec![None; load.launches.len()];
    let mut interrupted = 0;
    for mark in &ran.outcome.marks {
        let task = mark.task.ordinal();
        let template = &load.templates[load.launches[task].template.index()];
        let Step::Compute(inside) = template.program.steps()[5] else { panic!("no section") };
        match since[task].take() {
            None => since[task] = Some(mark.time),
            Some(began) => interrupted += usize::from(mark.time - began != inside.mean()),
        }
    }
    interrupted
}

#[test]
fn who_holds_a_spinning_lock_is_not_preempted_and_delays_each_job_once_at_most() {
    let (mut blocked, mut control) = (0, 0);
    for seed in 0..120 {
        let mut random = Random::stream(seed, 0, 2);
        let cpus = 1 + random.below(4) as usize;
        let count = cpus as u64 + 1 + random.below(2 * cpus as u64);
        let sections = |waiting| with_sections(&mut Random::stream(seed, 0, 4), count, waiting);
        let (load, longest) = sections(Waiting::Spin);
        let clusters = (Design::Clustered { size: cpus as u32, cluster_of: Vec::new() }, 0);
        for (design, more) in exact().into_iter().chain([clusters]) {
            let real = free(design, Rule::default());
            let ran = ran(&load, cpus + more, &real, 5_000);
            let what = format!("seed {seed}, {real:?}");
            assert_eq!(interrupted(&load, &ran), 0, "{what}");
            let seen = jobs(&ran, &real);
            assert!(seen.inverted_max <= Span::us(longest), "{what}: {seen:?} > {longest} us");
            blocked += seen.inverted;
        }
        // Linux preempts a task that spins in user space.
        let real = free(
            Design::PerCpu { master: false, rules: Rules::Heap, server: None },
            Rule::default(),
        );
        control += interrupted(&load, &ran(&load, cpus, &real, 5_000));
        // And a task that would sleep for a lock is preempted while it holds it.
        let (load, _) = sections(Waiting::Block);
        let real = free(Design::Coarse { master: false }, Rule::default());
        let ran = ran(&load, cpus, &real, 5_000);
        assert_eq!(jobs(&ran, &real).inverted, 0, "seed {seed}");
        control += interrupted(&load, &ran);
    }
    assert!(blocked > 500 && control > 500, "{blocked} blocked, {control} interrupted");
}

#[test]
fn who_waits_for_a_spinning_lock_keeps_its_cpu_too() {
    for seed in 0..60 {
        let mut random = Random::stream(seed, 0, 3);
        let cpus = 2 + random.below(3) as usize;
        let (mut load, _) = with_sections(&mut random, 3 * cpus as u64, Waiting::Spin);
        // One lock for all.
        let all = load.lock("all", Waiting::Spin);
        for template in &mut load.templates {
            let shared = |step: &Step| match step {
                Step::Lock(_) => Step::Lock(all),
                Step::Unlock(_) => Step::Unlock(all),
                other => *other,
            };
            let steps = template.program.steps().iter().map(shared).collect();
            template.program = Program::new(steps).expect("a program");
        }
        for profile in [Profile::FREE, wastenot_chance::profile(&mut random)] {
            for (design, _) in exact() {
                let real = Real { design, rule: Rule::default(), profile };
                let ran = ran(&load, cpus, &real, 5_000);
                if profile == Profile::FREE {
                    assert_eq!(interrupted(&load, &ran), 0, "seed {seed}, {real:?}");
                }
                assert!(ran.done.len() > 20, "seed {seed}, {real:?}: {}", ran.done.len());
            }
        }
    }
}

fn simple(period: u64, first: u64, at: u64, jobs: Option<u32>) -> Kind {
    Kind { period, deadline: period, first, sleep: 0, second: 0, at, jobs }
}

#[test]
fn who_leaves_before_its_deadline_leaves_no_room_for_another() {
    // Half of a CPU for a long job; the other half for short ones, each a task of its own.
    let long = simple(10, 5, 0, None);
    let late = |apart: u64| {
        let short = (0..20).map(|n| simple(2, 1, n * apart, Some(1)));
        let kinds: Vec<Kind> = std::iter::once(long).chain(short).collect();
        let mut missed = Vec::new();
        for (design, more) in exact() {
            let ran = ran(&workload(&kinds), 1 + more, &free(design, Rule::default()), 100);
            missed.push(ran.done.iter().filter(|job| job.at_us > job.deadline_us).count());
        }
        assert!(missed.iter().all(|count| *count == missed[0]), "{missed:?}");
        missed[0]
    };
    // The next task comes after the deadline of the last: together they are like one task.
    assert_eq!(late(2), 0);
    // The next task comes as soon as the last has left: together they use all of the CPU.
    assert!(late(1) > 0);
}

#[test]
fn a_server_keeps_who_overruns_from_the_others() {
    let mut load = Workload::new();
    for (name, period, takes, says) in
        [("over", 10_000, 6_000, 2_000), ("fits", 10_000, 6_000, 6_000)]
    {
        let steps = [Step::Loop(None), Step::Beat(Span::us(period)), compute(takes), END];
        let wcet = Some(Span::us(says));
        launch(&mut load, 1, Template { wcet, ..template(name, &steps) });
    }
    let late = |design: Design| {
        let real = free(design, Rule::default());
        let ran = ran(&load, 1, &real, 200_000);
        let fits = ran.done.iter().filter(|job| job.task == 1);
        let over = ran.done.iter().filter(|job| job.task == 0).count();
        (over, fits.filter(|job| job.at_us > job.deadline_us).count())
    };
    assert!(late(Design::Coarse { master: false }).1 > 5);
    let server = Some(Server { percent: 100, spare: Span::us(10) });
    // 6 ms at 2 ms each 10 ms: a job takes three periods, and the jobs of the other task are in
    // time.
    let (over, fits) = late(Design::PerCpu { master: false, rules: Rules::Heap, server });
    assert_eq!(fits, 0);
    assert!((5..=7).contains(&over), "{over}");
    let (over, fits) = late(Design::PerCpu { master: false, rules: Rules::Heap, server: None });
    assert!(fits > 5 && over > 7, "{over} {fits}");
}

/// `pairs` tasks that last ran on one CPU and sleep, and as many that wake them at one instant.
fn woken_at_once(pairs: u32) -> Workload {
    let mut load = Workload::new();
    let all = load.barrier("all", pairs, Waiting::Spin);
    let wcet = Some(Span::ms(5));
    let launch = |load: &mut Workload, name: String, at: Span, steps: Vec<Step>| {
        let every = Step::Beat(Span::ms(60));
        let steps = [vec![Step::Loop(None), every], steps, vec![compute(20), END]].concat();
        let template = load.template(Template { wcet, ..template(&name, &steps) });
        load.launches.push(Launch { at: Time(at.0), template, from: CpuId(0) });
    };
    let pipes: Vec<_> =
        (0..pairs).map(|n| load.pipe(&format!("p{n}"), None, Waiting::Block)).collect();
    for (n, pipe) in pipes.iter().enumerate() {
        let steps = vec![compute(20), Step::Get(*pipe)];
        launch(&mut load, format!("sleeper {n}"), Span::ms(1 + n as u64), steps);
    }
    for (n, pipe) in pipes.iter().enumerate() {
        let steps = vec![compute(300), Step::Barrier(all), Step::Put(*pipe)];
        launch(&mut load, format!("waker {n}"), Span::ms(30), steps);
    }
    load
}

#[test]
fn whoever_wakes_tasks_leaves_the_entries_of_clients_alone() {
    for seed in 0..20 {
        let mut random = Random::stream(seed, 0, 4);
        let profile = match seed {
            0 => Profile::X7550_ASSUMED,
            _ => wastenot_chance::profile(&mut random),
        };
        let pairs = 2 + random.below(13) as u32;
        let cpus = 2 + pairs as usize;
        for mailboxes in [Mailboxes::Shared(8), Mailboxes::Own] {
            let real = Real { design: Design::Messages(mailboxes), rule: Rule::default(), profile };
            let ran = ran(&woken_at_once(pairs), cpus, &real, 180_000);
            let of_locks = ran.overheads.locks.iter().map(|lock| lock.contenders_max);
            assert!(of_locks.max() <= Some(2), "seed {seed}, {real:?}");
            let worst = Worst { profile: &profile, cpus, tasks: 2 * pairs as usize };
            let longest = ran.overheads.seen(Overhead::Schedule).max;
            let bound = worst.client();
            assert!(bound.is_none_or(|bound| longest <= bound), "{seed}: {longest} > {bound:?}");
            assert!(ran.done.len() >= 4 * pairs as usize, "{}", ran.done.len());
        }
    }
}

#[test]
fn what_the_processor_does_is_done_before_it_does_something_else() {
    let mut load = Workload::new();
    let mut launch = |name: &str, jobs: Option<u32>, us: u64, period: Span| {
        let steps = [Step::Loop(jobs), Step::Beat(period), compute(us), END];
        launch(&mut load, 1, template(name, &steps));
    };
    // One leaves; then no event comes for a long time.
    launch("leaves", Some(3), 100, Span::ms(2));
    launch("seldom", None, 100, Span::ms(100));
    // Many come together behind a task that runs, so that none is linked.
    launch("urgent", None, 5_000, Span::ms(20));
    for n in 0..60 {
        launch(&format!("late {n}"), None, 10, Span::ms(50));
    }
    let profile = Profile::X7550_ASSUMED;
    for (cpus, mailboxes) in [(2, Mailboxes::Shared(8)), (9, Mailboxes::Own)] {
        let real = Real { design: Design::Messages(mailboxes), rule: Rule::default(), profile };
        let ran = ran(&load, cpus, &real, 300_000);
        let worst = Worst { profile: &profile, cpus, tasks: 63 };
        for (kind, bound) in [
            (Overhead::Release, worst.handler(63)),
            (Overhead::Handler, worst.handler(1)),
            (Overhead::RequestLatency, worst.request()),
        ] {
            let longest = ran.overheads.seen(kind).max;
            assert!(bound.is_none_or(|it| longest <= it), "{kind:?} {longest} {bound:?}");
        }
        // The releases of all 63 that come at once are in its path.
        let release = ran.overheads.seen(Overhead::Release).max;
        assert!(release >= profile.heap(63) * 63, "{release}");
    }
}
