//! What a theorem is held against on one machine: all tasks, and all places where they can be.

use wastenot_prove::explore::{Place, Situation, Task, World, waits};
use wastenot_rota::ir::{Num, Policy, Visitor, visit};

/// All choices of so many tasks that differ in where they may run or in what they weigh. They are
/// away.
pub(super) fn casts(world: &World<'_>, tasks: usize) -> Vec<Vec<Task>> {
    let masks = 1..1_u32 << world.cpus().len();
    let weights = weights(world.policy);
    let kinds: Vec<Task> = masks
        .flat_map(|mask| weights.iter().map(move |&weight| (mask, weight)))
        .map(|(mask, weight)| Task { place: Place::Away, mask, weight })
        .collect();
    let mut casts = vec![Vec::new()];
    for _ in 0..tasks {
        let longer = |cast: &Vec<Task>| {
            let from = cast.last().and_then(|last| kinds.iter().position(|kind| kind == last));
            let kinds = kinds[from.unwrap_or(0)..].iter();
            kinds.map(|kind| cast.iter().chain([kind]).copied().collect()).collect::<Vec<_>>()
        };
        casts = casts.iter().flat_map(longer).collect();
    }
    casts
}

/// Weights matter to policies that look at them only.
fn weights(policy: &Policy) -> &'static [i64] {
    struct Reads(bool);
    impl Visitor for Reads {
        fn num(&mut self, num: &Num) {
            self.0 |= matches!(num, Num::QueuedWeight(_) | Num::RunningWeight(_));
        }
    }
    let mut reads = Reads(false);
    visit(policy, &mut reads);
    if reads.0 { &[1, 100] } else { &[100] }
}

/// Every situation in which these tasks wait, or are away if they may be, beside CPUs that are idle
/// or run another task.
pub(super) fn situations(world: &World<'_>, cast: &[Task], away: bool) -> Vec<Situation> {
    let mut all = vec![Situation { tasks: Vec::new(), vars: world.vars() }];
    let more = |all: Vec<Situation>, ways: &dyn Fn(&Situation) -> Vec<Option<Task>>| {
        let with = |situation: &Situation| {
            let with = |task: Option<Task>| {
                let mut next = situation.clone();
                next.tasks.extend(task);
                next
            };
            ways(situation).into_iter().map(with).collect::<Vec<_>>()
        };
        all.iter().flat_map(with).collect()
    };
    for task in cast {
        let queues = waits(world, task.mask);
        let waiting = queues.iter().map(|&(queue, group)| Place::Waits { queue, group });
        let places = waiting.chain(away.then_some(Place::Away));
        let ways: Vec<Option<Task>> = places.map(|place| Some(Task { place, ..*task })).collect();
        all = more(all, &|_| ways.clone());
    }
    let everywhere = (1 << world.cpus().len()) - 1;
    for &cpu in world.cpus() {
        let runs = |&weight: &i64| Task { place: Place::Runs(cpu), mask: everywhere, weight };
        let running = weights(world.policy).iter().map(runs).map(Some);
        let ways: Vec<Option<Task>> = std::iter::once(None).chain(running).collect();
        all = more(all, &|_| ways.clone());
    }
    all
}
