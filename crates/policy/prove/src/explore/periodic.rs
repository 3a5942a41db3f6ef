//! What periodic balancing does to a situation: one task moved is one step.

use wastenot_model::CpuId;
use wastenot_rota::eval::{At, Frame};
use wastenot_rota::ir::Periodic;

use super::situation::{Place, Situation};
use super::step::Step;
use super::world::World;

/// A task was moved from queue to queue.
#[derive(Clone, Debug)]
pub(super) struct Moved {
    /// By whom.
    pub(super) by: CpuId,
    /// Which.
    pub(super) task: usize,
    /// From which queue, and whose.
    pub(super) from: (usize, usize),
    /// Into which, and whose.
    pub(super) into: (usize, usize),
    /// What it is like then.
    pub(super) after: Situation,
}

impl From<&Moved> for Step {
    fn from(moved: &Moved) -> Step {
        let Moved { by, task, from, into, .. } = *moved;
        Step::Moved { by, task, from, into }
    }
}

/// A move: by whom, of which task, from which queue of whom, into which.
pub(super) type What = (CpuId, usize, (usize, usize), (usize, usize));

impl Moved {
    /// What is moved.
    pub(super) fn what(&self) -> What {
        (self.by, self.task, self.from, self.into)
    }
}

/// Every move that some leader may make now.
pub(super) fn moves(world: &World<'_>, situation: &Situation) -> Vec<Moved> {
    let periodic = world.policy.periodic.iter();
    periodic.flat_map(|periodic| moves_of(world, situation, periodic)).collect()
}

fn moves_of(world: &World<'_>, situation: &Situation, periodic: &Periodic) -> Vec<Moved> {
    let (tree, balance) = (world.tree(), &periodic.balance);
    let Some(into_queue) = balance.into else { return Vec::new() };
    let per = world.per[balance.from];
    let mut found = Vec::new();
    for by in leaders(world, periodic) {
        for n in 0..balance.levels.len() {
            for group in tree.victims(by, per, &balance.levels, n) {
                let Some(mut frame) = wants(world, situation, periodic, by, group) else {
                    continue;
                };
                let into = tree.group(world.per[into_queue], by);
                let members = tree.members(world.per[into_queue], into);
                let mut may = |task: &usize| {
                    let look = world.look(situation, Some(*task));
                    members.iter().any(|&cpu| situation.tasks[*task].allowed(cpu))
                        && frame.bool(&look, &world.per, &balance.recheck)
                };
                let Some(task) = situation.waiting(balance.from, group).find(|it| may(it)) else {
                    continue;
                };
                let mut after = situation.clone();
                after.tasks[task].place = Place::Waits { queue: into_queue, group: into };
                let (from, into) = ((balance.from, group), (into_queue, into));
                found.push(Moved { by, task, from, into, after });
            }
        }
    }
    found
}

/// The CPUs that balance: the lowest of each group, or all.
pub(super) fn leaders(world: &World<'_>, periodic: &Periodic) -> Vec<CpuId> {
    let tree = world.tree();
    match periodic.leader {
        Some(level) => (0..tree.count(level)).map(|group| tree.members(level, group)[0]).collect(),
        None => tree.cpus().to_vec(),
    }
}

/// What names stand for if the filter passes and one task at least is to be moved.
fn wants(
    world: &World<'_>,
    situation: &Situation,
    periodic: &Periodic,
    by: CpuId,
    group: usize,
) -> Option<Frame> {
    let level = world.per[periodic.balance.from];
    let me = At { level, group: world.tree().group(level, by) };
    let mut frame =
        Frame { me: Some(me), other: Some(At { level, group }), here: Some(by), ..world.frame() };
    let look = world.look(situation, None);
    let wants = frame.bool(&look, &world.per, &periodic.balance.filter)
        && frame.num(&look, &world.per, &periodic.balance.count) >= 1;
    wants.then_some(frame)
}

/// A circle of moves that ends where it began: periodic balancing that never comes to an end.
pub(super) fn circle(world: &World<'_>, situation: &Situation) -> Option<Vec<Moved>> {
    let mut path: Vec<Situation> = vec![situation.clone()];
    let mut steps = Vec::new();
    let mut done = Vec::new();
    descend(world, &mut path, &mut steps, &mut done).then_some(steps)
}

/// Whether a circle through the first of `path` was closed: longer ones have one through another
/// situation, which is begun with, too.
fn descend(
    world: &World<'_>,
    path: &mut Vec<Situation>,
    steps: &mut Vec<Moved>,
    done: &mut Vec<Situation>,
) -> bool {
    let last = path[path.len() - 1].clone();
    for moved in moves(world, &last) {
        let after = moved.after.clone();
        let closed = after == path[0];
        if !closed && (done.contains(&after) || path.contains(&after)) {
            continue;
        }
        steps.push(moved);
        if closed {
            return true;
        }
        path.push(after);
        if descend(world, path, steps, done) {
            return true;
        }
        done.extend(path.pop());
        steps.pop();
    }
    false
}
