//! Why nothing can be recorded.

use std::io;
use std::path::PathBuf;

use wastenot_model::Help;

/// Why nothing can be recorded, or no more.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This build has no BPF programs.
    #[error("cannot record with BPF: this build of wastenot contains no BPF programs")]
    NotBuilt,
    /// The kernel has no type description, so programs cannot be relocated for it.
    #[error("cannot record with BPF: the kernel has no BTF (/sys/kernel/btf/vmlinux)")]
    NoBtf,
    /// The kernel's BPF lacks features that our programs need.
    #[error("cannot record with BPF: the kernel lacks BPF features of Linux {since}")]
    TooOld {
        /// The first version that has them.
        since: &'static str,
    },
    /// The kernel does not allow recording decisions.
    #[error("cannot record decisions on this kernel: {why}")]
    NoDecisions {
        /// What it lacks or refuses.
        why: String,
    },
    /// BPF needs capabilities.
    #[error("cannot record with BPF: CAP_BPF and CAP_PERFMON are required")]
    NotAllowed,
    /// Tracefs is not mounted, or the kernel was built without instances.
    #[error("cannot record with tracefs: it is not mounted")]
    NoTracefs,
    /// Tracefs can only be read, as in most containers.
    #[error("cannot record with tracefs: it is mounted read-only")]
    ReadOnly,
    /// Only root may use tracefs.
    #[error("cannot record with tracefs: only root may use it")]
    NotRoot,
    /// There are no scheduling events, or none that can be read.
    #[error("cannot record with tracefs: the kernel has no event sched_switch")]
    NoEvents,
    /// No way of recording works.
    #[error("{bpf}; {tracefs}")]
    Neither {
        /// Why BPF does not work.
        bpf: Box<Error>,
        /// Why tracefs does not work.
        tracefs: Box<Error>,
    },
    /// The metrics of a watch cannot be served.
    #[error(transparent)]
    Listen(#[from] wastenot_host::metrics::ListenError),
    /// An operation that every recording needs failed.
    #[error("cannot {doing}: {why}")]
    Failed {
        /// The operation.
        doing: String,
        /// The kernel's error.
        why: String,
    },
    /// The recording cannot be written.
    #[error(transparent)]
    Write(#[from] wastenot_read::Error),
    /// Recordings cannot be kept in this folder.
    #[error("cannot write traces to {}: {}", folder.display(), why.kind())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        why: io::Error,
    },
    /// Any other error of the system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Error {
    /// The system's error, if there was one.
    pub fn into_io(self) -> io::Error {
        match self {
            Error::Write(wastenot_read::Error::Write(error) | wastenot_read::Error::Io(error))
            | Error::Io(error) => error,
            error => io::Error::other(error.to_string()),
        }
    }
}

impl Help for Error {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Error::NotBuilt => {
                "install clang and build again, or record with `wastenot record --tracefs`"
            }
            Error::NoBtf => {
                "boot a kernel with CONFIG_DEBUG_INFO_BTF, or use `wastenot record --tracefs`"
            }
            Error::TooOld { .. } => {
                "boot a newer kernel, or record with `wastenot record --tracefs`"
            }
            Error::NoDecisions { .. } => {
                "record without --decisions, or boot a kernel that supports this option \
                 (docs/how-to/record.md)"
            }
            Error::NoTracefs => {
                "mount tracefs as root: `mount -t tracefs nodev /sys/kernel/tracing`"
            }
            Error::ReadOnly => {
                "record on the host, or remount tracefs as root: `mount -o remount,rw \
                 /sys/kernel/tracing`"
            }
            Error::NoEvents => "boot a kernel with CONFIG_FTRACE and CONFIG_EVENT_TRACING",
            Error::Neither { bpf, .. } if matches!(**bpf, Error::NotAllowed) => return bpf.help(),
            Error::Neither { tracefs, .. } => return tracefs.help(),
            Error::NotAllowed | Error::NotRoot => "run the command as root: `sudo wastenot ...`",
            Error::Listen(error) => return error.help(),
            Error::Failed { .. } => "list what this machine supports with `wastenot doctor`",
            Error::Folder { .. } => "give a writable folder: `--save DIR`",
            Error::Write(wastenot_read::Error::Write(error) | wastenot_read::Error::Io(error))
            | Error::Io(error) => full(error),
            Error::Write(_) => "give another output path",
        }
        .into()
    }
}

/// The advice for a file that the system could not write any further.
fn full(error: &io::Error) -> &'static str {
    use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => "free some disk space, then try again",
        PermissionDenied => "give a path that you may write to",
        _ => "give another output path",
    }
}
