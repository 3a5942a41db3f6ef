//! The decisions of a scheduler and the CPUs that it considered: the annex `decisions`.

use std::collections::HashMap;

use super::History;
use crate::{Column, CpuId, CpuSet, Table, TaskId, Time, Unit, Value};

/// A row of the annex `decisions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    /// When.
    pub time: Time,
    /// Balancing: the CPU that would get tasks; another one may have decided it. Selections: the
    /// CPU that decided.
    pub cpu: CpuId,
    /// What was decided: [`Decision::WAKEUP`] and those after it, or a word of the policy's own.
    pub what: &'a str,
    /// The task, if the decision is about one task.
    pub task: Option<TaskId>,
    /// The CPUs that were considered: those searched, or the span of the scheduling domain.
    pub considered: CpuSet,
    /// Balancing: the CPUs of its local group, which the others are compared with. Empty where
    /// the source does not tell.
    pub local: CpuSet,
    /// Balancing: the CPUs of the group that was found busiest. Empty where there was none, or the
    /// source does not tell.
    pub busiest: CpuSet,
    /// The result: [`Decision::BALANCED`] and those after it, `moved 3`, or other words.
    pub outcome: &'a str,
}

impl Decision<'_> {
    /// The name of the annex.
    pub const ANNEX: &'static str = "decisions";
    /// Its columns: name, heading, unit.
    const COLUMNS: [(&'static str, &'static str, Unit); 8] = [
        ("time_ns", "time", Unit::At),
        ("cpu", "CPU", Unit::None),
        ("what", "decision", Unit::None),
        ("task", "task", Unit::None),
        ("considered", "CPUs considered", Unit::None),
        ("local", "local group", Unit::None),
        ("busiest", "busiest group", Unit::None),
        ("outcome", "outcome", Unit::None),
    ];

    /// A CPU was selected for a task that wakes.
    pub const WAKEUP: &'static str = "wakeup";
    /// The same for a new task, and for one that executes a program.
    pub const FORK: &'static str = "fork";
    /// See [`Decision::FORK`].
    pub const EXEC: &'static str = "exec";
    /// A CPU that ran out of tasks balanced a scheduling domain.
    pub const NEWIDLE: &'static str = "newidle";
    /// A CPU balanced a scheduling domain after a tick.
    pub const PERIODIC: &'static str = "periodic";
    /// No decision: the CPU has this scheduling domain from now on. All that it has come together,
    /// and replace those that it had. A CPU that has none has one row, with itself alone.
    pub const DOMAIN: &'static str = "domain";

    /// A CPU is to reschedule: the task is what runs there, or none.
    pub const RESCHED: &'static str = "resched";
    /// NUMA balancing wanted the task on another CPU, or was to scan a part of its memory.
    pub const NUMA: &'static str = "numa";
    /// A deadline server of the CPU starts or stops: it gives fair tasks, or those of sched_ext, a
    /// part of the time that real-time tasks would take.
    pub const DL_SERVER: &'static str = "dl_server";

    /// Another CPU balances for this group.
    pub const NOT_DESIGNATED: &'static str = "not designated";
    /// No group or no CPU was found busier.
    pub const BALANCED: &'static str = "balanced";
    /// None of the tasks that were looked at may run here.
    pub const PINNED: &'static str = "pinned";
    /// A busier CPU was found, and no task of it was moved.
    pub const FAILED: &'static str = "failed";
    /// After several failures the running task of the busier CPU is pushed here.
    pub const ACTIVE: &'static str = "active";

    /// Whether CPUs were considered for it.
    pub fn considers(&self) -> bool {
        let others = [Decision::DOMAIN, Decision::RESCHED, Decision::NUMA, Decision::DL_SERVER];
        !others.contains(&self.what)
    }
    /// Whether one scheduling domain was balanced.
    pub fn is_pass(&self) -> bool {
        matches!(self.what, Decision::NEWIDLE | Decision::PERIODIC)
    }
    /// Whether it was a pass of this CPU, which took nothing.
    pub fn left_all(&self) -> bool {
        let took = self.outcome.starts_with(MOVED) || self.outcome == Decision::NOT_DESIGNATED;
        self.is_pass() && !took
    }
}

/// How the outcome of a pass that took tasks begins.
const MOVED: &str = "moved";

/// The outcome of a pass that moved `count` tasks.
pub fn moved(count: u32) -> String {
    format!("{MOVED} {count}")
}

/// The outcome of a selection: from which CPU to which, and whether the waker is about to sleep.
pub fn selected(from: CpuId, to: CpuId, sync: bool) -> String {
    format!("{from} to {to}{}", if sync { ", sync" } else { "" })
}

/// The annex of `rows`.
pub fn table<'a>(rows: impl IntoIterator<Item = Decision<'a>>) -> Table {
    let columns = Decision::COLUMNS.map(|(key, label, unit)| Column::new(key, label, unit));
    let mut table = Table::new(Decision::ANNEX, "Decisions", columns);
    for row in rows {
        table.push(vec![
            row.time.into(),
            row.cpu.into(),
            row.what.into(),
            row.task.map(|task| Value::from(task.ordinal() as u32)).into(),
            row.considered.to_string().into(),
            row.local.to_string().into(),
            row.busiest.to_string().into(),
            row.outcome.into(),
        ]);
    }
    table
}

impl History {
    /// The decisions that it tells, in their order; `None` if it has no annex of them. Rows that
    /// are not understood are left out.
    pub fn decisions(&self) -> Option<impl Iterator<Item = Decision<'_>>> {
        self.annexes.iter().find(|it| it.table.name == Decision::ANNEX)?;
        let (tasks, all) = (self.task_count() as u64, CpuSet::first(self.cpu_count()));
        // Many rows have the same few sets.
        let mut sets: HashMap<&str, CpuSet> = HashMap::new();
        let columns = Decision::COLUMNS.map(|(key, ..)| key);
        Some(self.annex_cells(Decision::ANNEX, columns).filter_map(move |row| {
            let [time, cpu, what, task, considered, local, busiest, outcome] = row;
            let [considered, local, busiest] = [considered, local, busiest].map(|cell| {
                let text = cell.text().unwrap_or_default();
                let parse = || CpuSet::parse(text).unwrap_or_default().and(&all);
                sets.entry(text).or_insert_with(parse).clone()
            });
            let task = task.int::<u64>().filter(|it| *it < tasks);
            Some(Decision {
                time: Time(time.int()?),
                cpu: CpuId(cpu.int()?),
                what: what.text()?,
                task: task.map(|it| TaskId::nth(it as usize)),
                considered,
                local,
                busiest,
                outcome: outcome.text()?,
            })
        }))
    }
}
