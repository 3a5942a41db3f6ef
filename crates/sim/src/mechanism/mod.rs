//! Mechanisms: when a decision is taken, and what it costs.
//!
//! Whatever makes a kernel act is a [`Trigger`]; what it does then is a path: a program of steps
//! that take locks, touch cache lines, work, interrupt other CPUs, leave messages. While a CPU is
//! in a path it runs no task and takes no other trigger: interrupts are off, as they are in a
//! scheduler.

mod direct;
mod hardware;
mod samples;

pub use direct::Direct;
pub use hardware::{Contention, Hardware, LineId, LockId, MailboxId};
pub use samples::{Overhead, Samples, Seen};
pub use wastenot_model::machine::{Prices, Spin};

use wastenot_model::policy::{Happening, Why};
use wastenot_model::{Context as By, CpuId, Span, TaskId};

use crate::Kernel;

/// What makes the kernel act on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A task becomes runnable: it is woken, or it is new.
    Wake {
        /// Which.
        task: TaskId,
        /// Woken or new.
        why: Why,
        /// Whether the current task does it, or an interrupt.
        by: By,
    },
    /// A running task might be better off elsewhere: it executes a new program, or may not stay,
    /// since its affinity changed or its CPU is to go off ([`Kernel::send`]).
    Select {
        /// Which.
        task: TaskId,
        /// Why.
        why: Why,
    },
    /// The CPU needs its next task: who ran there leaves, or is to be preempted. Nobody comes to a
    /// CPU that is offline, and whoever leaves it goes elsewhere: it is about to go off.
    Schedule,
    /// The tick.
    Tick,
    /// Anything that a policy hears of.
    Happening(Happening),
    /// A message was left in a mailbox of this CPU.
    Mail(MailboxId),
}

/// One step of a path. The path is asked for the next when it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Takes a lock, spinning until it is handed over.
    Lock(LockId),
    /// Gives a lock back.
    Unlock(LockId),
    /// Writes cache lines: costs what it takes to get them from whoever wrote them last.
    Touch(LineId),
    /// Reads cache lines: the same, unless they were read here since they were written.
    Read(LineId),
    /// Computes for so long.
    Work(Span),
    /// Makes a CPU look for its next task.
    Interrupt(CpuId),
    /// Leaves a message; whoever reads the mailbox is interrupted.
    Post(MailboxId, u64),
    /// The path is over.
    Done,
}

/// When decisions are taken and what they cost.
pub trait Mechanism {
    /// Its name.
    fn name(&self) -> String;
    /// Begins: no task exists yet.
    fn init(&mut self, kernel: &mut Kernel);
    /// Whether it says when jobs begin: tasks that wait for their next beat only tell that a job is
    /// complete ([`Leaves::Completes`](crate::Leaves)), and it wakes them ([`Kernel::begins_job`]).
    fn keeps_time(&self) -> bool {
        false
    }
    /// The next step of the path that `trigger` began on `cpu`. `turn` counts the steps done.
    fn step(&mut self, kernel: &mut Kernel, cpu: CpuId, trigger: Trigger, turn: u32) -> Step;
    /// The run is over: what `kernel` saw may be kept.
    fn ended(&mut self, _: &Kernel) {}
}

/// So that a mechanism can be looked at afterwards.
impl<M: Mechanism> Mechanism for &mut M {
    fn name(&self) -> String {
        (**self).name()
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
