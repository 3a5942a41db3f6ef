//! Claims judged: first every small machine is looked at, then solvers are asked about all others.

use std::time::{Duration, Instant};

use rayon::prelude::*;
use wastenot_rota::ir::{Claim, ClaimKind, Policy};

use crate::cache::Cache;
use crate::explore::{Bounds, Doubt, Effort, Searched, search, unseen};
use crate::ground::{self, Beyond};
use crate::obligations::{Obligation, Question, obligations, remarks, terms};
use crate::smt::Script;
use crate::solver::{Answer, Seek, Solver, ask_all};
use crate::wakeup::{self, Lost};
use crate::{Counterexample, Error, written};

/// How to judge.
#[derive(Debug)]
pub struct Options {
    /// Whom to ask; of several the answers are compared.
    pub solvers: Vec<Solver>,
    /// Where answers are kept.
    pub cache: Option<Cache>,
    /// How long each may think about each question.
    pub patience: Duration,
    /// How far the explorer goes.
    pub bounds: Bounds,
}

/// What became of a claim.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The claim.
    pub claim: Claim,
    /// Whether it holds.
    pub outcome: Outcome,
    /// What it follows from, each with what was found.
    pub obligations: Vec<Judged>,
    /// What it does not need, but is worth knowing.
    pub remarks: Vec<Judged>,
    /// Situations that the explorer looked at.
    pub looked: u64,
    /// How far it came, where it looked at all.
    pub explored: Option<Bounds>,
    /// How long it took.
    pub took: Duration,
}

/// Whether a claim holds.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It does.
    Proved(Scope),
    /// It does not: this happens.
    Refuted(Counterexample),
    /// It does not: the text says so. The sentence is what does not hold.
    Contradicted(String),
    /// Nobody knows, for this reason.
    Unknown(String),
}

/// Of which machines something is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Of all: `any n`.
    Any,
    /// Of those within the bounds of the explorer: `n <= N`.
    UpTo(Bounds),
}

/// An obligation and what was found.
#[derive(Clone, Debug)]
pub struct Judged {
    /// What has to hold.
    pub obligation: Obligation,
    /// Whether it does.
    pub finding: Finding,
    /// How long a solver took, where one was asked.
    pub took: Duration,
    /// Parameters with whose values of the text it holds, though not with any.
    pub as_given: Vec<String>,
}

/// What was found of an obligation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It holds of any number of CPUs.
    Holds,
    /// It does not, on some machine of the solver's making, or as the text says.
    Fails,
    /// Nobody was asked, or nobody knows.
    Open(String),
}

/// Situations that are looked at before a solver is asked: enough for most counterexamples.
const FIRST_LOOK: u64 = 30_000;
/// Situations that are looked at where solvers do not know, for as long as a question may take.
const LAST_LOOK: u64 = 30_000_000;

/// Judges every claim of `policy`, in the order of the text.
///
/// # Errors
/// A solver fails, or two disagree.
pub fn judge(policy: &Policy, options: &Options) -> Result<Vec<Verdict>, Error> {
    let claims = policy.claims.par_iter();
    let searched =
        || claims.clone().map(|claim| look(policy, claim, options, FIRST_LOOK.into())).collect();
    let kinds = || policy.claims.iter().map(|claim| &claim.kind);
    let needed = kinds().map(|kind| obligations(policy, kind));
    let all = needed.chain(kinds().map(|kind| remarks(policy, kind))).collect();
    let (searched, judged): (Vec<_>, _) = rayon::join(searched, || judge_all(all, options));
    let mut judged = judged?;
    let remarks = judged.split_off(policy.claims.len());
    let parts = claims.zip(searched).zip(judged).zip(remarks);
    parts
        .map(|(((claim, searched), judged), remarks)| {
            let verdict = verdict(policy, claim, options, searched, judged)?;
            Ok(Verdict { remarks, ..verdict })
        })
        .collect()
}

fn look(
    policy: &Policy,
    claim: &Claim,
    options: &Options,
    effort: Effort,
) -> (Option<Searched>, Duration) {
    let begun = Instant::now();
    let searched = search(policy, &claim.kind, options.bounds, effort);
    (searched, begun.elapsed())
}

/// Whether obligations hold, claim by claim. What several claims follow from is asked once.
fn judge_all(claims: Vec<Vec<Obligation>>, options: &Options) -> Result<Vec<Vec<Judged>>, Error> {
    let lengths: Vec<usize> = claims.iter().map(Vec::len).collect();
    let all: Vec<Obligation> = claims.into_iter().flatten().collect();
    let first = |n: usize| {
        let alike = |other: &Obligation| other.question == all[n].question;
        all.iter().position(alike).unwrap_or(n)
    };
    let judged: Result<Vec<Option<Judged>>, Error> = (0..all.len())
        .into_par_iter()
        .map(|n| (first(n) == n).then(|| judge_as_given(all[n].clone(), options)).transpose())
        .collect();
    let judged = judged?;
    let mut whole = (0..all.len()).map(|n| {
        let first = judged[first(n)].clone().expect("the first was asked");
        let question = first.obligation.question;
        let obligation = Obligation { question, ..all[n].clone() };
        Judged { obligation, finding: first.finding, took: first.took, as_given: first.as_given }
    });
    Ok(lengths.into_iter().map(|length| whole.by_ref().take(length).collect()).collect())
}

/// What follows from a short look at small machines, and from what solvers said. Where they do not
/// show it of all machines, they are asked about small ones with more tasks, and then there is a
/// long look.
fn verdict(
    policy: &Policy,
    claim: &Claim,
    options: &Options,
    (mut searched, searching): (Option<Searched>, Duration),
    judged: Vec<Judged>,
) -> Result<Verdict, Error> {
    let begun = Instant::now();
    let took = searching + judged.iter().map(|it| it.took).sum();
    let proved = judged.iter().all(|it| it.finding == Finding::Holds);
    let lost = match claim.kind {
        ClaimKind::NoLostWakeup if !found(&searched) => Some(Lost::of(policy)),
        _ => None,
    };
    let mut beyond = Beyond::default();
    if !proved && !found(&searched) && !matches!(lost, Some(Ok(_))) {
        if let Some(solver) = options.solvers.first().filter(|_| searched.is_some()) {
            beyond = ground::beyond(policy, &claim.kind, solver, options)?;
        }
        let cut = searched.as_ref().is_some_and(|it| it.looked >= FIRST_LOOK);
        if cut && beyond.found.is_none() {
            let until = Instant::now().checked_add(options.patience);
            searched = look(policy, claim, options, Effort { situations: LAST_LOOK, until }).0;
        }
    }
    let looked = searched.as_ref().map_or(0, |searched| searched.looked);
    let reached = searched.as_ref().filter(|searched| searched.cpus > 0);
    let mut explored = reached.map(|searched| Bounds { cpus: searched.cpus, ..options.bounds });
    if let Some(Err(wakeups)) = lost {
        // No more is shown than both searches show.
        let both = |(bounds, wakeups): (Bounds, wakeup::Bounds)| {
            bounds.narrower(Bounds { cpus: wakeups.cpus, tasks: wakeups.tasks, ..bounds })
        };
        explored = explored.zip(wakeups).map(both);
    }
    let unseen = unseen(policy, &claim.kind).or_else(|| doubtful(policy, searched.as_ref()?));
    if unseen.is_some() {
        (explored, beyond.bounds) = (None, None);
    }
    let situation = searched.and_then(|searched| searched.found).or(beyond.found);
    let outcome = match (situation, lost) {
        (Some(found), _) => Outcome::Refuted(Counterexample::Situation(Box::new(found))),
        (None, Some(Ok(lost))) => Outcome::Refuted(Counterexample::Wakeup(lost)),
        (None, _) => match outcome(&judged, explored, beyond.bounds, unseen) {
            Outcome::Unknown(why) => {
                Outcome::Unknown(why + &defeated(policy, &claim.kind, &judged, options)?)
            }
            outcome => outcome,
        },
    };
    let (claim, took) = (claim.clone(), took + begun.elapsed());
    let (obligations, remarks) = (judged, Vec::new());
    Ok(Verdict { claim, outcome, obligations, remarks, looked, explored, took })
}

fn found(searched: &Option<Searched>) -> bool {
    searched.as_ref().is_some_and(|searched| searched.found.is_some())
}

/// Why no search says that nothing goes wrong: a place where none looked for tasks.
fn doubtful(policy: &Policy, searched: &Searched) -> Option<String> {
    let name = |queue: usize| &policy.queues[queue].name;
    Some(match searched.doubt? {
        Doubt::Put(event, queue) => format!(
            "nobody knows whether `{}` ever goes each way to its `put` into `{}`",
            event.name(),
            name(queue)
        ),
        Doubt::Run => {
            "what would break it begins where no run was found to lead: such a run would \
                       decide it, or a proof that there is none"
                .to_owned()
        }
        Doubt::Move(queue) => {
            format!("nobody knows whether `balance every` ever moves a task into `{}`", name(queue))
        }
    })
}

/// Whether an obligation holds: with any parameters, or else with those of the text.
pub(crate) fn judge_as_given(obligation: Obligation, options: &Options) -> Result<Judged, Error> {
    let judged = judge_one(obligation, options)?;
    let Question::Unsatisfiable(script) = &judged.obligation.question else { return Ok(judged) };
    if judged.finding == Finding::Holds {
        return Ok(judged);
    }
    let begun = Instant::now();
    let Some(given) = script.as_usual() else { return Ok(judged) };
    if refuted(&given, options)? != Finding::Holds {
        return Ok(Judged { took: judged.took + begun.elapsed(), ..judged });
    }
    let name = |it: &str| it.strip_prefix("param.").unwrap_or(it).to_owned();
    let as_given = script.usual().map(name).collect();
    let obligation = Obligation { question: Question::Unsatisfiable(given), ..judged.obligation };
    let took = judged.took + begun.elapsed();
    Ok(Judged { obligation, finding: Finding::Holds, took, as_given })
}

/// Whether an obligation holds with any parameters.
pub(crate) fn judge_one(obligation: Obligation, options: &Options) -> Result<Judged, Error> {
    let begun = Instant::now();
    let finding = match &obligation.question {
        Question::Holds => Finding::Holds,
        Question::Fails => Finding::Fails,
        Question::Undecided(why) => Finding::Open((*why).into()),
        Question::NotEncoded(why) => {
            Finding::Open(format!("{} has no words in the language of solvers", why.0))
        }
        Question::Unsatisfiable(script) => refuted(script, options)?,
    };
    Ok(Judged { obligation, finding, took: begun.elapsed(), as_given: Vec::new() })
}

/// Whether solvers find that nothing satisfies a script.
fn refuted(script: &Script, options: &Options) -> Result<Finding, Error> {
    let (seek, patience) = (Seek::Refutation, options.patience);
    let replies = ask_all(&options.solvers, script, |solver| match &options.cache {
        Some(cache) => cache.ask(solver, script, seek, patience),
        None => solver.ask(script, seek, patience),
    })?;
    let certain = replies.iter().find(|reply| reply.answer.is_certain());
    Ok(match certain.or(replies.first()).map(|reply| &reply.answer) {
        Some(Answer::Unsat) => Finding::Holds,
        Some(Answer::Sat(_)) => Finding::Fails,
        Some(Answer::Unknown(why)) => Finding::Open(why.clone()),
        None => Finding::Open("there is no solver to be asked".into()),
    })
}

/// So long a solver may think about one of several conditions.
const A_TERM: Duration = Duration::from_secs(5);

/// Which condition of the text it is that defeats the obligation which `outcome` tells of, or of
/// which nobody knows. Empty: that is not asked, or the obligation asks for none.
fn defeated(
    policy: &Policy,
    claim: &ClaimKind,
    judged: &[Judged],
    options: &Options,
) -> Result<String, Error> {
    let fails = judged.iter().find(|it| it.finding == Finding::Fails);
    let told = fails.or_else(|| judged.iter().find(|it| it.finding != Finding::Holds));
    let settled = |it: &Judged| matches!(it.obligation.question, Question::Undecided(_));
    let Some(told) = told.filter(|_| !judged.iter().any(settled)) else {
        return Ok(String::new());
    };
    if options.solvers.is_empty() {
        return Ok(String::new());
    }
    let terms = terms(policy, claim, told.obligation.name);
    let within = Options {
        solvers: options.solvers.clone(),
        cache: None,
        patience: options.patience.min(A_TERM),
        bounds: options.bounds,
    };
    let alone = terms.len() == 1;
    let asked = |(_, question): &(_, Question)| match alone {
        true => Ok(told.finding.clone()),
        false => {
            let obligation = Obligation { question: question.clone(), ..told.obligation.clone() };
            judge_as_given(obligation, &within).map(|judged| judged.finding)
        }
    };
    let findings: Result<Vec<Finding>, Error> = terms.par_iter().map(asked).collect();
    let findings = findings?;
    let named = |of: fn(&Finding) -> bool| {
        let these = terms.iter().zip(&findings).filter(|(_, finding)| of(finding));
        let words: Vec<String> =
            these.map(|((term, _), _)| format!("`{}`", written::condition(policy, term))).collect();
        words.join(", ")
    };
    let fails = named(|it| *it == Finding::Fails);
    let open = named(|it| matches!(it, Finding::Open(_)));
    Ok(match (fails.as_str(), open.as_str()) {
        ("", "") => String::new(),
        ("", open) => format!("; what nobody knows of: {open}"),
        (fails, _) => format!("; what defeats it: {fails}"),
    })
}

/// What follows if the explorer found nothing within `explored`, where it looked, nor a solver
/// within `asked`, where it was asked; or if neither says anything, for what is `unseen`.
fn outcome(
    judged: &[Judged],
    explored: Option<Bounds>,
    asked: Option<Bounds>,
    unseen: Option<String>,
) -> Outcome {
    let text = judged.iter().find(|it| matches!(it.obligation.question, Question::Fails));
    if let Some(contradicted) = text {
        return Outcome::Contradicted(contradicted.obligation.what.clone());
    }
    let undecided = judged.iter().find_map(|it| match it.obligation.question {
        Question::Undecided(why) => Some((&it.obligation.what, why)),
        _ => None,
    });
    if let Some((what, why)) = undecided {
        return Outcome::Unknown(format!("{what}: {why}"));
    }
    let unseen = unseen.map_or_else(String::new, |why| format!("; {why}"));
    if let Some(open) = judged.iter().find(|it| it.finding == Finding::Fails) {
        let what = &open.obligation.what;
        return Outcome::Unknown(match asked.or(explored) {
            Some(bounds) => format!(
                "a solver says that this need not hold: {what}; but up to {} and {} nothing goes \
                 wrong",
                many(bounds.cpus, "CPU"),
                many(bounds.tasks, "task")
            ),
            None => format!("a solver says that this need not hold: {what}{unseen}"),
        });
    }
    let open = judged.iter().find_map(|it| match &it.finding {
        Finding::Open(why) => Some((it, why)),
        _ => None,
    });
    match (open, explored) {
        (None, _) => Outcome::Proved(Scope::Any),
        (Some(_), Some(bounds)) => Outcome::Proved(Scope::UpTo(bounds)),
        (Some((open, why)), None) => {
            Outcome::Unknown(format!("{}: {why}{unseen}", open.obligation.what))
        }
    }
}

/// `1 CPU`, `2 CPUs`
fn many(number: usize, what: &str) -> String {
    let more = if number == 1 { "" } else { "s" };
    format!("{number} {what}{more}")
}

#[cfg(test)]
mod tests {
    use super::many;

    #[test]
    fn one_cpu_is_one() {
        assert_eq!([1, 8].map(|number| many(number, "CPU")), ["1 CPU", "8 CPUs"]);
    }
}
