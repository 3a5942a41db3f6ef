//! The steps that lose a wakeup, in order.

use std::fmt;

/// One step of a CPU, or of the enqueuer of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Fields are numbers of CPUs, tasks and queues: see `Display`.
pub enum Step {
    /// The enqueuer puts the task into its queue.
    Insert { task: usize, queue: usize },
    /// The enqueuer finds the CPU idle, claims it for the task and kicks it.
    Claim { task: usize, cpu: usize },
    /// The enqueuer finds the CPU idle, claims it and gives it the task to run.
    RunDirect { task: usize, cpu: usize },
    /// The enqueuer reads the cell of the CPU, which is not idle, or is claimed already.
    LookInVain { task: usize, cpu: usize },
    /// Periodic balancing moves the task to another queue.
    Move { task: usize, from: usize, into: usize },
    /// The CPU begins to dispatch: it was kicked, or its task has ended.
    Arm { cpu: usize, kicked: bool },
    /// The CPU finds no task in the queue that it may run.
    FindNothing { cpu: usize, queue: usize },
    /// The CPU takes the task out of the queue.
    Take { cpu: usize, task: usize, queue: usize },
    /// The CPU has found no task in any queue, and sleeps.
    Sleep { cpu: usize },
    /// The CPU sets its cell to `busy`.
    SayBusy { cpu: usize },
    /// The CPU passes the task's wakeup on.
    Pass { cpu: usize, task: usize, to: usize },
    /// The CPU would pass the task's wakeup on, but the other CPU is not idle.
    PassInVain { cpu: usize, task: usize, to: usize },
    /// No CPU is left to which this CPU could pass the task's wakeup on.
    PassToNobody { cpu: usize, task: usize },
    /// The CPU runs the task that it was given directly.
    StartLocal { cpu: usize, task: usize },
    /// A kick reaches the CPU, which is busy.
    KickInVain { cpu: usize },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Step::Insert { task, queue } => write!(f, "task {task} is put into queue {queue}"),
            Step::Move { task, from, into } => {
                write!(f, "task {task} is moved from queue {from} to queue {into}")
            }
            Step::Claim { task, cpu } => {
                write!(f, "the enqueuer of task {task} claims cpu {cpu} for it and kicks it")
            }
            Step::RunDirect { task, cpu } => {
                write!(f, "the enqueuer of task {task} claims cpu {cpu} and gives it the task")
            }
            Step::LookInVain { task, cpu } => {
                write!(f, "the enqueuer of task {task} sees that cpu {cpu} is not idle")
            }
            Step::Arm { cpu, kicked: true } => {
                write!(f, "cpu {cpu} wakes from a kick and dispatches")
            }
            Step::Arm { cpu, kicked: false } => write!(f, "cpu {cpu} ends its run and dispatches"),
            Step::FindNothing { cpu, queue } => {
                write!(f, "cpu {cpu} finds nothing in queue {queue}")
            }
            Step::Take { cpu, task, queue } => {
                write!(f, "cpu {cpu} takes task {task} out of queue {queue}")
            }
            Step::Sleep { cpu } => write!(f, "cpu {cpu} sleeps"),
            Step::SayBusy { cpu } => write!(f, "cpu {cpu} marks itself busy"),
            Step::Pass { cpu, task, to } => {
                write!(f, "cpu {cpu} claims cpu {to} for task {task} and kicks it")
            }
            Step::PassInVain { cpu, task, to } => {
                write!(f, "cpu {cpu} sees for task {task} that cpu {to} is not idle")
            }
            Step::PassToNobody { cpu, task } => {
                write!(f, "cpu {cpu} finds no CPU to wake for task {task}")
            }
            Step::StartLocal { cpu, task } => {
                write!(f, "cpu {cpu} runs task {task}, which was given to it")
            }
            Step::KickInVain { cpu } => write!(f, "a kick reaches cpu {cpu}, which is busy"),
        }
    }
}

/// The steps from the state in which all CPUs are busy and no task waits to a state in which a
/// wakeup is lost. No trace is shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// A CPU that sleeps at the end, and that nothing wakes for this task.
    pub cpu: usize,
    /// A task that waits at the end and that this CPU would take.
    pub task: usize,
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.steps.iter().enumerate() {
            writeln!(f, "{:>3}. {step}", number + 1)?;
        }
        let (cpu, task) = (self.cpu, self.task);
        write!(f, "     task {task} waits, cpu {cpu} sleeps, and no wakeup is pending")
    }
}
