//! What cannot be emitted, although it can be proved or simulated.

use crate::Diagnostic;
use crate::ir::{Balance, Bool, Num, Policy, Program};

/// Everything in a program that is against it.
pub(super) fn faults(program: &Program) -> Vec<Diagnostic> {
    let mut faults: Vec<Diagnostic> = program.policies.iter().flat_map(of_policy).collect();
    if program.policies.len() > 1 && program.partitions.is_empty() {
        faults.push(Diagnostic::new(
            "R503",
            program.policies[1].span,
            "a file with several policies says nothing of who gets which CPUs",
            "the kernel would not know whom to ask",
            "add `partition NAME on CPUS runs POLICY for TASKS` for each policy",
        ));
    }
    faults
}

fn of_policy(policy: &Policy) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    if !policy.protocol.is_safe() {
        faults.push(Diagnostic::new(
            "R701",
            policy.protocol.span,
            "an unsafe protocol is never emitted",
            "this loses wakeups on purpose",
            "leave `unsafe protocol` out: the safe one is always there",
        ));
    }
    let periodic = policy.periodic.iter().map(|periodic| &periodic.balance);
    for balance in policy.idle.iter().chain(periodic) {
        if balance.recheck != Bool::Const(true) {
            faults.push(Diagnostic::new(
                "R702",
                balance.spans.steal,
                "the kernel asks nothing again under the lock but whether the task may run here",
                "this holds in the model only",
                "write `where me in allowed(t)`, or leave `where` out",
            ));
        }
    }
    faults.extend(policy.idle.as_ref().and_then(batch));
    faults
}

/// An idle CPU takes one task, onto itself: what more it took nobody could take from it.
fn batch(balance: &Balance) -> Option<Diagnostic> {
    let fine = balance.count == Num::Const(1) && balance.into.is_none();
    (!fine).then(|| {
        Diagnostic::new(
            "R411",
            balance.spans.steal,
            "an idle CPU takes one task, onto itself",
            "this moves more, or into a queue",
            "write `steal 1` here, and move batches in `balance every`",
        )
    })
}
