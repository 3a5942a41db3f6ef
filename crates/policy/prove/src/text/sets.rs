//! What the handlers of a policy ever change.

use wastenot_rota::ir::{Attempt, Event, Policy, Stmt, Visitor, visit, visit_block};

/// Which variables handlers set, and which queues tasks come into.
#[derive(Clone, Debug)]
pub(crate) struct Sets {
    /// Of each variable of tasks, whether some handler sets it: else it is what it was.
    pub(crate) task: Vec<bool>,
    /// The same of CPUs.
    pub(crate) cpu: Vec<bool>,
    /// Of those, whether it is set where a task begins to run or ends.
    pub(crate) ran: Vec<bool>,
    /// Of each queue, whether a task is ever put or moved into it.
    pub(crate) fed: Vec<bool>,
}

impl Sets {
    /// What the text says.
    pub(crate) fn of(policy: &Policy) -> Sets {
        let mut sets = Sets::none(policy);
        [Event::Start, Event::Stop]
            .iter()
            .for_each(|event| visit_block(&policy.handlers[*event as usize], &mut sets));
        let ran = sets.cpu.clone();
        visit(policy, &mut sets);
        sets.ran = ran;
        let balances = || policy.periodic.iter().map(|periodic| &periodic.balance);
        let moves = balances().filter_map(|balance| Some((balance.from, balance.into?)));
        // Each time round one more queue at least, or none.
        for (from, into) in policy.queues.iter().flat_map(|_| moves.clone()) {
            sets.fed[into] |= sets.fed[from];
        }
        sets
    }

    fn none(policy: &Policy) -> Sets {
        let (cpu, ran) = (vec![false; policy.cpu_vars.len()], Vec::new());
        let (task, fed) = (vec![false; policy.task_vars.len()], vec![false; policy.queues.len()]);
        Sets { task, cpu, ran, fed }
    }
}

/// Where dispatch looks first. It passes over queues that no task ever enters.
pub(crate) fn begins(policy: &Policy) -> Option<&Attempt> {
    let fed = Sets::of(policy).fed;
    let empty = |it: &&Attempt| matches!(it, Attempt::Take(at, _) if !fed[at.queue]);
    policy.dispatch.iter().find(|it| !empty(it))
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
