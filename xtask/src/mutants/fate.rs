//! What becomes of a mutant: types first, then small machines, then a solver.

use std::time::Duration;

use rayon::prelude::*;
use wastenot_rota::ir::{Claim, ClaimKind, Policy};

use super::{Family, Mutant, argument, contained, equivalent};
use wastenot_prove::engine::{Engine, Interleavings, ask_one, search};
use wastenot_prove::explore::Bounds;
use wastenot_prove::ground;
use wastenot_prove::obligations::{Question, obligations, remarks};
use wastenot_prove::{Error, Finding, Options};

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is wrong.
    Refuted(By),
    /// It means the same: a solver finds no state in which it does not.
    Equivalent,
    /// It does nothing that the original may not do: a solver finds no state in which it does.
    Contained,
    /// All its claims are proved, like those of the original.
    Proved,
    /// Nobody knows, for this reason.
    Open(String),
    /// Both are found: it is wrong, and it means the same or does nothing that the original may not
    /// do. So the prover is wrong, or what is taken for the same.
    Torn(By),
}

/// Who refuted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum By {
    /// Its text, without any question: paths, counts, levels, retries.
    Type,
    /// A counterexample on a small machine.
    Explorer,
    /// A state of a small machine that a solver named, and that the explorer found to break a
    /// claim.
    Replay,
    /// A state in which an obligation does not hold.
    Solver,
}

/// What a fate means for the prover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Wrong, and found to be.
    Refuted(By),
    /// Not wrong: it means the same.
    Equivalent,
    /// Not wrong: it does nothing that the original may not do.
    Contained,
    /// Not wrong: [`super::ARGUMENTS`] at this index says why.
    Argued(usize),
    /// Choice or tuning, and proved.
    Tuned,
    /// What should not be, for this reason: a hole in the prover, or a claim that depends on
    /// tuning.
    Unexplained(String),
}

/// How a mutant stands with that fate.
pub(crate) fn standing(mutant: &Mutant, fate: &Fate) -> Standing {
    match (fate, mutant.family) {
        (Fate::Equivalent | Fate::Contained | Fate::Proved, Family::Choice) => Standing::Tuned,
        (fate, Family::Choice) => Standing::Unexplained(format!("choice, but {fate:?}")),
        (Fate::Refuted(by), _) => Standing::Refuted(*by),
        (Fate::Equivalent, _) => Standing::Equivalent,
        (Fate::Contained, _) => Standing::Contained,
        (Fate::Torn(by), _) => Standing::Unexplained(format!("no worse, yet refuted by {by:?}")),
        (fate, _) => match argument(mutant) {
            Some(argument) => Standing::Argued(argument),
            None => Standing::Unexplained(format!("no argument, but {fate:?}")),
        },
    }
}

/// The smallest machines first: most counterexamples are there.
const FIRST_LOOK: Bounds = Bounds { cpus: 2, tasks: 2, events: 1 };
/// Situations that are looked at for a claim.
const SITUATIONS: u64 = 10_000;
/// How long small machines are asked about, where none that was explored shows what is wrong.
const BEYOND: Duration = Duration::from_secs(8);

/// The fates of many mutants of `original`, in their order.
///
/// # Errors
/// A solver fails.
pub(crate) fn fates(
    original: &Policy,
    mutants: &[Mutant],
    options: &Options,
) -> Result<Vec<Fate>, Error> {
    mutants.par_iter().map(|mutant| fate(original, mutant, options)).collect()
}

/// The fate of a mutant of `original`. It helps to keep answers: mutants ask what others asked.
///
/// # Errors
/// A solver fails.
pub(crate) fn fate(original: &Policy, mutant: &Mutant, options: &Options) -> Result<Fate, Error> {
    let policy = &mutant.policy;
    if !wastenot_rota::faults(policy).is_empty() {
        return Ok(Fate::Refuted(By::Type));
    }
    let judged = judged(policy, options)?;
    let no_worse = match judged {
        // It is proved: of choice nothing else is asked.
        Fate::Proved if mutant.family == Family::Choice => None,
        _ if equivalent::same(original, policy, options)? => Some(Fate::Equivalent),
        _ if contained::contained(original, policy, options)? => Some(Fate::Contained),
        _ => None,
    };
    Ok(match (judged, no_worse) {
        (Fate::Refuted(by), Some(_)) => Fate::Torn(by),
        (Fate::Proved, Some(no_worse)) => no_worse,
        (judged, _) => judged,
    })
}

/// Who refutes a mutant whose text has no error; `None` if it is not refuted. Choice and tuning are
/// not asked about: all such mutants are proved.
///
/// # Errors
/// A solver fails.
pub(crate) fn refuted(mutant: &Mutant, options: &Options) -> Result<Option<By>, Error> {
    if mutant.family == Family::Choice || !wastenot_rota::faults(&mutant.policy).is_empty() {
        return Ok(None);
    }
    Ok(match judged(&mutant.policy, options)? {
        Fate::Refuted(by) => Some(by),
        _ => None,
    })
}

/// What becomes of the claims of a policy: small machines first, then a solver.
fn judged(policy: &Policy, options: &Options) -> Result<Fate, Error> {
    let first = |claim: &Claim| counterexample(policy, claim, FIRST_LOOK);
    // What is wrong with the protocol itself is explored: solvers take long to find a state.
    let lost = || Interleavings.ask_one(policy, &ClaimKind::NoLostWakeup);
    if policy.claims.iter().any(first) || !policy.protocol.is_safe() && lost()?.refutes() {
        return Ok(Fate::Refuted(By::Explorer));
    }
    let mut fate = Fate::Proved;
    for claim in &policy.claims {
        match asked(policy, claim, options)? {
            Fate::Proved => {}
            // A counterexample says more than a state that no run may reach.
            Fate::Refuted(By::Solver) | Fate::Open(_)
                if counterexample(policy, claim, options.bounds) =>
            {
                return Ok(Fate::Refuted(By::Explorer));
            }
            Fate::Refuted(By::Solver) | Fate::Open(_) if replayed(policy, claim, options)? => {
                return Ok(Fate::Refuted(By::Replay));
            }
            // Some other claim may have one.
            refuted @ Fate::Refuted(By::Solver) => fate = refuted,
            refuted @ Fate::Refuted(_) => return Ok(refuted),
            other if fate == Fate::Proved => fate = other,
            _ => {}
        }
    }
    if fate == Fate::Proved && wasteful(policy, options)? {
        return Ok(Fate::Refuted(By::Solver));
    }
    Ok(fate)
}

/// Whether something does not hold that no claim needs, but all right policies have.
fn wasteful(policy: &Policy, options: &Options) -> Result<bool, Error> {
    for remark in policy.claims.iter().flat_map(|claim| remarks(policy, &claim.kind)) {
        if ask_one(remark, options)?.finding == Finding::Fails {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a solver names a situation on a small machine that breaks the claim.
fn replayed(policy: &Policy, claim: &Claim, options: &Options) -> Result<bool, Error> {
    let patience = options.patience.min(BEYOND);
    Ok(ground::beyond(policy, &claim.kind, options, patience)?.found.is_some())
}

fn counterexample(policy: &Policy, claim: &Claim, bounds: Bounds) -> bool {
    let searched = search(policy, &claim.kind, bounds, SITUATIONS);
    searched.is_some_and(|searched| searched.found.is_some())
}

/// What the text says of a claim, and a solver of any number of CPUs.
fn asked(policy: &Policy, claim: &Claim, options: &Options) -> Result<Fate, Error> {
    let mut fate = Fate::Proved;
    let all = obligations(policy, &claim.kind);
    if all.iter().any(|obligation| matches!(obligation.question, Question::Fails)) {
        return Ok(Fate::Refuted(By::Type));
    }
    for obligation in all {
        match ask_one(obligation, options)?.finding {
            Finding::Holds => {}
            Finding::Fails => return Ok(Fate::Refuted(By::Solver)),
            Finding::Open(why) => fate = Fate::Open(why),
        }
    }
    Ok(fate)
}
