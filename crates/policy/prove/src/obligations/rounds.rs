//! `rounds` (Theorem 1) and `settles` (periodic balancing ends).

use wastenot_rota::ir::Policy;
use wastenot_rota::ir::{Balance, Bound, Event, Periodic, Stmt};

use super::along::{Step, along, asked};
use super::conserve::{Meanwhile, conserving};
use super::{Obligation, Question};
use crate::encode::{Encoder, Names, NotEncoded};
use crate::explore::moves_somebody;
use crate::smt::{Script, Term, at_most, int, less, not};
use crate::text::interrupting;

/// Theorem 1 needs what Theorem 2 needs, and that no other step hides a task: periodic balancing
/// could. It needs less of the re-check: a round in which no CPU takes a task and no task is moved
/// changes nothing.
pub(super) fn rounds(policy: &Policy, bound: Bound) -> Vec<Obligation> {
    let mut all = conserving(policy, Meanwhile::Nothing);
    if bound == Bound::IdleCpus {
        let span = policy.periodic.first().map_or(policy.span, |it| it.balance.spans.whole);
        all.push(Obligation {
            name: "stable",
            what: "while other CPUs look for tasks, only idle CPUs move tasks".into(),
            span,
            question: Question::settled_or(
                policy.periodic.is_empty(),
                "periodic balancing moves tasks, too. For arbitrary numbers of CPUs, the prover \
                 does not check whether periodic balancing can hide a task from all CPUs that look \
                 for a task",
            ),
            model_only: false,
        });
    }
    all.extend(calm(policy));
    all
}

/// A round ends only if a task that was given a CPU keeps it. Otherwise the CPU may become idle
/// again without any time passing, for ever.
fn calm(policy: &Policy) -> Vec<Obligation> {
    let each = interrupting(policy).into_iter().map(|event| {
        let what = format!("`{}` does not preempt tasks", event.name());
        let takes = |stmt: &Stmt| matches!(stmt, Stmt::Kick { preempt: true, .. });
        let always = policy.handlers[event as usize].iter().any(takes);
        // On a machine with one CPU it is this CPU, which runs a task.
        let question = match matches!(event, Event::Start | Event::Tick) && always {
            true => Question::Fails,
            false => {
                let script = along(policy, event, &what, |_, step, _| {
                    let takes = matches!(step, Step::Kicks { preempt: true });
                    Ok(takes.then_some(Term::Bool(true)))
                });
                asked(script).unwrap_or(Question::Holds)
            }
        };
        Obligation { name: "calm", what, span: policy.span, question, model_only: false }
    });
    each.collect()
}

/// Balancing moves some task, and every move makes the lengths of queues more equal: the sum of
/// their squares falls, so balancing ends.
pub(super) fn settles(policy: &Policy) -> Vec<Obligation> {
    let each = policy.periodic.iter().flat_map(|periodic| {
        let span = periodic.balance.spans.filter;
        let moves = Obligation {
            name: "moves",
            what: "some task is moved from a long queue to an empty queue".into(),
            span,
            question: match moves_somebody(policy, periodic, 0) {
                Some(some) => Question::settled(some),
                None => Question::Undecided("the prover varied only the lengths of two queues"),
            },
            model_only: false,
        };
        let evens_out = Obligation {
            name: "evens_out",
            what: "a task is moved only from a queue that has at least two tasks more than the \
                target queue"
                .into(),
            span,
            question: Question::of(evens_out(policy, periodic)),
            // The guard is evaluated before each move, but not under the locks of both queues.
            model_only: true,
        };
        [moves, evens_out]
    });
    let regular = Obligation {
        name: "regular",
        what: "the policy has periodic balancing".into(),
        span: policy.span,
        question: Question::settled(!policy.periodic.is_empty()),
        model_only: false,
    };
    std::iter::once(regular).chain(each).collect()
}

fn evens_out(policy: &Policy, periodic: &Periodic) -> Result<Script, NotEncoded> {
    let balance = &periodic.balance;
    if balance.into != Some(balance.from) {
        return Err(NotEncoded("moves between queues of different kinds"));
    }
    let about = "Negation of the statement: a task is moved only from a queue that has at least \
        two tasks more than the target queue.";
    let mut encoder = Encoder::new(policy, about);
    let per = policy.queues[balance.from].per;
    let (me, cpu) = (encoder.cpu("me"), encoder.cpu("v"));
    let names = Names {
        me: Some((per, me.clone())),
        other: Some((per, cpu.clone())),
        here: Some(me.clone()),
        ..Names::default()
    };
    let own = encoder.same(per, me.clone(), cpu.clone());
    encoder.assert("The queue belongs to another group.", not(own));
    let filter = encoder.bool(&balance.filter, &names)?;
    encoder.assert("The queue passes the filter.", filter);
    let count = encoder.num(&balance.count, &names)?;
    encoder.assert("At least one task is to be moved.", at_most(int(1), count));
    // Without the re-check the obligation is stronger, so one that cannot be encoded is left out.
    if let Ok(recheck) = rechecked(&mut encoder, balance, &names) {
        encoder.assert("The re-check passes.", recheck);
    }
    let longer = encoder.queued(balance.from, cpu, &names);
    let mine = encoder.queued(balance.from, me, &names);
    encoder.assert("The queue is not longer by two.", less(longer - mine, int(2)));
    Ok(encoder.finish())
}

/// The re-check allows the move, at the instant at which the filter was evaluated.
fn rechecked(
    encoder: &mut Encoder<'_>,
    balance: &Balance,
    names: &Names,
) -> Result<Term, NotEncoded> {
    let seen: Result<Vec<Term>, NotEncoded> =
        balance.remembered().iter().map(|num| encoder.num(num, names)).collect();
    encoder.bool(&balance.recheck, &Names { seen: seen?, ..names.clone() })
}
