//! What balances read that no situation holds. Of that the explorer has one value each: what it
//! finds wrong is wrong, but that it finds nothing says nothing.

use wastenot_rota::ir::{
    Balance, ClaimKind, Num, Policy, Stmt, Visitor, visit, visit_bool, visit_num,
};

use super::claims::{Test, Wrong, tests};

/// What a test of the claim reads that is not part of a situation, in a sentence. `None`: nothing.
pub(crate) fn unseen(policy: &Policy, claim: &ClaimKind) -> Option<String> {
    let mut reads = Reads { policy, found: None };
    for balance in tests(policy, claim).iter().flat_map(|test| balances(policy, test)) {
        // Which candidate is chosen matters to no proof.
        visit_bool(&balance.filter, &mut reads);
        visit_bool(&balance.recheck, &mut reads);
        visit_num(&balance.count, &mut reads);
    }
    let what = reads.found?;
    Some(format!("of small machines only instants are looked at, and a balance reads {what}"))
}

/// The balances that a test looks at.
fn balances<'p>(policy: &'p Policy, test: &Test) -> Vec<&'p Balance> {
    let periodic = policy.periodic.iter().map(|periodic| &periodic.balance);
    match test.wrong {
        Wrong::NobodyBeginsThere => Vec::new(),
        Wrong::RunsInACircle => periodic.collect(),
        _ => policy.idle.iter().chain(periodic.filter(|_| test.moves > 0)).collect(),
    }
}

struct Reads<'p> {
    policy: &'p Policy,
    found: Option<String>,
}

impl Visitor for Reads<'_> {
    fn num(&mut self, num: &Num) {
        let read = match num {
            Num::Now | Num::Until(_) => "the time".to_owned(),
            Num::MinKey(at) => format!("keys of `{}`", self.policy.queues[at.queue].name),
            Num::TaskVar(var) => format!("`{}` of tasks", self.policy.task_vars[*var].name),
            Num::CpuVar(var, _) if is_set(self.policy, *var) => {
                format!("`{}` of CPUs", self.policy.cpu_vars[*var].name)
            }
            Num::Job => "jobs".to_owned(),
            _ => return,
        };
        self.found.get_or_insert(read);
    }
}

/// Whether some handler sets a variable of CPUs: else it is what it begins with.
fn is_set(policy: &Policy, of: usize) -> bool {
    struct Sets(usize, bool);
    impl Visitor for Sets {
        fn stmt(&mut self, stmt: &Stmt) {
            self.1 |= matches!(stmt, Stmt::SetCpu { var, .. } if *var == self.0);
        }
    }
    let mut sets = Sets(of, false);
    visit(policy, &mut sets);
    sets.1
}
