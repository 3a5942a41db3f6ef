//! Why there is no kernel.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Why there is no kernel.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no folder of the user.
    #[error("kernels have no folder: neither XDG_CACHE_HOME nor HOME is set")]
    NoFolder,
    /// A program of Debian is missing.
    #[error("{tool} is missing")]
    Missing {
        /// Its name.
        tool: &'static str,
    },
    /// The keys that sign Debian's archive are missing.
    #[error("the keys of Debian's archive are missing: {}", path.display())]
    NoKeys {
        /// Where they were looked for.
        path: PathBuf,
    },
    /// The archive does not answer.
    #[error("cannot reach Debian's archive: {why}")]
    NoNetwork {
        /// What apt says.
        why: String,
    },
    /// No suite could be read.
    #[error("no suite of Debian's archive can be read: {why}")]
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
    #[error("Debian's archive no longer has {package}")]
    Gone {
        /// Its name and version.
        package: String,
    },
    /// A package holds no kernel.
    #[error("{package} is of no use: {why}")]
    BadPackage {
        /// Its name and version.
        package: String,
        /// What is wrong with it.
        why: String,
    },
    /// The disk is full.
    #[error("no space is left for kernels: {why}")]
    NoSpace {
        /// What the system says, and of which file.
        why: String,
    },
    /// The folder is not ours to write.
    #[error("kernels may not be written: {why}")]
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
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Error::NoFolder => "set XDG_CACHE_HOME to a folder of yours",
            Error::Missing { .. } => {
                "kernels are fetched as packages of Debian: apt install apt dpkg"
            }
            Error::NoKeys { .. } => "apt install debian-archive-keyring",
            Error::NoNetwork { .. } => {
                "kernels that were fetched before need no network; a proxy is set in /etc/apt"
            }
            Error::NoLists { .. } => {
                "apt install debian-archive-keyring brings its newest keys; a mirror without these \
                 suites can be replaced in /etc/apt/sources.list"
            }
            Error::Unknown { .. } => {
                "name a version (6.12), one of a package (6.12.107-1), or a suite (sid); `wastenot \
                 lab list` shows all"
            }
            Error::Gone { .. } => "name another version: suites drop what is old",
            Error::BadPackage { .. } => "name another version, and report this one",
            Error::NoSpace { .. } => {
                "300 MB are needed while kernels are fetched; XDG_CACHE_HOME names another place"
            }
            Error::NotAllowed { .. } => "XDG_CACHE_HOME names another place",
            Error::File { .. } => {
                "XDG_CACHE_HOME names another place; a broken file there can be removed: what is \
                 missing is fetched again"
            }
            Error::Failed { .. } => "`apt-get update` shows whether apt works on this machine",
        }
    }

    /// What went wrong with a file.
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
