//! Runs that lead to a situation: from a machine on which nothing has happened yet, by events whose
//! handlers the interpreter executes. No state is set by hand.
//!
//! Every run has the same phases. Each task that has to wake up later runs once and sleeps. Every
//! CPU is given a task to run. Then the tasks that have to wait come, one after the other. At last
//! the tasks that are no part of the situation leave their CPUs. The search tries different ways in
//! which each task comes, and different states that it finds.

use std::sync::LazyLock;

use wastenot_model::nice::with_scx_weight;
use wastenot_model::{CpuId, CpuSet, Span, TaskId};
use wastenot_rota::interpret::{Forced, Placed};
use wastenot_rota::ir::{Event, visit_balance};

use crate::counterexample::situation::mask;
use crate::explore::{Asks, Place, Placed as Placement, Situation, Task, World, placed};
use crate::text::Compared;

/// The time for which every task runs.
pub(super) const RAN: Span = Span(1_000_000);
/// The times at which runs begin, if a handler reads the time, in ns.
const CLOCKS: [u64; 2] = [0, 1 << 40];
/// The weights of tasks that come to wait, if a handler reads weights. The weights of the situation
/// and those that the text compares are tried too.
const WEIGHTS: [i64; 2] = [1, 8668];
/// The numbers of other tasks that wait while a task comes, if a handler reads lengths of queues.
/// The lengths that the text compares are tried too.
const CROWDS: [usize; 4] = [0, 1, 3, 40];
/// The most weights that are tried, and the most crowds.
const EACH: (usize, usize) = (24, 12);
/// The most combinations of ways of all tasks that are tried with one setup.
const WAYS: usize = 48;

/// The state to which a run has to lead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal<'g> {
    pub(super) world: &'g World<'g>,
    pub(super) situation: &'g Situation,
    /// A task that has not come yet: the event by which it comes, and the CPU where it was last.
    pub(super) last: Option<(usize, Event, CpuId)>,
    /// Whether idle CPUs have looked for tasks and sleep. Otherwise they are about to look.
    pub(super) asleep: bool,
}

/// A run that led there.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) forced: Forced,
    /// The situation, with the values that handlers gave to variables in the run.
    pub(super) situation: Situation,
}

/// How a task comes to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    event: Event,
    prev: CpuId,
    /// The queue into which it is put first, if periodic balancing then moves it.
    from: Option<(usize, usize)>,
}

/// The conditions of a run that are varied.
#[derive(Clone, Copy, Debug)]
struct Setup {
    clock: u64,
    weight: Option<i64>,
    crowd: usize,
    /// Whether every CPU is given a task first.
    busy: bool,
    /// Whether other tasks wait only while the first task of the situation comes.
    first: bool,
}

/// All tried runs that lead to `goal`, one after the other. `tries`: how many more runs may be
/// tried.
pub(super) fn runs<'g>(goal: Goal<'g>, tries: &'g mut usize) -> impl Iterator<Item = Run> + 'g {
    let ways = Combined::of(goal);
    let all = setups(goal).flat_map(move |setup| {
        let ways = ways.clone();
        (0..ways.count()).map(move |n| (setup, ways.nth(n)))
    });
    all.map_while(move |(setup, ways)| {
        *tries = tries.checked_sub(1)?;
        Some(Lead::begin(goal, setup, ways).run())
    })
    .flatten()
}

fn setups(goal: Goal<'_>) -> impl Iterator<Item = Setup> {
    let mut asks = Asks::default();
    for handler in &goal.world.policy.handlers {
        asks = asks.and(Asks::of(handler));
    }
    for periodic in &goal.world.policy.periodic {
        visit_balance(&periodic.balance, &mut asks);
    }
    let clocks = if asks.now { CLOCKS.len() } else { 1 };
    let told = Compared::of(goal.world.policy);
    let weights = if asks.weight { weights(&told) } else { vec![None] };
    let crowds = if asks.lengths { crowds(&told) } else { vec![0] };
    let waits = |task: &&Task| matches!(task.place, Place::Waits { .. });
    let several = asks.lengths && goal.situation.tasks.iter().filter(waits).count() > 1;
    (0..clocks * weights.len() * crowds.len()).flat_map(move |n| {
        let (clock, n) = (CLOCKS[n % clocks], n / clocks);
        let (weight, crowd) = (weights[n % weights.len()], crowds[n / weights.len()]);
        let firsts = if several && crowd > 0 { &[false, true][..] } else { &[false] };
        firsts.iter().flat_map(move |&first| {
            [true, false].map(|busy| Setup { clock, weight, crowd, busy, first })
        })
    })
}

/// The weights to try for tasks that come to wait. `None`: the weight of the situation. A run has
/// only weights of nice values, so the nearest ones to each number that the text compares are
/// tried.
pub(super) fn weights(told: &Compared) -> Vec<Option<i64>> {
    static NICE: LazyLock<Vec<i64>> = LazyLock::new(|| {
        (1..=10_000).filter(|weight| with_scx_weight(*weight).is_some()).collect()
    });
    let mut all = vec![None];
    let near = told.weights.iter().flat_map(|number| {
        let more = NICE.iter().find(|weight| *weight >= number);
        let less = NICE.iter().rev().find(|weight| *weight <= number);
        more.into_iter().chain(less)
    });
    for weight in near.chain(&WEIGHTS) {
        if !all.contains(&Some(*weight)) && all.len() < EACH.0 {
            all.push(Some(*weight));
        }
    }
    all
}

/// The numbers of other waiting tasks to try: none first, then those that the text compares.
fn crowds(told: &Compared) -> Vec<usize> {
    let mut all = vec![0];
    let told = told.lengths.iter().filter_map(|length| usize::try_from(*length).ok());
    for crowd in told.chain(CROWDS) {
        if !all.contains(&crowd) && all.len() < EACH.1 {
            all.push(crowd);
        }
    }
    all
}

/// The combinations of the ways of each task.
#[derive(Clone)]
struct Combined(Vec<Vec<Way>>);

impl Combined {
    fn of(goal: Goal<'_>) -> Combined {
        let tasks = goal.situation.tasks.iter().enumerate();
        Combined(tasks.map(|(n, task)| ways(goal, n, task)).collect())
    }
    fn count(&self) -> usize {
        let each = self.0.iter().map(|ways| ways.len().max(1));
        each.fold(1, usize::saturating_mul).min(WAYS)
    }
    /// The combination `n`. `None`: the task does not come to wait.
    fn nth(&self, mut n: usize) -> Vec<Option<Way>> {
        let each = self.0.iter().map(|ways| {
            let many = ways.len().max(1);
            let way = ways.get(n % many).copied();
            n /= many;
            way
        });
        each.collect()
    }
}

/// The ways in which a task may come to where it waits.
fn ways(goal: Goal<'_>, n: usize, task: &Task) -> Vec<Way> {
    if let Some((last, event, prev)) = goal.last
        && last == n
    {
        return vec![Way { event, prev, from: None }];
    }
    let Place::Waits { queue, group } = task.place else { return Vec::new() };
    let all = placed(goal.world, task.mask);
    let mut ways = Vec::new();
    for moved in [false, true] {
        let leads = |it: &&Placement| ((it.queue, it.group) != (queue, group)) == moved;
        let found = all.iter().filter(leads);
        for it in found {
            let from = moved.then_some((it.queue, it.group));
            let way = Way { event: it.event, prev: it.prev, from };
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        if goal.world.policy.periodic.is_empty() {
            break;
        }
    }
    ways
}

/// A run that is being made.
struct Lead<'g> {
    goal: Goal<'g>,
    setup: Setup,
    ways: Vec<Option<Way>>,
    forced: Forced,
}

impl<'g> Lead<'g> {
    fn begin(goal: Goal<'g>, setup: Setup, ways: Vec<Option<Way>>) -> Lead<'g> {
        let (tasks, cpus) = (&goal.situation.tasks, goal.world.cpus());
        let all: CpuSet = cpus.iter().copied().collect();
        let weight = |task: &Task| match task.place {
            Place::Waits { .. } => setup.weight.unwrap_or(task.weight),
            _ => task.weight,
        };
        let others = cpus.len() + setup.crowd;
        let natures = tasks.iter().map(|task| with_scx_weight(weight(task)).unwrap_or(0));
        let natures: Vec<(CpuSet, i8)> =
            natures.chain((0..others).map(|_| 0)).map(|nice| (all.clone(), nice)).collect();
        let policy = goal.world.policy.clone();
        let mut forced = Forced::new(policy, goal.world.small.machine.clone(), &natures);
        forced.passes(Span(setup.clock));
        Lead { goal, setup, ways, forced }
    }

    fn run(mut self) -> Option<Run> {
        self.histories()?;
        self.fills()?;
        self.puts()?;
        self.moves()?;
        self.rests()?;
        self.arrived()
    }

    fn task(&self, n: usize) -> &'g Task {
        &self.goal.situation.tasks[n]
    }

    /// A task that is no part of the situation. The first ones keep CPUs busy; the rest are the
    /// crowd.
    fn other(&self, n: usize) -> TaskId {
        TaskId::nth(self.goal.situation.tasks.len() + n)
    }

    fn confines(&mut self, n: usize) {
        let cpus = mask(self.task(n).mask);
        self.forced.confine(TaskId::nth(n), cpus);
    }

    /// Each task that wakes up later runs once on the CPU where it was last, and sleeps.
    fn histories(&mut self) -> Option<()> {
        for n in 0..self.ways.len() {
            let Some(Way { event: Event::Wake, prev, .. }) = self.ways[n] else { continue };
            self.occupies(TaskId::nth(n), prev)?;
            self.forced.stops(prev, Event::Block, RAN)?;
            self.confines(n);
            if self.forced.dispatches(prev).is_some() {
                return None;
            }
        }
        Some(())
    }

    /// A new task comes and runs on a CPU. It may run only there, or on every CPU.
    fn occupies(&mut self, task: TaskId, cpu: CpuId) -> Option<()> {
        let before = self.forced.clone();
        let all = self.goal.world.cpus().iter().copied().collect();
        for cpus in [[cpu].into_iter().collect(), all] {
            self.forced.confine(task, cpus);
            self.forced.comes(Event::New, task, cpu);
            if self.forced.dispatches(cpu) == Some(task) {
                return Some(());
            }
            self.forced = before.clone();
        }
        None
    }

    /// Every CPU runs a task: the task that is displaced there, the task that runs there in the
    /// situation, or any other task.
    fn fills(&mut self) -> Option<()> {
        for (index, &cpu) in self.goal.world.cpus().iter().enumerate() {
            let displaced = |way: &Option<Way>| {
                let how = way.filter(|way| way.prev == cpu);
                how.is_some_and(|way| matches!(way.event, Event::Preempt | Event::Yield))
            };
            let displaced = self.ways.iter().position(displaced);
            let tasks = self.goal.situation.tasks.iter();
            let runs = tasks.clone().position(|task| task.place == Place::Runs(cpu));
            match displaced.or(runs) {
                Some(n) => {
                    self.occupies(TaskId::nth(n), cpu)?;
                    self.confines(n);
                }
                None if self.setup.busy => _ = self.occupies(self.other(index), cpu),
                None => {}
            }
        }
        Some(())
    }

    /// The tasks that have to wait come.
    fn puts(&mut self) -> Option<()> {
        for n in 0..self.ways.len() {
            let Some(way) = self.ways[n].filter(|_| self.waits(n)) else { continue };
            if way.from.is_none() {
                self.crowds(n, way);
            }
            let task = TaskId::nth(n);
            let placed = match way.event {
                Event::New | Event::Wake => {
                    self.confines(n);
                    self.forced.comes(way.event, task, way.prev)
                }
                event => {
                    let stopped = self.forced.stops(way.prev, event, RAN)?;
                    if stopped != task {
                        return None;
                    }
                    self.forced.comes(event, task, way.prev)
                }
            };
            let Place::Waits { queue, group } = self.task(n).place else { return None };
            let at = way.from.unwrap_or((queue, group));
            if !matches!(placed, Placed::Waits(put, _) if put == at) {
                return None;
            }
            // A task that is moved leaves first, from a queue in which other tasks wait.
            match way.from {
                Some(_) => self.crowds(n, way),
                None => self.disperses(),
            }
        }
        Some(())
    }

    /// Other tasks come the same way.
    fn crowds(&mut self, n: usize, way: Way) {
        if self.setup.first && n > 0 {
            return;
        }
        for task in self.crowd() {
            self.forced.confine(task, mask(self.task(n).mask));
            self.forced.comes(Event::New, task, way.prev);
        }
    }

    /// The other tasks go to another scheduling class.
    fn disperses(&mut self) {
        self.crowd().into_iter().for_each(|task| self.forced.leaves(task));
    }

    fn crowd(&self) -> Vec<TaskId> {
        let first = self.goal.world.cpus().len();
        (0..self.setup.crowd).map(|k| self.other(first + k)).collect()
    }

    /// Whether a task waits in the situation, and has come.
    fn waits(&self, n: usize) -> bool {
        let later = self.goal.last.is_some_and(|(last, ..)| last == n);
        matches!(self.task(n).place, Place::Waits { .. }) && !later
    }

    /// Periodic balancing moves the tasks that wait elsewhere.
    fn moves(&mut self) -> Option<()> {
        for n in 0..self.ways.len() {
            let Some(from) = self.ways[n].and_then(|way| way.from) else { continue };
            let Place::Waits { queue, group } = self.task(n).place else { return None };
            let cpus = self.goal.world.cpus().iter();
            let moved = cpus.copied().any(|cpu| {
                let moved = self.forced.pulls(cpu, from, (queue, group));
                moved == Some(TaskId::nth(n))
            });
            if !moved {
                return None;
            }
        }
        self.disperses();
        Some(())
    }

    /// Tasks that are no part of the situation leave their CPUs.
    fn rests(&mut self) -> Option<()> {
        let idle = |cpu: &CpuId| self.goal.situation.is_idle(*cpu);
        let cpus: Vec<CpuId> = self.goal.world.cpus().iter().copied().filter(idle).collect();
        for &cpu in &cpus {
            let task = self.forced.current(cpu);
            if task.is_some_and(|task| task.ordinal() >= self.goal.situation.tasks.len()) {
                self.forced.stops(cpu, Event::Block, RAN)?;
            }
        }
        let looks = cpus.into_iter().filter(|_| self.goal.asleep);
        for cpu in looks {
            if self.forced.current(cpu).is_none() && self.forced.dispatches(cpu).is_some() {
                return None;
            }
        }
        self.forced.kicks();
        Some(())
    }

    /// The run, if every task is where the situation has it.
    fn arrived(self) -> Option<Run> {
        let Goal { world, situation, last, .. } = self.goal;
        let tasks = situation.tasks.len();
        let comes = |n: usize| last.is_some_and(|(last, ..)| last == n);
        let about = |n: usize| {
            let (task, at) = (TaskId::nth(n), self.forced.queue(TaskId::nth(n)));
            let runs = world.cpus().iter().find(|&&cpu| self.forced.current(cpu) == Some(task));
            match situation.tasks.get(n).map(|task| task.place) {
                Some(_) if comes(n) => at.is_none(),
                Some(Place::Waits { queue, group }) => at == Some((queue, group)),
                Some(Place::Runs(cpu)) => runs == Some(&cpu),
                Some(Place::Away) | None => at.is_none() && runs.is_none(),
            }
        };
        let given = world.cpus().iter().any(|&cpu| self.forced.given_to(cpu).is_some());
        let others = world.cpus().len() + self.setup.crowd;
        if given || !(0..tasks + others).all(about) {
            return None;
        }
        let mut situation = situation.clone();
        for (n, task) in situation.tasks.iter_mut().enumerate() {
            if matches!(task.place, Place::Waits { .. }) || comes(n) {
                task.weight = self.setup.weight.unwrap_or(task.weight);
            }
        }
        let kept = |&cpu: &CpuId| self.forced.kept(cpu).to_vec();
        situation.vars = world.cpus().iter().map(kept).collect();
        Some(Run { forced: self.forced, situation })
    }
}
