//! What a solver said, read: the first word decides, then comes the model or the proof.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use super::process::Told;
use super::{Kind, Seek, Solver};
use crate::Error;
use crate::smt::{Model, Sexp, read as pieces};

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// All of it can hold at once: so it does here. The model is empty where it was not sought.
    Sat(Model),
    /// It cannot.
    Unsat,
    /// The solver does not know, for this reason.
    Unknown(String),
}

impl Answer {
    /// Whether it is either, and stays so.
    pub fn is_certain(&self) -> bool {
        !matches!(self, Answer::Unknown(_))
    }

    /// Its word in SMT-LIB.
    pub fn word(&self) -> &'static str {
        match self {
            Answer::Sat(_) => "sat",
            Answer::Unsat => "unsat",
            Answer::Unknown(_) => "unknown",
        }
    }
}

/// An answer, and what came with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The answer.
    pub answer: Answer,
    /// Why it is [`Answer::Unsat`], in the solver's own language, where that was sought.
    pub proof: Option<String>,
    /// How long the solver took, its start included.
    pub took: Duration,
    /// All that it said.
    pub(crate) text: String,
}

impl Reply {
    /// What a solver said before, read again.
    pub(crate) fn read(text: &str, seek: Seek, took: Duration) -> Option<Reply> {
        let (answer, proof) = parse(text, seek).ok()?;
        Some(Reply { answer, proof, took, text: text.to_owned() })
    }
}

/// The commands after `(check-sat)`. If a solver cannot answer one, it prints an `(error ...)`,
/// which is ignored.
pub(super) fn and_then(kind: Kind, seek: Seek) -> &'static str {
    match (kind, seek) {
        (_, Seek::Model) => "(get-model)\n",
        (_, Seek::Refutation) => "(get-info :reason-unknown)\n",
        (Kind::Cvc5, Seek::Proof) => "(get-proof)\n",
        (Kind::Z3, Seek::Proof) => "",
    }
}

pub(super) fn read(solver: &Solver, seek: Seek, told: &Told) -> Result<Reply, Error> {
    if told.timed_out {
        let answer = Answer::Unknown(format!("no answer within {:.1?}", told.took));
        return Ok(Reply { answer, proof: None, took: told.took, text: String::new() });
    }
    match parse(&told.out, seek) {
        Ok((answer, proof)) => Ok(Reply { answer, proof, took: told.took, text: told.out.clone() }),
        Err(refusal) => Err(why_none(solver, told, refusal)),
    }
}

/// The answer in a text. The error is what the solver says against the script; empty if the text
/// is no answer at all.
fn parse(text: &str, seek: Seek) -> Result<(Answer, Option<String>), String> {
    let text = text.trim_start();
    let end = text.find(|c: char| c.is_whitespace()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    match word {
        "unsat" => {
            let proof = (seek == Seek::Proof).then(|| rest.trim().to_owned());
            let said = |proof: &String| proof.starts_with('(') && !proof.starts_with("(error");
            Ok((Answer::Unsat, proof.filter(said)))
        }
        "sat" => {
            let (pieces, flaw) = pieces(rest);
            match (seek, pieces.first(), flaw) {
                (Seek::Model, Some(model), None) => Model::read(model)
                    .map(|model| (Answer::Sat(model), None))
                    .ok_or_else(String::new),
                (Seek::Model, ..) => Err(String::new()),
                _ => Ok((Answer::Sat(Model::default()), None)),
            }
        }
        "unknown" => Ok((Answer::Unknown(reason(&pieces(rest).0)), None)),
        "timeout" => Ok((Answer::Unknown("out of time".to_owned()), None)),
        _ => Err(refusal(&pieces(text).0)),
    }
}

/// The text of `(:reason-unknown TEXT)`.
fn reason(pieces: &[Sexp]) -> String {
    let found = pieces.iter().find(|piece| piece.begins(":reason-unknown"));
    match found.and_then(|piece| piece.members()?.get(1)) {
        Some(Sexp::Text(text)) => text.clone(),
        Some(Sexp::Atom(word)) => word.clone(),
        _ => "no reason given".to_owned(),
    }
}

/// The text of `(error TEXT)`.
fn refusal(pieces: &[Sexp]) -> String {
    match pieces.first().filter(|piece| piece.begins("error")).and_then(Sexp::members) {
        Some([_, Sexp::Text(text)]) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        _ => String::new(),
    }
}

fn why_none(solver: &Solver, told: &Told, refusal: String) -> Error {
    let solver = solver.to_string();
    let signal = told.status.and_then(|status| status.signal());
    if !refusal.is_empty() {
        return Error::Refused { solver, why: refusal };
    }
    let said = if told.out.trim().is_empty() { &told.complaint } else { &told.out };
    let said: String = said.trim().chars().take(SAID_MAX).collect();
    match signal {
        Some(signal) => Error::Crashed { solver, signal, said },
        None => Error::Garbage { solver, said },
    }
}

/// So much of what a solver said is repeated in an error.
const SAID_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_is_no_answer() {
        for text in ["", "saturday", "satt", "sat", "sat (", "sat 3", "\u{0}\u{fffd}", "(unsat)"] {
            assert_eq!(parse(text, Seek::Model), Err(String::new()), "{text}");
        }
    }

    #[test]
    fn what_comes_behind_the_word_is_read_only_where_it_was_sought() {
        let no_model = "unsat\n(error \"line 9: model is not available\")\n";
        assert_eq!(parse(no_model, Seek::Model), Ok((Answer::Unsat, None)));
        assert_eq!(parse(no_model, Seek::Proof), Ok((Answer::Unsat, None)));
        let proof = Some("((a b))".to_owned());
        assert_eq!(parse("unsat\n((a b))\n", Seek::Proof), Ok((Answer::Unsat, proof)));
        assert_eq!(parse("unsat\n((a b))\n", Seek::Refutation), Ok((Answer::Unsat, None)));
        let sat = Answer::Sat(Model::default());
        assert_eq!(parse("sat\n", Seek::Refutation), Ok((sat, None)));
    }

    #[test]
    fn reasons_and_refusals_are_repeated() {
        let unknown = Answer::Unknown("(incomplete quantifiers)".to_owned());
        let text = "unknown\n(:reason-unknown \"(incomplete quantifiers)\")";
        assert_eq!(parse(text, Seek::Refutation), Ok((unknown, None)));
        let text = "(error \"line 1: unknown\n constant foo\")\nsat\n";
        assert_eq!(parse(text, Seek::Model), Err("line 1: unknown constant foo".to_owned()));
    }
}
