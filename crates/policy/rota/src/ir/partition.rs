//! How the CPUs of a machine are divided among policies.

use super::Level;
use crate::syntax::Span;

/// The CPUs and tasks of one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// Its name.
    pub name: String,
    /// Its CPUs.
    pub cpus: Cpus,
    /// Index into [`Program::policies`].
    pub policy: usize,
    /// Its tasks.
    pub tasks: Tasks,
    /// Its position in the text.
    pub span: Span,
}

/// The tasks of a partition. Patterns have `*` and `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tasks {
    /// By the name of their cgroup or session.
    Cgroup(String),
    /// By the name of their command: that of the process (`comm`), in a kernel.
    Command(String),
    /// All that no other partition has.
    Rest,
}

/// The CPUs of a partition.
#[derive(Clone, Debug, PartialEq)]
pub enum Cpus {
    /// Ranges of CPU numbers, both ends included.
    List(Vec<(u16, u16)>),
    /// One group of a level.
    Group(Level, u32),
    /// All CPUs that no other partition has.
    Rest,
}

/// Whether two partitions have a CPU in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meet {
    /// Yes, on every machine that has these CPUs.
    Surely,
    /// On some machines.
    Perhaps,
}

impl Cpus {
    /// Whether both contain the same CPU. `None`: on no machine. `Rest` meets no other, since it is
    /// what the others leave.
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
