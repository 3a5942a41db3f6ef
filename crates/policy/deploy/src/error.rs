//! Why a scheduler cannot be loaded.

use std::path::PathBuf;

use wastenot_model::Help;

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
    #[error("{} is not a scheduler that was compiled from the C of `wastenot rota emit`: \
             {why}", path.display())]
    NotEmitted {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The machine does not fit into the tables.
    #[error("the policy does not support this machine: {why}")]
    DoesNotFit {
        /// Why not.
        why: String,
    },
    /// There is no clang.
    #[error("cannot compile the policy: {name} is missing")]
    NoClang {
        /// What was looked for.
        name: String,
    },
    /// The kernel has no sched_ext.
    #[error("cannot load a scheduler: this kernel has no sched_ext (/sys/kernel/sched_ext)")]
    NoSchedExt,
    /// Another scheduler is loaded.
    #[error("cannot load the scheduler: another sched_ext scheduler is loaded: {name}")]
    Busy {
        /// Its name.
        name: String,
    },
    /// BPF needs capabilities.
    #[error("cannot load a scheduler: root is required (CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN)")]
    NotAllowed,
    /// The verifier refused a program.
    #[error("the verifier of the kernel rejects {}: {}", .0.program, .0.why)]
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

impl Help for Error {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Error::Unreadable { .. } => "give the object file that clang made: --object FILE.o",
            Error::NotEmitted { .. } => {
                "run `wastenot rota emit my.rota -o my.bpf.c`, then `clang -g -O2 -target bpf \
                 -mcpu=v3 -c my.bpf.c`"
            }
            Error::NoClang { .. } => {
                "install clang (`apt install clang`), or compile on another machine and give the \
                 object: --object FILE.o"
            }
            Error::DoesNotFit { .. } => {
                "use at most 1024 CPUs, and give each partition a CPU of this machine (`lscpu`)"
            }
            Error::NoSchedExt => "boot a kernel 6.13 or later with CONFIG_SCHED_CLASS_EXT",
            Error::Busy { .. } => {
                "stop the other scheduler first; `wastenot deploy` never replaces a scheduler"
            }
            Error::NotAllowed => "run the command as root: `sudo ...`",
            Error::Refused(_) => "report this bug, with the policy and the kernel version",
            Error::Failed { .. } => "run `wastenot doctor` to see what this machine allows",
        }
        .into()
    }
}
