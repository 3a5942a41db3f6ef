//! An attempt of an idle CPU, step by step, while others may wake tasks.
//!
//! The search looks for an attempt that fails although a task that the CPU may run waits all the
//! time, and no other CPU took a task. Theorem 2 states that no such attempt exists
//! (docs/explain/proofs.md).

use wastenot_model::CpuId;
use wastenot_rota::attempt::{Next, Places, Progress};
use wastenot_rota::eval::{At, Frame};
use wastenot_rota::ir::{Balance, Event, QueueAt};

use super::handler::{self, Woken};
use super::periodic::{self, Moved, What};
use super::situation::Situation;
use super::step::Step;
use super::world::World;

/// What others may do during an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// So many tasks are woken at most.
    pub wakes: usize,
    /// So many are moved by periodic balancing at most, and by other CPUs.
    pub moves: usize,
    /// If any is moved, it is this move.
    pub only: Option<What>,
}

/// How an attempt of the idle CPU `cpu` can fail from here on, though no other CPU takes a task.
pub fn failing(
    world: &World<'_>,
    situation: &Situation,
    cpu: CpuId,
    events: Events,
) -> Option<Vec<Step>> {
    run(Running { world, cpu, patient: false, steps: Vec::new() }, situation, events)
}

/// Whether attempts of `cpu` fail whichever candidates are tried, however often it begins anew.
pub(super) fn never_finds(world: &World<'_>, situation: &Situation, cpu: CpuId) -> bool {
    let patient = Running { world, cpu, patient: true, steps: Vec::new() };
    run(patient, situation, Events::default()).is_some()
}

fn run(mut attempt: Running<'_, '_>, situation: &Situation, events: Events) -> Option<Vec<Step>> {
    let progress = if attempt.patient { Progress::patient() } else { Progress::default() };
    let at = Pc { progress, situation: situation.clone(), events };
    attempt.fails(&at).then_some(attempt.steps)
}

/// Where an attempt is.
#[derive(Clone)]
struct Pc {
    progress: Progress,
    situation: Situation,
    /// What may still happen.
    events: Events,
}

/// Where a CPU looks in a situation.
struct Looks<'a, 'p> {
    world: &'a World<'p>,
    situation: &'a Situation,
    cpu: CpuId,
}

impl Places for Looks<'_, '_> {
    fn own(&self, queue: &QueueAt) -> (usize, usize) {
        let look = self.world.look(self.situation, None);
        let per = self.world.per[queue.queue];
        (queue.queue, self.world.frame_at(self.cpu).queue(&look, queue, per))
    }
    fn candidates(&self, level: usize) -> Vec<usize> {
        let Some(balance) = &self.world.policy.idle else { return Vec::new() };
        let per = self.world.per[balance.from];
        self.world.tree().victims(self.cpu, per, &balance.levels, level).collect()
    }
}

struct Running<'w, 'p> {
    world: &'w World<'p>,
    cpu: CpuId,
    /// It tries every candidate, whatever `retry` says.
    patient: bool,
    steps: Vec<Step>,
}

impl Running<'_, '_> {
    /// Whether the attempt can fail; `steps` says how.
    fn fails(&mut self, at: &Pc) -> bool {
        let steps = self.steps.len();
        if self.goes_on(at) {
            return true;
        }
        self.steps.truncate(steps);
        self.fails_after_another(at)
    }

    /// Whether it can fail if something happens now.
    fn fails_after_another(&mut self, at: &Pc) -> bool {
        let Events { wakes, moves, only } = at.events;
        let mut next = Vec::new();
        if wakes > 0 {
            let events = Events { wakes: wakes - 1, ..at.events };
            for woken in handler::wakes(self.world, &at.situation, self.cpu) {
                let Woken { task, prev, queue, group, after } = woken;
                let event = Event::Wake;
                next.push((Step::Woken { task, event, prev, queue, group }, after, events));
            }
        }
        if moves > 0 {
            let events = Events { moves: moves - 1, ..at.events };
            let others = |moved: &Moved| {
                moved.by != self.cpu && only.is_none_or(|only| only == moved.what())
            };
            let all = periodic::moves(self.world, &at.situation).into_iter();
            for moved in all.filter(others) {
                next.push((Step::from(&moved), moved.after, events));
            }
        }
        let steps = self.steps.len();
        next.into_iter().any(|(step, situation, events)| {
            self.steps.push(step);
            let fails = self.fails(&Pc { situation, events, ..at.clone() });
            if !fails {
                self.steps.truncate(steps);
            }
            fails
        })
    }

    /// The next step of the CPU itself.
    fn goes_on(&mut self, at: &Pc) -> bool {
        let (policy, cpu) = (self.world.policy, self.cpu);
        let mut progress = at.progress.clone();
        let looks = Looks { world: self.world, situation: &at.situation, cpu };
        let all = match progress.next(policy, &looks) {
            Next::Sleeps => {
                self.steps.push(Step::GivesUp);
                return true;
            }
            Next::Takes((queue, group)) => {
                if self.finds(&at.situation, queue, group) {
                    return false;
                }
                self.steps.push(Step::Took { queue, group });
                progress.took_none();
                return self.fails(&Pc { progress, ..at.clone() });
            }
            Next::Reads(unread) => {
                let group = unread[0];
                return self.reads(at, progress, group);
            }
            Next::Tries(passed) => passed.iter().map(|(group, _)| *group).collect::<Vec<usize>>(),
        };
        let Some(balance) = &policy.idle else { return false };
        // Which is tried first matters only if not all are, or something happens meanwhile.
        let any = balance.retry.is_some() || at.events != Events::default();
        let orders = if any { &all[..] } else { &all[..1] };
        orders.iter().any(|&group| self.tries(at, progress.clone(), balance, group))
    }

    fn reads(&mut self, at: &Pc, mut progress: Progress, group: usize) -> bool {
        let Some(balance) = &self.world.policy.idle else { return false };
        let look = self.world.look(&at.situation, None);
        let mut frame = self.balance_frame(balance, group);
        let passed = frame.bool(&look, &self.world.per, &balance.filter);
        self.steps.push(Step::Read { group, passed });
        let seen = passed.then(|| {
            let remembered = balance.remembered();
            remembered.iter().map(|num| frame.num(&look, &self.world.per, num)).collect()
        });
        progress.read(group, seen);
        self.fails(&Pc { progress, ..at.clone() })
    }

    fn tries(&mut self, at: &Pc, mut progress: Progress, balance: &Balance, group: usize) -> bool {
        let seen = progress.tries(group);
        let steps = self.steps.len();
        let there = self.finds(&at.situation, balance.from, group);
        let refused = there && !self.rechecks(&at.situation, balance, group, seen);
        if there && !refused {
            return false;
        }
        self.steps.push(Step::Tried { group, refused });
        let fails = self.fails(&Pc { progress, ..at.clone() });
        if !fails {
            self.steps.truncate(steps);
        }
        fails
    }

    /// Whether the re-check lets some task go that may run here.
    fn rechecks(
        &self,
        situation: &Situation,
        balance: &Balance,
        group: usize,
        seen: Vec<i64>,
    ) -> bool {
        let mut frame = Frame { seen, ..self.balance_frame(balance, group) };
        let mut tasks = situation.waiting(balance.from, group);
        tasks.any(|task| {
            let look = self.world.look(situation, Some(task));
            situation.tasks[task].allowed(self.cpu)
                && frame.bool(&look, &self.world.per, &balance.recheck)
        })
    }

    fn finds(&self, situation: &Situation, queue: usize, group: usize) -> bool {
        let mut tasks = situation.waiting(queue, group);
        tasks.any(|task| situation.tasks[task].allowed(self.cpu))
    }

    fn frame(&self) -> Frame {
        self.world.frame_at(self.cpu)
    }

    fn balance_frame(&self, balance: &Balance, group: usize) -> Frame {
        let other = At { level: self.world.per[balance.from], group };
        Frame { other: Some(other), ..self.frame() }
    }
}
