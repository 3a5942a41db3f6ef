//! What tasks wait for: locks, barriers, pipes, conditions. Queues of waiters are linked through
//! the tasks, so that waiting allocates nothing.

use wastenot_model::workload::{BarrierId, ConditionId, LockId, PipeId, Waiting};
use wastenot_model::{TaskId, Workload};

use super::life::{Life, Waits};

/// Everything that tasks share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) locks: Vec<Lock>,
    pub(crate) barriers: Vec<Barrier>,
    pub(crate) pipes: Vec<Pipe>,
    pub(crate) conditions: Vec<Line>,
}

#[derive(Debug)]
pub(crate) struct Lock {
    pub(crate) owner: Option<TaskId>,
    pub(crate) line: Line,
    pub(crate) waiting: Waiting,
}

#[derive(Debug)]
pub(crate) struct Barrier {
    pub(crate) parties: u32,
    pub(crate) line: Line,
    pub(crate) waiting: Waiting,
}

#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) tokens: u32,
    pub(crate) capacity: u32,
    pub(crate) getters: Line,
    pub(crate) putters: Line,
    pub(crate) waiting: Waiting,
    pub(crate) sync: bool,
    pub(crate) at_once: bool,
}

/// Tasks in the order in which they came, linked by [`Life::next`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    ends: Option<(TaskId, TaskId)>,
    pub(crate) length: u32,
}

/// What a task gets when it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It goes on.
    Go,
    /// It goes on, and this one may too.
    GoWith(TaskId),
    /// It waits, in this way.
    Wait(Waits, Waiting),
}

impl Line {
    fn join(&mut self, lives: &mut [Life], task: TaskId) {
        life(lives, task).next = None;
        self.length += 1;
        match &mut self.ends {
            None => self.ends = Some((task, task)),
            Some((_, last)) => {
                life(lives, *last).next = Some(task);
                *last = task;
            }
        }
    }
    /// The first, who leaves it.
    pub(crate) fn leave(&mut self, lives: &mut [Life]) -> Option<TaskId> {
        let (first, last) = self.ends?;
        let next = life(lives, first).next.take();
        self.ends = next.map(|next| (next, last));
        self.length -= 1;
        Some(first)
    }
}

fn life(lives: &mut [Life], task: TaskId) -> &mut Life {
    let index = task.index().expect("idle tasks wait for nothing");
    &mut lives[index]
}

impl Shared {
    pub(crate) fn of(workload: &Workload) -> Shared {
        let line = Line::default();
        let locks = workload.locks.iter();
        let barriers = workload.barriers.iter();
        let pipes = workload.pipes.iter();
        Shared {
            locks: locks.map(|it| Lock { owner: None, line, waiting: it.waiting }).collect(),
            barriers: barriers
                .map(|it| Barrier { parties: it.parties, line, waiting: it.waiting })
                .collect(),
            pipes: pipes
                .map(|it| Pipe {
                    tokens: it.tokens,
                    capacity: it.capacity.unwrap_or(u32::MAX),
                    getters: line,
                    putters: line,
                    waiting: it.waiting,
                    sync: it.sync,
                    at_once: it.at_once,
                })
                .collect(),
            conditions: vec![line; workload.conditions.len()],
        }
    }

    pub(crate) fn lock(&mut self, lives: &mut [Life], id: LockId, task: TaskId) -> Answer {
        let lock = &mut self.locks[id.index()];
        if lock.owner.is_none() {
            lock.owner = Some(task);
            return Answer::Go;
        }
        lock.line.join(lives, task);
        Answer::Wait(Waits::Lock(id), lock.waiting)
    }

    /// Hands the lock on. A task that does not hold it unlocks nothing.
    pub(crate) fn unlock(&mut self, lives: &mut [Life], id: LockId, task: TaskId) -> Answer {
        let lock = &mut self.locks[id.index()];
        if lock.owner != Some(task) {
            return Answer::Go;
        }
        lock.owner = lock.line.leave(lives);
        lock.owner.map_or(Answer::Go, Answer::GoWith)
    }

    /// Whether all are here now: then the line is let go by the caller.
    pub(crate) fn arrive(&mut self, lives: &mut [Life], id: BarrierId, task: TaskId) -> Answer {
        let barrier = &mut self.barriers[id.index()];
        if barrier.line.length + 1 >= barrier.parties {
            return Answer::Go;
        }
        barrier.line.join(lives, task);
        Answer::Wait(Waits::Barrier(id), barrier.waiting)
    }

    pub(crate) fn put(&mut self, lives: &mut [Life], id: PipeId, task: TaskId) -> Answer {
        let pipe = &mut self.pipes[id.index()];
        if let Some(getter) = pipe.getters.leave(lives) {
            return Answer::GoWith(getter);
        }
        if pipe.tokens < pipe.capacity {
            pipe.tokens += 1;
            return Answer::Go;
        }
        pipe.putters.join(lives, task);
        Answer::Wait(Waits::Room(id), pipe.waiting)
    }

    pub(crate) fn get(&mut self, lives: &mut [Life], id: PipeId, task: TaskId) -> Answer {
        let pipe = &mut self.pipes[id.index()];
        if pipe.tokens == 0 {
            // A pipe without room hands tokens over directly.
            if let Some(putter) = pipe.putters.leave(lives) {
                return Answer::GoWith(putter);
            }
            pipe.getters.join(lives, task);
            return Answer::Wait(Waits::Token(id), pipe.waiting);
        }
        pipe.tokens -= 1;
        let Some(putter) = pipe.putters.leave(lives) else { return Answer::Go };
        pipe.tokens += 1;
        Answer::GoWith(putter)
    }

    pub(crate) fn wait(&mut self, lives: &mut [Life], id: ConditionId, task: TaskId) -> Answer {
        self.conditions[id.index()].join(lives, task);
        Answer::Wait(Waits::Condition(id), Waiting::Block)
    }
}
