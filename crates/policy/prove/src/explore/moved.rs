//! Whether periodic balancing moves anybody, and to where others wait.
//!
//! Without this a policy that never moves a task settles, and says nothing.

use wastenot_model::CpuId;
use wastenot_rota::Tree;
use wastenot_rota::eval::{At, Exact, Frame, Leaf, Look};
use wastenot_rota::ir::{Bool, Num, Periodic, Place, Policy, Visitor, visit_bool, visit_num};

use super::world::World;
use crate::machines;

/// Machines that are looked at: two groups of each level are enough for one to take from another.
const CPUS: usize = 4;
/// How long the queue is: a filter may ask for any difference, or have a limit. Beyond these,
/// powers of two.
const LENGTHS: std::ops::Range<i64> = 1..64;
const POWERS: std::ops::Range<u32> = 6..41;

/// Whether on some machine somebody moves a task out of a queue of some length while so many wait
/// in each other one; all CPUs run tasks, or none does. `None`: nobody does, but the guard asks
/// for more than the lengths of the two queues.
pub fn moves_somebody(policy: &Policy, periodic: &Periodic, others: i64) -> Option<bool> {
    let all = (2..=CPUS).flat_map(|cpus| machines(policy, cpus));
    let some = all.into_iter().any(|small| {
        let world = World::new(policy, &small);
        world.cpus().iter().any(|&cpu| takes_some(&world, periodic, cpu, others))
    });
    let mut asks = Asks { from: periodic.balance.from, more: false };
    visit_bool(&periodic.balance.filter, &mut asks);
    visit_bool(&periodic.balance.recheck, &mut asks);
    visit_num(&periodic.balance.count, &mut asks);
    (some || !asks.more).then_some(some)
}

/// Whether a guard asks for anything but how many wait in the two queues, and run there.
struct Asks {
    from: usize,
    more: bool,
}

impl Visitor for Asks {
    fn num(&mut self, num: &Num) {
        self.more |= match num {
            Num::Queued(at) => at.queue != self.from || !matches!(at.at, Place::Me | Place::Other),
            Num::Running(place) => !matches!(place, Place::Me | Place::Other),
            Num::Const(_) | Num::Param(_) | Num::Add(..) | Num::Sub(..) => false,
            Num::Min(..) | Num::Max(..) | Num::Times(..) | Num::Over(..) => false,
            _ => true,
        };
    }
    fn bool(&mut self, condition: &Bool) {
        self.more |= matches!(
            condition,
            Bool::Idle(_) | Bool::Allowed(_) | Bool::Within(..) | Bool::Quantified { .. }
        );
    }
}

fn takes_some(world: &World<'_>, periodic: &Periodic, cpu: CpuId, others: i64) -> bool {
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
            let look = Lengths { tree, queue: balance.from, group, long, others, busy };
            frame.bool(&look, &world.per, &balance.filter)
                && frame.bool(&look, &world.per, &balance.recheck)
                && frame.num(&look, &world.per, &balance.count) >= 1
        })
    })
}

/// One queue is long, all others are as long as each other. All tasks weigh the same, and no time
/// has passed.
struct Lengths<'t> {
    tree: &'t Tree,
    queue: usize,
    group: usize,
    long: i64,
    others: i64,
    busy: bool,
}

const WEIGHT: i64 = 100;

impl Look for Lengths<'_> {
    type Domain = Exact;

    fn tree(&self) -> &Tree {
        self.tree
    }
    fn allowed(&self, _: CpuId) -> bool {
        true
    }
    fn read(&self, leaf: Leaf) -> i64 {
        let queued = |at| if at == (self.queue, self.group) { self.long } else { self.others };
        match leaf {
            Leaf::Queued(queue, group) => queued((queue, group)),
            Leaf::QueuedWeight(queue, group) => WEIGHT * queued((queue, group)),
            Leaf::Running(_) => i64::from(self.busy),
            Leaf::RunningWeight(_) => WEIGHT * i64::from(self.busy),
            Leaf::Weight => WEIGHT,
            Leaf::MinKey(..) | Leaf::CpuVar(..) | Leaf::TaskVar(_) => 0,
            Leaf::Job | Leaf::Ran | Leaf::Now => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMA: &str = include_str!("../../../../../policies/numa-aware.rota");
    const FILTER: &str = "queued(v.q) - queued(me.q) >= 2 + apart";

    fn tried(filter: &str) -> Option<bool> {
        let text = NUMA.replace(FILTER, filter);
        assert!(filter == FILTER || text != NUMA);
        let policy = &wastenot_rota::compile(&text).expect("it compiles").policies[0];
        moves_somebody(policy, &policy.periodic[0], 0)
    }

    #[test]
    fn a_long_queue_loses_a_task_however_far_apart_queues_may_be() {
        assert_eq!(tried(FILTER), Some(true));
        assert_eq!(tried("queued(v.q) - queued(me.q) >= 1_000_000"), Some(true));
        let limit = "queued(v.q) - queued(me.q) >= 2 and queued(v.q) <= 5";
        assert_eq!(tried(limit), Some(true));
    }

    #[test]
    fn a_filter_that_never_passes_moves_nobody() {
        assert_eq!(tried("queued(me.q) - queued(v.q) >= 2"), Some(false));
        assert_eq!(tried("queued(v.q) - queued(v.q) >= 2"), Some(false));
    }

    #[test]
    fn of_a_filter_that_asks_for_more_nobody_knows() {
        let long = "queued(v.q) - queued(me.q) >= 2";
        assert_eq!(tried(&format!("{long} and cpus(machine) >= 8")), None);
        assert_eq!(tried(&format!("{long} and now > 1s")), None);
    }
}
