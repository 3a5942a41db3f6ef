//! Violations: waits of one task during which a CPU that the task may use was idle.
//!
//! # Result
//! Each wait of a movable candidate task (see [`crate::waste`]) during which some CPU in its
//! affinity was idle. The result names the task, the CPU where it waited, the reason why the wait
//! began, the idle CPUs with their distances, and the longest stretch in which one of these CPUs
//! stayed idle. `--longer-than` filters the list, never the totals.
//!
//! # Why it matters
//! Totals show that something is wrong. A violation shows where to start.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use wastenot_model::{
    By, Carries, CpuId, CpuMode, CpuSet, CpuState, Distance, History, Observer, Origin, Phase,
    Span, State, TaskId, TaskState, Time, Window,
};

use crate::idle::IdleTimes;
use crate::marks::Marks;
use crate::waste::THROTTLED_ABOVE;
use crate::worst::Worst;
use crate::{Distribution, Movable, Options, Scope};

/// A wait during which a usable CPU was idle.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The task that waited.
    pub task: TaskId,
    /// The CPU where the task waited when the violation began.
    pub cpu: CpuId,
    /// The CPU where the task waited when the violation ended.
    pub to_cpu: CpuId,
    /// The part of the wait in which the task was a candidate, within the counted window.
    pub window: Window,
    /// The start of the wait.
    pub wait_since: Time,
    /// The reason why the wait began.
    pub origin: Origin,
    /// The task that woke or created the waiting task, for waits that began in this way.
    pub waker: Option<By>,
    /// The CPU of the wakeup or creation.
    pub waker_cpu: Option<CpuId>,
    /// The previous CPU of the task.
    pub prev: Option<CpuId>,
    /// The number of migrations during the wait.
    pub moves: u16,
    /// The task that ran on `cpu` when the violation began; `None` if it is unknown.
    pub behind: Option<TaskId>,
    /// The time in which at least one CPU that the task may use was idle.
    pub idle_ns: u64,
    /// The CPU that stayed idle longest.
    pub idle_cpu: CpuId,
    /// The longest stretch in which this CPU stayed idle.
    pub stretch: Window,
    /// The CPUs where the task waited during this stretch, in order. Empty with shared queues,
    /// because the CPU means nothing then.
    pub stretch_cpus: Vec<CpuId>,
    /// Whether the task also waited on other CPUs during the violation.
    pub moved: bool,
    /// The distance to the nearest CPU that was idle at some time in the violation.
    pub nearest: Distance,
    /// The CPUs that were idle at some time in the violation, in ascending order.
    pub idle: Vec<IdleCpu>,
}

impl Violation {
    /// The CPUs to look at, at most `most` (two or more): the CPU where the task waited, the CPU
    /// that stayed idle longest, then other idle CPUs, the longest idle first.
    pub fn places(&self, most: usize) -> CpuSet {
        let mut idle: Vec<&IdleCpu> = self.idle.iter().collect();
        idle.sort_by_key(|idle| std::cmp::Reverse(idle.longest_ns));
        let mut cpus = CpuSet::new();
        let waited = self.stretch_cpus.iter().take(most - 1).chain([&self.idle_cpu]);
        for cpu in waited.chain(idle.iter().map(|idle| &idle.cpu)) {
            if cpus.len() < most {
                cpus.insert(*cpu);
            }
        }
        cpus
    }
}

/// A CPU that was idle during a violation, and that the task may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleCpu {
    /// The CPU.
    pub cpu: CpuId,
    /// The smallest distance to the CPU where the task waited at that time.
    pub distance: Distance,
    /// The idle time of the CPU during the violation.
    pub idle_ns: u64,
    /// The longest idle stretch of the CPU.
    pub longest_ns: u64,
}

/// The number and total length of a group of violations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The number of violations.
    pub count: u64,
    /// The sum of the times in which a CPU that the task may use was idle.
    pub idle_ns: u64,
}

/// All violations of a trace.
#[derive(Clone, Debug, Default)]
pub struct Violations {
    /// All violations, including those below `longer_than`.
    pub total: Sum,
    /// The violations with a longest stretch of at least `longer_than`.
    pub persistent: Sum,
    /// The worst persistent ones, by longest stretch.
    pub worst: Vec<Violation>,
    /// The longest stretches of all violations.
    pub stretches: Distribution,
    /// Violations by the reason why the wait began.
    pub(crate) by_origin: BTreeMap<Origin, Sum>,
    /// Violations by the distance to the nearest idle CPU.
    pub(crate) by_nearest: BTreeMap<Distance, Sum>,
    /// Violations by task, the worst first.
    pub by_task: Vec<(TaskId, Sum)>,
    /// The marks of the persistent violations, if [`Options::marks`] is set.
    pub marks: Marks,
    /// Violations in waits above 1 ms that began when a runnable task was switched out: a quota may
    /// have held these tasks back. Empty if the source records throttling.
    pub possibly_throttled: Vec<Window>,
}

/// The observer.
#[derive(Debug)]
pub struct Watch<'a> {
    history: &'a History,
    scope: &'a Scope,
    movable: &'a Movable,
    options: &'a Options,
    /// Whether the topology is known at least in part.
    topology: bool,
    idle: IdleTimes,
    /// Per CPU whether those who wait on it surely do.
    sure: Vec<bool>,
    /// Per CPU the task that it is about to start.
    starting: Vec<Option<TaskId>>,
    candidates: Vec<Candidate>,
    /// Per candidate that has `moved` when it was moved, and where to.
    moves: Vec<Vec<(Time, CpuId)>>,
    candidate_count: usize,
    sums: Vec<Sum>,
    worst: Worst<Rank, Violation>,
    /// Stretches that together are the time in which a CPU was idle for the last violation.
    stretches: Vec<(Time, Time)>,
    found: Violations,
}

/// The longest stretch first, then the earliest.
type Rank = (Span, Reverse<Time>, Reverse<TaskId>);

/// The time since when a task is a candidate; `Time::MAX` if it is not.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    since: Time,
    any_idle_ns: u64,
    cpu: CpuId,
    behind: Option<TaskId>,
    moved: bool,
}

const NOT: Candidate =
    Candidate { since: Time::MAX, any_idle_ns: 0, cpu: CpuId(0), behind: None, moved: false };

impl<'a> Watch<'a> {
    /// Watches `history` within `scope`.
    pub fn new(
        history: &'a History,
        scope: &'a Scope,
        movable: &'a Movable,
        options: &'a Options,
    ) -> Watch<'a> {
        let cpus = history.cpu_count();
        Watch {
            history,
            scope,
            movable,
            options,
            topology: history
                .head
                .machine
                .cpus
                .iter()
                .any(|cpu| cpu.core.is_some() || cpu.llc.is_some() || cpu.node.is_some()),
            idle: IdleTimes::new(cpus),
            sure: vec![true; cpus],
            starting: vec![None; cpus],
            candidates: vec![NOT; history.task_count()],
            moves: vec![Vec::new(); history.task_count()],
            candidate_count: 0,
            sums: vec![Sum::default(); history.task_count()],
            worst: Worst::new(options.limit),
            stretches: Vec::new(),
            found: Violations::default(),
        }
    }

    /// The violations, after the end of the replay.
    pub fn finish(mut self) -> Violations {
        let found = &mut self.found;
        found.worst = self.worst.finish();
        found.marks.settle();
        let sums = self.sums.iter().enumerate().filter(|(_, sum)| sum.count > 0);
        found.by_task = sums.map(|(index, sum)| (TaskId::nth(index), *sum)).collect();
        found.by_task.sort_by_key(|(task, sum)| (Reverse(sum.idle_ns), *task));
        self.found
    }

    fn is_candidate(&self, task: TaskId) -> bool {
        let known = task.index().and_then(|index| self.candidates.get(index));
        known.is_some_and(|candidate| candidate.since != Time::MAX)
    }

    #[inline]
    fn begin(&mut self, state: &State, task: TaskId, known: &TaskState) {
        let Some(index) = task.index() else { return };
        let Some(cpu) = known.cpu.filter(|&cpu| self.scope.has_cpu(cpu)) else { return };
        let there = state.cpu(cpu);
        let counts = known.phase == Phase::Waiting
            && known.origin.is_sure()
            && there.keeps_waiting()
            && self.starting[cpu.index()] != Some(task)
            && self.scope.has_task(task)
            && self.movable.is_movable(task, known);
        if !counts || self.candidates[index].since != Time::MAX {
            return;
        }
        let since = state.now();
        let (any_idle_ns, behind) = (self.idle.any_ns(since), running(there));
        self.candidates[index] = Candidate { since, any_idle_ns, cpu, behind, moved: false };
        self.candidate_count += 1;
    }

    /// Places where they are now those who have been candidates before.
    fn begin_anew(&mut self, state: &State) {
        for (index, candidate) in self.candidates.iter_mut().enumerate() {
            let place = state.task(TaskId::nth(index)).cpu;
            if let (true, Some(cpu)) = (candidate.since != Time::MAX, place) {
                (candidate.cpu, candidate.behind) = (cpu, running(state.cpu(cpu)));
                candidate.moved = false;
            }
        }
    }

    /// Whether `task`, which waited before the event and does after it, stays a candidate; if so, a
    /// move of it is noted.
    #[inline(never)]
    fn stays(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) -> bool {
        let sure = |cpu| self.scope.has_cpu(cpu) && state.cpu(cpu).keeps_waiting();
        let stays = self.is_candidate(task)
            && now.since == was.since
            && now.cpu.is_some_and(sure)
            && now.mask == was.mask
            && self.movable.is_movable(task, now);
        if let (true, Some(cpu), Some(index)) = (stays, now.cpu, task.index())
            && now.cpu != was.cpu
        {
            let moves = &mut self.moves[index];
            if !std::mem::replace(&mut self.candidates[index].moved, true) {
                moves.clear();
            }
            match moves.last_mut() {
                Some(last) if last.0 == state.now() => last.1 = cpu,
                _ => moves.push((state.now(), cpu)),
            }
        }
        stays
    }

    /// A CPU may have become idle, or may be idle no longer.
    #[inline(never)]
    fn turn(&mut self, state: &State, cpu: CpuId, known: &CpuState) {
        let idle = match self.options.shared_queue {
            true => known.mode == CpuMode::Idle,
            false => known.is_idle(),
        };
        let asks = self.candidate_count > 0;
        self.idle.set(cpu, idle && self.scope.has_cpu(cpu), state.now(), asks);
        let sure = known.keeps_waiting();
        if std::mem::replace(&mut self.sure[cpu.index()], sure) != sure {
            for task in state.waiting(cpu) {
                match sure {
                    true => self.begin(state, task, &state.task(task)),
                    false => self.end_candidate(task, &state.task(task), state.now()),
                }
            }
        }
        let waking = known.is_waking() && !self.options.shared_queue;
        let starting = waking.then(|| state.first_waiting(cpu)).flatten();
        let was = std::mem::replace(&mut self.starting[cpu.index()], starting);
        if was == starting {
            return;
        }
        if let Some((task, known)) = starting.and_then(|task| Some((task, state.known(task)?))) {
            self.end_candidate(task, known, state.now());
        }
        // One that was about to start may wait on: another task came before it, or it was moved.
        if let Some((task, known)) = was.and_then(|task| Some((task, state.known(task)?))) {
            self.begin(state, task, known);
        }
    }

    fn end_all(&mut self, state: &State, now: Time) {
        for index in 0..self.candidates.len() {
            let task = TaskId::nth(index);
            self.end_candidate(task, &state.task(task), now);
        }
    }

    /// `task` is no candidate any more; `was` is its wait.
    #[inline]
    fn end_candidate(&mut self, task: TaskId, was: &TaskState, now: Time) {
        let Some(index) = task.index() else { return };
        let candidate = self.candidates[index];
        if candidate.since == Time::MAX {
            return;
        }
        self.candidates[index].since = Time::MAX;
        self.candidate_count -= 1;
        if self.idle.any_ns(now) != candidate.any_idle_ns {
            self.violated(task, was, candidate, now);
        }
    }

    /// `task` was this candidate until `now`, and some CPU was idle meanwhile.
    #[inline(never)]
    fn violated(&mut self, task: TaskId, was: &TaskState, candidate: Candidate, now: Time) {
        let Some(index) = task.index() else { return };
        let Some((from, to)) = self.scope.window.clip(candidate.since, now) else { return };
        let moves = std::mem::take(&mut self.moves[index]);
        let made = if candidate.moved { &moves[..] } else { &[] };
        let places = Places { first: candidate.cpu, moves: made };
        if let Some(violation) = self.violation(task, was, candidate, places, Window { from, to }) {
            self.add(violation, was, places);
        }
        self.moves[index] = moves;
    }

    fn violation(
        &mut self,
        task: TaskId,
        was: &TaskState,
        candidate: Candidate,
        places: Places<'_>,
        window: Window,
    ) -> Option<Violation> {
        let (cpu, to_cpu) = (candidate.cpu, was.cpu?);
        let idle = self.longest_idle(places, was, window)?;
        let woken = matches!(was.origin, Origin::Wakeup | Origin::NoSelection | Origin::Fork);
        Some(Violation {
            task,
            cpu,
            to_cpu,
            window,
            wait_since: was.since,
            origin: was.origin,
            waker: woken.then_some(was.waker),
            waker_cpu: woken.then_some(was.waker_cpu),
            prev: was.prev,
            moves: was.moves,
            behind: candidate.behind,
            idle_ns: idle.covered_ns,
            idle_cpu: idle.cpu,
            stretch: idle.stretch,
            stretch_cpus: Vec::new(),
            moved: false,
            nearest: idle.nearest,
            idle: Vec::new(),
        })
    }

    /// The distance between two CPUs.
    #[inline]
    fn distance(&self, a: CpuId, b: CpuId) -> Distance {
        match self.topology {
            true => self.history.head.machine.distance(a, b),
            false if a == b => Distance::Same,
            false => Distance::Unknown,
        }
    }

    /// The stretches of CPUs that the waiting task may use, in which they were idle.
    fn may_use(&self, was: &TaskState, window: Window, mut each: impl FnMut(CpuId, Window)) {
        match was.mask.and_then(|mask| self.history.mask(mask)) {
            None => self.idle.during(window, each),
            Some(mask) => self.idle.during(window, |cpu, stretch| {
                if mask.contains(cpu) {
                    each(cpu, stretch);
                }
            }),
        }
    }

    /// Of stretches of one length the nearest CPU's counts: it would have been the better place.
    fn longest_idle(
        &mut self,
        places: Places<'_>,
        was: &TaskState,
        window: Window,
    ) -> Option<Idled> {
        let mut stretches = std::mem::take(&mut self.stretches);
        stretches.clear();
        let mut nearest = None;
        let mut longest: Option<((Span, Reverse<Distance>), CpuId, Window)> = None;
        // One that lasts from the first to the last leaves nothing for others to cover.
        let mut whole = false;
        self.may_use(was, window, |other, stretch| {
            let distance = self.distance(places.at(stretch.from), other);
            nearest = Some(nearest.map_or(distance, |nearest: Distance| nearest.min(distance)));
            whole |= stretch.span() == window.span();
            if !whole {
                stretches.push((stretch.from, stretch.to));
            }
            let rank = (stretch.span(), Reverse(distance));
            if longest.as_ref().is_none_or(|longest| rank > longest.0) {
                longest = Some((rank, other, stretch));
            }
        });
        let found = longest.map(|(_, cpu, stretch)| {
            let covered_ns = if whole { window.span().0 } else { covered(&mut stretches) };
            let nearest = nearest.expect("found with the stretch");
            Idled { cpu, stretch, covered_ns, nearest }
        });
        if whole {
            stretches.clear();
            stretches.push((window.from, window.to));
        }
        self.stretches = stretches;
        found
    }

    /// Every CPU that was idle, for a violation that is to be listed.
    fn idle_cpus(&self, places: Places<'_>, was: &TaskState, window: Window) -> Vec<IdleCpu> {
        let mut idle: Vec<IdleCpu> = Vec::new();
        self.may_use(was, window, |other, stretch| {
            let distance = self.distance(places.at(stretch.from), other);
            if idle.last().is_none_or(|last| last.cpu != other) {
                idle.push(IdleCpu { cpu: other, distance, idle_ns: 0, longest_ns: 0 });
            }
            let last = idle.last_mut().expect("just pushed");
            last.distance = last.distance.min(distance);
            last.idle_ns += stretch.span().0;
            last.longest_ns = last.longest_ns.max(stretch.span().0);
        });
        idle
    }

    /// Keeps what pictures mark of it.
    fn mark(&mut self, violation: &Violation, was: &TaskState, places: Places<'_>) {
        let mut idle = Vec::new();
        self.may_use(was, violation.window, |cpu, stretch| idle.push((cpu, stretch)));
        self.found.marks.add(violation.task, &idle, |window| places.parts(window));
    }

    fn add(&mut self, mut violation: Violation, was: &TaskState, places: Places<'_>) {
        let add = |sum: &mut Sum| {
            sum.count += 1;
            sum.idle_ns = sum.idle_ns.saturating_add(violation.idle_ns);
        };
        let stretch = violation.stretch.span();
        let found = &mut self.found;
        add(&mut found.total);
        add(found.by_origin.entry(violation.origin).or_default());
        add(found.by_nearest.entry(violation.nearest).or_default());
        if let Some(sum) = violation.task.index().and_then(|index| self.sums.get_mut(index)) {
            add(sum);
        }
        found.stretches.add(stretch.0);
        // A quota ends at the return to user mode, where `R` is recorded as well as `R+`.
        let long = violation.window.to - violation.wait_since > THROTTLED_ABOVE;
        if violation.origin.is_switched_out()
            && long
            && !self.history.head.carries.has(Carries::THROTTLING)
        {
            found.possibly_throttled.push(violation.window);
        }
        if stretch < self.options.longer_than {
            return;
        }
        add(&mut found.persistent);
        if self.options.marks {
            self.mark(&violation, was, places);
        } else if self.options.waits_in_vain {
            let stretches = std::mem::take(&mut self.stretches);
            let windows = stretches.iter().map(|&(from, to)| Window { from, to });
            self.found.marks.add_waits(violation.task, windows.collect(), |it| places.parts(it));
            self.stretches = stretches;
        }
        let rank = (stretch, Reverse(violation.window.from), Reverse(violation.task));
        if self.worst.wants(rank) {
            violation.idle = self.idle_cpus(places, was, violation.window);
            if !self.options.shared_queue {
                violation.stretch_cpus = places.during(violation.stretch);
                violation.moved = places.during(violation.window) != violation.stretch_cpus;
            }
            self.worst.add(rank, violation);
        }
    }
}

/// How long CPUs were idle that a waiting task may use.
struct Idled {
    /// The CPU that stayed idle longest, and for how long.
    cpu: CpuId,
    stretch: Window,
    /// Time in which any was.
    covered_ns: u64,
    nearest: Distance,
}

/// Where a task waited while it was a candidate.
#[derive(Clone, Copy)]
struct Places<'a> {
    first: CpuId,
    moves: &'a [(Time, CpuId)],
}

impl Places<'_> {
    /// Where it was at `time` once all had happened that happened then.
    #[inline]
    fn at(self, time: Time) -> CpuId {
        if self.moves.is_empty() {
            return self.first;
        }
        let moves = self.moves.partition_point(|(at, _)| *at <= time);
        moves.checked_sub(1).map_or(self.first, |last| self.moves[last].1)
    }
}

impl<'a> Places<'a> {
    /// The parts of `window`, each with the CPU where it waited.
    fn parts(self, window: Window) -> impl Iterator<Item = (CpuId, Window)> + 'a {
        let later = self.moves.iter().map(|(at, _)| *at).filter(move |at| window.holds(*at));
        let begins = std::iter::once(window.from).chain(later.filter(move |at| *at > window.from));
        begins.map(move |from| {
            let next = self.moves.iter().map(|(at, _)| *at).find(|at| *at > from);
            let to = next.unwrap_or(window.to).min(window.to);
            (self.at(from), Window { from, to })
        })
    }

    /// The CPUs where it waited in `window`, in order.
    fn during(self, window: Window) -> Vec<CpuId> {
        let mut cpus: Vec<CpuId> = self.parts(window).map(|(cpu, _)| cpu).collect();
        cpus.dedup();
        cpus
    }
}

/// Which task a CPU runs, where that is known.
#[inline]
fn running(cpu: &CpuState) -> Option<TaskId> {
    match cpu.mode {
        CpuMode::Busy(task) => Some(task),
        _ => None,
    }
}

/// Length of the union of intervals.
fn covered(stretches: &mut [(Time, Time)]) -> u64 {
    stretches.sort_unstable();
    let mut total = 0;
    let mut end = Time(0);
    for &mut (from, to) in stretches {
        total += to.since(from.max(end)).0;
        end = end.max(to);
    }
    total
}

impl Observer for Watch<'_> {
    /// Of waits that reach beyond the counted time only what they were within it is told.
    #[inline]
    fn held(&mut self, state: &State, from: Time, to: Time) {
        let Window { from: begins, to: ends } = self.scope.window;
        if from < begins && begins <= to {
            self.begin_anew(state);
        }
        if from < ends && ends <= to {
            self.end_all(state, ends);
        }
    }

    #[inline]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        if was.phase == Phase::Waiting {
            if now.phase == Phase::Waiting && self.stays(state, task, was, now) {
                return;
            }
            self.end_candidate(task, was, state.now());
        }
        if now.phase == Phase::Waiting {
            self.begin(state, task, now);
        }
    }

    #[inline(always)]
    fn cpu(&mut self, state: &State, cpu: CpuId, was: &CpuState, known: &CpuState) {
        // It is not idle, whatever task runs there, and tasks that wait there are candidates.
        if !was.is_busy() || !known.is_busy() {
            self.turn(state, cpu, known);
        }
    }
    fn end(&mut self, state: &State) {
        self.end_all(state, state.now());
    }
}
