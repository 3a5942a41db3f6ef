//! The seam that producers push through, and the sink that keeps everything.

use std::collections::HashMap;

use super::rows::Rows;
use super::state::start::Start;
use super::{Annex, Head, History, MaskId, NameId, Task};
use crate::{CpuId, CpuSet, Entry, Event, Loss, Machine, Row, TaskId, Time};

/// Takes what a producer has, in time order: a History in memory, a file, a flight recorder.
pub trait Sink {
    /// Interns a text.
    fn name(&mut self, text: &str) -> NameId;
    /// Interns a set of CPUs.
    fn mask(&mut self, cpus: &CpuSet) -> MaskId;
    /// Adds a task. Ids are given in order: `TaskId::nth(0)`, `nth(1)`, ...; a sink that forgets
    /// gives those of dead tasks again.
    fn task(&mut self, task: Task) -> TaskId;
    /// Replaces what is known of a task that was added before.
    fn correct(&mut self, id: TaskId, task: &Task);
    /// Sets the state at the start. Its tasks were added before, no event was.
    fn start(&mut self, start: &Start);
    /// Adds an event. Times must not go back: a producer sorts and clamps first.
    fn push(&mut self, entry: Entry);
    /// Reports a loss; the same kind on the same CPU adds up.
    fn loss(&mut self, loss: Loss);
    /// Adds a table that only this producer has; or rows to it, if one of the same name and columns
    /// was added before.
    fn annex(&mut self, annex: Annex);
    /// Nothing happened between the last event and `time`, when the recording ended.
    fn end(&mut self, time: Time);
    /// No more events name `task`, though none said that it ended: a sink may forget it.
    fn gone(&mut self, task: TaskId) {
        let _ = task;
    }
}

/// Builds a [`History`] in memory, about 5 bytes an event.
#[derive(Debug)]
pub struct Builder {
    history: History,
    name_ids: HashMap<Box<str>, NameId>,
    mask_ids: HashMap<CpuSet, MaskId>,
    last: Time,
}

impl Builder {
    /// Begins a History.
    pub fn new(head: Head) -> Builder {
        let history = History {
            head,
            names: Vec::new(),
            tasks: Vec::new(),
            masks: Vec::new(),
            rows: Rows::default(),
            losses: Vec::new(),
            lost_rows: false,
            annexes: Vec::new(),
        };
        let (name_ids, mask_ids) = (HashMap::new(), HashMap::new());
        Builder { history, name_ids, mask_ids, last: Time(0) }
    }

    /// What is known so far; a reader that learns its abilities late writes them here.
    pub fn head(&mut self) -> &mut Head {
        &mut self.history.head
    }
    /// A task added before; to learn a better name or its process later.
    pub fn task_mut(&mut self, id: TaskId) -> Option<&mut Task> {
        self.history.tasks.get_mut(id.index()?)
    }
    /// The tasks so far.
    pub fn tasks(&self) -> impl Iterator<Item = (TaskId, &Task)> {
        self.history.tasks()
    }
    /// Number of rows so far.
    pub fn rows(&self) -> usize {
        self.history.len()
    }
    /// What was lost so far; a reader whose file holds the sums writes them here.
    pub fn losses_mut(&mut self) -> &mut Vec<Loss> {
        &mut self.history.losses
    }

    /// The finished History: its machine has a CPU for every CPU that an event names, its window
    /// holds every event.
    pub fn finish(mut self) -> History {
        let head = &mut self.history.head;
        let first = self.history.rows.iter().next();
        let first = first.map_or(head.window.from.min(head.window.to), |row| row.time());
        head.window.from = head.window.from.min(first);
        head.window.to = head.window.to.max(self.last).max(head.window.from);
        self.history.rows.end();
        self.history
    }

    /// Adds an entry; if it is a loss, its producer has told it already.
    #[inline(always)]
    pub fn push_told(&mut self, entry: Entry) {
        self.last = entry.time.max(self.last);
        self.history.lost_rows |= matches!(entry.event, Event::Lost { .. });
        if entry.cpu.index() >= self.history.head.machine.cpus.len() {
            self.grow(entry.cpu);
        }
        self.history.rows.push(Row::pack(&entry));
    }

    fn grow(&mut self, cpu: CpuId) {
        let cpus = &mut self.history.head.machine.cpus;
        while cpus.len() <= cpu.index() && cpus.len() < CpuId::LIMIT {
            cpus.push(Machine::unknown_cpu());
        }
    }
}

impl Sink for Builder {
    fn name(&mut self, text: &str) -> NameId {
        if let Some(&id) = self.name_ids.get(text) {
            return id;
        }
        let id = NameId(self.history.names.len() as u32);
        self.history.names.push(text.into());
        self.name_ids.insert(text.into(), id);
        id
    }

    fn mask(&mut self, cpus: &CpuSet) -> MaskId {
        if let Some(&id) = self.mask_ids.get(cpus) {
            return id;
        }
        let id = MaskId(self.history.masks.len() as u32);
        self.history.masks.push(cpus.clone());
        self.mask_ids.insert(cpus.clone(), id);
        id
    }

    fn task(&mut self, task: Task) -> TaskId {
        self.history.tasks.push(task);
        TaskId::nth(self.history.tasks.len() - 1)
    }

    fn correct(&mut self, id: TaskId, task: &Task) {
        if let Some(known) = self.task_mut(id) {
            known.clone_from(task);
        }
    }

    #[inline(always)]
    fn push(&mut self, entry: Entry) {
        debug_assert!(entry.time >= self.last, "a producer pushes in time order");
        match entry.event {
            Event::Queued { on: Some(cpu), .. }
            | Event::Waking { prev: Some(cpu), .. }
            | Event::Migrate { to: cpu, .. }
            | Event::Cpu { cpu, .. }
                if cpu.index() >= self.history.head.machine.cpus.len() =>
            {
                self.grow(cpu);
            }
            Event::Lost { count } => {
                self.loss(Loss::dropped(entry.cpu, entry.time, count));
            }
            _ => {}
        }
        self.push_told(entry);
    }

    fn loss(&mut self, loss: Loss) {
        loss.add_to(&mut self.history.losses);
    }

    fn start(&mut self, start: &Start) {
        self.history.head.start = Some(start.clone());
    }

    fn annex(&mut self, annex: Annex) {
        annex.add_to(&mut self.history.annexes);
    }

    fn end(&mut self, time: Time) {
        let window = &mut self.history.head.window;
        window.to = window.to.max(time);
    }
}
