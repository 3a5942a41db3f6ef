//! The part of the observer of waste that assigns causes.

use std::collections::BTreeMap;

use wastenot_model::machine::Hops;
use wastenot_model::{
    Change, Context, CpuId, CpuMode, CpuSet, CpuState, Distance, Entry, Event, History, How,
    Machine, NameId, Origin, Prio, Span, State, TaskId, TaskState, Time, Window,
};

use super::charge::Charges;
use super::evidence::begins_now;
use super::idle::IdleOrder;
use super::{Ahead, Balancing, Causes, Evidence, Loss, Onset, Rules, Stretch, cause_of};
use crate::matching::{Class, Matching};
use crate::placements::Landing;
use crate::{Movable, Options, Scope, stolen};

/// A stretch of waste that is charged to a task, as it began.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: Time,
    /// Where the task waits.
    cpu: CpuId,
    /// The CPU that it may use and that has been idle longest.
    idle: Option<CpuId>,
    /// From then on balancing should have acted: while this CPU was idle there was waste for as
    /// long as a pass takes at most.
    acts: Time,
    /// So long there has to be waste while it is idle until balancing surely has failed.
    needed: Span,
    /// How it failed, if it has.
    failed: Balancing,
}

/// A stretch of which it is known when a CPU stops being idle whether balancing failed.
#[derive(Clone, Copy, Debug)]
struct Pending {
    evidence: Evidence,
    stretch: Stretch,
    needed: Span,
    failed: Balancing,
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
    /// By task: how the queue where it waits came to be too long.
    onsets: Vec<Onset>,
    /// By CPU: whether a task waits there since the one that runs woke it.
    behind_waker: Vec<bool>,
    /// By task: whether its priority is above those of the fair class.
    is_real_time: Vec<bool>,
    idle: IdleOrder,
    /// For how long there was waste so far.
    wasted: Span,
    /// A CPU came online, and no task has moved between nodes since.
    replugged: bool,
    hops: Hops,
    /// By task: its cgroup or session, where known.
    groups: Vec<Option<NameId>>,
    /// By CPU: what runs there.
    ahead: Vec<Ahead>,
    intervals: Intervals,
    grace: Span,
    marks: bool,
    stolen: BTreeMap<CpuId, Vec<(Window, u64)>>,
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
        Watch {
            history,
            scope,
            movable,
            rules: if options.shared_queue { Rules::Policy } else { Rules::of(history) },
            charges: Charges::new(classes, tasks),
            fresh: Vec::new(),
            pieces: vec![None; tasks],
            open: Vec::new(),
            named: vec![0; cpus],
            pending: vec![Vec::new(); cpus],
            first: vec![Time::MAX; cpus],
            near: vec![false; cpus],
            onsets: vec![Onset::Unknown; tasks],
            behind_waker: vec![false; cpus],
            is_real_time: vec![false; tasks],
            idle: IdleOrder::new(cpus),
            wasted: Span::ZERO,
            replugged: false,
            hops: Hops::of(&history.head.machine),
            groups: vec![None; tasks],
            ahead: vec![Ahead::Peer; cpus],
            intervals: Intervals::new(&history.head.machine),
            grace: options.wake_grace,
            marks: options.marks || options.of_cause.is_some(),
            stolen,
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

    /// For so long there was waste.
    #[inline]
    pub(crate) fn wasted(&mut self, span: Span) {
        self.wasted += span;
    }

    /// `cpu` is idle from now on, or is not, as far as it counts.
    #[inline]
    pub(crate) fn set_idle(&mut self, cpu: CpuId, idle: bool, now: Time) {
        if !idle && self.named[cpu.index()] > 0 {
            let names = |task: &TaskId| {
                self.pieces[task.ordinal()].is_some_and(|piece| piece.idle == Some(cpu))
            };
            let tasks: Vec<TaskId> = self.open.iter().copied().filter(names).collect();
            tasks.into_iter().for_each(|task| self.begin_anew(task, now));
        }
        if !idle {
            self.resolve(cpu, now);
        }
        self.near[cpu.index()] = false;
        self.first[cpu.index()] = Time::MAX;
        self.idle.set(cpu, idle, self.wasted);
    }

    /// `cpu` stops being idle, or the History ends.
    fn resolve(&mut self, cpu: CpuId, now: Time) {
        if self.pending[cpu.index()].is_empty() {
            return;
        }
        let seen = self.seen(cpu);
        for it in std::mem::take(&mut self.pending[cpu.index()]) {
            let often = seen.0 >= now.since(self.first[cpu.index()]).0 / 2;
            let balancing = match it.failed {
                _ if seen < it.needed || !often => Balancing::Pending,
                Balancing::FailedBeyondOneHop if self.near[cpu.index()] => Balancing::Failed,
                failed => failed,
            };
            self.charge(
                &Evidence { balancing, ..it.evidence },
                it.stretch.window.span().0,
                it.stretch,
            );
        }
    }

    /// For how long there was waste while `cpu` was idle.
    fn seen(&self, cpu: CpuId) -> Span {
        self.idle.before(cpu).map_or(Span::ZERO, |before| Span(self.wasted.0 - before.0))
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

    /// A CPU took this long to start `task`: in all, and of that what counts.
    pub(crate) fn wake_delay(
        &mut self,
        cpu: CpuId,
        task: TaskId,
        (whole, window): (Window, Window),
        possibly_throttled: bool,
    ) {
        let length = window.span();
        let over_grace = whole.span() > self.grace;
        let evidence = Evidence {
            rules: self.rules,
            over_grace,
            possibly_throttled,
            ..Evidence::of(Loss::WakeDelay)
        };
        let stolen = if over_grace { self.take_stolen(cpu, window) } else { 0 };
        let stretch = Stretch { window, task, cpu };
        if stolen > 0 {
            self.charge(&Evidence { stolen: true, ..evidence }, stolen, stretch);
        }
        if length.0 > stolen {
            self.charge(&evidence, length.0 - stolen, stretch);
        }
    }

    /// The event was applied.
    #[inline]
    pub(crate) fn event(&mut self, state: &State, entry: &Entry) {
        match entry.event {
            Event::Switch { cpu, prev, next, left, prev_prio, next_prio } => {
                self.learn(prev, prev_prio);
                self.learn(next, next_prio);
                if prev.is_idle() {
                    self.overtaken(state, cpu, next);
                } else if left.is_runnable() {
                    self.take_over(prev, next);
                }
                self.set_ahead(state, cpu, next);
                if std::mem::take(&mut self.behind_waker[cpu.index()]) {
                    self.waker_left(state, cpu);
                }
            }
            Event::Queued { task, on, how, prio } => {
                self.learn(task, prio);
                self.queued(state, task, on, how);
            }
            event => self.rare(&event),
        }
    }

    fn learn(&mut self, task: TaskId, prio: Prio) {
        if let (Some(index), Some(prio)) = (task.index(), prio.0) {
            self.is_real_time[index] = prio < 100; // MAX_RT_PRIO, include/linux/sched/prio.h
        }
    }

    /// `prev` waits since `next` runs in its place: the queue is as long as it is for the reason
    /// for which `next` waited.
    fn take_over(&mut self, prev: TaskId, next: TaskId) {
        if let (Some(prev), Some(next)) = (prev.index(), next.index()) {
            self.onsets[prev] = self.onsets[next];
        }
    }

    /// The task that woke others onto its own `cpu` left it: from now on they wait for another
    /// reason.
    fn waker_left(&mut self, state: &State, cpu: CpuId) {
        let behind = |task: &TaskId| self.onsets[task.ordinal()] == Onset::BehindWaker;
        let tasks: Vec<TaskId> = state.waiting(cpu).filter(behind).collect();
        for task in tasks {
            if self.charges.is_charged(task) {
                self.begin_anew(task, state.now());
            }
            self.onsets[task.ordinal()] = Onset::SomeIdle;
        }
    }

    /// `next` was started before others that had been put on the idle `cpu`: it made the queue too
    /// long, not they.
    fn overtaken(&mut self, state: &State, cpu: CpuId, next: TaskId) {
        for task in state.waiting(cpu) {
            if let (Some(index), Some(next)) = (task.index(), next.index())
                && self.onsets[index] == Onset::OnIdle
            {
                self.onsets[index] = self.onsets[next];
            }
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

    fn queued(&mut self, state: &State, task: TaskId, on: Option<CpuId>, how: How) {
        let Some(index) = task.index() else { return };
        let known = state.task(task);
        if !begins_now(&known, state.now()) {
            return;
        }
        self.onsets[index] = match on {
            Some(cpu) => self.onset(state, task, &known, cpu, how),
            None => Onset::Unknown,
        };
        if let (Some(cpu), Onset::BehindWaker) = (on, self.onsets[index]) {
            self.behind_waker[cpu.index()] = true;
        }
    }

    fn onset(&self, state: &State, task: TaskId, known: &TaskState, cpu: CpuId, how: How) -> Onset {
        let idle = || self.idle.iter();
        let landing = Landing::of(self.history, self.movable, state, task, cpu, idle);
        let previous = match landing {
            Landing::Unknown => return Onset::Unknown,
            Landing::OnIdle => return Onset::OnIdle,
            Landing::NoneIdle => return Onset::AllBusy,
            Landing::SomeIdle { previous } => previous,
        };
        let waker = known.waker.task.filter(|_| known.waker.context == Context::Task);
        let behind_waker = waker.is_some_and(|waker| state.cpu(cpu).mode == CpuMode::Busy(waker));
        let mask = known.mask.and_then(|mask| self.history.mask(mask));
        let mut allowed = idle().filter(|cpu| mask.is_none_or(|mask| mask.contains(*cpu)));
        let machine = &self.history.head.machine;
        let known_cache = machine.cpu(cpu).is_some_and(|cpu| cpu.llc.is_some());
        let elsewhere = |other| match machine.distance(cpu, other) {
            Distance::Other => true,
            Distance::Node => known_cache,
            _ => false,
        };
        match how {
            How::NoSelection => Onset::NoSelection,
            How::New => Onset::Fork,
            How::Wakeup if previous => Onset::PreviousIdle,
            How::Wakeup if behind_waker => Onset::BehindWaker,
            How::Wakeup if allowed.all(elsewhere) => Onset::OtherCache,
            How::Wakeup => Onset::SomeIdle,
        }
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
        let mask = known.mask.and_then(|mask| self.history.mask(mask));
        let allowed = |cpu: CpuId| mask.is_none_or(|mask: &CpuSet| mask.contains(cpu));
        let longest = self.idle.iter().find(|cpu| allowed(*cpu));
        let (mut acts, mut needed) = (Time::MAX, Span(u64::MAX));
        let mut failed = Balancing::Failed;
        if let Some(idle) = longest {
            let interval = self.intervals.between(&self.history.head.machine, cpu, idle);
            needed = interval * PASSES;
            acts = now + Span(interval.0.saturating_sub(self.seen(idle).0));
            failed = self.blindness(state, task, cpu, idle);
            let first = &mut self.first[idle.index()];
            *first = now.min(*first);
            self.near[idle.index()] |= self.hops_between(cpu, idle).is_some_and(|hops| hops < 2);
            self.named[idle.index()] += 1;
        }
        self.open.push(task);
        self.pieces[index] = Some(Piece { from: now, cpu, idle: longest, acts, needed, failed });
    }

    fn node(&self, cpu: CpuId) -> Option<usize> {
        Some(self.history.head.machine.cpu(cpu)?.node? as usize)
    }

    fn hops_between(&self, a: CpuId, b: CpuId) -> Option<u32> {
        self.hops.between(self.node(a)?, self.node(b)?)
    }

    /// What balancing of the `idle` CPU cannot see of `task` on `cpu`, should it fail.
    fn blindness(&self, state: &State, task: TaskId, cpu: CpuId, idle: CpuId) -> Balancing {
        let (there, here) = (self.node(cpu), self.node(idle));
        if there.is_none() || here.is_none() {
            return Balancing::Failed;
        }
        let within_one_hop = |cpu: CpuId| {
            let known = state.cpu(cpu);
            let waits = known.is_busy() && known.waiting > 0;
            waits && self.hops_between(cpu, idle).is_none_or(|hops| hops < 2)
        };
        let group = self.groups[task.ordinal()];
        let of_other_group = |cpu: CpuId| match state.cpu(cpu).mode {
            CpuMode::Busy(other) => other.index().is_some_and(|other| {
                self.groups[other].zip(group).is_some_and(|(other, group)| other != group)
            }),
            _ => false,
        };
        if self.replugged && there != here {
            Balancing::FailedAfterHotplug
        } else if self.hops_between(cpu, idle) > Some(1) && !self.scope.cpus().any(within_one_hop) {
            Balancing::FailedBeyondOneHop
        } else if self.scope.cpus().any(|cpu| self.node(cpu) == here && of_other_group(cpu)) {
            Balancing::FailedBesideGroup
        } else {
            Balancing::Failed
        }
    }

    /// A task moves between nodes, or the number of CPUs changes.
    fn rare(&mut self, event: &Event) {
        match *event {
            // What was lost may have begun any wait anew.
            Event::Lost { .. } => self.onsets.fill(Onset::Unknown),
            Event::Cpu { up: true, .. } => self.replugged = true,
            // A move from a place that the source does not tell may be one between nodes.
            Event::Migrate { from, to, .. }
                if from.is_none_or(|from| self.node(from) != self.node(to)) =>
            {
                self.replugged = false;
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

    fn close(&mut self, task: TaskId, now: Time) {
        let Some(piece) = task.index().and_then(|index| self.pieces[index].take()) else { return };
        self.open.retain(|it| *it != task);
        if let Some(idle) = piece.idle {
            self.named[idle.index()] -= 1;
        }
        let turns = piece.acts.clamp(piece.from, now);
        self.add(task, piece, Window { from: piece.from, to: turns }, None);
        self.add(task, piece, Window { from: turns, to: now }, piece.idle);
    }

    /// Adds a part of `piece`; `idle` is the CPU for which balancing should have acted in it.
    fn add(&mut self, task: TaskId, piece: Piece, window: Window, idle: Option<CpuId>) {
        let Some((from, to)) = self.scope.window.clip(window.from, window.to) else { return };
        let Some(index) = task.index() else { return };
        let ahead = match self.ahead[piece.cpu.index()] {
            Ahead::HigherClass if self.is_real_time[index] => Ahead::Peer,
            ahead => ahead,
        };
        let onset = self.onsets[index];
        let evidence = Evidence { onset, ahead, rules: self.rules, ..Evidence::of(Loss::Waste) };
        let stretch = Stretch { window: Window { from, to }, task, cpu: piece.cpu };
        match idle {
            Some(cpu) => {
                let Piece { needed, failed, .. } = piece;
                let pending = Pending { evidence, stretch, needed, failed };
                self.pending[cpu.index()].push(pending);
            }
            None => self.charge(&evidence, stretch.window.span().0, stretch),
        }
    }

    /// `ns` of `stretch` have the cause for which there is this evidence.
    fn charge(&mut self, evidence: &Evidence, ns: u64, stretch: Stretch) {
        let (cause, loss) = (cause_of(evidence), evidence.loss);
        self.found.add(cause, loss, ns, Some(stretch));
        if self.marks && ns > 0 {
            self.found.stretches.push((cause, loss, stretch));
        }
    }

    /// Takes from what the hypervisor took of `cpu` what lies in `window`: none of it twice.
    fn take_stolen(&mut self, cpu: CpuId, window: Window) -> u64 {
        let seconds = self.stolen.get_mut(&cpu);
        seconds.into_iter().flatten().fold(0, |all, (second, left)| {
            let common = second.clip(window.from, window.to).map_or(0, |(from, to)| to.0 - from.0);
            let taken = common.min(*left);
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

/// How long an idle CPU may take until it has surely balanced.
#[derive(Debug)]
struct Intervals {
    /// By CPU and [`Distance`].
    cpus: Vec<[Span; Distance::ALL.len()]>,
}

/// A CPU that was idle beside waste for so many intervals has balanced so often without success:
/// after `cache_nice_tries + 2` failures, 4 between nodes, the kernel itself regards balancing as
/// stuck and pushes a running task (`need_active_balance`, kernel/sched/fair.c).
const PASSES: u64 = 4;

/// A tick at the lowest usual rate, `HZ=250`: the pass of idle CPUs is started by one.
const TICK: Span = Span::ms(4);

impl Intervals {
    fn new(machine: &Machine) -> Intervals {
        let all = machine.len();
        let of = |cpu: CpuId| {
            let sharing = |key: fn(&wastenot_model::Cpu) -> Option<u32>| {
                let known = machine.cpu(cpu).and_then(key).is_some();
                interval(if known { machine.sharing(cpu, key).len() } else { all })
            };
            let (core, llc, node) =
                (sharing(|it| it.core), sharing(|it| it.llc), sharing(|it| it.node));
            [Span::ZERO, core, llc, node, interval(all), interval(all)]
        };
        Intervals { cpus: (0..machine.len()).map(|cpu| of(CpuId(cpu as u16))).collect() }
    }

    fn between(&self, machine: &Machine, a: CpuId, b: CpuId) -> Span {
        self.cpus[a.index()][machine.distance(a, b) as usize]
    }
}

/// How long an idle CPU lets pass at most between two balancing passes in a domain of `cpus` CPUs.
/// `get_sd_balance_interval` (kernel/sched/fair.c): as many milliseconds as the domain has CPUs,
/// doubled after a pass that found nothing; and a tick until the pass starts.
fn interval(cpus: usize) -> Span {
    Span::ms(2 * cpus as u64) + TICK
}
