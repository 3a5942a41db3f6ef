//! OSv's scheduler: a queue for each CPU, ordered by a measure of the CPU time that a thread has
//! had.
//!
//! There are two measures: the decaying average that came with commit dbc0d5073 (Nadav Har'El,
//! after a design by Avi Kivity, November 2013; core/sched.cc, include/sched.hh), and the
//! cumulative runtime with its heuristics that it replaced. The rest is the same for both and is in
//! this file: the thread with the smallest measure runs, a thread wakes on the CPU where it last
//! was, and a thread bound to each CPU moves one thread every 100 ms to the CPU with the shortest
//! queue, regardless of priorities.
//!
//! A decision takes time proportional to the logarithm of the queue's length; a balancer looks at
//! all CPUs and, when it moves a thread, at its whole queue; so does a renormalisation, every 17 s.

mod balance;
mod decaying;
mod vruntime;

use wastenot_model::dsq::Ordered;
use wastenot_model::policy::{Context, Happening, TimerId, View, Why};
use wastenot_model::{CpuId, Policy, Span, TaskId, Time};

use balance::Balancers;

pub(super) use decaying::SCHEDULER;
pub(super) use vruntime::SCHEDULER as VRUNTIME;

/// The charge for displacing another thread; also the shortest time that counts.
const SWITCH_PENALTY: Span = Span::us(10);

/// How much CPU time threads have had. Threads are numbered as in queues: from 0.
trait Measure {
    /// Room for the tasks and CPUs of `view`.
    fn grow(&mut self, view: &View);
    /// A new thread.
    fn born(&mut self, child: u32, parent: Option<u32>);
    /// `thread` is the balancer of a CPU.
    fn balancer(&mut self, _thread: u32, _view: &View) {}
    /// `thread` becomes runnable on `cpu`, which runs `current`.
    fn woken(&mut self, thread: u32, cpu: CpuId, current: Option<u32>);
    /// `thread`, runnable, is now on the queue of `cpu`.
    fn moved(&mut self, thread: u32, cpu: CpuId);
    /// The key with which it is queued: the thread with the smallest key is next.
    fn key(&self, thread: u32) -> f64;
    /// Time has passed on `cpu`, which runs `current`.
    fn account(&mut self, cpu: CpuId, current: Option<u32>, now: Time);
    /// Keeps numbers in range.
    fn renormalise(&mut self, _cpu: CpuId, _current: Option<u32>, _queues: &mut Ordered<f64>) {}
    /// Whether `current` runs on although a thread with the key `head` waits.
    fn keeps(&self, cpu: CpuId, current: u32, head: f64) -> bool;
    /// The time until it no longer does.
    fn until(&self, cpu: CpuId, current: u32, head: f64) -> Option<Span>;
    /// `current` gives way to a thread with the key `head`.
    fn yields(&mut self, _current: u32, _head: f64) {}
    /// `thread` no longer runs.
    fn switched_out(&mut self, cpu: CpuId, thread: u32);
    /// `thread`, or no thread, runs from now on. `displaced`: another thread would have continued.
    fn switched_in(&mut self, cpu: CpuId, thread: Option<u32>, displaced: bool, now: Time);
}

/// The policy.
#[derive(Debug)]
struct Osv<M> {
    name: String,
    measure: M,
    queues: Ordered<f64>,
    cpus: Vec<Cpu>,
    /// The timer of CPU 0; those of the other CPUs follow.
    timers: TimerId,
    balancers: Balancers,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    current: Option<u32>,
    /// It ran and wants to run on; it is queued only if another thread is picked.
    kept: Option<u32>,
    /// Whether no thread was picked last.
    idle: bool,
    /// The thread that yielded to the one that is picked next.
    yielded: bool,
    /// Whether its timer is armed.
    armed: bool,
}

impl<M: Measure> Osv<M> {
    fn new(name: String, measure: M) -> Osv<M> {
        let (queues, timers) = (Ordered::new(0), TimerId(0));
        let balancers = Balancers::default();
        Osv { name, measure, queues, cpus: Vec::new(), timers, balancers }
    }

    fn account(&mut self, cx: &Context, cpu: CpuId) {
        let current = self.cpus[cpu.index()].current;
        self.measure.account(cpu, current, cx.now);
        self.measure.renormalise(cpu, current, &mut self.queues);
    }

    fn switch_out(&mut self, cpu: CpuId, thread: u32) {
        self.measure.switched_out(cpu, thread);
        self.cpus[cpu.index()].current = None;
    }

    /// `cpu` is off: the threads that wait there move to other CPUs.
    fn clear(&mut self, cx: &mut Context, cpu: CpuId) {
        if let Some(gone) = self.cpus[cpu.index()].current {
            self.switch_out(cpu, gone);
        }
        self.arm(cx, cpu, None);
        while let Some((_, thread)) = self.queues.pop(cpu.index()) {
            let to = cx.fallback(TaskId::nth(thread as usize), cpu);
            self.send(cx, thread, to);
        }
    }

    /// `thread`, which is in no queue, waits on `to` from now on.
    fn send(&mut self, cx: &mut Context, thread: u32, to: CpuId) {
        cx.moved(TaskId::nth(thread as usize), to);
        self.measure.moved(thread, to);
        self.queues.insert(to.index(), thread, self.measure.key(thread));
        cx.preempt(to);
    }

    fn arm(&mut self, cx: &mut Context, cpu: CpuId, after: Option<Span>) {
        let armed = std::mem::replace(&mut self.cpus[cpu.index()].armed, after.is_some());
        if armed || after.is_some() {
            let timer = TimerId(self.timers.0 + u32::from(cpu.0));
            cx.timer(timer, cpu, after.map(|after| cx.now + after));
        }
    }

    /// Runs `thread` on `cpu`, and arms a timer for when it should no longer run there.
    fn run(&mut self, cx: &mut Context, cpu: CpuId, thread: u32) -> Option<TaskId> {
        let head = self.queues.first(cpu.index());
        let after = head.and_then(|(key, _)| self.measure.until(cpu, thread, key));
        self.arm(cx, cpu, after);
        self.cpus[cpu.index()].current = Some(thread);
        Some(TaskId::nth(thread as usize))
    }
}

fn number(task: TaskId) -> u32 {
    task.ordinal() as u32
}

impl<M: Measure> Policy for Osv<M> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn init(&mut self, cx: &mut Context) {
        let cpus = cx.cpus.len();
        self.queues = Ordered::new(cpus);
        self.cpus = vec![Cpu::default(); cpus];
        self.timers = cx.new_timers(cpus as u32);
        self.balancers = Balancers::begin(cx);
        self.measure.grow(cx);
        for &thread in self.balancers.threads() {
            self.measure.born(number(thread), None);
            self.measure.balancer(number(thread), cx);
        }
    }

    /// The CPU where it last was, or that of its creator if it is new: idle CPUs are not searched.
    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, _: Why) -> CpuId {
        cx.fallback(task, prev)
    }

    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        let (thread, head) = (number(task), self.queues.first(cpu.index()));
        let state = &mut self.cpus[cpu.index()];
        match (why, head) {
            (Why::Yield, Some((head, _))) => {
                state.yielded = true;
                self.measure.yields(thread, head);
                self.switch_out(cpu, thread);
                self.queues.insert(cpu.index(), thread, self.measure.key(thread));
            }
            (Why::Yield | Why::Preempted, _) => state.kept = Some(thread),
            _ => {
                let current = state.current;
                self.measure.grow(cx);
                self.measure.woken(thread, cpu, current);
                self.queues.insert(cpu.index(), thread, self.measure.key(thread));
                cx.preempt(cpu);
            }
        }
    }

    fn dequeue(&mut self, _: &mut Context, task: TaskId, _: CpuId) {
        self.queues.remove(number(task));
    }

    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        let at = cpu.index();
        let mut displaced = std::mem::take(&mut self.cpus[at].yielded);
        if let (None, Some(gone)) = (self.cpus[at].kept, self.cpus[at].current) {
            self.switch_out(cpu, gone); // it continues on another CPU
        }
        if let Some(current) = self.cpus[at].kept.take() {
            let head = self.queues.first(at);
            if head.is_none_or(|(head, _)| self.measure.keeps(cpu, current, head)) {
                return self.run(cx, cpu, current);
            }
            self.switch_out(cpu, current);
            self.queues.insert(at, current, self.measure.key(current));
            displaced = true;
        } else if self.cpus[at].idle {
            self.account(cx, cpu);
        }
        let next = self.queues.pop(at).map(|(_, thread)| thread);
        self.cpus[at].idle = next.is_none();
        self.measure.switched_in(cpu, next, displaced, cx.now);
        let Some(thread) = next else {
            self.arm(cx, cpu, None);
            return None;
        };
        self.run(cx, cpu, thread)
    }

    fn running(&mut self, _: &mut Context, _: CpuId, _: TaskId) {}

    fn stopping(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId, runnable: bool) {
        self.account(cx, cpu);
        if !runnable {
            self.switch_out(cpu, number(task));
        }
    }

    fn on(&mut self, cx: &mut Context, happening: Happening) {
        match happening {
            Happening::Timer(TimerId(timer)) if timer < self.timers.0 + self.cpus.len() as u32 => {
                let cpu = CpuId((timer - self.timers.0) as u16);
                self.cpus[cpu.index()].armed = false;
                cx.preempt(cpu);
            }
            Happening::Cpu { cpu, up: false } => self.clear(cx, cpu),
            Happening::Timer(timer) => self.balancers.expired(cx, timer),
            Happening::Ran(thread) => self.balance(cx, thread),
            Happening::Fork { parent, child } => {
                self.measure.grow(cx);
                self.measure.born(number(child), parent.map(number));
            }
            _ => {}
        }
    }
}
