//! Whether a trace is real: a run of the interpreter leads to its initial state, and from there the
//! interpreter takes each of its steps, handlers included. Every trace that a search finds has to
//! pass this test before it refutes a claim, and so does every counterexample that is forced.

use wastenot_model::CpuId;
use wastenot_rota::ir::{Attempt, ClaimKind, Event, Policy, Stmt, Visitor, visit_block};

use super::lead::{Goal, Run, runs, weights};
use super::names::Told;
use super::stage::Stage;
use super::{Otherwise, force};
use crate::explore::{
    Broken, Confirm, Found, Place, Placed, Situation, Step, Task, Test, World, Wrong, fitting,
    placed, waits,
};
use crate::text::Compared;
use crate::wakeup::search::Kind;

/// The most runs that are tried for each trace that a search finds.
const TRIES: usize = 600;
/// The most runs that lead there and are examined.
const LOOKED: usize = 8;
/// The most situations with rivals that are kept for each CPU.
const RIVALS: usize = 12;

/// The number of runs that are tried for one claim.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    left: usize,
    /// Whether some trace was found to which no run leads.
    unreal: bool,
}

impl Patience {
    pub(crate) fn new() -> Patience {
        Patience { left: 6_000, unreal: false }
    }
}

impl Confirm for Patience {
    /// A real trace like `found`. It has other values of variables if no run leads to the given
    /// ones. `None`: no run leads there, or the trace then breaks no claim.
    fn confirm(&mut self, world: &World<'_>, test: &Test, found: &Found) -> Option<Found> {
        let mut tries = TRIES.min(self.left);
        let given = tries;
        let variants = variants(world, test, found);
        let real = variants.iter().find_map(|it| real(world, test, it, &mut tries));
        self.left -= given - tries;
        self.unreal |= real.is_none();
        real
    }
    fn is_over(&self) -> bool {
        self.left == 0
    }
    fn has_doubt(&self) -> bool {
        self.unreal
    }
}

/// Variants of a trace. It is enough that one of them is real.
fn variants(world: &World<'_>, test: &Test, found: &Found) -> Vec<Found> {
    let with = |situation, steps| Found { situation, steps, ..found.clone() };
    match (test.wrong, found.steps.first()) {
        (Wrong::NotWoken, Some(&Step::Woken { task, queue, group, .. })) => {
            let all = placed(world, found.situation.tasks[task].mask);
            let there = all.iter().filter(|it| (it.queue, it.group) == (queue, group));
            let step =
                |it: &Placed| Step::Woken { task, event: it.event, prev: it.prev, queue, group };
            let mut steps: Vec<Step> = there.map(step).collect();
            steps.dedup();
            steps.into_iter().map(|step| with(found.situation.clone(), vec![step])).collect()
        }
        (Wrong::NobodyBeginsThere, _) => {
            let all = rivals(world, &found.situation);
            all.into_iter().map(|it| with(it, found.steps.clone())).collect()
        }
        _ => vec![found.clone()],
    }
}

fn real(world: &World<'_>, test: &Test, found: &Found, tries: &mut usize) -> Option<Found> {
    let goal = goal(world, found.wrong, &found.situation, &found.steps);
    for Run { forced, situation } in runs(goal, tries).take(LOOKED) {
        let mut found = Found { situation, ..found.clone() };
        if !matches!(test.wrong, Wrong::NotWoken | Wrong::NobodyBeginsThere) {
            let Some(broken) = test.breaks(world, &found.situation) else { continue };
            if last(test.wrong, &broken.steps) != goal.last {
                continue;
            }
            (found.cpu, found.steps, found.why) = (broken.cpu, broken.steps, broken.why);
        }
        let told = Told::of_found(world, &found);
        if force(&mut Stage::at(&told, forced)).is_ok() {
            return Some(found);
        }
    }
    None
}

/// How a situation still breaks a claim, if a real trace does.
pub(super) fn still(world: &World<'_>, situation: &Situation, claim: &ClaimKind) -> Option<String> {
    let mut patience = Patience::new();
    fitting(world.policy, situation, claim).into_iter().find_map(|test| {
        let Broken { cpu, steps, why } = test.breaks(world, situation)?;
        let (wrong, small) = (Some(test.wrong), world.small.clone());
        let found = Found { wrong, small, situation: situation.clone(), cpu, steps, why };
        Some(patience.confirm(world, &test, &found)?.why)
    })
}

/// The run in which a counterexample is forced. `Otherwise`: no run was found that leads to its
/// initial state.
pub(super) fn led(told: &mut Told<'_>) -> Result<Run, Otherwise> {
    let (world, mut tries) = (told.world(), TRIES);
    let steps: Vec<Step> = told.steps.iter().map(|(step, _)| step.clone()).collect();
    let goal = goal(&world, told.wrong, &told.situation, &steps);
    let mut first = None;
    for run in runs(goal, &mut tries).take(LOOKED) {
        if run.situation == told.situation {
            return Ok(run);
        }
        first.get_or_insert(run);
    }
    let run = first.ok_or_else(|| {
        Otherwise(vec![
            "the search found no run that leads to the initial state of the counterexample"
                .to_owned(),
        ])
    })?;
    drop(world);
    told.situation = run.situation.clone();
    Ok(run)
}

fn goal<'g>(
    world: &'g World<'g>,
    wrong: Option<Wrong>,
    situation: &'g Situation,
    steps: &[Step],
) -> Goal<'g> {
    let asleep = wrong == Some(Wrong::NotWoken);
    let last = wrong.and_then(|wrong| last(wrong, steps));
    Goal { world, situation, last, asleep }
}

/// The task that one of the steps puts, so that the run must not put it before.
fn last(wrong: Wrong, steps: &[Step]) -> Option<(usize, Event, CpuId)> {
    steps.iter().find_map(|step| match *step {
        Step::Woken { task, event, prev, .. } if wrong != Wrong::NobodyBeginsThere => {
            Some((task, event, prev))
        }
        _ => None,
    })
}

/// Situations with the first task of a situation and, for each CPU that may run it, another task
/// that the CPU may find first. The last one is the situation without any such task.
fn rivals(world: &World<'_>, situation: &Situation) -> Vec<Situation> {
    let Some(task) = situation.tasks.first() else { return Vec::new() };
    let mut all = vec![situation.clone()];
    for &cpu in world.cpus().iter().filter(|&&cpu| task.allowed(cpu)) {
        let more = all.iter().flat_map(|situation| {
            let rivals = rivals_on(world, task, cpu);
            rivals.into_iter().map(|rival| {
                let mut situation = situation.clone();
                situation.tasks.push(rival);
                situation
            })
        });
        let more: Vec<Situation> = more.take(RIVALS).collect();
        // A CPU without a rival finds no task, or the first task.
        all = if more.is_empty() { all } else { more };
    }
    all.push(situation.clone());
    all
}

/// Tasks that a CPU may take before `task`: they wait in a queue from which it takes, or in any
/// queue if it balances.
fn rivals_on(world: &World<'_>, task: &Task, cpu: CpuId) -> Vec<Task> {
    let (frame, empty) = (world.frame_at(cpu), Situation { tasks: Vec::new(), vars: world.vars() });
    let look = world.look(&empty, None);
    let weights = weights(&Compared::of(world.policy));
    let mut rivals = Vec::new();
    for attempt in &world.policy.dispatch {
        let own = match attempt {
            Attempt::Take(at, _) => Some((at.queue, frame.queue(&look, at, world.per[at.queue]))),
            Attempt::Balance => None,
        };
        let all = (1 << world.cpus().len()) - 1;
        for mask in [1 << cpu.0, task.mask, task.mask | 1 << cpu.0, all] {
            for &(queue, group) in waits(world, mask).iter() {
                let place = Place::Waits { queue, group };
                let fits = own.is_none_or(|own| own == (queue, group)) && place != task.place;
                for weight in weights.iter().filter(|_| fits).map(|it| it.unwrap_or(100)) {
                    let rival = Task { place, mask, weight };
                    if !rivals.contains(&rival) {
                        rivals.push(rival);
                    }
                }
            }
        }
    }
    rivals
}

/// Whether a lost wakeup is real. Its steps are those of the protocol, so no handler may kick a CPU
/// besides; and a run has to put each of its tasks where it waits.
pub(crate) fn wakes_nobody_else(world: &World<'_>, kinds: &[Kind]) -> Result<(), String> {
    if kicks(world.policy) {
        return Err("a handler kicks CPUs, but the recorded steps do not contain kicks".to_owned());
    }
    for (n, kind) in kinds.iter().enumerate() {
        let (queue, group) = kind.queue;
        // A CPU from which a task is displaced looks for the next one at once: no other CPU need.
        let comes = |it: &Placed| matches!(it.event, Event::New | Event::Wake);
        let like = |it: &Placed| (it.queue, it.group) == kind.queue && woken(world, kind, it);
        if !placed(world, kind.allowed.into()).iter().any(|it| comes(it) && like(it)) {
            return Err(format!("task {n} was displaced, and its CPU looks for the next task"));
        }
        let (place, mask) = (Place::Waits { queue, group }, u32::from(kind.allowed));
        let tasks = vec![Task { place, mask, weight: 100 }];
        let situation = Situation { tasks, vars: world.vars() };
        let mut tries = TRIES;
        let goal = Goal { world, situation: &situation, last: None, asleep: false };
        if runs(goal, &mut tries).next().is_none() {
            return Err(format!(
                "the search found no run in which a handler enqueues task {n} in its queue"
            ));
        }
    }
    Ok(())
}

/// Whether a put looks for the same CPUs.
fn woken(world: &World<'_>, kind: &Kind, put: &Placed) -> bool {
    let looked_for = |&&cpu: &&CpuId| put.looks_for(world, cpu);
    let all = world.cpus().iter().filter(looked_for).fold(0, |all, cpu| all | 1 << cpu.0);
    kind.woken == kind.allowed & all
}

/// Whether a handler that places its task kicks a CPU.
fn kicks(policy: &Policy) -> bool {
    struct Kicks(bool);
    impl Visitor for Kicks {
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 |= matches!(stmt, Stmt::Kick { .. });
        }
    }
    let mut kicks = Kicks(false);
    let places = Event::ALL.into_iter().filter(|event| event.places());
    places.for_each(|event| visit_block(&policy.handlers[event as usize], &mut kicks));
    kicks.0
}
