//! The life of one task, collected as a program.

use std::collections::BTreeSet;

use wastenot_model::workload::{PipeId, Step, TemplateId, Variate};
use wastenot_model::{CpuId, MaskId, NameId, Span, Time};

/// One task. Its steps name tasks and sets of CPUs by their numbers in the History.
#[derive(Clone, Debug, Default)]
pub(super) struct Life {
    /// The steps that it did.
    pub(super) steps: Vec<Step>,
    /// CPU time since its last step.
    ran: Span,
    /// CPU time so far.
    worked: Span,
    /// Sleep, and late arrival, that no other task could have ended.
    pub(super) asleep: Span,
    /// While it runs: the time up to which its CPU time is counted.
    counted: Option<Time>,
    /// When it last ran.
    pub(super) last: Time,
    /// Since when it does not want to run.
    pub(super) stopped: Option<Stopped>,
    /// The pipe into which its waker put a token, for a waking without a wakeup yet.
    pub(super) token: Option<PipeId>,
    /// It was woken, possibly before it slept, and is not queued yet.
    pub(super) waking: bool,
    /// How often it was woken after it had been seen to go to sleep.
    pub(super) wakeups: u64,
    /// How many of these wakeups lack a waking, although the source records wakings.
    pub(super) lacking: u64,
    /// Sleeps with unknown wakers.
    pub(super) untold: Untold,
    /// Its wakers are about to sleep.
    pub(super) sync: bool,
    /// Since when a quota throttles it, while it wants to run.
    held: Option<Time>,
    /// How it was created; `None` until it is first seen to act.
    pub(super) birth: Option<Birth>,
    /// The index of its parent, and the parent's own time at the fork.
    pub(super) forked_by: Option<(usize, Span)>,
    /// It was created within the recording.
    pub(super) born: bool,
    /// It was seen to become a kernel thread.
    pub(super) kthread: bool,
    /// It slept.
    pub(super) slept: bool,
    /// The tasks whose end woke it, by index.
    pub(super) outlived: Vec<usize>,
    /// It ended within the recording.
    pub(super) ended: bool,
    /// It has run.
    pub(super) began: bool,
    /// The CPU where it was first seen.
    pub(super) cpu: Option<CpuId>,
    /// The CPUs on which it may run at first.
    pub(super) affinity: Option<MaskId>,
    /// Its first nice value.
    pub(super) nice: Option<i8>,
    /// Its first cgroup.
    pub(super) group: Option<NameId>,
}

/// Sleeps of a task with unknown wakers: in a replay they keep their length, but another task may
/// have ended them, so no bound relies on them.
#[derive(Clone, Debug, Default)]
pub(super) struct Untold {
    /// The sleep before it is launched.
    pub(super) birth: bool,
    /// The steps that are such sleeps.
    pub(super) steps: BTreeSet<usize>,
}

/// How a task enters the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Birth {
    /// From outside.
    Launched {
        /// When.
        at: Time,
        /// Where.
        from: CpuId,
    },
    /// By a fork step of another task.
    Forked,
}

/// A task left its CPU and did not want to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopped {
    /// When.
    pub(super) at: Time,
    /// Why.
    pub(super) why: Why,
}

/// What is known of a task that stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It sleeps.
    Sleeps,
    /// It sleeps or wants to run; the source does not record which.
    Unsaid,
    /// Unknown: events were lost.
    Lost,
}

/// The task that takes tokens out of `pipe`; every task has two pipes.
pub(super) fn taker(pipe: PipeId) -> TemplateId {
    TemplateId(pipe.0 / 2)
}

/// The same pipe of another task.
pub(super) fn pipe_of(task: TemplateId, pipe: PipeId) -> PipeId {
    PipeId(task.0 * 2 + pipe.0 % 2)
}

impl Life {
    /// It begins to run.
    pub(super) fn runs(&mut self, now: Time) {
        self.began = true;
        self.counted = self.counted.or(Some(now));
    }

    /// It stops running.
    pub(super) fn leaves(&mut self, now: Time) {
        self.settle(now);
        self.counted = None;
    }

    /// It does `step`, after what it has computed up to now.
    pub(super) fn act(&mut self, now: Time, step: Step) {
        self.settle(now);
        if self.ran > Span::ZERO {
            let ran = std::mem::take(&mut self.ran);
            self.steps.push(Step::Compute(Variate::Fixed(ran)));
        }
        self.steps.push(step);
    }

    /// It slept for `span` until now, with an unknown waker.
    pub(super) fn sleeps_untold(&mut self, now: Time, span: Span) {
        self.act(now, Step::Sleep(Variate::Fixed(span)));
        self.untold.steps.insert(self.steps.len() - 1);
    }

    /// From now on a quota throttles it.
    pub(super) fn hold(&mut self, now: Time) {
        self.held = self.held.or(Some(now));
    }

    /// A quota no longer throttles it; returns for how long it did. In the replay it sleeps as long
    /// again, since no scheduler may let it run; without `quotas` none did.
    pub(super) fn release(&mut self, now: Time, quotas: bool) -> Span {
        let held = self.held.take().filter(|_| quotas).map_or(Span::ZERO, |since| now - since);
        if held > Span::ZERO {
            self.act(now, Step::Sleep(Variate::Fixed(held)));
        }
        held
    }

    /// The pipe into which its waker puts a token: one for wakers that are about to sleep, one for
    /// all others.
    pub(super) fn token_of(&self, task: usize) -> PipeId {
        PipeId((task * 2 + usize::from(self.sync)) as u32)
    }

    /// Its CPU time so far.
    pub(super) fn work(&self) -> Span {
        self.steps.iter().fold(self.ran, |work, step| match step {
            Step::Compute(Variate::Fixed(span)) => work + *span,
            _ => work,
        })
    }

    /// What it did so far that no other task can have done for it or prevented, if it shares its
    /// work with none: CPU time, and sleep that a timer ended.
    pub(super) fn own(&self) -> Span {
        self.worked + self.asleep
    }

    /// The tasks that it forked, by index.
    pub(super) fn children(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().filter_map(|step| match step {
            Step::Fork(child) => Some(child.index()),
            _ => None,
        })
    }

    /// Whether another task woke it.
    pub(super) fn was_woken(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Get(_)))
    }

    /// Its steps, including its CPU time after the last of them.
    pub(super) fn finish(&mut self) -> Vec<Step> {
        if self.ran > Span::ZERO {
            self.steps.push(Step::Compute(Variate::Fixed(self.ran)));
        }
        std::mem::take(&mut self.steps)
    }

    fn settle(&mut self, now: Time) {
        if let Some(counted) = &mut self.counted {
            let span = now - std::mem::replace(counted, now);
            self.ran += span;
            self.worked += span;
            self.last = now;
        }
    }
}
