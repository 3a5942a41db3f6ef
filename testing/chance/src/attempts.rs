//! Violations of work conservation counted in attempts: what the proofs of Rota guarantee.
//!
//! A violation is an idle CPU and a waiting task that this CPU may take. In real time it may last:
//! interrupts are late, decisions take time. But from the start of a violation to its end the
//! number of complete attempts of the CPU exceeds the number of tasks that other CPUs removed from
//! its view by at most one: each further attempt that fails requires a success of another CPU
//! (Theorem 2 in docs/explain/proofs.md).

use wastenot_model::policy::Note;
use wastenot_model::{CpuSet, Decision, History, TaskId, Time};

/// The result of counting attempts for all violations of a History.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempts {
    /// Complete attempts that found no task.
    pub failed: u64,
    /// Violations: an idle CPU while a task waited that it may take.
    pub violations: u64,
    /// The most attempts that failed within one of them.
    pub failed_max: u64,
    /// What is wrong; the first few.
    pub wrong: Vec<String>,
}

/// The most complaints that are kept.
const KEPT: usize = 20;

/// Counts attempts for every violation of `history`, whose annex `decisions` holds the steps of the
/// protocol; `None` if it does not.
pub fn attempts(history: &History) -> Option<Attempts> {
    let mut charge = Charge::default();
    history.decisions()?.for_each(|step| charge.step(&step));
    Some(charge.found)
}

/// A CPU that may be idle while a task waits for it.
#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    busy: bool,
    /// Waiting tasks that it may take.
    waiting: u64,
    /// Attempts that failed since the violation began, and tasks that others removed.
    failed: u64,
    removed: u64,
}

#[derive(Default)]
struct Charge {
    cpus: Vec<Cpu>,
    /// By task: the CPUs that may take it where it waits.
    waiting: Vec<Option<CpuSet>>,
    found: Attempts,
}

impl Charge {
    fn step(&mut self, step: &Decision) {
        let (cpu, task) = (step.cpu.index(), step.task.and_then(TaskId::index));
        match (step.what, task) {
            (Note::PUT, Some(task)) => self.put(task, step.considered.clone()),
            (Note::TAKE, Some(task)) => {
                self.left(task, Some(cpu));
                self.cpu(cpu).busy = true;
            }
            (Note::LEFT, Some(task)) => self.left(task, None),
            (Note::FAILED, _) => self.failed(cpu, step.time),
            _ => {}
        }
    }

    fn cpu(&mut self, cpu: usize) -> &mut Cpu {
        self.cpus.resize(self.cpus.len().max(cpu + 1), Cpu::default());
        &mut self.cpus[cpu]
    }

    fn put(&mut self, task: usize, cpus: CpuSet) {
        for cpu in cpus.iter() {
            let state = self.cpu(cpu.index());
            state.waiting += 1;
            if !state.busy && state.waiting == 1 {
                (state.failed, state.removed) = (0, 0);
                self.found.violations += 1;
            }
        }
        self.waiting.resize(self.waiting.len().max(task + 1), None);
        self.waiting[task] = Some(cpus);
    }

    /// `task` waits no longer: it was taken or moved.
    fn left(&mut self, task: usize, by: Option<usize>) {
        let Some(cpus) = self.waiting.get_mut(task).and_then(Option::take) else { return };
        for cpu in cpus.iter().map(wastenot_model::CpuId::index) {
            let state = self.cpu(cpu);
            state.waiting -= 1;
            state.removed += u64::from(by != Some(cpu));
        }
    }

    fn failed(&mut self, cpu: usize, time: Time) {
        self.found.failed += 1;
        let state = self.cpu(cpu);
        if std::mem::take(&mut state.busy) {
            (state.failed, state.removed) = (0, 0);
            self.found.violations += u64::from(self.cpus[cpu].waiting > 0);
            return;
        }
        if state.waiting == 0 {
            return;
        }
        state.failed += 1;
        let Cpu { failed, removed, waiting, .. } = *state;
        self.found.failed_max = self.found.failed_max.max(failed);
        if failed > removed + 1 && self.found.wrong.len() < KEPT {
            self.found.wrong.push(format!(
                "{} ns: the idle CPU {cpu} failed {failed} times to take a task. Meanwhile, \
                 {removed} tasks that it could take were taken by other CPUs or moved, and \
                 {waiting} are still waiting",
                time.0
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wastenot_model::{Annex, Builder, CpuId, Head, Machine, Sink, Task, decisions};

    fn charged(steps: &[(u16, &'static str, Option<usize>, &str)]) -> Attempts {
        let mut sink = Builder::new(Head::new(Machine::flat(2)));
        let name = sink.name("t");
        (0..10).for_each(|tid| _ = sink.task(Task::new(tid, name)));
        let rows =
            steps.iter().enumerate().map(|(time, &(cpu, what, task, considered))| Decision {
                time: Time(time as u64),
                cpu: CpuId(cpu),
                what,
                task: task.map(TaskId::nth),
                considered: CpuSet::parse(considered).expect("a list"),
                local: CpuSet::new(),
                busiest: CpuSet::new(),
                outcome: "",
            });
        sink.annex(Annex { table: decisions::table(rows) });
        attempts(&sink.finish()).expect("it tells steps")
    }

    const PUT: (u16, &str, Option<usize>, &str) = (0, Note::PUT, Some(7), "0-1");

    #[test]
    fn an_idle_cpu_may_fail_once_and_once_for_each_task_that_others_took() {
        let failed = (1, Note::FAILED, None, "");
        assert_eq!(charged(&[PUT, failed]).wrong, Vec::<String>::new());
        assert_eq!(charged(&[PUT, failed, failed]).wrong.len(), 1);
        let other = (0, Note::PUT, Some(8), "0-1");
        let taken = (0, Note::TAKE, Some(8), "");
        let found = charged(&[PUT, other, failed, taken, failed]);
        assert_eq!((found.wrong.len(), found.failed_max), (0, 2));
        assert_eq!(charged(&[PUT, other, failed, taken, failed, failed]).wrong.len(), 1);
    }

    #[test]
    fn whoever_is_busy_or_may_not_take_it_is_charged_nothing() {
        let failed = (1, Note::FAILED, None, "");
        let elsewhere = (0, Note::PUT, Some(7), "0");
        assert_eq!(charged(&[elsewhere, failed, failed]).failed_max, 0);
        let left = (0, Note::LEFT, Some(7), "");
        assert_eq!(charged(&[PUT, left, failed, failed]).failed_max, 0);
        let busy = (1, Note::TAKE, Some(7), "");
        let found = charged(&[PUT, busy, (0, Note::PUT, Some(9), "0-1"), failed, failed]);
        assert_eq!((found.failed_max, found.failed), (1, 2));
    }
}
