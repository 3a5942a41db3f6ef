//! What is added to the History at the end: facts that only a simulator knows.

use wastenot_model::workload::{Nature, Natures, Programs, Synchrony};
use wastenot_model::{Annex, Sink, Table, TaskId, decisions};

use super::Engine;
use super::life::Life;
use super::population::tid;
use crate::mechanism::Mechanism;

impl<M: Mechanism> Engine<'_, M> {
    /// From now on wakers of `task` are about to sleep, or are not.
    pub(super) fn note_synchrony(&mut self, task: TaskId, sync: bool) {
        self.synchrony.push(Synchrony { at: self.kernel.now(), tid: tid(task), sync });
    }

    /// The natures of tasks, where they are not ordinary.
    fn natures(&mut self) -> Natures {
        let workload = self.workload;
        let lives = self.kernel.lives.iter().enumerate();
        let tasks = lives.filter_map(|(n, life)| {
            let nature = Nature::of(&workload.templates[life.template?.index()]);
            (nature != Nature::default()).then_some((tid(TaskId::nth(n)), nature))
        });
        let grouped = workload.groups.len() > 1;
        Natures {
            tasks: tasks.collect(),
            groups: if grouped { workload.groups.clone() } else { Vec::new() },
            synchrony: std::mem::take(&mut self.synchrony),
            ipi: self.kernel.costs.ipi,
        }
    }

    /// Adds the natures of tasks, marks and decisions, which no other source has.
    pub(super) fn tell_annexes(&mut self) {
        for annex in self.natures().annexes() {
            self.kernel.sink.annex(annex);
        }
        let lives = self.kernel.lives.iter().enumerate();
        let kind = |(n, life): (usize, &Life)| {
            Some((tid(TaskId::nth(n)), life.template?, life.parent.is_some()))
        };
        let kinds: Vec<_> = lives.filter_map(kind).collect();
        for annex in Programs::annexes(self.workload, self.seed, &kinds) {
            self.kernel.sink.annex(annex);
        }
        if !self.marks.is_empty() {
            let table = Table::of("marks", "Marks of the programs", &self.marks, |row, it| {
                row.at("time_ns", "time", it.time)
                    .cell("task", "task", it.task.ordinal() as u32)
                    .cell("mark", "mark", self.workload.marks[it.mark.index()].as_str())
                    .ns("late_ns", "late", it.late)
            });
            self.kernel.sink.annex(Annex { table });
        }
        if let Some(annex) = self.kernel.samples.annex() {
            self.kernel.sink.annex(annex);
        }
        if !self.kernel.notes.is_empty() {
            let rows = self.kernel.notes.iter().map(|(time, note)| note.at(*time));
            let table = decisions::table(rows);
            self.kernel.sink.annex(Annex { table });
        }
    }
}
