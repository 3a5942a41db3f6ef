//! An attempt of one CPU, step by step: each look into a queue and each read of a candidate at an
//! instant of its own, in any order that the text leaves open.

use wastenot_model::CpuId;
use wastenot_prove::explore::{Situation, World};
use wastenot_rota::eval::{At, Frame};
use wastenot_rota::ir::{Attempt, Balance, Level};

use super::scenes::{CPUS, Left, Scene, Scenes, members};

/// How far an attempt is that goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Pc {
    /// Index into the policy's dispatch.
    attempt: u8,
    /// How many levels of its balance were begun.
    level: u8,
    /// Candidates that were not read yet, by their number.
    unread: u8,
    /// Candidates that passed and were not tried yet.
    passed: u8,
    /// How many may still be tried.
    tries: u8,
    /// By candidate: what the re-check remembers of it.
    seen: [u16; CPUS],
}

/// What one step comes to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// It goes on.
    On(Pc),
    /// It has failed.
    Fails,
    /// It takes a task.
    Takes(Left),
}

/// What attempts on one machine are made of.
pub(super) struct Attempts<'s, 'w, 'p> {
    pub(super) scenes: &'s Scenes<'w, 'p>,
    /// By CPU and attempt of the dispatch: whose queue it looks into.
    own: Vec<Vec<usize>>,
    /// By CPU and level of the balance: the candidates there.
    victims: Vec<Vec<u8>>,
}

impl<'s, 'w, 'p> Attempts<'s, 'w, 'p> {
    pub(super) fn new(scenes: &'s Scenes<'w, 'p>) -> Attempts<'s, 'w, 'p> {
        let world = scenes.world;
        let cpus = || world.cpus().iter().copied();
        let own = cpus().map(|cpu| own(world, cpu)).collect();
        let victims = cpus().map(|cpu| victims(world, cpu)).collect();
        Attempts { scenes, own, victims }
    }

    /// Every way in which the first step of an attempt can end.
    pub(super) fn begins(&self, scene: Scene, cpu: usize, to: &mut Vec<Next>) {
        match self.normal(cpu, Pc::default()) {
            Next::On(pc) => self.goes_on(scene, cpu, pc, to),
            ends => to.push(ends),
        }
    }

    /// Every way in which the next step can end.
    pub(super) fn goes_on(&self, scene: Scene, cpu: usize, pc: Pc, to: &mut Vec<Next>) {
        let policy = self.scenes.world.policy;
        let at = usize::from(pc.attempt);
        match (&policy.dispatch[at], &policy.idle) {
            (Attempt::Take(queue, _), _) => {
                let takes = self.scenes.takes(scene, cpu, queue.queue, self.own[cpu][at]);
                to.extend(takes.iter().map(|left| Next::Takes(*left)));
                if takes.is_empty() {
                    to.push(self.normal(cpu, after(pc)));
                }
            }
            (Attempt::Balance, Some(_)) if pc.unread != 0 => {
                to.extend(members(pc.unread).map(|group| self.reads(scene, cpu, pc, group)));
            }
            (Attempt::Balance, Some(balance)) => {
                for group in members(pc.passed) {
                    self.tries(scene, (cpu, group), pc, balance, to);
                }
            }
            (Attempt::Balance, None) => to.push(self.normal(cpu, after(pc))),
        }
    }

    fn reads(&self, scene: Scene, cpu: usize, pc: Pc, group: usize) -> Next {
        let mut next = Pc { unread: pc.unread & !(1 << group), ..pc };
        if let Some(seen) = self.scenes.reads(scene, cpu, group) {
            next.passed |= 1 << group;
            next.seen[group] = seen;
        }
        self.normal(cpu, next)
    }

    fn tries(
        &self,
        scene: Scene,
        (cpu, group): (usize, usize),
        pc: Pc,
        balance: &Balance,
        to: &mut Vec<Next>,
    ) {
        if self.scenes.world.policy.protocol.unchecked {
            let grabs = self.scenes.grabs(scene, cpu, balance.from, group);
            to.extend(grabs.into_iter().map(Next::Takes));
        }
        let takes = self.scenes.takes(scene, cpu, balance.from, group);
        let mut refused = true;
        for left in takes.iter() {
            if self.scenes.lets_go(scene, (cpu, group), left.task, pc.seen[group]) {
                to.push(Next::Takes(*left));
                refused = false;
            }
        }
        if refused {
            let mut next = Pc { passed: pc.passed & !(1 << group), tries: pc.tries - 1, ..pc };
            next.seen[group] = 0;
            to.push(self.normal(cpu, next));
        }
    }

    /// Goes on to where something is to be read or tried.
    fn normal(&self, cpu: usize, mut pc: Pc) -> Next {
        let policy = self.scenes.world.policy;
        loop {
            let Some(attempt) = policy.dispatch.get(usize::from(pc.attempt)) else {
                return Next::Fails;
            };
            let balance = match (attempt, &policy.idle) {
                (Attempt::Take(..), _) => return Next::On(pc),
                (Attempt::Balance, Some(balance)) => balance,
                (Attempt::Balance, None) => {
                    pc = after(pc);
                    continue;
                }
            };
            if pc.unread != 0 || (pc.passed != 0 && pc.tries != 0) {
                return Next::On(pc);
            }
            let level = usize::from(pc.level);
            if level == balance.levels.len() {
                pc = after(pc);
                continue;
            }
            let tries = balance.retry.map_or(u8::MAX, |retry| retry.min(100) as u8 + 1);
            let (attempt, unread) = (pc.attempt, self.victims[cpu][level]);
            pc = Pc { attempt, level: pc.level + 1, unread, tries, ..Pc::default() };
        }
    }

    /// Whether some way of attempting now, while nothing else happens, ends with a task.
    pub(super) fn may_take(&self, scene: Scene, cpu: usize) -> bool {
        let (mut left, mut next) = (Vec::new(), Vec::new());
        self.begins(scene, cpu, &mut next);
        loop {
            for end in next.drain(..) {
                match end {
                    Next::Takes(_) => return true,
                    Next::On(pc) => left.push(pc),
                    Next::Fails => {}
                }
            }
            let Some(pc) = left.pop() else { return false };
            self.goes_on(scene, cpu, pc, &mut next);
        }
    }

    /// Whether a CPU looks into a queue at all, whatever it may see there.
    pub(super) fn looks(&self, cpu: usize, queue: usize, group: usize) -> bool {
        let policy = self.scenes.world.policy;
        policy.dispatch.iter().enumerate().any(|(n, attempt)| match (attempt, &policy.idle) {
            (Attempt::Take(at, _), _) => (at.queue, self.own[cpu][n]) == (queue, group),
            (Attempt::Balance, Some(balance)) => {
                let all = self.victims[cpu].iter().fold(0, |all, level| all | level);
                balance.from == queue && all >> group & 1 == 1
            }
            (Attempt::Balance, None) => false,
        })
    }
}

fn after(pc: Pc) -> Pc {
    Pc { attempt: pc.attempt + 1, ..Pc::default() }
}

fn own(world: &World<'_>, cpu: CpuId) -> Vec<usize> {
    let empty = Situation { tasks: Vec::new(), vars: world.vars() };
    let look = world.look(&empty, None);
    let me = Some(At { level: Level::Cpu, group: cpu.index() });
    let frame = Frame { me, here: Some(cpu), ..world.frame() };
    let whose = world.policy.dispatch.iter().map(|attempt| match attempt {
        Attempt::Take(queue, _) => frame.queue(&look, queue, world.per[queue.queue]),
        Attempt::Balance => 0,
    });
    whose.collect()
}

fn victims(world: &World<'_>, cpu: CpuId) -> Vec<u8> {
    let Some(balance) = &world.policy.idle else { return Vec::new() };
    let per = world.per[balance.from];
    let at = |level| world.tree().victims(cpu, per, &balance.levels, level);
    let sets = (0..balance.levels.len()).map(|level| at(level).fold(0, |all, one| all | 1 << one));
    sets.collect()
}
