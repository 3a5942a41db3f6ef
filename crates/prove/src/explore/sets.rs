//! What the handlers of a policy ever change.

use wastenot_rota::ir::{Policy, Stmt, Visitor, visit};

/// Which variables handlers set, and which queues tasks come into.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    /// Of each variable of tasks, whether some handler sets it: else it is what it was.
    pub(super) task: Vec<bool>,
    /// The same of CPUs.
    pub(super) cpu: Vec<bool>,
    /// Of each queue, whether anybody is ever put or moved into it.
    pub(super) fed: Vec<bool>,
}

impl Sets {
    /// What the text says.
    pub(super) fn of(policy: &Policy) -> Sets {
        let mut sets = Sets {
            task: vec![false; policy.task_vars.len()],
            cpu: vec![false; policy.cpu_vars.len()],
            fed: vec![false; policy.queues.len()],
        };
        visit(policy, &mut sets);
        for into in policy.periodic.iter().filter_map(|periodic| periodic.balance.into) {
            sets.fed[into] = true;
        }
        sets
    }
}

impl Visitor for Sets {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::SetTask(var, _) => self.task[*var] = true,
            Stmt::SetCpu { var, .. } => self.cpu[*var] = true,
            Stmt::Put(put) => self.fed[put.queue.queue] = true,
            _ => {}
        }
    }
}
