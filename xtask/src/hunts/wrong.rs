//! Schedulers with one decision wrong, chosen by a seed: what a search for faults has to find.
//!
//! The scheduler itself is as it was. What stands between it and the engine changes one sort of its
//! answers, or keeps one sort of event from it: a [`Mutant`] is a policy with something [`Wrong`].

use std::fmt;

use wastenot_experiment::{Error, simulated};
use wastenot_hunt::trial::{self, Notes, Seen};
use wastenot_model::policy::{Context, Effect, Family, Happening, Place, View, Why};
use wastenot_model::workload::Random;
use wastenot_model::{CpuId, Policy, TaskId};
use wastenot_scenario::scenario::{Choice, Variant};

/// What marks a choice as one with an error: a tunable that no scheduler has, set to the seed.
const MUTANT: &str = "mutant";

/// This scheduler, with the error that `seed` chooses.
pub(super) fn choice(name: &str, seed: u64) -> Choice {
    Choice { tunables: vec![(MUTANT.to_owned(), seed.to_string())], ..Choice::named(name) }
}

/// [`trial::look`], where the scheduler may be one with an error.
pub(super) fn look(variant: &Variant, seed: u64, notes: Notes) -> Result<Seen, Error> {
    let Choice { name, tunables, .. } = &variant.scheduler;
    let mut set = tunables.clone();
    let Some(mark) = set.iter().position(|(name, _)| name == MUTANT) else {
        return trial::look(variant, seed, notes);
    };
    let (_, number) = set.remove(mark);
    let wrong = Wrong::of(number.parse().expect("a seed"));
    let policy = wastenot_sim::scheduler(name, &set).map_err(Error::Scheduler)?;
    let mutant = Mutant { policy, wrong, times: 0, is_wrong: false };
    trial::seen(simulated(variant, mutant, &trial::options("hunt", seed, notes)))
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// A task that is woken, or that is new, goes elsewhere.
    Placed {
        /// Woken, or new.
        new: bool,
        /// In which case.
        when: When,
        /// Where to.
        to: Elsewhere,
    },
    /// The CPU to which a task goes is not told to pick it.
    NotKicked(When),
    /// A CPU that becomes idle does not look for tasks of other CPUs.
    LooksNowhere(When),
    /// A CPU that runs its only task does not balance on its tick.
    SkipsTicks(When),
    /// No other CPU is told on a tick to balance, or to pick a task.
    TicksAlone(When),
    /// A change of a nice value is not told.
    Deaf,
}

/// When it is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Always.
    Always,
    /// On, or from, every CPU of so many, from one on.
    Cpus(u8, u8),
    /// On, or from, the first node, or one of the others.
    FirstNode(bool),
    /// If the CPU of the task is idle, or not.
    Idle(bool),
    /// If the task comes from another node than that of the CPU that decides.
    Far,
    /// Every so many times.
    Nth(u32),
}

/// Where a task goes instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elsewhere {
    /// Where it was last.
    Prev,
    /// To the CPU that decides.
    Here,
    /// To the lowest CPU that it may use.
    First,
    /// To the busiest CPU of the node of the one that was chosen.
    Busiest,
    /// To the CPU after the one that was chosen.
    Next,
}

impl Wrong {
    /// The one that `seed` chooses.
    pub(super) fn of(seed: u64) -> Wrong {
        let mut random = Random::stream(seed, u32::from_le_bytes(*b"wrng"), 0);
        let mut below = |n: u64| random.below(n);
        let (sort, new) = (below(12), below(3) == 0);
        let when = match below(6) {
            0 => When::Always,
            1 => {
                let of = 2 + below(3);
                When::Cpus(below(of) as u8, of as u8)
            }
            2 => When::FirstNode(below(2) == 0),
            3 => When::Idle(below(2) == 0),
            4 => When::Far,
            _ => When::Nth(2 + below(7) as u32),
        };
        let to = match below(5) {
            0 => Elsewhere::Prev,
            1 => Elsewhere::Here,
            2 => Elsewhere::First,
            3 => Elsewhere::Busiest,
            _ => Elsewhere::Next,
        };
        // What a CPU does about itself is about no task: it has no last CPU.
        let own = match when {
            When::Idle(_) | When::Far => When::Nth(2 + below(7) as u32),
            when => when,
        };
        match sort {
            0..=5 => Wrong::Placed { new, when, to },
            6 | 7 => Wrong::NotKicked(when),
            8 | 9 => Wrong::LooksNowhere(own),
            10 => match new {
                true => Wrong::Deaf,
                false => Wrong::SkipsTicks(own),
            },
            _ => Wrong::TicksAlone(own),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Placed { new, when, to: elsewhere } => {
                let who = if *new { "new" } else { "woken" };
                write!(to, "{who} tasks go to {elsewhere}{when}")
            }
            Wrong::NotKicked(when) => {
                write!(to, "CPUs are not kicked when a task is queued on them{when}")
            }
            Wrong::LooksNowhere(when) => {
                write!(to, "CPUs that become idle do not look for tasks on other CPUs{when}")
            }
            Wrong::SkipsTicks(when) => {
                write!(to, "CPUs with one task do not balance on ticks{when}")
            }
            Wrong::TicksAlone(when) => {
                write!(to, "ticks do not start balancing on other CPUs{when}")
            }
            Wrong::Deaf => write!(to, "changes of nice values have no effect"),
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            When::Always => Ok(()),
            When::Cpus(first, of) => write!(to, ", on CPU {first} and every {of} CPUs after it"),
            When::FirstNode(true) => write!(to, ", on the first node"),
            When::FirstNode(false) => write!(to, ", on all nodes except the first"),
            When::Idle(true) => write!(to, ", if the last CPU of the task is idle"),
            When::Idle(false) => write!(to, ", if the last CPU of the task is busy"),
            When::Far => write!(to, ", if the task comes from another node"),
            When::Nth(n) => write!(to, ", in one case of {n}"),
        }
    }
}

impl fmt::Display for Elsewhere {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Elsewhere::Prev => "the last CPU of the task",
            Elsewhere::Here => "the CPU of the waker",
            Elsewhere::First => "the first CPU that the task may use",
            Elsewhere::Busiest => "the busiest CPU of the chosen node",
            Elsewhere::Next => "the CPU after the chosen CPU",
        })
    }
}

/// A policy with one decision wrong.
struct Mutant {
    policy: Box<dyn Policy>,
    wrong: Wrong,
    times: u32,
    /// The case of the placement that is under way.
    is_wrong: bool,
}

impl Mutant {
    /// Whether it is wrong this time: about a task that was last on `cpu`, or about `cpu`.
    fn holds(&mut self, view: &View, when: When, cpu: CpuId) -> bool {
        let node = |cpu: CpuId| view.machine.cpus[cpu.index()].node;
        match when {
            When::Always => true,
            When::Cpus(first, of) => cpu.index() % usize::from(of) == usize::from(first),
            When::FirstNode(is) => (node(cpu) == node(CpuId(0))) == is,
            When::Idle(is) => view.is_idle(cpu) == is,
            When::Far => node(cpu) != node(view.cpu),
            When::Nth(n) => {
                self.times += 1;
                self.times.is_multiple_of(n)
            }
        }
    }

    fn elsewhere(
        view: &View,
        task: TaskId,
        (prev, chosen): (CpuId, CpuId),
        to: Elsewhere,
    ) -> CpuId {
        let node = view.machine.cpus[chosen.index()].node;
        let count = view.cpus.len() as u16;
        let load = |cpu: CpuId| waiting(view, cpu) + usize::from(!view.is_idle(cpu));
        let to = match to {
            Elsewhere::Prev => prev,
            Elsewhere::Here => view.cpu,
            Elsewhere::First => {
                view.online.iter().find(|cpu| view.allowed(task, *cpu)).unwrap_or(prev)
            }
            Elsewhere::Busiest => {
                let near = view.online.iter().filter(|cpu| {
                    view.machine.cpus[cpu.index()].node == node && view.allowed(task, *cpu)
                });
                near.max_by_key(|cpu| (load(*cpu), std::cmp::Reverse(*cpu))).unwrap_or(chosen)
            }
            Elsewhere::Next => CpuId((chosen.0 + 1) % count),
        };
        match view.online.contains(to) && view.allowed(task, to) {
            true => to,
            false => chosen,
        }
    }
}

/// How many tasks wait on a CPU.
fn waiting(view: &View, cpu: CpuId) -> usize {
    let waits = view.tasks.iter().filter(|task| task.place == Place::Queued && task.cpu == cpu);
    waits.count()
}

impl Policy for Mutant {
    fn name(&self) -> String {
        self.policy.name()
    }

    fn family(&self) -> Family {
        self.policy.family()
    }

    fn init(&mut self, cx: &mut Context) {
        self.policy.init(cx);
    }

    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, why: Why) -> CpuId {
        let chosen = self.policy.select_cpu(cx, task, prev, why);
        let (is_new, is_woken) = (why == Why::New, matches!(why, Why::Wakeup { .. }));
        let error = self.wrong;
        match error {
            Wrong::Placed { new, when, to }
                if (is_new && new || is_woken && !new) && self.holds(cx, when, prev) =>
            {
                Self::elsewhere(cx, task, (prev, chosen), to)
            }
            Wrong::NotKicked(when) => {
                self.is_wrong = self.holds(cx, when, prev);
                chosen
            }
            _ => chosen,
        }
    }

    fn still_queued(&self, cx: &Context, task: TaskId) -> bool {
        self.policy.still_queued(cx, task)
    }

    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        self.policy.enqueue(cx, task, cpu, why);
        if matches!(why, Why::New | Why::Wakeup { .. }) && std::mem::take(&mut self.is_wrong) {
            cx.drop_effects(|effect| matches!(effect, Effect::Kick { cpu: it, .. } if *it == cpu));
        }
    }

    fn dequeue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId) {
        self.policy.dequeue(cx, task, cpu);
    }

    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        if let Wrong::LooksNowhere(when) = self.wrong
            && waiting(cx, cpu) == 0
            && self.holds(cx, when, cpu)
        {
            return None;
        }
        self.policy.dispatch(cx, cpu)
    }

    fn running(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId) {
        self.policy.running(cx, cpu, task);
    }

    fn stopping(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId, runnable: bool) {
        self.policy.stopping(cx, cpu, task, runnable);
    }

    fn tick(&mut self, cx: &mut Context, cpu: CpuId) {
        if let Wrong::SkipsTicks(when) = self.wrong
            && waiting(cx, cpu) == 0
            && self.holds(cx, when, cpu)
        {
            return;
        }
        self.policy.tick(cx, cpu);
        if let Wrong::TicksAlone(when) = self.wrong
            && self.holds(cx, when, cpu)
        {
            cx.drop_effects(|effect| matches!(effect, Effect::Kick { cpu: it, .. } if *it != cpu));
        }
    }

    fn update_idle(&mut self, cx: &mut Context, cpu: CpuId, idle: bool) {
        self.policy.update_idle(cx, cpu, idle);
    }

    fn on(&mut self, cx: &mut Context, happening: Happening) {
        if self.wrong != Wrong::Deaf || !matches!(happening, Happening::Nice { .. }) {
            self.policy.on(cx, happening);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wastenot_hunt::oracle::Kind;
    use wastenot_hunt::search::Question;

    use super::*;
    use crate::hunts::hunt;

    #[test]
    fn seeds_choose_many_errors_and_each_always_the_same() {
        let all: Vec<Wrong> = (0..200).map(Wrong::of).collect();
        let mut words: Vec<String> = all.iter().map(Wrong::to_string).collect();
        words.sort();
        words.dedup();
        assert!(words.len() > 80, "{}", words.len());
        assert_eq!(Wrong::of(7), Wrong::of(7));
    }

    #[test]
    fn a_wrong_decision_is_found_against_the_scheduler_without_it() {
        let against = Some(Choice::named("cfs-6.1"));
        let question =
            Question { against, trials: 64, findings: 1, ..Question::of(choice("cfs-6.1", 4)) };
        let (outcome, _) = hunt(&question, Duration::MAX).expect("a search");
        let finding = outcome.shrunk.first().expect("a finding");
        assert_eq!((finding.kind, finding.control.words()), (Kind::Worse, "cfs-6.1".to_owned()));
    }
}
