//! Situations of a policy on one machine, numbered, and what is found in each: worked out once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use wastenot_model::CpuId;
use wastenot_prove::explore::{Place, Situation, Task, World};
use wastenot_rota::eval::{At, Frame};
use wastenot_rota::ir::{Balance, Level, Num, Periodic};

/// So many CPUs a machine has at most.
pub(super) const CPUS: usize = 4;

/// The number of a situation.
pub(super) type Scene = u32;

/// CPUs, one bit each.
pub(super) type Cpus = u8;

/// The situations that were met.
pub(super) struct Scenes<'w, 'p> {
    pub(super) world: &'w World<'p>,
    /// Tasks that are alike may change their numbers from one situation to the next: then there are
    /// fewer.
    nameless: bool,
    remembered: Vec<Num>,
    known: RefCell<Known>,
}

#[derive(Default)]
struct Known {
    numbers: HashMap<Rc<Situation>, Scene>,
    all: Vec<Plain>,
    leaving: HashMap<(Scene, u8, u8, u8), Rc<[Left]>>,
    moves: HashMap<Scene, Rc<[Left]>>,
    read: HashMap<(Scene, u8, u8), Option<u16>>,
    seen: Vec<Vec<i64>>,
}

/// A situation, and what is asked of it most.
struct Plain {
    situation: Rc<Situation>,
    idle: Cpus,
    wanted: Cpus,
}

/// A task that leaves a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    /// Its number.
    pub(super) task: usize,
    /// Who may run it.
    pub(super) allowed: Cpus,
    /// How things are then.
    pub(super) after: Scene,
    /// The queue that it comes into, and whose, if it is moved.
    pub(super) into: (usize, usize),
}

impl<'w, 'p> Scenes<'w, 'p> {
    pub(super) fn new(world: &'w World<'p>, nameless: bool) -> Scenes<'w, 'p> {
        let remembered = world.policy.idle.as_ref().map(Balance::remembered).unwrap_or_default();
        let known = RefCell::new(Known { seen: vec![Vec::new()], ..Known::default() });
        Scenes { world, nameless, remembered, known }
    }

    pub(super) fn number(&self, mut situation: Situation) -> Scene {
        if self.nameless {
            situation.tasks.sort();
        }
        let known = &mut *self.known.borrow_mut();
        if let Some(number) = known.numbers.get(&situation) {
            return *number;
        }
        let number = known.all.len() as Scene;
        let cpus = self.world.cpus().iter().copied();
        let set = |of: &dyn Fn(CpuId) -> bool| cpus.clone().filter(|&cpu| of(cpu)).fold(0, with);
        let idle = set(&|cpu| situation.is_idle(cpu));
        let wanted = set(&|cpu| situation.wanted_by(cpu).is_some());
        let situation = Rc::new(situation);
        known.numbers.insert(situation.clone(), number);
        known.all.push(Plain { situation, idle, wanted });
        number
    }

    pub(super) fn situation(&self, scene: Scene) -> Rc<Situation> {
        self.known.borrow().all[scene as usize].situation.clone()
    }

    /// The CPUs that run no task.
    pub(super) fn idle(&self, scene: Scene) -> Cpus {
        self.known.borrow().all[scene as usize].idle
    }

    /// For whom some queue holds a task.
    pub(super) fn wanted(&self, scene: Scene) -> Cpus {
        self.known.borrow().all[scene as usize].wanted
    }

    /// Whether a CPU is idle and a task waits that it may run.
    pub(super) fn violated(&self, scene: Scene) -> bool {
        self.idle(scene) & self.wanted(scene) != 0
    }

    /// Whether a task runs where it may not.
    pub(super) fn trespassed(&self, scene: Scene) -> bool {
        let runs_wrongly = |task: &Task| match task.place {
            Place::Runs(cpu) => !task.allowed(cpu),
            Place::Waits { .. } | Place::Away => false,
        };
        self.world.policy.protocol.unchecked && self.situation(scene).tasks.iter().any(runs_wrongly)
    }

    /// The tasks of a queue that may run on a CPU, any of which may be the first one, and what it
    /// is like once the CPU has taken it.
    pub(super) fn takes(&self, scene: Scene, cpu: usize, queue: usize, group: usize) -> Rc<[Left]> {
        let key = (scene, cpu as u8, queue as u8, group as u8);
        if let Some(found) = self.known.borrow().leaving.get(&key) {
            return found.clone();
        }
        let situation = self.situation(scene);
        let cpu = CpuId(cpu as u16);
        let able = |task: &usize| situation.tasks[*task].allowed(cpu);
        let waiting = situation.waiting(queue, group).filter(able);
        let runs = Place::Runs(cpu);
        let all: Rc<[Left]> =
            waiting.map(|task| self.left(&situation, task, runs, (queue, group))).collect();
        self.known.borrow_mut().leaving.insert(key, all.clone());
        all
    }

    /// The tasks that an unchecked steal may take.
    pub(super) fn grabs(&self, scene: Scene, cpu: usize, queue: usize, group: usize) -> Vec<Left> {
        let (situation, runs) = (self.situation(scene), Place::Runs(CpuId(cpu as u16)));
        let waiting = situation.waiting(queue, group);
        waiting.map(|task| self.left(&situation, task, runs, (queue, group))).collect()
    }

    fn left(&self, before: &Situation, task: usize, to: Place, into: (usize, usize)) -> Left {
        let mut after = before.clone();
        after.tasks[task].place = to;
        Left { task, allowed: before.tasks[task].mask as Cpus, after: self.number(after), into }
    }

    /// What a CPU reads of a candidate of its balance: nothing if it does not pass the filter, else
    /// the number of what the re-check remembers.
    pub(super) fn reads(&self, scene: Scene, cpu: usize, group: usize) -> Option<u16> {
        let key = (scene, cpu as u8, group as u8);
        if let Some(read) = self.known.borrow().read.get(&key) {
            return *read;
        }
        let balance = self.world.policy.idle.as_ref()?;
        let situation = self.situation(scene);
        let look = self.world.look(&situation, None);
        let mut frame = self.frame(balance, cpu, group);
        let passed = frame.bool(&look, &self.world.per, &balance.filter);
        let read = passed.then(|| {
            let numbers = self.remembered.iter();
            self.remember(numbers.map(|num| frame.num(&look, &self.world.per, num)).collect())
        });
        self.known.borrow_mut().read.insert(key, read);
        read
    }

    fn remember(&self, numbers: Vec<i64>) -> u16 {
        let seen = &mut self.known.borrow_mut().seen;
        let known = seen.iter().position(|known| *known == numbers);
        known.unwrap_or_else(|| {
            seen.push(numbers);
            seen.len() - 1
        }) as u16
    }

    /// Whether the re-check lets a task go.
    pub(super) fn lets_go(
        &self,
        scene: Scene,
        (cpu, group): (usize, usize),
        task: usize,
        seen: u16,
    ) -> bool {
        let Some(balance) = &self.world.policy.idle else { return false };
        let situation = self.situation(scene);
        let look = self.world.look(&situation, Some(task));
        let seen = self.known.borrow().seen[usize::from(seen)].clone();
        let mut frame = Frame { seen, ..self.frame(balance, cpu, group) };
        frame.bool(&look, &self.world.per, &balance.recheck)
    }

    fn frame(&self, balance: &Balance, cpu: usize, group: usize) -> Frame {
        Frame {
            me: Some(At { level: Level::Cpu, group: cpu }),
            other: Some(At { level: self.world.per[balance.from], group }),
            here: Some(CpuId(cpu as u16)),
            ..self.world.frame()
        }
    }

    /// Every task that periodic balancing may move now.
    pub(super) fn moves(&self, scene: Scene) -> Rc<[Left]> {
        if let Some(moves) = self.known.borrow().moves.get(&scene) {
            return moves.clone();
        }
        let situation = self.situation(scene);
        let mut moves: Vec<Left> = Vec::new();
        for periodic in &self.world.policy.periodic {
            for &by in self.world.cpus() {
                self.moves_by(&situation, periodic, by, &mut moves);
            }
        }
        let moves: Rc<[Left]> = moves.into();
        self.known.borrow_mut().moves.insert(scene, moves.clone());
        moves
    }

    fn moves_by(&self, now: &Situation, periodic: &Periodic, by: CpuId, to: &mut Vec<Left>) {
        let (tree, balance) = (self.world.tree(), &periodic.balance);
        let leads = |level| tree.members(level, tree.group(level, by))[0] == by;
        let Some(queue) = balance.into.filter(|_| periodic.leader.is_none_or(leads)) else {
            return;
        };
        let (per, own) = (self.world.per[balance.from], tree.group(self.world.per[queue], by));
        let mine = tree.members(self.world.per[queue], own);
        for n in 0..balance.levels.len() {
            for group in tree.victims(by, per, &balance.levels, n) {
                let me = Some(At { level: per, group: tree.group(per, by) });
                let mut frame = Frame { me, ..self.frame(balance, by.index(), group) };
                let look = self.world.look(now, None);
                let wants = frame.bool(&look, &self.world.per, &balance.filter)
                    && frame.num(&look, &self.world.per, &balance.count) >= 1;
                for task in now.waiting(balance.from, group).filter(|_| wants) {
                    if mine.iter().any(|&cpu| now.tasks[task].allowed(cpu)) {
                        let into = Place::Waits { queue, group: own };
                        to.push(self.left(now, task, into, (queue, own)));
                    }
                }
            }
        }
    }
}

/// Those CPUs and this one.
pub(super) fn with(cpus: Cpus, cpu: CpuId) -> Cpus {
    cpus | 1 << cpu.0
}

/// The members of a set, ascending.
pub(super) fn members(cpus: u8) -> impl Iterator<Item = usize> {
    (0..8).filter(move |cpu| cpus >> cpu & 1 == 1)
}
