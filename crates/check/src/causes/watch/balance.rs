//! Whether balancing should have ended a wait, and why it did not.

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

impl Piece {
    /// The piece, after passes `left` the task. What no pass can see stays hidden.
    fn after(self, left: &Left) -> Piece {
        let open = matches!(self.failed, Balancing::NoPass | Balancing::Failed);
        match left.failed() {
            Some((acts, failed))
                if open || self.needed.is_some() && !self.failed.is_structural() =>
            {
                Piece { acts: acts.max(self.from), needed: None, failed, ..self }
            }
            None if left.first.is_some() && self.failed == Balancing::NoPass => {
                Piece { acts: Time::MAX, failed: Balancing::Failed, ..self }
            }
            _ => self,
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

    pub(super) fn between(&self, machine: &Machine, a: CpuId, b: CpuId) -> Span {
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
        let mut all = self.idle.iter().filter(|other| self.may_use(state, task, *other));
        let idle = all.next();
        let alone = self.interrupts.is_some() && all.next().is_none();
        let alone = if alone { Time::MAX } else { from };
        let (mut acts, mut needed, mut failed) = (Time::MAX, None, Balancing::Failed);
        if let Some(idle) = idle {
            let interval = self.intervals.between(&self.history.head.machine, cpu, idle);
            let soon = from + Span(interval.0.saturating_sub(self.seen(idle).0));
            let hidden = |watch: &Watch| match &watch.passes {
                Some(passes) if passes.tells(idle) => watch.out_of_sight(cpu, idle),
                _ => Some(watch.blindness(state, task, cpu, idle)),
            };
            if let Some(failing) = self.failing(cpu, idle) {
                (acts, failed) = (soon, failing);
            } else if let Some(hidden) = hidden(self) {
                (acts, needed, failed) = (soon, Some(interval * PASSES), hidden);
            } else {
                (acts, failed) = (from + interval, Balancing::NoPass);
            }
            let first = &mut self.first[idle.index()];
            *first = from.min(*first);
            self.near[idle.index()] |= self.hops_between(cpu, idle).is_some_and(|hops| hops < 2);
            self.named[idle.index()] += 1;
        }
        let left = &mut self.left[task.ordinal()];
        if (left.since, left.on) != (since, Some(cpu)) {
            *left = Left { since, on: Some(cpu), ..Left::default() };
        }
        Piece { from, cpu, idle, alone, acts, needed, failed }.after(left)
    }

    /// The passes before `to`: which tasks do they leave?
    pub(super) fn look(&mut self, state: &State, to: Time) {
        while let Some(passes) = &mut self.passes
            && let Some(pass) = passes.before(to)
        {
            if !state.cpu(pass.cpu).is_idle() {
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
    pub(super) fn passed(&mut self, state: &State, task: TaskId, pass: &Pass) {
        let (index, passes) = (task.ordinal(), self.passes.as_ref().expect("one is there"));
        let Some(piece) = self.pieces[index] else { return };
        if !passes.left(pass, piece.cpu) {
            return;
        }
        let hides = |cpu| self.is_of_other_group(state, task, cpu);
        let hidden = !pass.busiest.contains(piece.cpu)
            && (passes.local(pass).iter().any(hides) || pass.busiest.iter().any(hides));
        let failed = if hidden { Balancing::FailedBesideGroup } else { Balancing::Failed };
        self.fails(piece.cpu, pass.cpu, failed);
        let left = &mut self.left[index];
        left.add(failed, pass.time.max(piece.from), pass.periodic);
        self.pieces[index] = Some(piece.after(left));
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
            let balancing = match it.failed {
                _ if seen < it.needed || !often => Balancing::Pending,
                Balancing::FailedBeyondOneHop if self.near[cpu.index()] && !known => {
                    Balancing::Failed
                }
                failed => failed,
            };
            self.fails(it.stretch.cpu, cpu, balancing);
            self.charge(&Evidence { balancing, ..it.evidence }, it.ns, it.stretch);
        }
    }

    /// For how long there was waste while `cpu` was idle.
    pub(super) fn seen(&self, cpu: CpuId) -> Span {
        self.idle.before(cpu).map_or(Span::ZERO, |before| Span(self.wasted.0 - before.0))
    }

    pub(super) fn node(&self, cpu: CpuId) -> Option<usize> {
        Some(self.history.head.machine.cpu(cpu)?.node? as usize)
    }

    pub(super) fn nodes(&self, a: CpuId, b: CpuId) -> Option<(usize, usize)> {
        self.node(a).zip(self.node(b)).filter(|(a, b)| a != b)
    }

    /// How balancing fails between the nodes of `cpu`, where tasks wait, and of the `idle` one.
    pub(super) fn failing(&self, cpu: CpuId, idle: CpuId) -> Option<Balancing> {
        self.failing.get(&self.nodes(cpu, idle)?).copied()
    }

    /// Balancing failed between these nodes; it will again, if something hides the tasks there.
    pub(super) fn fails(&mut self, cpu: CpuId, idle: CpuId, how: Balancing) {
        if let (true, Some(nodes)) = (how.hides(), self.nodes(cpu, idle)) {
            self.failing.insert(nodes, how);
        }
    }

    pub(super) fn hops_between(&self, a: CpuId, b: CpuId) -> Option<u32> {
        self.hops.between(self.node(a)?, self.node(b)?)
    }

    /// Whether `task` may run on `cpu`.
    pub(super) fn may_use(&self, state: &State, task: TaskId, cpu: CpuId) -> bool {
        let mask = state.task(task).mask.and_then(|mask| self.history.mask(mask));
        mask.is_none_or(|mask| mask.contains(cpu))
    }

    /// Whether balancing of `idle` cannot see what waits on `cpu`, and why.
    pub(super) fn out_of_sight(&self, cpu: CpuId, idle: CpuId) -> Option<Balancing> {
        let passes = self.passes.as_ref()?;
        let after = self.replugged && self.node(cpu) != self.node(idle);
        match passes.sight(idle, cpu)? {
            Sight::At(_) => None,
            Sight::InLocalGroup => Some(Balancing::FailedBeyondOneHop),
            Sight::None if after => Some(Balancing::FailedAfterHotplug),
            Sight::None => Some(Balancing::FailedOutOfSight),
        }
    }

    /// Whether `cpu` runs a task of another cgroup or session than that of `task`.
    pub(super) fn is_of_other_group(&self, state: &State, task: TaskId, cpu: CpuId) -> bool {
        let CpuMode::Busy(other) = state.cpu(cpu).mode else { return false };
        let groups =
            other.index().and_then(|other| self.groups[other].zip(self.groups[task.ordinal()]));
        groups.is_some_and(|(other, group)| other != group)
    }

    /// What balancing of the `idle` CPU cannot see of `task` on `cpu`, should it fail.
    pub(super) fn blindness(
        &self,
        state: &State,
        task: TaskId,
        cpu: CpuId,
        idle: CpuId,
    ) -> Balancing {
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
