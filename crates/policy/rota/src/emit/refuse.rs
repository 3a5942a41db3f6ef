//! What cannot be emitted, although it can be proved or simulated.

use super::Options;
use super::policy::Written;
use crate::Diagnostic;
use crate::ir::{Balance, Bool, Choose, Event, Num, Policy, Program, Stmt};
use crate::syntax::Span;

/// The stack of a program and all that it calls, in bytes (MAX_BPF_STACK).
const STACK: usize = 512;
/// What lies on the stack beside `struct frame` when a task is placed: `struct search`, and at
/// least 16 bytes for the step of its loop.
const BESIDE: usize = 48 + 16;
/// So many calls may be within each other, the program itself and the steps of loops included
/// (MAX_CALL_FRAMES).
const CALLS: usize = 8;

/// Every reason in a program against emitting it.
pub(super) fn faults(program: &Program) -> Vec<Diagnostic> {
    if program.policies.is_empty() {
        return vec![nothing()];
    }
    let faults: Vec<Diagnostic> = program.policies.iter().flat_map(of_policy).collect();
    if faults.is_empty() {
        program.policies.iter().filter_map(too_many_names).collect()
    } else {
        faults
    }
}

fn nothing() -> Diagnostic {
    let message = "the file has no policy, so nothing can be emitted";
    let help = "write a policy: `policy NAME { ... }`";
    Diagnostic::new("R703", Span::default(), message, "", help)
}

fn of_policy(policy: &Policy) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    if !policy.protocol.is_safe() {
        faults.push(Diagnostic::new(
            "R701",
            policy.protocol.span,
            "an unsafe protocol is never emitted",
            "loses wakeups on purpose",
            "remove `unsafe protocol`: the safe protocol is the default",
        ));
    }
    let periodic = policy.periodic.iter().map(|periodic| &periodic.balance);
    for balance in policy.idle.iter().chain(periodic) {
        if balance.recheck != Bool::Const(true) {
            faults.push(Diagnostic::new(
                "R702",
                balance.spans.steal,
                "under the lock, the kernel repeats only one check: whether the task may run on \
                 this CPU",
                "valid only in the model",
                "write `where me in allowed(t)`, or remove `where`",
            ));
        }
    }
    faults.extend(too_deep(policy));
    faults
}

/// The verifier follows each set operator within the loop of the one around it: here each is at
/// least one call deeper. Not every policy below the limit is small enough for it.
fn too_deep(policy: &Policy) -> Option<Diagnostic> {
    // The program itself; the timer or dispatch, the loop over attempts and that over candidates.
    let (in_handlers, in_balances) = (CALLS - 1, CALLS - 3);
    let handlers = Event::ALL.map(|event| of_block(&policy.handlers[event as usize]));
    let handlers = handlers.map(|depth| (depth, in_handlers, policy.span));
    let periodic = policy.periodic.iter().map(|periodic| &periodic.balance);
    let balances = policy.idle.iter().chain(periodic);
    let balances = balances.map(|it| (of_balance(it), in_balances, it.spans.whole));
    let mut all = handlers.into_iter().chain(balances);
    let (depth, most, span) = all.find(|(depth, most, _)| depth > most)?;
    Some(Diagnostic::new(
        "R704",
        span,
        format!("set operators are nested {depth} levels deep"),
        format!("the kernel's verifier accepts {most} levels here"),
        "compute the results of the inner operators in a handler, and store them in CPU variables",
    ))
}

/// What the names of its handlers take of the stack.
fn too_many_names(policy: &Policy) -> Option<Diagnostic> {
    let frame = Written::of(policy, Options::default()).writer.frame_bytes();
    (frame + BESIDE > STACK).then(|| {
        Diagnostic::new(
            "R704",
            policy.span,
            format!("the names that a handler binds need {frame} bytes of stack"),
            format!("the limit is {} bytes", STACK - BESIDE),
            "write the values where they are used, or store them in task or CPU variables",
        )
    })
}

fn of_balance(balance: &Balance) -> usize {
    let key = match &balance.choose {
        Choose::Best { key, .. } => of_num(key),
        _ => 0,
    };
    of_bool(&balance.filter).max(key).max(of_num(&balance.count))
}

fn of_block(block: &[Stmt]) -> usize {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Pick { key, .. } => 1 + of_num(key),
        Stmt::Let(_, num) | Stmt::SetTask(_, num) => of_num(num),
        Stmt::SetCpu { value, .. } => of_num(value),
        Stmt::Put(put) => put.slice.as_ref().map_or(0, of_num),
        Stmt::Run { slice, .. } => slice.as_ref().map_or(0, of_num),
        Stmt::If { condition, then, otherwise } => {
            of_bool(condition).max(of_block(then)).max(of_block(otherwise))
        }
        Stmt::Claim { .. } | Stmt::Kick { .. } => 0,
    };
    block.iter().map(of).max().unwrap_or(0)
}

/// How deep set operators are within each other.
fn of_num(num: &Num) -> usize {
    match num {
        Num::Fold { body, .. } => 1 + of_num(body),
        Num::Count { body, .. } => 1 + of_bool(body),
        Num::Add(a, b) | Num::Sub(a, b) | Num::Min(a, b) | Num::Max(a, b) | Num::Scaled(a, b) => {
            of_num(a).max(of_num(b))
        }
        Num::Decayed(a, b, c) => of_num(a).max(of_num(b)).max(of_num(c)),
        Num::Times(a, _) | Num::Over(a, _) | Num::Until(a) | Num::Seen(_, a) => of_num(a),
        _ => 0,
    }
}

fn of_bool(condition: &Bool) -> usize {
    match condition {
        Bool::Quantified { body, .. } => 1 + of_bool(body),
        Bool::Compare(a, _, b) => of_num(a).max(of_num(b)),
        Bool::And(a, b) | Bool::Or(a, b) => of_bool(a).max(of_bool(b)),
        Bool::Not(a) => of_bool(a),
        _ => 0,
    }
}
