//! A yardstick: at each instant as many tasks run as affinities allow, and no task starves.
//!
//! Tasks wait in the order in which they began to wait. A task that has run for a slice goes to the
//! end of the queue if another task may have the CPU. If no idle CPU may run a task, or no waiting
//! task may run on an idle CPU, the policy searches a chain of running tasks of which each can move
//! to the CPU of the next, the last to an idle one (an augmenting path: Berge 1957). So the running
//! tasks are always a maximum matching of runnable tasks and CPUs. That is stronger than the rule
//! that no CPU is idle while a waiting task may use it.
//!
//! A decision takes time proportional to the number of distinct affinities and to the logarithm of
//! the number of waiting tasks; with bound tasks, while a CPU is idle, proportional to CPUs times
//! affinities.

use wastenot_model::dsq::Ordered;
use wastenot_model::policy::{Context, Happening, Place, TimerId, Why};
use wastenot_model::{CpuId, CpuSet, Policy, Span, TaskId};

use super::{Make, Scheduler, Settings, Tunable, Values, queued_on};

pub(super) const SCHEDULER: Scheduler = Scheduler {
    name: "work-conserving",
    about: "the reference scheduler: while a task waits, all CPUs that this task may use are busy; \
            the task that has waited longest runs first",
    source: "this project; augmenting paths after Berge 1957",
    groups: false,
    tunables: &[Tunable {
        name: "slice",
        about: "how long a task runs if other tasks wait",
        values: Values::Span,
        default: "10ms",
    }],
    make: Make::Policy(|settings: &Settings| {
        let slice = settings.span("slice").max(Span::us(1));
        Box::new(WorkConserving { name: settings.label(&SCHEDULER), slice, ..Default::default() })
    }),
};

/// The policy.
#[derive(Debug, Default)]
struct WorkConserving {
    name: String,
    slice: Span,
    /// The tasks that wait without a reserved CPU: a queue for each affinity, in the order of
    /// waiting.
    waiting: Ordered<u64>,
    waits: u64,
    cpus: Vec<Cpu>,
    /// By task: the CPU to which a running task moves when it is next stopped.
    going: Vec<Option<CpuId>>,
    timers: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    current: Option<TaskId>,
    /// The task that is to run here next, which may still run elsewhere.
    reserved: Option<TaskId>,
    /// A task, and the CPU to which it moves once this CPU has switched to another task.
    leaving: Option<(TaskId, CpuId)>,
}

fn number(task: TaskId) -> u32 {
    task.ordinal() as u32
}

impl WorkConserving {
    fn free(&self, cx: &Context, cpu: CpuId) -> bool {
        let state = &self.cpus[cpu.index()];
        cx.online.contains(cpu) && state.current.is_none() && state.reserved.is_none()
    }

    /// The task that has `cpu` or is about to.
    fn holder(&self, cpu: CpuId) -> Option<TaskId> {
        let state = &self.cpus[cpu.index()];
        state.reserved.or(state.current)
    }

    /// The shortest chain of CPUs that begins with one of `first` and ends with a free one, such
    /// that the task of each CPU may move to the next CPU.
    fn chain(&self, cx: &Context, first: &CpuSet) -> Option<Vec<CpuId>> {
        let mut from: Vec<Option<CpuId>> = vec![None; self.cpus.len()];
        let mut unseen = cx.online.clone();
        let mut reached: Vec<CpuId> = first.and(&unseen).iter().collect();
        reached.iter().for_each(|&cpu| unseen.remove(cpu));
        let mut masks = vec![false; cx.masks.len()];
        let mut next = 0;
        while let Some(&cpu) = reached.get(next) {
            next += 1;
            let Some(task) = self.holder(cpu) else {
                let mut chain = vec![cpu];
                while let Some(before) = from[chain[chain.len() - 1].index()] {
                    chain.push(before);
                }
                chain.reverse();
                return Some(chain);
            };
            // Tasks of one affinity reach the same CPUs.
            let mask = cx.task(task).mask as usize;
            if self.moves(task, cpu) && !std::mem::replace(&mut masks[mask], true) {
                for to in unseen.clone().iter().filter(|&to| cx.allowed(task, to)) {
                    unseen.remove(to);
                    from[to.index()] = Some(cpu);
                    reached.push(to);
                }
            }
        }
        None
    }

    /// Whether `task`, which holds `cpu`, runs there and is not about to move.
    fn moves(&self, task: TaskId, cpu: CpuId) -> bool {
        let state = &self.cpus[cpu.index()];
        state.current == Some(task) && state.reserved.is_none()
    }

    /// `task`, which waits, gets the first CPU of `chain`, whose task gets the second, and so on.
    fn shift(&mut self, cx: &mut Context, task: TaskId, chain: &[CpuId]) {
        let mut comes = task;
        for &cpu in chain {
            let state = &mut self.cpus[cpu.index()];
            state.reserved = Some(comes);
            if let Some(current) = state.current {
                comes = current;
            }
        }
        for pair in chain.windows(2) {
            if let Some(current) = self.cpus[pair[0].index()].current {
                self.going[number(current) as usize] = Some(pair[1]);
            }
        }
        self.waiting.remove(number(task));
        if cx.task(task).cpu != chain[0] {
            cx.moved(task, chain[0]);
        }
        // In this order, so that each CPU finds the task that is to come.
        for &cpu in chain {
            match self.cpus[cpu.index()].current {
                Some(_) => cx.preempt(cpu),
                None => cx.kick_idle(cpu),
            }
        }
    }

    /// The task that has waited for longest among those that may run on `cpu`.
    fn longest(&self, cx: &Context, cpu: CpuId) -> Option<TaskId> {
        let masks = cx.masks.iter().enumerate().take(self.queues());
        let allowed = masks.filter(|&(mask, cpus)| mask == 0 || cpus.contains(cpu));
        let firsts = allowed.filter_map(|(mask, _)| self.waiting.first(mask));
        firsts.min().map(|(_, task)| TaskId::nth(task as usize))
    }

    fn queues(&self) -> usize {
        self.waiting.queues()
    }

    fn grow(&mut self, cx: &Context) {
        while self.queues() < cx.masks.len() {
            self.waiting.add_queue();
        }
    }

    fn wait(&mut self, cx: &Context, task: TaskId) {
        self.waits += 1;
        self.waiting.insert(cx.task(task).mask as usize, number(task), self.waits);
    }

    /// The task that was to leave `cpu` has left it.
    fn pass_on(&mut self, cx: &mut Context, cpu: CpuId) {
        if let Some((task, to)) = self.cpus[cpu.index()].leaving.take() {
            cx.moved(task, to);
            cx.kick_idle(to);
        }
    }

    /// Lets waiting tasks run for as long as there are chains to free CPUs.
    fn fill(&mut self, cx: &mut Context) {
        while cx.online.iter().any(|cpu| self.free(cx, cpu)) {
            let mut found: Option<(u64, u32, Vec<CpuId>)> = None;
            for mask in 0..self.queues() {
                let Some((since, task)) = self.waiting.first(mask) else { continue };
                if found.as_ref().is_some_and(|(first, ..)| *first < since) {
                    continue;
                }
                if let Some(chain) = self.chain(cx, &cx.masks[mask]) {
                    found = Some((since, task, chain));
                }
            }
            let Some((_, task, chain)) = found else { return };
            self.shift(cx, TaskId::nth(task as usize), &chain);
        }
    }
}

impl Policy for WorkConserving {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn symmetric(&self) -> bool {
        true
    }
    fn init(&mut self, cx: &mut Context) {
        self.cpus = vec![Cpu::default(); cx.cpus.len()];
        TimerId(self.timers) = cx.new_timers(cx.cpus.len() as u32);
        self.waiting = Ordered::new(cx.masks.len());
    }

    /// The previous CPU if it is free, for the task's cache; else the lowest free CPU; else the
    /// first CPU of a chain.
    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, _: Why) -> CpuId {
        let prev = cx.fallback(task, prev);
        if self.free(cx, prev) {
            return prev;
        }
        let chain = match cx.idle.is_empty() {
            true => None,
            false => self.chain(cx, cx.mask(task)),
        };
        chain.map_or(prev, |chain| chain[0])
    }

    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        let index = number(task) as usize;
        self.going.resize(self.going.len().max(index + 1), None);
        self.grow(cx);
        if let Some(to) = self.going[index].take() {
            let reserved = &mut self.cpus[to.index()].reserved;
            if *reserved == Some(task) && cx.online.contains(to) && cx.allowed(task, to) {
                if cx.current(cpu) == Some(task) {
                    self.cpus[cpu.index()].leaving = Some((task, to));
                    return;
                }
                cx.moved(task, to);
                return cx.kick_idle(to);
            }
            *reserved = reserved.filter(|&reserved| reserved != task);
        }
        self.wait(cx, task);
        if matches!(why, Why::Preempted | Why::Yield) {
            return; // its CPU dispatches next, and may have it again
        }
        if self.free(cx, cpu) {
            return self.shift(cx, task, &[cpu]);
        }
        self.fill(cx);
    }

    fn dequeue(&mut self, cx: &mut Context, task: TaskId, _: CpuId) {
        self.waiting.remove(number(task));
        self.going[number(task) as usize] = None;
        for cpu in &mut self.cpus {
            cpu.reserved = cpu.reserved.filter(|&reserved| reserved != task);
        }
        self.fill(cx);
    }

    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        self.cpus[cpu.index()].current = None;
        let reserved = self.cpus[cpu.index()].reserved;
        let task = match reserved {
            Some(task) if cx.task(task).place == Place::Running => None, // it is on its way
            Some(task) => Some(task),
            None => self.longest(cx, cpu),
        };
        let Some(task) = task else {
            self.fill(cx);
            return None;
        };
        self.waiting.remove(number(task));
        if cx.task(task).cpu != cpu {
            cx.moved(task, cpu);
        }
        let state = &mut self.cpus[cpu.index()];
        (state.current, state.reserved) = (Some(task), None);
        Some(task)
    }

    fn running(&mut self, cx: &mut Context, cpu: CpuId, _: TaskId) {
        let timer = TimerId(self.timers + u32::from(cpu.0));
        cx.timer(timer, cpu, Some(cx.now + self.slice));
        self.pass_on(cx, cpu);
    }

    fn update_idle(&mut self, cx: &mut Context, cpu: CpuId, _: bool) {
        self.pass_on(cx, cpu);
    }

    /// If a task blocks on its way to another CPU, that CPU no longer waits for it.
    fn stopping(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId, runnable: bool) {
        self.cpus[cpu.index()].current = None;
        let timer = TimerId(self.timers + u32::from(cpu.0));
        cx.timer(timer, cpu, None);
        if runnable {
            return;
        }
        let going = self.going.get_mut(number(task) as usize).and_then(Option::take);
        if let Some(to) = going {
            self.cpus[to.index()].reserved = None;
            cx.kick_idle(to);
        }
    }

    fn on(&mut self, cx: &mut Context, happening: Happening) {
        match happening {
            Happening::Timer(TimerId(timer)) => {
                cx.preempt(CpuId((timer - self.timers) as u16));
            }
            Happening::Affinity(task) => {
                self.grow(cx);
                if let Some(since) = self.waiting.remove(number(task)) {
                    self.waiting.insert(cx.task(task).mask as usize, number(task), since);
                    self.fill(cx);
                }
            }
            Happening::Cpu { up: true, .. } => self.fill(cx),
            Happening::Cpu { cpu, up: false } => {
                self.cpus[cpu.index()] = Cpu::default();
                for task in queued_on(cx, cpu) {
                    let to = cx.fallback(task, cpu);
                    cx.moved(task, to);
                    if self.waiting.queue_of(number(task)).is_none() {
                        self.wait(cx, task);
                    }
                }
                self.fill(cx);
            }
            _ => {}
        }
    }
}
