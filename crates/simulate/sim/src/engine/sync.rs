//! What tasks wait for: locks, barriers, pipes, conditions. Queues of waiters are linked through
//! the tasks, so that waiting allocates nothing.

use wastenot_model::workload::{BarrierId, ConditionId, LockId, PipeId, Waiting};
use wastenot_model::{TaskId, Workload};

use super::life::{Doing, Life, Waits};

/// All objects that tasks share.
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
    /// Tokens, and room, reserved for tasks that spin but do not run; they take them when they run.
    promised: u32,
    promised_room: u32,
    pub(crate) getters: Line,
    pub(crate) putters: Line,
    pub(crate) waiting: Waiting,
    pub(crate) sync: bool,
    pub(crate) at_once: bool,
}

/// Tasks in the order of their arrival, linked by [`Life::next`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    ends: Option<(TaskId, TaskId)>,
    pub(crate) length: u32,
}

/// The answer to a task's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The task continues.
    Go,
    /// The task continues, and so may this one.
    GoWith(TaskId),
    /// The task continues; this one, which spins but does not run, takes its turn when it runs.
    GoThen(TaskId),
    /// The task waits, in this way.
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
    fn first(&self) -> Option<TaskId> {
        self.ends.map(|(first, _)| first)
    }
    /// The first task, which leaves the queue.
    pub(crate) fn leave(&mut self, lives: &mut [Life]) -> Option<TaskId> {
        let (first, last) = self.ends?;
        let next = life(lives, first).next.take();
        self.ends = next.map(|next| (next, last));
        self.length -= 1;
        Some(first)
    }
}

impl Pipe {
    fn has_room(&self) -> bool {
        self.tokens + self.promised_room < self.capacity
    }
    /// A token has left: a task that waits for room may put its own.
    fn fill(&mut self, lives: &mut [Life], runs: impl Fn(TaskId) -> bool) -> Answer {
        let Some(putter) = self.putters.leave(lives) else { return Answer::Go };
        if life(lives, putter).doing == Doing::Blocked || runs(putter) {
            self.tokens += 1;
            return Answer::GoWith(putter);
        }
        self.promised_room += 1;
        Answer::GoThen(putter)
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
                    promised: 0,
                    promised_room: 0,
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

    /// Hands the lock on. A task that does not hold the lock unlocks nothing.
    pub(crate) fn unlock(&mut self, lives: &mut [Life], id: LockId, task: TaskId) -> Answer {
        let lock = &mut self.locks[id.index()];
        if lock.owner != Some(task) {
            return Answer::Go;
        }
        lock.owner = lock.line.leave(lives);
        lock.owner.map_or(Answer::Go, Answer::GoWith)
    }

    /// Whether all are here now: then the caller releases the waiters.
    pub(crate) fn arrive(&mut self, lives: &mut [Life], id: BarrierId, task: TaskId) -> Answer {
        let barrier = &mut self.barriers[id.index()];
        if barrier.line.length + 1 >= barrier.parties {
            return Answer::Go;
        }
        barrier.line.join(lives, task);
        Answer::Wait(Waits::Barrier(id), barrier.waiting)
    }

    /// `task` puts a token. A task that spins for it takes it when it runs: a flag in memory stays
    /// set until then, so that no task gets a step ahead while it does not run.
    pub(crate) fn put(
        &mut self,
        lives: &mut [Life],
        id: PipeId,
        task: TaskId,
        runs: impl Fn(TaskId) -> bool,
    ) -> Answer {
        let pipe = &mut self.pipes[id.index()];
        if let Some(getter) = pipe.getters.first() {
            if life(lives, getter).doing == Doing::Blocked || runs(getter) {
                pipe.getters.leave(lives);
                return Answer::GoWith(getter);
            }
            if pipe.has_room() {
                pipe.getters.leave(lives);
                pipe.tokens += 1;
                pipe.promised += 1;
                return Answer::GoThen(getter);
            }
        }
        if pipe.has_room() {
            pipe.tokens += 1;
            return Answer::Go;
        }
        pipe.putters.join(lives, task);
        Answer::Wait(Waits::Room(id), pipe.waiting)
    }

    pub(crate) fn get(
        &mut self,
        lives: &mut [Life],
        id: PipeId,
        task: TaskId,
        runs: impl Fn(TaskId) -> bool,
    ) -> Answer {
        let pipe = &mut self.pipes[id.index()];
        if pipe.tokens == pipe.promised {
            // A pipe without room hands tokens over directly.
            if let Some(putter) = pipe.putters.first().filter(|_| pipe.tokens == 0) {
                pipe.putters.leave(lives);
                return Answer::GoWith(putter);
            }
            pipe.getters.join(lives, task);
            return Answer::Wait(Waits::Token(id), pipe.waiting);
        }
        pipe.tokens -= 1;
        pipe.fill(lives, runs)
    }

    /// A task to which a token or room was promised runs again.
    pub(crate) fn redeem(
        &mut self,
        lives: &mut [Life],
        promised: Waits,
        task: TaskId,
        runs: impl Fn(TaskId) -> bool,
    ) -> Answer {
        match promised {
            Waits::Token(id) => {
                let pipe = &mut self.pipes[id.index()];
                pipe.promised -= 1;
                pipe.tokens -= 1;
                pipe.fill(lives, runs)
            }
            Waits::Room(id) => {
                self.pipes[id.index()].promised_room -= 1;
                self.put(lives, id, task, runs)
            }
            _ => Answer::Go,
        }
    }

    pub(crate) fn wait(&mut self, lives: &mut [Life], id: ConditionId, task: TaskId) -> Answer {
        self.conditions[id.index()].join(lives, task);
        Answer::Wait(Waits::Condition(id), Waiting::Block)
    }
}
