//! Judges claims: the verdict that follows from the answers of the engines.

mod partitions;
mod program;
mod verdict;

use std::time::Instant;

use rayon::prelude::*;
use wastenot_rota::ir::{Claim, ClaimKind, Policy};

use wastenot_model::report::counted;

pub use self::partitions::judge_partitions;
pub(crate) use self::program::{are_claimed, is_asked};
pub use self::program::{choose, judge_program};
pub use self::verdict::{Conclusion, Judgement, Outcome, Verdict};

use crate::Error;
use crate::engine::{
    Answer, Bounded, Engine, Explorer, Finding, Interleavings, Quantified, Says, Scope, defeated,
};
use crate::explore::{Bounds, Effort};
use crate::obligations::Question;
use crate::options::Options;

/// The most situations of the first search, beside the solvers: enough for most counterexamples.
const FIRST_LOOK: u64 = 30_000;
/// The most situations of the last search, if solvers have no answer. Its time limit is that of a
/// query.
const LAST_LOOK: u64 = 30_000_000;

/// Judges every claim of `policy`, in the order of the text.
///
/// # Errors
/// A solver fails, or two disagree.
pub fn judge(policy: &Policy, options: &Options) -> Result<Vec<Verdict>, Error> {
    let kinds: Vec<&ClaimKind> = policy.claims.iter().map(|claim| &claim.kind).collect();
    let explorer = Explorer { bounds: options.bounds, effort: FIRST_LOOK.into() };
    let (explored, proved) =
        rayon::join(|| explorer.ask(policy, &kinds), || Quantified(options).ask(policy, &kinds));
    let answers = explored?.into_iter().zip(proved?);
    let parts: Vec<_> = policy.claims.iter().zip(answers).collect();
    let judged = parts.into_par_iter().map(|(claim, (explored, proved))| {
        Judging { policy, claim, options, explored, proved }.verdict()
    });
    judged.collect()
}

/// One claim, with the answers of a short search of small machines and of solvers.
struct Judging<'j> {
    policy: &'j Policy,
    claim: &'j Claim,
    options: &'j Options,
    explored: Answer,
    proved: Answer,
}

impl Judging<'_> {
    /// The verdict. If the claim is neither refuted nor proved for all machines, the other engines
    /// are asked: the interleavings of wakeups, a solver about small machines with more tasks, and
    /// a long search.
    fn verdict(mut self) -> Result<Verdict, Error> {
        let (begun, took) = (Instant::now(), self.explored.took + self.proved.took);
        let kind = &self.claim.kind;
        let (mut wakeups, mut bounded) = (None, Answer::default());
        if *kind == ClaimKind::NoLostWakeup && !self.explored.refutes() {
            wakeups = Some(Interleavings.ask_one(self.policy, kind)?);
        }
        let refuted = self.explored.refutes() || wakeups.as_ref().is_some_and(Answer::refutes);
        if !refuted && !matches!(self.proved.says, Says::Shows(_)) {
            bounded = Bounded(self.options).ask_one(self.policy, kind)?;
            if self.explored.looked >= FIRST_LOOK && !bounded.refutes() {
                let until = Instant::now().checked_add(self.options.patience);
                let effort = Effort { situations: LAST_LOOK, until };
                let explorer = Explorer { bounds: self.options.bounds, effort };
                self.explored = explorer.ask_one(self.policy, kind)?;
            }
        }
        let mut within = self.explored.within;
        if let Some(wakeups) = wakeups.as_ref().filter(|it| !it.refutes()) {
            // No more is shown than both searches show.
            within = within.zip(wakeups.within).map(|(a, b)| a.narrower(b));
        }
        let explored = within;
        let outcome = self.outcome(wakeups.as_ref(), &bounded, within)?;
        let Answer { obligations, remarks, .. } = self.proved;
        let (claim, looked) = (self.claim.clone(), self.explored.looked);
        let took = took + begun.elapsed();
        Ok(Verdict { claim, outcome, obligations, remarks, looked, explored, took })
    }

    /// The outcome. A counterexample comes first, then a contradiction by the text, then a proof,
    /// and then the bounds within which small machines were examined, if no case was left out.
    fn outcome(
        &self,
        wakeups: Option<&Answer>,
        bounded: &Answer,
        within: Option<Bounds>,
    ) -> Result<Outcome, Error> {
        let searches = [Some(&self.explored), wakeups, Some(bounded)];
        let answers = searches.into_iter().flatten().chain([&self.proved]);
        for answer in answers {
            if let Says::Refutes(refutation) = &answer.says {
                return Ok(refutation.clone().into());
            }
        }
        let (missed, asked) = match &self.explored.says {
            Says::Silent(Some(why)) => (format!("; {why}"), None),
            _ => (String::new(), bounded.within),
        };
        let unknown = match self.not_proved() {
            None => return Ok(Outcome::Proved(Scope::Any)),
            Some(NotProved::Undecided(what, why)) => format!("{what}: {why}"),
            Some(NotProved::Fails(what)) => match asked.or(within) {
                Some(bounds) => format!(
                    "a solver finds that this obligation may fail: {what}. The search found no \
                     counterexample with up to {} and {}",
                    counted(bounds.cpus, "CPU"),
                    counted(bounds.tasks, "task")
                ),
                None => format!("a solver finds that this obligation may fail: {what}{missed}"),
            },
            Some(NotProved::Open(what, why)) => match within {
                Some(bounds) => return Ok(Outcome::Proved(Scope::UpTo(bounds))),
                None => format!("{what}: {why}{missed}"),
            },
        };
        let (policy, kind) = (self.policy, &self.claim.kind);
        let defeated = defeated(policy, kind, &self.proved.obligations, self.options)?;
        Ok(Outcome::Unknown(unknown + &defeated))
    }

    /// The obligation that keeps the claim from being proved: one that the text leaves undecided,
    /// else one that fails, else the first that is open.
    fn not_proved(&self) -> Option<NotProved<'_>> {
        let all = || self.proved.obligations.iter();
        let undecided = all().find_map(|it| match it.obligation.question {
            Question::Undecided(why) => Some(NotProved::Undecided(&it.obligation.what, why)),
            _ => None,
        });
        let fails = || all().find(|it| it.finding == Finding::Fails);
        let open = || {
            all().find_map(|it| match &it.finding {
                Finding::Open(why) => Some(NotProved::Open(&it.obligation.what, why)),
                _ => None,
            })
        };
        undecided.or_else(|| Some(NotProved::Fails(&fails()?.obligation.what))).or_else(open)
    }
}

/// The obligation that keeps a claim from being proved, and the reason.
enum NotProved<'a> {
    Undecided(&'a str, &'a str),
    Fails(&'a str),
    Open(&'a str, &'a str),
}
