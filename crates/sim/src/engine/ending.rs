//! What is told at the end: what only a simulator knows.

use wastenot_model::report::Unit;
use wastenot_model::{Annex, Table, Value};

use super::Engine;
use crate::mechanism::Mechanism;

impl<M: Mechanism> Engine<'_, M> {
    /// Marks and decisions, which no other source has.
    pub(super) fn tell_annexes(&mut self) {
        if !self.marks.is_empty() {
            let columns = [
                ("time_ns", "time", Unit::At),
                ("task", "task", Unit::None),
                ("mark", "mark", Unit::None),
                ("late_ns", "late", Unit::Ns),
            ];
            let mut table = Table::new("marks", "Moments that programs marked", &columns);
            for mark in &self.marks {
                let name = self.workload.marks[mark.mark.index()].as_str();
                let task = mark.task.ordinal() as u32;
                table.push(vec![mark.time.into(), task.into(), name.into(), mark.late.into()]);
            }
            self.kernel.sink.annex(Annex { table });
        }
        if !self.kernel.notes.is_empty() {
            let columns = [
                ("time_ns", "time", Unit::At),
                ("cpu", "CPU", Unit::None),
                ("what", "decision", Unit::None),
                ("task", "task", Unit::None),
                ("considered", "CPUs considered", Unit::None),
                ("outcome", "outcome", Unit::None),
            ];
            let mut table = Table::new("decisions", "Decisions", &columns);
            for (time, note) in &self.kernel.notes {
                table.push(vec![
                    (*time).into(),
                    note.cpu.into(),
                    note.what.into(),
                    note.task.map(|task| Value::from(task.ordinal() as u32)).into(),
                    note.considered.to_string().into(),
                    note.outcome.clone().into(),
                ]);
            }
            self.kernel.sink.annex(Annex { table });
        }
    }
}
