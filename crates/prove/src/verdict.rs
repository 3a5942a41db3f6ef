//! Claims judged: first every small machine is looked at, then solvers are asked about all others.

use std::time::{Duration, Instant};

use rayon::prelude::*;
use wastenot_rota::ir::{Claim, ClaimKind, Policy};

use crate::cache::Cache;
use crate::explore::{Bounds, search};
use crate::obligations::{Obligation, Question, obligations};
use crate::solver::{Answer, Seek, Solver, ask_all};
use crate::wakeup::{self, Lost};
use crate::{Counterexample, Error};

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
/// Situations that are looked at where solvers do not know: some minutes.
const LAST_LOOK: u64 = 30_000_000;

/// Judges every claim of `policy`, in the order of the text.
///
/// # Errors
/// A solver fails, or two disagree.
pub fn judge(policy: &Policy, options: &Options) -> Result<Vec<Verdict>, Error> {
    policy.claims.par_iter().map(|claim| judge_claim(policy, claim, options)).collect()
}

/// First a short look at small machines, then solvers, then, where they do not know, a long look.
fn judge_claim(policy: &Policy, claim: &Claim, options: &Options) -> Result<Verdict, Error> {
    let begun = Instant::now();
    let look = |most: u64| search(policy, &claim.kind, options.bounds, most);
    let mut searched = look(FIRST_LOOK);
    let judged: Result<Vec<Judged>, Error> =
        obligations(policy, &claim.kind).into_par_iter().map(|it| judge_one(it, options)).collect();
    let judged = judged?;
    let proved = judged.iter().all(|it| it.finding == Finding::Holds);
    if searched.as_ref().is_some_and(|it| it.found.is_none() && it.looked >= FIRST_LOOK) && !proved
    {
        searched = look(LAST_LOOK);
    }
    let looked = searched.as_ref().map_or(0, |searched| searched.looked);
    let reached = searched.as_ref().filter(|searched| searched.cpus > 0);
    let mut explored = reached.map(|searched| Bounds { cpus: searched.cpus, ..options.bounds });
    let found = searched.and_then(|searched| searched.found);
    let mut found = found.map(|found| Counterexample::Situation(Box::new(found)));
    if claim.kind == ClaimKind::NoLostWakeup && found.is_none() {
        match Lost::of(policy) {
            Ok(lost) => found = Some(Counterexample::Wakeup(lost)),
            // No more is shown than both searches show.
            Err(wakeups) => explored = explored.zip(wakeups).map(narrower),
        }
    }
    let outcome = match found {
        Some(found) => Outcome::Refuted(found),
        None => outcome(&judged, explored),
    };
    let (claim, took) = (claim.clone(), begun.elapsed());
    Ok(Verdict { claim, outcome, obligations: judged, looked, explored, took })
}

fn narrower((bounds, wakeups): (Bounds, wakeup::Bounds)) -> Bounds {
    let (cpus, tasks) = (bounds.cpus.min(wakeups.cpus), bounds.tasks.min(wakeups.tasks));
    Bounds { cpus, tasks, ..bounds }
}

/// Whether an obligation holds.
pub(crate) fn judge_one(obligation: Obligation, options: &Options) -> Result<Judged, Error> {
    let begun = Instant::now();
    let finding = match &obligation.question {
        Question::Holds => Finding::Holds,
        Question::Fails => Finding::Fails,
        Question::NotEncoded(why) => {
            Finding::Open(format!("{} has no words in the language of solvers", why.0))
        }
        Question::Unsatisfiable(_) if options.solvers.is_empty() => {
            Finding::Open("there is no solver to be asked".into())
        }
        Question::Unsatisfiable(script) => {
            let (seek, patience) = (Seek::Refutation, options.patience);
            let replies = ask_all(&options.solvers, script, |solver| match &options.cache {
                Some(cache) => cache.ask(solver, script, seek, patience),
                None => solver.ask(script, seek, patience),
            })?;
            let answers: Vec<&Answer> = replies.iter().map(|reply| &reply.answer).collect();
            match answers.as_slice() {
                answers if answers.contains(&&Answer::Unsat) => Finding::Holds,
                [Answer::Unknown(why), ..] => Finding::Open(why.clone()),
                _ => Finding::Fails,
            }
        }
    };
    Ok(Judged { obligation, finding, took: begun.elapsed() })
}

/// What follows if the explorer found nothing within `explored`, where it looked.
fn outcome(judged: &[Judged], explored: Option<Bounds>) -> Outcome {
    let text = judged.iter().find(|it| matches!(it.obligation.question, Question::Fails));
    if let Some(contradicted) = text {
        return Outcome::Contradicted(contradicted.obligation.what.clone());
    }
    if let Some(open) = judged.iter().find(|it| it.finding == Finding::Fails) {
        let what = &open.obligation.what;
        return Outcome::Unknown(match explored {
            Some(bounds) => format!(
                "a solver says that this need not hold: {what}; but up to {} CPUs and {} tasks \
                 nothing goes wrong",
                bounds.cpus, bounds.tasks
            ),
            None => format!("a solver says that this need not hold: {what}"),
        });
    }
    let open = judged.iter().find_map(|it| match &it.finding {
        Finding::Open(why) => Some((it, why)),
        _ => None,
    });
    match (open, explored) {
        (None, _) => Outcome::Proved(Scope::Any),
        (Some(_), Some(bounds)) => Outcome::Proved(Scope::UpTo(bounds)),
        (Some((open, why)), None) => Outcome::Unknown(format!("{}: {why}", open.obligation.what)),
    }
}
