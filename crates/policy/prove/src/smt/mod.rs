//! SMT-LIB 2.6 as text: scripts that ask one question, and the answers' pieces.
//!
//! A script holds declarations and assertions and is asked whether they can all hold at once. It
//! is complete in itself, so that any solver can read it.

mod model;
mod sexp;
mod term;

use std::fmt;

pub use model::{Model, Value};
pub(crate) use sexp::{Sexp, read};
pub(crate) use term::implies;
pub use term::{
    Op, Sort, Term, and, at_most, call, choice, distinct, equal, exists, forall, int, less, name,
    not, or, sum,
};
use term::{symbol, variables};

/// One question: can all of this hold at once?
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    about: Vec<String>,
    /// Without quantifiers, and linear: solvers know a shorter way then.
    plain: bool,
    lines: Vec<Line>,
    /// The default values of constants, by name.
    usual: Vec<(String, i64)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Line {
    Sort(String),
    Declare(String, Vec<Sort>, Sort),
    Define(String, Vec<(String, Sort)>, Sort, Term),
    Assert(String, Term),
}

impl Script {
    /// Nothing said yet. `about` is what is asked, for people: its lines are the head of the text.
    pub fn new(about: &str) -> Script {
        let about = about.lines().map(str::to_owned).collect();
        Script { about, plain: false, lines: Vec::new(), usual: Vec::new() }
    }

    /// The same, of what has no quantifiers, no sorts of our own, and no products but by numbers.
    pub(crate) fn plain(about: &str) -> Script {
        Script { plain: true, ..Script::new(about) }
    }

    /// What is asked, for people.
    pub(crate) fn about(&self) -> String {
        self.about.join("\n")
    }

    /// A set of things: of any size, but not empty.
    pub fn sort(&mut self, name: &str) -> &mut Script {
        self.lines.push(Line::Sort(name.to_owned()));
        self
    }

    /// A function of which nothing is known but what is asserted; a constant if it takes nothing.
    pub fn declare(
        &mut self,
        name: &str,
        takes: impl IntoIterator<Item = Sort>,
        gives: Sort,
    ) -> &mut Script {
        self.lines.push(Line::Declare(name.to_owned(), takes.into_iter().collect(), gives));
        self
    }

    /// A function that is this term.
    pub(crate) fn define<'a>(
        &mut self,
        name: &str,
        takes: impl IntoIterator<Item = (&'a str, Sort)>,
        gives: Sort,
        body: Term,
    ) -> &mut Script {
        let takes = takes.into_iter().map(|(name, sort)| (name.to_owned(), sort)).collect();
        self.lines.push(Line::Define(name.to_owned(), takes, gives, body));
        self
    }

    /// A constant that may be any number, with a default value.
    pub(crate) fn usually(&mut self, name: &str, value: i64) -> &mut Script {
        self.usual.push((name.to_owned(), value));
        self
    }

    /// Constants that are usually some number.
    pub(crate) fn usual(&self) -> impl Iterator<Item = &str> {
        self.usual.iter().map(|(name, _)| name.as_str())
    }

    /// The same with those constants as they usually are. `None`: there are none.
    pub(crate) fn as_usual(&self) -> Option<Script> {
        let mut script = self.clone();
        for (called, value) in &self.usual {
            script.assert(
                "The parameter has its default value from the policy.",
                equal(name(called), int(*value)),
            );
        }
        (!self.usual.is_empty()).then_some(script)
    }

    /// This holds; `why` stands before it as a comment.
    pub fn assert(&mut self, why: &str, term: Term) -> &mut Script {
        self.lines.push(Line::Assert(why.to_owned(), term));
        self
    }
}

/// The whole text, up to and with `(check-sat)`.
impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        comment(f, self.about.iter().map(String::as_str))?;
        writeln!(f, "(set-logic {})", if self.plain { "QF_LIA" } else { "ALL" })?;
        for line in &self.lines {
            if let Line::Assert(why, _) = line {
                comment(f, why.lines())?;
            }
            writeln!(f, "{}", line.sexp())?;
        }
        writeln!(f, "(check-sat)")
    }
}

impl Line {
    fn sexp(&self) -> Sexp {
        let atom = Sexp::Atom;
        match self {
            Line::Sort(name) => Sexp::list("declare-sort", [atom(symbol(name)), Sexp::atom("0")]),
            Line::Declare(name, takes, gives) => {
                let takes = takes.iter().map(|sort| atom(sort.text())).collect();
                let parts = [atom(symbol(name)), Sexp::List(takes), atom(gives.text())];
                Sexp::list("declare-fun", parts)
            }
            Line::Define(name, takes, gives, body) => {
                let head = [atom(symbol(name)), variables(takes), atom(gives.text())];
                Sexp::list("define-fun", head.into_iter().chain([body.sexp()]))
            }
            Line::Assert(_, term) => Sexp::list("assert", [term.sexp()]),
        }
    }
}

fn comment<'a>(f: &mut fmt::Formatter<'_>, lines: impl Iterator<Item = &'a str>) -> fmt::Result {
    for line in lines {
        writeln!(f, "{}", format!("; {line}").trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_reads_as_it_was_meant() {
        let mut script = Script::new("Is there a CPU with less than nothing?\n\nn is any number.");
        let cpu = || Sort::named("Cpu");
        script.sort("Cpu").declare("queued", [cpu()], Sort::Int).declare("and", [], cpu());
        script.assert(
            "Counts are counts.",
            forall([("c", cpu())], at_most(int(0), call("queued", [name("c")]))),
        );
        script.assert("", less(call("queued", [name("and")]), int(-1)));
        let text = "; Is there a CPU with less than nothing?\n;\n; n is any number.\n\
            (set-logic ALL)\n\
            (declare-sort Cpu 0)\n(declare-fun queued (Cpu) Int)\n(declare-fun and. () Cpu)\n\
            ; Counts are counts.\n(assert (forall ((c Cpu)) (<= 0 (queued c))))\n\
            (assert (< (queued and.) (- 1)))\n(check-sat)\n";
        assert_eq!(script.to_string(), text);
    }

    #[test]
    fn names_that_smt_lib_cannot_write_are_quoted() {
        let named = |text: &str| name(text).sexp().to_string();
        assert_eq!(named("a b"), "|a b|");
        assert_eq!(named("9"), "|9|");
        assert_eq!(named("a|b"), "a.b");
        assert_eq!(named(""), "||");
        assert_eq!(int(i64::MIN).sexp().to_string(), "(- 9223372036854775808)");
    }
}
