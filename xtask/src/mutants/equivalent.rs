//! Whether a mutant means the same as the original: where they differ in one expression only, a
//! solver is asked for a state in which the expressions differ.

use wastenot_rota::ir::{Balance, Level, Policy};
use wastenot_rota::syntax::Span;

use wastenot_prove::encode::{Encoder, Names, NotEncoded};
use wastenot_prove::engine::ask_one;
use wastenot_prove::obligations::{Obligation, Question, candidate_of, taking};
use wastenot_prove::smt::{Script, Term, at_most, equal, int, not};
use wastenot_prove::{Error, Finding, Options};

/// Whether solvers say that `mutant` means the same.
pub(super) fn same(original: &Policy, mutant: &Policy, options: &Options) -> Result<bool, Error> {
    let Some(scripts) = differences(original, mutant) else { return Ok(false) };
    nothing_satisfies(scripts, original.span, options)
}

/// Whether solvers say so of each.
pub(super) fn nothing_satisfies(
    scripts: Scripts,
    span: Span,
    options: &Options,
) -> Result<bool, Error> {
    for script in scripts {
        let question = script.map_or_else(Question::NotEncoded, Question::Unsatisfiable);
        let (name, what) = ("equivalent", "nothing is different".to_owned());
        let obligation = Obligation { name, what, span, question, model_only: false };
        if ask_one(obligation, options)?.finding != Finding::Holds {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Each is satisfied by what must not be.
pub(super) type Scripts = Vec<Result<Script, NotEncoded>>;

/// What has to be the same, each satisfied by a state in which it is not. `None`: they differ in
/// something that is no expression.
fn differences(original: &Policy, mutant: &Policy) -> Option<Scripts> {
    let mut rest = mutant.clone();
    let mut scripts = Vec::new();
    if let (Some(ours), Some(theirs), Some(rest)) = (&original.idle, &mutant.idle, &mut rest.idle) {
        if ours.filter != theirs.filter {
            scripts.push(filters(original, (ours, theirs), Level::Cpu));
        }
        if ours.recheck != theirs.recheck {
            scripts.push(rechecks(original, ours, theirs));
        }
        // Which level comes first is choice, as long as all candidates are tried.
        if ours.levels != theirs.levels && ours.retry.is_none() {
            scripts.push(candidates(original, ours, theirs));
            rest.levels.clone_from(&ours.levels);
        }
        rest.filter.clone_from(&ours.filter);
        rest.recheck.clone_from(&ours.recheck);
    }
    for (n, ours) in original.periodic.iter().enumerate() {
        let theirs = mutant.periodic.get(n)?;
        if ours.balance.filter != theirs.balance.filter {
            let per = original.queues[ours.balance.from].per;
            scripts.push(filters(original, (&ours.balance, &theirs.balance), per));
            rest.periodic[n].balance.filter.clone_from(&ours.balance.filter);
        }
    }
    (rest == *original && !scripts.is_empty()).then_some(scripts)
}

/// `mine`: the level of who balances.
fn filters(
    policy: &Policy,
    (ours, theirs): (&Balance, &Balance),
    mine: Level,
) -> Result<Script, NotEncoded> {
    let mut encoder = Encoder::new(policy, "Not so: both filters say the same.");
    let (mut names, me, cpu) = taking(&mut encoder, policy.queues[ours.from].per);
    let own = encoder.same(policy.queues[ours.from].per, me.clone(), cpu);
    encoder.assert("It is another group.", not(own));
    // Who balances because it is idle may be given a task meanwhile.
    names.me = Some((mine, me));
    let (a, b) = (encoder.bool(&ours.filter, &names)?, encoder.bool(&theirs.filter, &names)?);
    Ok(differ(encoder, a, b))
}

/// Under the lock, with a task there that may run here.
fn rechecks(policy: &Policy, ours: &Balance, theirs: &Balance) -> Result<Script, NotEncoded> {
    let mut encoder = Encoder::new(policy, "Not so: both re-checks say the same.");
    let (now, me, cpu) = taking(&mut encoder, policy.queues[ours.from].per);
    let then = Names { when: ".then", ..now.clone() };
    // Whoever balances is idle when it begins, and may be given a task meanwhile.
    let runs = encoder.runs(me, &then);
    encoder.assert("I was idle.", not(runs));
    let queued = encoder.queued(ours.from, cpu, &now);
    encoder.assert("A task waits there.", at_most(int(1), queued));
    let mut said = Vec::new();
    for balance in [ours, theirs] {
        let seen: Result<Vec<_>, _> =
            balance.remembered().iter().map(|num| encoder.num(num, &then)).collect();
        let names = Names { seen: seen?, ..now.clone() };
        said.push(encoder.bool(&balance.recheck, &names)?);
    }
    let (b, a) = (said.pop(), said.pop());
    Ok(differ(encoder, a.unwrap_or(Term::Bool(true)), b.unwrap_or(Term::Bool(false))))
}

fn candidates(policy: &Policy, ours: &Balance, theirs: &Balance) -> Result<Script, NotEncoded> {
    let mut encoder = Encoder::new(policy, "Not so: both have the same candidates.");
    let (names, _, cpu) = taking(&mut encoder, policy.queues[ours.from].per);
    let a = candidate_of(&mut encoder, ours, &names, &cpu);
    let b = candidate_of(&mut encoder, theirs, &names, &cpu);
    Ok(differ(encoder, a, b))
}

fn differ(mut encoder: Encoder<'_>, a: Term, b: Term) -> Script {
    encoder.assert("They differ.", not(equal(a, b)));
    encoder.finish()
}
