//! A lost wakeup as a History.

use wastenot_model::{CpuId, CpuMode, Event, History, How, Left, Prio, Start, TaskId};
use wastenot_rota::ir::Policy;

use super::telling::Telling;
use crate::wakeup::{Lost, Step};

impl Lost {
    pub(super) fn history(&self, policy: &Policy) -> History {
        let cpus: Vec<CpuId> = (0..self.cpus).map(|cpu| CpuId(cpu as u16)).collect();
        let other = |cpu: CpuId| TaskId::nth(self.tasks + cpu.index());
        let start = Start {
            cpus: cpus.iter().map(|&cpu| CpuMode::Busy(other(cpu))).collect(),
            sleeping: (0..self.tasks).map(|task| (TaskId::nth(task), None)).collect(),
            ..Start::default()
        };
        let mut telling = Telling::new(&self.machine, policy, "a wakeup is lost", start);
        let tasks = (0..self.tasks).map(|task| format!("task{task}"));
        telling.tasks(tasks.chain(cpus.iter().map(|cpu| format!("other{cpu}"))));
        let mut runs: Vec<Option<TaskId>> = cpus.iter().map(|&cpu| Some(other(cpu))).collect();
        for step in &self.trace.steps {
            let (cpu, task) = self.step(step, &mut telling, &mut runs);
            telling.step(cpu, task, step.to_string());
        }
        telling.finish()
    }

    /// What a step is in events, and whose it is.
    fn step(
        &self,
        step: &Step,
        telling: &mut Telling,
        runs: &mut [Option<TaskId>],
    ) -> (Option<CpuId>, Option<usize>) {
        let id = |cpu: usize| CpuId(cpu as u16);
        let mut switch = |telling: &mut Telling, cpu: usize, next: Option<TaskId>| {
            let prev = std::mem::replace(&mut runs[cpu], next);
            let idle = TaskId::idle(id(cpu));
            let (prev, next) = (prev.unwrap_or(idle), next.unwrap_or(idle));
            if prev != next {
                telling.switch(id(cpu), prev, next, Left::Sleeping);
            }
        };
        match *step {
            Step::Insert { task, .. } => {
                // Where it waits is nominal: the queue is shared.
                let (on, prio) = (id(self.trace.cpu), Prio::UNKNOWN);
                let event =
                    Event::Queued { task: TaskId::nth(task), on: Some(on), how: How::Wakeup, prio };
                telling.event(on, event);
                (None, Some(task))
            }
            Step::Arm { cpu, kicked: false } => {
                switch(telling, cpu, None);
                (Some(id(cpu)), None)
            }
            Step::Take { cpu, task, .. } | Step::StartLocal { cpu, task } => {
                let to = id(cpu);
                if cpu != self.trace.cpu {
                    let (task, from) = (TaskId::nth(task), Some(id(self.trace.cpu)));
                    telling.event(to, Event::Migrate { task, from, to });
                }
                switch(telling, cpu, Some(TaskId::nth(task)));
                (Some(to), Some(task))
            }
            Step::Move { task, .. } => (None, Some(task)),
            Step::Claim { task, cpu }
            | Step::RunDirect { task, cpu }
            | Step::LookInVain { task, cpu }
            | Step::Pass { cpu, task, .. }
            | Step::PassInVain { cpu, task, .. }
            | Step::PassToNobody { cpu, task } => (Some(id(cpu)), Some(task)),
            Step::Arm { cpu, kicked: true }
            | Step::FindNothing { cpu, .. }
            | Step::Sleep { cpu }
            | Step::SayBusy { cpu }
            | Step::KickInVain { cpu } => (Some(id(cpu)), None),
        }
    }
}
