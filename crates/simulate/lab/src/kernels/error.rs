//! Why there is no kernel.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use wastenot_model::Help;

/// Why there is no kernel.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no folder of the user.
    #[error("there is no folder for kernels: neither XDG_CACHE_HOME nor HOME is set")]
    NoFolder,
    /// A program of Debian is missing.
    #[error("cannot download kernels: {tool} is missing")]
    Missing {
        /// Its name.
        tool: &'static str,
    },
    /// The keys that sign Debian's archive are missing.
    #[error("the keys of the Debian archive are missing: {}", path.display())]
    NoKeys {
        /// Where they were looked for.
        path: PathBuf,
    },
    /// The archive does not answer.
    #[error("cannot reach the Debian archive: {why}")]
    NoNetwork {
        /// What apt says.
        why: String,
    },
    /// No suite could be read.
    #[error("no suite of the Debian archive can be read: {why}")]
    NoLists {
        /// What apt says of the first.
        why: String,
    },
    /// No kernel has this version.
    #[error("no kernel matches {wanted}; {there}")]
    Unknown {
        /// What was looked for.
        wanted: String,
        /// What there is, in words.
        there: String,
    },
    /// The archive had this package, and has it no longer.
    #[error("the Debian archive no longer has {package}")]
    Gone {
        /// Its name and version.
        package: String,
    },
    /// A package holds no kernel.
    #[error("{package} cannot be used: {why}")]
    BadPackage {
        /// Its name and version.
        package: String,
        /// What is wrong with it.
        why: String,
    },
    /// The disk is full.
    #[error("there is not enough disk space for kernels: {why}")]
    NoSpace {
        /// What the system says, and of which file.
        why: String,
    },
    /// The folder is not ours to write.
    #[error("the folder for kernels cannot be written: {why}")]
    NotAllowed {
        /// What the system says, and of which file.
        why: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Anything else.
    #[error("cannot {doing}: {why}")]
    Failed {
        /// What was tried.
        doing: &'static str,
        /// What the program says.
        why: String,
    },
}

impl Error {
    /// Converts an error of the system while it used a file.
    pub(crate) fn file(path: &Path, error: io::Error) -> Error {
        let why = || format!("{}: {error}", path.display());
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::NoSpace { why: why() },
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                Error::NotAllowed { why: why() }
            }
            _ => Error::File { path: path.to_owned(), error },
        }
    }
}

impl Help for Error {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Error::NoFolder => "set XDG_CACHE_HOME to a folder that you own",
            Error::Missing { .. } => {
                "install the tools that download Debian packages: apt install apt dpkg"
            }
            Error::NoKeys { .. } => "install the keys: apt install debian-archive-keyring",
            Error::NoNetwork { .. } => {
                "check the network and the proxy in /etc/apt, or use a kernel that is already \
                 downloaded"
            }
            Error::NoLists { .. } => {
                "install the newest keys (apt install debian-archive-keyring); or, if a mirror in \
                 /etc/apt/sources.list lacks these suites, use another mirror"
            }
            Error::Unknown { .. } => {
                "give a version (6.12), a package version (6.12.107-1) or a suite (sid); list them \
                 with `wastenot lab list`"
            }
            Error::Gone { .. } => {
                "give another version, because Debian's suites remove old versions"
            }
            Error::BadPackage { .. } => "give another version, and report this one",
            Error::NoSpace { .. } => {
                "free 300 MB of disk space, or set XDG_CACHE_HOME to another folder"
            }
            Error::NotAllowed { .. } => "set XDG_CACHE_HOME to another folder",
            Error::File { .. } => {
                "delete the broken file, so that the command downloads it again; or set \
                 XDG_CACHE_HOME to another folder"
            }
            Error::Failed { .. } => "check with `apt-get update` whether apt works on this machine",
        }
        .into()
    }
}
