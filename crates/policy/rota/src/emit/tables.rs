//! The tables that a loader writes into an emitted file: the groups of the machine.

use super::MAX_CPUS;
use crate::Tree;
use crate::ir::Level;

/// So many rows has a table of levels: LEVEL_ROWS of the emitted code.
const LEVEL_ROWS: usize = 8;

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

    /// The contents of each table, by its name, as C lays it out: rows of levels and of partitions
    /// are padded to a power of two.
    pub fn images(&self) -> [(&'static str, Vec<u8>); 5] {
        let words = |words: &[u16]| words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let spans = |spans: &[Span]| -> Vec<u16> {
            spans.iter().flat_map(|span| [span.first, span.count]).collect()
        };
        let rows = |rows: Vec<Vec<u16>>, count: usize, width: usize| -> Vec<u8> {
            let mut all: Vec<u16> = Vec::new();
            for mut row in rows {
                row.resize(width, 0);
                all.append(&mut row);
            }
            all.resize(count * width, 0);
            words(&all)
        };
        let levels = |table: &[[u16; MAX_CPUS]]| {
            rows(table.iter().map(|row| row.to_vec()).collect(), LEVEL_ROWS, MAX_CPUS)
        };
        let members = self.members.iter().map(|row| spans(row)).collect();
        let groups = self.groups.iter().map(|row| spans(row)).collect();
        let parts = self.groups.len().next_power_of_two();
        [
            ("part_of", words(&self.part_of)),
            ("group_of", levels(&self.group_of)),
            ("member", levels(&self.member)),
            ("members", rows(members, LEVEL_ROWS, 2 * MAX_CPUS)),
            ("groups", rows(groups, parts, 2 * LEVEL_ROWS)),
        ]
    }

    /// All numbers of the tables for a machine of so many CPUs, table after table: without the
    /// padding of [`Tables::images`].
    pub fn numbers(&self, cpus: usize) -> Vec<u16> {
        let mut all = self.part_of[..cpus].to_vec();
        for level in self.group_of.iter().chain(&self.member) {
            all.extend(&level[..cpus]);
        }
        let members = self.members.iter().map(|level| &level[..cpus]);
        for span in members.chain(self.groups.iter().map(Vec::as_slice)).flatten() {
            all.extend([span.first, span.count]);
        }
        all
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
