//! What can go wrong with a benchmark's input.

use std::io;

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// Asked in a way that is not understood.
    #[error("usage: {0}")]
    Usage(&'static str),
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Another format, or a form of it that the benchmarks never make.
    #[error("not {0}")]
    Unfit(&'static str),
    /// No such scheduler.
    #[error("{0}")]
    Simulation(String),
    /// The timer of `watch` cannot be had.
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
    /// No thread to work on.
    #[error(transparent)]
    Threads(#[from] rayon::ThreadPoolBuildError),
}
