//! A run on as many CPUs as there are tasks, in zero time: a task that waits for ever in it would
//! wait for ever on any machine.
//!
//! Tasks take turns, one step each. Since no time passes, a signal without a waiter is kept for the
//! next waiter, so that only a wait that ends under no timing is reported as a deadlock. Locks
//! taken in opposite orders are found if the turns bring them together.

use std::collections::VecDeque;

use wastenot_model::Workload;
use wastenot_model::workload::{Program, Step};

use super::lines::Lines;
use super::node::{Wrong, wrong};
use super::program::FOREVER;

/// The steps left for all variants of a scenario; a run that needs more is not checked.
pub(crate) struct Budget {
    steps: u32,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { steps: 3_000_000 }
    }
}

/// The steps of one variant.
const STEPS: u32 = 400_000;
/// The maximum number of tasks that are alive at a time.
const TASKS: usize = 20_000;

/// Refuses a workload in which awaited tasks wait for ever.
pub(super) fn run(workload: &Workload, lines: &Lines, budget: &mut Budget) -> Result<(), Wrong> {
    if workload.launches.len() > TASKS {
        return Ok(());
    }
    let mut run = Run::new(workload);
    for _ in 0..STEPS.min(budget.steps) {
        let Some(task) = run.ready.pop_front() else { return run.stalled(lines) };
        budget.steps -= 1;
        if run.tasks.len() > TASKS {
            return Ok(());
        }
        run.step(task);
    }
    Ok(())
}

/// A task: its position in its program.
struct Task {
    template: usize,
    at: usize,
    /// Open loops and their rounds left; `None` is for ever.
    loops: Vec<Option<u32>>,
    parent: Option<usize>,
    /// Children that are alive, and those that ended before they were waited for.
    living: u32,
    ended: u32,
    waits: Option<Wait>,
}

/// What a task waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    Lock(usize),
    Barrier(usize),
    Room(usize),
    Token(usize),
    Signal(usize),
    OneChild,
    AllChildren,
    /// It computes for ever.
    Nothing,
}

/// A condition: its waiters, signals kept, and whether a broadcast was made.
#[derive(Default)]
struct Condition {
    waiting: VecDeque<usize>,
    signals: u32,
    open: bool,
}

/// A pipe: its tokens, the tasks that wait for one, and those that wait for room.
#[derive(Default)]
struct Pipe {
    tokens: u32,
    takers: VecDeque<usize>,
    givers: VecDeque<usize>,
}

/// A lock: its holder and its waiters.
#[derive(Default)]
struct Lock {
    held: Option<usize>,
    waiting: VecDeque<usize>,
}

struct Run<'a> {
    workload: &'a Workload,
    tasks: Vec<Task>,
    ready: VecDeque<usize>,
    locks: Vec<Lock>,
    barriers: Vec<Vec<usize>>,
    pipes: Vec<Pipe>,
    conditions: Vec<Condition>,
}

impl<'a> Run<'a> {
    fn new(workload: &'a Workload) -> Run<'a> {
        let pipe =
            |pipe: &wastenot_model::workload::Pipe| Pipe { tokens: pipe.tokens, ..Pipe::default() };
        let mut run = Run {
            workload,
            tasks: Vec::new(),
            ready: VecDeque::new(),
            locks: workload.locks.iter().map(|_| Lock::default()).collect(),
            barriers: vec![Vec::new(); workload.barriers.len()],
            pipes: workload.pipes.iter().map(pipe).collect(),
            conditions: workload.conditions.iter().map(|_| Condition::default()).collect(),
        };
        for launch in &workload.launches {
            run.create(launch.template.index(), None);
        }
        run
    }

    fn create(&mut self, template: usize, parent: Option<usize>) {
        let task =
            Task { template, at: 0, loops: Vec::new(), parent, living: 0, ended: 0, waits: None };
        self.tasks.push(task);
        let task = self.tasks.len() - 1;
        // A task that runs for ever without affecting another one cannot change the result.
        match keeps_to_itself(&self.workload.templates[template].program) {
            true => self.tasks[task].waits = Some(Wait::Nothing),
            false => self.ready.push_back(task),
        }
    }

    /// One step of a task, which then waits, or is ready again.
    fn step(&mut self, task: usize) {
        let program = &self.workload.templates[self.tasks[task].template].program;
        let at = self.tasks[task].at;
        let Some(step) = program.steps().get(at) else { return self.end(task) };
        self.tasks[task].at += 1;
        let wait = match *step {
            Step::Loop(times) => {
                self.tasks[task].loops.push(times);
                None
            }
            Step::UnlessLate(_) => {
                self.tasks[task].loops.push(Some(1));
                None
            }
            Step::End { of } => {
                self.again(task, of as usize);
                None
            }
            Step::Compute(length) => (length == FOREVER).then_some(Wait::Nothing),
            Step::Lock(lock) => self.lock(task, lock.index()),
            Step::Unlock(lock) => self.unlock(lock.index()),
            Step::Barrier(barrier) => self.barrier(task, barrier.index()),
            Step::Put(pipe) => self.put(task, pipe.index()),
            Step::Get(pipe) => self.get(task, pipe.index()),
            Step::Await(condition) => self.condition(task, condition.index()),
            Step::Signal(condition) => self.signal(condition.index(), false),
            Step::Broadcast(condition) => self.signal(condition.index(), true),
            Step::Fork(child) => {
                self.tasks[task].living += 1;
                self.create(child.index(), Some(task));
                None
            }
            Step::WaitOne => self.wait_one(task),
            Step::WaitAll => (self.tasks[task].living > 0).then_some(Wait::AllChildren),
            _ => None,
        };
        match wait {
            Some(_) => self.tasks[task].waits = wait,
            None => self.ready.push_back(task),
        }
    }

    fn again(&mut self, task: usize, of: usize) {
        let task = &mut self.tasks[task];
        match task.loops.last_mut() {
            Some(Some(left)) if *left <= 1 => {
                task.loops.pop();
            }
            Some(Some(left)) => {
                *left -= 1;
                task.at = of + 1;
            }
            Some(None) => task.at = of + 1,
            None => {}
        }
    }

    fn wake(&mut self, task: usize) {
        self.tasks[task].waits = None;
        self.ready.push_back(task);
    }

    fn end(&mut self, task: usize) {
        let Some(parent) = self.tasks[task].parent else { return };
        let of = &mut self.tasks[parent];
        of.living -= 1;
        of.ended += 1;
        match of.waits {
            Some(Wait::OneChild) => {
                of.ended -= 1;
                self.wake(parent);
            }
            Some(Wait::AllChildren) if of.living == 0 => {
                of.ended = 0;
                self.wake(parent);
            }
            _ => {}
        }
    }

    /// A wait for a child; a task without children does not wait.
    fn wait_one(&mut self, task: usize) -> Option<Wait> {
        let task = &mut self.tasks[task];
        match (task.ended, task.living) {
            (0, 0) => None,
            (0, _) => Some(Wait::OneChild),
            _ => {
                task.ended -= 1;
                None
            }
        }
    }

    fn lock(&mut self, task: usize, lock: usize) -> Option<Wait> {
        let of = &mut self.locks[lock];
        if of.held.is_none() {
            of.held = Some(task);
            return None;
        }
        of.waiting.push_back(task);
        Some(Wait::Lock(lock))
    }

    fn unlock(&mut self, lock: usize) -> Option<Wait> {
        let next = self.locks[lock].waiting.pop_front();
        self.locks[lock].held = next;
        next.into_iter().for_each(|task| self.wake(task));
        None
    }

    fn barrier(&mut self, task: usize, barrier: usize) -> Option<Wait> {
        let here = &mut self.barriers[barrier];
        if here.len() + 1 < self.workload.barriers[barrier].parties as usize {
            here.push(task);
            return Some(Wait::Barrier(barrier));
        }
        std::mem::take(here).into_iter().for_each(|task| self.wake(task));
        None
    }

    fn put(&mut self, task: usize, pipe: usize) -> Option<Wait> {
        let of = &mut self.pipes[pipe];
        if let Some(taker) = of.takers.pop_front() {
            self.wake(taker);
        } else if self.workload.pipes[pipe].capacity.is_some_and(|capacity| of.tokens >= capacity) {
            of.givers.push_back(task);
            return Some(Wait::Room(pipe));
        } else {
            of.tokens = of.tokens.saturating_add(1);
        }
        None
    }

    fn get(&mut self, task: usize, pipe: usize) -> Option<Wait> {
        let of = &mut self.pipes[pipe];
        if of.tokens == 0 {
            of.takers.push_back(task);
            return Some(Wait::Token(pipe));
        }
        // A task that waits for room puts its token into the free place.
        match of.givers.pop_front() {
            Some(giver) => self.wake(giver),
            None => of.tokens -= 1,
        }
        None
    }

    fn condition(&mut self, task: usize, condition: usize) -> Option<Wait> {
        let of = &mut self.conditions[condition];
        if of.open {
            return None;
        }
        if of.signals > 0 {
            of.signals -= 1;
            return None;
        }
        of.waiting.push_back(task);
        Some(Wait::Signal(condition))
    }

    fn signal(&mut self, condition: usize, all: bool) -> Option<Wait> {
        let of = &mut self.conditions[condition];
        of.open |= all;
        match of.waiting.pop_front() {
            None => of.signals = of.signals.saturating_add(1),
            Some(first) if all => {
                let rest = std::mem::take(&mut of.waiting);
                std::iter::once(first).chain(rest).for_each(|task| self.wake(task));
            }
            Some(first) => self.wake(first),
        }
        None
    }

    /// No task can continue: the awaited tasks should have ended.
    fn stalled(&self, lines: &Lines) -> Result<(), Wrong> {
        let stuck = |task: &&Task| {
            let awaited = self.workload.templates[task.template].awaited;
            awaited && task.waits.is_some_and(|wait| wait != Wait::Nothing)
        };
        let mut waiting = self.tasks.iter().filter(stuck);
        let Some(first) = waiting.next() else { return Ok(()) };
        const SHOWN: usize = 4;
        let mut tasks: Vec<String> = vec![self.describe(first)];
        for task in self.tasks.iter().filter(stuck) {
            let words = self.describe(task);
            if !tasks.contains(&words) && tasks.len() < SHOWN {
                tasks.push(words);
            }
        }
        let what = format!("the tasks wait for each other forever: {}", tasks.join("; "));
        let help = "add the step that ends the wait, or write `background = true` for tasks that \
                    need not end";
        Err(wrong(lines.of(first.template, first.at - 1), what, help))
    }

    fn describe(&self, task: &Task) -> String {
        let workload = self.workload;
        let name = |task: &Task| &workload.templates[task.template].name;
        let waits = match task.waits {
            Some(Wait::Lock(lock)) => {
                let holder = self.locks[lock].held.map(|task| name(&self.tasks[task]).as_str());
                let lock = &workload.locks[lock].name;
                format!("for the lock `{lock}`, which {} holds", holder.unwrap_or("no task"))
            }
            Some(Wait::Barrier(barrier)) => {
                let (here, of) = (self.barriers[barrier].len(), &workload.barriers[barrier]);
                format!(
                    "at the barrier `{}`, where {here} of {} tasks have arrived",
                    of.name, of.parties
                )
            }
            Some(Wait::Room(pipe)) => {
                format!("for room in the pipe `{}`", workload.pipes[pipe].name)
            }
            Some(Wait::Token(pipe)) => {
                format!("for a token in the pipe `{}`", workload.pipes[pipe].name)
            }
            Some(Wait::Signal(condition)) => {
                format!("for a signal of the condition `{}`", workload.conditions[condition].name)
            }
            Some(Wait::OneChild) => "until one of its children ends".into(),
            Some(Wait::AllChildren) => format!("until its {} children end", task.living),
            Some(Wait::Nothing) | None => "without a reason".into(),
        };
        format!("{} waits {waits}", name(task))
    }
}

/// Whether a program loops for ever without interacting with any other task.
fn keeps_to_itself(program: &Program) -> bool {
    let alone = |step: &Step| {
        use Step::{
            Affinity, Beat, Compute, End, Exec, Loop, Mark, Nice, Run, Sleep, UnlessLate, Yield,
        };
        matches!(
            step,
            Compute(_)
                | Sleep(_)
                | Beat(_)
                | Exec
                | Run(_)
                | Yield
                | Nice(_)
                | Affinity(_)
                | Mark(_)
                | Loop(_)
                | UnlessLate(_)
                | End { .. }
        )
    };
    let endless = |step: &Step| matches!(step, Step::Loop(None));
    program.steps().iter().any(endless) && program.steps().iter().all(alone)
}
