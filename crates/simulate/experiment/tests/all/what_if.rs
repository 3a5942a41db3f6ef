//! The work of a History, run again: what must hold of the three figures.

use wastenot_experiment::extract;
use wastenot_experiment::{Question, WhatIf, what_if};
use wastenot_model::machine::Costs;
use wastenot_model::workload::{Program, Random, Step, Template, TemplateId, Variate, Waiting};
use wastenot_model::{
    Builder, Carries, CpuId, CpuMode, CpuSet, Head, Help, History, Machine, Span, Time, Workload,
};
use wastenot_scenario::scenario::Choice;
use wastenot_sim::{End, Options, Outcome, scheduler, simulate};

const END: Step = Step::End { of: 0 };

fn choice(name: &str) -> Choice {
    Choice::named(name)
}

fn question(name: &str) -> Question {
    Question { scheduler: Some(choice(name)), seed: 1, ..Question::default() }
}

/// What no scheduler beats.
fn known(answer: &WhatIf) -> Span {
    answer.bound.span().expect("it is known")
}

fn ran(machine: &Machine, load: &Workload, name: &str, seed: u64) -> (History, Outcome) {
    let policy = scheduler(name, &[]).expect("known");
    let options = Options { seed, limit: Time(60_000_000_000), ..Options::default() };
    let (history, outcome) = simulate(machine, &Costs::default(), load, policy, &options);
    assert_eq!(outcome.end, End::Done, "{name} seed {seed}");
    (history, outcome)
}

fn us(us: u64) -> Step {
    Step::Compute(Variate::Fixed(Span::us(us)))
}

fn about(us: u64) -> Step {
    Step::Compute(Variate::around(Span::us(us), 0.3))
}

fn template(load: &mut Workload, name: &str, steps: &[Step]) -> TemplateId {
    load.template(Template::new(name, Program::new(steps.to_vec()).expect("a program")))
}

/// Workloads by what their tasks wait for.
fn loads() -> Vec<(&'static str, Workload)> {
    let mut all = Vec::new();

    for (name, waiting) in [
        ("barrier", Waiting::Block),
        ("spun barrier", Waiting::Spin),
        ("half spun barrier", Waiting::SpinThenBlock(Span::us(100))),
    ] {
        let mut load = Workload::new();
        // Who spins for ever under a scheduler that does not preempt needs a CPU of its own.
        let parties = if waiting == Waiting::Spin { 4 } else { 8 };
        let barrier = load.barrier("b", parties, waiting);
        let steps = [Step::Loop(Some(40)), about(900), Step::Barrier(barrier), END];
        let worker = template(&mut load, "worker", &steps);
        (0..parties).for_each(|_| load.launch(worker, CpuId(0)));
        all.push((name, load));
    }

    let mut load = Workload::new();
    let lock = load.lock("l", Waiting::Block);
    let steps =
        [Step::Loop(Some(60)), about(400), Step::Lock(lock), about(150), Step::Unlock(lock), END];
    let worker = template(&mut load, "worker", &steps);
    (0..6).for_each(|_| load.launch(worker, CpuId(0)));
    all.push(("lock", load));

    let mut load = Workload::new();
    let (a, b) = (load.pipe("a", Some(4), Waiting::Block), load.pipe("b", None, Waiting::Block));
    // That a waker is about to sleep is not recorded, so it is not replayed.
    load.pipes.iter_mut().for_each(|pipe| pipe.sync = false);
    for (name, steps) in [
        ("first", vec![Step::Loop(Some(100)), about(200), Step::Put(a), END]),
        ("second", vec![Step::Loop(Some(100)), Step::Get(a), about(300), Step::Put(b), END]),
        ("third", vec![Step::Loop(Some(100)), Step::Get(b), about(250), END]),
        ("hog", vec![us(30_000)]),
    ] {
        let stage = template(&mut load, name, &steps);
        (0..2).for_each(|_| load.launch(stage, CpuId(0)));
    }
    all.push(("pipe", load));

    let mut load = Workload::new();
    let child = template(&mut load, "child", &[about(2_000)]);
    let fork = Step::Fork(child);
    let make = [Step::Loop(Some(12)), fork, fork, fork, us(100), fork, Step::WaitAll, END];
    let make = template(&mut load, "make", &make);
    (0..2).for_each(|_| load.launch(make, CpuId(0)));
    all.push(("fork", load));

    let mut load = Workload::new();
    let nap = Step::Sleep(Variate::Exponential { mean: Span::us(700) });
    let sleeper = template(&mut load, "sleeper", &[Step::Loop(Some(50)), about(500), nap, END]);
    (0..7).for_each(|_| load.launch(sleeper, CpuId(0)));
    all.push(("sleep", load));
    all
}

#[test]
fn under_the_same_scheduler_the_work_takes_as_long_again() {
    let mut wrong = Vec::new();
    for machine in [Machine::flat(4), wastenot_scenario::machine("pack:2 core:4 pu:1").unwrap()] {
        for name in ["global-fifo", "work-conserving", "cfs-4.1", "eevdf-6.12"] {
            for (what, load) in loads() {
                let (history, outcome) = ran(&machine, &load, name, 1);
                let answer = what_if(&history, &question(name)).expect(what);
                assert_eq!(answer.extracted.recorded, Span(outcome.time.0), "{what} under {name}");
                let again = answer.asked.makespan.expect("it ends").0 as f64;
                let off = again / outcome.time.0 as f64 - 1.0;
                if off.abs() > 0.01 {
                    wrong.push(format!("{what} under {name} on {} CPUs: {off:+.4}", machine.len()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tasks that do anything, bound or not, some of whom fork.
fn anything(random: &mut Random, cpus: usize) -> Workload {
    let mut load = Workload::new();
    let lock = load.lock("lock", Waiting::Block);
    let spin = load.lock("spin", Waiting::SpinThenBlock(Span::us(200)));
    let pipe = load.pipe("pipe", Some(3), Waiting::Block);
    let some = |random: &mut Random| -> CpuSet {
        let some = (0..cpus as u16).filter(|_| random.below(2) == 0).map(CpuId);
        some.chain([CpuId(0)]).collect()
    };
    let masks = [some(random), some(random), some(random)].map(|set| load.affinity(set));
    let work = |mean| Step::Compute(Variate::Exponential { mean: Span::us(mean) });
    let child = template(&mut load, "child", &[work(500)]);
    for n in 0..2 + random.below(8) {
        let other = [
            vec![Step::Lock(lock), work(300), Step::Unlock(lock)],
            vec![Step::Lock(spin), work(100), Step::Unlock(spin)],
            vec![Step::Sleep(Variate::Exponential { mean: Span::ms(1) })],
            vec![Step::Yield],
            vec![Step::Affinity(masks[random.below(3) as usize])],
            vec![Step::Fork(child), Step::WaitAll],
            vec![Step::Nice(random.below(20) as i8), Step::Exec],
        ];
        let token = if n % 2 == 0 { Step::Put(pipe) } else { Step::Get(pipe) };
        let mut steps = vec![Step::Loop(Some(15)), work(700), token];
        for _ in 0..3 {
            steps.extend(&other[random.below(other.len() as u64) as usize]);
        }
        steps.push(END);
        let program = Program::new(steps).expect("a program");
        let affinity = (random.below(4) == 0).then(|| some(random));
        // Pipes need as many who put as who take; who is left over does not end.
        let task =
            Template { affinity, awaited: false, ..Template::new(&format!("t{n}"), program) };
        let task = load.template(task);
        load.launch(task, CpuId(random.below(cpus as u64) as u16));
    }
    let last = [Step::Loop(Some(20)), work(1000), Step::Sleep(Variate::Fixed(Span::ms(1))), END];
    let last = template(&mut load, "last", &last);
    load.launch(last, CpuId(0));
    load
}

#[test]
fn no_bound_exceeds_the_record_and_no_replay_beats_the_bound() {
    let (mut tight, mut slack) = (0, 0);
    for seed in 0..150 {
        let mut random = Random::stream(seed, 9, 9);
        let cpus = 1 + random.below(6) as usize;
        let load = anything(&mut random, cpus);
        let all = ["global-fifo", "work-conserving", "linux-2.6-o1", "cfs-4.1", "pinned"];
        let name = all[seed as usize % all.len()];
        let (history, _) = ran(&Machine::flat(cpus), &load, name, seed);
        let answer = what_if(&history, &question("global-fifo")).expect("work");
        let (recorded, bound) = (answer.extracted.recorded, known(&answer));
        assert!(bound <= recorded, "seed {seed} under {name}: {bound} > {recorded}");
        let runs = std::iter::once(&answer.asked).chain(&answer.yardstick);
        for run in runs {
            let makespan = run.makespan.expect("it ends");
            assert!(bound <= makespan, "seed {seed} under {}: {makespan}", run.scheduler);
            tight += u64::from(bound == makespan);
            slack += u64::from(bound < makespan);
        }
    }
    assert!(tight > 10 && slack > 10, "{tight} runs reach the bound, {slack} do not");
}

#[test]
fn on_one_cpu_the_bound_of_the_programs_is_all_that_they_drew() {
    let steady = ["barrier", "lock", "pipe", "fork"];
    for (name, load) in loads().into_iter().filter(|(name, _)| steady.contains(name)) {
        let (history, _) = ran(&Machine::flat(1), &load, "cfs-4.1", 3);
        let extracted = extract::extract(&history, &extract::Options::default()).expect("work");
        let bound = extracted.bound();
        assert_eq!(bound.basis, extract::Basis::Programs, "{name}");
        assert_eq!(bound.span(), Some(extracted.recorded), "{name}: {bound:?}");
    }
}

/// The same run on a machine with one CPU more, which nobody used.
fn beside_an_idle_cpu(mut history: History) -> History {
    history.head.machine = Machine::flat(history.cpu_count() + 1);
    let start = history.head.start.as_mut().expect("a simulated History knows its start");
    start.cpus.push(CpuMode::Idle);
    history
}

/// Nine jobs of Graham (1969), Figure 1: the fifth to the eighth follow the fourth, the ninth the
/// first; milliseconds 3 2 2 2 4 4 4 4 9.
fn graham() -> Workload {
    let mut load = Workload::new();
    let after = |load: &mut Workload, name| load.pipe(name, None, Waiting::Block);
    let (after_1, after_4) = (after(&mut load, "after 1"), after(&mut load, "after 4"));
    for job in 1..=9 {
        let ms = [3, 2, 2, 2, 4, 4, 4, 4, 9][job - 1];
        let work = us(ms * 1000);
        let steps = match job {
            1 => vec![work, Step::Put(after_1)],
            4 => [vec![work], vec![Step::Put(after_4); 4]].concat(),
            5..=8 => vec![Step::Get(after_4), work],
            9 => vec![Step::Get(after_1), work],
            _ => vec![work],
        };
        let job = template(&mut load, &format!("job {job}"), &steps);
        load.launch(job, CpuId(0));
    }
    load
}

#[test]
fn a_work_conserving_run_may_be_longer_than_one_that_left_a_cpu_idle() {
    let (history, outcome) = ran(&Machine::flat(3), &graham(), "global-fifo", 1);
    assert_eq!(outcome.time, Time(12_000_000), "as published");
    let history = beside_an_idle_cpu(history);
    let answer = what_if(&history, &question("work-conserving")).expect("work");
    assert_eq!(answer.extracted.recorded, Span::ms(12));
    assert_eq!(known(&answer), Span::ms(12), "3 + 9");
    assert_eq!(answer.asked.makespan, Some(Span::ms(15)), "as published for four machines");
    let report = answer.report();
    assert!(report.assumptions.iter().any(|it| it.contains("Graham")), "{report:?}");
    assert_eq!(answer.at_most(), Some(0.0));
}

#[test]
fn work_done_one_after_the_other_on_one_cpu_of_two_is_half_the_schedulers_fault() {
    let mut load = Workload::new();
    let hog = template(&mut load, "hog", &[us(10_000)]);
    (0..2).for_each(|_| load.launch(hog, CpuId(0)));
    let (history, _) = ran(&Machine::flat(1), &load, "global-fifo", 1);
    let history = beside_an_idle_cpu(history);
    let answer = what_if(&history, &question("work-conserving")).expect("work");
    let figures = (answer.extracted.recorded, answer.asked.makespan, known(&answer));
    assert_eq!(figures, (Span::ms(20), Some(Span::ms(10)), Span::ms(10)));
    assert_eq!(answer.at_most(), Some(0.5));
    assert!(
        answer.report().verdict.starts_with("Another scheduler can save at most 50 % of this run")
    );
}

#[test]
fn tasks_bound_to_few_cpus_bound_the_run() {
    let mut load = Workload::new();
    let program = Program::new(vec![us(10_000)]).expect("a program");
    let two = Some(CpuSet::from_iter([CpuId(0), CpuId(1)]));
    let bound = load.template(Template { affinity: two, ..Template::new("bound", program) });
    let free = template(&mut load, "free", &[us(10_000)]);
    (0..6).for_each(|_| load.launch(bound, CpuId(0)));
    load.launch(free, CpuId(0));
    let (history, _) = ran(&Machine::flat(4), &load, "global-fifo", 1);
    let extracted = extract::extract(&history, &extract::Options::default()).expect("work");
    let (bound, kept) = (extracted.bound(), extracted.as_recorded());
    assert_eq!((kept.chain.span(), kept.all.span()), (Span::ms(10), Span::us(17_500)));
    let crowd = kept.bound.clone().expect("some are bound");
    assert_eq!((crowd.cpus.to_string(), crowd.span()), ("0-1".into(), Span::ms(30)));
    assert_eq!((bound.path, bound.work), (Some(Span::ms(10)), Span::us(17_500)));
    let (cpus, span) = bound.affinity.clone().expect("some are bound");
    assert_eq!((cpus.to_string(), span), ("0-1".into(), Span::ms(30)));
    assert_eq!((kept.span(), bound.span()), (Span::ms(30), Some(Span::ms(30))));
}

#[test]
fn another_machine_has_another_bound_and_no_verdict_on_the_recorded_one() {
    let (history, _) = ran(&Machine::flat(2), &loads()[0].1, "cfs-4.1", 1);
    let eight = Question { machine: Some(Machine::flat(8)), ..question("cfs-4.1") };
    let answer = what_if(&history, &eight).expect("work");
    assert_eq!(answer.at_most(), None);
    let half = answer.asked.makespan.expect("it ends").0 * 2;
    assert!(half < answer.extracted.recorded.0, "eight CPUs for eight tasks: {half}");
}

#[test]
fn only_named_tasks_are_waited_for() {
    let mut load = Workload::new();
    let quick = template(&mut load, "quick", &[us(1_000)]);
    let parent = template(&mut load, "slow", &[us(2_000), Step::Fork(quick), us(50_000)]);
    load.launch(parent, CpuId(0));
    let (history, _) = ran(&Machine::flat(2), &load, "global-fifo", 1);
    let named = history.tasks().find(|(id, _)| history.task_name(*id) == "quick");
    let awaited = Some(vec![named.expect("it ran").0]);
    let answer = what_if(&history, &Question { awaited, ..question("global-fifo") });
    let answer = answer.expect("work");
    assert_eq!(answer.extracted.recorded, Span::ms(3));
    assert_eq!(answer.as_recorded.ends.len(), 1, "only those of one name are waited for");
    assert_eq!((answer.asked.makespan, known(&answer)), (Some(Span::ms(3)), Span::ms(3)));
    assert_eq!(answer.as_recorded.chain.compute, Span::ms(3), "through the fork");
}

fn trace(name: &str) -> History {
    let path = format!("{}/../../../traces/{name}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).expect("a trace");
    wastenot_read::read(&bytes, &wastenot_read::Options::default()).expect("readable")
}

#[test]
fn real_recordings_give_figures_with_assumptions() {
    for name in [
        "5.10-t4x4-barrier.dat",
        "7.2-t4x4-make.dat",
        "6.1-t4x4-tpch.dat",
        "6.12-t4x4-overwrite.dat",
        "host-6.18-2cpu-messaging.dat",
        "host-6.18-2cpu-messaging.perf.data",
    ] {
        let history = trace(name);
        for scheduler in ["global-fifo", "cfs-4.1"] {
            let answer: WhatIf = what_if(&history, &question(scheduler)).expect(name);
            let (recorded, bound) = (answer.extracted.recorded, known(&answer));
            assert!(bound <= recorded, "{name}: {bound} > {recorded}");
            let makespan = answer.asked.makespan;
            assert!(makespan.is_some_and(|it| it >= bound), "{name}: {makespan:?} < {bound}");
            assert!(answer.extracted.assumptions.len() > 6, "{name}");
            assert_eq!(answer.report().schema, "what-if/1");
        }
    }
}

#[test]
fn what_does_not_tell_enough_is_refused() {
    let refused = |history: &History| {
        let error = what_if(history, &question("global-fifo")).expect_err("not enough");
        (error.to_string(), error.help().into_owned())
    };
    let (mut history, _) = ran(&Machine::flat(2), &loads()[0].1, "global-fifo", 1);
    let carries = history.head.carries;
    history.head.carries = carries.without(Carries::WAKINGS | Carries::WAKEUPS);
    let (what, help) = refused(&history);
    assert!(what.contains("no wakeup") && help.contains("sched_wakeup"), "{what} {help}");
    history.head.carries = carries;
    history.head.clock.nanoseconds = false;
    let (what, help) = refused(&history);
    assert!(what.contains("cycles") && help.contains("--clock-hz"), "{what} {help}");
    let empty = Builder::new(Head::new(Machine::flat(2))).finish();
    assert!(refused(&empty).0.contains("no context switch"));
    let (history, _) = ran(&Machine::flat(2), &loads()[0].1, "global-fifo", 1);
    let nobody = Question { awaited: Some(Vec::new()), ..question("global-fifo") };
    let error = what_if(&history, &nobody).expect_err("nobody");
    assert!(error.help().contains("--task"), "{error}");
    let error = what_if(&history, &question("fifo")).expect_err("unknown");
    assert!(error.to_string().contains("fifo"), "{error}");
}

#[test]
fn a_policy_in_rota_can_be_asked_for() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../policies");
    let mut choice = choice("work-stealing.rota");
    wastenot_experiment::resolve(&mut choice, &folder).expect("it is there");
    for (name, load) in loads() {
        let (history, _) = ran(&Machine::flat(4), &load, "global-fifo", 1);
        let question = Question { scheduler: Some(choice.clone()), ..Question::default() };
        let answer = what_if(&history, &question).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(answer.asked.scheduler, "ws");
        let makespan = answer.asked.makespan.expect("it is over");
        assert!(makespan >= known(&answer), "{name}");
    }
}
