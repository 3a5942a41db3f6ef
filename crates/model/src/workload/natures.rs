//! Facts about tasks that no event contains, as annexes of the resulting History: a simulator
//! writes them, and the code that extracts the workload from that History reads them.
//!
//! They include no costs except one: what a task loses by being switched or moved is in its CPU
//! time. They include no quotas: events report throttling.

use std::collections::BTreeMap;

use super::{Group, GroupId, Template};
use crate::{Annex, History, Span, Table, Time, Value};

/// The deepest nesting that is accepted.
const DEPTH: usize = 32;

/// Facts about a task that no event contains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nature {
    /// The session or cgroup.
    pub group: GroupId,
    /// Whether it is a kernel thread.
    pub kthread: bool,
    /// Whether the workload is complete only when the task has ended.
    pub awaited: bool,
    /// Priority of OSv.
    pub priority: f64,
    /// The parallel job that it belongs to.
    pub job: Option<u32>,
}

impl Default for Nature {
    fn default() -> Nature {
        Nature::of(&Template::new("", Default::default()))
    }
}

impl Nature {
    /// The nature of the tasks of `template`.
    pub fn of(template: &Template) -> Nature {
        let Template { group, kthread, awaited, priority, job, .. } = *template;
        Nature { group, kthread, awaited, priority, job }
    }
}

/// From `at` on, wakers of the task are about to sleep (`WF_SYNC`), or are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synchrony {
    /// When.
    pub at: Time,
    /// The task, by its tid.
    pub tid: i32,
    /// Whether its wakers are about to sleep. Before the first entry they are not.
    pub sync: bool,
}

/// Everything that a simulated History contains in addition to its events. Tasks are identified by
/// their tids, which a simulator never reuses: task ids change when a part is cut out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Natures {
    /// Sessions and cgroups, without quotas; empty if there is only the root.
    pub groups: Vec<Group>,
    /// Tasks that differ from [`Nature::default`].
    pub tasks: BTreeMap<i32, Nature>,
    /// In time order.
    pub synchrony: Vec<Synchrony>,
    /// How long it takes until a CPU that another CPU kicks reacts.
    pub ipi: Span,
}

impl Natures {
    /// The natures in `history`. Entries that make no sense are left out: files may be damaged.
    pub fn told(history: &History) -> Natures {
        let groups = groups_told(history);
        let known = groups.len().max(1);
        let columns = ["tid", "group", "kthread", "awaited", "priority", "job"];
        let tasks = history.annex_cells("tasks", columns).filter_map(|row| {
            let ordinary = Nature::default();
            let group = row[1].int().filter(|&group| (group as usize) < known);
            let nature = Nature {
                group: group.map_or(ordinary.group, GroupId),
                kthread: row[2].flag().unwrap_or(ordinary.kthread),
                awaited: row[3].flag().unwrap_or(ordinary.awaited),
                priority: number(row[4]).unwrap_or(ordinary.priority),
                job: row[5].int(),
            };
            Some((row[0].int()?, nature))
        });
        let synchrony = history.annex_cells("synchrony", ["at_ns", "tid", "sync"]);
        let synchrony = synchrony.filter_map(|row| {
            Some(Synchrony { at: Time(row[0].int()?), tid: row[1].int()?, sync: row[2].flag()? })
        });
        let ipi = history.annex_cells("costs", ["ipi_ns"]).find_map(|row| row[0].int());
        let mut natures = Natures {
            tasks: tasks.collect(),
            synchrony: synchrony.collect(),
            ipi: Span(ipi.unwrap_or(0)),
            groups,
        };
        natures.synchrony.sort_by_key(|it| it.at);
        natures
    }

    /// As annexes, without ordinary tasks.
    pub fn annexes(&self) -> Vec<Annex> {
        let mut tables = Vec::new();
        if !self.groups.is_empty() {
            tables.push(self.group_table());
        }
        if !self.tasks.is_empty() {
            tables.push(self.task_table());
        }
        if !self.synchrony.is_empty() {
            tables.push(self.synchrony_table());
        }
        if self.ipi > Span::ZERO {
            let mut costs = Table::new("costs", "Costs outside the CPU time of tasks", []);
            costs.row(|row| row.ns("ipi_ns", "IPI", self.ipi));
            tables.push(costs);
        }
        tables.into_iter().map(|table| Annex { table }).collect()
    }

    fn group_table(&self) -> Table {
        Table::of("groups", "Sessions and cgroups", &self.groups, |row, group| {
            row.cell("name", "name", group.name.as_str())
                .cell("parent", "parent", group.parent.map(|parent| parent.0))
                .cell("session", "session", group.session)
                .cell("shares", "shares", group.shares)
        })
    }

    fn task_table(&self) -> Table {
        Table::of("tasks", "Properties of tasks", &self.tasks, |row, (&tid, nature)| {
            row.cell("tid", "tid", tid)
                .cell("group", "group", nature.group.0)
                .cell("kthread", "kernel thread", nature.kthread)
                .cell("awaited", "awaited", nature.awaited)
                .cell("priority", "priority", nature.priority)
                .cell("job", "job", nature.job)
        })
    }

    fn synchrony_table(&self) -> Table {
        Table::of("synchrony", "Tasks with synchronous wakeups", &self.synchrony, |row, it| {
            let row = row.at("at_ns", "from", it.at).cell("tid", "tid", it.tid);
            row.cell("sync", "wakers are about to sleep", it.sync)
        })
    }
}

/// Groups, each of which is in a group that leads to the root, the first.
fn groups_told(history: &History) -> Vec<Group> {
    let columns = ["name", "parent", "session", "shares"];
    let told = history.annex_cells("groups", columns).enumerate().map(|(n, row)| Group {
        // Removed from a file that is passed on.
        name: row[0].text().map_or_else(|| format!("g-{n}"), str::to_owned),
        parent: row[1].int().map(GroupId),
        session: row[2].flag().unwrap_or(false),
        shares: row[3].int().unwrap_or(1024).clamp(2, 262_144),
        quota: None,
        cpus: None,
    });
    let mut groups: Vec<Group> = told.collect();
    for n in 0..groups.len() {
        let up = |group: &usize| groups.get(*group)?.parent.map(GroupId::index);
        let leads_to_root = std::iter::successors(Some(n), up).take(DEPTH).any(|group| group == 0);
        if n == 0 {
            groups[n].parent = None;
        } else if !leads_to_root {
            groups[n].parent = Some(GroupId(0));
        }
    }
    groups
}

pub(super) fn number(cell: &Value) -> Option<f64> {
    match cell {
        Value::Num(n) if n.is_finite() && *n > 0.0 => Some(*n),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Head, Machine, Sink};

    fn told(annexes: Vec<Annex>) -> Natures {
        let mut sink = Builder::new(Head::new(Machine::flat(1)));
        annexes.into_iter().for_each(|annex| sink.annex(annex));
        Natures::told(&sink.finish())
    }

    fn some() -> Natures {
        let group = |name: &str, parent, session, shares| {
            let (name, parent) = (name.to_owned(), Some(GroupId(parent)));
            Group { name, parent, session, shares, quota: None, cpus: None }
        };
        let odd = Nature {
            group: GroupId(2),
            kthread: true,
            awaited: false,
            priority: 0.25,
            job: Some(7),
        };
        Natures {
            groups: vec![Group::root(), group("a", 0, true, 1024), group("b", 1, false, 77)],
            tasks: BTreeMap::from([(1003, odd)]),
            synchrony: vec![
                Synchrony { at: Time(5), tid: 1003, sync: true },
                Synchrony { at: Time(9), tid: 1003, sync: false },
            ],
            ipi: Span::us(2),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(told(some().annexes()), some());
        assert_eq!(Natures::default().annexes(), Vec::new());
        assert_eq!(told(Vec::new()), Natures::default());
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        let mut annexes = some().annexes();
        annexes[0].table.rows[1][1] = Value::Int(2); // in each other
        annexes[1].table.rows[0][1] = Value::Int(3); // there is no such group
        annexes[1].table.rows[0][4] = Value::Num(-1.0);
        annexes[2].table.rows[0][1] = Value::Text("x".into());
        annexes[3].table.columns.clear();
        let natures = told(annexes);
        assert_eq!(natures.groups[1].parent, Some(GroupId(0)));
        assert_eq!(natures.groups[2].parent, Some(GroupId(1)));
        let nature = natures.tasks[&1003];
        assert_eq!((nature.group, nature.priority), (GroupId(0), 1.0));
        assert_eq!((natures.synchrony.len(), natures.ipi), (1, Span::ZERO));
    }
}
