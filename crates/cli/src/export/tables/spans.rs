//! The tables `spans` and `waits`, written while a History is replayed.

use std::cell::RefCell;
use std::fs::File;

use wastenot_model::{
    Activity, CpuId, CpuReceiver, CpuState, History, Phase, TaskReceiver, TaskSpan, TaskState,
    Time, Window,
};
use wastenot_read::Error;
use wastenot_read::write::Table;

use super::Row;

/// A table that spans are added to. What goes wrong is known at the end: a replay cannot fail.
pub(super) struct Sheet<'h> {
    history: &'h History,
    table: RefCell<(Table<File>, Result<(), Error>)>,
}

impl<'h> Sheet<'h> {
    pub(super) fn new(history: &'h History, table: Table<File>) -> Sheet<'h> {
        Sheet { history, table: RefCell::new((table, Ok(()))) }
    }

    fn add(&self, row: &Row<'_>) {
        let (table, result) = &mut *self.table.borrow_mut();
        if result.is_ok() {
            *result = table.row(&row.0);
        }
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        let (table, result) = self.table.into_inner();
        result.and_then(|()| table.finish())
    }
}

/// What tasks and CPUs did.
pub(super) struct Spans<'h>(pub(super) Sheet<'h>);

fn times<'h>(row: Row<'h>, window: Window) -> Row<'h> {
    row.int(window.from.0).int(window.to.0).int(window.span().0)
}

impl CpuReceiver for &Spans<'_> {
    type Seen = Activity;

    fn see(&self, is: &CpuState) -> Activity {
        is.activity()
    }

    fn span(&mut self, cpu: CpuId, seen: Activity, window: Window) {
        if window.span().0 == 0 {
            return;
        }
        let task = match seen {
            Activity::Run(task) => Some(task),
            _ => None,
        };
        let row = Row::default().text("cpu").cpu(Some(cpu)).task(self.0.history, task);
        self.0.add(&times(row.text(seen.name()), window));
    }
}

impl TaskReceiver for &Spans<'_> {
    /// What it does, and where it runs, waits or is held back.
    type Seen = (Phase, Option<CpuId>);

    fn see(&self, is: &TaskState) -> Self::Seen {
        (is.phase, is.cpu.filter(|_| is.phase.wants_to_run()))
    }

    fn span(&mut self, span: TaskSpan<'_, Self::Seen>) {
        let (phase, cpu) = span.seen;
        let state = match phase {
            Phase::Running => "run",
            Phase::Waiting => "wait",
            Phase::Held => "held",
            Phase::Sleeping => "sleep",
            Phase::Unknown | Phase::New | Phase::Dead => return,
        };
        if span.window.span().0 > 0 {
            let row = Row::default().text("task").cpu(cpu).task(self.0.history, Some(span.task));
            self.0.add(&times(row.text(state), span.window));
        }
    }
}

/// Each wait, from being queued to the run.
pub(super) struct Waits<'h>(pub(super) Sheet<'h>);

impl TaskReceiver for &Waits<'_> {
    /// Since when it waits: a wait goes on where a task is moved.
    type Seen = Option<Time>;

    fn see(&self, is: &TaskState) -> Option<Time> {
        (is.phase == Phase::Waiting).then_some(is.since)
    }

    fn span(&mut self, span: TaskSpan<'_, Option<Time>>) {
        let (Some(from), was, history) = (span.seen, span.was, self.0.history) else { return };
        let end = match span.next.map(|next| next.phase) {
            Some(Phase::Running) => "run",
            Some(Phase::Held) => "held",
            Some(_) => "unknown",
            None => "open",
        };
        // It runs where it is then; otherwise it waited there last.
        let cpu = span.next.filter(|next| next.phase == Phase::Running).unwrap_or(was).cpu;
        let row = Row::default().task(history, Some(span.task)).cpu(cpu);
        let row = times(row, Window { from, to: span.window.to });
        let row = row.text(was.origin.name()).text(end);
        let row = row.known(was.waking.map(|it| it.0));
        let row = row.waker(history, was.origin, was.waker, was.waker_cpu);
        self.0.add(&row.cpu(was.prev).int(was.moves.into()));
    }
}
