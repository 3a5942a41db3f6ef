//! A state of the protocol, and its next states.

use super::trace::Step;
use super::{Chain, Cpus, Move, SIZE_MAX, System};

/// A set of tasks, one bit each.
type Tasks = u8;

/// One state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct State {
    pub(super) cpus: [Cpu; SIZE_MAX],
    pub(super) tasks: [Task; SIZE_MAX],
    /// The waiting tasks by queue, and within a queue in the order in which they came; then
    /// [`NO_TASK`].
    pub(super) waiting: [u8; SIZE_MAX],
}

/// No task.
pub(super) const NO_TASK: u8 = u8::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Cpu {
    pub(super) phase: Phase,
    pub(super) cell: Cell,
    /// Whether a kick is on its way.
    pub(super) kicked: bool,
    /// The queues in which this scan has found no task for the CPU, one bit each.
    pub(super) visited: u8,
    /// The tasks whose wakeup it has to pass on if it takes another task.
    pub(super) owed: Tasks,
    /// The CPUs whose cells it has read for the first task of `owed`.
    pub(super) looked: Cpus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Phase {
    Busy,
    Asleep,
    /// It looks into queues.
    Scans,
    /// It has taken a task, but its cell is not `Busy` yet.
    Took,
    /// It passes on the wakeups that it owes.
    Passes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Cell {
    Busy,
    Idle,
    Claimed(u8),
}

/// A task and its enqueuer, which may still look for a CPU after the task has left its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Task {
    pub(super) at: At,
    /// The queue where it waits, if it waits.
    pub(super) queue: u8,
    pub(super) looks: Looks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum At {
    Away,
    /// About to be inserted.
    Comes,
    Waits,
    Runs(u8),
    /// In the local queue of a CPU.
    Local(u8),
    /// Never comes again.
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Looks {
    No,
    /// For an idle CPU to run the task directly. The cells of these CPUs were read.
    Direct(Cpus),
    /// For an idle CPU to kick. The cells of these CPUs were read.
    Wake(Cpus),
}

impl State {
    /// Every CPU is busy with another task, and no task of the system waits.
    pub(crate) fn start() -> State {
        let (phase, cell) = (Phase::Busy, Cell::Busy);
        let cpu = Cpu { phase, cell, kicked: false, visited: 0, owed: 0, looked: 0 };
        State {
            cpus: [cpu; SIZE_MAX],
            tasks: [Task { at: At::Away, queue: 0, looks: Looks::No }; SIZE_MAX],
            waiting: [NO_TASK; SIZE_MAX],
        }
    }

    /// A sleeping CPU and a waiting task that it would take, if no CPU is on the way to the task.
    pub(crate) fn lost(&self, system: &System) -> Option<(usize, usize)> {
        let settled = |task: &Task| task.at != At::Comes && task.looks == Looks::No;
        let still = |cpu: &Cpu| match cpu.phase {
            Phase::Busy => true,
            Phase::Asleep => !cpu.kicked,
            _ => false,
        };
        let quiet = self.tasks[..system.tasks.len()].iter().all(settled)
            && self.cpus[..system.cpus].iter().all(still);
        let pairs = || {
            self.waiters()
                .flat_map(|task| members(self.takers(system, task)).map(move |cpu| (cpu, task)))
        };
        let asleep = |cpu: usize| self.cpus[cpu].phase == Phase::Asleep;
        if quiet { pairs().find(|&(cpu, _)| asleep(cpu)) } else { None }
    }

    /// Every next step, with the state after it.
    pub(crate) fn next(&self, system: &System, mut push: impl FnMut(Step, State)) {
        for task in 0..system.tasks.len() {
            self.next_of_task(system, task, &mut push);
        }
        for cpu in 0..system.cpus {
            self.next_of_cpu(system, cpu, &mut push);
        }
        for at in &system.moves {
            self.next_of_move(system, at, &mut push);
        }
    }

    fn next_of_task(&self, system: &System, task: usize, push: &mut impl FnMut(Step, State)) {
        let mut next = *self;
        let it = &mut next.tasks[task];
        match (it.at, it.looks) {
            (At::Away, Looks::No) if self.enqueuers() < system.enqueuers => {
                let queue = system.tasks[task].queue as u8;
                *it = Task { at: At::Comes, queue, looks: Looks::Direct(0) };
                next.go_on(system, task);
                next.next_of_task(system, task, push);
            }
            (At::Comes, Looks::No) => next.insert(system, task, push),
            (_, Looks::No) => {}
            _ => {
                for cpu in members(self.unseen(system, task)) {
                    self.look(system, task, cpu, push);
                }
            }
        }
    }

    /// How many puts are under way.
    fn enqueuers(&self) -> usize {
        let puts = |task: &&Task| task.at == At::Comes || task.looks != Looks::No;
        self.tasks.iter().filter(puts).count()
    }

    /// The CPUs whose cells the enqueuer has still to read.
    fn unseen(&self, system: &System, task: usize) -> Cpus {
        let direct = system.tasks[task].direct & system.tasks[task].allowed & system.all();
        match self.tasks[task].looks {
            Looks::Direct(seen) => direct & !seen,
            Looks::Wake(seen) => self.woken(system, task) & !seen,
            Looks::No => 0,
        }
    }

    /// Starts the next phase of an enqueuer that has no cell left to read.
    fn go_on(&mut self, system: &System, task: usize) {
        if matches!(self.tasks[task].looks, Looks::Direct(_)) && self.unseen(system, task) == 0 {
            let kick_first = system.variant.kick_first;
            self.tasks[task].looks = if kick_first { Looks::Wake(0) } else { Looks::No };
        }
        if matches!(self.tasks[task].looks, Looks::Wake(_)) && self.unseen(system, task) == 0 {
            self.tasks[task].looks = Looks::No;
        }
    }

    fn insert(mut self, system: &System, task: usize, push: &mut impl FnMut(Step, State)) {
        let queue = system.tasks[task].queue;
        self.append(task, queue);
        if !system.variant.kick_first {
            self.tasks[task].looks = Looks::Wake(0);
            self.go_on(system, task);
        }
        push(Step::Insert { task, queue }, self);
    }

    /// Puts a task at the end of a queue.
    fn append(&mut self, task: usize, queue: usize) {
        let end = self.waiters().filter(|&other| self.tasks[other].queue as usize <= queue);
        let end = end.count();
        self.waiting.copy_within(end..SIZE_MAX - 1, end + 1);
        self.waiting[end] = task as u8;
        (self.tasks[task].at, self.tasks[task].queue) = (At::Waits, queue as u8);
    }

    fn leave(&mut self, task: usize) {
        if let Some(place) = self.waiting.iter().position(|&waits| waits == task as u8) {
            self.waiting.copy_within(place + 1.., place);
            self.waiting[SIZE_MAX - 1] = NO_TASK;
        }
        self.tasks[task].queue = 0;
    }

    fn next_of_move(&self, system: &System, at: &Move, push: &mut impl FnMut(Step, State)) {
        let (from, into) = (at.from, at.into);
        let movable = |&task: &usize| {
            self.tasks[task].queue as usize == from && system.tasks[task].allowed & at.by != 0
        };
        let Some(task) = self.waiters().find(movable) else { return };
        // No task is moved twice, or while its enqueuer looks: this keeps the number of states low.
        let at_home = system.tasks[task].queue == from;
        if !at_home || self.tasks[task].looks != Looks::No {
            return;
        }
        let mut next = *self;
        next.leave(task);
        next.append(task, into);
        if at.wakes {
            next.tasks[task].looks = Looks::Wake(0);
            next.go_on(system, task);
        }
        push(Step::Move { task, from, into }, next);
    }

    /// The CPUs that would take a task from the queue where it is.
    fn takers(&self, system: &System, task: usize) -> Cpus {
        system.takers_in(self.tasks[task].queue as usize, task)
    }

    /// The CPUs that are looked for: those of its put, or all takers after it was moved.
    fn woken(&self, system: &System, task: usize) -> Cpus {
        match self.tasks[task].queue as usize == system.tasks[task].queue {
            true => system.woken(task),
            false => self.takers(system, task),
        }
    }

    /// The enqueuer reads one cell.
    fn look(&self, system: &System, task: usize, cpu: usize, push: &mut impl FnMut(Step, State)) {
        let mut next = *self;
        let idle = self.cpus[cpu].cell == Cell::Idle;
        match &mut next.tasks[task].looks {
            Looks::No => return,
            Looks::Direct(_) if idle => {
                next.cpus[cpu].cell = Cell::Busy;
                next.cpus[cpu].kicked = true;
                next.tasks[task] = Task { at: At::Local(cpu as u8), queue: 0, looks: Looks::No };
                return push(Step::RunDirect { task, cpu }, next);
            }
            Looks::Wake(_) if idle => {
                next.tasks[task].looks = Looks::No;
                next.claim(cpu, task);
                return push(Step::Claim { task, cpu }, next);
            }
            Looks::Direct(seen) | Looks::Wake(seen) => *seen |= bit(cpu),
        }
        next.go_on(system, task);
        push(Step::LookInVain { task, cpu }, next);
    }

    fn claim(&mut self, cpu: usize, task: usize) {
        self.cpus[cpu].cell = Cell::Claimed(task as u8);
        self.cpus[cpu].kicked = true;
    }

    fn next_of_cpu(&self, system: &System, cpu: usize, push: &mut impl FnMut(Step, State)) {
        let mut next = *self;
        let me = &mut next.cpus[cpu];
        match me.phase {
            Phase::Busy => {
                if me.kicked {
                    me.kicked = false;
                    push(Step::KickInVain { cpu }, next);
                }
                self.stop(system, cpu, push);
            }
            Phase::Asleep if me.kicked => {
                me.kicked = false;
                match next.start_local(system, cpu) {
                    Some(task) => push(Step::StartLocal { cpu, task }, next),
                    None => push(Step::Arm { cpu, kicked: true }, next.armed(system, cpu)),
                }
            }
            Phase::Asleep => {}
            Phase::Scans => self.scan(system, cpu, push),
            Phase::Took => {
                me.owed |= owed_by(me.cell);
                me.cell = Cell::Busy;
                me.phase = Phase::Passes;
                next.choose_owed(system, cpu);
                push(Step::SayBusy { cpu }, next);
            }
            Phase::Passes => self.pass(system, cpu, push),
        }
    }

    /// The task on a CPU ends. The CPU runs the next task of its local queue, or dispatches.
    fn stop(&self, system: &System, cpu: usize, push: &mut impl FnMut(Step, State)) {
        let mut next = *self;
        if let Some(ran) = self.tasks.iter().position(|task| task.at == At::Runs(cpu as u8)) {
            next.tasks[ran].at = At::Away;
        }
        match next.start_local(system, cpu) {
            Some(task) => push(Step::StartLocal { cpu, task }, next),
            None => push(Step::Arm { cpu, kicked: false }, next.armed(system, cpu)),
        }
    }

    fn start_local(&mut self, system: &System, cpu: usize) -> Option<usize> {
        let task = self.tasks.iter().position(|task| task.at == At::Local(cpu as u8))?;
        self.tasks[task].at = runs(system, cpu);
        self.cpus[cpu].phase = Phase::Busy;
        Some(task)
    }

    fn armed(mut self, system: &System, cpu: usize) -> State {
        let me = &mut self.cpus[cpu];
        me.owed = owed_by(me.cell);
        me.cell = if system.variant.no_rescan { Cell::Busy } else { Cell::Idle };
        me.phase = Phase::Scans;
        me.visited = 0;
        self
    }

    /// The CPU looks into one queue. After the last one it sleeps.
    fn scan(&self, system: &System, cpu: usize, push: &mut impl FnMut(Step, State)) {
        let unread = |queue: &usize| {
            let reads = system.queues[*queue].readers & bit(cpu) != 0;
            reads && self.cpus[cpu].visited & bit(*queue) == 0
        };
        for queue in (0..system.queues.len()).filter(unread) {
            let mut found = self.waiters().filter(|&task| {
                let waits_here = self.tasks[task].queue as usize == queue;
                waits_here && self.takers(system, task) & bit(cpu) != 0
            });
            let first = found.next();
            let others = found.filter(|_| !system.queues[queue].fifo);
            for task in first.into_iter().chain(others) {
                push(Step::Take { cpu, task, queue }, self.taken(system, cpu, task));
            }
            if first.is_none() {
                let mut next = *self;
                next.cpus[cpu].visited |= bit(queue);
                push(Step::FindNothing { cpu, queue }, next);
            }
        }
        if (0..system.queues.len()).any(|queue| unread(&queue)) {
            return;
        }
        let mut next = *self;
        let me = &mut next.cpus[cpu];
        (me.visited, me.owed) = (0, 0);
        if let Some(task) = next.start_local(system, cpu) {
            return push(Step::StartLocal { cpu, task }, next);
        }
        let me = &mut next.cpus[cpu];
        me.phase = Phase::Asleep;
        if system.variant.no_rescan {
            me.cell = Cell::Idle;
        }
        push(Step::Sleep { cpu }, next);
    }

    fn taken(&self, system: &System, cpu: usize, task: usize) -> State {
        let mut next = *self;
        next.leave(task);
        next.tasks[task].at = runs(system, cpu);
        next.cpus[cpu].phase = Phase::Took;
        next.cpus[cpu].visited = 0;
        next
    }

    /// Sets the tasks whose wakeups a CPU that took a task has to pass on.
    fn choose_owed(&mut self, system: &System, cpu: usize) {
        let could = |task: &usize| self.takers(system, *task) & bit(cpu) != 0;
        let set = |tasks: &mut dyn Iterator<Item = usize>| tasks.fold(0, |all, t| all | bit(t));
        let owed = match system.variant.chain {
            Chain::Owed => self.cpus[cpu].owed & set(&mut self.waiters()),
            Chain::One => set(&mut self.waiters().filter(could)),
            Chain::Each | Chain::OneAnywhere => set(&mut self.waiters()),
            Chain::Not => 0,
        };
        self.cpus[cpu].owed = owed;
        self.rest(cpu);
    }

    fn rest(&mut self, cpu: usize) {
        let me = &mut self.cpus[cpu];
        me.looked = 0;
        if me.owed == 0 {
            me.phase = Phase::Busy;
        }
    }

    /// The CPU reads one cell for the first task of `owed`.
    fn pass(&self, system: &System, cpu: usize, push: &mut impl FnMut(Step, State)) {
        let me = &self.cpus[cpu];
        let task = me.owed.trailing_zeros() as usize;
        let one = matches!(system.variant.chain, Chain::One | Chain::OneAnywhere);
        let left = self.woken(system, task) & !bit(cpu) & !me.looked;
        if left == 0 || !self.waiters().any(|waits| waits == task) {
            let mut next = *self;
            next.cpus[cpu].owed &= !bit(task);
            next.rest(cpu);
            return push(Step::PassToNobody { cpu, task }, next);
        }
        for other in members(left) {
            let mut next = *self;
            if self.cpus[other].cell == Cell::Idle {
                next.claim(other, task);
                next.cpus[cpu].owed = if one { 0 } else { me.owed & !bit(task) };
                next.rest(cpu);
                push(Step::Pass { cpu, task, to: other }, next);
            } else {
                next.cpus[cpu].looked |= bit(other);
                push(Step::PassInVain { cpu, task, to: other }, next);
            }
        }
    }

    fn waiters(&self) -> impl Iterator<Item = usize> + '_ {
        self.waiting.iter().take_while(|task| **task != NO_TASK).map(|task| *task as usize)
    }
}

/// The place of a task that runs. A task that runs only once is dropped as soon as it runs.
fn runs(system: &System, cpu: usize) -> At {
    if system.again { At::Runs(cpu as u8) } else { At::Gone }
}

fn owed_by(cell: Cell) -> Tasks {
    match cell {
        Cell::Claimed(task) => bit(task as usize),
        _ => 0,
    }
}

pub(super) fn bit(index: usize) -> u8 {
    1 << index
}

pub(super) fn members(set: u8) -> impl Iterator<Item = usize> {
    (0..8).filter(move |index| set & bit(*index) != 0)
}
