//! What is said at the end: who waits for whom, and what only a simulator knows.

use wastenot_model::report::Unit;
use wastenot_model::{Annex, Table, TaskId, Value};

use super::Engine;
use super::life::Waits;
use super::outcome::Stuck;
use crate::mechanism::Mechanism;

impl<M: Mechanism> Engine<'_, M> {
    /// Who waits for what, and whom.
    pub(super) fn stuck(&self) -> Vec<Stuck> {
        let lives = self.kernel.lives.iter().enumerate();
        let waiting = lives.filter_map(|(n, life)| Some((TaskId::nth(n), life.waits?)));
        waiting.map(|(task, waits)| self.stuck_on(task, waits)).collect()
    }

    fn stuck_on(&self, task: TaskId, waits: Waits) -> Stuck {
        let workload = self.workload;
        let (waits_for, held_by) = match waits {
            Waits::Lock(id) => {
                let owner = self.kernel.shared.locks[id.index()].owner;
                (format!("the lock `{}`", workload.locks[id.index()].name), owner)
            }
            Waits::Barrier(id) => {
                let barrier = &self.kernel.shared.barriers[id.index()];
                let name = &workload.barriers[id.index()].name;
                let (here, parties) = (barrier.line.length, barrier.parties);
                (format!("the barrier `{name}` ({here} of {parties} are there)"), None)
            }
            Waits::Room(id) => {
                (format!("room in the pipe `{}`", workload.pipes[id.index()].name), None)
            }
            Waits::Token(id) => {
                (format!("a token in the pipe `{}`", workload.pipes[id.index()].name), None)
            }
            Waits::Condition(id) => {
                (format!("the condition `{}`", workload.conditions[id.index()].name), None)
            }
            Waits::Child => ("one of its children".to_owned(), None),
            Waits::Children => ("all its children".to_owned(), None),
        };
        Stuck { task, waits_for, held_by }
    }

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
