//! An attempt of an idle CPU, step by step, while others may wake tasks.
//!
//! What is looked for is one that fails although a task waits all the time that the CPU may run,
//! and nobody else took one: what Theorem 2 says there is not (docs/proofs.md).

use wastenot_model::CpuId;
use wastenot_rota::eval::{At, Frame};
use wastenot_rota::ir::{Attempt, Balance, Event};

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

/// How an attempt of `cpu`, which is idle, can fail from here on, though nobody takes a task.
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
    let at = Pc { attempt: 0, scan: None, situation: situation.clone(), events };
    attempt.fails(&at).then_some(attempt.steps)
}

/// Where an attempt is.
#[derive(Clone)]
struct Pc {
    /// Index into the policy's dispatch.
    attempt: usize,
    /// How far a balance is.
    scan: Option<Scan>,
    situation: Situation,
    /// What may still happen.
    events: Events,
}

/// How far a balance is at one of its levels.
#[derive(Clone)]
struct Scan {
    level: usize,
    /// Candidates that were not read yet.
    unread: Vec<usize>,
    /// Candidates that passed and were not tried yet, with what the re-check remembers.
    passed: Vec<(usize, Vec<i64>)>,
    /// How many may still be tried.
    tries: u64,
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
        match &at.scan {
            Some(scan) => self.scans(at, scan),
            None => self.next_attempt(at),
        }
    }

    fn next_attempt(&mut self, at: &Pc) -> bool {
        let policy = self.world.policy;
        match (policy.dispatch.get(at.attempt), &policy.idle) {
            (None, _) => {
                self.steps.push(Step::GivesUp);
                true
            }
            (Some(Attempt::Take(queue, _)), _) => {
                let look = self.world.look(&at.situation, None);
                let group = self.frame().queue(&look, queue, self.world.per[queue.queue]);
                if self.finds(&at.situation, queue.queue, group) {
                    return false;
                }
                self.steps.push(Step::Took { queue: queue.queue, group });
                self.fails(&Pc { attempt: at.attempt + 1, ..at.clone() })
            }
            (Some(Attempt::Balance), Some(balance)) => {
                let scan = Some(self.begin(balance, 0));
                self.goes_on(&Pc { scan, ..at.clone() })
            }
            (Some(Attempt::Balance), None) => {
                self.fails(&Pc { attempt: at.attempt + 1, ..at.clone() })
            }
        }
    }

    fn begin(&self, balance: &Balance, level: usize) -> Scan {
        let per = self.world.per[balance.from];
        let victims = self.world.tree().victims(self.cpu, per, &balance.levels, level);
        let mut unread: Vec<usize> = victims.collect();
        unread.reverse();
        let retry = balance.retry.filter(|_| !self.patient);
        let tries = retry.map_or(u64::MAX, |retry| retry.saturating_add(1));
        Scan { level, unread, passed: Vec::new(), tries }
    }

    fn scans(&mut self, at: &Pc, scan: &Scan) -> bool {
        let Some(balance) = &self.world.policy.idle else { return false };
        if let Some(&group) = scan.unread.last() {
            return self.reads(at, scan, balance, group);
        }
        if scan.passed.is_empty() || scan.tries == 0 {
            let level = scan.level + 1;
            let next = match level < balance.levels.len() {
                true => Pc { scan: Some(self.begin(balance, level)), ..at.clone() },
                false => Pc { scan: None, attempt: at.attempt + 1, ..at.clone() },
            };
            return self.goes_on(&next);
        }
        // Which is tried first matters only if not all are, or something happens meanwhile.
        let any = balance.retry.is_some() || at.events != Events::default();
        let orders = if any { scan.passed.len() } else { 1 };
        (0..orders).any(|index| self.tries(at, scan, balance, index))
    }

    fn reads(&mut self, at: &Pc, scan: &Scan, balance: &Balance, group: usize) -> bool {
        let look = self.world.look(&at.situation, None);
        let mut frame = self.balance_frame(balance, group);
        let passed = frame.bool(&look, &self.world.per, &balance.filter);
        self.steps.push(Step::Read { group, passed });
        let mut next = scan.clone();
        next.unread.pop();
        if passed {
            let remembered = balance.remembered();
            let seen = remembered.iter().map(|num| frame.num(&look, &self.world.per, num));
            next.passed.push((group, seen.collect()));
        }
        self.fails(&Pc { scan: Some(next), ..at.clone() })
    }

    fn tries(&mut self, at: &Pc, scan: &Scan, balance: &Balance, index: usize) -> bool {
        let mut next = scan.clone();
        let (group, seen) = next.passed.remove(index);
        next.tries -= 1;
        let steps = self.steps.len();
        let there = self.finds(&at.situation, balance.from, group);
        let refused = there && !self.rechecks(&at.situation, balance, group, seen);
        if there && !refused {
            return false;
        }
        self.steps.push(Step::Tried { group, refused });
        let fails = self.fails(&Pc { scan: Some(next), ..at.clone() });
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
