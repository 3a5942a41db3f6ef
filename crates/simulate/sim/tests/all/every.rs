//! What must hold for every scheduler in all conditions: random programs, late interrupts, CPUs
//! that go off, affinities that change.

use wastenot_model::machine::Costs;
use wastenot_model::workload::{Random, Step, Template, Variate};
use wastenot_model::{CpuId, CpuSet, History, Machine, Span, Time, Workload};
use wastenot_sim::{
    Direct, End, Options, Outcome, SCHEDULERS, checkers, simulate, simulate_mechanism,
};

use crate::made::{END, Shared, about, compute, last, launch, plug, policy, run, sleep, template};
use crate::mechanisms::OneLock;

/// A workload with every kind of step, on `cpus` CPUs, of which all but CPU 0 may go off for a
/// while.
pub(crate) fn anything(random: &mut Random, cpus: usize, hotplug: bool) -> Workload {
    let mut load = Workload::new();
    let shared = Shared::of(&mut load);
    let masks = [(); 3].map(|()| {
        let some = (0..cpus as u16).filter(|_| random.below(2) == 0).map(CpuId);
        load.affinity(some.chain([CpuId(0)]).collect())
    });
    let child = load.template(template("child", &[about(500)]));
    let mut tasks: Vec<Template> = (0..2 + random.below(8))
        .map(|n| {
            let job = (random.below(3) == 0).then_some(1);
            Template { job, ..shared.task(random, (n, 40), &masks, child) }
        })
        .collect();
    tasks.push(last());
    for template in tasks {
        let template = load.template(template);
        load.launch(template, CpuId(random.below(cpus as u64) as u16));
    }
    for at in (1..6).filter(|_| hotplug) {
        let cpu = CpuId(1 + random.below(cpus as u64 - 1) as u16);
        load.hotplug.push(plug(Time(at * 20_000_000), cpu, false));
        load.hotplug.push(plug(Time(at * 20_000_000 + 11_000_000), cpu, true));
    }
    load
}

/// A flat machine, or one with cores of two CPUs.
fn machine(cpus: usize, cores: bool) -> Machine {
    let mut machine = Machine::flat(cpus);
    for (cpu, it) in machine.cpus.iter_mut().enumerate().filter(|_| cores) {
        it.core = Some(cpu as u32 / 2);
    }
    machine
}

#[track_caller]
fn assert_ends_well((history, outcome): &(History, Outcome), which: &str) {
    assert_eq!(outcome.end, End::Done, "{which}");
    assert_eq!(checkers::wrong(history), Vec::<String>::new(), "{which}");
}

#[test]
fn no_scheduler_does_what_none_may() {
    for kind in SCHEDULERS {
        for seed in 0..30 {
            let mut random = Random::stream(seed, 9, 9);
            let cpus = 2 + random.below(7) as usize;
            let load = anything(&mut random, cpus, seed % 3 == 0);
            let ipi = if seed % 5 < 2 { Span::us(3) } else { Span::ZERO };
            let costs = Costs { ipi, switch: Span::us(1), ..Costs::default() };
            let options = Options { seed, limit: Time(60_000_000_000), ..Options::default() };
            let policy = policy(kind.name);
            let machine = machine(cpus, seed % 2 == 0);
            let run = simulate(&machine, &costs, &load, policy, &options);
            assert_ends_well(&run, &format!("{} seed {seed}", kind.name));
        }
    }
}

#[test]
fn no_scheduler_needs_decisions_to_take_no_time() {
    for kind in SCHEDULERS {
        for seed in 0..40 {
            let mut random = Random::stream(seed, 9, 9);
            let cpus = 2 + random.below(7) as usize;
            let load = anything(&mut random, cpus, seed % 2 == 0);
            let options = Options { seed, limit: Time(60_000_000_000), ..Options::default() };
            let inner = Direct(policy(kind.name));
            let (machine, mechanism) =
                (machine(cpus, seed % 4 < 2), OneLock::new(inner, Span::us(2)));
            let costs = Costs::default();
            let run = simulate_mechanism(&machine, &costs, &load, mechanism, &options);
            assert_ends_well(&run, &format!("{} seed {seed}", kind.name));
        }
    }
}

/// CPUs go off and come back while the scheduler still decides where the tasks of others go.
#[test]
fn cpus_may_go_off_faster_than_decisions_are_taken() {
    for kind in SCHEDULERS {
        for seed in 0..20 {
            let mut random = Random::stream(seed, 9, 9);
            let cpus = 2 + random.below(7) as usize;
            let mut load = anything(&mut random, cpus, false);
            let any = |random: &mut Random| CpuId(random.below(cpus as u64) as u16);
            let plug = |n: u64, random: &mut Random| {
                plug(Time(5_000_000 + n * 40_000), any(random), random.below(2) == 0)
            };
            load.hotplug = (0..100).map(|n| plug(n, &mut random)).collect();
            let ipi = if seed % 2 == 0 { Span::us(30) } else { Span::ZERO };
            let costs = Costs { ipi, ..Costs::default() };
            let options = Options { seed, limit: Time(60_000_000_000), ..Options::default() };
            let inner = Direct(policy(kind.name));
            let lock = OneLock::new(inner, Span::us(50));
            let run = simulate_mechanism(&Machine::flat(cpus), &costs, &load, lock, &options);
            assert_ends_well(&run, &format!("{} seed {seed}", kind.name));
        }
    }
}

#[test]
fn who_lets_no_cpu_idle_does_not_when_cpus_go_off_either() {
    for name in ["global-fifo", "work-conserving"] {
        for seed in 0..60 {
            let mut random = Random::stream(seed, 9, 9);
            let cpus = 2 + random.below(7) as usize;
            let load = anything(&mut random, cpus, true);
            let options = Options { seed, ..Options::default() };
            let policy = policy(name);
            let run = simulate(&Machine::flat(cpus), &Costs::default(), &load, policy, &options);
            assert_ends_well(&run, &format!("{name} seed {seed}"));
            let found = wastenot_check::check(&run.0, &wastenot_check::Options::default());
            assert_eq!(found.waste.cpu_ns, 0, "{name} seed {seed}");
        }
    }
}

#[test]
fn one_cpu_is_enough_and_a_thousand_are_not_too_many() {
    for kind in SCHEDULERS {
        for cpus in [1, 1024] {
            let mut load = Workload::new();
            for nice in [-20, 0, 19] {
                let nap = Step::Sleep(Variate::Exponential { mean: Span::us(500) });
                let steps = [Step::Loop(Some(3)), compute(Span::us(700)), nap, END];
                let template = load.template(Template { nice, ..template("t", &steps) });
                (0..cpus.max(2)).for_each(|n| load.launch(template, CpuId((n % cpus) as u16)));
            }
            let run = run(&Machine::flat(cpus), &Costs::default(), kind.name, &load);
            assert_ends_well(&run, &format!("{} on {cpus} CPUs", kind.name));
        }
    }
}

#[test]
fn who_is_bound_to_a_cpu_that_goes_off_may_run_elsewhere() {
    for kind in SCHEDULERS {
        let mut load = Workload::new();
        let steps = [Step::Loop(Some(30)), compute(Span::ms(1)), sleep(Span::us(100)), END];
        let affinity = Some(CpuSet::from_iter([CpuId(1)]));
        launch(&mut load, 4, Template { affinity, ..template("bound", &steps) });
        load.hotplug.push(plug(Time(10_300_000), CpuId(1), false));
        let run = run(&Machine::flat(2), &Costs::default(), kind.name, &load);
        assert_ends_well(&run, kind.name);
    }
}
