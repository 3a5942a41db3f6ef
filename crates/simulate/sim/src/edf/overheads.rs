//! The overheads of a run.

use crate::engine::Kernel;
use crate::mechanism::{Contention, LockId, Overhead, Seen};

/// The overheads of a run.
#[derive(Clone, Debug, Default)]
pub struct Overheads {
    /// By kind, as in [`Overhead::ALL`].
    pub seen: [Seen; Overhead::ALL.len()],
    /// By lock of the scheduler.
    pub locks: Vec<Contention>,
    /// By CPU: the most locks that one path took.
    pub locks_of_path: Vec<usize>,
    /// By mailbox: how many CPUs ever wrote it.
    pub mailbox_writers: Vec<usize>,
    /// Cache lines that went from one CPU to another.
    pub transfers: u64,
}

impl Overheads {
    pub(super) fn of(kernel: &Kernel, locks: impl Iterator<Item = LockId>) -> Overheads {
        Overheads {
            seen: Overhead::ALL.map(|kind| kernel.samples.of(kind)),
            locks: locks.map(|lock| kernel.hardware.contention(lock).clone()).collect(),
            transfers: kernel.hardware.transfers(),
            ..Overheads::default()
        }
    }
    /// The samples of one kind.
    pub fn seen(&self, kind: Overhead) -> Seen {
        self.seen[kind as usize]
    }
}
