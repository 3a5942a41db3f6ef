//! Invariants of every policy under random conditions: random programs, late interrupts, decisions
//! that take time, CPUs that go offline, affinities that change.

use wastenot_model::machine::Costs;
use wastenot_model::workload::{
    Group, GroupId, Hotplug, Program, Random, Step, Template, Variate, Waiting,
};
use wastenot_model::{CpuId, CpuSet, History, Machine, Policy, Span, Time, Workload};
use wastenot_sim::{
    Direct, End, Kernel, LockId, Mechanism, Options, Spin, Trigger, checkers, simulate,
    simulate_mechanism,
};

use super::{interpreter, policies, policy};

const END: Step = Step::End { of: 0 };

/// A random workload on `cpus` CPUs, all of which except CPU 0 may go offline for a while.
fn anything(random: &mut Random, cpus: usize, hotplug: bool) -> Workload {
    let mut load = Workload::new();
    for name in ["web/1", "batch"] {
        load.groups.push(Group { name: name.into(), parent: Some(GroupId(0)), ..Group::root() });
    }
    let lock = load.lock("lock", Waiting::Block);
    let spin = load.lock("spin", Waiting::SpinThenBlock(Span::us(200)));
    let some = |random: &mut Random| -> CpuSet {
        let some = (0..cpus as u16).filter(|_| random.below(2) == 0).map(CpuId);
        some.chain([CpuId(0)]).collect()
    };
    let masks: Vec<_> = (0..3).map(|_| load.affinity(some(random))).collect();
    let us = |mean| Step::Compute(Variate::Exponential { mean: Span::us(mean) });
    let child = load.template(Template::new("child", Program::new(vec![us(500)]).expect("one")));
    for n in 0..2 + random.below(12) {
        let other = match random.below(6) {
            0 => vec![Step::Lock(lock), us(300), Step::Unlock(lock)],
            1 => vec![Step::Lock(spin), us(100), Step::Unlock(spin)],
            2 => vec![Step::Yield, Step::Nice(random.below(40) as i8 - 20)],
            3 => vec![Step::Affinity(masks[random.below(3) as usize])],
            4 => vec![Step::Fork(child), Step::WaitAll],
            _ => vec![Step::Exec],
        };
        let sleep = Step::Sleep(Variate::Exponential { mean: Span::us(700) });
        let turns = Some(10 + random.below(60) as u32);
        let steps = [vec![Step::Loop(turns), us(1500)], other, vec![sleep, END]].concat();
        let template = Template {
            nice: random.below(40) as i8 - 20,
            group: GroupId(random.below(3) as u32),
            affinity: (n % 3 == 0).then(|| some(random)),
            job: (n % 2 == 0).then(|| 1 + n as u32 % 3),
            ..Template::new("t", Program::new(steps).expect("a program"))
        };
        let template = load.template(template);
        (0..1 + random.below(2)).for_each(|_| {
            load.launch(template, CpuId(random.below(cpus as u64) as u16));
        });
    }
    for at in (1..6).filter(|_| hotplug) {
        let cpu = CpuId(1 + random.below(cpus as u64 - 1) as u16);
        let time = |at: u64| Time(at * 20_000_000);
        load.hotplug.push(Hotplug { at: time(at), cpu, up: false });
        load.hotplug.push(Hotplug { at: Time(time(at).0 + 11_000_000), cpu, up: true });
    }
    load
}

/// Flat, or with cores of two CPUs and caches of four.
fn machine(cpus: usize, cores: bool) -> Machine {
    let mut machine = Machine::flat(cpus);
    for (n, cpu) in machine.cpus.iter_mut().enumerate().filter(|_| cores) {
        let n = n as u32;
        (cpu.core, cpu.llc, cpu.node) = (Some(n / 2), Some(n / 4), Some(n / 4));
    }
    machine
}

/// Every decision is taken under one lock, and takes a while.
struct Slow(Direct<Box<dyn Policy>>, LockId);

impl Mechanism for Slow {
    fn name(&self) -> String {
        "slow".into()
    }
    fn init(&mut self, kernel: &mut Kernel) {
        self.1 = kernel.hardware.lock(Spin::Own);
        self.0.init(kernel);
    }
    fn step(
        &mut self,
        kernel: &mut Kernel,
        cpu: CpuId,
        trigger: Trigger,
        turn: u32,
    ) -> wastenot_sim::Step {
        match turn {
            0 => wastenot_sim::Step::Lock(self.1),
            1 => wastenot_sim::Step::Work(Span::us(2)),
            2 => {
                self.0.step(kernel, cpu, trigger, 0);
                wastenot_sim::Step::Unlock(self.1)
            }
            _ => wastenot_sim::Step::Done,
        }
    }
}

/// Runs `text` on the machine and workload of `seed`.
#[track_caller]
fn run(name: &str, text: &str, seed: u64, slow: bool) -> History {
    let mut random = Random::stream(seed, 9, 9);
    let cpus = 2 + random.below(7) as usize;
    let load = anything(&mut random, cpus, seed.is_multiple_of(3));
    let ipi = if seed % 5 < 2 { Span::us(3) } else { Span::ZERO };
    let costs = Costs { ipi, ..Costs::default() };
    let limit = Time(60_000_000_000);
    let options = Options { seed, limit, notes: true, ..Options::default() };
    let machine = machine(cpus, seed.is_multiple_of(2));
    let policy: Box<dyn Policy> = Box::new(interpreter(text));
    let (history, outcome) = match slow {
        true => {
            let slow = Slow(Direct(policy), LockId(0));
            simulate_mechanism(&machine, &costs, &load, slow, &options)
        }
        false => simulate(&machine, &costs, &load, policy, &options),
    };
    assert_eq!(outcome.end, End::Done, "{name} seed {seed}");
    assert_eq!(checkers::wrong(&history), Vec::<String>::new(), "{name} seed {seed}");
    history
}

#[test]
fn no_policy_loses_a_task_or_does_what_none_may() {
    for (name, text) in &policies() {
        for seed in 0..40 {
            let history = run(name, text, seed, seed % 4 == 1);
            let charged = wastenot_chance::attempts(&history).expect("it tells its steps");
            assert_eq!(charged.wrong, Vec::<String>::new(), "{name} seed {seed}");
        }
    }
}

#[test]
fn policies_that_conserve_work_waste_none_when_kicks_come_at_once() {
    for name in ["work-stealing", "fair-vtime"] {
        let text = policy(name);
        for seed in (0..60).filter(|seed| seed % 5 >= 2) {
            let history = run(name, &text, seed, false);
            let found = wastenot_check::check(&history, &wastenot_check::Options::default());
            assert_eq!(found.waste.cpu_ns, 0, "{name} seed {seed}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_history() {
    for (name, text) in policies() {
        let digests = [0, 1].map(|_| run(&name, &text, 6, false).digest());
        assert_eq!(digests[0], digests[1], "{name}");
    }
}
