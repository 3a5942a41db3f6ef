//! The tasks that a run waits for.
//!
//! A run is over when its job is done, so the run waits for tasks whose work has a beginning or an
//! end. A task that existed before the recording and continues after it (init, daemons, hogs, the
//! task that starts and stops the recording) lasts as long as the recording under every scheduler,
//! so waiting for it would only show that nothing can be gained. The same holds for a hog, which
//! runs from one end of the recording to the other without ever sleeping, and for a task that waits
//! until it is killed. A job that is recorded in its middle has neither a beginning nor an end:
//! then the run waits for the tasks that wait for each other.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use wastenot_model::workload::Natures;
use wastenot_model::{History, Span, TaskId, is_kernel_thread};

use super::life::Life;
use super::watch::Watch;
use super::{Options, is_part, is_simulated};

/// An awaited task must have done at least one in this many parts of the work of all tasks that are
/// not kernel threads: a run of hours does not wait for a `date` in it.
const PART: u64 = 100;
/// A hog runs for all but one in this many parts of the recording.
const REST: u64 = 20;

/// The tasks that the run waits for, and why.
#[derive(Debug)]
pub(super) struct Awaited {
    /// Whether the run waits for a task, by index.
    pub(super) tasks: Vec<bool>,
    /// Whether a task is a kernel thread, by index.
    pub(super) kernels: Vec<bool>,
    /// Why the run waits for them.
    pub(super) why: Why,
    /// The CPU time of the awaited tasks.
    pub(super) work: Span,
    /// The names of some tasks that are not kernel threads and are not awaited, those with the most
    /// CPU time first.
    pub(super) others: Vec<String>,
}

/// Why the run waits for these tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The user named them.
    Named,
    /// The History is a run of a scenario, and the scenario waits for them.
    Told,
    /// They came or ended within the recording, and are not hogs.
    Passing,
    /// No such task has enough work; other tasks woke these.
    Woken,
    /// No such task has enough work; these are not kernel threads.
    Ordinary,
    /// There are only kernel threads.
    All,
}

impl Awaited {
    /// The awaited tasks of `history`, given what was observed in it.
    pub(super) fn of(history: &History, options: &Options<'_>, watch: &Watch<'_>) -> Awaited {
        let crew = Crew::of(history, options, watch);
        let told = |it: usize| is_awaited(history, &watch.natures, TaskId::nth(it));
        let named = options.awaited.map(|tasks| tasks.iter().collect::<BTreeSet<_>>());
        let (why, tasks) = match named {
            Some(named) => (Why::Named, crew.choose(|it| named.contains(&TaskId::nth(it)))),
            None if is_simulated(history) && !is_part(history) => (Why::Told, crew.choose(told)),
            None => crew.job(|it| !is_simulated(history) || told(it)),
        };
        let (why, tasks) = match tasks.contains(&true) || why == Why::Named {
            true => (why, tasks),
            false => (Why::All, crew.choose(|_| true)),
        };
        let others = crew.choose(|it| !tasks[it] && !crew.kernels[it]);
        Awaited {
            work: crew.work_of(&tasks),
            others: crew.names(&others),
            kernels: crew.kernels,
            tasks,
            why,
        }
    }
}

/// All tasks, by index.
struct Crew<'w> {
    /// How long the recording is.
    whole: Span,
    names: Vec<&'w str>,
    lives: &'w [Life],
    work: Vec<Span>,
    kernels: Vec<bool>,
    recorders: Vec<bool>,
}

impl<'w> Crew<'w> {
    fn of(history: &'w History, options: &Options<'_>, watch: &'w Watch<'_>) -> Crew<'w> {
        let names: Vec<&str> = history.tasks().map(|(_, task)| history.name(task.name)).collect();
        let named = names.iter().zip(&watch.lives);
        Crew {
            whole: history.window().span(),
            kernels: named.map(|(name, life)| life.kthread || is_kernel_thread(name)).collect(),
            recorders: history.tasks().map(|(task, _)| (options.recorder)(task)).collect(),
            work: watch.lives.iter().map(Life::work).collect(),
            lives: &watch.lives,
            names,
        }
    }

    /// The tasks that ran and for which `holds` is true.
    fn choose(&self, holds: impl Fn(usize) -> bool) -> Vec<bool> {
        let ran = |life: &Life| life.birth.is_some() && life.began;
        self.lives.iter().enumerate().map(|(it, life)| ran(life) && holds(it)).collect()
    }

    /// The tasks whose job was recorded, as far as is known, and for which `holds` is true.
    fn job(&self, holds: impl Fn(usize) -> bool) -> (Why, Vec<bool>) {
        let ordinary = |it: usize| holds(it) && !self.kernels[it] && !self.recorders[it];
        let all = self.choose(ordinary);
        let least = Span(self.work_of(&all).0 / PART);
        let weighs = |chosen: &[bool]| chosen.contains(&true) && self.work_of(chosen) >= least;
        let passes = |it: usize| self.lives[it].born || self.lives[it].ended;
        let hogs = self.hogs();
        let endless = |it: usize| hogs[it] || self.lives[it].outlived.iter().any(|&it| hogs[it]);
        let passing = self.choose(|it| ordinary(it) && passes(it) && !endless(it));
        if weighs(&passing) {
            return (Why::Passing, passing);
        }
        let woken = self.choose(|it| ordinary(it) && self.lives[it].was_woken() && !endless(it));
        if weighs(&woken) {
            return (Why::Woken, woken);
        }
        (Why::Ordinary, all)
    }

    /// The tasks that run from one end of the recording to the other and never sleep. A task that
    /// never sleeps but has to wait for a CPU does not count, since that may be the scheduler's
    /// fault.
    fn hogs(&self) -> Vec<bool> {
        let least = Span(self.whole.0 - self.whole.0 / REST);
        let hogs =
            self.lives.iter().zip(&self.work).map(|(life, work)| !life.slept && *work >= least);
        hogs.collect()
    }

    fn work_of(&self, chosen: &[bool]) -> Span {
        let chosen = chosen.iter().zip(&self.work).filter(|(chosen, _)| **chosen);
        chosen.fold(Span::ZERO, |sum, (_, work)| sum + *work)
    }

    /// The names of these tasks, those with the most CPU time first.
    fn names(&self, chosen: &[bool]) -> Vec<String> {
        let mut order: Vec<usize> = (0..chosen.len()).filter(|&it| chosen[it]).collect();
        order.sort_by_key(|&it| Reverse(self.work[it]));
        let mut met = BTreeSet::new();
        let names = order.into_iter().map(|it| self.names[it]);
        names.filter(|name| met.insert(*name)).map(str::to_owned).collect()
    }
}

fn is_awaited(history: &History, natures: &Natures, task: TaskId) -> bool {
    let nature = history.task(task).and_then(|task| natures.tasks.get(&task.tid));
    nature.is_none_or(|nature| nature.awaited)
}
