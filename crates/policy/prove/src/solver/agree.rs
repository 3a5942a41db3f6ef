//! Several solvers asked the same: they have to agree.

use super::{Answer, Reply, Solver};
use crate::Error;
use crate::smt::Script;

/// The reply of each, however they are asked.
///
/// # Errors
/// One fails, or one says sat and another unsat: then one of them is wrong, or our script means
/// different things to them, and nothing that was proved can be relied on.
pub fn ask_all(
    solvers: &[Solver],
    script: &Script,
    ask: impl Fn(&Solver) -> Result<Reply, Error>,
) -> Result<Vec<Reply>, Error> {
    let replies = solvers.iter().map(ask).collect::<Result<Vec<Reply>, Error>>()?;
    let said = |sought: fn(&Answer) -> bool| {
        solvers
            .iter()
            .zip(&replies)
            .find(|(_, reply)| sought(&reply.answer))
            .map(|(solver, _)| solver)
    };
    let sat = said(|answer| matches!(answer, Answer::Sat(_)));
    let unsat = said(|answer| *answer == Answer::Unsat);
    match (sat, unsat) {
        (Some(sat), Some(unsat)) => Err(Error::Disagree {
            about: script.about(),
            sat: sat.to_string(),
            unsat: unsat.to_string(),
        }),
        _ => Ok(replies),
    }
}
