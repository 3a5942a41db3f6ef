//! Whether periodic balancing moves anybody at all: from a long queue to an empty one.
//!
//! Without this a policy that never moves a task settles, and says nothing.

use wastenot_model::CpuId;
use wastenot_rota::Tree;
use wastenot_rota::eval::{At, Frame, Look};
use wastenot_rota::ir::{Periodic, Policy};

use super::situation::World;
use crate::machines;

/// Machines that are looked at: two groups of each level are enough for one to take from another.
const CPUS: usize = 4;
/// How long the queue is: a filter may ask for any difference, or have a limit. Beyond these,
/// powers of two.
const LENGTHS: std::ops::Range<i64> = 1..64;
const POWERS: std::ops::Range<u32> = 6..41;

/// Whether on some machine somebody moves a task out of a queue of some length while all others are
/// empty; all CPUs run tasks, or none does.
pub(crate) fn moves_somebody(policy: &Policy, periodic: &Periodic) -> bool {
    let all = (2..=CPUS).flat_map(|cpus| machines(policy, cpus));
    all.into_iter().any(|small| {
        let world = World::new(policy, &small);
        world.cpus().iter().any(|&cpu| takes_some(&world, periodic, cpu))
    })
}

fn takes_some(world: &World<'_>, periodic: &Periodic, cpu: CpuId) -> bool {
    let (tree, balance) = (world.tree(), &periodic.balance);
    let level = world.per[balance.from];
    let me = At { level, group: tree.group(level, cpu) };
    let mut groups = (0..balance.levels.len())
        .flat_map(|n| tree.victims(cpu, level, &balance.levels, n).collect::<Vec<_>>());
    groups.any(|group| {
        let other = Some(At { level, group });
        let mut frame = Frame { me: Some(me), other, here: Some(cpu), ..world.frame() };
        let long = LENGTHS.chain(POWERS.map(|power| 1 << power));
        long.flat_map(|long| [(long, false), (long, true)]).any(|(long, busy)| {
            let look = Lengths { tree, queue: balance.from, group, long, busy };
            frame.bool(&look, &world.per, &balance.filter)
                && frame.bool(&look, &world.per, &balance.recheck)
                && frame.num(&look, &world.per, &balance.count) >= 1
        })
    })
}

/// One queue is long, all others are empty. All tasks weigh the same, and no time has passed.
struct Lengths<'t> {
    tree: &'t Tree,
    queue: usize,
    group: usize,
    long: i64,
    busy: bool,
}

const WEIGHT: i64 = 100;

impl Look for Lengths<'_> {
    fn tree(&self) -> &Tree {
        self.tree
    }
    fn queued(&self, queue: usize, group: usize) -> i64 {
        if (queue, group) == (self.queue, self.group) { self.long } else { 0 }
    }
    fn queued_weight(&self, queue: usize, group: usize) -> i64 {
        WEIGHT * self.queued(queue, group)
    }
    fn min_key(&self, _: usize, _: usize) -> i64 {
        0
    }
    fn running(&self, _: CpuId) -> Option<i64> {
        self.busy.then_some(WEIGHT)
    }
    fn cpu_var(&self, _: usize, _: CpuId) -> i64 {
        0
    }
    fn now(&self) -> i64 {
        0
    }
    fn task_var(&self, _: usize) -> i64 {
        0
    }
    fn weight(&self) -> i64 {
        WEIGHT
    }
    fn job(&self) -> i64 {
        0
    }
    fn ran(&self) -> i64 {
        0
    }
    fn allowed(&self, _: CpuId) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMA: &str = include_str!("../../../../policies/numa-aware.rota");
    const FILTER: &str = "queued(v.q) - queued(me.q) >= 2 + apart";

    fn moves(filter: &str) -> bool {
        let text = NUMA.replace(FILTER, filter);
        assert!(filter == FILTER || text != NUMA);
        let policy = &wastenot_rota::compile(&text).expect("it compiles").policies[0];
        moves_somebody(policy, &policy.periodic[0])
    }

    #[test]
    fn a_long_queue_loses_a_task_however_far_apart_queues_may_be() {
        assert!(moves(FILTER));
        assert!(moves("queued(v.q) - queued(me.q) >= 1_000_000"));
        assert!(moves("queued(v.q) - queued(me.q) >= 2 and queued(v.q) <= 5"));
    }

    #[test]
    fn a_filter_that_never_passes_moves_nobody() {
        assert!(!moves("queued(me.q) - queued(v.q) >= 2"));
        assert!(!moves("queued(v.q) - queued(v.q) >= 2"));
    }
}
