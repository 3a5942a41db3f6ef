//! Linux 2.6's first scheduler (2.6.9, kernel/sched.c; Ingo Molnar): constant time whatever the
//! number of tasks.
//!
//! Each CPU has two arrays of a list per priority, with a bitmap to find the first list that is not
//! empty. A task that has used its time slice goes to the *expired* array; when the active array is
//! empty the two are exchanged. A task that sleeps much is *interactive*: it gets a bonus of up to
//! five priorities, and after its slice it goes back into the active array, unless the expired
//! tasks have starved for too long. CPUs balance the lengths of their queues and ignore which tasks
//! compute together.
//!
//! A decision takes constant time; balancing takes time proportional to the number of CPUs. Left
//! out: real-time priorities, NUMA domains, and the credit that keeps interactive tasks
//! interactive.

mod array;
mod balance;
mod tasks;

use wastenot_model::policy::{Context, Happening, Tick, Why};
use wastenot_model::{CpuId, Policy, Span, TaskId, Time};

use super::{Make, Scheduler, Settings, Tunable, Values, queued_on};
use array::Array;
use tasks::{After, Tasks};

pub(super) const SCHEDULER: Scheduler = Scheduler {
    name: "linux-2.6-o1",
    about: "active and expired arrays on each CPU, a bonus for tasks that sleep, balancing by \
            queue length",
    source: "Linux 2.6.9 kernel/sched.c",
    groups: false,
    tunables: &[
        Tunable {
            name: "hz",
            about: "timer ticks per second",
            values: Values::Words(&["1000", "100"]),
            default: "1000",
        },
        Tunable {
            name: "boost",
            about: "the rule for the bonus of a task. `sleep`: the bonus is proportional to the \
                    sleep time. `block`: a task gets the full bonus each time it blocks, as in \
                    Tru64",
            values: Values::Words(&["sleep", "block"]),
            default: "sleep",
        },
    ],
    make: Make::Policy(|settings: &Settings| {
        let tick = Span::s(1).0 / u64::from(settings.count("hz").max(1));
        let tasks = Tasks::new(settings.word("boost") == "block");
        let name = settings.label(&SCHEDULER);
        Box::new(Linux26 { name, tick: Span(tick), tasks, queues: Vec::new() })
    }),
};

/// The interval between two turns of interactive tasks of equal priority.
const GRANULARITY: Span = Span::ms(20);
/// How long expired tasks wait for interactive ones, for each runnable task.
const STARVATION: Span = Span::s(1);

/// The policy.
#[derive(Debug)]
struct Linux26 {
    name: String,
    tick: Span,
    tasks: Tasks,
    queues: Vec<Queue>,
}

/// The run queue of a CPU.
#[derive(Debug)]
struct Queue {
    current: Option<TaskId>,
    arrays: [Array; 2],
    /// Which array is the active one.
    active: usize,
    /// Since when a task is in the expired array.
    expired_since: Option<Time>,
    /// A task, and the CPU to which it goes once this CPU has switched to another task.
    pushed: Option<(TaskId, CpuId)>,
    balancing: balance::Balancing,
}

impl Queue {
    fn len(&self) -> usize {
        self.arrays[0].len() + self.arrays[1].len() + usize::from(self.current.is_some())
    }

    fn put(&mut self, task: TaskId, prio: u8, after: After) {
        match after {
            After::Front => self.arrays[self.active].push_front(task, prio),
            After::Back => self.arrays[self.active].push_back(task, prio),
            After::Expired => self.arrays[1 - self.active].push_back(task, prio),
        }
    }

    fn take(&mut self, task: TaskId) {
        self.arrays.iter_mut().for_each(|array| array.remove(task));
    }

    /// The first task of the active array; when that is empty the arrays are exchanged.
    fn pop(&mut self) -> Option<TaskId> {
        if self.arrays[self.active].len() == 0 {
            self.active = 1 - self.active;
            self.expired_since = None;
        }
        self.arrays[self.active].pop()
    }

    fn starves(&self, now: Time) -> bool {
        let limit = STARVATION * self.len() as u64;
        self.expired_since.is_some_and(|since| now - since >= limit)
    }
}

impl Linux26 {
    fn queue(&mut self, cpu: CpuId) -> &mut Queue {
        &mut self.queues[cpu.index()]
    }

    /// Puts `task` on the queue of `cpu`, which reschedules if the task is better than the running
    /// one.
    fn add(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId) {
        let prio = self.tasks.prio(task);
        self.queue(cpu).put(task, prio, After::Back);
        let current = self.queues[cpu.index()].current;
        if current.is_none_or(|current| prio < self.tasks.prio(current)) {
            cx.preempt(cpu);
        }
    }

    /// The task that `cpu` was to give away has left it.
    fn push_away(&mut self, cx: &mut Context, cpu: CpuId) {
        if let Some((task, to)) = self.queue(cpu).pushed.take() {
            cx.moved(task, to);
            self.add(cx, task, to);
        }
    }

    /// Where a woken task goes: to the CPU of its waker if the task is no longer cache-hot or its
    /// own queue is clearly longer; not from an idle CPU to a busy one; to an idle sibling if there
    /// is one.
    fn wakes_on(&self, cx: &Context, task: TaskId, prev: CpuId, sync: bool) -> CpuId {
        let here = cx.cpu;
        let mut target = prev;
        if here != prev && cx.online.contains(here) && cx.allowed(task, here) {
            let there = self.queues[prev.index()].len();
            let here_len = self.queues[here.index()].len().saturating_sub(usize::from(sync));
            let to_busy = there == 0 && here_len > 0;
            let shorter = balance::PASSIVE_PERCENT * here_len <= 100 * there;
            if !to_busy && (!self.tasks.is_hot(task, cx.now) || shorter) {
                target = here;
            }
        }
        if self.queues[target.index()].len() == 0 {
            return target;
        }
        let siblings = self.queues[target.index()].balancing.siblings();
        let idle = siblings.iter().find(|&&cpu| {
            cx.online.contains(cpu) && cx.allowed(task, cpu) && self.queues[cpu.index()].len() == 0
        });
        *idle.unwrap_or(&target)
    }

    /// The CPU of the shortest queue, if that is shorter by more than the task itself.
    fn execs_on(&self, cx: &Context, task: TaskId, prev: CpuId) -> CpuId {
        let len = |cpu: &CpuId| self.queues[cpu.index()].len();
        let allowed = cx.online.iter().filter(|&cpu| cx.allowed(task, cpu));
        let least = allowed.min_by_key(len).unwrap_or(prev);
        if len(&least) + 1 < len(&prev) { least } else { prev }
    }
}

impl Policy for Linux26 {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn init(&mut self, cx: &mut Context) {
        let queue = |cpu| Queue {
            current: None,
            arrays: Default::default(),
            active: 0,
            expired_since: None,
            pushed: None,
            balancing: balance::Balancing::of(cx, CpuId(cpu as u16)),
        };
        self.queues = (0..cx.cpus.len()).map(queue).collect();
        cx.set_tick(Tick { period: self.tick, idle: true, staggered: false });
    }

    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, why: Why) -> CpuId {
        let prev = cx.fallback(task, prev);
        match why {
            Why::Wakeup { sync } => self.wakes_on(cx, task, prev, sync),
            Why::Exec => self.execs_on(cx, task, prev),
            _ => prev,
        }
    }

    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        match why {
            Why::Preempted => {
                let prio = self.tasks.prio(task);
                let (after, push) = self.tasks.leaves(task);
                match push.filter(|&to| cx.online.contains(to) && cx.allowed(task, to)) {
                    Some(to) => self.queue(cpu).pushed = Some((task, to)),
                    None => self.queue(cpu).put(task, prio, after),
                }
            }
            Why::Yield => {
                let prio = self.tasks.prio(task);
                self.queue(cpu).put(task, prio, After::Expired);
            }
            _ => {
                if let Why::Wakeup { .. } = why {
                    self.tasks.woken(task, cx);
                }
                self.add(cx, task, cpu);
            }
        }
    }

    fn dequeue(&mut self, _: &mut Context, task: TaskId, cpu: CpuId) {
        self.queue(cpu).take(task);
    }

    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        let mut next = self.queue(cpu).pop();
        if next.is_none() {
            self.balance(cx, cpu, balance::When::NewlyIdle);
            next = self.queue(cpu).pop();
        }
        self.queue(cpu).current = next;
        next
    }

    fn running(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId) {
        self.tasks.begins(task, cx.now);
        self.push_away(cx, cpu);
    }

    fn stopping(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId, _: bool) {
        self.tasks.charge(task, cx.now);
        self.queue(cpu).current = None;
    }

    fn update_idle(&mut self, cx: &mut Context, cpu: CpuId, _: bool) {
        self.push_away(cx, cpu);
    }

    fn tick(&mut self, cx: &mut Context, cpu: CpuId) {
        if let Some(task) = self.queue(cpu).current {
            let starves = self.queues[cpu.index()].starves(cx.now);
            if let Some(after) = self.tasks.tick(task, cx, self.tick, starves) {
                if after == After::Expired {
                    self.queue(cpu).expired_since.get_or_insert(cx.now);
                }
                cx.preempt(cpu);
            }
        }
        if cx.online.contains(cpu) {
            let idle = self.queue(cpu).len() == 0;
            self.balance(cx, cpu, if idle { balance::When::Idle } else { balance::When::Busy });
        }
    }

    fn on(&mut self, cx: &mut Context, happening: Happening) {
        match happening {
            Happening::Fork { parent, child } => {
                self.tasks.born(child, parent, cx);
            }
            Happening::Cpu { cpu, up: false } => {
                for task in queued_on(cx, cpu) {
                    self.queue(cpu).take(task);
                    let to = cx.fallback(task, cpu);
                    cx.moved(task, to);
                    self.add(cx, task, to);
                }
            }
            _ => {}
        }
    }
}
