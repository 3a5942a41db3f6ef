//! Forces a lost wakeup on the protocol that a text asks for: each step has to be possible, and the
//! same wakeup has to be lost at the end.

use wastenot_model::CpuSet;
use wastenot_rota::ir::Policy;

use super::names::{queue_of, small};
use super::real::wakes_nobody_else;
use super::{Forced, Recorded};
use crate::Error;
use crate::counterexample::annexes::{QueueOf, Row};
use crate::counterexample::wakeup::{Parts, in_words, parts};
use crate::counterexample::words::queue_in_words;
use crate::explore::World;
use crate::wakeup::search::{Kind, Places, kinds, system};
use crate::wakeup::state::State;
use crate::wakeup::{Cpus, SIZE_MAX, Step, System, explore};

/// The most states that are searched for another way to lose a wakeup.
const STATES: usize = 1_000_000;
/// The most steps that are taken until no step is left; no system needs as many.
const SETTLES: usize = 1_000;

/// Forces it on the system that `policy` makes of the protocol.
pub(super) fn force(recorded: &Recorded, policy: &Policy) -> Result<Forced, Error> {
    let small = small(policy, &recorded.machine)?;
    let (cpus, tasks) = (small.tree.cpus().len(), recorded.tables.tasks.len());
    if cpus > SIZE_MAX || tasks > SIZE_MAX {
        let what = format!("a lost wakeup with {cpus} CPUs and {tasks} tasks");
        return Err(Error::TooLarge { what, limit: SIZE_MAX });
    }
    let world = World::new(policy, &small);
    let all = kinds(&world);
    let mut chosen = Vec::new();
    for (n, task) in recorded.tables.tasks.iter().enumerate() {
        let missing = || Error::BadCell {
            table: "situation",
            row: n + 1,
            column: "queue",
            why: "is missing".to_owned(),
        };
        let queue = task.queue.as_ref().ok_or_else(missing)?;
        let queue = queue_of(recorded, policy, &small.tree, queue)?;
        let (allowed, [woken, direct]) =
            (bits(&task.allowed), [&task.woken, &task.direct].map(bits));
        let like = all.iter().filter(|kind| (kind.allowed, kind.queue) == (allowed, queue));
        let told = Kind { allowed, woken, direct, queue };
        // The recorded put, if the text still has it; otherwise the put that looks for the fewest
        // CPUs.
        let least = like.clone().min_by_key(|kind| kind.woken.count_ones());
        let Some(kind) = like.clone().find(|kind| **kind == told).or(least) else {
            let queue = queue_in_words(policy, queue);
            let words = format!(
                "no handler enqueues a task that may run on CPUs {} in {queue}",
                task.allowed
            );
            return Ok(Forced {
                same: 0,
                otherwise: vec![words],
                left_out: Vec::new(),
                still: None,
            });
        };
        chosen.push(*kind);
    }
    if let Err(why) = wakes_nobody_else(&world, &chosen) {
        let (otherwise, left_out) = (vec![why], Vec::new());
        return Ok(Forced { same: 0, otherwise, left_out, still: None });
    }
    let Some((system, places)) = system(&world, &chosen) else {
        let what = format!("{tasks} tasks in too many queues");
        return Err(Error::TooLarge { what, limit: crate::wakeup::QUEUES_MAX });
    };
    Ok(Run { policy, system: &system, places: &places }.of(&recorded.steps))
}

fn bits(cpus: &CpuSet) -> Cpus {
    cpus.iter().fold(0, |bits, cpu| bits | 1 << cpu.0)
}

struct Run<'r> {
    policy: &'r Policy,
    system: &'r System,
    places: &'r Places,
}

impl Run<'_> {
    fn of(&self, steps: &[Row]) -> Forced {
        let mut state = State::start();
        for (same, row) in steps.iter().enumerate() {
            let found = self.enabled(&state).into_iter().find(|(step, _)| self.is(step, row));
            match found {
                Some((_, next)) => state = next,
                None => return self.otherwise(same, state, Some(row)),
            }
        }
        match state.lost(self.system) {
            Some(_) => Forced {
                same: steps.len(),
                otherwise: Vec::new(),
                left_out: Vec::new(),
                still: None,
            },
            None => self.otherwise(steps.len(), state, None),
        }
    }

    fn enabled(&self, state: &State) -> Vec<(Step, State)> {
        let mut all = Vec::new();
        state.next(self.system, |step, next| all.push((step, next)));
        all
    }

    /// Whether a step is the one of a row.
    fn is(&self, step: &Step, row: &Row) -> bool {
        let Parts { kind, cpu, task, to, queue, into } = parts(step);
        let named = |at: Option<usize>| -> Option<QueueOf> {
            let (queue, group) = self.places[at?];
            Some((self.policy.queues[queue].name.clone(), group))
        };
        let number = |cpu: wastenot_model::CpuId| cpu.index();
        kind == row.kind
            && (cpu, task, to) == (row.cpu.map(number), row.task, row.to.map(number))
            && (named(queue), named(into)) == (row.queue.clone(), row.into.clone())
    }

    /// What happens instead: actions under way go on, first that of the CPU or task of the recorded
    /// step, but no new action begins.
    fn otherwise(&self, same: usize, mut state: State, row: Option<&Row>) -> Forced {
        let mut otherwise = Vec::new();
        let (cpu, task) = row.map_or((None, None), |row| (row.cpu, row.task));
        for n in 0..SETTLES {
            let its = |step: &Step| {
                let of = parts(step);
                let cpu = cpu.map(|cpu| cpu.index());
                n == 0
                    && (of.cpu.is_some() && of.cpu == cpu || of.task.is_some() && of.task == task)
            };
            let mut all = self.enabled(&state);
            let first = all.iter().position(|(step, _)| its(step));
            let next = first.or_else(|| all.iter().position(|(step, _)| !begins(step)));
            let Some(next) = next else { break };
            let (step, next) = all.swap_remove(next);
            otherwise.push(in_words(self.policy, self.places, &step));
            state = next;
        }
        otherwise.push(match state.lost(self.system) {
            Some((cpu, task)) => format!("task {task} waits, and CPU {cpu} sleeps"),
            None => "no sleeping CPU would take a waiting task".to_owned(),
        });
        let lost = explore(self.system, STATES).lost;
        let still = lost.map(|trace| {
            let steps = trace.steps.len();
            format!("another sequence of {steps} steps can lose a wakeup here")
        });
        Forced { same, otherwise, left_out: Vec::new(), still }
    }
}

/// Whether a step begins a new action and so is optional: a put, a move, the end of a run.
fn begins(step: &Step) -> bool {
    matches!(step, Step::Insert { .. } | Step::Move { .. } | Step::Arm { kicked: false, .. })
}
