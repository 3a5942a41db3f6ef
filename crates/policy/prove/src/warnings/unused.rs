//! Text that never does anything: queues into which nothing is put, filters that nothing passes.

use wastenot_rota::ir::{Attempt, Balance, Bool, Level, Policy};

use super::Warning;
use crate::encode::{Encoder, Names, NotEncoded};
use crate::engine::ask_as_given;
use crate::obligations::{Obligation, Question, taking};
use crate::text::Sets;
use crate::{Error, Finding, Options};

/// Queues that CPUs look into, and that no handler and no balance fills.
pub(super) fn never_filled(policy: &Policy) -> Vec<Warning> {
    let filled = Sets::of(policy).fed;
    let taken = policy.dispatch.iter().filter_map(|attempt| match attempt {
        Attempt::Take(at, span) => Some((at.queue, *span, "`dispatch` takes")),
        Attempt::Balance => None,
    });
    let stolen = balances(policy).map(|it| (it.from, it.spans.steal, "a balance takes"));
    let empty = taken.chain(stolen).filter(|(queue, ..)| !filled[*queue]);
    let warning = |(queue, span, who): (usize, _, &str)| Warning {
        code: "never-filled",
        span,
        what: format!(
            "{who} from `{}`, but no task ever waits in this queue",
            policy.queues[queue].name
        ),
        evidence: "no handler enqueues a task in it, and no `balance every` moves a task into it"
            .into(),
        help: "enqueue tasks in this queue, or remove it",
    };
    empty.map(warning).collect()
}

/// Filters that are false in every state, as a solver shows of any number of CPUs.
pub(super) fn never_passes(policy: &Policy, options: &Options) -> Result<Vec<Warning>, Error> {
    let idle = policy.idle.iter().map(|balance| (balance, Level::Cpu));
    let periodic = policy.periodic.iter().map(|it| &it.balance);
    let periodic = periodic.map(|balance| (balance, policy.queues[balance.from].per));
    let mut found = Vec::new();
    for (balance, me) in idle.chain(periodic) {
        let Ok(question) = passes(policy, balance, me) else { continue };
        let span = balance.spans.filter;
        let what = "no candidate ever passes this filter".to_owned();
        let asked = Obligation { name: "passes", what, span, question, model_only: false };
        let judged = ask_as_given(asked, options)?;
        if judged.finding != Finding::Holds {
            continue;
        }
        let who: Vec<String> = options.solvers.iter().map(ToString::to_string).collect();
        let evidence = match who.as_slice() {
            [] => "this follows from the text of the filter".to_owned(),
            _ => format!("{}: the filter is false in every state of any machine", who.join(", ")),
        };
        found.push(Warning {
            code: "never-passes",
            span,
            what: judged.obligation.what,
            evidence,
            help: "write a filter that is true where a task waits: `queued(v.ready) >= 1`",
        });
    }
    Ok(found)
}

/// Whether the filter can be true at some instant, as a question that nothing satisfies if not.
fn passes(policy: &Policy, balance: &Balance, level: Level) -> Result<Question, NotEncoded> {
    if balance.filter == Bool::Const(false) {
        return Ok(Question::Holds);
    }
    let mut encoder =
        Encoder::new(policy, "Negation of the statement: no candidate ever passes the filter.");
    let (names, me, _) = taking(&mut encoder, policy.queues[balance.from].per);
    let names = Names { me: Some((level, me)), ..names };
    let filter = encoder.bool(&balance.filter, &names)?;
    encoder.assert("The queue passes the filter.", filter);
    Ok(Question::Unsatisfiable(encoder.finish()))
}

fn balances(policy: &Policy) -> impl Iterator<Item = &Balance> {
    policy.idle.iter().chain(policy.periodic.iter().map(|periodic| &periodic.balance))
}
