//! Theorem 2: attempts, while tasks wake, block and are displaced.
//!
//! It suffices to look at one attempt at a time: attempts of one CPU do not overlap, so if each
//! that fails saw a task leave meanwhile, k of them saw k.

use wastenot_model::CpuId;
use wastenot_prove::explore::{Place, Situation};
use wastenot_rota::ir::Event;

use super::attempt::{Attempts, Next, Pc};
use super::handlers::{Handler, To};
use super::scenes::{CPUS, Cpus, Scene, with};
use super::walk::System;

/// All CPUs at their attempts, and whatever may happen meanwhile.
pub(super) struct Outrun<'a, 's, 'w, 'p> {
    pub(super) attempts: &'a Attempts<'s, 'w, 'p>,
    /// So many events.
    pub(super) events: u8,
    /// So many moves of periodic balancing.
    pub(super) moves: u8,
}

/// One instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Instant {
    pub(super) scene: Scene,
    pub(super) at: [Option<Pc>; CPUS],
    /// Whose attempt has no excuse: ever since it began some queue held a task that the CPU may
    /// run, and none was taken away.
    owed: Cpus,
    /// Whether such an attempt has failed.
    failed: bool,
    events: u8,
    moves: u8,
}

impl Outrun<'_, '_, '_, '_> {
    /// How it begins.
    pub(super) fn starts(&self, scene: Scene) -> Instant {
        let (events, moves) = (self.events, self.moves);
        Instant { scene, at: [None; CPUS], owed: 0, failed: false, events, moves }
    }

    /// What it is like once a scene is another one, and a task left that these may run.
    fn turns(&self, now: Instant, scene: Scene, left: Cpus) -> Instant {
        let scenes = self.attempts.scenes;
        let owed = now.owed & !left & scenes.idle(scene) & scenes.wanted(scene);
        Instant { scene, owed, ..now }
    }

    fn step(&self, now: &Instant, cpu: usize, next: Next) -> Instant {
        let mut after = *now;
        after.at[cpu] = None;
        match next {
            Next::On(pc) => after.at[cpu] = Some(pc),
            Next::Fails => {
                after.failed = now.owed >> cpu & 1 == 1;
                after.owed &= !(1 << cpu);
            }
            Next::Takes(left) => {
                after.owed &= !(1 << cpu);
                return self.turns(after, left.after, left.allowed);
            }
        }
        after
    }

    fn event(&self, now: &Instant, to: &mut Vec<Instant>) {
        let scenes = self.attempts.scenes;
        let situation = scenes.situation(now.scene);
        let now = Instant { events: now.events - 1, ..*now };
        for (task, state) in situation.tasks.iter().enumerate() {
            if situation.tasks[..task].contains(state) {
                continue;
            }
            match state.place {
                Place::Away => {
                    for &prev in scenes.world.cpus() {
                        for &here in scenes.world.cpus() {
                            self.places(&now, &situation, task, (Event::Wake, prev, here), 0, to);
                        }
                    }
                }
                Place::Runs(cpu) => {
                    self.places(&now, &situation, task, (Event::Preempt, cpu, cpu), 0, to);
                    self.places(&now, &situation, task, (Event::Yield, cpu, cpu), 0, to);
                    let mut blocked = Situation::clone(&situation);
                    blocked.tasks[task].place = Place::Away;
                    to.push(self.turns(now, scenes.number(blocked), 0));
                }
                Place::Waits { .. } => self.forbids(&now, &situation, task, to),
            }
        }
    }

    /// A task that waits may run elsewhere from now on: it leaves its queue and is put anew.
    fn forbids(&self, now: &Instant, situation: &Situation, task: usize, to: &mut Vec<Instant>) {
        let world = self.attempts.scenes.world;
        let old = situation.tasks[task].mask;
        for mask in (1..1 << world.cpus().len()).filter(|mask| *mask != old) {
            let mut changed = situation.clone();
            (changed.tasks[task].mask, changed.tasks[task].place) = (mask, Place::Away);
            for &prev in world.cpus() {
                let event = (Event::Preempt, prev, prev);
                self.places(now, &changed, task, event, old as Cpus, to);
            }
        }
    }

    /// A handler places a task, after one left that these could have run.
    fn places(
        &self,
        now: &Instant,
        situation: &Situation,
        task: usize,
        (event, prev, here): (Event, CpuId, CpuId),
        left: Cpus,
        to: &mut Vec<Instant>,
    ) {
        let scenes = self.attempts.scenes;
        let world = scenes.world;
        let mut off = situation.clone();
        off.tasks[task].place = Place::Away;
        let idle = world.cpus().iter().filter(|&&cpu| off.is_idle(cpu));
        let idle = idle.fold(0, |idle, &cpu| with(idle, cpu));
        let handler = Handler { world, situation: &off, task, idle, unsure: true };
        for decision in handler.decides(event, prev, here) {
            let mut after = off.clone();
            after.vars = decision.vars;
            after.tasks[task].place = match decision.to {
                To::Queue { queue, group, .. } => Place::Waits { queue, group },
                To::Cpu(cpu) => Place::Runs(cpu),
            };
            to.push(self.turns(*now, scenes.number(after), left));
        }
    }
}

impl System for Outrun<'_, '_, '_, '_> {
    type State = Instant;

    fn next(&self, now: &Instant, to: &mut Vec<Instant>) {
        let scenes = self.attempts.scenes;
        let mut ways = Vec::new();
        for cpu in 0..scenes.world.cpus().len() {
            let me = 1 << cpu;
            match now.at[cpu] {
                Some(pc) => {
                    self.attempts.goes_on(now.scene, cpu, pc, &mut ways);
                    to.extend(ways.drain(..).map(|next| self.step(now, cpu, next)));
                }
                None if scenes.idle(now.scene) & me != 0 => {
                    let owed = now.owed | (scenes.wanted(now.scene) & me);
                    let begun = Instant { owed, ..*now };
                    self.attempts.begins(now.scene, cpu, &mut ways);
                    to.extend(ways.drain(..).map(|next| self.step(&begun, cpu, next)));
                }
                None => {}
            }
        }
        if now.events > 0 {
            self.event(now, to);
        }
        if now.moves > 0 {
            let now = Instant { moves: now.moves - 1, ..*now };
            let moves = scenes.moves(now.scene);
            to.extend(moves.iter().map(|moved| self.turns(now, moved.after, moved.allowed)));
        }
    }

    fn broken(&self, now: &Instant) -> bool {
        now.failed || self.attempts.scenes.trespassed(now.scene)
    }
}
