//! What cannot be emitted, although it can be proved or simulated.

use crate::Diagnostic;
use crate::ir::{Bool, Policy, Program};
use crate::syntax::Span;

/// Every reason in a program against emitting it.
pub(super) fn faults(program: &Program) -> Vec<Diagnostic> {
    if program.policies.is_empty() {
        return vec![nothing()];
    }
    program.policies.iter().flat_map(of_policy).collect()
}

fn nothing() -> Diagnostic {
    let message = "there is no policy to emit";
    let help = "write one: `policy NAME { ... }`";
    Diagnostic::new("R703", Span::default(), message, "", help)
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
    faults
}
