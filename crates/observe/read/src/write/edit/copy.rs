//! Copies entries from one History into another, which gets only the tasks, names and masks that it
//! uses.

use std::borrow::Cow;

use wastenot_model::{
    Builder, Change, CpuId, CpuMode, Entry, Event, Head, History, Loss, LossKind, MaskId, NameId,
    Past, Sink, Start, Task, TaskId,
};

/// What a text is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    Task,
    Cgroup,
}

/// Maps a text to its replacement.
pub(super) type Rename<'h> = dyn FnMut(Names, &'h str) -> Cow<'h, str> + 'h;

/// Whether this is where the records of a CPU end because the file is cut: it is reported as a cut,
/// not as events that the recorder dropped.
pub(super) fn is_cut(history: &History, entry: &Entry) -> bool {
    let told = |loss: &Loss| loss.kind == LossKind::LostEvents && loss.cpu == Some(entry.cpu);
    matches!(entry.event, Event::Lost { .. }) && !history.losses().iter().any(told)
}

/// A copy under construction.
pub(super) struct Copy<'h> {
    from: &'h History,
    pub(super) sink: Builder,
    tasks: Vec<Option<TaskId>>,
    rename: Box<Rename<'h>>,
}

impl<'h> Copy<'h> {
    pub(super) fn begin(from: &'h History, head: Head, rename: Box<Rename<'h>>) -> Copy<'h> {
        let tasks = vec![None; from.task_count()];
        Copy { from, sink: Builder::new(head), tasks, rename }
    }

    /// The task in the copy.
    pub(super) fn task(&mut self, id: TaskId) -> TaskId {
        let Some(index) = id.index() else { return id };
        let (known, task) = (self.tasks.get(index).copied().flatten(), self.from.task(id));
        match (known, task) {
            (Some(known), _) => known,
            // No History names a task without an entry: leave the id.
            (None, None) => id,
            (None, Some(task)) => {
                let name = self.name(Names::Task, task.name);
                let copy = self.sink.task(Task { tid: task.tid, pid: task.pid, name });
                self.tasks[index] = Some(copy);
                copy
            }
        }
    }

    fn name(&mut self, what: Names, id: NameId) -> NameId {
        let text = (self.rename)(what, self.from.name(id));
        self.sink.name(&text)
    }

    fn mask(&mut self, mask: MaskId) -> MaskId {
        self.from.mask(mask).map_or(mask, |cpus| self.sink.mask(cpus))
    }

    /// The same state of the start.
    pub(super) fn start(&mut self, start: &Start) -> Start {
        let mut mode = |mode: &CpuMode| match mode {
            CpuMode::Busy(task) => CpuMode::Busy(self.task(*task)),
            other => *other,
        };
        let cpus = start.cpus.iter().map(&mut mode).collect();
        let mut places = |places: &[(TaskId, Option<CpuId>)]| {
            places.iter().map(|&(task, cpu)| (self.task(task), cpu)).collect()
        };
        let (waiting, sleeping) = (places(&start.waiting), places(&start.sleeping));
        let past = start.past.as_ref();
        let past = past.map(|past| past.iter().map(|past| self.past(past)).collect());
        let (silent, missing) = (start.silent.clone(), start.missing.clone());
        let unseen_until = start.unseen_until;
        Start { cpus, waiting, sleeping, silent, missing, unseen_until, past }
    }

    fn past(&mut self, past: &Past) -> Past {
        let mut copy = past.clone();
        copy.task = self.task(past.task);
        copy.waker.task = past.waker.task.map(|task| self.task(task));
        copy.mask = past.mask.map(|mask| self.mask(mask));
        copy
    }

    /// Pushes a copy of the entry.
    pub(super) fn push(&mut self, entry: Entry) {
        let mut entry = entry.with_tasks(|task| self.task(task));
        if let Event::Changed { what, .. } = &mut entry.event {
            self.change(what);
        }
        match is_cut(self.from, &entry) {
            true => self.sink.push_told(entry),
            false => self.sink.push(entry),
        }
    }

    fn change(&mut self, what: &mut Change) {
        match what {
            Change::Affinity(mask) => *mask = self.mask(*mask),
            Change::Cgroup(name) => *name = self.name(Names::Cgroup, *name),
            Change::Name(name) => *name = self.name(Names::Task, *name),
            Change::Policy(_)
            | Change::Nice(_)
            | Change::Throttled(_)
            | Change::MigrationDisabled(_) => {}
        }
    }
}
