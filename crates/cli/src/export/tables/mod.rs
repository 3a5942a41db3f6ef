//! A Parquet file for each table of a trace. docs/reference/tables.md describes them.

mod schema;
mod spans;

use std::fs::File;
use std::io;
use std::path::Path;

use wastenot_check::violations::Violation;
use wastenot_check::{Check, Options, check};
use wastenot_model::{
    By, CpuId, CpuSet, CpuSpans, History, Loss, Origin, Severity, TaskId, TaskSpans, Time, replay,
};
use wastenot_read::Error;
use wastenot_read::write::{COLUMNS, Cell, Column, Table, events, metadata};

use self::schema::{EPISODES, LOSSES, TASKS, VIOLATIONS};
use self::spans::{Sheet, Spans, Waits};

/// The files of a folder.
pub(crate) const FILES: [&str; 7] = [
    "events.parquet",
    "tasks.parquet",
    "spans.parquet",
    "waits.parquet",
    "violations.parquet",
    "episodes.parquet",
    "losses.parquet",
];

/// As many violations and episodes as there are.
const ALL: usize = usize::MAX / 4;

/// Writes all tables of `history` into the directory `path`.
///
/// # Errors
/// The disk is full, or the directory cannot be written.
pub(crate) fn write(history: &History, path: &Path) -> io::Result<()> {
    let options = Options { limit: ALL, ..Options::default() };
    let check = check(history, &options);
    let losses = check.report(history, &options).losses;
    let at = At { history, path };
    events(history, at.table("events", COLUMNS)?).map_err(plain)?;
    let tasks = history.tasks().map(|(task, _)| of_task(history, &check, task));
    at.fill("tasks", TASKS, tasks)?;
    at.spans()?;
    let mut violations: Vec<&Violation> = check.violations.worst.iter().collect();
    violations.sort_by_key(|it| (it.window.from, it.task));
    let violations = violations.into_iter().map(|it| of_violation(history, it));
    at.fill("violations", VIOLATIONS, violations)?;
    let mut episodes = check.waste.worst.clone();
    episodes.sort_by_key(|it| it.window.from);
    let episodes = episodes.iter().map(|it| {
        let Time(from) = it.window.from;
        let figures = [from, it.window.to.0, it.window.span().0, it.cpu_ns];
        let row = figures.into_iter().fold(Row::default(), Row::int);
        row.int(u64::from(it.cpus_max))
    });
    at.fill("episodes", EPISODES, episodes)?;
    at.fill("losses", LOSSES, losses.iter().map(of_loss))
}

/// Where tables are written.
struct At<'a> {
    history: &'a History,
    path: &'a Path,
}

impl At<'_> {
    fn table(&self, name: &str, columns: &[Column]) -> io::Result<Table<File>> {
        let file = File::create(self.path.join(name).with_extension("parquet"))?;
        let about = [("wastenot.table".to_owned(), name.to_owned())];
        let metadata = metadata(self.history).into_iter().chain(about).collect();
        Table::new(columns, metadata, file).map_err(plain)
    }

    fn fill<'r>(
        &self,
        name: &str,
        columns: &[Column],
        mut rows: impl Iterator<Item = Row<'r>>,
    ) -> io::Result<()> {
        let mut table = self.table(name, columns)?;
        rows.try_for_each(|row| table.row(&row.0)).map_err(plain)?;
        table.finish().map_err(plain)
    }

    /// The tables that are written while the History is replayed.
    fn spans(&self) -> io::Result<()> {
        let spans = self.table("spans", schema::SPANS)?;
        let waits = self.table("waits", schema::WAITS)?;
        let sheet = |table| Sheet::new(self.history, table);
        let (spans, waits) = (Spans(sheet(spans)), Waits(sheet(waits)));
        let mut all = (CpuSpans::new(&spans), (TaskSpans::new(&spans), TaskSpans::new(&waits)));
        replay(self.history, Options::default().silent, &mut all);
        spans.0.finish().and_then(|()| waits.0.finish()).map_err(plain)
    }
}

/// A row while it is made, column by column.
#[derive(Default)]
pub(super) struct Row<'h>(pub(super) Vec<Cell<'h>>);

impl<'h> Row<'h> {
    pub(super) fn int(self, value: u64) -> Row<'h> {
        // Stamps above 2^63 are not times but damage; they stay at the largest.
        self.cell(Cell::Int(i64::try_from(value).unwrap_or(i64::MAX)))
    }
    pub(super) fn known(self, value: Option<u64>) -> Row<'h> {
        match value {
            Some(value) => self.int(value),
            None => self.none(),
        }
    }
    pub(super) fn text(self, text: &'static str) -> Row<'h> {
        self.cell(Cell::Text(text.into()))
    }
    pub(super) fn cpu(self, cpu: Option<CpuId>) -> Row<'h> {
        self.cell(cpu.map_or(Cell::None, |cpu| Cell::Int(cpu.0.into())))
    }
    /// Its id, its tid, its name.
    pub(super) fn task(self, history: &'h History, task: Option<TaskId>) -> Row<'h> {
        let Some(task) = task else { return self.none().none().none() };
        let known = history.task(task);
        let name = match known {
            Some(known) => history.name(known.name).into(),
            None => history.task_name(task).into(),
        };
        let tid = known.map_or(0, |known| known.tid);
        self.int(task.0.into()).cell(Cell::Int(tid.into())).cell(Cell::Text(name))
    }
    /// Who woke or created a task whose wait began so, and the CPU that did it.
    pub(super) fn waker(
        self,
        history: &'h History,
        origin: Origin,
        waker: By,
        cpu: CpuId,
    ) -> Row<'h> {
        let woken = [Origin::Wakeup, Origin::NoSelection, Origin::Waking, Origin::Fork];
        let woken = woken.contains(&origin);
        let row = self.task(history, waker.task.filter(|_| woken));
        row.cpu(woken.then_some(cpu))
    }
    pub(super) fn none(self) -> Row<'h> {
        self.cell(Cell::None)
    }
    pub(super) fn cell(mut self, cell: Cell<'h>) -> Row<'h> {
        self.0.push(cell);
        self
    }
}

fn of_task<'h>(history: &'h History, check: &Check, task: TaskId) -> Row<'h> {
    let index = task.ordinal();
    let pid = history.task(task).and_then(|known| known.pid);
    let waited = &check.waits.by_task[index];
    let violations = check.violations.by_task.iter().find(|(id, _)| *id == task);
    let violations = violations.map_or((0, 0), |(_, sum)| (sum.count, sum.idle_ns));
    let figures = [
        waited.runs,
        waited.run_ns,
        waited.waits.count,
        waited.waits.sum,
        waited.waits.max,
        check.migrations.by_task[index].count,
        violations.0,
        violations.1,
    ];
    let row = Row::default().task(history, Some(task));
    let row = row.cell(pid.map_or(Cell::None, |pid| Cell::Int(pid.into())));
    figures.into_iter().fold(row, Row::int)
}

fn of_violation<'h>(history: &'h History, it: &Violation) -> Row<'h> {
    let (waker, waker_cpu) = (it.waker.unwrap_or(By::UNKNOWN), it.waker_cpu.unwrap_or_default());
    let idle: CpuSet = it.idle.iter().map(|idle| idle.cpu).collect();
    Row::default()
        .task(history, Some(it.task))
        .cpu(Some(it.cpu))
        .cpu(Some(it.to_cpu))
        .int(it.window.from.0)
        .int(it.window.to.0)
        .int(it.wait_since.0)
        .text(it.origin.name())
        .waker(history, it.origin, waker, waker_cpu)
        .cpu(it.prev)
        .int(it.moves.into())
        .task(history, it.behind)
        .int(it.idle_ns)
        .cpu(Some(it.idle_cpu))
        .int(it.stretch.from.0)
        .int(it.stretch.to.0)
        .text(it.nearest.name())
        .cell(Cell::Text(idle.to_string().into()))
}

fn of_loss(loss: &Loss) -> Row<'_> {
    let severity = match loss.kind.severity() {
        Severity::Info => "info",
        Severity::Suspect => "suspect",
        Severity::Lost => "lost",
    };
    let row = Row::default().text(loss.kind.name()).text(severity).cpu(loss.cpu);
    let row = row.known(loss.time.map(|it| it.0)).known(loss.count);
    row.cell(Cell::Text(loss.note.as_str().into()))
}

/// What goes wrong while writing is the disk's fault.
pub(crate) fn plain(error: Error) -> io::Error {
    match error {
        Error::Io(error) | Error::Write(error) => error,
        error => io::Error::other(error.to_string()),
    }
}
