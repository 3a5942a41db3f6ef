//! Why a scheduler cannot be loaded.

use std::path::PathBuf;

use crate::Refusal;

/// Why a scheduler cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read {}: {why}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The file is not what clang makes of emitted C.
    #[error("{} is no compiled scheduler of `wastenot rota emit`: {why}", path.display())]
    NotEmitted {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The machine does not fit into the tables.
    #[error("this machine does not fit: {why}")]
    DoesNotFit {
        /// Why not.
        why: String,
    },
    /// There is no clang.
    #[error("{name} is missing")]
    NoClang {
        /// What was looked for.
        name: String,
    },
    /// The kernel has no sched_ext.
    #[error("this kernel has no sched_ext (/sys/kernel/sched_ext)")]
    NoSchedExt,
    /// Another scheduler is loaded.
    #[error("another scheduler is loaded: {name}")]
    Busy {
        /// Its name.
        name: String,
    },
    /// BPF needs capabilities.
    #[error("loading a scheduler needs root (CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN)")]
    NotAllowed,
    /// The verifier refused a program.
    #[error("the kernel refuses {}: {}", .0.program, .0.why)]
    Refused(Refusal),
    /// Anything else.
    #[error("cannot {doing}: {why}")]
    Failed {
        /// What was tried.
        doing: &'static str,
        /// What the kernel or libbpf says.
        why: String,
    },
}

impl Error {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Error::Unreadable { .. } => "give the object that clang made: --object FILE.o",
            Error::NotEmitted { .. } => {
                "wastenot rota emit my.rota -o my.bpf.c; clang -g -O2 -target bpf -mcpu=v3 -c my.bpf.c"
            }
            Error::NoClang { .. } => {
                "apt install clang; or compile it elsewhere, and give the object: --object FILE.o"
            }
            Error::DoesNotFit { .. } => {
                "1024 CPUs at most, and each partition with a CPU that this machine has (`lscpu`)"
            }
            Error::NoSchedExt => "boot a kernel with CONFIG_SCHED_CLASS_EXT, 6.13 or later",
            Error::Busy { .. } => "end it first: it is never replaced",
            Error::NotAllowed => "run it as root: `sudo ...`",
            Error::Refused(_) => "please report it, with the policy and the kernel's version",
            Error::Failed { .. } => "`wastenot doctor` shows what this machine allows",
        }
    }
}
