//! Global EDF, or another order, without overhead: decisions take no time and no CPU.

use std::ops::ControlFlow;

use wastenot_model::sporadic::{Sporadic, TaskSet};

use super::core::{Core, Key, Link, Order, Rule};
use super::tournament::{NONE, Tournament};

/// A job that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Its task.
    pub task: u32,
    /// When it was released, in us.
    pub released_us: u64,
    /// When it should have been complete.
    pub deadline_us: u64,
    /// When it was complete.
    pub at_us: u64,
}

/// Runs `tasks` on `cpus` CPUs, each job for its whole C. Calls `done` for each complete job, in
/// order of time, until `until_us` or [`ControlFlow::Break`].
///
/// `release` returns when the next job of a task comes, given the release of the last one: `None`
/// the first time. A task's jobs run one after the other, in order.
pub fn gedf(
    tasks: &TaskSet,
    cpus: u32,
    rule: Rule,
    until_us: u64,
    release: impl FnMut(u32, Option<u64>) -> u64,
    done: impl FnMut(Done) -> ControlFlow<()>,
) {
    Plain::new(tasks, cpus, rule, until_us, release).run(done);
}

/// Synchronous release: every task releases a job at 0, and then each period.
pub fn synchronous(tasks: &TaskSet) -> impl FnMut(u32, Option<u64>) -> u64 {
    |task, last| last.map_or(0, |last| last + tasks[task as usize].period_us)
}

/// The job of a task.
#[derive(Clone, Copy, Debug, Default)]
struct Job {
    released_us: u64,
    /// How much of the job was left when it was last linked.
    left_us: u64,
}

struct Plain<'t, R> {
    tasks: &'t TaskSet,
    until_us: u64,
    release: R,
    cpus: u32,
    order: Order,
    core: Core,
    /// By task: the job that was released last.
    jobs: Vec<Job>,
    /// By task: when the next job comes, if the last one is complete.
    releases: Clock,
    /// By CPU: when its job will be complete.
    completions: Clock,
}

/// The next of several events that may be due.
struct Clock(Tournament);

impl Clock {
    fn new(things: usize) -> Clock {
        Clock(Tournament::new(things))
    }
    fn set(&mut self, thing: u32, at_us: u64) {
        self.0.set(thing as usize, at_us << Key::TASK_BITS | u64::from(thing));
    }
    fn clear(&mut self, thing: u32) {
        self.0.set(thing as usize, NONE);
    }
    /// When the next event is due.
    fn next_us(&self) -> u64 {
        self.0.least() >> Key::TASK_BITS
    }
    /// The event that is due at this instant.
    fn due(&self, now_us: u64) -> Option<u32> {
        let least = self.0.least();
        (least >> Key::TASK_BITS == now_us).then_some((least & Key::TASKS) as u32)
    }
    fn at_us(&self, thing: u32) -> u64 {
        self.0.get(thing as usize) >> Key::TASK_BITS
    }
}

impl<'t, R: FnMut(u32, Option<u64>) -> u64> Plain<'t, R> {
    fn new(tasks: &'t TaskSet, cpus: u32, rule: Rule, until_us: u64, mut release: R) -> Self {
        let latest = tasks.iter().map(|task| task.deadline_us).max().unwrap_or(0);
        let mut releases = Clock::new(tasks.len());
        for task in 0..tasks.len() as u32 {
            releases.set(task, release(task, None).min(Key::LATEST_US));
        }
        Plain {
            tasks,
            until_us: until_us.min(Key::LATEST_US - latest),
            release,
            cpus,
            order: rule.order,
            core: Core::new(tasks.len(), cpus, rule.tie),
            jobs: vec![Job::default(); tasks.len()],
            releases,
            completions: Clock::new(cpus as usize),
        }
    }

    fn run(mut self, mut done: impl FnMut(Done) -> ControlFlow<()>) {
        loop {
            let now_us = self.releases.next_us().min(self.completions.next_us());
            if now_us > self.until_us {
                return;
            }
            while let Some(cpu) = self.completions.due(now_us) {
                if done(self.complete(cpu, now_us)).is_break() {
                    return;
                }
            }
            while let Some(task) = self.releases.due(now_us) {
                self.releases.clear(task);
                self.arrive(task, now_us);
            }
            while let Some(link) = self.core.decide() {
                self.start(link, now_us);
            }
        }
    }

    fn task(&self, task: u32) -> &'t Sporadic {
        &self.tasks[task as usize]
    }

    /// A job is released, or was released while the one before it was not complete.
    fn arrive(&mut self, task: u32, released_us: u64) {
        let of = self.task(task);
        self.jobs[task as usize] = Job { released_us, left_us: of.wcet_us };
        self.core.ready(task, self.order.urgency(of, released_us, self.cpus));
    }

    fn complete(&mut self, cpu: u32, now_us: u64) -> Done {
        self.completions.clear(cpu);
        let task = self.core.unlink(cpu).unwrap_or_default();
        let released_us = self.jobs[task as usize].released_us;
        let deadline_us = released_us + self.task(task).deadline_us;
        let next_us = (self.release)(task, Some(released_us)).min(Key::LATEST_US);
        if next_us > now_us {
            self.releases.set(task, next_us);
        } else {
            self.arrive(task, next_us);
        }
        Done { task, released_us, deadline_us, at_us: now_us }
    }

    fn start(&mut self, link: Link, now_us: u64) {
        if let Some(task) = link.displaced {
            self.jobs[task as usize].left_us = self.completions.at_us(link.cpu) - now_us;
        }
        self.completions.set(link.cpu, now_us + self.jobs[link.task as usize].left_us);
    }
}
