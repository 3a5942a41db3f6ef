//! What a handler that places its task decides, whatever it may find.

use wastenot_model::CpuId;
use wastenot_prove::explore::{Situation, World};
use wastenot_rota::eval::{At, Frame, widen};
use wastenot_rota::ir::{Bool, Event, Level, Num, Stmt, Visitor, visit_bool};

use super::scenes::{Cpus, with};

/// What was decided.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decision {
    /// What the policy keeps of CPUs then.
    pub(super) vars: Vec<Vec<i64>>,
    pub(super) to: To,
    /// Who was claimed.
    pub(super) claimed: Cpus,
    /// Who is kicked beside.
    pub(super) kicked: Cpus,
}

/// Where a task goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum To {
    /// Into a queue; an idle CPU is looked for among these.
    Queue { queue: usize, group: usize, near: Cpus },
    /// Onto a CPU.
    Cpu(CpuId),
}

/// A handler at work on a task.
pub(super) struct Handler<'a, 'w, 'p> {
    pub(super) world: &'w World<'p>,
    pub(super) situation: &'a Situation,
    pub(super) task: usize,
    /// Who can be claimed.
    pub(super) idle: Cpus,
    /// Whether a claim may find no CPU although one is idle.
    pub(super) unsure: bool,
}

/// A point in a handler.
#[derive(Clone)]
struct Point<'p> {
    /// What is left to be done, the innermost block last.
    blocks: Vec<&'p [Stmt]>,
    frame: Frame,
    situation: Situation,
    claimed: Cpus,
    kicked: Cpus,
    to: Option<To>,
}

impl<'p> Handler<'_, '_, 'p> {
    /// Everything that the handler of an event can decide. Conditions on times and keys, of which
    /// nothing is known here, go either way.
    pub(super) fn decides(&self, event: Event, prev: CpuId, here: CpuId) -> Vec<Decision> {
        let frame = Frame { prev: Some(prev), here: Some(here), ..self.world.frame() };
        let start = Point {
            blocks: vec![self.world.policy.handlers[event as usize].as_slice()],
            frame,
            situation: self.situation.clone(),
            claimed: 0,
            kicked: 0,
            to: None,
        };
        let (mut open, mut found) = (vec![start], Vec::new());
        while let Some(mut point) = open.pop() {
            while let Some(stmt) = point.next() {
                open.extend(self.does(&mut point, stmt, prev));
            }
            let Point { situation: Situation { vars, .. }, claimed, kicked, to, .. } = point;
            let decision = to.map(|to| Decision { vars, to, claimed, kicked });
            found.extend(decision.filter(|decision| !found.contains(decision)));
        }
        found
    }

    /// Does one statement; gives the other ways in which it may go.
    fn does(&self, point: &mut Point<'p>, stmt: &'p Stmt, prev: CpuId) -> Vec<Point<'p>> {
        let (per, tree) = (&self.world.per, self.world.tree());
        let before = point.situation.clone();
        let look = self.world.look(&before, Some(self.task));
        match stmt {
            Stmt::Claim { slot, within, near, .. } => {
                let near = point.frame.place(&look, near);
                return self.claims(point, *slot, near, *within);
            }
            Stmt::Pick { slot, set, item, key, greatest } => {
                let picked = point.frame.pick(&look, per, (set, *item, key, *greatest));
                point.frame.set_slot(*slot, picked);
            }
            Stmt::Let(slot, num) => {
                let value = point.frame.num(&look, per, num);
                point.frame.set_local(*slot, value);
            }
            Stmt::SetTask(..) => {}
            Stmt::SetCpu { var, cpu, value, add } => {
                let cpu = point.frame.cpu(&look, cpu).index();
                let value = point.frame.num(&look, per, value);
                let cell = &mut point.situation.vars[cpu][*var];
                *cell = if *add { *cell + value } else { value };
            }
            Stmt::Put(put) => {
                let queue = put.queue.queue;
                let group = point.frame.queue(&look, &put.queue, per[queue]);
                let near = tree.members(put.wake, tree.group(put.wake, prev)).iter();
                let near = near.fold(0, |near, &cpu| with(near, cpu));
                point.to = Some(To::Queue { queue, group, near });
            }
            Stmt::Run { slot, .. } => {
                point.to = point.frame.slots.get(*slot).copied().flatten().map(To::Cpu);
            }
            Stmt::Kick { cpu, .. } => {
                point.kicked = with(point.kicked, point.frame.cpu(&look, cpu));
            }
            Stmt::If { condition, then, otherwise } => {
                let yes = point.frame.bool(&look, per, condition);
                let mut other = point.clone();
                point.blocks.push(if yes { then } else { otherwise });
                other.blocks.push(if yes { otherwise } else { then });
                return if untold(condition) { vec![other] } else { Vec::new() };
            }
        }
        Vec::new()
    }

    fn claims(
        &self,
        point: &mut Point<'p>,
        slot: usize,
        near: At,
        within: Option<Level>,
    ) -> Vec<Point<'p>> {
        let tree = self.world.tree();
        let inside = |cpu: CpuId| {
            within.is_none_or(|level| tree.group(level, cpu) == widen(tree, near, level).group)
        };
        let task = &self.situation.tasks[self.task];
        let free = self.idle & !point.claimed;
        let usable = |cpu: &CpuId| free >> cpu.0 & 1 == 1 && task.allowed(*cpu) && inside(*cpu);
        let mut found: Vec<Option<CpuId>> =
            self.world.cpus().iter().copied().filter(usable).map(Some).collect();
        if found.is_empty() || self.unsure {
            found.push(None);
        }
        let bound = |found: Option<CpuId>| {
            let mut next = point.clone();
            next.frame.set_slot(slot, found);
            next.claimed = found.into_iter().fold(next.claimed, with);
            next
        };
        let mut ways: Vec<Point<'p>> = found.into_iter().map(bound).collect();
        *point = ways.remove(0);
        ways
    }
}

impl<'p> Point<'p> {
    fn next(&mut self) -> Option<&'p Stmt> {
        loop {
            let block = self.blocks.last_mut()?;
            if let Some((stmt, rest)) = block.split_first() {
                *block = rest;
                return Some(stmt);
            }
            self.blocks.pop();
        }
    }
}

/// Whether it depends on what situations do not tell.
fn untold(condition: &Bool) -> bool {
    struct Untold(bool);
    impl Visitor for Untold {
        fn num(&mut self, num: &Num) {
            let untold = [Num::Job, Num::Ran, Num::Now].contains(num);
            self.0 |= untold || matches!(num, Num::TaskVar(_) | Num::MinKey(_) | Num::Until(_));
        }
    }
    let mut untold = Untold(false);
    visit_bool(condition, &mut untold);
    untold.0
}
