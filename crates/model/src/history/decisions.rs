//! What a scheduler decided and what it looked at for that: the annex `decisions`.

use super::History;
use crate::{Column, CpuId, CpuSet, Table, TaskId, Time, Unit, Value};

/// A row of the annex `decisions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    /// When.
    pub time: Time,
    /// The CPU for which it was decided; another CPU may have decided it.
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

    /// Whether one scheduling domain was balanced.
    pub fn is_pass(&self) -> bool {
        matches!(self.what, Decision::NEWIDLE | Decision::PERIODIC)
    }
}

/// The outcome of a pass that moved `count` tasks.
pub fn moved(count: u32) -> String {
    format!("moved {count}")
}

/// The outcome of a selection: from which CPU to which, and whether the waker is about to sleep.
pub fn selected(from: CpuId, to: CpuId, sync: bool) -> String {
    format!("{from} to {to}{}", if sync { ", sync" } else { "" })
}

/// The annex of `rows`.
pub fn table<'a>(rows: impl IntoIterator<Item = Decision<'a>>) -> Table {
    let columns = [
        Column::new("time_ns", "time", Unit::At),
        Column::new("cpu", "CPU", Unit::None),
        Column::new("what", "decision", Unit::None),
        Column::new("task", "task", Unit::None),
        Column::new("considered", "CPUs considered", Unit::None),
        Column::new("local", "local group", Unit::None),
        Column::new("busiest", "busiest group", Unit::None),
        Column::new("outcome", "outcome", Unit::None),
    ];
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
        let table = &self.annexes.iter().find(|it| it.table.name == Decision::ANNEX)?.table;
        let at = |key| table.columns.iter().position(|column| column.key == key);
        let [time, cpu, what, outcome] = [at("time_ns")?, at("cpu")?, at("what")?, at("outcome")?];
        let [task, considered, local, busiest] = ["task", "considered", "local", "busiest"].map(at);
        let tasks = self.task_count() as u64;
        Some(table.rows.iter().filter_map(move |row| {
            let number = |at: usize| match row.get(at)? {
                Value::Int(number) => u64::try_from(*number).ok(),
                _ => None,
            };
            let text = |at: usize| match row.get(at)? {
                Value::Text(text) => Some(text.as_str()),
                _ => None,
            };
            let set = |at: Option<usize>| at.and_then(text).and_then(CpuSet::parse);
            Some(Decision {
                time: Time(number(time)?),
                cpu: CpuId(u16::try_from(number(cpu)?).ok()?),
                what: text(what)?,
                task: task
                    .and_then(number)
                    .filter(|it| *it < tasks)
                    .map(|it| TaskId::nth(it as usize)),
                considered: set(considered).unwrap_or_default(),
                local: set(local).unwrap_or_default(),
                busiest: set(busiest).unwrap_or_default(),
                outcome: text(outcome)?,
            })
        }))
    }
}
