//! Every situation on every small machine, the smallest first.

use std::time::Instant;

use wastenot_model::CpuId;
use wastenot_rota::ir::{Attempt, ClaimKind, Num, Policy, Visitor, visit, visit_balance};

use super::attempt::Step;
use super::claims::{self, Test, Wrong};
use super::keys;
use super::placing::{Doubt, doubt, waits};
use super::situation::{Place, Situation, Task, World};
use crate::replay::Patience;
use crate::{Small, machines};

/// How far the search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// CPUs.
    pub cpus: usize,
    /// Tasks.
    pub tasks: usize,
    /// Tasks that are woken, or moved by periodic balancing, during an attempt.
    pub events: usize,
}

impl Bounds {
    /// What is within these and others.
    pub(crate) fn narrower(self, other: Bounds) -> Bounds {
        let (cpus, tasks) = (self.cpus.min(other.cpus), self.tasks.min(other.tasks));
        Bounds { cpus, tasks, events: self.events.min(other.events) }
    }
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { cpus: 4, tasks: 3, events: 1 }
    }
}

/// How much is done at most.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Situations that are looked at.
    pub situations: u64,
    /// No later than that.
    pub until: Option<Instant>,
}

impl From<u64> for Effort {
    fn from(situations: u64) -> Effort {
        Effort { situations, until: None }
    }
}

impl Effort {
    /// Whether it is done. The clock is asked now and then.
    fn is_spent(&self, looked: u64) -> bool {
        let late = |until| looked.is_multiple_of(16) && Instant::now() >= until;
        looked >= self.situations || self.until.is_some_and(late)
    }
}

/// What breaks a claim.
#[derive(Clone, Debug)]
pub struct Found {
    /// What is wrong with it; none of the tests of situations if it is about keys.
    pub wrong: Option<Wrong>,
    /// The machine.
    pub small: Small,
    /// What it begins with.
    pub situation: Situation,
    /// The CPU that it is about.
    pub cpu: CpuId,
    /// What happens.
    pub steps: Vec<Step>,
    /// What is wrong with that, in one sentence.
    pub why: String,
}

/// What a search came to.
#[derive(Clone, Debug)]
pub struct Searched {
    /// The smallest counterexample: fewest CPUs first, where an event during an attempt counts as
    /// one; then, if there is one, at rest; then fewest tasks. `None` is none.
    pub found: Option<Found>,
    /// How many situations were looked at.
    pub looked: u64,
    /// All machines of so many CPUs were looked at, with all tasks and events within the bounds.
    pub cpus: usize,
    /// Tasks may come to wait elsewhere, too, for all that is known: nobody looked at them there.
    pub doubt: Option<Doubt>,
}

/// Looks for a counterexample of a claim. `None`: it is not one that situations can break.
pub fn search(
    policy: &Policy,
    claim: &ClaimKind,
    bounds: Bounds,
    effort: impl Into<Effort>,
) -> Option<Searched> {
    let effort = effort.into();
    if matches!(claim, ClaimKind::VtMonotone | ClaimKind::Lag(_)) {
        return keys::search(policy, claim);
    }
    let tests = claims::tests(policy, claim);
    if tests.is_empty() {
        return None;
    }
    let mut looked = 0;
    let all: Vec<Vec<Small>> = (0..=bounds.cpus).map(|cpus| machines(policy, cpus)).collect();
    let of = |small: &Small| doubt(&World::new(policy, small), &tests);
    let mut doubt = all.iter().flatten().find_map(of);
    let mut patience = Patience::new();
    for size in 1..=bounds.cpus + bounds.events {
        let rests = [true, false].into_iter();
        let tasks = rests.flat_map(|rests| (1..=bounds.tasks).map(move |tasks| (rests, tasks)));
        for (rests, tasks) in tasks {
            for test in tests.iter().filter(|test| test.fits(policy, tasks, bounds)) {
                let machines = size.checked_sub(test.size()).and_then(|cpus| all.get(cpus));
                for small in machines.into_iter().flatten() {
                    let world = World::new(policy, small);
                    let real = Some(&mut patience);
                    let looked = &mut looked;
                    let mut all = Situations { world: &world, test, rests, looked, effort, real };
                    let found = all.of(tasks);
                    doubt = doubt.or(patience.unreal.then_some(Doubt::Run));
                    if found.is_some() || effort.is_spent(*looked) || patience.is_over() {
                        let cpus = size.saturating_sub(1 + bounds.events);
                        return Some(Searched { found, looked: *looked, cpus, doubt });
                    }
                }
            }
        }
    }
    Some(Searched { found: None, looked, cpus: bounds.cpus, doubt })
}

/// Looks at every situation of exactly so many tasks on one machine, whether a run leads there or
/// not.
pub fn search_on(world: &World<'_>, test: &Test, tasks: usize) -> Option<Found> {
    let (mut looked, effort) = (0, Effort::from(u64::MAX));
    let mut of = |rests| {
        Situations { world, test, rests, looked: &mut looked, effort, real: None }.of(tasks)
    };
    of(true).or_else(|| if test.rests_matter() { of(false) } else { None })
}

/// All situations of some tasks on one machine.
struct Situations<'w, 'p> {
    world: &'w World<'p>,
    test: &'w Test,
    /// Only situations at rest, which come first: they are plainer. Or only the others.
    rests: bool,
    looked: &'w mut u64,
    effort: Effort,
    /// Only what comes about in a run, if that is asked.
    real: Option<&'w mut Patience>,
}

impl Situations<'_, '_> {
    /// Tasks are alike but for what they are, so each multiset is looked at once.
    fn of(&mut self, tasks: usize) -> Option<Found> {
        let kinds = kinds(self.world, self.test);
        let vars = self.world.vars();
        let mut situation = Situation { tasks: Vec::with_capacity(tasks), vars };
        self.fill(&kinds, 0, tasks, &mut situation)
    }

    fn fill(
        &mut self,
        kinds: &[Task],
        from: usize,
        left: usize,
        situation: &mut Situation,
    ) -> Option<Found> {
        if left == 0 {
            let away = situation.tasks.iter().filter(|task| task.place == Place::Away);
            if away.count() != self.test.wakes || self.effort.is_spent(*self.looked) {
                return None;
            }
            if self.test.rests_matter() && at_rest(self.world, situation) != self.rests {
                return None;
            }
            *self.looked += 1;
            let broken = self.test.breaks(self.world, situation)?;
            let (small, situation) = (self.world.small.clone(), situation.clone());
            let (cpu, steps, why) = (broken.cpu, broken.steps, broken.why);
            let wrong = Some(self.test.wrong);
            let found = Found { wrong, small, situation, cpu, steps, why };
            return match &mut self.real {
                Some(patience) => patience.real(self.world, self.test, &found),
                None => Some(found),
            };
        }
        for (index, kind) in kinds.iter().enumerate().skip(from) {
            let over = self.real.as_ref().is_some_and(|patience| patience.is_over());
            if over || self.effort.is_spent(*self.looked) {
                return None;
            }
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
}

/// Whether no idle CPU is about to take a task from a queue of its own.
fn at_rest(world: &World<'_>, situation: &Situation) -> bool {
    let look = world.look(situation, None);
    let takes = world.policy.dispatch.iter().filter_map(|attempt| match attempt {
        Attempt::Take(queue, _) => Some(queue),
        Attempt::Balance => None,
    });
    let finds = |cpu: CpuId| {
        let frame = world.frame_at(cpu);
        takes.clone().any(|queue| {
            let group = frame.queue(&look, queue, world.per[queue.queue]);
            let mut waiting = situation.waiting(queue.queue, group);
            waiting.any(|task| situation.tasks[task].allowed(cpu))
        })
    };
    !world.cpus().iter().any(|&cpu| situation.is_idle(cpu) && finds(cpu))
}

/// Everything that one task can be: its affinity, and where it is.
fn kinds(world: &World<'_>, test: &Test) -> Vec<Task> {
    let cpus = world.cpus();
    let lets_run = test.lets_run();
    let weights = weights(world.policy);
    let mut kinds = Vec::new();
    // Affinities to many CPUs first: what is found then is plainer.
    let mut masks: Vec<u32> = (1..1 << cpus.len()).collect();
    masks.sort_by_key(|mask: &u32| std::cmp::Reverse(mask.count_ones()));
    for mask in masks {
        let queues = waits(world, mask);
        let waiting = queues.iter().map(|&(queue, group)| Place::Waits { queue, group });
        let runs = |cpu: &&CpuId| lets_run && mask >> cpu.0 & 1 == 1;
        let running = cpus.iter().filter(runs).map(|&cpu| Place::Runs(cpu));
        let mut places: Vec<Place> = waiting.chain(running).collect();
        if test.wakes > 0 {
            places.push(Place::Away);
        }
        for place in places {
            kinds.extend(weights.iter().map(|&weight| Task { place, mask, weight }));
        }
    }
    kinds
}

/// Weights matter to policies that look at them only; that of the task itself where it is taken.
pub(crate) fn weights(policy: &Policy) -> &'static [i64] {
    struct Reads {
        taken: bool,
        any: bool,
    }
    impl Visitor for Reads {
        fn num(&mut self, num: &Num) {
            self.any |= matches!(num, Num::QueuedWeight(_) | Num::RunningWeight(_));
            self.any |= self.taken && *num == Num::Weight;
        }
    }
    let mut reads = Reads { taken: false, any: false };
    visit(policy, &mut reads);
    reads.taken = true;
    let periodic = policy.periodic.iter().map(|periodic| &periodic.balance);
    policy.idle.iter().chain(periodic).for_each(|balance| visit_balance(balance, &mut reads));
    if reads.any { &[1, 100] } else { &[100] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conserving(text: &str) -> Searched {
        let program = wastenot_rota::compile(text).expect("it compiles");
        let bounds = Bounds { cpus: 3, tasks: 3, events: 1 };
        search(&program.policies[0], &ClaimKind::WorkConservation, bounds, u64::MAX)
            .expect("it is explored")
    }

    const WS: &str = include_str!("../../../../policies/work-stealing.rota");

    #[test]
    fn work_stealing_is_work_conserving_on_small_machines() {
        let Searched { found, looked, .. } = conserving(WS);
        assert!(found.is_none(), "{found:?}");
        assert!(looked > 1000, "{looked}");
    }

    #[test]
    fn two_tasks_at_least_is_one_too_many() {
        let text = WS.replace("queued(v.ready) >= 1", "queued(v.ready) >= 2");
        let found = conserving(&text).found.expect("a counterexample");
        assert_eq!((found.small.tree.cpus().len(), found.situation.tasks.len()), (2, 2));
    }

    #[test]
    fn one_try_is_not_enough_beside_a_pinned_task() {
        let text = WS.replace("retry untried", "retry 0");
        let found = conserving(&text).found.expect("a counterexample");
        assert_eq!((found.small.tree.cpus().len(), found.situation.tasks.len()), (3, 2));
    }

    #[test]
    fn a_balance_that_ends_with_the_cache_leaves_the_rest() {
        let text = WS.replace("level machine", "level llc");
        let found = conserving(&text).found.expect("a counterexample");
        assert_eq!(found.small.machine.name, "2 CPUs, llc 1+1");
    }
}
