//! A policy may state that CPU numbers mean nothing to it: then with CPUs renumbered every task has
//! the same history at the same times, only on other CPUs.

use wastenot_model::machine::Costs;
use wastenot_model::workload::{Random, Template};
use wastenot_model::{CpuId, CpuSet, Event, Machine, Policy, Span, Time, Workload};
use wastenot_sim::{End, Options, SCHEDULERS, checkers, simulate};

use crate::made::{Shared, about, compute, last, launch, plug, policy, template};

/// When the first task is launched; until then CPUs go off.
const FIRST: Time = Time(3_000);

/// New numbers of CPUs.
struct Numbers(Vec<u16>);

impl Numbers {
    fn drawn(random: &mut Random, cpus: usize) -> Numbers {
        let mut numbers: Vec<u16> = (0..cpus as u16).collect();
        for n in (1..cpus).rev() {
            numbers.swap(n, random.below(n as u64 + 1) as usize);
        }
        Numbers(numbers)
    }
    fn cpu(&self, cpu: CpuId) -> CpuId {
        CpuId(self.0[cpu.index()])
    }
    fn cpus(&self, cpus: &CpuSet) -> CpuSet {
        cpus.iter().map(|cpu| self.cpu(cpu)).collect()
    }
    fn machine(&self, machine: &Machine) -> Machine {
        let mut renumbered = machine.clone();
        for (n, cpu) in machine.cpus.iter().enumerate() {
            renumbered.cpus[self.0[n] as usize] = *cpu;
        }
        renumbered
    }
    fn workload(&self, load: &Workload) -> Workload {
        let mut load = load.clone();
        load.affinities.iter_mut().for_each(|cpus| *cpus = self.cpus(cpus));
        load.launches.iter_mut().for_each(|launch| launch.from = self.cpu(launch.from));
        load.hotplug.iter_mut().for_each(|plug| plug.cpu = self.cpu(plug.cpu));
        for template in &mut load.templates {
            template.affinity = template.affinity.as_ref().map(|cpus| self.cpus(cpus));
        }
        load
    }
}

/// Sets that partition the CPUs; now and then one set of all.
fn parted(random: &mut Random, cpus: usize) -> Vec<CpuSet> {
    let mut sets = vec![CpuSet::new(); 1 + random.below(3) as usize];
    for cpu in 0..cpus {
        let set = random.below(sets.len() as u64) as usize;
        sets[set].insert(CpuId(cpu as u16));
    }
    sets.retain(|set| !set.is_empty());
    sets
}

/// Tasks that compute, sleep, lock, fork, yield and change from set to set, a little each.
fn anything(random: &mut Random, cpus: usize) -> Workload {
    let mut load = Workload::new();
    let shared = Shared::of(&mut load);
    let sets = parted(random, cpus);
    let masks: Vec<_> = sets.iter().map(|set| load.affinity(set.clone())).collect();
    let any = |random: &mut Random| random.below(sets.len() as u64) as usize;
    for n in 0..2 + random.below(3 * cpus as u64) {
        let set = any(random);
        let affinity = Some(sets[set].clone());
        let child = Template { affinity: affinity.clone(), ..template("child", &[about(500)]) };
        let child = load.template(child);
        let template = shared.task(random, (n, 20), &masks, child);
        let template = Template { affinity, ..template };
        let template = load.template(template);
        load.launch(template, CpuId(random.below(cpus as u64) as u16));
        let at = if random.below(2) == 0 { 0 } else { random.below(20_000_000) };
        load.launches.last_mut().expect("one").at = Time(FIRST.0 + at);
    }
    let affinity = Some(sets[any(random)].clone());
    launch(&mut load, 1, Template { affinity, ..last() });
    load.launches.last_mut().expect("one").at = FIRST;
    load.launches.sort_by_key(|launch| launch.at);
    // CPUs that no task has used are interchangeable; one of each set stays.
    for set in &sets {
        for cpu in set.iter().skip(1).filter(|_| random.below(4) == 0).collect::<Vec<_>>() {
            load.hotplug.push(plug(Time(1_000), cpu, false));
            load.hotplug.push(plug(Time(10_000_000 + random.below(10_000_000)), cpu, true));
        }
    }
    load.hotplug.sort_by_key(|plug| plug.at);
    load
}

/// What must not change.
#[derive(Debug, PartialEq)]
struct Figures {
    ended: Vec<Option<Time>>,
    /// By task: its CPU time, and how often it was switched in.
    had: Vec<(Span, u64)>,
    switches: u64,
    waste: u64,
}

fn figures(machine: &Machine, load: &Workload, policy: impl Policy, seed: u64) -> Figures {
    let costs = Costs { switch: Span::us(seed % 3), ..Costs::default() };
    let options = Options { seed, limit: Time(60_000_000_000), ..Options::default() };
    let (history, outcome) = simulate(machine, &costs, load, policy, &options);
    assert_eq!(outcome.end, End::Done);
    assert_eq!(checkers::wrong(&history), Vec::<String>::new());
    let mut had = vec![(Span::ZERO, 0); history.task_count()];
    let mut switches = 0;
    let mut since = vec![Time(0); machine.len()];
    for entry in history.entries() {
        let Event::Switch { cpu, prev, next, .. } = entry.event else { continue };
        switches += 1;
        if let Some(prev) = prev.index() {
            had[prev].0 += entry.time - since[cpu.index()];
        }
        if let Some(next) = next.index() {
            had[next].1 += 1;
        }
        since[cpu.index()] = entry.time;
    }
    let options = wastenot_check::Options::default();
    let waste = wastenot_check::check(&history, &options).waste.cpu_ns;
    Figures { ended: outcome.ended, had, switches, waste }
}

/// CPUs without siblings and with equal speed, in nodes or not.
fn machine(random: &mut Random, cpus: usize) -> Machine {
    let mut machine = Machine::flat(cpus);
    if random.below(2) == 0 {
        for (n, cpu) in machine.cpus.iter_mut().enumerate() {
            let node = Some(random.below(3) as u32);
            (cpu.core, cpu.llc, cpu.node) = (Some(n as u32), node, node);
        }
    }
    machine
}

#[test]
fn renumbered_cpus_change_no_figure_of_a_symmetric_policy() {
    let symmetric = SCHEDULERS.iter().filter(|kind| policy(kind.name).symmetric());
    let symmetric: Vec<&str> = symmetric.map(|kind| kind.name).collect();
    assert_eq!(symmetric, ["pinned", "global-fifo", "work-conserving"]);
    for name in symmetric {
        for seed in 0..60 {
            let mut random = Random::stream(seed, 8, 8);
            let cpus = 1 + random.below(12) as usize;
            let (machine, load) = (machine(&mut random, cpus), anything(&mut random, cpus));
            let numbers = Numbers::drawn(&mut random, cpus);
            let before = figures(&machine, &load, policy(name), seed);
            let (machine, load) = (numbers.machine(&machine), numbers.workload(&load));
            let after = figures(&machine, &load, policy(name), seed);
            assert!(name == "pinned" || before.waste == 0, "{name} seed {seed} is no yardstick");
            let differ = before.ended.iter().zip(&after.ended).position(|(a, b)| a != b);
            let what = format!("{name} seed {seed}: {:?}, task {differ:?}", numbers.0);
            assert_eq!((before.switches, before.waste), (after.switches, after.waste), "{what}");
            assert!(before == after, "{what}");
        }
    }
}

/// The first task may use both CPUs; the second, which comes later, only this one.
fn one_is_bound(to: u16) -> Workload {
    let mut load = Workload::new();
    let work = [compute(Span::ms(5))];
    let affinity = Some(CpuSet::from_iter([CpuId(to)]));
    launch(&mut load, 1, template("free", &work));
    launch(&mut load, 1, Template { affinity, ..template("bound", &work) });
    load
}

#[test]
fn cpus_that_a_later_affinity_tells_apart_are_not_alike() {
    let ended = |to| figures(&Machine::flat(2), &one_is_bound(to), policy("global-fifo"), 0).ended;
    let (together, apart) = (Some(Time(10_000_000)), Some(Time(5_000_000)));
    assert_eq!((ended(0)[1], ended(1)[1]), (together, apart));
}
