//! A test bed: the smallest thing that runs a policy. Tasks compute and sleep in turn, nothing
//! costs anything, and invariants are asserted at each step.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wastenot_model::policy::{
    Context, CpuView, Effect, Happening, Place, TaskView, Tick, TimerId, View, Why,
};
use wastenot_model::workload::{Group, GroupId};
use wastenot_model::{CpuId, CpuSet, Machine, Policy, Span, TaskId, Time};

/// What a task does: computes, then sleeps, so many times, then ends.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(crate) run: Span,
    pub(crate) sleep: Span,
    pub(crate) rounds: u64,
    pub(crate) at: Time,
    pub(crate) from: CpuId,
    pub(crate) affinity: Option<CpuSet>,
    pub(crate) priority: f64,
    pub(crate) nice: i8,
    pub(crate) job: Option<u32>,
}

impl Life {
    pub(crate) fn hog() -> Life {
        Life {
            run: Span(u64::MAX / 4),
            sleep: Span::ZERO,
            rounds: 1,
            at: Time(0),
            from: CpuId(0),
            affinity: None,
            priority: 1.0,
            nice: 0,
            job: None,
        }
    }
    pub(crate) fn in_turn(run: Span, sleep: Span) -> Life {
        Life { run, sleep, rounds: u64::MAX, ..Life::hog() }
    }
}

#[derive(Clone, Debug)]
struct Task {
    life: Life,
    left: Span,
    since: Time,
    stint: u64,
    used: Span,
    ended: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Timer(u32, u64),
    Done(TaskId, u64),
    Born(TaskId),
    Wake(TaskId),
    Tick,
}

pub(super) struct Bed {
    pub(crate) cx: Context,
    policy: Box<dyn Policy>,
    queue: BinaryHeap<Reverse<(Time, u64, What)>>,
    sequence: u64,
    tasks: Vec<Task>,
    timers: Vec<u64>,
    tick: Option<Tick>,
    own: usize,
    /// Every change of who runs: when, where, who.
    pub(crate) switches: Vec<(Time, CpuId, Option<TaskId>)>,
}

impl Bed {
    pub(crate) fn new(
        machine: Machine,
        mut policy: Box<dyn Policy>,
        seed: u64,
        lives: &[Life],
    ) -> Bed {
        let online = machine.online();
        let idle = CpuView { current: None, idle_since: Time(0), online: true };
        let mut cx = Context::new(
            View {
                now: Time(0),
                cpu: CpuId(0),
                cpus: vec![idle; machine.len()],
                machine,
                idle: online.clone(),
                online,
                tasks: Vec::new(),
                groups: vec![Group::root()],
                masks: vec![CpuSet::first(CpuId::LIMIT)],
                seed,
            },
            false,
        );
        policy.init(&mut cx);
        let (timers, mut effects) = (vec![0; cx.timers() as usize], Vec::new());
        cx.take(&mut effects);
        let (queue, tasks) = (BinaryHeap::new(), Vec::new());
        let switches = Vec::new();
        let mut bed =
            Bed { cx, policy, queue, sequence: 0, tasks, timers, tick: None, own: 0, switches };
        for effect in &effects {
            if let Effect::Thread { cpu, work, .. } = effect {
                let affinity = Some(CpuSet::from_iter([*cpu]));
                bed.own += 1;
                let mut life = Life::in_turn(*work, Span::ZERO);
                life = Life { affinity, from: *cpu, ..life };
                bed.add(life, Place::Asleep);
            }
        }
        bed.carry_out(effects);
        for life in lives {
            let (at, task) = (life.at, bed.add(life.clone(), Place::Nowhere));
            bed.schedule(at, What::Born(task));
        }
        if let Some(tick) = bed.tick {
            bed.schedule(Time(tick.period.0), What::Tick);
        }
        bed
    }

    /// The `n`th life's task.
    pub(crate) fn task(&self, n: usize) -> TaskId {
        TaskId::nth(self.own + n)
    }
    /// CPU time that the `n`th life had until now.
    pub(crate) fn used(&self, n: usize) -> Span {
        let task = &self.tasks[self.own + n];
        let running = self.cx.task(self.task(n)).place == Place::Running;
        task.used + if running { self.cx.now - task.since } else { Span::ZERO }
    }
    /// When the `n`th life ended.
    pub(crate) fn ended(&self, n: usize) -> Option<Time> {
        self.tasks[self.own + n].ended
    }
    /// Mean length of uninterrupted runs of the `n`th life.
    pub(crate) fn slice(&self, n: usize) -> f64 {
        let task = Some(self.task(n));
        let ons = self.switches.iter().filter(|(_, _, who)| *who == task).count();
        self.used(n).0 as f64 / ons as f64
    }

    /// Runs until `end`; `watch` sees the machine whenever time is about to pass.
    pub(crate) fn run_watched(&mut self, end: Time, mut watch: impl FnMut(&View)) {
        while let Some(&Reverse((at, _, what))) = self.queue.peek() {
            if at > self.cx.now {
                watch(&self.cx);
            }
            if at > end {
                break;
            }
            self.queue.pop();
            self.cx.view_mut().now = at;
            self.happen(what);
        }
        self.cx.view_mut().now = end;
    }
    pub(crate) fn run(&mut self, end: Time) {
        self.run_watched(end, |_| {});
    }

    fn happen(&mut self, what: What) {
        match what {
            What::Timer(timer, armed) if self.timers[timer as usize] == armed => {
                self.policy.on(&mut self.cx, Happening::Timer(TimerId(timer)));
            }
            What::Timer(..) => {}
            What::Done(task, stint) => self.done(task, stint),
            What::Born(child) => {
                let from = self.tasks[child.index().expect("a task")].life.from;
                self.cx.view_mut().cpu = from;
                self.policy.on(&mut self.cx, Happening::Fork { parent: None, child });
                self.settle();
                self.put(child, Why::New);
            }
            What::Wake(task) => {
                self.cx.view_mut().cpu = self.cx.task(task).cpu;
                self.put(task, Why::Wakeup { sync: false });
            }
            What::Tick => self.ticks(),
        }
        self.settle();
    }

    fn put(&mut self, task: TaskId, why: Why) {
        let index = task.index().expect("a task");
        assert!(matches!(self.cx.task(task).place, Place::Asleep | Place::Nowhere));
        let prev = self.cx.task(task).cpu;
        let cpu = self.policy.select_cpu(&mut self.cx, task, prev, why);
        assert!(self.cx.allowed(task, cpu), "{task:?} may not wait on {cpu}");
        let view = &mut self.cx.view_mut().tasks[index];
        (view.place, view.cpu) = (Place::Queued, cpu);
        self.tasks[index].left = self.tasks[index].life.run;
        self.policy.enqueue(&mut self.cx, task, cpu, why);
    }

    fn done(&mut self, task: TaskId, stint: u64) {
        let (index, cpu) = (task.index().expect("a task"), self.cx.task(task).cpu);
        if self.tasks[index].stint != stint {
            return;
        }
        if index < self.own {
            self.policy.on(&mut self.cx, Happening::Ran(task));
            self.settle();
        }
        self.stop(cpu, false);
        let (now, state) = (self.cx.now, &mut self.tasks[index]);
        state.life.rounds -= 1;
        if state.life.rounds == 0 {
            state.ended = Some(now);
            self.cx.view_mut().tasks[index].place = Place::Nowhere;
            self.policy.on(&mut self.cx, Happening::Exit(task));
        } else if index >= self.own {
            let at = now + state.life.sleep;
            self.schedule(at, What::Wake(task));
        }
        self.next(cpu);
    }

    fn ticks(&mut self) {
        let Some(tick) = self.tick else { return };
        for cpu in (0..self.cx.cpus.len()).map(|cpu| CpuId(cpu as u16)) {
            if tick.idle || self.cx.current(cpu).is_some() {
                self.cx.view_mut().cpu = cpu;
                self.policy.tick(&mut self.cx, cpu);
                self.settle();
            }
        }
        let next = self.cx.now + tick.period;
        self.schedule(next, What::Tick);
    }

    fn settle(&mut self) {
        let mut effects = Vec::new();
        while !self.cx.is_quiet() {
            self.cx.take(&mut effects);
            self.carry_out(std::mem::take(&mut effects));
        }
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Kick { cpu, preempt } => self.look(cpu, preempt),
                Effect::Timer { timer, at, .. } => {
                    self.sequence += 1;
                    self.timers[timer.0 as usize] = self.sequence;
                    if let Some(at) = at {
                        self.schedule(at, What::Timer(timer.0, self.sequence));
                    }
                }
                Effect::Wake(thread) => self.put(thread, Why::Wakeup { sync: false }),
                Effect::Tick(tick) => self.tick = Some(tick),
                Effect::Moved { task, to, .. } => {
                    assert!(self.cx.allowed(task, to));
                }
                Effect::Throttled { .. } | Effect::Note(_) | Effect::Thread { .. } => {}
            }
        }
    }

    fn look(&mut self, cpu: CpuId, preempt: bool) {
        match self.cx.current(cpu) {
            Some(_) if !preempt => return,
            Some(task) => {
                self.stop(cpu, true);
                self.policy.enqueue(&mut self.cx, task, cpu, Why::Preempted);
            }
            None => {}
        }
        self.next(cpu);
    }

    fn stop(&mut self, cpu: CpuId, runnable: bool) {
        let task = self.cx.current(cpu).expect("somebody runs");
        let (now, index) = (self.cx.now, task.index().expect("a task"));
        let state = &mut self.tasks[index];
        let ran = now - state.since;
        state.used += ran;
        state.left = state.left.0.checked_sub(ran.0).map(Span).expect("no more than it wanted");
        state.stint += 1;
        let place = if runnable { Place::Queued } else { Place::Asleep };
        let view = self.cx.view_mut();
        view.tasks[index].place = place;
        view.cpu = cpu;
        self.policy.stopping(&mut self.cx, cpu, task, runnable);
        self.cx.view_mut().cpus[cpu.index()].current = None;
    }

    fn next(&mut self, cpu: CpuId) {
        self.cx.view_mut().cpu = cpu;
        let next = self.policy.dispatch(&mut self.cx, cpu);
        let now = self.cx.now;
        let view = self.cx.view_mut();
        view.cpus[cpu.index()] = CpuView { current: next, idle_since: now, online: true };
        match next {
            Some(_) => view.idle.remove(cpu),
            None => view.idle.insert(cpu),
        }
        let last = self.switches.iter().rev().find(|(_, on, _)| *on == cpu);
        if last.map_or(None, |last| last.2) != next {
            self.switches.push((now, cpu, next));
        }
        let Some(task) = next else { return self.policy.update_idle(&mut self.cx, cpu, true) };
        let index = task.index().expect("a task");
        let view = &mut self.cx.view_mut().tasks[index];
        assert_eq!((view.place, view.cpu), (Place::Queued, cpu), "who may be dispatched");
        view.place = Place::Running;
        assert!(self.cx.allowed(task, cpu));
        let state = &mut self.tasks[index];
        state.since = now;
        let (at, stint) = (now + state.left, state.stint);
        self.schedule(at, What::Done(task, stint));
        self.policy.running(&mut self.cx, cpu, task);
    }

    fn add(&mut self, life: Life, place: Place) -> TaskId {
        let own = place == Place::Asleep;
        let view = self.cx.view_mut();
        let mask = life.affinity.clone().map_or(0, |cpus| {
            view.masks.push(cpus);
            view.masks.len() as u32 - 1
        });
        view.tasks.push(TaskView {
            place,
            cpu: life.from,
            nice: life.nice,
            group: GroupId(0),
            mask,
            kthread: own,
            own,
            priority: life.priority,
            job: life.job,
        });
        let (left, since, used) = (Span::ZERO, Time(0), Span::ZERO);
        self.tasks.push(Task { life, left, since, stint: 0, used, ended: None });
        TaskId::nth(self.tasks.len() - 1)
    }

    fn schedule(&mut self, at: Time, what: What) {
        self.sequence += 1;
        self.queue.push(Reverse((at, self.sequence, what)));
    }
}
