//! Implementations of global EDF by their names: what jobs are charged with, and what is simulated.

use std::str::FromStr;

use wastenot_bounds::overheads::Accounting;
use wastenot_model::nearest;
use wastenot_sim::edf::{Design, Mailboxes, Rules, Server};

/// How global EDF is implemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implementation {
    /// One lock for all, as in LITMUS^RT.
    GsnEdf,
    /// The same, with one CPU that handles all interrupts and runs no tasks.
    GsnEdfDedicated,
    /// A run queue and a lock for each CPU, as in Linux since 3.14.
    SchedDeadline,
    /// The same by the rules of the patches before (v8), which RTAS 2014 measured.
    SchedDeadlineV8,
    /// As since 3.14, with one CPU that handles all interrupts and runs no tasks: the overhead of
    /// locks apart from that of interrupts.
    SchedDeadlineDedicated,
    /// One CPU decides for all, which send it messages, and runs no tasks.
    GedfMp,
}

impl Implementation {
    /// All of them.
    pub const ALL: [Implementation; 6] = [
        Implementation::GsnEdf,
        Implementation::GsnEdfDedicated,
        Implementation::SchedDeadline,
        Implementation::SchedDeadlineV8,
        Implementation::SchedDeadlineDedicated,
        Implementation::GedfMp,
    ];

    /// As written.
    pub const fn name(self) -> &'static str {
        match self {
            Implementation::GsnEdf => "gsn-edf",
            Implementation::GsnEdfDedicated => "gsn-edf-dedicated",
            Implementation::SchedDeadline => "sched-deadline",
            Implementation::SchedDeadlineV8 => "sched-deadline-v8",
            Implementation::SchedDeadlineDedicated => "sched-deadline-dedicated",
            Implementation::GedfMp => "gedf-mp",
        }
    }
    /// How many CPUs run no task.
    pub const fn dedicated(self) -> u32 {
        match self.accounting() {
            Accounting::Shared => 0,
            Accounting::SharedDedicated | Accounting::MessagePassing => 1,
        }
    }
    /// Which overheads jobs are charged with.
    pub(crate) const fn accounting(self) -> Accounting {
        match self {
            Implementation::GsnEdf
            | Implementation::SchedDeadline
            | Implementation::SchedDeadlineV8 => Accounting::Shared,
            Implementation::GsnEdfDedicated | Implementation::SchedDeadlineDedicated => {
                Accounting::SharedDedicated
            }
            Implementation::GedfMp => Accounting::MessagePassing,
        }
    }
    /// Whether it is Linux's, which is close to global EDF: a CPU that a search finds may have
    /// changed before it is locked, a push gives up after three tries, equal deadlines do not
    /// preempt, and servers throttle.
    const fn is_sched_deadline(self) -> bool {
        match self {
            Implementation::SchedDeadline
            | Implementation::SchedDeadlineV8
            | Implementation::SchedDeadlineDedicated => true,
            Implementation::GsnEdf | Implementation::GsnEdfDedicated | Implementation::GedfMp => {
                false
            }
        }
    }
    /// Whether jobs may be due after the next one comes. Linux refuses such tasks (`sched_setattr`
    /// fails with EINVAL): its servers keep the deadline of a task that wakes before it, so that
    /// jobs would be late which global EDF completes in time.
    pub(crate) const fn takes_late_deadlines(self) -> bool {
        !self.is_sched_deadline()
    }
    /// What has to be assumed for verdicts on them, if anything.
    pub(crate) fn assumption(of: &[Implementation]) -> Option<String> {
        let linux = of.iter().filter(|it| it.is_sched_deadline());
        let names: Vec<&str> = linux.map(|it| it.name()).collect();
        (!names.is_empty()).then(|| {
            let (names, is) = (names.join(", "), if names.len() == 1 { "is" } else { "are" });
            format!(
                "the verdict applies to global EDF with the same overheads. {names} {is} not \
                 always global EDF: a CPU may change its state between a search and the lock, a \
                 push stops after three attempts, tasks with equal deadlines do not preempt each \
                 other, and servers throttle tasks"
            )
        })
    }
    /// What the simulator runs. Servers never end a job, so that all have the same jobs to do; CPUs
    /// write into eight mailboxes.
    pub fn design(self) -> Design {
        let per_cpu = |master, rules| Design::PerCpu { master, rules, server: Some(Server::AMPLE) };
        match self {
            Implementation::GsnEdf => Design::Coarse { master: false },
            Implementation::GsnEdfDedicated => Design::Coarse { master: true },
            Implementation::SchedDeadline => per_cpu(false, Rules::Heap),
            Implementation::SchedDeadlineV8 => per_cpu(false, Rules::V8),
            Implementation::SchedDeadlineDedicated => per_cpu(true, Rules::Heap),
            Implementation::GedfMp => Design::Messages(Mailboxes::Shared(8)),
        }
    }
}

/// Schedulers that are no global EDF, as they are often called.
const PARTS: [&str; 4] = ["p-edf", "pedf", "c-edf", "cedf"];

impl FromStr for Implementation {
    type Err = String;

    fn from_str(text: &str) -> Result<Implementation, String> {
        let all = Implementation::ALL;
        all.into_iter().find(|it| it.name() == text).ok_or_else(|| {
            if PARTS.contains(&text) {
                return "this scheduler is global EDF in each cluster: use `wastenot bounds test \
                        --cluster N`. N = 1 is partitioned EDF"
                    .into();
            }
            match nearest(text, all.map(Implementation::name)) {
                Some(near) => {
                    format!("there is no implementation with this name; did you mean `{near}`?")
                }
                None => format!("use one of {}", all.map(Implementation::name).join(", ")),
            }
        })
    }
}
