//! `work_conservation`: Theorem 2. An idle CPU looks everywhere where a task may wait that it may
//! run, and takes it if it is still there.

use wastenot_rota::ir::Policy;
use wastenot_rota::ir::{Balance, Bool, Num, Visitor, visit_bool};

use super::sites::{candidate, may_wait, takes, taking};
use super::{Obligation, Question};
use crate::encode::{Encoder, Names, NotEncoded};
use crate::smt::{Script, at_most, equal, int, not};

pub(super) fn work_conservation(policy: &Policy) -> Vec<Obligation> {
    let mut all: Vec<Obligation> =
        (0..policy.queues.len()).filter_map(|queue| reached(policy, queue)).collect();
    if let Some(balance) = &policy.idle {
        all.extend(balanced(policy, balance));
    }
    all
}

/// Wherever a task waits, an idle CPU that may run it looks.
pub(super) fn reached(policy: &Policy, queue: usize) -> Option<Obligation> {
    let kind = &policy.queues[queue];
    let what = format!(
        "an idle CPU looks into every queue `{}` that a task may wait in which it may run",
        kind.name
    );
    let mut encoder = Encoder::new(policy, &format!("Not so: {what}."));
    let (names, me, cpu) = taking(&mut encoder, kind.per);
    let waits = may_wait(&mut encoder, queue, &cpu)?;
    encoder.assert("The task may wait there.", waits);
    let (idle, able) = (encoder.runs(me.clone(), &names), encoder.allowed(me));
    encoder.assert("I am idle.", not(idle));
    encoder.assert("It may run here.", able);
    let script = takes(&mut encoder, queue, &names, &cpu).map(|takes| {
        let candidate = candidate(&mut encoder, queue, &names, &cpu);
        encoder.assert("I do not take from there when I dispatch.", not(takes));
        encoder.assert("It is no candidate when I balance.", not(candidate));
        encoder.finish()
    });
    let question = Question::of(script);
    Some(Obligation { name: "reached", what, span: kind.span, question, model_only: false })
}

/// What has to hold of `balance idle`.
fn balanced(policy: &Policy, balance: &Balance) -> Vec<Obligation> {
    let spans = &balance.spans;
    let mut all = vec![
        Obligation {
            name: "filter_complete",
            what: "a candidate where somebody waits passes the filter, whatever else was read"
                .into(),
            span: spans.filter,
            question: Question::of(filter_complete(policy, balance)),
            model_only: false,
        },
        Obligation {
            name: "filter_sound",
            what: "where nobody was seen to wait the filter says no".into(),
            span: spans.filter,
            question: Question::of(filter_sound(policy, balance)),
            model_only: false,
        },
        Obligation {
            name: "tries_all",
            what: "every candidate that passed is tried until one gives a task".into(),
            span: spans.retry,
            question: Question::settled(balance.retry.is_none()),
            model_only: false,
        },
        Obligation {
            name: "steal_safe",
            what:
                "a steal takes one task that waits and may run here, or none: that is asked again \
                   under the lock"
                    .into(),
            span: spans.steal,
            question: Question::settled(!policy.protocol.unchecked),
            model_only: false,
        },
    ];
    if balance.recheck != Bool::Const(true) {
        all.push(Obligation {
            name: "blame",
            what: "the re-check says no only after a task was taken".into(),
            span: spans.steal,
            question: Question::of(blame(policy, balance)),
            model_only: true,
        });
    }
    all
}

fn filter_complete(policy: &Policy, balance: &Balance) -> Result<Script, NotEncoded> {
    let about = "Not so: a candidate where somebody waits passes the filter.\n\
                 All else that the filter reads may be old: nothing is known of it.";
    let mut encoder = Encoder::new(policy, about);
    let (names, me, cpu) = taking(&mut encoder, policy.queues[balance.from].per);
    let idle = encoder.runs(me, &names);
    encoder.assert("I am idle.", not(idle));
    let candidate = candidate(&mut encoder, balance.from, &names, &cpu);
    encoder.assert("It is a candidate.", candidate);
    let queued = encoder.queued(balance.from, cpu, &names);
    encoder.assert("Somebody waits there.", at_most(int(1), queued));
    let filter = encoder.bool(&balance.filter, &names)?;
    encoder.assert("It does not pass the filter.", not(filter));
    Ok(encoder.finish())
}

fn filter_sound(policy: &Policy, balance: &Balance) -> Result<Script, NotEncoded> {
    let about = "Not so: where nobody was seen to wait the filter says no.";
    let mut encoder = Encoder::new(policy, about);
    let (names, me, cpu) = taking(&mut encoder, policy.queues[balance.from].per);
    let idle = encoder.runs(me, &names);
    encoder.assert("I am idle.", not(idle));
    let queued = encoder.queued(balance.from, cpu, &names);
    encoder.assert("Nobody waits there.", equal(queued, int(0)));
    let filter = encoder.bool(&balance.filter, &names)?;
    encoder.assert("It passes the filter.", filter);
    Ok(encoder.finish())
}

/// Two states: `.then`, when the filter was asked, and now, under the lock. In between anything may
/// have happened, but that nobody took a task that may run here.
fn blame(policy: &Policy, balance: &Balance) -> Result<Script, NotEncoded> {
    let about = "Not so: the re-check says no only after a task was taken.\n\
                 What ends in `.then` is what the filter read; since then tasks came, none left.";
    let mut encoder = Encoder::new(policy, about);
    let (now, me, cpu) = taking(&mut encoder, policy.queues[balance.from].per);
    let then = Names { when: ".then", ..now.clone() };
    for names in [&then, &now] {
        let idle = encoder.runs(me.clone(), names);
        encoder.assert("I am idle.", not(idle));
    }
    let queued = encoder.queued(balance.from, cpu, &now);
    encoder.assert("A task that may run here still waits.", at_most(int(1), queued));
    let able = encoder.allowed(me);
    encoder.assert("It may run here.", able);
    let filter = encoder.bool(&balance.filter, &then)?;
    encoder.assert("It passed the filter.", filter);
    let seen: Result<Vec<_>, _> =
        remembered(balance).iter().map(|num| encoder.num(num, &then)).collect();
    let names = Names { seen: seen?, ..now };
    let recheck = encoder.bool(&balance.recheck, &names)?;
    encoder.assert("The re-check says no.", not(recheck));
    Ok(encoder.finish())
}

/// The numbers that the re-check of a balance remembers, in their order.
pub(crate) fn remembered(balance: &Balance) -> Vec<Num> {
    struct Seen(Vec<(usize, Num)>);
    impl Visitor for Seen {
        fn num(&mut self, num: &Num) {
            if let Num::Seen(index, inner) = num {
                self.0.push((*index, (**inner).clone()));
            }
        }
    }
    let mut seen = Seen(Vec::new());
    visit_bool(&balance.recheck, &mut seen);
    seen.0.sort_by_key(|(index, _)| *index);
    seen.0.into_iter().map(|(_, num)| num).collect()
}
