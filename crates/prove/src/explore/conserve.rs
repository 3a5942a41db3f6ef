//! `work_conservation` on every small machine: is there a situation from which an idle CPU fails
//! though somebody waits for it all the time?

use wastenot_model::CpuId;
use wastenot_rota::ir::{Bool, Num, Policy, Visitor, visit};

use super::attempt::{Step, failing};
use super::placing::waits;
use super::situation::{Place, Situation, Task, World};
use crate::{Small, machines};

/// How far the search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// CPUs.
    pub cpus: usize,
    /// Tasks.
    pub tasks: usize,
    /// Tasks that are woken during an attempt.
    pub wakes: usize,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The machine.
    pub small: Small,
    /// What it begins with.
    pub situation: Situation,
    /// The CPU that fails.
    pub cpu: CpuId,
    /// How.
    pub steps: Vec<Step>,
}

/// The smallest situation, fewest CPUs first and then fewest tasks, from which an idle CPU fails
/// though in every instant some task waits that it may run, and nobody takes any. `None`: there is
/// none within `bounds`. And how many situations were looked at.
pub fn not_conserving(policy: &Policy, bounds: Bounds) -> (Option<Found>, u64) {
    let mut looked = 0;
    let weights = weights(policy);
    for cpus in 1..=bounds.cpus {
        let machines = machines(policy, cpus);
        for tasks in 1..=bounds.tasks {
            for wakes in 0..=bounds.wakes.min(tasks - 1) {
                for small in &machines {
                    let world = World::new(policy, small);
                    let mut search = Search { world: &world, wakes, looked: &mut looked };
                    if let Some((situation, cpu, steps)) = search.all(tasks, weights) {
                        let small = small.clone();
                        return (Some(Found { small, situation, cpu, steps }), looked);
                    }
                }
            }
        }
    }
    (None, looked)
}

/// Weights matter to policies that look at them only.
fn weights(policy: &Policy) -> &'static [i64] {
    struct Reads(bool);
    impl Visitor for Reads {
        fn num(&mut self, num: &Num) {
            self.0 |= matches!(num, Num::QueuedWeight(_) | Num::RunningWeight(_) | Num::Weight);
        }
        fn bool(&mut self, _: &Bool) {}
    }
    let mut reads = Reads(false);
    visit(policy, &mut reads);
    if reads.0 { &[1, 100] } else { &[100] }
}

struct Search<'w, 'p> {
    world: &'w World<'p>,
    wakes: usize,
    looked: &'w mut u64,
}

impl Search<'_, '_> {
    /// All situations of so many tasks. Tasks are alike but for what they are, so each multiset is
    /// looked at once.
    fn all(&mut self, tasks: usize, weights: &[i64]) -> Option<(Situation, CpuId, Vec<Step>)> {
        let kinds = self.kinds(weights);
        let vars = self.world.vars();
        let mut situation = Situation { tasks: Vec::with_capacity(tasks), vars };
        self.fill(&kinds, 0, tasks, &mut situation)
    }

    /// Everything that one task can be: its affinity, and where it is.
    fn kinds(&self, weights: &[i64]) -> Vec<Task> {
        let cpus = self.world.cpus().len();
        let mut kinds = Vec::new();
        // Affinities to many CPUs first: what is found then is plainer.
        let mut masks: Vec<u32> = (1..1 << cpus).collect();
        masks.sort_by_key(|mask: &u32| std::cmp::Reverse(mask.count_ones()));
        for mask in masks {
            let waiting = waits(self.world, mask).into_iter();
            let waiting = waiting.map(|(queue, group)| Place::Waits { queue, group });
            let able = self.world.cpus().iter().filter(|cpu| mask >> cpu.0 & 1 == 1);
            let running = able.map(|&cpu| Place::Runs(cpu));
            let mut places: Vec<Place> = waiting.chain(running).collect();
            if self.wakes > 0 {
                places.push(Place::Away);
            }
            for place in places {
                kinds.extend(weights.iter().map(|&weight| Task { place, mask, weight }));
            }
        }
        kinds
    }

    fn fill(
        &mut self,
        kinds: &[Task],
        from: usize,
        left: usize,
        situation: &mut Situation,
    ) -> Option<(Situation, CpuId, Vec<Step>)> {
        if left == 0 {
            return self.look(situation);
        }
        for (index, kind) in kinds.iter().enumerate().skip(from) {
            if let Place::Runs(cpu) = kind.place
                && !situation.is_idle(cpu)
            {
                continue;
            }
            situation.tasks.push(*kind);
            let found = self.fill(kinds, index, left - 1, situation);
            if found.is_some() {
                return found;
            }
            situation.tasks.pop();
        }
        None
    }

    fn look(&mut self, situation: &Situation) -> Option<(Situation, CpuId, Vec<Step>)> {
        let away = situation.tasks.iter().filter(|task| task.place == Place::Away).count();
        if away != self.wakes {
            return None;
        }
        *self.looked += 1;
        for &cpu in self.world.cpus() {
            if situation.is_idle(cpu) && situation.wanted_by(cpu).is_some() {
                let steps = failing(self.world, situation, cpu, self.wakes);
                if let Some(steps) = steps {
                    return Some((situation.clone(), cpu, steps));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Policy {
        let program = wastenot_rota::compile(text).expect("it compiles");
        program.policies.into_iter().next().expect("there is one")
    }

    const WS: &str = include_str!("../../../../policies/work-stealing.rota");

    #[test]
    fn work_stealing_is_work_conserving_on_small_machines() {
        let (found, looked) = not_conserving(&policy(WS), Bounds { cpus: 3, tasks: 3, wakes: 1 });
        assert!(found.is_none(), "{found:?}");
        assert!(looked > 1000, "{looked}");
    }

    #[test]
    fn two_tasks_at_least_is_one_too_many() {
        let text = WS.replace("queued(v.ready) >= 1", "queued(v.ready) >= 2");
        let (found, _) = not_conserving(&policy(&text), Bounds { cpus: 3, tasks: 3, wakes: 0 });
        let found = found.expect("a counterexample");
        assert_eq!((found.small.tree.cpus().len(), found.situation.tasks.len()), (2, 1));
    }

    #[test]
    fn one_try_is_not_enough_beside_a_pinned_task() {
        let text = WS.replace("retry untried", "retry 0");
        let (found, _) = not_conserving(&policy(&text), Bounds { cpus: 3, tasks: 3, wakes: 0 });
        let found = found.expect("a counterexample");
        assert_eq!((found.small.tree.cpus().len(), found.situation.tasks.len()), (3, 2));
    }

    #[test]
    fn a_balance_that_ends_with_the_cache_leaves_the_rest() {
        let text = WS.replace("level machine", "level llc");
        let (found, _) = not_conserving(&policy(&text), Bounds { cpus: 3, tasks: 3, wakes: 0 });
        let found = found.expect("a counterexample");
        assert_eq!(found.small.machine.name, "2 CPUs, llc 1+1");
    }
}
