//! An engine that asks solvers about machines of any size, and that decides from the text alone
//! where it can.
//!
//! A claim follows from obligations ([`crate::obligations`]). Each is a sentence that the text
//! decides, or a script that must be unsatisfiable.

use std::time::{Duration, Instant};

use rayon::prelude::*;
use wastenot_rota::ir::{ClaimKind, Policy};

use super::{Answer as Answered, Engine, Refutation, Says, Scope};
use crate::Error;
use crate::obligations::{Obligation, Question, obligations, remarks, terms};
use crate::options::Options;
use crate::smt::Script;
use crate::solver::{Answer, Seek, ask_all};
use crate::text::written;

/// An obligation and its finding.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The obligation.
    pub obligation: Obligation,
    /// Whether it holds.
    pub finding: Finding,
    /// The time of the solver, if one was asked.
    pub took: Duration,
    /// The parameters whose values in the text it needs. Empty: it holds for any values.
    pub as_given: Vec<String>,
}

/// The answer about an obligation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It holds for any number of CPUs.
    Holds,
    /// It fails, on a machine that the solver found or by the text.
    Fails,
    /// No solver was run, or no solver has an answer. The reason.
    Open(String),
}

/// An engine that asks all solvers about the obligations of claims.
#[derive(Clone, Copy, Debug)]
pub struct Quantified<'o>(pub &'o Options);

impl Engine for Quantified<'_> {
    fn ask(&self, policy: &Policy, claims: &[&ClaimKind]) -> Result<Vec<Answered>, Error> {
        let needed = claims.iter().map(|kind| obligations(policy, kind));
        let all = needed.chain(claims.iter().map(|kind| remarks(policy, kind))).collect();
        let mut judged = ask_each(all, self.0)?;
        let remarks = judged.split_off(claims.len());
        Ok(judged.into_iter().zip(remarks).map(answer).collect())
    }
}

/// The answer that follows from the obligations of a claim.
fn answer((obligations, remarks): (Vec<Judged>, Vec<Judged>)) -> Answered {
    let took = obligations.iter().map(|it| it.took).sum();
    let fails = |it: &&Judged| matches!(it.obligation.question, Question::Fails);
    let says = match obligations.iter().find(fails) {
        Some(contradicted) => Says::Refutes(Refutation::Text(contradicted.obligation.what.clone())),
        None if obligations.iter().all(|it| it.finding == Finding::Holds) => {
            Says::Shows(Scope::Any)
        }
        None => Says::Silent(None),
    };
    Answered { says, obligations, remarks, took, ..Answered::default() }
}

/// Judges obligations, claim by claim. A question that several claims share is asked once.
fn ask_each(claims: Vec<Vec<Obligation>>, options: &Options) -> Result<Vec<Vec<Judged>>, Error> {
    let lengths: Vec<usize> = claims.iter().map(Vec::len).collect();
    let all: Vec<Obligation> = claims.into_iter().flatten().collect();
    let first = |n: usize| {
        let alike = |other: &Obligation| other.question == all[n].question;
        all.iter().position(alike).unwrap_or(n)
    };
    let judged: Result<Vec<Option<Judged>>, Error> = (0..all.len())
        .into_par_iter()
        .map(|n| (first(n) == n).then(|| ask_as_given(all[n].clone(), options)).transpose())
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

/// Judges an obligation for any parameters and, if that fails, for the parameters of the text.
pub(crate) fn ask_as_given(obligation: Obligation, options: &Options) -> Result<Judged, Error> {
    let judged = ask_one(obligation, options)?;
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

/// Judges an obligation for any parameters.
pub fn ask_one(obligation: Obligation, options: &Options) -> Result<Judged, Error> {
    let begun = Instant::now();
    let finding = match &obligation.question {
        Question::Holds => Finding::Holds,
        Question::Fails => Finding::Fails,
        Question::Undecided(why) => Finding::Open((*why).into()),
        Question::NotEncoded(why) => {
            Finding::Open(format!("{} cannot be encoded for solvers", why.0))
        }
        Question::Unsatisfiable(script) => refuted(script, options)?,
    };
    Ok(Judged { obligation, finding, took: begun.elapsed(), as_given: Vec::new() })
}

/// Whether solvers find that a script is unsatisfiable.
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
        None => Finding::Open("no solver is available".into()),
    })
}

/// The time limit of a solver for one of several conditions.
const A_TERM: Duration = Duration::from_secs(5);

/// Words that name the condition of the text because of which an obligation fails or has no answer.
/// Empty if this is not examined, or if the obligation needs no condition.
pub(crate) fn defeated(
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
            ask_as_given(obligation, &within).map(|judged| judged.finding)
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
        ("", open) => format!("; conditions without an answer: {open}"),
        (fails, _) => format!("; conditions that fail: {fails}"),
    })
}
