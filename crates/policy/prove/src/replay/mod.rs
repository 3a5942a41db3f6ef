//! Forces a counterexample on a policy: the same situation and the same choices, step by step.
//!
//! The explorer makes choices that a run cannot control: when each candidate is read, which one is
//! tried first, what happens in between. A replay makes the recorded choices, and the interpreter
//! computes their results ([`wastenot_rota::interpret::Forced`]). On the text with which it was
//! found, a counterexample ends in the recorded fault. On a text that was fixed, some step differs.
//! The wakeup protocol is not part of the interpreter: its steps are forced on its own states
//! ([`crate::wakeup`]).
//!
//! A run of the interpreter has to lead to the initial state of a counterexample, from a machine on
//! which nothing has happened, through every handler ([`real`]). Every result of a search has to
//! pass the same test before it refutes a claim.

mod attempt;
mod lead;
mod names;
mod others;
mod protocol;
mod real;
mod report;
mod stage;

use wastenot_model::History;
use wastenot_rota::ir::Policy;

use self::names::Told;
use self::stage::Stage;
use crate::Error;
use crate::counterexample::annexes::{AT_FIRST, FORMAT, Row, SO, Tables, read_steps};
use crate::counterexample::wakeup::WAKEUP;
use crate::explore::Wrong;

pub(crate) use real::{Patience, wakes_nobody_else};
pub use report::report;

/// A counterexample that was read.
#[derive(Clone, Debug)]
pub struct Recorded {
    tables: Tables,
    machine: wastenot_model::Machine,
    /// The initial state, in words.
    at_first: Vec<String>,
    steps: Vec<Row>,
}

/// The result of forcing a counterexample on a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The name of the policy that it was forced on.
    pub policy: String,
    /// The claim that it was found against.
    pub claim: String,
    /// What is wrong at the end, if it ends as recorded.
    pub why: String,
    /// The initial state, in words.
    pub at_first: Vec<String>,
    /// The recorded steps, in words.
    pub steps: Vec<String>,
    /// How many of these steps happened as recorded.
    pub same: usize,
    /// What happens instead after these steps, in words. Empty: it ends as recorded.
    pub otherwise: Vec<String>,
    /// Variables of CPUs that the policy does not have: their values were left out.
    pub left_out: Vec<String>,
    /// How the same initial state still breaks the claim with other steps, if it does.
    pub still: Option<String>,
}

impl Replay {
    /// Whether it ends as recorded, with the recorded steps.
    pub fn is_reached(&self) -> bool {
        self.otherwise.is_empty()
    }
}

/// Whether a History is a counterexample.
pub fn is_counterexample(history: &History) -> bool {
    history.head.source.format == FORMAT
}

impl Recorded {
    /// Reads what `prove --cex` wrote.
    ///
    /// # Errors
    /// A part is missing or has an unknown value.
    pub fn read(history: &History) -> Result<Recorded, Error> {
        let tables = Tables::read(history)?;
        let (words, steps): (Vec<Row>, Vec<Row>) =
            read_steps(history)?.into_iter().partition(|row| [AT_FIRST, SO].contains(&&*row.kind));
        let at_first = words.into_iter().filter(|row| row.kind == AT_FIRST);
        let at_first = at_first.map(|row| row.words).collect();
        Ok(Recorded { tables, machine: history.head.machine.clone(), at_first, steps })
    }

    /// The name of the policy that it was found with.
    pub fn policy(&self) -> &str {
        &self.tables.about.policy
    }

    /// The text of that policy, if it is recorded.
    pub fn text(&self) -> Option<&str> {
        Some(self.tables.about.text.as_str()).filter(|text| !text.is_empty())
    }

    /// Forces it on `policy`.
    ///
    /// # Errors
    /// The policy lacks a queue of the counterexample, or the machine is too large.
    pub fn force(&self, policy: &Policy) -> Result<Replay, Error> {
        let forced = match self.tables.about.way.as_str() {
            WAKEUP => protocol::force(self, policy)?,
            _ => self.force_situation(policy)?,
        };
        let about = &self.tables.about;
        Ok(Replay {
            policy: policy.name.clone(),
            claim: about.claim.clone(),
            why: about.why.clone(),
            at_first: self.at_first.clone(),
            steps: self.steps.iter().map(|row| row.words.clone()).collect(),
            same: forced.same,
            otherwise: forced.otherwise,
            left_out: forced.left_out,
            still: forced.still,
        })
    }

    fn force_situation(&self, policy: &Policy) -> Result<Forced, Error> {
        let mut told = Told::of(self, policy)?;
        let led = if told.wrong.is_some() { Some(real::led(&mut told)) } else { None };
        let (done, same) = match led.transpose() {
            Ok(run) => {
                let mut stage = match run {
                    Some(run) => Stage::at(&told, run.forced),
                    None => Stage::unled(&told),
                };
                (force(&mut stage), stage.same)
            }
            Err(otherwise) => (Err(otherwise), 0),
        };
        let otherwise = done.err().map(|Otherwise(words)| words).unwrap_or_default();
        let small = told.machine_is_small();
        let claim = policy.claims.iter().find(|claim| claim.kind.name() == self.tables.about.claim);
        let claim = claim.filter(|_| small && !otherwise.is_empty());
        let still = claim.and_then(|it| real::still(&told.world(), &told.situation, &it.kind));
        let left_out = told.left_out.clone();
        Ok(Forced { same, otherwise, left_out, still })
    }
}

/// Forces the recorded steps. `Ok`: they end as recorded.
fn force(stage: &mut Stage<'_>) -> Result<(), Otherwise> {
    match stage.told.wrong {
        Some(Wrong::Fails) => attempt::fails(stage),
        Some(Wrong::AllFail) => attempt::round(stage),
        Some(Wrong::Lost) => attempt::lost(stage),
        Some(Wrong::NotWoken) => others::not_woken(stage),
        Some(Wrong::NobodyBeginsThere) => others::not_first(stage),
        Some(Wrong::StealsForbidden) => others::stolen(stage),
        Some(Wrong::RunsInACircle) => others::circle(stage),
        None => others::key(stage),
    }
}

/// The outcome of forced steps.
struct Forced {
    same: usize,
    otherwise: Vec<String>,
    left_out: Vec<String>,
    still: Option<String>,
}

/// The steps that happen instead of the recorded ones, in words.
#[derive(Debug)]
struct Otherwise(Vec<String>);

impl From<String> for Otherwise {
    fn from(words: String) -> Otherwise {
        Otherwise(vec![words])
    }
}
