//! How a policy uses the protocol on small machines: which CPUs would find which task, and for
//! which CPUs its put looks. Machines with the fewest CPUs come first, then the fewest tasks.

use std::collections::BTreeSet;

use wastenot_model::CpuId;
use wastenot_rota::eval::{At, Frame};
use wastenot_rota::ir::{Attempt, Balance, Policy, Stmt};

use super::symmetry::permutations;
use super::{Cpus, Move, Queue, SIZE_MAX, System, Trace, Variant, explore};
use crate::explore::{Place, Situation, Task, World, placed};
use crate::{Small, machines};

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// CPUs, at most [`SIZE_MAX`].
    pub cpus: usize,
    /// Tasks, at most [`SIZE_MAX`].
    pub tasks: usize,
    /// The states of all systems together.
    pub states: usize,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Searched {
    /// A machine, the system that the policy makes there, and the trace that loses a wakeup. No
    /// such machine has fewer CPUs, and none with as many CPUs needs fewer tasks.
    pub lost: Option<(Small, System, Trace)>,
    /// How many systems were explored.
    pub systems: usize,
    /// How many states these systems have.
    pub states: usize,
    /// The number of tasks up to which all systems were explored completely, with everything that
    /// the policy does. Moves of periodic balancing are explored with one task only. 0: not even
    /// systems of one task.
    pub complete: usize,
}

/// Looks for a lost wakeup. Each task comes once; any number of them may come at the same time.
pub fn search(policy: &Policy, bounds: Bounds) -> Searched {
    let moves = policy.periodic.iter().any(|periodic| periodic.balance.into.is_some());
    let complete = if moves { bounds.tasks.min(1) } else { bounds.tasks };
    let mut searched = Searched { lost: None, systems: 0, states: 0, complete };
    for cpus in 1..=bounds.cpus.min(SIZE_MAX) {
        let machines = machines(policy, cpus);
        for tasks in 1..=bounds.tasks.min(SIZE_MAX) {
            for small in &machines {
                let Some(systems) = systems(policy, small, tasks) else {
                    searched.complete = searched.complete.min(tasks - 1);
                    continue;
                };
                for system in systems {
                    let left = bounds.states.saturating_sub(searched.states);
                    let explored = explore(&system, left);
                    searched.systems += 1;
                    searched.states += explored.states;
                    if !explored.complete {
                        searched.complete = searched.complete.min(tasks - 1);
                    }
                    if let Some(trace) = explored.lost {
                        searched.lost = Some((small.clone(), system, trace));
                        return searched;
                    }
                }
            }
        }
    }
    searched
}

/// A kind of put: the affinity of the task, and where it comes to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    pub(crate) allowed: Cpus,
    pub(crate) woken: Cpus,
    pub(crate) direct: Cpus,
    /// The queue of the policy, and its group.
    pub(crate) queue: (usize, usize),
}

/// For each queue of a system, the queue of the policy and its group.
pub(crate) type Places = Vec<(usize, usize)>;

/// The systems of so many tasks on a machine: one for every choice of affinities and of the CPUs
/// where the tasks were last. Of systems that differ only in names of CPUs, one is kept. `None`: a
/// system has more than [`QUEUES_MAX`](super::QUEUES_MAX) queues.
pub fn systems(policy: &Policy, small: &Small, tasks: usize) -> Option<Vec<System>> {
    Some(made(policy, small, tasks)?.into_iter().map(|made| made.system).collect())
}

/// A system, and the puts and queues that it is made of.
pub(crate) struct Made {
    pub(crate) system: System,
    /// The put of each task.
    pub(crate) kinds: Vec<Kind>,
    pub(crate) places: Places,
}

/// The systems of [`systems`], with the puts and queues that they are made of.
pub(crate) fn made(policy: &Policy, small: &Small, tasks: usize) -> Option<Vec<Made>> {
    let world = World::new(policy, small);
    let kinds: Vec<Kind> = kinds(&world).into_iter().collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let mut choice = vec![0; tasks];
    loop {
        let chosen = choice.iter().filter_map(|&kind| kinds.get(kind).copied());
        let chosen: Vec<Kind> = chosen.collect();
        if chosen.len() == tasks {
            let (system, places) = system(&world, &chosen)?;
            if seen.insert(shape(&system)) {
                found.push(Made { system, kinds: chosen, places });
            }
        }
        // The next multiset: choices never decrease.
        let Some(place) = choice.iter().rposition(|&kind| kind + 1 < kinds.len()) else {
            return Some(found);
        };
        let next = choice[place] + 1;
        choice[place..].fill(next);
    }
}

pub(crate) fn kinds(world: &World<'_>) -> BTreeSet<Kind> {
    let mut kinds = BTreeSet::new();
    for mask in 1..1u32 << world.cpus().len() {
        for placed in placed(world, mask).iter() {
            let looked_for = world.cpus().iter().copied();
            let queue = (placed.queue, placed.group);
            let allowed = mask as Cpus;
            let handler = &world.policy.handlers[placed.event as usize];
            kinds.insert(Kind {
                allowed,
                woken: allowed & set_of(looked_for.filter(|&cpu| placed.looks_for(world, cpu))),
                direct: if runs_directly(handler) { allowed } else { 0 },
                queue,
            });
        }
    }
    kinds
}

/// The CPUs that look into a queue: a CPU that takes from it, or that has it as a candidate when
/// idle and would take a task that waits there. Another obligation shows that the filter keeps no
/// CPU away from a waiting task.
fn readers(world: &World<'_>, (queue, group): (usize, usize)) -> Cpus {
    let attempts = world.policy.dispatch.iter();
    let reads =
        |cpu: CpuId| attempts.clone().any(|attempt| looks(world, cpu, attempt, (queue, group)));
    set_of(world.cpus().iter().copied().filter(|cpu| reads(*cpu)))
}

fn looks(world: &World<'_>, cpu: CpuId, attempt: &Attempt, at: (usize, usize)) -> bool {
    let tree = world.tree();
    match (attempt, &world.policy.idle) {
        (Attempt::Take(queue, _), _) => {
            let frame = world.frame_at(cpu);
            let empty = Situation { tasks: Vec::new(), vars: world.vars() };
            let look = world.look(&empty, None);
            (queue.queue, frame.queue(&look, queue, world.per[queue.queue])) == at
        }
        (Attempt::Balance, Some(balance)) if balance.from == at.0 => {
            let per = world.per[balance.from];
            let mut levels = 0..balance.levels.len();
            levels.any(|n| tree.victims(cpu, per, &balance.levels, n).any(|group| group == at.1))
                && would_take(world, cpu, balance, at)
        }
        (Attempt::Balance, _) => false,
    }
}

/// Whether an idle CPU takes a task from a candidate, wherever one other task is.
fn would_take(world: &World<'_>, cpu: CpuId, balance: &Balance, at: (usize, usize)) -> bool {
    let mask = set(world.cpus()).into();
    let task = |place| Task { place, mask, weight: 100 };
    let runs = world.cpus().iter().filter(|&&other| other != cpu).map(|&cpu| Place::Runs(cpu));
    let queues = (0..world.per.len()).flat_map(|queue| {
        let groups = 0..world.tree().count(world.per[queue]);
        groups.map(move |group| Place::Waits { queue, group })
    });
    let asks = |other: Option<Place>| {
        let waits = Place::Waits { queue: at.0, group: at.1 };
        let tasks = std::iter::once(waits).chain(other).map(task).collect();
        let situation = Situation { tasks, vars: world.vars() };
        let look = world.look(&situation, Some(0));
        let other = Some(At { level: world.per[at.0], group: at.1 });
        let mut frame = Frame { other, ..world.frame_at(cpu) };
        frame.bool(&look, &world.per, &balance.filter)
            && frame.bool(&look, &world.per, &balance.recheck)
    };
    runs.chain(queues).map(Some).chain([None]).all(asks)
}

fn runs_directly(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Run { .. } => true,
        Stmt::If { then, otherwise, .. } => runs_directly(then) || runs_directly(otherwise),
        _ => false,
    })
}

/// A system of these tasks, with the queues in which they can be. `None`: too many queues.
pub(crate) fn system(world: &World<'_>, kinds: &[Kind]) -> Option<(System, Places)> {
    let policy = world.policy;
    let mut places: Vec<(usize, usize)> = Vec::new();
    for kind in kinds {
        if !places.contains(&kind.queue) {
            places.push(kind.queue);
        }
    }
    let homes = places.len();
    let mut moves = Vec::new();
    // Moves multiply states, so they are explored with one task only.
    let periodic = if kinds.len() == 1 { policy.periodic.as_slice() } else { &[] };
    for balance in periodic.iter().map(|periodic| &periodic.balance) {
        let Some(into) = balance.into else { continue };
        for group in 0..world.tree().count(world.per[into]) {
            let to = (into, group);
            let by = set(world.tree().members(world.per[into], group));
            for from in 0..homes {
                if places[from] == to || places[from].0 != balance.from {
                    continue;
                }
                let known = places.iter().position(|place| *place == to);
                let into = known.unwrap_or_else(|| {
                    places.push(to);
                    places.len() - 1
                });
                moves.push(Move { from, into, by, wakes: true });
            }
        }
    }
    let queue = |place: &(usize, usize)| Queue {
        readers: readers(world, *place),
        fifo: policy.queues[place.0].key.is_none(),
    };
    let task = |kind: &Kind| super::Task {
        allowed: kind.allowed,
        woken: kind.woken,
        direct: kind.direct,
        queue: places.iter().position(|place| *place == kind.queue).unwrap_or_default(),
    };
    if places.len() > super::QUEUES_MAX {
        return None;
    }
    let system = System {
        cpus: world.cpus().len(),
        tasks: kinds.iter().map(task).collect(),
        again: false,
        queues: places.iter().map(queue).collect(),
        moves,
        enqueuers: kinds.len(),
        variant: Variant::of(&policy.protocol),
    };
    Some((system, places))
}

fn set(cpus: &[CpuId]) -> Cpus {
    set_of(cpus.iter().copied())
}

fn set_of(cpus: impl Iterator<Item = CpuId>) -> Cpus {
    cpus.fold(0, |all, cpu| all | 1 << cpu.0)
}

/// A key that is equal only for systems that differ just in names. Some such systems may still have
/// different keys.
fn shape(system: &System) -> Vec<[u8; 6]> {
    let renamed = |names: [usize; SIZE_MAX]| {
        let moved = |set: Cpus| {
            let of = |cpu: &usize| set >> cpu & 1 == 1;
            (0..system.cpus).filter(of).fold(0, |all, cpu| all | 1 << names[cpu])
        };
        let task = |task: &super::Task| {
            let queue = &system.queues[task.queue];
            let (allowed, woken, direct) = (task.allowed, task.woken, task.direct);
            let [allowed, woken, direct, readers] =
                [allowed, woken, direct, queue.readers].map(moved);
            [allowed, woken, direct, readers, u8::from(queue.fifo), task.queue as u8]
        };
        let mut tasks: Vec<[u8; 6]> = system.tasks.iter().map(task).collect();
        tasks.sort();
        let mut order: Vec<u8> = Vec::new();
        for task in &mut tasks {
            let known = order.iter().position(|queue| *queue == task[5]);
            task[5] = known.unwrap_or_else(|| {
                order.push(task[5]);
                order.len() - 1
            }) as u8;
        }
        let moves = system.moves.iter().map(|at| {
            [at.from as u8, at.into as u8, at.by, moved(system.queues[at.into].readers), 0, 0xff]
        });
        tasks.extend(moves);
        tasks
    };
    let least = permutations(system.cpus).into_iter().map(renamed).min();
    least.unwrap_or_default()
}
