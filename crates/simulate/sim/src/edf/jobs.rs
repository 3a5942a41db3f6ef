//! Jobs: their releases, their deadlines, and the interrupts that release them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use wastenot_model::policy::{TimerId, Why};
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_model::{Context, CpuId, TaskId, Time};

use super::core::{Key, Order};
use super::plain::Done;
use crate::mechanism::Overhead;
use crate::{Kernel, Leaves};

/// Jobs that one interrupt releases: of one instant and one domain.
#[derive(Debug)]
struct Release {
    timer: TimerId,
    tasks: Vec<u32>,
}

/// A job that was not complete at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Its task.
    pub task: u32,
    /// When it was released, in us.
    pub released_us: u64,
    /// When it should be complete.
    pub deadline_us: u64,
    /// How many jobs of the task are overdue at the end: this one and those that wait for it, if
    /// one comes each period.
    pub overdue: u64,
}

/// A task that leaves its CPU, and whose CPU has not processed that when the run ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub(super) task: TaskId,
    pub(super) how: Leaves,
    /// When it began to leave.
    pub(super) at: Time,
}

/// The next job of a task to complete.
#[derive(Clone, Copy, Debug, Default)]
enum Next {
    /// The release is not drawn yet.
    #[default]
    Unasked,
    /// The release of the job, in us.
    At(u64),
    /// The task has ended.
    Never,
}

/// The last job of a task.
#[derive(Clone, Copy, Debug, Default)]
struct Job {
    released_us: Option<u64>,
    next: Next,
}

/// The jobs of all tasks.
pub(super) struct Jobs<'t> {
    tasks: &'t TaskSet,
    cpus: u32,
    order: Order,
    /// When the next job of a task comes, given the release of the last one.
    next: Box<dyn FnMut(u32, Option<u64>) -> u64 + 't>,
    /// Complete jobs, in order of time.
    done: Vec<Done>,
    last: Vec<Job>,
    /// By instant and domain.
    releases: BTreeMap<(u64, u32), Release>,
    /// By timer: the key of the release that it is for.
    due: Vec<(u64, u32)>,
    first_timer: TimerId,
}

impl<'t> Jobs<'t> {
    pub(super) fn new(
        tasks: &'t TaskSet,
        cpus: u32,
        order: Order,
        next: impl FnMut(u32, Option<u64>) -> u64 + 't,
    ) -> Jobs<'t> {
        Jobs {
            tasks,
            cpus,
            order,
            next: Box::new(next),
            done: Vec::new(),
            last: vec![Job::default(); tasks.len()],
            releases: BTreeMap::new(),
            due: vec![(0, 0); tasks.len()],
            first_timer: TimerId(0),
        }
    }

    /// In `init`: creates a timer for each task.
    pub(super) fn init(&mut self, kernel: &mut Kernel) {
        self.first_timer = kernel.cx.new_timers(self.tasks.len() as u32);
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(super) fn of(&self, task: u32) -> &'t Sporadic {
        &self.tasks[task as usize]
    }

    /// When the next job of `task` comes.
    pub(super) fn next_us(&mut self, task: u32) -> u64 {
        let last = &mut self.last[task as usize];
        let at_us = (self.next)(task, last.released_us).min(Key::LATEST_US);
        last.next = Next::At(at_us);
        at_us
    }

    /// Arms an interrupt of `cpu` for a job that comes at `at_us`. If an interrupt is armed for
    /// other jobs of that instant already, that interrupt serves this job, too.
    pub(super) fn arm(
        &mut self,
        kernel: &mut Kernel,
        task: u32,
        at_us: u64,
        (domain, cpu): (u32, CpuId),
    ) {
        match self.releases.entry((at_us, domain)) {
            Entry::Occupied(mut others) => others.get_mut().tasks.push(task),
            Entry::Vacant(none) => {
                let timer = TimerId(self.first_timer.0 + task);
                none.insert(Release { timer, tasks: vec![task] });
                self.due[task as usize] = (at_us, domain);
                kernel.cx.timer(timer, cpu, Some(Time(at_us * 1_000)));
                kernel.carry_out();
            }
        }
    }

    /// `timer` interrupts `cpu`: the jobs that it releases, their domain, and their release.
    pub(super) fn due(
        &mut self,
        kernel: &mut Kernel,
        cpu: CpuId,
        timer: TimerId,
    ) -> (Vec<u32>, u32, Time) {
        let (at_us, domain) = self.due[(timer.0 - self.first_timer.0) as usize];
        let release = self.releases.remove(&(at_us, domain));
        debug_assert!(release.as_ref().is_some_and(|release| release.timer == timer));
        let due = Time(at_us * 1_000);
        kernel.sample(cpu, Overhead::ReleaseLatency, due);
        (release.map_or_else(Vec::new, |release| release.tasks), domain, due)
    }

    /// Releases a job of `task` at `at_us`; returns its urgency.
    pub(super) fn begin(&mut self, kernel: &mut Kernel, task: u32, at_us: u64) -> u64 {
        kernel.begins_job(self::task(task), Time(at_us * 1_000));
        self.last[task as usize] = Job { released_us: Some(at_us), next: Next::At(at_us) };
        self.urgency(task)
    }

    /// When the last job of `task` was released.
    pub(super) fn released_us(&self, task: u32) -> u64 {
        self.last[task as usize].released_us.unwrap_or(0)
    }

    /// `task`, whose next job is released, waits on the CPU where it was last if that is one of
    /// `cpus`.
    pub(super) fn place(&self, kernel: &mut Kernel, task: u32, cpus: &[CpuId]) {
        let last = kernel.cx.task(self::task(task)).cpu;
        let cpu = if cpus.contains(&last) { last } else { cpus[0] };
        let first = self.last[task as usize].released_us.is_none();
        let why = if first { Why::New } else { Why::Wakeup { sync: false } };
        kernel.place(self::task(task), cpu, why, Context::Hardirq);
    }

    /// The urgency of the last job of `task`: a smaller value goes first.
    pub(super) fn urgency(&self, task: u32) -> u64 {
        self.order.urgency(self.of(task), self.released_us(task), self.cpus)
    }

    /// The last job of `task` has been complete since `at`.
    pub(super) fn complete(&mut self, task: u32, at: Time) {
        let released_us = self.released_us(task);
        let deadline_us = released_us + self.of(task).deadline_us;
        self.done.push(Done { task, released_us, deadline_us, at_us: at.0.div_ceil(1_000) });
        self.last[task as usize].next = Next::Unasked;
    }

    /// `task` ends at `at`, and its last job is complete if it has computed anything.
    pub(super) fn end(&mut self, kernel: &Kernel, task: u32, at: Time) {
        if kernel.worked(self::task(task)) {
            self.complete(task, at);
        }
        self.last[task as usize].next = Next::Never;
    }

    /// The complete jobs; and for each task its released job that is not complete, even if the
    /// scheduler has not processed the release. The jobs of tasks in `leave` count as complete.
    pub(super) fn ended(
        &mut self,
        kernel: &Kernel,
        leave: &[Leaving],
    ) -> (Vec<Done>, Vec<Pending>) {
        for Leaving { task, how, at } in leave {
            match how {
                Leaves::Completes => self.complete(number(*task), *at),
                Leaves::Ends => self.end(kernel, number(*task), *at),
                Leaves::Sleeps | Leaves::Runnable(_) | Leaves::Displaced { .. } => {}
            }
        }
        let (now_us, count) = (kernel.now().0 / 1_000, self.tasks.len() as u32);
        let pending = |task: u32| {
            let released_us = match self.last[task as usize].next {
                Next::Unasked => self.next_us(task),
                Next::At(at_us) => at_us,
                Next::Never => return None,
            };
            let of = self.of(task);
            let deadline_us = released_us + of.deadline_us;
            // A job that completes at its deadline is in time.
            let late_us = now_us.checked_sub(deadline_us + 1);
            let overdue = late_us.map_or(0, |late_us| 1 + late_us / of.period_us);
            let job = Pending { task, released_us, deadline_us, overdue };
            (released_us <= now_us).then_some(job)
        };
        let pending = (0..count).filter_map(pending).collect();
        (std::mem::take(&mut self.done), pending)
    }
}

/// The number of `task` in its set: tasks are created in that order.
pub(super) fn number(task: TaskId) -> u32 {
    task.ordinal() as u32
}

/// The task of that number.
pub(super) fn task(number: u32) -> TaskId {
    TaskId::nth(number as usize)
}
