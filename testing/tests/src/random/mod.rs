//! Random histories from a seed, to compare two implementations.
//!
//! A small machine is simulated ([`world`]) and reports what a recorder would have written:
//! everything, only what `perf sched` records, only wakings, ... Some recorders lose events, some
//! histories contradict themselves. A longer plan of the same seed begins like a shorter one, so
//! that a failing case is made small by removing steps.

mod adapt;
mod junk;
mod order;
mod renumber;
mod world;

use std::collections::BTreeSet;

use wastenot_model::{
    Builder, Carries, CpuMode, Entry, Event, Head, History, How, Machine, Sink, Start, Task,
};

use crate::Rng;

pub use adapt::{adapted, as_arrays_tell, reduced, spread, without_preemption};
pub use order::in_order;
pub use renumber::renumbered;

/// The parameters of a history. Equal plans make equal histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Determines everything except the length.
    pub seed: u64,
    /// How many steps happen; each is zero to four events.
    pub steps: usize,
    /// Stamps are multiples of this many nanoseconds: 1000 for formats that print microseconds.
    pub grain_ns: u64,
    /// What the recorder writes; if not given, the seed selects it.
    pub telling: Option<Telling>,
    /// Whether impossible rows are mixed in; if not given, the seed selects it.
    pub contradicts: Option<bool>,
}

/// What a recorder writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// Everything for which a row exists, as our own recorder does.
    Everything,
    /// The scheduling events of ftrace: no affinities, no quotas.
    Ftrace,
    /// As `perf sched record`: wakings and migrations, and wakeups only of new tasks.
    PerfSched,
    /// Wakeups alone, as in older instructions.
    Wakeups,
    /// As Perfetto's compact form: switches and wakings, no placement.
    Compact,
    /// The same from a recorder that also records affinities and quotas.
    Unplaced,
}

impl Telling {
    const ALL: [Telling; 6] = [
        Telling::Everything,
        Telling::Ftrace,
        Telling::PerfSched,
        Telling::Wakeups,
        Telling::Compact,
        Telling::Unplaced,
    ];

    /// What a source of this kind carries.
    pub fn carries(self) -> Carries {
        let always = Carries::LEFT | Carries::NAMES | Carries::PRIO | Carries::LOSSES;
        let who = Carries::WAKERS | Carries::CONTEXT;
        let life = Carries::FORKS | Carries::EXECS | Carries::EXITS | Carries::NEW;
        let ftrace = always | who | life | Carries::FREQ | Carries::HOTPLUG | Carries::PLACEMENT;
        let inner = Carries::AFFINITY | Carries::THROTTLING | Carries::POLICY;
        let moves = Carries::WAKINGS | Carries::MIGRATIONS;
        match self {
            Telling::Everything => {
                ftrace | moves | Carries::WAKEUPS | inner | Carries::NO_SELECTION
            }
            Telling::Ftrace => ftrace | moves | Carries::WAKEUPS,
            Telling::PerfSched => ftrace | moves,
            Telling::Wakeups => ftrace | Carries::WAKEUPS,
            Telling::Compact => always | who | Carries::WAKINGS,
            Telling::Unplaced => always | who | Carries::WAKINGS | inner,
        }
    }

    fn tells(self, event: &Event) -> bool {
        let carries = self.carries();
        match event {
            Event::Waking { .. } => carries.has(Carries::WAKINGS),
            Event::Queued { how: How::New, .. } => carries.has(Carries::NEW),
            Event::Queued { .. } => carries.has(Carries::WAKEUPS),
            Event::Migrate { .. } => carries.has(Carries::MIGRATIONS),
            Event::Fork { .. } => carries.has(Carries::FORKS),
            Event::Exec { .. } => carries.has(Carries::EXECS),
            Event::Exit { .. } => carries.has(Carries::EXITS),
            Event::Freq { .. } => carries.has(Carries::FREQ),
            Event::Cpu { .. } => carries.has(Carries::HOTPLUG),
            Event::Changed { .. } => carries.has(Carries::AFFINITY),
            Event::Switch { .. } | Event::Lost { .. } | Event::Decided { .. } => true,
        }
    }
}

impl Plan {
    /// About forty events; the seed determines all else.
    pub fn small(seed: u64) -> Plan {
        Plan { seed, steps: 56, grain_ns: 1, telling: None, contradicts: None }
    }

    /// The history of this plan.
    pub fn history(self) -> History {
        let mut rng = Rng::new(self.seed);
        let telling = rng.pick(&Telling::ALL);
        let contradicts = rng.one_in(4);
        let telling = self.telling.unwrap_or(telling);
        let contradicts = self.contradicts.unwrap_or(contradicts);
        let mut world = world::World::new(rng, telling, self.grain_ns.max(1));
        let start = world.start();
        for _ in 0..self.steps {
            world.step();
            if contradicts {
                junk::strew(&mut world);
            }
        }
        let mut history = build(world, start, telling);
        call_some_offline(self.seed, &mut history);
        history
    }
}

/// The smallest number of steps with which `fails` still fails; `plan` itself fails.
pub fn shrink(plan: Plan, fails: impl Fn(&History) -> bool) -> Plan {
    let shorter = (0..plan.steps).map(|steps| Plan { steps, ..plan });
    shorter.into_iter().find(|plan| fails(&plan.history())).unwrap_or(plan)
}

fn build(world: world::World, start: Option<Start>, telling: Telling) -> History {
    let mut machine = Machine::flat(world.cpus.len());
    machine.name = "random".into();
    let mut head = Head::new(machine);
    head.carries = telling.carries();
    if start.is_some() {
        head.carries |= Carries::START;
    }
    head.start = start;
    let mut sink = Builder::new(head);
    for task in &world.tasks {
        let name = sink.name(&task.name);
        sink.task(Task::new(task.tid, name));
    }
    let masks: Vec<_> = world.masks.iter().map(|mask| sink.mask(mask)).collect();
    assert!(masks.iter().enumerate().all(|(n, id)| id.0 as usize == n), "masks are distinct");
    in_order(without_last_losses(world.out)).into_iter().for_each(|entry| sink.push(entry));
    sink.finish()
}

/// Some sources contain which CPUs were offline; for some CPUs that is made false.
fn call_some_offline(seed: u64, history: &mut History) {
    let mut rng = Rng::new(seed ^ 0x0ff);
    let cpus = &mut history.head.machine.cpus;
    cpus.iter_mut().for_each(|cpu| cpu.online = !rng.one_in(10));
}

/// A recorder reports a loss with its next record: no loss is a CPU's last row.
fn without_last_losses(mut rows: Vec<Entry>) -> Vec<Entry> {
    let mut later = BTreeSet::new();
    for at in (0..rows.len()).rev() {
        let lost = matches!(rows[at].event, Event::Lost { .. });
        if lost && !later.contains(&rows[at].cpu) {
            rows.remove(at);
        } else {
            later.insert(rows[at].cpu);
        }
    }
    rows
}

/// The mode of a CPU that runs `task`, or its idle task.
fn mode(task: Option<usize>) -> CpuMode {
    task.map_or(CpuMode::Idle, |task| CpuMode::Busy(wastenot_model::TaskId::nth(task)))
}
