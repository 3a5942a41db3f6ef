//! One policy on the CPUs that it has: the protocol around its handlers.
//!
//! Whoever puts a task into a queue then claims the idle flag of one CPU that would find it there,
//! and kicks that one. Whoever dispatches sets its own flag before it looks; if it takes a task
//! while more wait, it passes the wakeup on (docs/rota.md says why each step is needed).

use wastenot_model::policy::{Context, Note, TimerId, View};
use wastenot_model::{CpuId, CpuSet, Span, TaskId};

use super::balance::{Candidates, candidates};
use super::handler::{Decision, Handler, Placed, at};
use super::state::{Seen, State};
use crate::Tree;
use crate::eval::{At, Frame};
use crate::ir::{Attempt, Event, Level, Policy, QueueAt};

/// Nobody is interrupted sooner, whatever a slice or a period comes to: a text must not hold time
/// up. A tenth of the shortest tick of any kernel.
const SHORTEST: i64 = 10_000;

/// One policy at work.
#[derive(Debug)]
pub(super) struct Scheduler {
    pub(super) policy: Policy,
    pub(super) state: State,
    pub(super) frame: Frame,
    /// The level of each queue.
    pub(super) per: Vec<Level>,
    /// Whom idle CPUs look at.
    pub(super) stolen_from: Candidates,
    /// Whom each regular balance looks at.
    pub(super) pulled_from: Vec<Candidates>,
    /// By queue and group: the CPUs that look there.
    looks: Vec<Vec<CpuSet>>,
    /// The timer of the slice of the first CPU; the others follow.
    slices: TimerId,
    /// By CPU number: whether that is armed.
    armed: Vec<bool>,
    /// Timers of regular balances: which balance, for which group of its leaders' level.
    periods: Vec<(TimerId, usize, At)>,
}

impl Scheduler {
    /// Begins, with its own CPUs and timers.
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
        let mut frame = Frame::default();
        frame.params = params;
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

    /// Who looks where, whatever happens: it depends on nothing but who looks.
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
                        let own = self.state.tree.group(self.per[balance.from], cpu);
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

    /// `cpu` if this policy has it; else one that the task may use, or any.
    fn own(&self, view: &View, task: TaskId, cpu: CpuId) -> CpuId {
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

    /// Does what the text says of an event that happened to `task`, which was last on `prev`.
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

    /// The CPU where a task waits for the History, once it is placed so: the one that it goes to,
    /// or the nearest to `prev` of the queue's group that it may use, or of all.
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

    /// `task` goes where it was decided. `false`: the CPU that was claimed for it went off.
    pub(super) fn place(&mut self, cx: &mut Context, task: TaskId, decision: Decision) -> bool {
        let Some(placed) = decision.placed else { return false };
        self.state.task(task).slice = decision.slice;
        match placed {
            Placed::Cpu(cpu) => {
                if !self.state.may(cx, task, cpu) {
                    return false;
                }
                self.state.cpus[cpu.index()].next = Some(task);
                cx.kick_idle(cpu);
            }
            Placed::Queue { queue, group, wake } if self.policy.protocol.kick_first => {
                self.wake(cx, task, queue, group, wake);
                self.insert(cx, task, queue, group);
            }
            Placed::Queue { queue, group, wake } => {
                self.insert(cx, task, queue, group);
                self.wake(cx, task, queue, group, wake);
            }
        }
        for (cpu, preempt) in decision.kicks {
            if preempt { cx.preempt(cpu) } else { cx.kick_idle(cpu) }
        }
        true
    }

    /// `task` waits in a queue, with what its key is now.
    pub(super) fn insert(&mut self, cx: &mut Context, task: TaskId, queue: usize, group: usize) {
        let key = self.policy.queues[queue].key;
        let key = key.map_or(0, |var| self.state.task(task).vars[var]);
        self.state.insert(cx, task, queue, group, key);
        let (state, looks) = (&self.state, &self.looks[queue][group]);
        let name = &self.policy.queues[queue].name;
        cx.note(|view| Note {
            cpu: view.task(task).cpu,
            what: Note::PUT,
            task: Some(task),
            considered: looks.iter().filter(|&cpu| state.may(view, task, cpu)).collect(),
            outcome: format!("{name} {group}"),
        });
    }

    /// Tells of a step of the protocol.
    pub(super) fn step(
        &self,
        cx: &mut Context,
        cpu: CpuId,
        what: &'static str,
        task: Option<TaskId>,
    ) {
        let (considered, outcome) = (CpuSet::new(), String::new());
        cx.note(|_| Note { cpu, what, task, considered, outcome });
    }

    /// Claims the idle CPU nearest to `task` that would find it in its queue, and kicks it.
    pub(super) fn wake(
        &mut self,
        cx: &mut Context,
        task: TaskId,
        queue: usize,
        group: usize,
        within: Level,
    ) -> bool {
        let (state, tree) = (&self.state, &self.state.tree);
        if state.idle.is_empty() {
            return false;
        }
        let near = self.own(cx, task, cx.task(task).cpu);
        let (root, looks) = (tree.group(within, near), &self.looks[queue][group]);
        let finds = |cpu| {
            looks.contains(cpu) && tree.group(within, cpu) == root && state.may(cx, task, cpu)
        };
        let Some(cpu) = state.nearest_idle(&Level::ALL, near, finds) else { return false };
        self.state.idle.remove(cpu);
        cx.kick_idle(cpu);
        true
    }

    /// Wakes an idle CPU for one of those that wait, or for as many as there are idle CPUs.
    pub(super) fn pass_on(&mut self, cx: &mut Context, all: bool) {
        for queue in 0..self.per.len() {
            if self.state.waiting[queue] == 0 || self.state.idle.is_empty() {
                continue;
            }
            for group in 0..self.state.queues[queue].len() {
                let mut entry = self.state.queues[queue][group].after(None);
                while let Some(next) = entry {
                    let task = TaskId::nth(next.task as usize);
                    if self.wake(cx, task, queue, group, Level::Machine) && !all {
                        return;
                    }
                    entry = self.state.queues[queue][group].after(Some(&next));
                }
            }
        }
    }

    /// Who runs next on `cpu`.
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
            self.pass_on(cx, false);
        }
        Some(task)
    }

    /// One complete attempt: all that the text says, one after the other.
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
        self.state.cpus[cpu.index()].current = Some(task);
        let known = self.state.task(task);
        known.since = now;
        let slice = known.slice;
        self.arm(cx, cpu, slice);
        let decision = self.handle(cx, Event::Start, task, (cpu, cpu), 0);
        self.kick(cx, decision);
    }

    pub(super) fn stopping(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId, runnable: bool) {
        let known = self.state.task(task);
        let ran = (cx.now - known.since).0 as i64;
        let last = if known.ends { Event::Exit } else { Event::Block };
        let decision = self.handle(cx, Event::Stop, task, (cpu, cpu), ran);
        self.kick(cx, decision);
        self.state.cpus[cpu.index()].current = None;
        if !runnable {
            let decision = self.handle(cx, last, task, (cpu, cpu), 0);
            self.kick(cx, decision);
        }
    }

    pub(super) fn tick(&mut self, cx: &mut Context, cpu: CpuId) {
        if let Some(task) = self.state.cpus[cpu.index()].current {
            let decision = self.handle(cx, Event::Tick, task, (cpu, cpu), 0);
            self.kick(cx, decision);
        }
    }

    fn kick(&self, cx: &mut Context, decision: Decision) {
        for (cpu, preempt) in decision.kicks {
            if preempt { cx.preempt(cpu) } else { cx.kick_idle(cpu) }
        }
    }

    /// Interrupts `cpu` after a slice.
    fn arm(&mut self, cx: &mut Context, cpu: CpuId, after: Option<i64>) {
        let armed = std::mem::replace(&mut self.armed[cpu.index()], after.is_some());
        if armed || after.is_some() {
            let number = self.state.tree.group(Level::Cpu, cpu) as u32;
            let at = after.map(|after| cx.now + Span(after.max(SHORTEST) as u64));
            cx.timer(TimerId(self.slices.0 + number), cpu, at);
        }
    }

    /// Arms the timer of a regular balance, on its leader.
    fn arm_period(&mut self, cx: &mut Context, n: usize) {
        let (timer, index, at) = self.periods[n];
        let leader = self.leader(cx, at);
        self.frame.me = Some(at);
        let seen = Seen { view: cx, state: &self.state, task: None, ran: 0 };
        let period = self.frame.num(&seen, &self.per, &self.policy.periodic[index].period);
        let due = Span(period.max(SHORTEST) as u64);
        cx.timer(timer, leader, Some(cx.now + due));
    }

    /// The lowest CPU of a group that is online, or the lowest.
    fn leader(&self, view: &View, at: At) -> CpuId {
        let members = self.state.tree.members(at.level, at.group);
        let online = members.iter().find(|&&cpu| view.online.contains(cpu));
        *online.unwrap_or(&members[0])
    }

    /// Whether it was one of its timers that expired.
    pub(super) fn expired(&mut self, cx: &mut Context, timer: TimerId) -> bool {
        let cpus = self.state.tree.cpus();
        if let Some(&cpu) = cpus.get(timer.0.wrapping_sub(self.slices.0) as usize) {
            self.armed[cpu.index()] = false;
            cx.preempt(cpu);
            return true;
        }
        let Some(n) = self.periods.iter().position(|&(known, ..)| known == timer) else {
            return false;
        };
        let (_, index, at) = self.periods[n];
        let leader = self.leader(cx, at);
        if cx.online.contains(leader) {
            self.balance(cx, index, leader);
        }
        self.arm_period(cx, n);
        true
    }

    /// Who has to be placed anew now that `cpu` is off: its next task, and those in queues of
    /// groups of which all CPUs are off.
    pub(super) fn goes_off(&mut self, cx: &mut Context, cpu: CpuId) -> Vec<TaskId> {
        self.state.idle.remove(cpu);
        self.armed[cpu.index()] = false;
        let mut tasks: Vec<TaskId> = self.state.cpus[cpu.index()].next.take().into_iter().collect();
        for (queue, per) in self.per.iter().enumerate() {
            let group = self.state.tree.group(*per, cpu);
            let mut members = self.state.tree.members(*per, group).iter();
            if !members.any(|&cpu| cx.online.contains(cpu)) {
                let waiting = self.state.queues[queue][group].iter();
                tasks.extend(waiting.map(|entry| TaskId::nth(entry.task as usize)));
            }
        }
        for &task in &tasks {
            self.state.remove(task, false);
            self.step(cx, cpu, Note::LEFT, Some(task));
        }
        tasks
    }

    /// `task`, which waits, leaves wherever it is. Whether it was here.
    pub(super) fn leave(&mut self, cx: &mut Context, task: TaskId) -> bool {
        let next = self.state.cpus.iter_mut().find(|cpu| cpu.next == Some(task));
        if let Some(cpu) = next {
            cpu.next = None;
            return true;
        }
        let waits = self.state.task(task).at.is_some();
        if waits {
            self.state.remove(task, false);
            self.step(cx, cx.task(task).cpu, Note::LEFT, Some(task));
        }
        waits
    }
}

/// The group whose queue `cpu` takes from.
fn queue_of(
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
