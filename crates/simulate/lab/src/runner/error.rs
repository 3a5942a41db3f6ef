//! Why a workload is not run.

use std::io;

use wastenot_model::{Help, Span};

/// The kernel does not execute a program of the user.
pub(crate) const RUNNING: &str = "execute the program of";
/// The kernel does not give a task its class.
pub(crate) const CLASSING: &str = "set the scheduling class of";
/// A pipe of the kernel has no room.
pub(crate) const FILLING: &str = "put a token into a full pipe for";

/// A workload that cannot be run for real.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// The kernel keeps 15 bytes of a name.
    #[error("the task name `{name}` is longer than 15 bytes")]
    LongName {
        /// The name.
        name: String,
    },
    /// Its tasks may use a CPU that is not there.
    #[error("`{name}` may run only on {cpus}, but the machine has {there} CPUs")]
    NoCpu {
        /// The task's name.
        name: String,
        /// Its affinity.
        cpus: String,
        /// How many CPUs there are.
        there: usize,
    },
    /// More CPUs than fit into an affinity.
    #[error("the machine has {there} CPUs; at most 1024 are supported")]
    Crowd {
        /// How many CPUs there are.
        there: usize,
    },
    /// A task of the class of deadlines whose runtime, deadline and period do not go together.
    #[error(
        "the kernel would reject the task `{name}`, because its runtime {runtime}, its deadline \
         {deadline} and its period {period} do not fit together"
    )]
    Runtime {
        /// The task's name.
        name: String,
        /// Its runtime.
        runtime: Span,
        /// Its deadline.
        deadline: Span,
        /// Its period.
        period: Span,
    },
    /// A task of the class of deadlines with a period that the kernel does not take.
    #[error(
        "the kernel would reject the task `{name}`: the class `deadline` does not allow a period \
         of {period}"
    )]
    Period {
        /// The task's name.
        name: String,
        /// Its period.
        period: Span,
    },
    /// A task of the class of deadlines that may not run everywhere.
    #[error(
        "the kernel would reject the task `{name}`: a task in the class `deadline` may not be \
         bound to CPUs. This task may run only on {cpus}"
    )]
    Narrow {
        /// The task's name.
        name: String,
        /// Its affinity, or one that it changes to.
        cpus: String,
    },
    /// A program that a task runs is not there, or cannot be executed.
    #[error("the task `{name}` runs `{program}`, which cannot be executed: {why}")]
    NoProgram {
        /// The task's name.
        name: String,
        /// The program, as the user wrote it.
        program: String,
        /// Why.
        why: String,
    },
    /// A group has both tasks and groups below it: cgroups do not allow that.
    #[error("the group `{name}` contains tasks, and also contains another group")]
    InnerTasks {
        /// The group.
        name: String,
    },
}

impl Help for Unfit {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        let help = match self {
            Unfit::NoProgram { program, .. } => match package(program) {
                Some(it) => return format!("install the program: apt install {it}").into(),
                None if program == "schbench" => {
                    "build `schbench`, because Debian 12 has no package of it; then write the path \
                     of the program into the step `run` of the scenario"
                }
                None => {
                    "install the program, or write the path of the program into the step `run`, \
                     relative to the folder of the scenario"
                }
            },
            Unfit::LongName { .. } => "give the task a shorter name",
            Unfit::NoCpu { .. } => "choose a machine that has these CPUs: --machine",
            Unfit::Crowd { .. } => "choose a smaller machine: --machine",
            Unfit::Runtime { .. } => {
                "set a runtime of at least 1.024us, a deadline that is not shorter than the \
                 runtime, and a period that is not shorter than the deadline"
            }
            Unfit::Period { .. } => "set a period from 100us to 4.194304s",
            Unfit::Narrow { .. } => {
                "remove the CPU affinity of the task: the kernel accepts the class `deadline` only \
                 on all CPUs"
            }
            Unfit::InnerTasks { .. } => "move the tasks into a separate group below this group",
        };
        help.into()
    }
}

/// Why a run came to no end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program was not built in.
    #[error("cannot run workloads: this wastenot was built without clang")]
    NotBuilt,
    /// A cgroup cannot be made or set.
    #[error("cannot {doing} the cgroup {path}: {}", wastenot_host::reason(error))]
    Cgroup {
        /// What was tried.
        doing: &'static str,
        /// Which.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// There is no hierarchy of cgroups (version 2).
    #[error("the scenario has cgroups, but no cgroup2 hierarchy is mounted")]
    NoCgroups,
    /// The program cannot be started, or its plan not be read.
    #[error("cannot {doing}: {}", wastenot_host::reason(error))]
    Start {
        /// What was tried.
        doing: &'static str,
        /// Why.
        error: io::Error,
    },
    /// The kernel refused what a task asked for.
    #[error("the kernel refused to {doing}{of}: {}", wastenot_host::reason(error))]
    Refused {
        /// What was tried.
        doing: &'static str,
        /// For which task, in words, or nothing.
        of: String,
        /// Why.
        error: io::Error,
    },
    /// A pipe of the kernel has no room for another token.
    #[error(
        "the task{of} cannot put a token into a pipe: the pipe is full, and the scenario sets no \
         `capacity` for this pipe"
    )]
    Full {
        /// For which task, in words, or nothing.
        of: String,
    },
    /// A program of the user failed.
    #[error("`{command}`{of} {how}: {}", if said.is_empty() { "it printed no \
                                                               error" } else { said })]
    Program {
        /// The program and its arguments.
        command: String,
        /// Of which task, in words.
        of: String,
        /// How it ended.
        how: String,
        /// The last lines that it wrote to its standard error.
        said: String,
    },
    /// There was no room for marks: how many there were is not known.
    #[error("the tasks recorded too many marks: {kept} were stored, and {lost} were lost")]
    LostMarks {
        /// For how many there was no room.
        lost: u32,
        /// How many were kept.
        kept: u32,
    },
    /// The program ended before its time.
    #[error("the program that runs the tasks ended too early: {how}")]
    Ended {
        /// How.
        how: String,
    },
}

impl Help for Error {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Error::NotBuilt => "install clang (`apt install clang`) and build wastenot again",
            Error::Cgroup { .. } => {
                "run the command as root; in a container, cgroups may be read-only"
            }
            Error::NoCgroups => "mount the hierarchy: `mount -t cgroup2 none /sys/fs/cgroup`",
            Error::LostMarks { .. } => {
                "record fewer marks, or end the run earlier with a smaller `limit`"
            }
            Error::Start { .. } | Error::Ended { .. } => {
                "try again, and check the machine with `wastenot doctor`"
            }
            Error::Program { .. } => {
                "run only this command to see its errors. If it runs in a guest: the guest \
                 contains only the files that the command names"
            }
            Error::Full { .. } => {
                "set a `capacity` for this pipe: a task then waits while the pipe is full"
            }
            Error::Refused { doing: RUNNING, .. } => {
                "run only this program, as the same user; the user must have access to the folder \
                 of the program"
            }
            Error::Refused { doing: CLASSING, error, .. } if is_busy(error) => {
                "reduce `wcet`, or use more CPUs: tasks in the class `deadline` may reserve at most \
                 95 % of the CPU time, or less if other classes have reservations"
            }
            Error::Refused { .. } => {
                "run the command as root; for more tasks increase `ulimit -u` and kernel.pid_max"
            }
        }
        .into()
    }
}

fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ResourceBusy
}

/// The Debian package of a program that loads or measures schedulers.
fn package(program: &str) -> Option<&'static str> {
    const PACKAGES: [(&str, &str); 5] = [
        ("hackbench", "rt-tests"),
        ("cyclictest", "rt-tests"),
        ("rt-app", "rt-app"),
        ("stress-ng", "stress-ng"),
        ("perf", "linux-perf"),
    ];
    PACKAGES.iter().find(|(name, _)| *name == program).map(|(_, package)| *package)
}
