//! The known facts about a stretch of lost time, from which its cause is derived.

use wastenot_model::policy::Family;
use wastenot_model::{History, Phase, TaskState};

use crate::sched_ext::Loaded;

/// Which time was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostTime {
    /// CPUs were idle while tasks that may run there waited: CPU time.
    Waste,
    /// A CPU was about to start a task: CPU time.
    WakeDelay,
    /// CPUs were idle while tasks waited that their affinities keep from them: CPU time.
    Affinity,
    /// Quotas held tasks back: task time.
    Quota,
}

impl LostTime {
    /// In the order of [`super::Part::ns`].
    pub const ALL: [LostTime; 4] =
        [LostTime::Waste, LostTime::WakeDelay, LostTime::Affinity, LostTime::Quota];
    /// Those that are CPU time.
    pub(crate) const CPU_TIME: [LostTime; 3] =
        [LostTime::Waste, LostTime::WakeDelay, LostTime::Affinity];
    /// Its name in tables and JSON.
    pub fn name(self) -> &'static str {
        ["waste", "wake_delay", "affinity", "quota"][self as usize]
    }
}

/// How the wait began to which waste is charged. A task that is switched out takes over the onset
/// of the task that runs in its place: that one's placement made the queue longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Onset {
    /// It was there before the recording, after a loss, or the CPU was unknown.
    Unknown,
    /// The task was put on an idle CPU, which ran another one first.
    OnIdle,
    /// No CPU that it may use was idle.
    AllBusy,
    /// It was woken while still queued, so no CPU was selected for it; another CPU was idle.
    NoSelection,
    /// It was put on a busy CPU while its previous CPU was idle.
    PreviousIdle,
    /// The same, and another task had just run on its previous CPU.
    RecentLoad,
    /// It was put on its waker's CPU, which went on, while another one was idle.
    BehindWaker,
    /// It was put on a busy CPU while all idle ones were outside of that CPU's last-level cache.
    OtherCache,
    /// It is new, and was put on a busy CPU while another one was idle.
    Fork,
    /// It was put on a busy CPU while another one was idle.
    SomeIdle,
}

impl Onset {
    /// All of them.
    #[cfg(test)]
    pub(super) const ALL: [Onset; 10] = [
        Onset::Unknown,
        Onset::OnIdle,
        Onset::AllBusy,
        Onset::NoSelection,
        Onset::PreviousIdle,
        Onset::RecentLoad,
        Onset::BehindWaker,
        Onset::OtherCache,
        Onset::Fork,
        Onset::SomeIdle,
    ];
    /// Whether a CPU was selected although a better one was idle.
    pub(super) fn is_placement(self) -> bool {
        !matches!(self, Onset::Unknown | Onset::OnIdle | Onset::AllBusy)
    }
}

/// What runs on the CPU where a task waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// A task like it, or nothing known.
    Peer,
    /// A task of the stop, deadline or real-time class, while the task that waits is of neither.
    HigherClass,
    /// A task that may run on this CPU only.
    Pinned,
}

impl Ahead {
    /// All of them.
    #[cfg(test)]
    pub(super) const ALL: [Ahead; 3] = [Ahead::Peer, Ahead::HigherClass, Ahead::Pinned];
}

/// Whether balancing failed: while one CPU was idle there was waste for so long that it must have
/// balanced several times; and what that CPU's balancing could not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Balancing {
    /// It had no time to fail.
    Pending,
    /// It failed.
    Failed,
    /// It failed, the task waited on another node, and since a CPU came online no task has moved
    /// between nodes.
    FailedAfterHotplug,
    /// It failed, the task waited two hops away or farther, and while the CPU was idle none waited
    /// within one hop.
    FailedBeyondOneHop,
    /// It failed, and a task of another cgroup or session ran on the idle CPU's node; or a pass
    /// failed, and such a task ran in its local group or in the one that it found busiest.
    FailedBesideGroup,
    /// No scheduling domain of the idle CPU has the one where the task waited.
    FailedOutOfSight,
    /// No CPU that might have taken the task balanced.
    NoPass,
}

impl Balancing {
    /// All of them.
    #[cfg(test)]
    pub(super) const ALL: [Balancing; 7] = [
        Balancing::Pending,
        Balancing::Failed,
        Balancing::FailedAfterHotplug,
        Balancing::FailedBeyondOneHop,
        Balancing::FailedBesideGroup,
        Balancing::FailedOutOfSight,
        Balancing::NoPass,
    ];
    /// Whether it failed for a reason that lasts.
    pub(super) fn hides(self) -> bool {
        !matches!(self, Balancing::Pending | Balancing::Failed | Balancing::NoPass)
    }
    /// Whether it failed.
    pub(super) fn failed(self) -> bool {
        self != Balancing::Pending
    }
}

/// Whose rules placed and balanced the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// Linux' fair class, or a model of it.
    Fair,
    /// A scheduler that leaves CPUs idle by design: gangs, partitions, fixed CPUs.
    Reserving,
    /// Another one: a policy in Rota, of sched_ext, another simulated scheduler.
    Policy,
    /// The fair class and one of sched_ext: one after the other, or side by side.
    Several,
}

impl Rules {
    /// All of them.
    #[cfg(test)]
    pub(super) const ALL: [Rules; 4] =
        [Rules::Fair, Rules::Reserving, Rules::Policy, Rules::Several];

    /// Those of `history`: a recording is from Linux, and a simulation names its scheduler.
    pub(crate) fn of(history: &History) -> Rules {
        let source = &history.head.source;
        if source.note("scheduler").is_none() {
            return match Loaded::of(history) {
                Loaded::Never => Rules::Fair,
                Loaded::Always => Rules::Policy,
                Loaded::Partly => Rules::Several,
            };
        }
        match Family::ALL
            .into_iter()
            .find(|family| source.note(Family::NOTE) == Some(family.name()))
        {
            Some(Family::Fair) => Rules::Fair,
            Some(Family::Reserving) => Rules::Reserving,
            Some(Family::Other) | None => Rules::Policy,
        }
    }
}

/// What is known of a stretch of lost time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// Which time.
    pub loss: LostTime,
    /// How the wait began (waste).
    pub onset: Onset,
    /// What ran where the task waited (waste).
    pub ahead: Ahead,
    /// Whose rules they were.
    pub rules: Rules,
    /// What balancing did (waste).
    pub balancing: Balancing,
    /// The CPU took longer than `--wake-grace` (wake delay).
    pub over_grace: bool,
    /// The hypervisor took this time from the CPU (wake delay).
    pub stolen: bool,
    /// The idle CPU served interrupts or softirqs: the one about to start the task (wake delay), or
    /// the only one that the task may use (waste).
    pub interrupted: bool,
    /// The CPU was in an idle state (wake delay).
    pub in_idle_state: bool,
    /// On every idle CPU that the task may use, a quota holds tasks of its cgroup back (waste).
    pub held: bool,
    /// The task may have been throttled: the source does not record it (wake delay).
    pub possibly_throttled: bool,
}

impl Evidence {
    /// Only which time was lost.
    pub(super) fn of(loss: LostTime) -> Evidence {
        Evidence {
            loss,
            onset: Onset::Unknown,
            ahead: Ahead::Peer,
            rules: Rules::Fair,
            balancing: Balancing::Pending,
            over_grace: false,
            stolen: false,
            interrupted: false,
            in_idle_state: false,
            held: false,
            possibly_throttled: false,
        }
    }
    /// Whether it is waste that a scheduler with such rules left.
    pub(super) fn is_waste_under(&self, rules: Rules) -> bool {
        self.loss == LostTime::Waste && self.rules == rules
    }
}

/// Whether the wait of `task` began at this event.
pub(super) fn begins_now(task: &TaskState, now: wastenot_model::Time) -> bool {
    task.phase == Phase::Waiting && task.since == now
}
