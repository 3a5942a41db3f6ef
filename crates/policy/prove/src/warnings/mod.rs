//! What no claim speaks of, but makes its proof worth little: tasks that get nowhere, and text that
//! never does anything. One file a kind; each warning says where in the text, and what shows it.

mod livelock;
mod moves;
mod unused;

use wastenot_rota::ir::Policy;
use wastenot_rota::syntax::Span;

use crate::{Error, Options};

/// Something to know about a policy, whatever is proved of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Its kind, stable: `livelock`, `endless-moves`, `never-filled`, `never-passes`.
    pub code: &'static str,
    /// The text that it is about.
    pub span: Span,
    /// What is so, in one sentence.
    pub what: String,
    /// What shows it: the steps of a run, or who was asked.
    pub evidence: String,
    /// What to write instead.
    pub help: &'static str,
}

/// All of them, in the order of the text.
///
/// # Errors
/// A solver fails.
pub fn warnings(policy: &Policy, options: &Options) -> Result<Vec<Warning>, Error> {
    let mut found: Vec<Warning> = livelock::livelock(policy).into_iter().collect();
    found.extend(moves::endless(policy, options.bounds));
    found.extend(unused::never_filled(policy));
    found.extend(unused::never_passes(policy, options)?);
    found.sort_by_key(|warning| (warning.span.start, warning.code));
    Ok(found)
}
