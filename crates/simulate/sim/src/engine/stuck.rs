//! Which task waits for which, and which of them wait for ever.
//!
//! A cycle of tasks that wait for one another's locks is detected as soon as the last of them
//! waits. Other waits that never end are detected only after the run: until then some task may
//! still put, signal or arrive.

use wastenot_model::policy::Place;
use wastenot_model::workload::{LockId, Step, TemplateId};
use wastenot_model::{TaskId, Workload};

use super::Engine;
use super::life::Waits;
use super::outcome::{End, Fault, Stuck};
use crate::mechanism::Mechanism;

impl<M: Mechanism> Engine<'_, M> {
    /// `task` begins to wait for `lock`. Detects whether the lock's owner waits for a lock whose
    /// owner waits, and so on, for `task`.
    pub(super) fn notice_circle(&mut self, task: TaskId, lock: LockId) {
        let mut owner = self.kernel.shared.locks[lock.index()].owner;
        while let Some(at) = owner.filter(|&at| at != task) {
            owner = self.owner_awaited_by(at);
        }
        if owner.is_none() {
            return;
        }
        let after = |&at: &TaskId| self.owner_awaited_by(at).filter(|&at| at != task);
        let mut circle: Vec<TaskId> = std::iter::successors(Some(task), after).collect();
        circle.sort_unstable();
        let stuck = circle.into_iter().filter_map(|task| self.waiting_of(task)).collect();
        self.kernel.end.get_or_insert(End::Deadlock(stuck));
    }

    /// The owner of the lock that `task` waits for, if it waits for a lock.
    fn owner_awaited_by(&self, task: TaskId) -> Option<TaskId> {
        match self.waits(task)? {
            Waits::Lock(id) => self.kernel.shared.locks[id.index()].owner,
            _ => None,
        }
    }

    /// No event is due any more although tasks are runnable.
    pub(super) fn standstill(&self) -> End {
        let cx = &self.kernel.cx;
        let mut running = cx.online.iter().filter_map(|cpu| cx.current(cpu));
        if running.any(|task| self.waits(task).is_some()) {
            return End::Deadlock(self.waiting()); // it spins
        }
        let what = "the scheduler left tasks in its queues while all CPUs were idle".to_owned();
        End::Fault(Fault { time: cx.now, what })
    }

    /// Each waiting task, and what it waits for: another task, or a CPU.
    pub(super) fn waiting(&self) -> Vec<Stuck> {
        let tasks = (0..self.kernel.lives.len()).map(TaskId::nth);
        tasks.filter_map(|task| self.waiting_of(task)).collect()
    }

    /// The tasks that have to end but never can, whatever the others do.
    pub(super) fn stuck(&self) -> Vec<Stuck> {
        let hope = self.hope();
        let lives = self.kernel.lives.iter().enumerate();
        let lost = lives.filter(|&(n, life)| life.awaited && life.ended.is_none() && !hope[n]);
        lost.filter_map(|(n, _)| self.waiting_of(TaskId::nth(n))).collect()
    }

    /// By task: whether it continues, or another task that continues may yet let it.
    fn hope(&self) -> Vec<bool> {
        let lives = &self.kernel.lives;
        let mut givers = Givers::new(self.workload);
        for launch in &self.workload.launches[self.next_launch..] {
            givers.add(launch.template);
        }
        let mut hope = vec![false; lives.len()];
        loop {
            let mut children = vec![0; lives.len()];
            for (life, _) in lives.iter().zip(&hope).filter(|(_, hope)| **hope) {
                if let Some(parent) = life.parent.filter(|_| life.ended.is_none()) {
                    children[parent.ordinal()] += 1;
                }
            }
            let mut changed = false;
            for (n, life) in lives.iter().enumerate() {
                if hope[n] || life.ended.is_some() {
                    continue;
                }
                hope[n] = match self.waits(TaskId::nth(n)) {
                    None => true,
                    Some(Waits::Lock(id)) => {
                        let owner = self.kernel.shared.locks[id.index()].owner;
                        owner.is_none_or(|owner| hope[owner.ordinal()])
                    }
                    Some(Waits::Barrier(id)) => givers.barriers[id.index()],
                    Some(Waits::Room(id)) => givers.gets[id.index()],
                    Some(Waits::Token(id)) => givers.puts[id.index()],
                    Some(Waits::Condition(id)) => givers.calls[id.index()],
                    Some(Waits::Child) => children[n] > 0,
                    Some(Waits::Children) => children[n] == life.children,
                };
                changed |= hope[n];
                if let Some(template) = life.template.filter(|_| hope[n]) {
                    givers.add(template);
                }
            }
            if !changed {
                return hope;
            }
        }
    }

    /// What `task` waits for, unless that was promised already.
    fn waits(&self, task: TaskId) -> Option<Waits> {
        let life = &self.kernel.lives[task.ordinal()];
        life.waits.filter(|_| !life.granted)
    }

    fn waiting_of(&self, task: TaskId) -> Option<Stuck> {
        if let Some(waits) = self.waits(task) {
            let (waits_for, held_by) = self.said(waits);
            return Some(Stuck { task, waits_for, for_cpu: false, held_by });
        }
        let view = self.kernel.cx.task(task);
        (view.place == Place::Queued && !view.own).then(|| Stuck {
            task,
            waits_for: format!("CPU {}", view.cpu),
            for_cpu: true,
            held_by: self.kernel.cx.current(view.cpu),
        })
    }

    /// What the task waits for in words, and the task that has it.
    fn said(&self, waits: Waits) -> (String, Option<TaskId>) {
        let workload = self.workload;
        let pipe =
            |what: &str, id: usize| format!("{what} in the pipe `{}`", workload.pipes[id].name);
        let what = match waits {
            Waits::Lock(id) => {
                let owner = self.kernel.shared.locks[id.index()].owner;
                return (format!("the lock `{}`", workload.locks[id.index()].name), owner);
            }
            Waits::Barrier(id) => {
                let barrier = &self.kernel.shared.barriers[id.index()];
                let name = &workload.barriers[id.index()].name;
                let (here, parties) = (barrier.line.length, barrier.parties);
                format!("the barrier `{name}` ({here} of {parties} tasks have arrived)")
            }
            Waits::Room(id) => pipe("room", id.index()),
            Waits::Token(id) => pipe("a token", id.index()),
            Waits::Condition(id) => {
                format!("a signal of the condition `{}`", workload.conditions[id.index()].name)
            }
            Waits::Child => "one of its children to end".to_owned(),
            Waits::Children => "all its children to end".to_owned(),
        };
        (what, None)
    }
}

/// What the programs of tasks that continue give to others, now or later.
struct Givers<'w> {
    workload: &'w Workload,
    known: Vec<bool>,
    barriers: Vec<bool>,
    puts: Vec<bool>,
    gets: Vec<bool>,
    calls: Vec<bool>,
}

impl<'w> Givers<'w> {
    fn new(workload: &'w Workload) -> Givers<'w> {
        Givers {
            workload,
            known: vec![false; workload.templates.len()],
            barriers: vec![false; workload.barriers.len()],
            puts: vec![false; workload.pipes.len()],
            gets: vec![false; workload.pipes.len()],
            calls: vec![false; workload.conditions.len()],
        }
    }

    /// A task of this template continues, or will be created; and so will every task that it forks.
    fn add(&mut self, template: TemplateId) {
        let mut added = vec![template];
        while let Some(template) = added.pop() {
            if std::mem::replace(&mut self.known[template.index()], true) {
                continue;
            }
            for &step in self.workload.templates[template.index()].program.steps() {
                match step {
                    Step::Barrier(id) => self.barriers[id.index()] = true,
                    Step::Put(id) => self.puts[id.index()] = true,
                    Step::Get(id) => self.gets[id.index()] = true,
                    Step::Signal(id) | Step::Broadcast(id) => self.calls[id.index()] = true,
                    Step::Fork(child) => added.push(child),
                    _ => {}
                }
            }
        }
    }
}
