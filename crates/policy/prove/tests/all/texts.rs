//! Texts of policies, and what becomes of what they claim.

use std::path::Path;
use std::time::Duration;

use wastenot_prove::cache::Cache;
use wastenot_prove::explore::Bounds;
use wastenot_prove::solver::Solver;
use wastenot_prove::{Options, Outcome, Scope, Verdict, judge};
use wastenot_rota::ir::Policy;

use crate::solvers::solvers;

/// As many CPUs as tasks.
pub(crate) const TWO: Bounds = Bounds { cpus: 2, tasks: 2, events: 1 };
pub(crate) const THREE: Bounds = Bounds { cpus: 3, tasks: 3, events: 1 };

/// Work stealing with this filter.
pub(crate) fn stealing(filter: &str, claim: &str) -> String {
    format!(
        "policy p() {{
            queue q : fifo per cpu
            on new(t), wake(t), preempt(t), yield(t) {{ put t in home(t).q }}
            on block(t), exit(t) {{ }}
            on dispatch(c) {{ take c.q else balance idle }}
            balance idle {{
                level machine
                filter(me, v) = {filter}
                steal 1 where me in allowed(t)
            }}
            prove {claim}
        }}"
    )
}

/// The same, from where most wait.
pub(crate) fn from_the_longest(filter: &str, claim: &str) -> String {
    stealing(filter, claim).replace("steal 1", "choose argmax queued(v.q)\n steal 1")
}

pub(crate) fn policy(text: &str) -> Policy {
    let program = wastenot_rota::compile(text).unwrap_or_else(|why| panic!("{why:?}\n{text}"));
    program.policies.into_iter().next().expect("one")
}

/// The answers of solvers: a run of the tests asks only what no run before has asked.
pub(crate) fn answers() -> Cache {
    Cache::open(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("answers")).expect("a folder")
}

pub(crate) fn options(solvers: Vec<Solver>, bounds: Bounds) -> Options {
    Options { solvers, cache: Some(answers()), patience: Duration::from_secs(20), bounds }
}

/// The verdict on each claim of a text.
pub(crate) fn judged(text: &str, solvers: Vec<Solver>, bounds: Bounds) -> Vec<Verdict> {
    judge(&policy(text), &options(solvers, bounds)).expect("an answer")
}

/// What becomes of each claim of a text, without solvers and with each.
pub(crate) fn outcomes(text: &str, test: &str) -> Vec<Outcome> {
    let all = with_and_without(solvers(test)).into_iter();
    let judged = all.flat_map(|solvers| judged(text, solvers, THREE));
    judged.map(|verdict| verdict.outcome).collect()
}

/// No solver, and each of them.
pub(crate) fn with_and_without(solvers: Vec<Solver>) -> Vec<Vec<Solver>> {
    let each = solvers.into_iter().map(|solver| vec![solver]);
    std::iter::once(Vec::new()).chain(each).collect()
}

/// Holds all that these texts claim, without solvers and with each, to what becomes of it.
pub(crate) fn all<T: AsRef<str>>(texts: &[T], test: &str, becomes: impl Fn(&Outcome) -> bool) {
    for text in texts.iter().map(AsRef::as_ref) {
        for outcome in outcomes(text, test) {
            assert!(becomes(&outcome), "{outcome:?}\n{text}");
        }
    }
}

pub(crate) fn is_refuted(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Refuted(_) | Outcome::Contradicted(_))
}

pub(crate) fn may_hold(outcome: &Outcome) -> bool {
    !is_refuted(outcome)
}

/// There is a run that breaks it.
pub(crate) fn has_a_run(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Refuted(_))
}

pub(crate) fn is_contradicted(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Contradicted(_))
}

pub(crate) fn is_unknown(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Unknown(_))
}

/// Of machines of any size.
pub(crate) fn is_proved(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Proved(Scope::Any))
}
