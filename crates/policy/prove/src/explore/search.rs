//! Every situation on every small machine, the smallest first.

use wastenot_model::CpuId;
use wastenot_rota::ir::{Attempt, ClaimKind, Num, Policy, Visitor, visit, visit_balance};

use super::bounds::{Bounds, Effort};
use super::found::{Doubt, Found, Searched};
use super::keys;
use super::placing::{doubt, waits};
use super::situation::{Place, Situation, Task};
use super::test::{Test, tests};
use super::world::World;
use crate::{Small, machines};

/// Decides whether what a search finds counts.
pub trait Confirm {
    /// What was found, as it comes about in a run. `None`: no run was found that leads to it.
    fn confirm(&mut self, world: &World<'_>, test: &Test, found: &Found) -> Option<Found>;
    /// Whether nothing more is tried.
    fn is_over(&self) -> bool;
    /// Whether something was found that was not confirmed.
    fn has_doubt(&self) -> bool;
}

/// Looks for a counterexample of a claim that is confirmed. `None`: it is not a claim that
/// situations can break.
pub fn search(
    policy: &Policy,
    claim: &ClaimKind,
    bounds: Bounds,
    effort: Effort,
    confirm: &mut dyn Confirm,
) -> Option<Searched> {
    if matches!(claim, ClaimKind::VtMonotone | ClaimKind::Lag(_)) {
        return keys::search(policy, claim);
    }
    let tests = tests(policy, claim);
    if tests.is_empty() {
        return None;
    }
    let mut looked = 0;
    let all: Vec<Vec<Small>> = (0..=bounds.cpus).map(|cpus| machines(policy, cpus)).collect();
    let of = |small: &Small| doubt(&World::new(policy, small), &tests);
    let mut doubt = all.iter().flatten().find_map(of);
    for size in 1..=bounds.cpus + bounds.events {
        let rests = [true, false].into_iter();
        let tasks = rests.flat_map(|rests| (1..=bounds.tasks).map(move |tasks| (rests, tasks)));
        for (rests, tasks) in tasks {
            for test in tests.iter().filter(|test| test.fits(policy, tasks, bounds)) {
                let machines = size.checked_sub(test.size()).and_then(|cpus| all.get(cpus));
                for small in machines.into_iter().flatten() {
                    let world = World::new(policy, small);
                    let looked = &mut looked;
                    let mut all = Situations {
                        world: &world,
                        test,
                        rests,
                        looked,
                        effort,
                        confirm: Some(&mut *confirm),
                    };
                    let found = all.of(tasks);
                    doubt = doubt.or(confirm.has_doubt().then_some(Doubt::Run));
                    if found.is_some() || effort.is_spent(*looked) || confirm.is_over() {
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
        Situations { world, test, rests, looked: &mut looked, effort, confirm: None }.of(tasks)
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
    confirm: Option<&'w mut dyn Confirm>,
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
            return match &mut self.confirm {
                Some(confirm) => confirm.confirm(self.world, self.test, &found),
                None => Some(found),
            };
        }
        for (index, kind) in kinds.iter().enumerate().skip(from) {
            let over = self.confirm.as_ref().is_some_and(|confirm| confirm.is_over());
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
