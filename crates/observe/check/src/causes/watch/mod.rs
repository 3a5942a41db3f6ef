//! The part of the observer of waste that assigns causes.

mod balance;
mod onset;

use std::collections::BTreeMap;

use wastenot_model::machine::Hops;
use wastenot_model::{
    Change, CpuId, CpuMode, CpuState, Event, History, NameId, Origin, Phase, Prio, SchedClass,
    Span, State, TaskId, TaskState, Time, Window,
};

use self::balance::{Failure, Intervals, Left, Way};
use super::charge::Charges;
use super::idle::IdleOrder;
use super::passes::Passes;
use super::{Ahead, Balancing, Causes, Evidence, LostTime, Onset, Rules, Stretch, cause_of};
use crate::interrupts::Occupied;
use crate::matching::{Class, Matching};
use crate::{Movable, Options, Scope, stolen};

/// A stretch of waste that is charged to a task, as it began.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: Time,
    /// Where the task waits.
    cpu: CpuId,
    /// The CPU that it may use and that has been idle longest.
    idle: Option<CpuId>,
    /// On all CPUs that it may use and that are idle, tasks of its cgroup are held back.
    held: bool,
    /// Until then no other CPU that it may use was idle; told only where interrupts are.
    alone: Time,
    failure: Failure,
}

/// A stretch of which it is known when a CPU stops being idle whether balancing failed.
#[derive(Clone, Copy, Debug)]
struct Pending {
    evidence: Evidence,
    stretch: Stretch,
    needed: Span,
    how: Balancing,
}

/// Assigns causes.
#[derive(Debug)]
pub struct Watch<'a> {
    history: &'a History,
    scope: &'a Scope,
    movable: &'a Movable,
    rules: Rules,
    charges: Charges,
    /// Newly charged tasks, whose piece begins when time passes next.
    fresh: Vec<TaskId>,
    /// By task: the piece that is open.
    pieces: Vec<Option<Piece>>,
    /// The tasks of which one is open: as many as there is waste now.
    open: Vec<TaskId>,
    /// By CPU: the number of pieces that name it as idle.
    named: Vec<u32>,
    /// By idle CPU.
    pending: Vec<Vec<Pending>>,
    /// By idle CPU: when it first was idle beside waste.
    first: Vec<Time>,
    /// By idle CPU: whether a task that it might have taken waited within one hop.
    near: Vec<bool>,
    /// From where to where balancing failed, and no task has moved since; and how it failed.
    failing: BTreeMap<Way, Balancing>,
    /// From where to where tasks moved, and when one did last.
    moved: BTreeMap<Way, Time>,
    /// By task.
    left: Vec<Left>,
    /// By task: how the queue where it waits came to be too long.
    onsets: Vec<Onset>,
    /// By CPU: whether a task waits there since the one that runs woke it.
    behind_waker: Vec<bool>,
    /// By task: whether its priority is above those of the fair class.
    is_real_time: Vec<bool>,
    /// By CPU: the last task that left it idle.
    last: Vec<TaskId>,
    idle: IdleOrder,
    /// Balancing passes, where the source tells them.
    passes: Option<Passes>,
    /// For how long there was waste so far.
    wasted: Span,
    /// A CPU came online, and no task has moved between nodes since.
    replugged: bool,
    hops: Hops,
    /// By task: its cgroup or session, where known.
    groups: Vec<Option<NameId>>,
    /// By task that a quota holds back: where, and its cgroup; and how many there are of each.
    held_on: BTreeMap<TaskId, (CpuId, NameId)>,
    held: BTreeMap<(CpuId, NameId), u32>,
    /// By CPU: what runs there.
    ahead: Vec<Ahead>,
    intervals: Intervals,
    grace: Span,
    marks: bool,
    stolen: BTreeMap<CpuId, Vec<(Window, u64)>>,
    interrupts: Option<Occupied<'a>>,
    idle_states: Option<Occupied<'a>>,
    found: Causes,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(
        history: &'a History,
        scope: &'a Scope,
        movable: &'a Movable,
        options: &Options,
        classes: usize,
    ) -> Watch<'a> {
        let (cpus, tasks) = (history.cpu_count(), history.task_count());
        let mut stolen: BTreeMap<CpuId, Vec<(Window, u64)>> = BTreeMap::new();
        for (cpu, window, ns) in stolen::seconds(history, scope.window) {
            stolen.entry(cpu).or_default().push((window, ns));
        }
        let rules = if options.shared_queue { Rules::Policy } else { Rules::of(history) };
        let fair = rules == Rules::Fair;
        Watch {
            history,
            scope,
            movable,
            rules,
            passes: fair.then(|| Passes::of(history)).flatten(),
            charges: Charges::new(classes, tasks),
            fresh: Vec::new(),
            pieces: vec![None; tasks],
            open: Vec::new(),
            named: vec![0; cpus],
            pending: vec![Vec::new(); cpus],
            first: vec![Time::MAX; cpus],
            near: vec![false; cpus],
            failing: BTreeMap::new(),
            moved: BTreeMap::new(),
            left: vec![Left::default(); tasks],
            onsets: vec![Onset::Unknown; tasks],
            behind_waker: vec![false; cpus],
            is_real_time: vec![false; tasks],
            last: (0..cpus).map(|cpu| TaskId(cpu as u32)).collect(),
            idle: IdleOrder::new(cpus),
            wasted: Span::ZERO,
            replugged: false,
            hops: Hops::of(&history.head.machine),
            groups: vec![None; tasks],
            held_on: BTreeMap::new(),
            held: BTreeMap::new(),
            ahead: vec![Ahead::Peer; cpus],
            intervals: Intervals::new(&history.head.machine),
            grace: options.wake_grace,
            marks: options.marks || options.waits_in_vain || options.of_cause.is_some(),
            stolen,
            interrupts: Occupied::by_interrupts(history),
            idle_states: Occupied::by_idle_states(history),
            found: Causes::default(),
        }
    }

    /// What was found, once the replay has ended.
    pub(crate) fn finish(self) -> Causes {
        self.found
    }

    /// `task`, which waits as in `known`, is a candidate.
    #[inline]
    pub(crate) fn begin(&mut self, task: TaskId, known: &TaskState, class: Class) {
        if self.charges.insert(task, class, known.since) {
            self.fresh.push(task);
        }
    }

    /// `task` is no candidate any more.
    #[inline]
    pub(crate) fn end(&mut self, task: TaskId, now: Time) {
        if self.charges.remove(task) {
            self.close(task, now);
        }
    }

    /// Brings the charged tasks up to what holds now: as many of each class as `matching` has
    /// pairs, `waste` in all.
    #[inline]
    pub(crate) fn settle(&mut self, state: &State, matching: &Matching, waste: u32, now: Time) {
        if waste == 0 && !self.charges.any() {
            self.fresh.clear();
            return;
        }
        let mut beyond = matching.size() - waste;
        for class in (0..matching.classes()).rev() {
            let pairs = matching.pairs(class);
            let less = beyond.min(pairs);
            beyond -= less;
            if pairs - less == self.charges.count(class) {
                continue;
            }
            let mut ended: Vec<TaskId> = Vec::new();
            self.charges.settle(class, pairs - less, |task, charged| match charged {
                true => self.fresh.push(task),
                false => ended.push(task),
            });
            ended.into_iter().for_each(|task| self.close(task, now));
        }
        while let Some(task) = self.fresh.pop() {
            self.open(state, task, now);
        }
    }

    /// Whether [`Watch::settle`] has something to do, though the matching did not change.
    #[inline]
    pub(crate) fn is_stale(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Time passes from `from` to `to` while all stays as it is: what do the passes then leave?
    #[inline]
    pub(crate) fn held(&mut self, state: &State, from: Time, to: Time) {
        if self.passes.is_some() {
            self.look(state, from, to);
        }
    }

    /// For so long there was waste.
    #[inline]
    pub(crate) fn wasted(&mut self, span: Span) {
        self.wasted += span;
    }

    /// `cpu` is idle from now on, or is not, as far as it counts.
    #[inline]
    pub(crate) fn set_idle(&mut self, cpu: CpuId, idle: bool, now: Time) {
        if !idle && self.named[cpu.index()] > 0 {
            self.begin_anew_where(now, |_, piece| piece.idle == Some(cpu));
        }
        if !idle {
            self.resolve(cpu, now);
        } else if self.interrupts.is_some() && self.idle.before(cpu).is_none() {
            for task in &self.open {
                let piece = self.pieces[task.ordinal()].iter_mut();
                piece.for_each(|piece| piece.alone = piece.alone.min(now));
            }
        }
        self.near[cpu.index()] = false;
        self.first[cpu.index()] = Time::MAX;
        self.idle.set(cpu, idle, self.wasted);
    }

    /// The History ended.
    pub(crate) fn end_all(&mut self, now: Time) {
        while let Some(&task) = self.open.last() {
            self.close(task, now);
        }
        for cpu in 0..self.pending.len() {
            self.resolve(CpuId(cpu as u16), now);
        }
    }

    /// A CPU took this long to start `task`.
    pub(crate) fn wake_delay(
        &mut self,
        cpu: CpuId,
        task: TaskId,
        window: Window,
        possibly_throttled: bool,
    ) {
        let rules = self.rules;
        let evidence = Evidence { rules, possibly_throttled, ..Evidence::of(LostTime::WakeDelay) };
        let whole = Stretch::new(window, task, cpu);
        let stretch = self.charge_interrupts(&evidence, Some(cpu), window.to, whole);
        let over_grace = stretch.ns > self.grace.0;
        let evidence = Evidence { over_grace, ..evidence };
        let stolen = if over_grace { self.take_stolen(cpu, window, stretch.ns) } else { 0 };
        self.charge(&Evidence { stolen: true, ..evidence }, Stretch { ns: stolen, ..stretch });
        let rest = stretch.ns - stolen;
        let within = |it: &Occupied| it.within(cpu, window).min(rest);
        let idle = self.idle_states.as_ref().map_or(0, within);
        self.charge(&Evidence { in_idle_state: true, ..evidence }, Stretch { ns: idle, ..stretch });
        let left = Stretch { ns: rest - idle, ..stretch };
        self.charge(&Evidence { over_grace: left.ns > self.grace.0, ..evidence }, left);
    }

    /// The event was applied. Frequent kinds are told apart here, where the kind is known: then no
    /// event need be in memory.
    #[inline(always)]
    pub(crate) fn event(&mut self, state: &State, event: Event) {
        match event {
            Event::Switch { cpu, prev, next, left, prev_prio, next_prio } => {
                self.learn(prev, prev_prio);
                self.learn(next, next_prio);
                self.switched(state, cpu, (prev, left.is_runnable()), next);
            }
            Event::Queued { task, on, how, prio } => {
                self.learn(task, prio);
                self.queued(state, task, on, how);
            }
            Event::Waking { .. } => {}
            event => self.rare(state, &event),
        }
    }

    /// `cpu` runs `next` now. Beside who left it is whether it wants to run on.
    #[inline(never)]
    fn switched(
        &mut self,
        state: &State,
        cpu: CpuId,
        (prev, runnable): (TaskId, bool),
        next: TaskId,
    ) {
        if next.is_idle() {
            self.last[cpu.index()] = prev;
        }
        if prev.is_idle() {
            self.overtaken(state, cpu, next);
        } else if runnable {
            self.take_over(prev, next);
        }
        self.set_ahead(state, cpu, next);
        if std::mem::take(&mut self.behind_waker[cpu.index()]) {
            self.waker_left(state, cpu);
        }
    }

    #[inline(never)]
    fn learn(&mut self, task: TaskId, prio: Prio) {
        if let (Some(index), Some(prio)) = (task.index(), prio.0) {
            self.is_real_time[index] = prio < 100; // MAX_RT_PRIO, include/linux/sched/prio.h
        }
    }

    /// `next` runs on `cpu` from now on.
    fn set_ahead(&mut self, state: &State, cpu: CpuId, next: TaskId) {
        let ahead = match next.index() {
            Some(index) if self.is_real_time[index] => Ahead::HigherClass,
            Some(_) if self.is_pinned(state, next) => Ahead::Pinned,
            _ => Ahead::Peer,
        };
        if self.ahead[cpu.index()] == ahead {
            return;
        }
        let charged = state.waiting(cpu).filter(|task| self.charges.is_charged(*task));
        let charged: Vec<TaskId> = charged.collect();
        charged.into_iter().for_each(|task| self.begin_anew(task, state.now()));
        self.ahead[cpu.index()] = ahead;
    }

    fn is_pinned(&self, state: &State, task: TaskId) -> bool {
        if self.movable.is_told() {
            let mask = state.task(task).mask.and_then(|mask| self.history.mask(mask));
            return mask.is_some_and(|mask| mask.len() == 1);
        }
        self.movable.pinned(task).is_some()
    }

    /// The charged `task` has a piece from now on.
    fn open(&mut self, state: &State, task: TaskId, now: Time) {
        let Some(index) = task.index().filter(|_| self.charges.is_charged(task)) else { return };
        if self.pieces[index].is_some() {
            return;
        }
        let known = state.task(task);
        let Some(cpu) = known.cpu else { return };
        if known.origin == Origin::Released {
            self.onsets[index] = Onset::Unknown; // no row queued it
        }
        self.open.push(task);
        self.pieces[index] = Some(self.piece(state, task, (cpu, known.since), now));
    }

    /// An event that is neither a switch nor a wakeup.
    fn rare(&mut self, state: &State, event: &Event) {
        let now = state.now();
        match *event {
            // What was lost may have begun any wait anew, and ended what quotas held back.
            Event::Lost { .. } => {
                self.onsets.fill(Onset::Unknown);
                self.release_all(now);
            }
            Event::Cpu { up, .. } => {
                self.replugged |= up;
                if let Some(passes) = &mut self.passes {
                    passes.advance(now);
                }
            }
            Event::Migrate { task, from, to } => {
                self.moves(from, to, now);
                self.not_behind_waker(task, now);
            }
            Event::Changed { task, what: Change::Throttled(on) } => self.hold(state, task, on),
            Event::Changed { task, what: Change::Policy(policy) } => {
                if let Some(index) = task.index() {
                    self.is_real_time[index] = SchedClass::of(policy).is_above_fair();
                }
                let known = state.task(task);
                if let (Phase::Running, Some(cpu)) = (known.phase, known.cpu) {
                    self.set_ahead(state, cpu, task);
                }
            }
            Event::Changed { task, what: Change::Cgroup(group) } => {
                if let Some(index) = task.index() {
                    self.groups[index] = Some(group);
                }
            }
            _ => {}
        }
    }

    /// What is known of the charged `task` changes.
    fn begin_anew(&mut self, task: TaskId, now: Time) {
        self.close(task, now);
        self.fresh.push(task);
    }

    /// The same of all charged tasks with such a piece.
    fn begin_anew_where(&mut self, now: Time, is: impl Fn(&Self, &Piece) -> bool) {
        let such = |task: &TaskId| {
            self.pieces[task.ordinal()].as_ref().is_some_and(|piece| is(self, piece))
        };
        let tasks: Vec<TaskId> = self.open.iter().copied().filter(such).collect();
        tasks.into_iter().for_each(|task| self.begin_anew(task, now));
    }

    fn close(&mut self, task: TaskId, now: Time) {
        let Some(piece) = task.index().and_then(|index| self.pieces[index].take()) else { return };
        self.open.retain(|it| *it != task);
        if let Some(idle) = piece.idle {
            self.named[idle.index()] -= 1;
        }
        let turns = piece.failure.acts.clamp(piece.from, now);
        self.add(task, piece, Window { from: piece.from, to: turns }, false);
        self.add(task, piece, Window { from: turns, to: now }, true);
    }

    /// Adds a part of `piece`, in which balancing should have acted or not.
    fn add(&mut self, task: TaskId, piece: Piece, window: Window, acts: bool) {
        let Some((from, to)) = self.scope.window.clip(window.from, window.to) else { return };
        let Some(index) = task.index() else { return };
        let ahead = match self.ahead[piece.cpu.index()] {
            Ahead::HigherClass if self.is_real_time[index] => Ahead::Peer,
            ahead => ahead,
        };
        let onset = self.onsets[index];
        let (rules, held) = (self.rules, piece.held);
        let evidence = Evidence { onset, ahead, rules, held, ..Evidence::of(LostTime::Waste) };
        let whole = Stretch::new(Window { from, to }, task, piece.cpu);
        let alone = piece.alone.clamp(from, to);
        let stretch = self.charge_interrupts(&evidence, piece.idle, alone, whole);
        let Piece { idle, failure: Failure { needed, how, .. }, .. } = piece;
        if let (true, Some(cpu), Some(needed)) = (acts, idle, needed) {
            self.pending[cpu.index()].push(Pending { evidence, stretch, needed, how });
            return;
        }
        let balancing = if acts && idle.is_some() { how } else { Balancing::Pending };
        self.charge(&Evidence { balancing, ..evidence }, stretch);
    }

    /// Charges what of `stretch`, before `until`, was lost because the `idle` CPU served
    /// interrupts; the rest is returned.
    fn charge_interrupts(
        &mut self,
        known: &Evidence,
        idle: Option<CpuId>,
        until: Time,
        stretch: Stretch,
    ) -> Stretch {
        let window = Window { from: stretch.window.from, to: until };
        let within = |(cpu, interrupts): (CpuId, &Occupied)| interrupts.within(cpu, window);
        let ns = idle.zip(self.interrupts.as_ref()).map_or(0, within);
        self.charge(&Evidence { interrupted: true, ..*known }, Stretch { window, ns, ..stretch });
        Stretch { ns: stretch.ns - ns, ..stretch }
    }

    /// The stretch has the cause for which there is this evidence.
    fn charge(&mut self, evidence: &Evidence, stretch: Stretch) {
        if stretch.ns == 0 {
            return;
        }
        let (cause, loss) = (cause_of(evidence), evidence.loss);
        self.found.add(cause, loss, stretch.ns, Some(stretch));
        if self.marks {
            self.found.stretches.push((cause, loss, stretch));
        }
    }

    /// Takes from what the hypervisor took of `cpu` what lies in `window`, `most` of it at most:
    /// none of it twice.
    fn take_stolen(&mut self, cpu: CpuId, window: Window, most: u64) -> u64 {
        let seconds = self.stolen.get_mut(&cpu);
        seconds.into_iter().flatten().fold(0, |all, (second, left)| {
            let common = second.clip(window.from, window.to).map_or(0, |(from, to)| to.0 - from.0);
            let taken = common.min(*left).min(most - all);
            *left -= taken;
            all + taken
        })
    }

    /// What a CPU runs where no switch says it: at the start, and after a loss.
    #[inline]
    pub(crate) fn cpu(&mut self, state: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        if let (false, CpuMode::Busy(task)) = (was.is_busy(), now.mode) {
            self.set_ahead(state, cpu, task);
        }
    }
}
