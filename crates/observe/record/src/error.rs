//! Why nothing can be recorded.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why nothing can be recorded, or no more.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This build has no BPF programs.
    #[error("this build has no BPF programs")]
    NotBuilt,
    /// The kernel has no type description, so programs cannot be relocated for it.
    #[error("the kernel has no BTF (/sys/kernel/btf/vmlinux)")]
    NoBtf,
    /// The kernel's BPF lacks features that our programs need.
    #[error("the kernel is too old: it lacks BPF features of Linux {since}")]
    TooOld {
        /// The first version that has them.
        since: &'static str,
    },
    /// The kernel does not allow recording decisions.
    #[error("this kernel does not allow recording decisions: {why}")]
    NoDecisions {
        /// What it lacks or refuses.
        why: String,
    },
    /// BPF needs capabilities.
    #[error("BPF needs CAP_BPF and CAP_PERFMON")]
    NotAllowed,
    /// Tracefs is not mounted, or the kernel was built without instances.
    #[error("tracefs is not mounted")]
    NoTracefs,
    /// Tracefs can only be read, as in most containers.
    #[error("tracefs is mounted read-only")]
    ReadOnly,
    /// Only root may use tracefs.
    #[error("tracefs belongs to root")]
    NotRoot,
    /// There are no scheduling events, or none that can be read.
    #[error("the kernel has no event sched_switch in tracefs")]
    NoEvents,
    /// No way of recording works.
    #[error("{bpf}; and without BPF: {tracefs}")]
    Neither {
        /// Why BPF does not work.
        bpf: Box<Error>,
        /// Why tracefs does not work.
        tracefs: Box<Error>,
    },
    /// The metrics of a watch cannot be served.
    #[error("cannot listen on {address}: {}", why.kind())]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The kernel's error.
        why: io::Error,
    },
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
    #[error("cannot keep recordings in {}: {}", folder.display(), why.kind())]
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

    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Error::NotBuilt => {
                "install clang and build again; `wastenot record --tracefs` does without"
            }
            Error::NoBtf => {
                "boot a kernel with CONFIG_DEBUG_INFO_BTF; `wastenot record --tracefs` does without"
            }
            Error::TooOld { .. } => {
                "boot a later kernel; `wastenot record --tracefs` records on this one"
            }
            Error::NoDecisions { .. } => {
                "record without --decisions, or boot a kernel that allows it \
                 (docs/how-to/record.md)"
            }
            Error::NoTracefs => "as root: `mount -t tracefs nodev /sys/kernel/tracing`",
            Error::ReadOnly => {
                "record on the host, or as root: `mount -o remount,rw /sys/kernel/tracing`"
            }
            Error::NoEvents => "boot a kernel with CONFIG_FTRACE and CONFIG_EVENT_TRACING",
            Error::Neither { bpf, .. } if matches!(**bpf, Error::NotAllowed) => return bpf.help(),
            Error::Neither { tracefs, .. } => return tracefs.help(),
            Error::NotAllowed | Error::NotRoot => "run it as root: `sudo wastenot ...`",
            Error::Listen { why, .. } if why.kind() == io::ErrorKind::AddrInUse => {
                "`ss -ltnp` shows who does; port 0 is any that is free"
            }
            Error::Listen { .. } => "name an address of this machine and a port above 1023",
            Error::Failed { .. } => "`wastenot doctor` lists what this machine supports",
            Error::Folder { .. } => "name a folder that can be written: `--save DIR`",
            Error::Write(wastenot_read::Error::Write(error) | wastenot_read::Error::Io(error))
            | Error::Io(error) => full(error),
            Error::Write(_) => "name another place to write to",
        }
        .to_owned()
    }
}

/// The advice for a file that the system could not write any further.
fn full(error: &io::Error) -> &'static str {
    use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded | FileTooLarge => "the disk is full: free some of it",
        PermissionDenied => "name a place where you may write",
        _ => "name another place to write to",
    }
}
