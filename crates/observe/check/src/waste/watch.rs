//! The observer that integrates waste.

use std::cmp::Reverse;

use wastenot_model::{
    Carries, CpuId, CpuMode, CpuState, Entry, Event, History, Observer, Phase, SchedClass, Since,
    Span, State, TaskId, TaskState, Time, Wanted, Window,
};

use super::affinity::Affinity;
use super::classes::Classes;
use super::cores::Cores;
use super::kind::{KINDS, Kind};
use super::{Episode, Figures, NotStarted, THROTTLED_ABOVE, WakeDelay};
use crate::causes::{self, LostTime};
use crate::matching::{ANYWHERE, Class, Matching};
use crate::worst::Worst;
use crate::{Movable, Options, Scope};

/// What a task weighs in the figures: whether it waits at a counted CPU or nowhere known, and its
/// class where it counts and is movable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Weight {
    placed: bool,
    unplaced: bool,
    /// It surely waits: nothing is lost of its CPU, and it is told when it was queued.
    sure: bool,
    switched_out: bool,
    class: Option<Class>,
}

impl Weight {
    const NOTHING: Weight =
        Weight { placed: false, unplaced: false, sure: false, switched_out: false, class: None };
}

/// A movable task that a waking CPU is about to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    task: TaskId,
    class: Class,
    /// It is surely queued.
    sure: bool,
    /// It serves this CPU alone.
    serves: bool,
}

/// When a waking CPU began to be so, and for whom.
#[derive(Clone, Copy, Debug)]
struct Waking {
    since: Time,
    head: TaskId,
    switched_out: bool,
}

const ASLEEP: Waking = Waking { since: Time(0), head: TaskId(0), switched_out: false };

/// Since when a task does not want to run.
#[derive(Clone, Copy, Debug)]
struct Rested {
    since: Time,
    /// What `spare_ns` was then.
    spare_ns: u64,
    /// What it did since then is not known.
    unknown: bool,
}

impl Rested {
    const AT_FIRST: Rested = Rested { since: Time(0), spare_ns: 0, unknown: true };
}

/// The observer.
#[derive(Debug)]
pub struct Waste<'a> {
    history: &'a History,
    scope: &'a Scope,
    movable: &'a Movable,
    options: &'a Options,
    classes: Classes,
    /// What each CPU is; times go into `kind_ns` when that ends.
    kinds: Since<Kind>,
    kind_ns: [u64; KINDS],
    /// The head that a waking CPU is about to start, where that head is movable.
    starting: Vec<Option<Head>>,
    waking: Vec<Waking>,
    /// Candidates per class; those that a waking CPU is about to start are taken off.
    supply: Vec<i64>,
    waiting: i64,
    unplaced: i64,
    /// Per class the movable tasks that may wait behind another one or may run already: at unknown
    /// places and on CPUs of which events were lost. Candidates in the upper bound only.
    unsure_supply: Vec<i64>,
    low: Matching,
    high: Option<Matching>,
    silent_idle: Option<Matching>,
    affinity: Affinity<'a>,
    causes: Option<causes::Watch<'a>>,
    cores: Option<Cores>,
    capacities: bool,
    /// The source tells policies,
    policies: bool,
    /// and what wakes tasks.
    wakes: bool,
    /// Rows of a CPU are missing here: tasks may wait of which none tells.
    missing: bool,
    /// CPUs that may be idle and not about to start a task.
    free: u32,
    /// Time so far in which one of these was left by the upper bound; and what it was at each loss.
    spare_ns: u64,
    losses: Vec<(Time, u64)>,
    /// By task.
    rested: Vec<Rested>,
    dirty: bool,
    now_low: u32,
    now_high: u32,
    now_silent: u32,
    episode: Option<Episode>,
    /// Where there was waste and a switched-out task was a candidate: what `without` needs.
    doubtful: Vec<Doubtful>,
    /// Candidates that were switched out runnable.
    switched_out: i64,
    worst: Worst<(u64, Reverse<Time>), Episode>,
    ended: Time,
    not_started: Worst<(Span, Reverse<Time>, Reverse<CpuId>), NotStarted>,
    figures: Figures,
}

/// An interval with waste in which a candidate may have been throttled.
#[derive(Clone, Copy, Debug)]
struct Doubtful {
    from: Time,
    to: Time,
    idle: u32,
    candidates: u32,
    unplaced: u32,
}

impl Doubtful {
    fn goes_on_as(&self, next: &Doubtful) -> bool {
        (self.to, self.idle, self.candidates, self.unplaced)
            == (next.from, next.idle, next.candidates, next.unplaced)
    }

    /// How much less waste there is without `left_out` candidates.
    fn excess(&self, left_out: u32) -> u64 {
        let waste = |candidates: u32| self.idle.min(candidates).saturating_sub(self.unplaced);
        let without = waste(self.candidates.saturating_sub(left_out));
        u64::from(waste(self.candidates) - without)
    }
}

impl<'a> Waste<'a> {
    /// Measures what `options` ask within `scope`.
    pub fn new(
        history: &'a History,
        scope: &'a Scope,
        movable: &'a Movable,
        options: &'a Options,
    ) -> Waste<'a> {
        let cpus = history.cpu_count();
        let classes = Classes::new(history, scope);
        let matching = Matching::new(cpus, classes.masks.clone());
        let capacity = history.head.machine.cpus.first().map(|cpu| cpu.capacity);
        let untold = (!history.head.carries.has(Carries::THROTTLING)).then_some(0);
        Waste {
            history,
            scope,
            movable,
            options,
            supply: vec![0; classes.masks.len()],
            unsure_supply: vec![0; classes.masks.len()],
            affinity: Affinity::new(history, movable, classes.masks.len()),
            causes: options
                .causes
                .then(|| causes::Watch::new(history, scope, movable, options, classes.masks.len())),
            classes,
            kinds: Since::new(history.cpus().map(|cpu| Kind::at_first(scope, cpu))),
            kind_ns: [0; KINDS],
            starting: vec![None; cpus],
            waking: vec![ASLEEP; cpus],
            waiting: 0,
            unplaced: 0,
            high: None,
            silent_idle: None,
            low: matching,
            cores: Cores::new(history, scope),
            capacities: history.head.machine.cpus.iter().any(|c| Some(c.capacity) != capacity),
            policies: history.head.carries.has(Carries::POLICY),
            wakes: history.head.carries.has(Carries::WAKEUPS)
                || history.head.carries.has(Carries::WAKINGS),
            missing: false,
            free: 0,
            spare_ns: 0,
            losses: Vec::new(),
            rested: vec![Rested::AT_FIRST; history.task_count()],
            dirty: false,
            now_low: 0,
            now_high: 0,
            now_silent: 0,
            episode: None,
            doubtful: Vec::new(),
            switched_out: 0,
            worst: Worst::new(options.limit),
            ended: Time(0),
            not_started: Worst::new(options.limit),
            figures: Figures {
                cpus: scope.cpus().count(),
                span_ns: scope.window.span().0,
                wake_delay: WakeDelay { possibly_throttled_ns: untold, ..WakeDelay::default() },
                ..Figures::default()
            },
        }
    }

    /// The figures, once the replay has ended.
    pub fn finish(mut self) -> Figures {
        let ns = |kinds: &[Kind]| {
            let each = kinds.iter().map(|kind| self.kind_ns[*kind as usize]);
            each.fold(0, u64::saturating_add)
        };
        let figures = &mut self.figures;
        figures.idle_ns = ns(&[Kind::Idle, Kind::Waking, Kind::IdleOrWaking]);
        figures.busy_ns = ns(&[Kind::Busy, Kind::BusyIdlePolicy]);
        figures.idle_policy_ns = ns(&[Kind::BusyIdlePolicy]);
        figures.known_ns = figures.idle_ns.saturating_add(figures.busy_ns);
        let unknown = ns(&[Kind::Unknown, Kind::SilentUnknown]);
        figures.online_ns = figures.known_ns.saturating_add(unknown);
        // Each of many tasks may have waited while one CPU was left.
        figures.cpu_ns_max = figures.cpu_ns_max.min(figures.idle_ns.saturating_add(unknown));
        figures.wake_delay.cpu_ns = ns(&[Kind::Waking, Kind::IdleOrWaking]);
        figures.worst = self.worst.finish();
        figures.wake_delay.not_started = self.not_started.finish();
        figures.kept = self.affinity.finish(self.ended, self.scope);
        let kept_ns = figures.kept.as_ref().map_or(0, |kept| kept.cpu_ns);
        let causes = self.causes.map(causes::Watch::finish);
        figures.causes = causes.map(|causes| causes.with(LostTime::Affinity, kept_ns));
        self.figures
    }

    /// The waste without the candidates of these windows, one each. They are not told apart by
    /// affinity: exact where every task may run anywhere, else a bound from below.
    pub fn without(&self, windows: &[Window]) -> u64 {
        let mut edges: Vec<(Time, i64)> =
            windows.iter().flat_map(|window| [(window.from, 1), (window.to, -1)]).collect();
        edges.sort_unstable();
        let mut edges = edges.into_iter().peekable();
        let (mut left_out, mut less) = (0i64, 0u64);
        for interval in &self.doubtful {
            let (mut now, to) = (interval.from, interval.to);
            while now < to {
                while let Some((_, step)) = edges.next_if(|(time, _)| *time <= now) {
                    left_out += step;
                }
                let until = edges.peek().map_or(to, |(time, _)| to.min(*time));
                add(&mut less, interval.excess(left_out.max(0) as u32), until.0 - now.0);
                now = until;
            }
        }
        self.figures.cpu_ns.saturating_sub(less)
    }

    fn kind(&self, state: &State, cpu: CpuId, known: &CpuState) -> Kind {
        if !self.scope.has_cpu(cpu) {
            return Kind::NotCounted;
        }
        match known.mode {
            CpuMode::Offline => Kind::Offline,
            CpuMode::Unknown if known.silent => Kind::SilentUnknown,
            CpuMode::Unknown => Kind::Unknown,
            CpuMode::Idle if known.waiting == 0 || self.options.shared_queue => Kind::Idle,
            CpuMode::Idle => {
                let queued = |task| state.known(task).is_none_or(|it| it.origin.is_sure());
                if state.waiting(cpu).any(queued) { Kind::Waking } else { Kind::IdleOrWaking }
            }
            CpuMode::Busy(task)
                if self.policies
                    && state.known(task).and_then(|it| it.policy).map(SchedClass::of)
                        == Some(SchedClass::Idle) =>
            {
                Kind::BusyIdlePolicy
            }
            CpuMode::Busy(_) => Kind::Busy,
        }
    }

    /// What the waiting `task` weighs in the figures.
    #[inline(always)]
    fn weigh(&self, task: TaskId, state: &TaskState) -> Weight {
        let counts = self.scope.has_task(task);
        let Some(cpu) = state.cpu else {
            // A task that does not count may be about to start on an idle CPU just as well.
            let class = counts.then(|| self.class(task, state)).flatten();
            return Weight { unplaced: true, class, ..Weight::NOTHING };
        };
        let kind = self.kinds[cpu.index()];
        if !counts || kind == Kind::NotCounted {
            return Weight::NOTHING;
        }
        Weight {
            placed: true,
            unplaced: false,
            sure: kind != Kind::Unknown && state.origin.is_sure(),
            switched_out: state.origin.is_switched_out(),
            class: self.class(task, state),
        }
    }

    #[inline]
    fn class(&self, task: TaskId, state: &TaskState) -> Option<Class> {
        self.movable.is_movable(task, state).then(|| self.classes.of(state))
    }

    /// Adds what `task` weighs as it is in `known` (`step` 1), or takes it away (-1).
    fn count(&mut self, now: Time, task: TaskId, known: &TaskState, step: i64) {
        let weight = self.weigh(task, known);
        self.dirty = true;
        self.waiting += step * i64::from(weight.placed);
        self.unplaced += step * i64::from(weight.unplaced);
        let Some(class) = weight.class else { return };
        if weight.sure {
            self.supply[class] += step;
            self.switched_out += step * i64::from(weight.switched_out);
            self.affinity.count(self.affinity.serves(task, known), step);
            match step {
                1 => self.begin(task, known, class, now),
                _ => self.end_candidate(task, now),
            }
        } else {
            self.unsure_supply[class] += step;
            self.begin_high();
        }
    }

    /// `task`, which waits as in `known`, surely is a candidate from now on.
    #[inline(always)]
    fn begin(&mut self, task: TaskId, known: &TaskState, class: Class, now: Time) {
        self.affinity.begin(task, known, class, now);
        if let Some(causes) = &mut self.causes {
            causes.begin(task, known, class);
        }
    }

    #[inline(always)]
    fn end_candidate(&mut self, task: TaskId, now: Time) {
        self.affinity.end(task, now, self.scope);
        if let Some(causes) = &mut self.causes {
            causes.end(task, now);
        }
    }

    /// The waiting `task` as the head of a CPU, where it is a candidate otherwise.
    #[inline]
    fn head(&self, task: TaskId, known: &TaskState) -> Option<Head> {
        let class = self.weigh(task, known).class?;
        let (sure, serves) = (known.origin.is_sure(), self.affinity.serves(task, known));
        Some(Head { task, class, sure, serves })
    }

    /// A CPU is about to start this head, and no longer that one.
    fn start(&mut self, state: &State, was: Option<Head>, now: Option<Head>) {
        if let Some(head) = now {
            *self.supply_with(head) -= 1;
            if head.sure {
                self.affinity.count(head.serves, -1);
                self.end_candidate(head.task, state.now());
            }
        }
        let Some(head) = was else { return };
        *self.supply_with(head) += 1;
        if !head.sure {
            return;
        }
        self.affinity.count(head.serves, 1);
        // It may wait on, behind another one that came before it, or elsewhere.
        let starts = |cpu: CpuId| self.starting[cpu.index()].is_some_and(|it| it.task == head.task);
        if let Some(known) = state.known(head.task)
            && known.phase == Phase::Waiting
            && !known.cpu.is_some_and(starts)
        {
            let weight = self.weigh(head.task, known);
            if let (true, Some(class)) = (weight.sure, weight.class) {
                self.begin(head.task, known, class, state.now());
            }
        }
    }

    /// The supply of which this head is a part.
    fn supply_with(&mut self, head: Head) -> &mut i64 {
        let supply = if head.sure { &mut self.supply } else { &mut self.unsure_supply };
        &mut supply[head.class]
    }

    /// From now on the upper bound may differ.
    fn begin_high(&mut self) {
        if self.high.is_none() {
            self.high = Some(self.low.clone());
        }
    }

    /// Before the counted time another task may have been the head that a CPU was about to start.
    fn wait_for_heads(&mut self, state: &State) {
        for cpu in self.scope.cpus() {
            if let Some(head) = state.first_waiting(cpu) {
                let waking = &mut self.waking[cpu.index()];
                (waking.head, waking.switched_out) =
                    (head, state.task(head).origin.is_switched_out());
            }
        }
    }

    fn wake_ended(&mut self, cpu: CpuId, now: Time) {
        let Waking { since, head: task, switched_out } = self.waking[cpu.index()];
        let Some((from, to)) = self.scope.window.clip(since, now) else { return };
        let window = Window { from, to };
        let delay = &mut self.figures.wake_delay;
        delay.count += 1;
        delay.lengths.add(window.span().0);
        delay.longest_ns = delay.longest_ns.max(window.span().0);
        let mut possibly_throttled = false;
        if let Some(sum) = &mut delay.possibly_throttled_ns
            && switched_out
            && window.span() > THROTTLED_ABOVE
        {
            possibly_throttled = true;
            add(sum, 1, window.span().0);
        }
        if window.span() > self.options.wake_grace {
            delay.not_started_count += 1;
            let stretch = NotStarted { cpu, task, window, possibly_throttled };
            let rank = (window.span(), Reverse(window.from), Reverse(cpu));
            self.not_started.add(rank, stretch);
        }
        if let Some(causes) = &mut self.causes {
            causes.wake_delay(cpu, task, window, possibly_throttled);
        }
    }

    /// Brings the matchings up to what holds now; done once per instant at which time passes.
    #[inline]
    fn settle(&mut self) {
        if self.free == 0 && !self.missing && self.causes.is_none() {
            // No CPU can take a task, however many wait: the matchings are brought up later.
            (self.now_low, self.now_high, self.now_silent) = (0, 0, 0);
            self.affinity.now = 0;
            return;
        }
        self.settle_matchings();
    }

    fn settle_matchings(&mut self) {
        self.dirty = false;
        let unplaced = self.unplaced.max(0) as u32;
        if let ([supply], None) = (&self.supply[..], &self.high) {
            // Every task may run everywhere and nothing is unknown.
            self.low.set_supply(ANYWHERE, *supply.max(&0) as u32);
            self.now_high = self.low.size();
            self.now_low = self.now_high.saturating_sub(unplaced);
            self.now_silent = self.now_low;
            return self.allow_for_missing();
        }
        for class in 0..self.supply.len() {
            let supply = self.supply[class].max(0) as u32;
            self.low.set_supply(class, supply);
            if let Some(silent) = &mut self.silent_idle {
                silent.set_supply(class, supply);
            }
            if let Some(high) = &mut self.high {
                high.set_supply(class, supply + self.unsure_supply[class].max(0) as u32);
            }
        }
        self.now_low = self.low.size().saturating_sub(unplaced);
        self.now_high = self.high.as_ref().map_or(self.low.size(), Matching::size);
        let silent = self.silent_idle.as_ref().unwrap_or(&self.low).size();
        self.now_silent = silent.saturating_sub(unplaced);
        self.allow_for_missing();
        let high = self.high.as_ref().unwrap_or(&self.low);
        self.affinity.settle(&self.low, high, self.now_high, unplaced);
    }

    /// Which CPUs tasks want in the time that was told last, if these are not the tasks of the
    /// same classes as in `wanting`, which is brought up to date.
    #[inline]
    pub(super) fn newly_wanted(&self, wanting: &mut [bool]) -> Option<Wanted> {
        let mut changed = false;
        for (wants, supply) in wanting.iter_mut().zip(&self.supply) {
            let now = self.now_low > 0 && *supply > 0;
            changed |= std::mem::replace(wants, now) != now;
        }
        changed.then(|| self.classes.wanted(wanting))
    }

    /// One `false` for each class: no task wants a CPU yet.
    pub(super) fn none_wanting(&self) -> Vec<bool> {
        vec![false; self.supply.len()]
    }

    /// Tasks of which no row tells may wait, and have any CPU that is not known to be busy.
    #[inline]
    fn allow_for_missing(&mut self) {
        if self.missing {
            let free = |kind: &Kind| kind.may_be_idle();
            self.now_high = self.kinds.values().filter(free).count() as u32;
        }
    }

    /// A task does not want to run.
    #[inline]
    fn rests(&mut self, task: TaskId, was: &TaskState, now: &TaskState, time: Time) {
        if let Some(rested) = task.index().and_then(|index| self.rested.get_mut(index))
            && was.phase != now.phase
        {
            let unknown = now.phase == Phase::Unknown;
            *rested = Rested { since: time, spare_ns: self.spare_ns, unknown };
        }
    }

    /// A task that comes to run, though no row queued it, may have waited since it ceased to want
    /// to: since the recording began, or events were lost, at most. Then a CPU that the upper bound
    /// left was wasted.
    #[cold]
    fn comes_unawaited(&mut self, task: TaskId, now: &TaskState, time: Time) {
        let Some(rested) = task.index().and_then(|index| self.rested.get(index)) else {
            return;
        };
        let to = self.scope.window.to;
        if time < to || to >= self.history.window().to {
            let lost = self.losses.partition_point(|(lost, _)| *lost < rested.since);
            let lost = self.losses.get(lost).filter(|_| !rested.unknown);
            let since = lost.map_or(rested.spare_ns, |(_, spare_ns)| *spare_ns);
            if self.scope.has_task(task) && self.movable.is_movable(task, now) {
                add(&mut self.figures.cpu_ns_max, 1, self.spare_ns - since);
            }
        }
    }

    /// `cpu` was of that kind in `window`.
    #[inline]
    fn was(&mut self, cpu: CpuId, kind: Kind, window: Window) {
        let ns = self.scope.counted_ns(window.from, window.to);
        add(&mut self.kind_ns[kind as usize], 1, ns);
        if kind == Kind::SilentUnknown && ns > 0 {
            self.figures.silent.insert(cpu);
        }
    }

    /// A counted CPU may be of another kind than before.
    #[inline(never)]
    fn turn(&mut self, state: &State, cpu: CpuId, now: &CpuState) {
        let was = self.kinds[cpu.index()];
        let kind = self.kind(state, cpu, now);
        let head = kind.is_waking().then(|| state.first_waiting(cpu)).flatten();
        let head = head.and_then(|task| Some((task, state.known(task)?)));
        let starting = head.and_then(|(task, known)| self.head(task, known));
        let before = self.starting[cpu.index()];
        if was == kind && before == starting {
            return;
        }
        self.starting[cpu.index()] = starting;
        self.start(state, before, starting);
        if was.is_waking() && !kind.is_waking() {
            self.wake_ended(cpu, state.now());
        }
        if let (Some((head, known)), true) = (head, !was.is_waking()) {
            let switched_out = known.origin.is_switched_out();
            self.waking[cpu.index()] = Waking { since: state.now(), head, switched_out };
        }
        // Who waits on a CPU that becomes known, or unknown, becomes sure to wait, or unsure.
        let turns = (was == Kind::Unknown) != (kind == Kind::Unknown);
        if turns {
            let now = state.now();
            state.waiting(cpu).for_each(|task| self.count(now, task, &state.task(task), -1));
        }
        self.set_kind(cpu, kind, state.now());
        if turns {
            let now = state.now();
            state.waiting(cpu).for_each(|task| self.count(now, task, &state.task(task), 1));
        }
        self.dirty = true;
    }

    /// Rows of a CPU begin or cease to be missing at `until`.
    #[cold]
    fn held_in_parts(&mut self, state: &State, from: Time, until: Time, to: Time) {
        self.held(state, from, until);
        self.held(state, until, to);
    }

    /// Tells causes of what held, and before of what `changed` since they were told last.
    #[inline(never)]
    fn ask_causes(&mut self, state: &State, changed: bool, from: Time, to: Time) {
        let Some(causes) = &mut self.causes else { return };
        if changed || causes.is_stale() {
            causes.settle(state, &self.low, self.now_low, from);
        }
        causes.held(state, from, to);
        if self.now_low > 0 {
            causes.wasted(to - from);
        }
    }

    fn set_kind(&mut self, cpu: CpuId, kind: Kind, now: Time) {
        let Some((was, window)) = self.kinds.set(cpu.index(), kind, now) else { return };
        self.was(cpu, was, window);
        self.free = self.free + u32::from(kind.may_be_free()) - u32::from(was.may_be_free());
        if let Some(cores) = &mut self.cores
            && (was == Kind::Idle) != (kind == Kind::Idle)
        {
            cores.set(cpu, kind == Kind::Idle);
        }
        self.low.set_idle(cpu, kind == Kind::Idle);
        if let Some(causes) = &mut self.causes {
            causes.set_idle(cpu, kind == Kind::Idle, now);
        }
        let may_be_free = kind.may_be_free();
        if may_be_free && kind != Kind::Idle {
            self.begin_high();
        }
        if let Some(high) = &mut self.high {
            high.set_idle(cpu, may_be_free);
        }
        if kind == Kind::SilentUnknown && self.silent_idle.is_none() {
            self.silent_idle = Some(self.low.clone());
        }
        if let Some(silent) = &mut self.silent_idle {
            silent.set_idle(cpu, matches!(kind, Kind::Idle | Kind::SilentUnknown));
        }
    }

    /// Adds what there was of waste in `[from, to)`, which counts.
    fn integrate(&mut self, from: Time, to: Time) {
        let ns = to.0 - from.0;
        let figures = &mut self.figures;
        add(&mut figures.unplaced_ns, self.unplaced.max(0) as u64, ns);
        add(&mut figures.cpu_ns, u64::from(self.now_low), ns);
        add(&mut figures.cpu_ns_max, u64::from(self.now_high), ns);
        add(&mut figures.cpu_ns_silent_idle, u64::from(self.now_silent), ns);
        if self.now_low > 0 {
            add(&mut figures.wasteful_ns, 1, ns);
            if self.switched_out > 0 {
                let (idle, candidates) = self.low.sides();
                let unplaced = self.unplaced.max(0) as u32;
                let now = Doubtful { from, to, idle, candidates, unplaced };
                match self.doubtful.last_mut() {
                    Some(last) if last.goes_on_as(&now) => last.to = to,
                    _ => self.doubtful.push(now),
                }
            }
            if let Some(cores) = &self.cores {
                let whole = u64::from(self.now_low.min(cores.whole));
                add(figures.whole_core_ns.get_or_insert(0), whole, ns);
            }
            if self.capacities {
                let capacity = self.least_capacity(self.now_low);
                let least = capacity.saturating_mul(ns) / 1024;
                add(self.figures.capacity_ns.get_or_insert(0), 1, least);
            }
        }
        if self.now_low > 0 || self.episode.is_some() {
            self.track_episode(from, to);
        }
    }

    fn track_episode(&mut self, from: Time, to: Time) {
        if self.now_low == 0 {
            return self.end_episode();
        }
        let episode = self.episode.get_or_insert(Episode {
            window: Window { from, to: from },
            cpu_ns: 0,
            cpus_max: 0,
        });
        episode.window.to = to;
        add(&mut episode.cpu_ns, u64::from(self.now_low), to.0 - from.0);
        episode.cpus_max = episode.cpus_max.max(self.now_low);
    }

    fn end_episode(&mut self) {
        let Some(episode) = self.episode.take() else { return };
        let length = episode.window.span().0;
        self.figures.episodes += 1;
        self.figures.longest_ns = self.figures.longest_ns.max(length);
        self.figures.lengths.add(length);
        if episode.window.span() >= self.options.longer_than {
            if self.options.marks {
                self.figures.marks.push(episode.window);
            }
            self.worst.add((episode.cpu_ns, Reverse(episode.window.from)), episode);
        }
    }

    /// The capacity of the `count` smallest idle CPUs: at least this much was wasted.
    fn least_capacity(&self, count: u32) -> u64 {
        let cpus = &self.history.head.machine.cpus;
        let idle = self.kinds.values().zip(cpus).filter(|(kind, _)| *kind == Kind::Idle);
        let mut capacities: Vec<u64> = idle.map(|(_, cpu)| u64::from(cpu.capacity)).collect();
        capacities.sort_unstable();
        capacities.iter().take(count as usize).sum()
    }
}

impl Observer for Waste<'_> {
    #[inline]
    fn held(&mut self, state: &State, from: Time, to: Time) {
        let (missing, until) = state.lacking(from);
        if until < to {
            return self.held_in_parts(state, from, until, to);
        }
        let changed = self.dirty || self.missing != missing;
        if changed {
            self.missing = missing;
            self.settle();
        }
        if self.causes.is_some() {
            self.ask_causes(state, changed, from, to);
        }
        let begins = self.scope.window.from;
        if from < begins && begins <= to {
            self.wait_for_heads(state);
        }
        let Some((from, to)) = self.scope.window.clip(from, to) else { return };
        let ns = to.0 - from.0;
        if self.free > self.now_high {
            add(&mut self.spare_ns, 1, ns);
        }
        add(&mut self.figures.wait_ns, self.waiting.max(0) as u64, ns);
        // Whatever waste there may be, the upper bound holds it.
        if self.now_high > 0 || self.unplaced > 0 || self.episode.is_some() {
            self.integrate(from, to);
        }
        if self.affinity.now > 0 {
            self.affinity.integrate(ns);
        }
    }

    #[inline]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        if was.phase == Phase::Waiting {
            self.count(state.now(), task, was, -1);
        }
        if self.wakes {
            if !now.phase.wants_to_run() {
                self.rests(task, was, now, state.now());
            } else if now.phase == Phase::Running && !was.phase.wants_to_run() {
                self.comes_unawaited(task, now, state.now());
            }
        }
        if now.phase == Phase::Waiting {
            self.count(state.now(), task, now, 1);
        }
    }

    #[inline(always)]
    fn event(&mut self, state: &State, entry: &Entry) {
        if let Event::Lost { .. } = entry.event {
            self.losses.push((entry.time, self.spare_ns));
        }
        if let Some(causes) = &mut self.causes {
            causes.event(state, entry.event);
        }
    }

    #[inline(always)]
    fn cpu(&mut self, state: &State, cpu: CpuId, before: &CpuState, now: &CpuState) {
        if let Some(causes) = &mut self.causes {
            causes.cpu(state, cpu, before, now);
        }
        // Whatever task runs there, the CPU stays busy.
        if !before.is_busy() || !now.is_busy() || self.policies {
            self.turn(state, cpu, now);
        }
    }
    fn end(&mut self, state: &State) {
        self.ended = state.now();
        self.end_episode();
        let open: Vec<(Kind, Window)> = self.kinds.open(state.now()).collect();
        for (cpu, (kind, window)) in open.into_iter().enumerate() {
            let cpu = CpuId(cpu as u16);
            if kind.is_waking() {
                self.wake_ended(cpu, state.now());
            }
            self.was(cpu, kind, window);
        }
        if let Some(causes) = &mut self.causes {
            causes.end_all(state.now());
        }
    }
}

/// Adds `count` CPUs or tasks for `ns`. Stamps of a damaged file may lie centuries apart: then the
/// sum stays at the largest.
#[inline]
fn add(sum: &mut u64, count: u64, ns: u64) {
    *sum = sum.saturating_add(count.saturating_mul(ns));
}
