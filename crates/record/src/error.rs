//! Why nothing can be recorded.

use std::io;

/// Why nothing can be recorded, or no more.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This build has no BPF programs.
    #[error("this build has no BPF programs")]
    NotBuilt,
    /// The kernel describes no types, so programs cannot be fitted to it.
    #[error("the kernel has no BTF (/sys/kernel/btf/vmlinux)")]
    NoBtf,
    /// BPF is for those who may.
    #[error("BPF needs CAP_BPF and CAP_PERFMON")]
    NotAllowed,
    /// Something that every recording needs failed.
    #[error("cannot {doing}: {why}")]
    Failed {
        /// What was being done.
        doing: String,
        /// What the kernel said.
        why: String,
    },
    /// The recording cannot be written.
    #[error(transparent)]
    Write(#[from] wastenot_read::Error),
    /// Anything else of the system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Error {
    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Error::NotBuilt => "install clang and build again; `--tracefs` records without",
            Error::NoBtf => "boot a kernel with CONFIG_DEBUG_INFO_BTF; `--tracefs` records without",
            Error::NotAllowed => "run it as root: `sudo wastenot record ...`",
            Error::Failed { .. } => "`wastenot doctor` says what this machine allows",
            Error::Write(_) | Error::Io(_) => "is the disk full?",
        }
        .to_owned()
    }
}
