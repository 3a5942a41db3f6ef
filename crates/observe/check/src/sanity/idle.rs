//! The first invariant: no CPU is idle while a task that may use it waits behind another task.

use wastenot_model::{CpuId, CpuMode, History, Phase, Span, State, TaskId, Time};

use super::{LISTED, Rules, Verdicts};
use crate::{Movable, Scope};

/// After so many looks at one and the same state each further one finds what the last one found. A
/// damaged file may hold stamps that lie centuries apart.
const SETTLED: u32 = 10_000;

impl Verdicts {
    fn counts(&self) -> [u64; 4] {
        [self.looks, self.suspected, self.confirmed, self.transient]
    }
    fn counts_mut(&mut self) -> [&mut u64; 4] {
        [&mut self.looks, &mut self.suspected, &mut self.confirmed, &mut self.transient]
    }
}

/// What a look needs to know of the part that is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) history: &'a History,
    pub(super) scope: &'a Scope,
    pub(super) movable: &'a Movable,
}

impl Part<'_> {
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
}

/// What is watched, from one part to the next.
#[derive(Clone, Debug)]
pub(super) struct Idle {
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

impl Idle {
    pub(super) fn new(rules: Rules, from: Time) -> Idle {
        Idle {
            rules,
            next_look: from + rules.period,
            suspected: Vec::new(),
            interrupted: Vec::new(),
            watching: 0,
            failures: Vec::new(),
            stole: Vec::new(),
            verdicts: Verdicts::default(),
        }
    }

    /// Makes room for the CPUs of a part.
    pub(super) fn know_cpus(&mut self, cpus: usize) {
        let cpus = cpus.max(self.suspected.len());
        self.suspected.resize(cpus, None);
        self.interrupted.resize(cpus, None);
        self.failures.resize(cpus, 0);
        self.stole.resize(cpus, false);
    }

    /// What was found since this was asked last.
    pub(super) fn take(&mut self) -> Verdicts {
        self.verdicts.unfinished = self.suspected.iter().flatten().count() as u64;
        std::mem::take(&mut self.verdicts)
    }

    fn look(&mut self, part: Part<'_>, state: &State, now: Time) {
        self.verdicts.looks += 1;
        for cpu in 0..self.suspected.len() {
            let id = CpuId(cpu as u16);
            if !part.scope.has_cpu(id) || !part.violated(state, id) {
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
    fn watch(&mut self, part: Part<'_>, state: &State, from: Time, to: Time) {
        for cpu in 0..self.suspected.len() {
            let Some(since) = self.suspected[cpu] else { continue };
            let id = CpuId(cpu as u16);
            let holds = part.violated(state, id);
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
                if self.verdicts.reports.len() < LISTED {
                    self.verdicts.reports.push((since, id));
                }
            } else {
                continue;
            }
            (self.suspected[cpu], self.interrupted[cpu]) = (None, None);
            self.watching -= 1;
        }
    }

    /// So it was in `[from, to)`.
    #[inline]
    pub(super) fn held(&mut self, part: Part<'_>, state: &State, from: Time, to: Time) {
        if self.watching == 0 && to <= self.next_look {
            return;
        }
        let Some((from, to)) = part.scope.window.clip(from, to) else { return };
        if self.watching > 0 {
            self.watch(part, state, from, to);
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
                self.look(part, state, now);
                if self.watching > 0 {
                    self.watch(part, state, now, to.min(now + self.rules.period));
                }
            }
            self.next_look = now + self.rules.period;
            if looks == SETTLED {
                self.look_on(before, to);
            }
        }
    }

    /// `task` was migrated to `to`. While it waits that is how a steal looks.
    pub(super) fn migrated(&mut self, state: &State, task: TaskId, to: CpuId) {
        if state.task(task).phase == Phase::Waiting
            && let Some(stole) = self.stole.get_mut(to.index())
        {
            *stole = true;
        }
    }
}
