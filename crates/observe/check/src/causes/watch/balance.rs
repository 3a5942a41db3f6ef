//! Whether balancing should have ended a wait, and why it did not.

use std::collections::BTreeSet;

use wastenot_model::{CpuId, CpuMode, Distance, Machine, Span, State, TaskId, Time};

use super::{Piece, Watch};
use crate::causes::evidence::{Balancing, Evidence};
use crate::causes::passes::{Pass, Sight};

/// The passes that left a task where it waits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Left {
    /// Since when it waits, and where.
    since: Time,
    on: Option<CpuId>,
    /// The first of them.
    first: Option<Time>,
    /// How many were due after a tick.
    passes: u32,
    /// Why they left it, where one shows it.
    why: Option<Balancing>,
}

impl Left {
    /// Another one at `time`, which `failed` so.
    fn add(&mut self, failed: Balancing, time: Time, periodic: bool) {
        self.first.get_or_insert(time);
        self.passes += u32::from(periodic);
        if failed != Balancing::Failed {
            self.why.get_or_insert(failed);
        }
    }
    /// From when on balancing surely failed, and how.
    fn failed(&self) -> Option<(Time, Balancing)> {
        match self.why {
            None if u64::from(self.passes) < PASSES => None,
            why => Some((self.first?, why.unwrap_or(Balancing::Failed))),
        }
    }
}

/// From when on balancing has failed to end a wait, if it has, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    /// A pass left the task, or there was waste for as long as a pass takes at most while the CPU
    /// was idle.
    pub(super) acts: Time,
    /// So long there has to be waste while the CPU is idle until balancing surely has failed;
    /// `None` where passes show whether it has.
    pub(super) needed: Option<Span>,
    pub(super) how: Balancing,
}

impl Failure {
    /// No CPU is idle.
    const NONE: Failure = Failure { acts: Time::MAX, needed: None, how: Balancing::Failed };

    /// The same, after passes `left` the task, of a piece from `from` on: what they show goes
    /// before what was inferred.
    fn after(self, left: &Left, from: Time) -> Failure {
        let open = matches!(self.how, Balancing::NoPass | Balancing::Failed);
        match left.failed() {
            Some((acts, how)) if open || self.needed.is_some() => {
                Failure { acts: acts.max(from), needed: None, how }
            }
            // A pass came, and it is too early to say that several failed.
            None if left.first.is_some() && self.how == Balancing::NoPass => Failure::NONE,
            _ => self,
        }
    }
}

/// From one node to another one, or from one last-level cache to another one of the same node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    Nodes(u32, u32),
    Caches(u32, u32),
}

impl Way {
    /// That from one CPU to another one; `None` if they share a cache, or it is not known.
    fn of(machine: &Machine, from: CpuId, to: CpuId) -> Option<Way> {
        let (from, to) = (machine.cpu(from)?, machine.cpu(to)?);
        match from.node.zip(to.node) {
            Some((from, to)) if from != to => Some(Way::Nodes(from, to)),
            _ => from.llc.zip(to.llc).filter(|(a, b)| a != b).map(|(a, b)| Way::Caches(a, b)),
        }
    }
}

/// How long an idle CPU may take until it has surely balanced.
#[derive(Debug)]
pub(super) struct Intervals {
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
    pub(super) fn new(machine: &Machine) -> Intervals {
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

impl Watch<'_> {
    /// The piece that begins now, of `task` that waits on `cpu` since `since`.
    pub(super) fn piece(
        &mut self,
        state: &State,
        task: TaskId,
        (cpu, since): (CpuId, Time),
        from: Time,
    ) -> Piece {
        let (idle, held) = self.taker(state, task);
        let is_alone = self.interrupts.is_some() && self.takers(state, task).nth(1).is_none();
        let alone = if is_alone { Time::MAX } else { from };
        let failure =
            idle.map_or(Failure::NONE, |idle| self.failure(state, task, (cpu, idle), from));
        if let Some(idle) = idle {
            let first = &mut self.first[idle.index()];
            *first = from.min(*first);
            self.near[idle.index()] |= self.hops_between(cpu, idle).is_some_and(|hops| hops < 2);
            self.named[idle.index()] += 1;
        }
        let left = &mut self.left[task.ordinal()];
        if (left.since, left.on) != (since, Some(cpu)) {
            *left = Left { since, on: Some(cpu), ..Left::default() };
        }
        let failure = failure.after(left, from);
        Piece { from, cpu, idle, held, alone, failure }
    }

    /// The idle CPUs that `task` may use, the one that has been idle longest first.
    fn takers(&self, state: &State, task: TaskId) -> impl Iterator<Item = CpuId> {
        self.idle.iter().filter(move |cpu| self.may_use(state, task, *cpu))
    }

    /// The one of these that has been idle longest; first of those where the task would not be held
    /// back, and whether it would be.
    fn taker(&self, state: &State, task: TaskId) -> (Option<CpuId>, bool) {
        let free = self.takers(state, task).find(|cpu| !self.holds(*cpu, task));
        match free.or_else(|| self.takers(state, task).next()) {
            idle if free.is_none() => (idle, idle.is_some()),
            idle => (idle, false),
        }
    }

    /// How balancing of the `idle` CPU will have failed, should `task` go on waiting on `cpu`.
    fn failure(
        &self,
        state: &State,
        task: TaskId,
        (cpu, idle): (CpuId, CpuId),
        from: Time,
    ) -> Failure {
        let interval = self.intervals.between(&self.history.head.machine, cpu, idle);
        let after = |span: Span| from + Span(span.0.saturating_sub(self.seen(idle).0));
        let tells = self.passes.as_ref().is_some_and(|passes| passes.tells(idle));
        if let Some(how) = self.failing(cpu, idle) {
            Failure { acts: from, needed: None, how }
        } else if !tells {
            let how = self.blindness(state, task, cpu, idle);
            Failure { acts: after(interval), needed: Some(interval * PASSES), how }
        } else if let Some(how) = self.out_of_sight(cpu, idle) {
            Failure { acts: after(TICK), needed: None, how }
        } else {
            Failure { acts: from + interval, needed: None, how: Balancing::NoPass }
        }
    }

    /// The passes from `from` to `to`: which tasks do they leave?
    pub(super) fn look(&mut self, state: &State, from: Time, to: Time) {
        if let Some(passes) = &mut self.passes {
            passes.advance(from);
        }
        while let Some(passes) = &mut self.passes
            && let Some(pass) = passes.before(to)
        {
            // Of a part of a recording those before it say nothing of what waits now. A CPU that
            // runs out of tasks balances before it is idle.
            let is_over = pass.time < from;
            if is_over || pass.periodic && !state.cpu(pass.cpu).is_idle() {
                continue;
            }
            for task in self.open.clone() {
                if self.may_use(state, task, pass.cpu) {
                    self.passed(state, task, &pass);
                }
            }
        }
    }

    /// `pass` did not take `task`, if it is one that should look at it.
    fn passed(&mut self, state: &State, task: TaskId, pass: &Pass) {
        let (index, passes) = (task.ordinal(), self.passes.as_ref().expect("one is there"));
        let Some(piece) = self.pieces[index] else { return };
        if !passes.left(pass, piece.cpu) {
            return;
        }
        let hides = |cpu| self.is_of_other_group(state, task, cpu);
        let hidden = !pass.busiest.contains(piece.cpu)
            && (passes.local(pass).iter().any(hides) || pass.busiest.iter().any(hides));
        let failed = if hidden { Balancing::FailedBesideGroup } else { Balancing::Failed };
        self.fails(piece.cpu, pass.cpu, failed, pass.time);
        let left = &mut self.left[index];
        left.add(failed, pass.time.max(piece.from), pass.periodic);
        if piece.failure.how == Balancing::NoPass {
            // Until now no pass came.
            self.close(task, pass.time);
            self.open(state, task, pass.time);
        } else {
            let failure = piece.failure.after(left, piece.from);
            self.pieces[index] = Some(Piece { failure, ..piece });
        }
    }

    /// `cpu` stops being idle, or the History ends.
    pub(super) fn resolve(&mut self, cpu: CpuId, now: Time) {
        if self.pending[cpu.index()].is_empty() {
            return;
        }
        let seen = self.seen(cpu);
        let known = self.passes.as_ref().is_some_and(|passes| passes.tells(cpu));
        for it in std::mem::take(&mut self.pending[cpu.index()]) {
            let often = seen.0 >= now.since(self.first[cpu.index()]).0 / 2;
            let balancing = match it.how {
                _ if seen < it.needed || !often => Balancing::Pending,
                Balancing::FailedBeyondOneHop if self.near[cpu.index()] && !known => {
                    Balancing::Failed
                }
                how => how,
            };
            self.fails(it.stretch.cpu, cpu, balancing, it.stretch.window.from);
            self.charge(&Evidence { balancing, ..it.evidence }, it.stretch);
        }
    }

    /// For how long there was waste while `cpu` was idle.
    fn seen(&self, cpu: CpuId) -> Span {
        self.idle.before(cpu).map_or(Span::ZERO, |before| Span(self.wasted.0 - before.0))
    }

    fn node(&self, cpu: CpuId) -> Option<usize> {
        Some(self.history.head.machine.cpu(cpu)?.node? as usize)
    }

    /// How balancing fails from where tasks wait to where a CPU is idle.
    fn failing(&self, cpu: CpuId, idle: CpuId) -> Option<Balancing> {
        self.failing.get(&Way::of(&self.history.head.machine, cpu, idle)?).copied()
    }

    /// Balancing failed there at `time`; it will again, if something hides the tasks and none has
    /// moved that way since.
    fn fails(&mut self, cpu: CpuId, idle: CpuId, how: Balancing, time: Time) {
        if let (true, Some(way)) = (how.hides(), Way::of(&self.history.head.machine, cpu, idle))
            && self.moved.get(&way).is_none_or(|moved| *moved <= time)
        {
            self.failing.insert(way, how);
        }
    }

    /// A task moves to `to`, from `from` if the source tells it: balancing that way works.
    pub(super) fn moves(&mut self, from: Option<CpuId>, to: CpuId, now: Time) {
        let machine = &self.history.head.machine;
        // From a place that the source does not tell it may be any.
        let ways: BTreeSet<Way> = match from {
            Some(from) => Way::of(machine, from, to).into_iter().collect(),
            None => self.history.cpus().filter_map(|from| Way::of(machine, from, to)).collect(),
        };
        for way in ways {
            self.replugged &= !matches!(way, Way::Nodes(..));
            self.moved.insert(way, now);
            if self.failing.remove(&way).is_some() {
                self.begin_anew_where(now, |_, piece| {
                    piece.idle.and_then(|idle| Way::of(machine, piece.cpu, idle)) == Some(way)
                });
            }
        }
    }

    fn hops_between(&self, a: CpuId, b: CpuId) -> Option<u32> {
        self.hops.between(self.node(a)?, self.node(b)?)
    }

    /// A quota holds `task` back from now on, or no longer.
    pub(super) fn hold(&mut self, state: &State, task: TaskId, on: bool) {
        let group = task.index().and_then(|index| self.groups[index]);
        let is = state.task(task).cpu.zip(group).filter(|_| on);
        let was = self.held_on.remove(&task);
        self.held_on.extend(is.map(|place| (task, place)));
        for (place, more) in [(was, false), (is, true)] {
            let Some((cpu, group)) = place else { continue };
            let count = self.held.entry((cpu, group)).or_default();
            *count = if more { *count + 1 } else { *count - 1 };
            if *count == u32::from(more) {
                self.begin_anew_where(state.now(), |_, it| it.idle == Some(cpu) || it.held);
            }
        }
    }

    /// It is not known any more what quotas hold back.
    pub(super) fn release_all(&mut self, now: Time) {
        if self.held_on.is_empty() {
            return;
        }
        self.held_on.clear();
        self.held.clear();
        self.begin_anew_where(now, |_, it| it.held);
    }

    /// Whether a quota holds tasks of the cgroup of `task` back on `cpu`.
    fn holds(&self, cpu: CpuId, task: TaskId) -> bool {
        let group = task.index().and_then(|index| self.groups[index]);
        group.is_some_and(|group| self.held.get(&(cpu, group)).is_some_and(|count| *count > 0))
    }

    /// Whether `task` may run on `cpu`.
    pub(super) fn may_use(&self, state: &State, task: TaskId, cpu: CpuId) -> bool {
        let mask = state.task(task).mask.and_then(|mask| self.history.mask(mask));
        mask.is_none_or(|mask| mask.contains(cpu))
    }

    /// Whether balancing of `idle` cannot see what waits on `cpu`, and why.
    fn out_of_sight(&self, cpu: CpuId, idle: CpuId) -> Option<Balancing> {
        let passes = self.passes.as_ref()?;
        let after = self.replugged && self.node(cpu) != self.node(idle);
        match passes.sight(idle, cpu)? {
            Sight::At(_) => None,
            Sight::InLocalGroup | Sight::InGroupOfBoth => Some(Balancing::FailedBeyondOneHop),
            Sight::None if after => Some(Balancing::FailedAfterHotplug),
            Sight::None => Some(Balancing::FailedOutOfSight),
        }
    }

    /// Whether `cpu` runs a task of another cgroup or session than that of `task`.
    fn is_of_other_group(&self, state: &State, task: TaskId, cpu: CpuId) -> bool {
        let CpuMode::Busy(other) = state.cpu(cpu).mode else { return false };
        let groups =
            other.index().and_then(|other| self.groups[other].zip(self.groups[task.ordinal()]));
        groups.is_some_and(|(other, group)| other != group)
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
        let beside = |cpu| self.node(cpu) == here && self.is_of_other_group(state, task, cpu);
        if self.replugged && there != here {
            Balancing::FailedAfterHotplug
        } else if self.hops_between(cpu, idle) > Some(1) && !self.scope.cpus().any(within_one_hop) {
            Balancing::FailedBeyondOneHop
        } else if self.scope.cpus().any(beside) {
            Balancing::FailedBesideGroup
        } else {
            Balancing::Failed
        }
    }
}
