//! Mechanisms: when a decision is taken, and what it costs.
//!
//! A [`Trigger`] makes a kernel act; what the kernel does then is a path: a program of steps that
//! take locks, touch cache lines, work, interrupt other CPUs, and send messages. While a CPU is in
//! a path it runs no task and takes no other trigger: interrupts are off, as they are in a
//! scheduler.

mod direct;
mod hardware;
mod paced;
mod samples;

pub use direct::Direct;
pub use hardware::{Contention, Hardware, LineId, LockId, MailboxId};
pub use paced::{Pace, Paced};
pub use samples::{Overhead, Samples, Seen};
pub use wastenot_model::machine::{Prices, Spin};

use wastenot_model::policy::{Family, Happening, Why};
use wastenot_model::{Context as By, CpuId, Span, TaskId};

use crate::Kernel;

/// What makes the kernel act on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A task becomes runnable: it is woken, or it is new.
    Wake {
        /// Which task.
        task: TaskId,
        /// Woken or new.
        why: Why,
        /// Whether the current task wakes it, or an interrupt.
        by: By,
    },
    /// A running task may be better placed on another CPU: it executes a new program; or it may not
    /// stay, because its affinity changed or its CPU is to go off ([`Kernel::send`]).
    Select {
        /// Which task.
        task: TaskId,
        /// Why.
        why: Why,
    },
    /// The CPU needs its next task: the running task leaves, or is to be preempted. No task may
    /// come to a CPU that is offline, and a task that leaves it goes to another CPU: the CPU is
    /// about to go off.
    Schedule,
    /// The tick.
    Tick,
    /// Any event that is reported to a policy.
    Happening(Happening),
    /// A message has arrived in a mailbox of this CPU.
    Mail(MailboxId),
}

/// One step of a path. When it is done, the path is asked for the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Takes a lock, spinning until it is handed over.
    Lock(LockId),
    /// Releases a lock.
    Unlock(LockId),
    /// Writes cache lines: costs the time to get them from their last writer.
    Touch(LineId),
    /// Reads cache lines: the same, unless this CPU has read them since they were written.
    Read(LineId),
    /// Computes for this long.
    Work(Span),
    /// Makes a CPU pick its next task.
    Interrupt(CpuId),
    /// Sends a message; the CPU that reads the mailbox is interrupted.
    Post(MailboxId, u64),
    /// The path is over.
    Done,
}

/// When decisions are taken and what they cost.
pub trait Mechanism {
    /// Its name.
    fn name(&self) -> String;
    /// What the scheduler is like.
    fn family(&self) -> Family {
        Family::Other
    }
    /// Begins: no task exists yet.
    fn init(&mut self, kernel: &mut Kernel);
    /// Whether the mechanism decides when jobs begin. If so, tasks that wait for their next beat
    /// only report that a job is complete ([`Leaves::Completes`](crate::Leaves)), and the mechanism
    /// wakes them ([`Kernel::begins_job`]).
    fn keeps_time(&self) -> bool {
        false
    }
    /// The next step of the path that `trigger` began on `cpu`. `turn` counts the steps done.
    fn step(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger, turn: u32) -> Step;
    /// The run is over: the mechanism may keep what `kernel` observed.
    fn ended(&mut self, _: &Kernel) {}
}

/// Allows a mechanism to be inspected after the run.
impl<M: Mechanism> Mechanism for &mut M {
    fn name(&self) -> String {
        (**self).name()
    }
    fn family(&self) -> Family {
        (**self).family()
    }
    fn init(&mut self, kernel: &mut Kernel) {
        (**self).init(kernel);
    }
    fn keeps_time(&self) -> bool {
        (**self).keeps_time()
    }
    #[inline]
    fn step(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger, turn: u32) -> Step {
        (**self).step(kernel, cpu, trigger, turn)
    }
    fn ended(&mut self, kernel: &Kernel) {
        (**self).ended(kernel);
    }
}
