//! What a handler does to a situation, whatever it may find.

use wastenot_model::CpuId;
use wastenot_rota::eval::{At, Frame};
use wastenot_rota::ir::{Event, Level, Set, Stmt};

use super::situation::{Place, Situation};
use super::world::World;

/// A task was woken and waits.
#[derive(Clone, Debug)]
pub(super) struct Woken {
    /// Which.
    pub(super) task: usize,
    /// Where it was last.
    pub(super) prev: CpuId,
    /// In which queue.
    pub(super) queue: usize,
    /// Whose.
    pub(super) group: usize,
    /// What it is like then.
    pub(super) after: Situation,
}

/// Every way in which a task that is away can be woken and come to wait, while `cpu` stays idle:
/// the handler finds no idle CPU but those that others can be sent to.
pub(super) fn wakes(world: &World<'_>, situation: &Situation, cpu: CpuId) -> Vec<Woken> {
    let mut woken = Vec::new();
    let mut told: Vec<Situation> = Vec::new();
    for (task, &state) in situation.tasks.iter().enumerate() {
        // Tasks that are alike do alike.
        let alike = situation.tasks[..task].contains(&state);
        if state.place != Place::Away || alike {
            continue;
        }
        for &prev in world.cpus().iter().filter(|&&prev| state.allowed(prev)) {
            let frame = Frame { prev: Some(prev), here: Some(prev), ..world.frame() };
            let mut run = Run { world, task, busy: cpu, ends: Vec::new() };
            let body = &world.policy.handlers[Event::Wake as usize];
            run.block(&[body.as_slice()], situation.clone(), &frame, None);
            for (after, put) in run.ends {
                let Some((queue, group)) = put else { continue };
                if !told.contains(&after) {
                    told.push(after.clone());
                    woken.push(Woken { task, prev, queue, group, after });
                }
            }
        }
    }
    woken
}

/// Where a task was put, if it was.
type Put = Option<(usize, usize)>;

struct Run<'w, 'p> {
    world: &'w World<'p>,
    task: usize,
    /// The CPU in an attempt: its flag is not there to be claimed.
    busy: CpuId,
    ends: Vec<(Situation, Put)>,
}

impl Run<'_, '_> {
    /// `blocks` are done one after the other, the innermost first.
    fn block(&mut self, blocks: &[&[Stmt]], mut situation: Situation, frame: &Frame, put: Put) {
        let mut blocks = blocks.to_vec();
        let mut frame = frame.clone();
        let mut put = put;
        loop {
            let Some(block) = blocks.last_mut() else {
                return self.ends.push((situation, put));
            };
            let Some((stmt, rest)) = block.split_first() else {
                blocks.pop();
                continue;
            };
            *block = rest;
            let look = self.world.look(&situation, Some(self.task));
            match stmt {
                Stmt::Claim { slot, within, near, .. } => {
                    let near = frame.place(&look, near);
                    for found in self.idle(&situation, near, *within) {
                        let mut next = frame.clone();
                        next.set_slot(*slot, found);
                        self.block(&blocks, situation.clone(), &next, put);
                    }
                    return;
                }
                Stmt::Pick { slot, set, item, key, greatest } => {
                    let key = (set as &Set, *item, key, *greatest);
                    let picked = frame.pick(&look, &self.world.per, key);
                    frame.set_slot(*slot, picked);
                }
                Stmt::Let(slot, num) => {
                    let value = frame.num(&look, &self.world.per, num);
                    frame.set_local(*slot, value);
                }
                Stmt::SetTask(..) | Stmt::Kick { .. } => {}
                Stmt::SetCpu { var, cpu, value, add } => {
                    let cpu = frame.cpu(&look, cpu);
                    let value = frame.num(&look, &self.world.per, value);
                    let cell = &mut situation.vars[cpu.index()][*var];
                    *cell = if *add { cell.saturating_add(value) } else { value };
                }
                Stmt::Put(to) => {
                    let queue = to.queue.queue;
                    let group = frame.queue(&look, &to.queue, self.world.per[queue]);
                    situation.tasks[self.task].place = Place::Waits { queue, group };
                    put = Some((queue, group));
                }
                Stmt::Run { slot, .. } => {
                    if let Some(cpu) = frame.slots.get(*slot).copied().flatten() {
                        situation.tasks[self.task].place = Place::Runs(cpu);
                    }
                }
                Stmt::If { condition, then, otherwise } => {
                    let yes = frame.bool(&look, &self.world.per, condition);
                    blocks.push(if yes { then } else { otherwise });
                }
            }
        }
    }

    /// What a claim finds: any idle CPU, or none if there is none.
    fn idle(&self, situation: &Situation, near: At, within: Option<Level>) -> Vec<Option<CpuId>> {
        let task = &situation.tasks[self.task];
        let usable =
            |cpu: &CpuId| *cpu != self.busy && task.allowed(*cpu) && situation.is_idle(*cpu);
        let inside = self.world.inside(near, within).into_iter();
        let found: Vec<Option<CpuId>> = inside.filter(usable).map(Some).collect();
        if found.is_empty() { vec![None] } else { found }
    }
}
