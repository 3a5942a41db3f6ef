//! One event as a row of named cells: the columns that CSV, JSON Lines and Parquet share.

use std::borrow::Cow;

use wastenot_model::{Change, Context, CpuId, Entry, Event, History, How, Prio, TaskId};

/// The type of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Int,
    /// Texts.
    Text,
}

/// A column of the event table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// The type of its cells.
    pub kind: Kind,
    /// Its meaning.
    pub about: &'static str,
}

macro_rules! columns {
    ($($place:ident $kind:ident $name:literal $about:literal;)*) => {
        /// The columns of the event table, in order. A cell that does not apply to an event, or
        /// that the source does not have, is empty (CSV), absent (JSON Lines) or null (Parquet).
        pub const COLUMNS: &[Column] =
            &[$(Column { name: $name, kind: Kind::$kind, about: $about }),*];

        /// The index of each column.
        #[expect(clippy::upper_case_acronyms, reason = "named as constants")]
        #[expect(non_camel_case_types, reason = "named as constants")]
        #[derive(Clone, Copy)]
        enum Place { $($place),* }
    };
}

columns! {
    TIME Int "time_ns" "Time of the event, in nanoseconds of the trace's clock.";
    CPU Int "cpu" "CPU that recorded the event.";
    EVENT Text "event" "Kind of the event: switch, waking, queued, migrate, fork, exec, exit, cpu, frequency, changed, lost or decided.";
    TASK Int "task" "Id of the event's task, unique in the trace. In a switch: the task that leaves the CPU. In a fork: the child. An id below 8192 means the idle task of this CPU.";
    TID Int "tid" "Thread id of this task.";
    PID Int "pid" "Process id of this task.";
    NAME Text "name" "Last known command name of this task.";
    OTHER Int "other_task" "Id of a second task. In a switch: the task that takes the CPU. In a fork: the parent.";
    OTHER_TID Int "other_tid" "Thread id of the second task.";
    OTHER_NAME Text "other_name" "Command name of the second task.";
    BY Int "by_task" "Id of the task that was current on `cpu`.";
    BY_NAME Text "by_name" "Command name of the current task.";
    CONTEXT Text "context" "Context of the event: task, softirq or hardirq.";
    TARGET Int "target_cpu" "In a queued: the CPU on which the task is queued. In a migrate: the CPU to which the task moves. In a cpu: the CPU that goes online or offline. In a frequency: the CPU that changes its frequency.";
    FROM Int "from_cpu" "In a waking: the previous CPU of the task. In a migrate: the CPU from which the task moves.";
    WHAT Text "what" "In a switch: the state in which the task left the CPU (R, R+, S, D, I, T, P, X). In a queued: the reason for queuing (wakeup, new, no-selection). In a changed: the attribute that changed (affinity, policy, nice, cgroup, throttled, migration-disabled, name). In a cpu: up or down.";
    PRIO Int "prio" "Kernel priority of the task.";
    OTHER_PRIO Int "other_prio" "Kernel priority of the second task.";
    VALUE Int "value" "In a frequency: kHz. In a lost: the number of lost events. In a changed: the policy, the nice value, 0 or 1. In a decided: the row of the annex.";
    TEXT Text "text" "In a changed: the CPUs of an affinity, a cgroup, or a new name.";
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'h> {
    /// Nothing: not told, or of no use here.
    None,
    /// A whole number.
    Int(i64),
    /// A text.
    Text(Cow<'h, str>),
}

/// The cells of one event, by column.
pub(super) type Row<'h> = [Cell<'h>; COLUMNS.len()];

/// Every event of `history` as a row. The row is filled anew for each event.
pub(super) fn rows<'h, E>(
    history: &'h History,
    mut each: impl FnMut(&Row<'h>) -> Result<(), E>,
) -> Result<(), E> {
    let mut cells = Cells { history, row: [const { Cell::None }; COLUMNS.len()] };
    for entry in history.entries() {
        cells.fill(&entry);
        each(&cells.row)?;
    }
    Ok(())
}

struct Cells<'h> {
    history: &'h History,
    row: Row<'h>,
}

impl<'h> Cells<'h> {
    fn fill(&mut self, entry: &Entry) {
        self.row.fill(Cell::None);
        // Stamps above 2^63 are damage, not times; they are clamped to the largest.
        self.int(Place::TIME, i64::try_from(entry.time.0).unwrap_or(i64::MAX));
        self.int(Place::CPU, entry.cpu.0);
        self.text(Place::EVENT, event_name(&entry.event));
        if let Some(by) = entry.by.task {
            self.int(Place::BY, by.0);
            self.name(Place::BY_NAME, by);
        }
        match entry.by.context {
            Context::Unknown => {}
            Context::Task => self.text(Place::CONTEXT, "task"),
            Context::Softirq => self.text(Place::CONTEXT, "softirq"),
            Context::Hardirq => self.text(Place::CONTEXT, "hardirq"),
        }
        self.event(&entry.event);
    }

    fn event(&mut self, event: &Event) {
        match *event {
            Event::Switch { prev, next, left, prev_prio, next_prio, .. } => {
                self.task(prev);
                self.other(next);
                self.text(Place::WHAT, left.letters());
                self.prio(Place::PRIO, prev_prio);
                self.prio(Place::OTHER_PRIO, next_prio);
            }
            Event::Waking { task, prev, prio } => {
                self.task(task);
                self.cpu(Place::FROM, prev);
                self.prio(Place::PRIO, prio);
            }
            Event::Queued { task, on, how, prio } => {
                self.task(task);
                self.cpu(Place::TARGET, on);
                self.text(Place::WHAT, how_name(how));
                self.prio(Place::PRIO, prio);
            }
            Event::Migrate { task, from, to } => {
                self.task(task);
                self.cpu(Place::FROM, from);
                self.cpu(Place::TARGET, Some(to));
            }
            Event::Fork { parent, child } => {
                self.task(child);
                self.other(parent);
            }
            Event::Exec { task } | Event::Exit { task } => self.task(task),
            Event::Cpu { cpu, up } => {
                self.cpu(Place::TARGET, Some(cpu));
                self.text(Place::WHAT, if up { "up" } else { "down" });
            }
            Event::Freq { cpu, khz } => {
                self.cpu(Place::TARGET, Some(cpu));
                self.int(Place::VALUE, khz);
            }
            Event::Changed { task, what } => {
                self.task(task);
                self.change(what);
            }
            Event::Lost { count: Some(count) } => self.int(Place::VALUE, count),
            Event::Lost { count: None } => {}
            Event::Decided { row } => self.int(Place::VALUE, row),
        }
    }

    fn change(&mut self, what: Change) {
        let history = self.history;
        let (name, value, text) = match what {
            Change::Affinity(mask) => {
                ("affinity", None, history.mask(mask).map(|cpus| cpus.to_string().into()))
            }
            Change::Policy(policy) => ("policy", Some(i64::from(policy)), None),
            Change::Nice(nice) => ("nice", Some(i64::from(nice)), None),
            Change::Cgroup(id) => ("cgroup", None, Some(history.name(id).into())),
            Change::Throttled(on) => ("throttled", Some(i64::from(on)), None),
            Change::MigrationDisabled(on) => ("migration-disabled", Some(i64::from(on)), None),
            Change::Name(id) => ("name", None, Some(history.name(id).into())),
        };
        self.text(Place::WHAT, name);
        if let Some(value) = value {
            self.int(Place::VALUE, value);
        }
        if let Some(text) = text {
            self.row[Place::TEXT as usize] = Cell::Text(text);
        }
    }

    fn task(&mut self, task: TaskId) {
        self.int(Place::TASK, task.0);
        self.name(Place::NAME, task);
        let known = self.history.task(task);
        self.int(Place::TID, known.map_or(0, |task| task.tid));
        if let Some(pid) = known.and_then(|task| task.pid) {
            self.int(Place::PID, pid);
        }
    }

    fn other(&mut self, task: TaskId) {
        self.int(Place::OTHER, task.0);
        self.int(Place::OTHER_TID, self.history.task(task).map_or(0, |task| task.tid));
        self.name(Place::OTHER_NAME, task);
    }

    fn name(&mut self, place: Place, task: TaskId) {
        let name = match self.history.task(task) {
            Some(task) => self.history.name(task.name).into(),
            None => self.history.task_name(task).into(),
        };
        self.row[place as usize] = Cell::Text(name);
    }

    fn int(&mut self, place: Place, value: impl Into<i64>) {
        self.row[place as usize] = Cell::Int(value.into());
    }
    fn text(&mut self, place: Place, text: &'static str) {
        self.row[place as usize] = Cell::Text(text.into());
    }
    fn cpu(&mut self, place: Place, cpu: Option<CpuId>) {
        if let Some(cpu) = cpu {
            self.int(place, cpu.0);
        }
    }
    fn prio(&mut self, place: Place, prio: Prio) {
        if let Some(prio) = prio.0 {
            self.int(place, prio);
        }
    }
}

fn event_name(event: &Event) -> &'static str {
    match event {
        Event::Switch { .. } => "switch",
        Event::Waking { .. } => "waking",
        Event::Queued { .. } => "queued",
        Event::Migrate { .. } => "migrate",
        Event::Fork { .. } => "fork",
        Event::Exec { .. } => "exec",
        Event::Exit { .. } => "exit",
        Event::Cpu { .. } => "cpu",
        Event::Freq { .. } => "frequency",
        Event::Changed { .. } => "changed",
        Event::Lost { .. } => "lost",
        Event::Decided { .. } => "decided",
    }
}

fn how_name(how: How) -> &'static str {
    match how {
        How::Wakeup => "wakeup",
        How::New => "new",
        How::NoSelection => "no-selection",
    }
}
