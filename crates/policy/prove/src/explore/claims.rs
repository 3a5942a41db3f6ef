//! Whether a situation breaks a claim, and how.

use wastenot_model::CpuId;
use wastenot_rota::eval::{At, Frame};
use wastenot_rota::ir::{Attempt, Event};

use super::attempt::{Events, failing, never_finds};
use super::periodic::{circle, moves};
use super::placing::placed;
use super::situation::{Place, Situation, Task};
use super::step::Step;
use super::test::{Test, Wrong};
use super::world::World;
use crate::text::begins;

/// How a situation breaks a claim.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The CPU that it is about.
    pub cpu: CpuId,
    /// What happens.
    pub steps: Vec<Step>,
    /// What is wrong with that, in one sentence.
    pub why: String,
}

impl Test {
    /// Whether one situation is wrong, and how.
    pub fn breaks(&self, world: &World<'_>, situation: &Situation) -> Option<Broken> {
        let breaks = match self.wrong {
            Wrong::Fails => fails,
            Wrong::AllFail => all_fail,
            Wrong::Lost => lost,
            Wrong::NobodyBeginsThere => no_cpu_begins_there,
            Wrong::NotWoken => not_woken,
            Wrong::StealsForbidden => steals_what_it_may_not,
            Wrong::RunsInACircle => runs_in_a_circle,
        };
        breaks(world, situation, self)
    }
    fn events(&self) -> Events {
        Events { wakes: self.wakes, moves: self.moves, only: None }
    }
}

/// An attempt of an idle CPU fails though a task waits.
fn fails(world: &World<'_>, situation: &Situation, test: &Test) -> Option<Broken> {
    for &cpu in world.cpus() {
        let Some(task) = wanted(situation, cpu) else { continue };
        if let Some(steps) = failing(world, situation, cpu, test.events()) {
            let why = format!(
                "CPU {cpu} is idle and goes to sleep, although task {task} waits all the time and \
                 may run there"
            );
            return Some(Broken { cpu, steps, why });
        }
    }
    None
}

/// The attempts of all idle CPUs fail though a task waits that one of them may run.
fn all_fail(world: &World<'_>, situation: &Situation, test: &Test) -> Option<Broken> {
    let wanting = world.cpus().iter().find_map(|&cpu| Some((cpu, wanted(situation, cpu)?)));
    let (cpu, task) = wanting?;
    let all = |only| all_failing(world, situation, cpu, Events { only, ..test.events() });
    let steps = match test.moves {
        0 => all(None)?,
        // They fail beside one and the same move.
        _ => moves(world, situation).iter().find_map(|moved| all(Some(moved.what())))?,
    };
    let why = format!(
        "no idle CPU takes a task during a whole round, although task {task} waits and CPU {cpu} \
         is idle"
    );
    Some(Broken { cpu, steps, why })
}

/// How every idle CPU fails: what the one that it is about does.
fn all_failing(
    world: &World<'_>,
    situation: &Situation,
    about: CpuId,
    events: Events,
) -> Option<Vec<Step>> {
    let mut steps = None;
    for &cpu in world.cpus().iter().filter(|&&cpu| situation.is_idle(cpu)) {
        let failed = failing(world, situation, cpu, events)?;
        if cpu == about {
            steps = Some(failed);
        }
    }
    steps
}

fn wanted(situation: &Situation, cpu: CpuId) -> Option<usize> {
    situation.is_idle(cpu).then(|| situation.wanted_by(cpu)).flatten()
}

/// No task runs, tasks wait, and no CPU ever takes one.
fn lost(world: &World<'_>, situation: &Situation, test: &Test) -> Option<Broken> {
    let waits = |task: &Task| matches!(task.place, Place::Waits { .. });
    let first = situation.tasks.first().filter(|_| situation.tasks.iter().all(waits))?;
    let Place::Waits { queue, .. } = first.place else { return None };
    let cpu = world.cpus().iter().copied().find(|&cpu| first.allowed(cpu))?;
    if !world.cpus().iter().all(|&cpu| never_finds(world, situation, cpu)) {
        return None;
    }
    let steps = failing(world, situation, cpu, test.events())?;
    let name = &world.policy.queues[queue].name;
    let why = match situation.tasks.len() {
        1 => format!("no CPU that may run task 0 ever finds it in `{name}`"),
        _ => format!(
            "no task runs, and no CPU finds any of these tasks: all of them wait forever, task 0 \
             in `{name}`"
        ),
    };
    Some(Broken { cpu, steps, why })
}

/// No CPU that may run the task takes from its queue before all else.
fn no_cpu_begins_there(world: &World<'_>, situation: &Situation, _: &Test) -> Option<Broken> {
    let task = &situation.tasks[0];
    let Place::Waits { queue, group } = task.place else { return None };
    let look = world.look(situation, None);
    let begins = begins(world.policy);
    let first = |cpu: CpuId| match begins {
        Some(Attempt::Take(at, _)) if at.queue == queue => {
            world.frame_at(cpu).queue(&look, at, world.per[queue]) == group
        }
        _ => false,
    };
    let mut able = world.cpus().iter().copied().filter(|&cpu| task.allowed(cpu));
    let cpu = able.clone().next()?;
    if able.any(first) {
        return None;
    }
    let name = &world.policy.queues[queue].name;
    let why = format!(
        "tasks that arrive in other queues can keep task 0 waiting forever: no CPU that may run \
         task 0 takes from the queue `{name}` first"
    );
    let steps = vec![Step::Woken { task: 0, event: Event::Wake, prev: cpu, queue, group }];
    Some(Broken { cpu, steps, why })
}

/// A CPU that would find a task sleeps on, since its put does not look for this CPU: the CPUs for
/// which it looks are busy.
fn not_woken(world: &World<'_>, situation: &Situation, test: &Test) -> Option<Broken> {
    for (n, task) in situation.tasks.iter().enumerate() {
        let Place::Waits { queue, group } = task.place else { continue };
        for placed in placed(world, task.mask).iter() {
            if (placed.queue, placed.group) != (queue, group) {
                continue;
            }
            let mut idle = world
                .cpus()
                .iter()
                .copied()
                .filter(|&cpu| task.allowed(cpu) && situation.is_idle(cpu));
            let finds = |cpu| failing(world, situation, cpu, test.events()).is_none();
            // It sleeps, so nothing waits for it elsewhere, and what it finds it finds here.
            let elsewhere = |cpu: CpuId| {
                let waits = |other: &Task| {
                    let waits = matches!(other.place, Place::Waits { .. });
                    waits && other.place != task.place && other.allowed(cpu)
                };
                situation.tasks.iter().any(waits)
            };
            let takes = |cpu| !elsewhere(cpu) && finds(cpu);
            // One of those that are looked for is woken; who is kicked is of use if it takes tasks.
            let woken =
                |cpu| placed.looks_for(world, cpu) && (!placed.kicked.contains(&cpu) || finds(cpu));
            if idle.clone().any(woken) {
                continue;
            }
            if let Some(cpu) = idle.find(|&cpu| takes(cpu)) {
                let why = format!(
                    "task {n} waits, and CPU {cpu} would take this task. But CPU {cpu} sleeps and \
                     is never woken: the search for an idle CPU covers only CPUs of the {} of CPU \
                     {}",
                    placed.wake.name(),
                    placed.prev
                );
                let (event, prev) = (placed.event, placed.prev);
                let step = Step::Woken { task: n, event, prev, queue, group };
                return Some(Broken { cpu, steps: vec![step], why });
            }
        }
    }
    None
}

/// A steal that is not checked takes a task that may not run there.
fn steals_what_it_may_not(world: &World<'_>, situation: &Situation, _: &Test) -> Option<Broken> {
    each_candidate(world, situation, |cpu, group, passed| {
        let queue = world.policy.idle.as_ref()?.from;
        let task = situation.waiting(queue, group).next()?;
        let wrong = passed && !situation.tasks[task].allowed(cpu);
        wrong.then(|| {
            let steps = vec![Step::Read { group, passed }, Step::Stole { group, task }];
            let why = format!("CPU {cpu} runs task {task}, although the task may not run there");
            Broken { cpu, steps, why }
        })
    })
}

/// Every idle CPU, every candidate, and whether it passes the filter.
fn each_candidate(
    world: &World<'_>,
    situation: &Situation,
    mut of: impl FnMut(CpuId, usize, bool) -> Option<Broken>,
) -> Option<Broken> {
    let balance = world.policy.idle.as_ref()?;
    let per = world.per[balance.from];
    for &cpu in world.cpus().iter().filter(|&&cpu| situation.is_idle(cpu)) {
        for n in 0..balance.levels.len() {
            for group in world.tree().victims(cpu, per, &balance.levels, n) {
                let other = Some(At { level: per, group });
                let mut frame = Frame { other, ..world.frame_at(cpu) };
                let look = world.look(situation, None);
                let passed = frame.bool(&look, &world.per, &balance.filter);
                if let Some(broken) = of(cpu, group, passed) {
                    return Some(broken);
                }
            }
        }
    }
    None
}

/// Periodic balancing moves tasks for ever though nothing happens.
fn runs_in_a_circle(world: &World<'_>, situation: &Situation, _: &Test) -> Option<Broken> {
    let moves = circle(world, situation)?;
    let cpu = moves.first()?.by;
    let steps = moves.iter().map(Step::from).collect();
    let why = format!(
        "after {} moves the state is the same as at the start, so the moves can repeat forever",
        moves.len()
    );
    Some(Broken { cpu, steps, why })
}
