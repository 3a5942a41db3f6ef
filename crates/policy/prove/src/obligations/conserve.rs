//! `work_conservation`: Theorem 2. An idle CPU looks into every queue in which a task may wait that
//! it may run, and takes that task if it is still there.

use wastenot_rota::ir::Policy;
use wastenot_rota::ir::{Balance, Bool, ClaimKind};

use super::sites::{candidate, may_wait, takes, taking};
use super::{Obligation, Question};
use crate::encode::{Encoder, Held, Names, NotEncoded};
use crate::smt::{Script, at_most, equal, int, not};
use crate::text::Sets;

pub(super) fn work_conservation(policy: &Policy) -> Vec<Obligation> {
    conserving(policy, Meanwhile::Anything)
}

/// What idle CPUs have to do so that no task waits while a CPU is idle that may run it.
pub(super) fn conserving(policy: &Policy, meanwhile: Meanwhile) -> Vec<Obligation> {
    let mut all: Vec<Obligation> =
        (0..policy.queues.len()).filter_map(|queue| reached(policy, queue)).collect();
    if let Some(balance) = &policy.idle {
        all.extend(balanced(policy, balance, meanwhile));
    }
    all
}

/// An idle CPU looks into every queue in which a task waits that it may run.
pub(super) fn reached(policy: &Policy, queue: usize) -> Option<Obligation> {
    let kind = &policy.queues[queue];
    let what = format!(
        "an idle CPU looks into every queue `{}` that can hold a task allowed on this CPU",
        kind.name
    );
    let mut encoder = Encoder::new(policy, &format!("Negation of the statement: {what}."));
    let (names, me, cpu) = taking(&mut encoder, kind.per);
    let waits = may_wait(&mut encoder, queue, &cpu)?;
    encoder.assert("A task may wait there.", waits);
    let (idle, able) = (encoder.runs(me.clone(), &names), encoder.allowed(me));
    encoder.assert("This CPU is idle.", not(idle));
    encoder.assert("The task may run on this CPU.", able);
    let script = takes(&mut encoder, queue, &names, &cpu).map(|takes| {
        let candidate = candidate(&mut encoder, queue, &names, &cpu);
        encoder.assert("When this CPU dispatches, it does not take from this queue.", not(takes));
        encoder.assert("The queue is not a candidate when this CPU balances.", not(candidate));
        encoder.finish()
    });
    let question = Question::of(script);
    Some(Obligation { name: "reached", what, span: kind.span, question, model_only: false })
}

/// A scan that takes no task has read every candidate and, for each candidate that passed the
/// filter, has found no task under the lock. Otherwise a CPU that was woken for a task may sleep
/// again although the task waits. The scan also finds the task if the CPU is given another task
/// meanwhile: otherwise the CPU would run that one and forget the task for which it was woken.
pub(super) fn scans(policy: &Policy) -> Vec<Obligation> {
    let Some(balance) = &policy.idle else { return Vec::new() };
    let all = [completeness(policy, balance, Me::MayBeGivenOne), persistence(policy, balance)]
        .into_iter();
    let patience = patience(policy, balance, Me::MayBeGivenOne, Meanwhile::Anything);
    all.chain(patience).collect()
}

/// A condition that saves tries but that no claim needs: after a try that finds no task, the CPU
/// goes on to the next candidate. A bounded number of tries may run out, but then *tries_all* fails
/// and the claim is not proved.
pub(super) fn frugal(policy: &Policy) -> Vec<Obligation> {
    let each = policy.idle.iter().map(|balance| Obligation {
        name: "filter_sound",
        what: "the filter rejects a candidate if no task was seen in its queue".into(),
        span: balance.spans.filter,
        question: Question::of(filter_sound(policy, balance)),
        model_only: false,
    });
    each.collect()
}

/// The CPU that scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Me {
    /// It runs no task.
    Idle,
    /// It was idle when the scan began, and may be given a task since.
    MayBeGivenOne,
}

/// What may happen between the read of a candidate and the re-check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meanwhile {
    /// Anything.
    Anything,
    /// Time passes, and ticks set variables of CPUs. No task is put, taken or moved.
    Nothing,
}

/// What has to hold of `balance idle`.
fn balanced(policy: &Policy, balance: &Balance, meanwhile: Meanwhile) -> Vec<Obligation> {
    let spans = &balance.spans;
    let mut all = vec![
        completeness(policy, balance, Me::Idle),
        persistence(policy, balance),
        Obligation {
            name: "steal_safe",
            what:
                "a steal takes at most one waiting task; under the lock, it checks again that the \
                 task may run here"
                    .into(),
            span: spans.steal,
            question: Question::settled(!policy.protocol.unchecked),
            model_only: false,
        },
    ];
    all.extend(patience(policy, balance, Me::Idle, meanwhile));
    all
}

fn completeness(policy: &Policy, balance: &Balance, me: Me) -> Obligation {
    let what = match me {
        Me::Idle => {
            "a candidate with a waiting task passes the filter, whatever else the filter reads"
        }
        Me::MayBeGivenOne => {
            "a candidate with a waiting task passes the filter, even if this CPU was given a task \
             meanwhile"
        }
    };
    Obligation {
        name: "filter_complete",
        what: what.into(),
        span: balance.spans.filter,
        question: Question::of(filter_complete(policy, balance, &balance.filter, me)),
        model_only: false,
    }
}

fn persistence(policy: &Policy, balance: &Balance) -> Obligation {
    let no_task_waits = !Sets::of(policy).fed[balance.from];
    Obligation {
        name: "tries_all",
        what: "a balance tries all candidates that passed the filter, until it takes a task".into(),
        span: balance.spans.retry,
        question: Question::settled_or(
            balance.retry.is_none() || no_task_waits,
            "not all candidates are tried. For arbitrary numbers of CPUs, the prover does not \
             check whether all attempts can fail because the waiting tasks may not run on this CPU",
        ),
        model_only: false,
    }
}

/// `None`: the re-check is `true`.
fn patience(
    policy: &Policy,
    balance: &Balance,
    me: Me,
    meanwhile: Meanwhile,
) -> Option<Obligation> {
    let (name, what) = match meanwhile {
        Meanwhile::Anything => ("blame", "the re-check fails only after a task was taken"),
        Meanwhile::Nothing => {
            ("unchanged", "the re-check passes if no task came or left since the filter ran")
        }
    };
    (balance.recheck != Bool::Const(true)).then(|| Obligation {
        name,
        what: what.into(),
        span: balance.spans.steal,
        question: Question::of(refused(policy, balance, &balance.recheck, me, meanwhile)),
        model_only: true,
    })
}

/// The conjuncts of the condition that the obligation of this name is about, each with the same
/// question about it alone. A conjunct that fails is the reason why the obligation fails.
pub(super) fn terms(policy: &Policy, claim: &ClaimKind, name: &str) -> Vec<(Bool, Question)> {
    let Some(balance) = &policy.idle else { return Vec::new() };
    let (me, meanwhile) = match claim {
        ClaimKind::NoLostWakeup => (Me::MayBeGivenOne, Meanwhile::Anything),
        ClaimKind::Rounds(_) => (Me::Idle, Meanwhile::Nothing),
        _ => (Me::Idle, Meanwhile::Anything),
    };
    let whole = match name {
        "filter_complete" => &balance.filter,
        "blame" | "unchanged" => &balance.recheck,
        _ => return Vec::new(),
    };
    let asked = |term: Bool| {
        let script = match name {
            "filter_complete" => filter_complete(policy, balance, &term, me),
            _ => refused(policy, balance, &term, me, meanwhile),
        };
        (term, Question::of(script))
    };
    together(whole).into_iter().map(asked).collect()
}

/// The conjuncts of a condition. A comparison of two places is not split.
fn together(condition: &Bool) -> Vec<Bool> {
    match condition {
        Bool::And(a, b) if !matches!((&**a, &**b), (Bool::Within(..), Bool::Within(..))) => {
            [together(a), together(b)].concat()
        }
        Bool::Not(inner) => match &**inner {
            Bool::Or(a, b) => {
                let not = |it: &Bool| together(&Bool::Not(Box::new(it.clone())));
                [not(a), not(b)].concat()
            }
            Bool::Not(inner) => together(inner),
            _ => vec![condition.clone()],
        },
        _ => vec![condition.clone()],
    }
}

/// `filter`: the filter of the balance, or a conjunct of it.
fn filter_complete(
    policy: &Policy,
    balance: &Balance,
    filter: &Bool,
    who: Me,
) -> Result<Script, NotEncoded> {
    let about = "Negation of the statement: a candidate where a task waits passes the \
                 filter.\nEverything else that the filter reads may be old, and may change between \
                 two reads.";
    let mut encoder = Encoder::new(policy, about);
    let (names, me, cpu) = taking(&mut encoder, policy.queues[balance.from].per);
    let candidate = candidate(&mut encoder, balance.from, &names, &cpu);
    encoder.assert("The queue is a candidate.", candidate);
    let idle = (who == Me::Idle).then_some(me);
    encoder.reads_apart(Held { occupied: Some((balance.from, cpu)), idle, ..Held::default() });
    let filter = encoder.bool(filter, &names)?;
    encoder.assert("The queue does not pass the filter.", not(filter));
    Ok(encoder.finish())
}

fn filter_sound(policy: &Policy, balance: &Balance) -> Result<Script, NotEncoded> {
    let about = "Negation of the statement: the filter rejects a candidate if no task was seen in \
        its queue.";
    let mut encoder = Encoder::new(policy, about);
    let (names, me, cpu) = taking(&mut encoder, policy.queues[balance.from].per);
    let idle = encoder.runs(me, &names);
    encoder.assert("This CPU is idle.", not(idle));
    let queued = encoder.queued(balance.from, cpu, &names);
    encoder.assert("No task waits there.", equal(queued, int(0)));
    let filter = encoder.bool(&balance.filter, &names)?;
    encoder.assert("The queue passes the filter.", filter);
    Ok(encoder.finish())
}

/// The script has two moments: `.then`, when the filter was evaluated, and now, when only the queue
/// is locked. If anything may happen in between, the script shows P4, which includes P5
/// (docs/explain/proofs.md), and each read happens at its own instant. `recheck`: the re-check of
/// the balance, or a conjunct of it.
fn refused(
    policy: &Policy,
    balance: &Balance,
    recheck: &Bool,
    who: Me,
    meanwhile: Meanwhile,
) -> Result<Script, NotEncoded> {
    let (about, when) = match meanwhile {
        Meanwhile::Anything => (
            "Negation of the statement: the re-check fails only after a task was taken.\nFunctions \
             whose names end in `.then` have the values that the filter read. After the filter, \
             anything may have happened.\nValues that are read twice may change, except for the \
             queue that is locked.",
            ".then",
        ),
        Meanwhile::Nothing => (
            "Negation of the statement: the re-check passes if no task came or left since the \
             filter ran.\nFunctions whose names end in `.then` have the values from the moment of \
             the filter: of the time and of the variables of CPUs, which changed after it.",
            "",
        ),
    };
    let mut encoder = Encoder::new(policy, about);
    let (now, me, cpu) = taking(&mut encoder, policy.queues[balance.from].per);
    let then = Names { when, moment: ".then", ..now.clone() };
    let idle = (who == Me::Idle).then(|| me.clone());
    let held = Held { tasks: meanwhile == Meanwhile::Nothing, idle, ..Held::default() };
    encoder.reads_apart(held.clone());
    let filter = encoder.bool(&balance.filter, &then)?;
    encoder.assert("The queue passed the filter.", filter);
    let seen: Result<Vec<_>, _> =
        balance.remembered().iter().map(|num| encoder.num(num, &then)).collect();
    encoder.reads_apart(Held { locked: Some((balance.from, cpu.clone())), ..held });
    let queued = encoder.queued(balance.from, cpu, &now);
    encoder.assert("A task that may run on this CPU still waits.", at_most(int(1), queued));
    let able = encoder.allowed(me);
    encoder.assert("The task may run on this CPU.", able);
    let names = Names { seen: seen?, ..now };
    let recheck = encoder.bool(recheck, &names)?;
    encoder.assert("The re-check fails.", not(recheck));
    Ok(encoder.finish())
}
