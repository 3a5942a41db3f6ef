//! The tables that a loader writes into an emitted file: the groups of the machine.

use super::MAX_CPUS;
use crate::Tree;
use crate::ir::Level;

/// A range of CPU numbers or of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub first: u16,
    /// How many.
    pub count: u16,
}

/// The read-only tables of an emitted file, with the same names and in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// The partition of each CPU; [`Tables::NOBODY`] for CPUs without a partition.
    pub part_of: Vec<u16>,
    /// By level and CPU: its group.
    pub group_of: Vec<[u16; MAX_CPUS]>,
    /// By level: the CPUs, group after group.
    pub member: Vec<[u16; MAX_CPUS]>,
    /// By level and group: which part of `member` holds its CPUs.
    pub members: Vec<[Span; MAX_CPUS]>,
    /// By partition and level: its groups.
    pub groups: Vec<Vec<Span>>,
}

impl Tables {
    /// The CPU is in no partition.
    pub const NOBODY: u16 = u16::MAX;

    /// The tables for partitions with these groups, in the order of the program. `None` if a
    /// partition has no CPU, or if a CPU number is too large for the tables.
    pub fn of(partitions: &[Tree]) -> Option<Tables> {
        let levels = Level::ALL.len();
        let mut tables = Tables {
            part_of: vec![Tables::NOBODY; MAX_CPUS],
            group_of: vec![[0; MAX_CPUS]; levels],
            member: vec![[0; MAX_CPUS]; levels],
            members: vec![[Span::default(); MAX_CPUS]; levels],
            groups: Vec::new(),
        };
        let mut first = [0; Level::ALL.len()];
        let mut cpus = 0;
        for (part, tree) in partitions.iter().enumerate() {
            let fits = tree.cpus().iter().all(|cpu| cpu.index() < MAX_CPUS);
            if tree.cpus().is_empty() || !fits || cpus + tree.cpus().len() > MAX_CPUS {
                return None;
            }
            for &cpu in tree.cpus() {
                tables.part_of[cpu.index()] = part as u16;
            }
            let spans =
                Level::ALL.map(|level| tables.level(tree, level, first[level as usize], cpus));
            for (first, span) in first.iter_mut().zip(spans) {
                *first += span.count;
            }
            cpus += tree.cpus().len();
            tables.groups.push(spans.to_vec());
        }
        Some(tables)
    }

    /// One level of one partition: groups from `first` on, CPUs from `at` on.
    fn level(&mut self, tree: &Tree, level: Level, first: u16, mut at: usize) -> Span {
        let row = level as usize;
        let count = tree.count(level) as u16;
        for group in 0..count {
            let members = tree.members(level, usize::from(group));
            let number = first + group;
            self.members[row][usize::from(number)] =
                Span { first: at as u16, count: members.len() as u16 };
            for &cpu in members {
                self.group_of[row][cpu.index()] = number;
                self.member[row][at] = cpu.0;
                at += 1;
            }
        }
        Span { first, count }
    }
}
