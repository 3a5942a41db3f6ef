//! Why a workload is not run.

use std::io;

use wastenot_model::Span;

use crate::runner::{plan, program};

/// A workload that cannot be run for real.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// The kernel keeps 15 bytes of a name.
    #[error("the name of the task `{name}` is longer than 15 bytes")]
    LongName {
        /// The name.
        name: String,
    },
    /// Its tasks may use a CPU that is not there.
    #[error("`{name}` may run on {cpus} only, and there are {there} CPUs")]
    NoCpu {
        /// The task's name.
        name: String,
        /// Its affinity.
        cpus: String,
        /// How many CPUs there are.
        there: usize,
    },
    /// More CPUs than fit into an affinity.
    #[error("there are {there} CPUs; at most 1024 are known here")]
    Crowd {
        /// How many CPUs there are.
        there: usize,
    },
    /// A task of the class of deadlines whose runtime, deadline and period do not go together.
    #[error("`{name}` asks for {runtime} by {deadline} in each {period}")]
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
    #[error("`{name}` is in the class `deadline` and has a period of {period}")]
    Period {
        /// The task's name.
        name: String,
        /// Its period.
        period: Span,
    },
    /// A task of the class of deadlines that may not run everywhere.
    #[error("`{name}` is in the class `deadline`, and may run on {cpus} only")]
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
    #[error("the group `{name}` has tasks and a group below it")]
    InnerTasks {
        /// The group.
        name: String,
    },
}

impl Unfit {
    /// What to do about it.
    pub fn help(&self) -> String {
        let help = match self {
            Unfit::NoProgram { program, .. } => match program::package(program) {
                Some(package) => return format!("apt install {package}"),
                None if program == "schbench" => {
                    "Debian 12 has no package of it: build it, and write its path"
                }
                None => "install it, or write its path, which begins at the scenario's folder",
            },
            Unfit::LongName { .. } => "give it a shorter one",
            Unfit::NoCpu { .. } => "choose a machine that has these CPUs: --machine",
            Unfit::Crowd { .. } => "choose a smaller machine: --machine",
            Unfit::Runtime { .. } => {
                "the kernel takes a runtime from 1.024us to the deadline, and that to the period"
            }
            Unfit::Period { .. } => "the kernel takes periods from 100us to 4.194304s",
            Unfit::Narrow { .. } => {
                "the kernel admits it on all CPUs only: take out its affinities"
            }
            Unfit::InnerTasks { .. } => "put its tasks into a group of their own below it",
        };
        help.into()
    }
}

/// Why a run came to no end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program was not built in.
    #[error("this wastenot cannot run workloads: it was built without clang")]
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
    #[error("the scenario has cgroups, and no cgroup2 is mounted")]
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
    #[error("the kernel refuses to {doing}{of}: {}", wastenot_host::reason(error))]
    Refused {
        /// What was tried.
        doing: &'static str,
        /// For which task, in words, or nothing.
        of: String,
        /// Why.
        error: io::Error,
    },
    /// A program of the user failed.
    #[error("`{command}`{of} {how}: {}", if said.is_empty() { "it wrote no error" } else { said })]
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
    #[error("the tasks made {lost} marks more than are kept ({kept})")]
    LostMarks {
        /// For how many there was no room.
        lost: u32,
        /// How many were kept.
        kept: u32,
    },
    /// The program ended before its time.
    #[error("the program that runs the tasks ended before its time: {how}")]
    Ended {
        /// How.
        how: String,
    },
}

impl Error {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Error::NotBuilt => "apt install clang, and build it again",
            Error::Cgroup { .. } => "cgroups need root; in a container they may be read-only",
            Error::NoCgroups => "mount -t cgroup2 none /sys/fs/cgroup",
            Error::LostMarks { .. } => "let them mark less often, or a smaller `limit` end the run",
            Error::Start { .. } | Error::Ended { .. } => {
                "try again; `wastenot doctor` may know more"
            }
            Error::Program { .. } => {
                "run it by itself; a guest has the files that its command names, and no others"
            }
            Error::Refused { doing: plan::RUNNING, .. } => {
                "run it by itself; its folder must be one that this user may enter"
            }
            Error::Refused { doing: plan::CLASSING, error, .. } if is_busy(error) => {
                "tasks in the class `deadline` may have 95 % of the CPUs together, and less where \
                 the kernel keeps some for other classes: give them less `wcet`, or more CPUs"
            }
            Error::Refused { .. } => {
                "run it as root; for more tasks raise `ulimit -u` and kernel.pid_max"
            }
        }
    }
}

fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ResourceBusy
}
