//! How a machine is parted among policies.

use super::Level;
use crate::syntax::Span;

/// CPUs and tasks that are one policy's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Its name.
    pub name: String,
    /// Its CPUs.
    pub cpus: Cpus,
    /// Index into [`Program::policies`].
    pub policy: usize,
    /// Whose tasks are its own, by the name of their group with `*` and `?`; `None` is everybody
    /// whom no other partition has.
    pub tasks: Option<String>,
    /// Where it stands.
    pub span: Span,
}

/// The CPUs of a partition.
#[derive(Clone, Debug, PartialEq)]
pub enum Cpus {
    /// Ranges of CPU numbers, both ends included.
    List(Vec<(u16, u16)>),
    /// One group of a level.
    Group(Level, u32),
    /// Those of no other partition.
    Rest,
}

/// Whether two partitions have a CPU in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meet {
    /// On every machine that has these CPUs.
    Surely,
    /// That depends on the machine.
    Perhaps,
}

impl Cpus {
    /// Whether both name a CPU. `None`: on no machine. The rest meets nobody: it is what the others
    /// leave.
    pub fn meets(&self, other: &Cpus) -> Option<Meet> {
        match (self, other) {
            (Cpus::Rest, _) | (_, Cpus::Rest) => None,
            (Cpus::List(a), Cpus::List(b)) => {
                let meet = a.iter().any(|a| b.iter().any(|b| a.0 <= b.1 && b.0 <= a.1));
                meet.then_some(Meet::Surely)
            }
            (Cpus::Group(a, n), Cpus::Group(b, m)) if a == b => (n == m).then_some(Meet::Surely),
            _ => Some(Meet::Perhaps),
        }
    }
}
