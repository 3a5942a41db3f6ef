//! Whether situations tell all that matters: else that none of them breaks a claim says nothing.

use wastenot_rota::ir::{Num, Policy, Stmt, Visitor, visit_bool, visit_num};

/// Whether no filter, re-check or count, nor what decides where a task is put, reads anything but
/// who runs and waits where. What is kept of CPUs begins as the text says in each situation, times
/// and keys are 0: what other values lead to was not looked at.
pub(crate) fn tells_all(policy: &Policy) -> bool {
    let mut reads = Reads::default();
    let periodic = policy.periodic.iter().map(|periodic| &periodic.balance);
    for balance in policy.idle.iter().chain(periodic) {
        visit_bool(&balance.filter, &mut reads);
        visit_num(&balance.count, &mut reads);
        visit_bool(&balance.recheck, &mut reads);
    }
    policy.handlers.iter().for_each(|handler| decided(handler, &mut reads));
    !reads.untold
}

/// What decides where a handler puts its task.
fn decided(block: &[Stmt], reads: &mut Reads) {
    for stmt in block {
        match stmt {
            Stmt::Pick { key, .. } => visit_num(key, reads),
            Stmt::If { condition, then, otherwise } => {
                if places(then) || places(otherwise) {
                    visit_bool(condition, reads);
                }
                decided(then, reads);
                decided(otherwise, reads);
            }
            _ => {}
        }
    }
}

fn places(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Put(_) | Stmt::Run { .. } => true,
        Stmt::If { then, otherwise, .. } => places(then) || places(otherwise),
        _ => false,
    })
}

#[derive(Default)]
struct Reads {
    untold: bool,
}

impl Visitor for Reads {
    fn num(&mut self, num: &Num) {
        self.untold |= match num {
            Num::CpuVar(..) | Num::TaskVar(_) | Num::MinKey(_) | Num::Local(_) => true,
            Num::Now | Num::Until(_) | Num::Ran | Num::Job => true,
            _ => false,
        };
    }
}
