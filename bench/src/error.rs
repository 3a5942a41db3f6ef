//! Errors in a benchmark's input.

use std::io;

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// A command line that is not understood.
    #[error("usage: {0}")]
    Usage(&'static str),
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Another format, or a variant of it that the benchmarks never make.
    #[error("not {0}")]
    Unfit(&'static str),
    /// No such scheduler.
    #[error("{0}")]
    Simulation(String),
    /// The timer of `watch` is not available.
    #[error("{0}")]
    Watch(String),
    /// A BPF object cannot be loaded.
    #[error(transparent)]
    Bpf(#[from] libbpf_rs::Error),
    /// The file contradicts itself.
    #[error("the file is damaged at byte {0}")]
    Damaged(usize),
    /// `wastenot` cannot read it.
    #[error(transparent)]
    Read(#[from] wastenot_read::Error),
    /// No such task sets.
    #[error(transparent)]
    Sets(#[from] wastenot_scenario::Error),
    /// No thread pool.
    #[error(transparent)]
    Threads(#[from] rayon::ThreadPoolBuildError),
}
