//! One policy on its CPUs: the protocol around its handlers.
//!
//! After a put, the scheduler claims the idle flag of one CPU that would find the task there, and
//! kicks that CPU. A CPU that dispatches sets its own idle flag before it looks; if it takes a task
//! while more wait, it passes the wakeup on (docs/explain/proofs.md explains why each step is
//! needed).

use wastenot_model::policy::{Context, Note, TimerId, View};
use wastenot_model::{CpuId, CpuSet, TaskId};

use super::handler::{Decision, Handler, Placed, at};
use super::state::{Candidates, Seen, State, candidates};
use crate::Tree;
use crate::eval::{At, Frame};
use crate::ir::{Attempt, Event, Level, Policy, QueueAt};

/// Steps of a put.
pub(super) const PUTS: usize = 2;

/// One running policy.
#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    pub(super) policy: Policy,
    pub(super) state: State,
    pub(super) frame: Frame,
    /// The level of each queue.
    pub(super) per: Vec<Level>,
    /// The groups that each idle CPU looks at.
    pub(super) stolen_from: Candidates,
    /// The groups that each regular balance looks at.
    pub(super) pulled_from: Vec<Candidates>,
    /// By queue and group: the CPUs that look there.
    pub(super) looks: Vec<Vec<CpuSet>>,
    /// The slice timer of the first CPU; the timers of the others follow.
    pub(super) slices: TimerId,
    /// By CPU number: whether its slice timer is armed.
    pub(super) armed: Vec<bool>,
    /// Timers of regular balances: which balance, for which group of its leaders' level.
    pub(super) periods: Vec<(TimerId, usize, At)>,
}

impl Scheduler {
    /// A scheduler with its own CPUs and timers.
    pub(super) fn new(
        policy: Policy,
        params: Vec<i64>,
        cpus: &CpuSet,
        cx: &mut Context,
    ) -> Scheduler {
        let tree = match policy.protocol.groups_from_cpu0 {
            true => Tree::from_cpu0(&cx.machine, cpus),
            false => Tree::of(&cx.machine, cpus),
        };
        let per: Vec<Level> = policy.queues.iter().map(|queue| queue.per).collect();
        let of = |balance| candidates(&tree, balance, per[balance.from]);
        let stolen_from = policy.idle.as_ref().map(of).unwrap_or_default();
        let pulled_from = policy.periodic.iter().map(|it| of(&it.balance)).collect();
        let slices = cx.new_timers(tree.cpus().len() as u32);
        let mut periods = Vec::new();
        for (index, periodic) in policy.periodic.iter().enumerate() {
            let level = periodic.leader.unwrap_or(Level::Cpu);
            for group in 0..tree.count(level) {
                periods.push((cx.new_timers(1), index, At { level, group }));
            }
        }
        let armed = vec![false; cx.cpus.len()];
        let state = State::new(&policy, tree, cx);
        let frame = Frame::new(params);
        let looks = Vec::new();
        let mut scheduler = Scheduler {
            policy,
            state,
            frame,
            per,
            stolen_from,
            pulled_from,
            looks,
            slices,
            armed,
            periods,
        };
        scheduler.looks = scheduler.who_looks(cx);
        (0..scheduler.periods.len()).for_each(|n| scheduler.arm_period(cx, n));
        scheduler
    }

    /// Which CPUs look into which queue. This depends on the policy and the machine only, not on
    /// state.
    fn who_looks(&mut self, view: &View) -> Vec<Vec<CpuSet>> {
        let mut looks: Vec<Vec<CpuSet>> =
            self.state.queues.iter().map(|groups| vec![CpuSet::new(); groups.len()]).collect();
        for &cpu in self.state.tree.cpus() {
            for attempt in &self.policy.dispatch {
                match (attempt, &self.policy.idle) {
                    (Attempt::Take(queue, _), _) => {
                        let group =
                            queue_of(&mut self.frame, &self.state, &self.per, view, (queue, cpu));
                        looks[queue.queue][group].insert(cpu);
                    }
                    (Attempt::Balance, Some(balance)) => {
                        let own = at(&self.state, cpu).group;
                        for &group in self.stolen_from[own].iter().flatten() {
                            looks[balance.from][group].insert(cpu);
                        }
                    }
                    (Attempt::Balance, None) => {}
                }
            }
        }
        looks
    }

    /// `cpu` if this policy has it; else one of its CPUs that the task may use, or any.
    pub(super) fn own(&self, view: &View, task: TaskId, cpu: CpuId) -> CpuId {
        let tree = &self.state.tree;
        if tree.has(cpu) {
            return cpu;
        }
        let may = tree.cpus().iter().find(|&&cpu| self.state.may(view, task, cpu));
        may.copied().unwrap_or(tree.cpus()[0])
    }

    /// Whether `task` can run on a CPU of this policy now.
    pub(super) fn may(&self, view: &View, task: TaskId) -> bool {
        self.state.tree.cpus().iter().any(|&cpu| self.state.may(view, task, cpu))
    }

    /// Runs the handler of an event for `task`, which was last on `prev`.
    pub(super) fn handle(
        &mut self,
        view: &View,
        event: Event,
        task: TaskId,
        (prev, here): (CpuId, CpuId),
        ran: i64,
    ) -> Decision {
        let body = &self.policy.handlers[event as usize];
        if body.is_empty() {
            return Decision::default();
        }
        self.state.task(task);
        let prev = self.own(view, task, prev);
        let here = if self.state.tree.has(here) { here } else { prev };
        (self.frame.prev, self.frame.here) = (Some(prev), Some(here));
        let handler = Handler {
            view,
            state: &mut self.state,
            frame: &mut self.frame,
            per: &self.per,
            task,
            ran,
            decision: Decision::default(),
            claimed: Vec::new(),
        };
        handler.handle(body)
    }

    /// The CPU where a placed task waits, for the History: the CPU that it goes to, or the nearest
    /// to `prev` of the queue's group that the task may use, or of the whole group.
    pub(super) fn named(&self, view: &View, task: TaskId, placed: Placed, prev: CpuId) -> CpuId {
        let (tree, prev) = (&self.state.tree, self.own(view, task, prev));
        let may = |cpu: CpuId| self.state.may(view, task, cpu);
        match placed {
            Placed::Cpu(cpu) => cpu,
            Placed::Queue { queue, group, .. } => {
                let per = self.per[queue];
                let inside = |cpu: CpuId| tree.group(per, cpu) == group && may(cpu);
                if inside(prev) {
                    return prev;
                }
                let near = tree.nearest(prev, inside).or_else(|| tree.nearest(prev, may));
                near.unwrap_or(prev)
            }
        }
    }

    /// Carries out the decision for `task`. `false`: the CPU that was claimed for it went offline.
    pub(super) fn place(&mut self, cx: &mut Context, task: TaskId, decision: &Decision) -> bool {
        (0..PUTS).all(|step| self.puts(cx, task, decision, step))
    }

    /// One of the [`PUTS`] steps of that: the task is inserted into its queue, and an idle CPU is
    /// woken for it.
    pub(super) fn puts(
        &mut self,
        cx: &mut Context,
        task: TaskId,
        decision: &Decision,
        step: usize,
    ) -> bool {
        let Some(placed) = decision.placed else { return false };
        let is_first = step == 0;
        if is_first {
            self.state.task(task).slice = decision.slice;
        }
        match placed {
            Placed::Cpu(cpu) if is_first => {
                if !self.state.may(cx, task, cpu) {
                    return false;
                }
                self.state.cpus[cpu.index()].next = Some(task);
                cx.kick_idle(cpu);
            }
            Placed::Cpu(_) => {}
            Placed::Queue { queue, group, wake } => {
                match is_first != self.policy.protocol.kick_first {
                    true => self.insert(cx, task, queue, group),
                    false => _ = self.wake(cx, task, queue, group, wake),
                }
            }
        }
        if step + 1 == PUTS {
            self.kick(cx, decision);
        }
        true
    }

    /// Picks the task that runs next on `cpu`.
    pub(super) fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        if let Some(task) = self.state.cpus[cpu.index()].next.take() {
            self.state.idle.remove(cpu);
            self.step(cx, cpu, Note::TAKE, Some(task));
            return Some(task);
        }
        let protocol = self.policy.protocol;
        if !protocol.no_rescan {
            self.state.idle.insert(cpu);
        }
        let Some(task) = self.find(cx, cpu) else {
            self.state.idle.insert(cpu);
            self.arm(cx, cpu, None);
            self.step(cx, cpu, Note::FAILED, None);
            return None;
        };
        self.state.idle.remove(cpu);
        self.step(cx, cpu, Note::TAKE, Some(task));
        if !protocol.no_chain {
            self.pass_on(cx);
        }
        Some(task)
    }

    /// One complete attempt: all places that the text lists, one after the other.
    fn find(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        for n in 0..self.policy.dispatch.len() {
            let found = match &self.policy.dispatch[n] {
                Attempt::Balance => self.steal(cx, cpu),
                Attempt::Take(queue, _) => {
                    let to = (queue, cpu);
                    let group = queue_of(&mut self.frame, &self.state, &self.per, cx, to);
                    let first = self.state.first(cx, queue.queue, group, cpu);
                    first.inspect(|&task| self.state.remove(task, true))
                }
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    pub(super) fn running(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId) {
        let now = cx.now;
        self.begins(cx, cpu, task);
        self.state.cpus[cpu.index()].current = Some(task);
        let known = self.state.task(task);
        known.since = now;
        let slice = known.slice;
        self.arm(cx, cpu, slice);
        let decision = self.handle(cx, Event::Start, task, (cpu, cpu), 0);
        self.kick(cx, &decision);
    }

    /// A task that begins to run on `cpu` counts in the order of the queue from which the CPU
    /// takes, also if it was given to the CPU directly or stolen: the queue's least key covers all
    /// tasks that run there.
    fn begins(&mut self, view: &View, cpu: CpuId, task: TaskId) {
        let Some((at, key)) = self.policy.order() else { return };
        let group = queue_of(&mut self.frame, &self.state, &self.per, view, (at, cpu));
        let key = self.state.task(task).vars[key];
        self.state.queues[at.queue][group].begins(key);
    }

    pub(super) fn stopping(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId, runnable: bool) {
        let known = self.state.task(task);
        let ran = (cx.now - known.since).0 as i64;
        let last = if known.ends { Event::Exit } else { Event::Block };
        let decision = self.handle(cx, Event::Stop, task, (cpu, cpu), ran);
        self.kick(cx, &decision);
        self.state.cpus[cpu.index()].current = None;
        if !runnable {
            let decision = self.handle(cx, last, task, (cpu, cpu), 0);
            self.kick(cx, &decision);
        }
    }

    pub(super) fn tick(&mut self, cx: &mut Context, cpu: CpuId) {
        if let Some(task) = self.state.cpus[cpu.index()].current {
            let decision = self.handle(cx, Event::Tick, task, (cpu, cpu), 0);
            self.kick(cx, &decision);
        }
    }

    fn kick(&self, cx: &mut Context, decision: &Decision) {
        for &(cpu, preempt) in &decision.kicks {
            if preempt { cx.preempt(cpu) } else { cx.kick_idle(cpu) }
        }
    }
}

/// The group whose queue `cpu` takes from.
pub(super) fn queue_of(
    frame: &mut Frame,
    state: &State,
    per: &[Level],
    view: &View,
    (queue, cpu): (&QueueAt, CpuId),
) -> usize {
    frame.me = Some(at(state, cpu));
    let seen = Seen { view, state, task: None, ran: 0 };
    frame.queue(&seen, queue, per[queue.queue])
}
