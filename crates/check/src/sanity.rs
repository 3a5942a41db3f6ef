//! The sanity checker of "The Linux Scheduler: a Decade of Wasted Cores" (Lozi et al., EuroSys
//! 2016), run over a trace.
//!
//! Two rules are known. The paper's: every period (1 s) look for an idle CPU beside one with at
//! least two runnable tasks of which a waiting one may run on it; watch for the confirmation time
//! (100 ms); if the violation ends within it, it was transient. The released module's: the same
//! look every period, and a CPU is reported after ten consecutive failing looks; a CPU that took a
//! task over from another one since the last look begins anew.

use wastenot_model::{
    CpuId, CpuMode, Entry, Event, History, Observer, Phase, Span, State, TaskId, Time,
};

use crate::{Movable, Options, Scope};

/// When to look and when to believe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Time between looks.
    pub period: Span,
    /// How long a violation must last after a look to be confirmed.
    pub confirm: Span,
    /// After how many consecutive failing looks the module reports a CPU.
    pub consecutive: u32,
    /// A violation goes on that is interrupted for no longer than this. Nothing by the published
    /// rules; a live watch allows for the kernel threads that run for microseconds on idle CPUs.
    pub grace: Span,
}

impl Default for Rules {
    fn default() -> Rules {
        let (period, confirm) = (Span::s(1), Span::ms(100));
        Rules { period, confirm, consecutive: 10, grace: Span::ZERO }
    }
}

/// What the checker would have said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Looks made.
    pub looks: u64,
    /// Looks that found an idle CPU beside waiting work.
    pub suspected: u64,
    /// Suspicions that lasted for the confirmation time: the paper's reports.
    pub confirmed: u64,
    /// Suspicions that ended within it.
    pub transient: u64,
    /// Suspicions still open when the trace ended.
    pub unfinished: u64,
    /// CPUs reported after enough consecutive failing looks: the module's reports.
    pub consecutive: u64,
    /// When each confirmed suspicion was raised, and for which idle CPU; the first 1000.
    pub reports: Vec<(Time, CpuId)>,
}

impl Verdicts {
    fn counts(&self) -> [u64; 4] {
        [self.looks, self.suspected, self.confirmed, self.transient]
    }
    fn counts_mut(&mut self) -> [&mut u64; 4] {
        [&mut self.looks, &mut self.suspected, &mut self.confirmed, &mut self.transient]
    }
}

/// After so many looks at one and the same state each further one finds what the last one found. A
/// damaged file may hold stamps that lie centuries apart.
const SETTLED: u32 = 10_000;

/// The observer.
#[derive(Debug)]
pub struct Watch<'a> {
    history: &'a History,
    scope: &'a Scope,
    movable: &'a Movable,
    rules: Rules,
    next_look: Time,
    /// Per CPU since when a suspicion is being watched.
    suspected: Vec<Option<Time>>,
    /// Per CPU since when its violation is interrupted.
    interrupted: Vec<Option<Time>>,
    watching: usize,
    failures: Vec<u32>,
    stole: Vec<bool>,
    verdicts: Verdicts,
}

impl<'a> Watch<'a> {
    /// Watches `history` within `scope`.
    pub fn new(
        history: &'a History,
        scope: &'a Scope,
        movable: &'a Movable,
        options: &Options,
    ) -> Watch<'a> {
        let cpus = scope.cpu_count();
        Watch {
            history,
            scope,
            movable,
            rules: options.sanity,
            next_look: scope.window.from + options.sanity.period,
            suspected: vec![None; cpus],
            interrupted: vec![None; cpus],
            watching: 0,
            failures: vec![0; cpus],
            stole: vec![false; cpus],
            verdicts: Verdicts::default(),
        }
    }

    /// The verdicts, once the replay has ended.
    pub fn finish(mut self) -> Verdicts {
        self.verdicts.unfinished = self.suspected.iter().flatten().count() as u64;
        self.verdicts
    }

    /// Whether a task that waits behind another one may run on the idle CPU.
    fn violated(&self, state: &State, idle: CpuId) -> bool {
        let may = |task: TaskId| {
            let known = state.task(task);
            let mask = known.mask.and_then(|mask| self.history.mask(mask));
            mask.is_none_or(|mask| mask.contains(idle))
                && self.scope.has_task(task)
                && self.movable.is_movable(task, &known)
        };
        let overloaded = state.cpus().filter(|(cpu, known)| {
            self.scope.has_cpu(*cpu) && matches!(known.mode, CpuMode::Busy(_)) && known.waiting > 0
        });
        state.cpu(idle).is_idle()
            && overloaded.map(|(cpu, _)| cpu).any(|cpu| state.waiting(cpu).any(may))
    }

    fn look(&mut self, state: &State, now: Time) {
        self.verdicts.looks += 1;
        for cpu in 0..self.suspected.len() {
            let id = CpuId(cpu as u16);
            if !self.scope.has_cpu(id) || !self.violated(state, id) {
                self.failures[cpu] = 0;
                self.stole[cpu] = false;
                continue;
            }
            let stole = std::mem::take(&mut self.stole[cpu]);
            self.failures[cpu] = if stole { 1 } else { self.failures[cpu] + 1 };
            self.verdicts.consecutive += u64::from(self.failures[cpu] == self.rules.consecutive);
            if self.suspected[cpu].is_none() {
                self.verdicts.suspected += 1;
                self.suspected[cpu] = Some(now);
                self.watching += 1;
            }
        }
    }

    /// Looks on as the last look did, up to the last but one before `to`.
    fn look_on(&mut self, before: [u64; 4], to: Time) {
        let period = self.rules.period.0.max(1);
        let times = (to.since(self.next_look).0 / period).saturating_sub(1);
        for (count, before) in self.verdicts.counts_mut().into_iter().zip(before) {
            *count = count.saturating_add((*count - before).saturating_mul(times));
        }
        self.next_look = self.next_look + Span(period.saturating_mul(times));
    }

    /// Suspicions end when the violation does, or are confirmed when they have lasted.
    fn watch(&mut self, state: &State, from: Time, to: Time) {
        for cpu in 0..self.suspected.len() {
            let Some(since) = self.suspected[cpu] else { continue };
            let id = CpuId(cpu as u16);
            let holds = self.violated(state, id);
            let lasted = to.since(since) >= self.rules.confirm;
            if holds {
                self.interrupted[cpu] = None;
            }
            if !holds {
                let broken = *self.interrupted[cpu].get_or_insert(from);
                if to.since(broken) <= self.rules.grace {
                    continue;
                }
                self.verdicts.transient += 1;
            } else if lasted {
                self.verdicts.confirmed += 1;
                if self.verdicts.reports.len() < 1000 {
                    self.verdicts.reports.push((since, id));
                }
            } else {
                continue;
            }
            (self.suspected[cpu], self.interrupted[cpu]) = (None, None);
            self.watching -= 1;
        }
    }
}

impl Observer for Watch<'_> {
    #[inline]
    fn held(&mut self, state: &State, from: Time, to: Time) {
        if self.watching == 0 && to <= self.next_look {
            return;
        }
        let Some((from, to)) = self.scope.window.clip(from, to) else { return };
        if self.watching > 0 {
            self.watch(state, from, to);
        }
        // Nothing changes within [from, to): looks in it all see the same, so the confirmation
        // of one may pass before the next.
        let (mut looks, mut before) = (0, [0; 4]);
        while self.next_look < to {
            let now = self.next_look;
            looks += 1;
            if looks == SETTLED {
                before = self.verdicts.counts();
            }
            if now >= from {
                self.look(state, now);
                if self.watching > 0 {
                    self.watch(state, now, to.min(now + self.rules.period));
                }
            }
            self.next_look = now + self.rules.period;
            if looks == SETTLED {
                self.look_on(before, to);
            }
        }
    }

    #[inline]
    fn event(&mut self, state: &State, entry: &Entry) {
        // `migrate` onto a CPU while the task waits is how a steal looks.
        if let Event::Migrate { task, to, .. } = entry.event
            && state.task(task).phase == Phase::Waiting
            && let Some(stole) = self.stole.get_mut(to.index())
        {
            *stole = true;
        }
    }
}
