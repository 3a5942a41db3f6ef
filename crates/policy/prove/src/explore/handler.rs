//! What a handler does to a situation, whatever it may find.

use wastenot_model::CpuId;
use wastenot_rota::eval::Frame;
use wastenot_rota::ir::{Bool, Event, Level, Place as Where, Stmt};
use wastenot_rota::paths::{Best, Way, follow};

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
            let situation = situation.clone();
            let run = Run { world, task, busy: cpu, situation, frame, put: None };
            let mut ends = Vec::new();
            let body = &world.policy.handlers[Event::Wake as usize];
            follow(body, run, &mut |run| ends.push((run.situation, run.put)));
            for (after, put) in ends {
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

/// A way through the handler, as far as it was gone.
#[derive(Clone)]
struct Run<'w, 'p> {
    world: &'w World<'p>,
    task: usize,
    /// The CPU in an attempt: its flag is not there to be claimed.
    busy: CpuId,
    situation: Situation,
    frame: Frame,
    /// Where the task was put, if it was.
    put: Option<(usize, usize)>,
}

impl<'p> Way<'p> for Run<'_, 'p> {
    fn does(&mut self, stmt: &'p Stmt) -> bool {
        let look = self.world.look(&self.situation, Some(self.task));
        match stmt {
            Stmt::Let(slot, num) => {
                let value = self.frame.num(&look, &self.world.per, num);
                self.frame.set_local(*slot, value);
            }
            Stmt::SetCpu { var, cpu, value, add } => {
                let cpu = self.frame.cpu(&look, cpu);
                let value = self.frame.num(&look, &self.world.per, value);
                let cell = &mut self.situation.vars[cpu.index()][*var];
                *cell = if *add { cell.saturating_add(value) } else { value };
            }
            Stmt::Put(to) => {
                let queue = to.queue.queue;
                let group = self.frame.queue(&look, &to.queue, self.world.per[queue]);
                self.situation.tasks[self.task].place = Place::Waits { queue, group };
                self.put = Some((queue, group));
            }
            Stmt::Run { slot, .. } => {
                if let Some(cpu) = self.frame.slots.get(*slot).copied().flatten() {
                    self.situation.tasks[self.task].place = Place::Runs(cpu);
                }
            }
            _ => {}
        }
        true
    }

    /// A claim finds any idle CPU, or none if there is none.
    fn claims(self, slot: usize, within: Option<Level>, near: &'p Where) -> Vec<Self> {
        let look = self.world.look(&self.situation, Some(self.task));
        let task = &self.situation.tasks[self.task];
        let usable =
            |cpu: &CpuId| *cpu != self.busy && task.allowed(*cpu) && self.situation.is_idle(*cpu);
        let inside = self.world.inside(self.frame.place(&look, near), within).into_iter();
        let mut found: Vec<Option<CpuId>> = inside.filter(usable).map(Some).collect();
        if found.is_empty() {
            found.push(None);
        }
        let with = |cpu| {
            let mut next = self.clone();
            next.frame.set_slot(slot, cpu);
            next
        };
        found.into_iter().map(with).collect()
    }

    fn picks(mut self, slot: usize, best: Best<'p>) -> Vec<Self> {
        let look = self.world.look(&self.situation, Some(self.task));
        let picked = self.frame.pick(&look, &self.world.per, best);
        self.frame.set_slot(slot, picked);
        vec![self]
    }

    fn branches(
        mut self,
        condition: &'p Bool,
        then: &'p [Stmt],
        otherwise: &'p [Stmt],
    ) -> Vec<(Self, &'p [Stmt])> {
        let look = self.world.look(&self.situation, Some(self.task));
        let yes = self.frame.bool(&look, &self.world.per, condition);
        vec![(self, if yes { then } else { otherwise })]
    }
}
