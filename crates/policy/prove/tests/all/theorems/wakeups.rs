//! Theorem 3: the protocol of wakeups, driven by what a policy puts, takes and filters.

use wastenot_model::CpuId;
use wastenot_prove::explore::{Place, Situation};
use wastenot_rota::ir::Event;

use super::attempt::{Attempts, Next, Pc};
use super::handlers::{Handler, To};
use super::scenes::{CPUS, Cpus, Scene, members};
use super::walk::System;

/// So many tasks there are at most, those that CPUs run at the beginning among them.
pub(super) const TASKS: usize = 6;

/// CPUs that sleep, dispatch and run, and tasks that are put.
pub(super) struct Wakeups<'a, 's, 'w, 'p> {
    pub(super) attempts: &'a Attempts<'s, 'w, 'p>,
    /// Tasks with lower numbers only run at the beginning, and end.
    pub(super) residents: usize,
    /// What may happen to the others: so many times one wakes, blocks or is displaced.
    pub(super) events: u8,
}

/// One instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Instant {
    pub(super) scene: Scene,
    cpus: [Cpu; CPUS],
    /// By task: how far its put is.
    puts: [Put; TASKS],
    /// Whom periodic balancing has still to look at for the task that it moved.
    mover: Cpus,
    events: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Cpu {
    phase: Phase,
    cell: Cell,
    /// Whether a kick is on its way.
    kicked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Runs,
    Sleeps,
    /// Its cell is set; it has looked nowhere yet.
    Begins,
    Attempts(Pc),
    /// Has taken a task; its cell does not say so yet.
    Took,
    /// Looks for others for these tasks; for the first of them at these CPUs still.
    Passes {
        owed: u8,
        unseen: Cpus,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Cell {
    Busy,
    Idle,
    Claimed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Put {
    No,
    /// To be inserted there; then an idle CPU is to be looked for among these.
    Comes {
        queue: u8,
        group: u8,
        near: Cpus,
    },
    /// An idle CPU is looked for, and the task is inserted only then.
    Seeks {
        queue: u8,
        group: u8,
        unseen: Cpus,
    },
    /// An idle CPU is looked for, among these still.
    Looks(Cpus),
}

impl Wakeups<'_, '_, '_, '_> {
    /// The start: each CPU that runs no task sleeps, and its cell is `idle`.
    pub(super) fn starts(&self, scene: Scene) -> Instant {
        let idle = self.attempts.scenes.idle(scene);
        let cpu = |cpu: usize| match idle >> cpu & 1 == 1 {
            true => Cpu { phase: Phase::Sleeps, cell: Cell::Idle, kicked: false },
            false => Cpu { phase: Phase::Runs, cell: Cell::Busy, kicked: false },
        };
        let cpus = std::array::from_fn(cpu);
        Instant { scene, cpus, puts: [Put::No; TASKS], mover: 0, events: self.events }
    }

    /// Who would look for a task where it waits.
    fn takers(&self, allowed: Cpus, queue: usize, group: usize) -> Cpus {
        let looks = |cpu: &usize| self.attempts.looks(*cpu, queue, group);
        let cpus = 0..self.attempts.scenes.world.cpus().len();
        cpus.filter(looks).fold(0, |all, cpu| all | 1 << cpu) & allowed
    }

    fn cpu(&self, now: &Instant, cpu: usize, to: &mut Vec<Instant>) {
        let protocol = self.attempts.scenes.world.policy.protocol;
        let mut next = *now;
        let me = &mut next.cpus[cpu];
        match me.phase {
            Phase::Runs if me.kicked => {
                me.kicked = false;
                to.push(next);
            }
            Phase::Sleeps if me.kicked => {
                me.kicked = false;
                to.push(self.dispatches(next, cpu));
            }
            Phase::Runs | Phase::Sleeps => {}
            Phase::Begins => {
                let mut ways = Vec::new();
                self.attempts.begins(now.scene, cpu, &mut ways);
                to.extend(ways.into_iter().map(|way| self.attempted(now, cpu, way)));
            }
            Phase::Attempts(pc) => {
                let mut ways = Vec::new();
                self.attempts.goes_on(now.scene, cpu, pc, &mut ways);
                to.extend(ways.into_iter().map(|way| self.attempted(now, cpu, way)));
            }
            Phase::Took => {
                me.cell = Cell::Busy;
                let owed = if protocol.no_chain { 0 } else { self.waiting(now.scene) };
                self.owes(&mut next, cpu, owed);
                to.push(next);
            }
            Phase::Passes { owed, unseen } => self.passes(now, cpu, (owed, unseen), to),
        }
    }

    /// A CPU looks for what to run: first at what it was given.
    fn dispatches(&self, mut next: Instant, cpu: usize) -> Instant {
        let given = self.attempts.scenes.idle(next.scene) >> cpu & 1 == 0;
        let me = &mut next.cpus[cpu];
        if given {
            me.phase = Phase::Runs;
            return next;
        }
        let no_rescan = self.attempts.scenes.world.policy.protocol.no_rescan;
        me.cell = if no_rescan { Cell::Busy } else { Cell::Idle };
        me.phase = Phase::Begins;
        next
    }

    fn attempted(&self, now: &Instant, cpu: usize, way: Next) -> Instant {
        let scenes = self.attempts.scenes;
        let mut next = *now;
        let me = &mut next.cpus[cpu];
        match way {
            Next::On(pc) => me.phase = Phase::Attempts(pc),
            Next::Takes(left) => {
                me.phase = Phase::Took;
                next.scene = left.after;
            }
            // It was given a task meanwhile.
            Next::Fails if scenes.idle(now.scene) >> cpu & 1 == 0 => me.phase = Phase::Runs,
            Next::Fails => {
                me.phase = Phase::Sleeps;
                if scenes.world.policy.protocol.no_rescan {
                    me.cell = Cell::Idle;
                }
            }
        }
        next
    }

    /// The tasks that wait, one bit each.
    fn waiting(&self, scene: Scene) -> u8 {
        let situation = self.attempts.scenes.situation(scene);
        let waits = |task: &usize| matches!(situation.tasks[*task].place, Place::Waits { .. });
        (0..situation.tasks.len()).filter(waits).fold(0, |all, task| all | 1 << task)
    }

    fn owes(&self, next: &mut Instant, cpu: usize, owed: u8) {
        let situation = self.attempts.scenes.situation(next.scene);
        next.cpus[cpu].phase = Phase::Runs;
        for task in members(owed) {
            let state = situation.tasks[task];
            let Place::Waits { queue, group } = state.place else { continue };
            let unseen = self.takers(state.mask as Cpus, queue, group) & !(1 << cpu);
            if unseen != 0 {
                let owed = owed & (u8::MAX << task);
                next.cpus[cpu].phase = Phase::Passes { owed, unseen };
                return;
            }
        }
    }

    fn passes(&self, now: &Instant, cpu: usize, (owed, unseen): (u8, Cpus), to: &mut Vec<Instant>) {
        let rest = owed & (owed - 1);
        for other in members(unseen) {
            let mut next = *now;
            let unseen = unseen & !(1 << other);
            if claim(&mut next, other) || unseen == 0 {
                self.owes(&mut next, cpu, rest);
            } else {
                next.cpus[cpu].phase = Phase::Passes { owed, unseen };
            }
            to.push(next);
        }
    }

    fn put(&self, now: &Instant, task: usize, to: &mut Vec<Instant>) {
        let scenes = self.attempts.scenes;
        match now.puts[task] {
            Put::No => {}
            Put::Comes { queue, group, near } => {
                let mut situation = Situation::clone(&scenes.situation(now.scene));
                let (queue, group) = (usize::from(queue), usize::from(group));
                situation.tasks[task].place = Place::Waits { queue, group };
                let mut next = Instant { scene: scenes.number(situation), ..*now };
                next.puts[task] = looks(near);
                to.push(next);
            }
            Put::Seeks { queue, group, unseen } => {
                for cpu in members(unseen) {
                    let mut next = *now;
                    let unseen = unseen & !(1 << cpu);
                    next.puts[task] = match claim(&mut next, cpu) || unseen == 0 {
                        true => Put::Comes { queue, group, near: 0 },
                        false => Put::Seeks { queue, group, unseen },
                    };
                    to.push(next);
                }
            }
            Put::Looks(unseen) => {
                for cpu in members(unseen) {
                    let mut next = *now;
                    let found = claim(&mut next, cpu);
                    next.puts[task] = if found { Put::No } else { looks(unseen & !(1 << cpu)) };
                    to.push(next);
                }
            }
        }
    }

    fn moves(&self, now: &Instant, to: &mut Vec<Instant>) {
        for cpu in members(now.mover) {
            let mut next = *now;
            let found = claim(&mut next, cpu);
            next.mover = if found { 0 } else { now.mover & !(1 << cpu) };
            to.push(next);
        }
        if now.mover != 0 {
            return;
        }
        for moved in self.attempts.scenes.moves(now.scene).iter() {
            let (queue, group) = moved.into;
            let mover = self.takers(moved.allowed, queue, group);
            to.push(Instant { scene: moved.after, mover, ..*now });
        }
    }

    fn event(&self, now: &Instant, to: &mut Vec<Instant>) {
        let scenes = self.attempts.scenes;
        let situation = scenes.situation(now.scene);
        for (task, state) in situation.tasks.iter().enumerate() {
            let resident = task < self.residents;
            if now.events == 0 && !resident {
                continue;
            }
            let now = Instant { events: now.events - u8::from(!resident), ..*now };
            match state.place {
                Place::Away if now.puts[task] == Put::No && !resident => {
                    for &prev in scenes.world.cpus() {
                        for &here in scenes.world.cpus() {
                            self.places(&now, &situation, task, (Event::Wake, prev, here), to);
                        }
                    }
                }
                Place::Runs(cpu) if now.cpus[cpu.index()].phase == Phase::Runs => {
                    let mut off = Situation::clone(&situation);
                    off.tasks[task].place = Place::Away;
                    let scene = scenes.number(off.clone());
                    let next = self.dispatches(Instant { scene, ..now }, cpu.index());
                    to.push(next);
                    if now.puts[task] == Put::No && !resident {
                        self.places(&next, &off, task, (Event::Preempt, cpu, cpu), to);
                    }
                }
                Place::Waits { .. } if now.puts[task] == Put::No => {
                    self.forbids(&now, &situation, task, to);
                }
                _ => {}
            }
        }
    }

    /// A task that waits may run elsewhere from now on: it leaves its queue and is put anew.
    fn forbids(&self, now: &Instant, situation: &Situation, task: usize, to: &mut Vec<Instant>) {
        let world = self.attempts.scenes.world;
        let old = situation.tasks[task].mask;
        for mask in (1..1 << world.cpus().len()).filter(|mask| *mask != old) {
            let mut off = situation.clone();
            (off.tasks[task].mask, off.tasks[task].place) = (mask, Place::Away);
            for &prev in world.cpus() {
                self.places(now, &off, task, (Event::Preempt, prev, prev), to);
            }
        }
    }

    fn places(
        &self,
        now: &Instant,
        situation: &Situation,
        task: usize,
        (event, prev, here): (Event, CpuId, CpuId),
        to: &mut Vec<Instant>,
    ) {
        let scenes = self.attempts.scenes;
        let world = scenes.world;
        let cpus = 0..world.cpus().len();
        let idle = cpus.filter(|&cpu| now.cpus[cpu].cell == Cell::Idle);
        let idle = idle.fold(0, |idle, cpu| idle | 1 << cpu);
        let handler = Handler { world, situation, task, idle, unsure: false };
        for decision in handler.decides(event, prev, here) {
            let mut next = *now;
            for cpu in members(decision.claimed) {
                next.cpus[cpu].cell = Cell::Claimed;
            }
            for cpu in members(decision.kicked) {
                next.cpus[cpu].kicked = true;
            }
            let mut after = situation.clone();
            after.vars = decision.vars;
            match decision.to {
                To::Queue { queue, group, near } => {
                    let allowed = situation.tasks[task].mask as Cpus;
                    let near = self.takers(allowed, queue, group) & near;
                    let (queue, group) = (queue as u8, group as u8);
                    next.puts[task] = match world.policy.protocol.kick_first && near != 0 {
                        true => Put::Seeks { queue, group, unseen: near },
                        false => Put::Comes { queue, group, near },
                    };
                }
                To::Cpu(cpu) => {
                    after.tasks[task].place = Place::Runs(cpu);
                    next.cpus[cpu.index()].cell = Cell::Busy;
                    next.cpus[cpu.index()].kicked = true;
                }
            }
            next.scene = scenes.number(after);
            to.push(next);
        }
    }

    /// Whether nothing happens any more unless something new does.
    fn quiet(&self, now: &Instant) -> bool {
        let cpus = now.cpus.iter().take(self.attempts.scenes.world.cpus().len());
        let mut still = cpus.map(|cpu| match cpu.phase {
            Phase::Runs => true,
            Phase::Sleeps => !cpu.kicked,
            _ => false,
        });
        still.all(|still| still) && now.puts == [Put::No; TASKS] && now.mover == 0
    }
}

/// The state of a put with these CPUs still to look at.
fn looks(unseen: Cpus) -> Put {
    if unseen == 0 { Put::No } else { Put::Looks(unseen) }
}

/// Claims and kicks a CPU if its cell says that it is idle.
fn claim(now: &mut Instant, cpu: usize) -> bool {
    let idle = now.cpus[cpu].cell == Cell::Idle;
    if idle {
        now.cpus[cpu].cell = Cell::Claimed;
        now.cpus[cpu].kicked = true;
    }
    idle
}

impl System for Wakeups<'_, '_, '_, '_> {
    type State = Instant;

    fn next(&self, now: &Instant, to: &mut Vec<Instant>) {
        let world = self.attempts.scenes.world;
        (0..world.cpus().len()).for_each(|cpu| self.cpu(now, cpu, to));
        (0..TASKS).for_each(|task| self.put(now, task, to));
        self.moves(now, to);
        self.event(now, to);
    }

    /// A CPU sleeps on although it would find a task, now, if only it looked.
    fn broken(&self, now: &Instant) -> bool {
        let cpus = 0..self.attempts.scenes.world.cpus().len();
        let sleeps = |cpu: &usize| now.cpus[*cpu].phase == Phase::Sleeps;
        let mut would = cpus.filter(sleeps).filter(|&cpu| {
            self.attempts.scenes.wanted(now.scene) >> cpu & 1 == 1
                && self.attempts.may_take(now.scene, cpu)
        });
        self.quiet(now) && would.next().is_some()
    }
}
