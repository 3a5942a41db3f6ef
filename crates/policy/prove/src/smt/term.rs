//! What is said to a solver: sorts, and terms over integers, truth values and sorts of our own.

use std::ops::{Add, Sub};

use super::sexp::Sexp;

/// What a term stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sort {
    /// True or false.
    Bool,
    /// A whole number.
    Int,
    /// One of a set that [`super::Script::sort`] declares: of any size, but not empty.
    Named(String),
}

/// A term.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A number.
    Int(i64),
    /// True or false.
    Bool(bool),
    /// A constant or a bound variable.
    Name(String),
    /// A function that the script declares, of these.
    Call(String, Vec<Term>),
    /// An operator of the logic, of these.
    Op(Op, Vec<Term>),
    /// The term holds of every, or of some, choice of these variables.
    Quantified {
        /// Every, or some.
        all: bool,
        /// Variables.
        over: Vec<(String, Sort)>,
        /// What holds.
        body: Box<Term>,
    },
}

/// An operator of the logic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Contrary.
    Not,
    /// All.
    And,
    /// One at least.
    Or,
    /// If the first then the second.
    Implies,
    /// Equal.
    Equal,
    /// All different.
    Distinct,
    /// If the first then the second, else the third.
    Choice,
    /// Less.
    Less,
    /// Less or equal.
    AtMost,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Times,
    /// Quotient, rounded down for a divisor above zero.
    Div,
}

impl Op {
    /// Its word in SMT-LIB.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Op::Not => "not",
            Op::And => "and",
            Op::Or => "or",
            Op::Implies => "=>",
            Op::Equal => "=",
            Op::Distinct => "distinct",
            Op::Choice => "ite",
            Op::Less => "<",
            Op::AtMost => "<=",
            Op::Add => "+",
            Op::Sub => "-",
            Op::Times => "*",
            Op::Div => "div",
        }
    }
}

impl Term {
    /// The same of another constant or variable; none that it binds is called so.
    #[must_use]
    pub(crate) fn of_another(&self, called: &str, other: &str) -> Term {
        let each = |terms: &[Term]| terms.iter().map(|it| it.of_another(called, other)).collect();
        match self {
            Term::Name(text) if text == called => name(other),
            Term::Call(function, terms) => Term::Call(function.clone(), each(terms)),
            Term::Op(op, terms) => Term::Op(*op, each(terms)),
            Term::Quantified { all, over, body } => {
                let body = Box::new(body.of_another(called, other));
                Term::Quantified { all: *all, over: over.clone(), body }
            }
            Term::Int(_) | Term::Bool(_) | Term::Name(_) => self.clone(),
        }
    }
}

/// A number.
pub fn int(number: i64) -> Term {
    Term::Int(number)
}

/// A constant or a bound variable.
pub fn name(name: &str) -> Term {
    Term::Name(name.to_owned())
}

/// A declared function of these.
pub fn call(function: &str, arguments: impl IntoIterator<Item = Term>) -> Term {
    Term::Call(function.to_owned(), arguments.into_iter().collect())
}

/// All of these; of none: true.
pub fn and(terms: impl IntoIterator<Item = Term>) -> Term {
    fold(Op::And, terms, Term::Bool(true))
}

/// One of these at least; of none: false.
pub fn or(terms: impl IntoIterator<Item = Term>) -> Term {
    fold(Op::Or, terms, Term::Bool(false))
}

/// The sum of these; of none: 0.
pub fn sum(terms: impl IntoIterator<Item = Term>) -> Term {
    fold(Op::Add, terms, Term::Int(0))
}

/// All of these differ from each other.
pub fn distinct(terms: impl IntoIterator<Item = Term>) -> Term {
    let terms: Vec<Term> = terms.into_iter().collect();
    if terms.len() < 2 { Term::Bool(true) } else { Term::Op(Op::Distinct, terms) }
}

/// Contrary.
pub fn not(term: Term) -> Term {
    match term {
        Term::Bool(truth) => Term::Bool(!truth),
        Term::Op(Op::Not, mut inner) if inner.len() == 1 => inner.remove(0),
        term => Term::Op(Op::Not, vec![term]),
    }
}

/// If the first then the second.
pub(crate) fn implies(first: Term, second: Term) -> Term {
    Term::Op(Op::Implies, vec![first, second])
}

/// Equal.
pub fn equal(left: Term, right: Term) -> Term {
    Term::Op(Op::Equal, vec![left, right])
}

/// The first is less.
pub fn less(left: Term, right: Term) -> Term {
    Term::Op(Op::Less, vec![left, right])
}

/// The first is less, or they are equal.
pub fn at_most(left: Term, right: Term) -> Term {
    Term::Op(Op::AtMost, vec![left, right])
}

/// One or the other.
pub fn choice(condition: Term, then: Term, otherwise: Term) -> Term {
    Term::Op(Op::Choice, vec![condition, then, otherwise])
}

/// For every choice of these variables.
pub fn forall<'a>(over: impl IntoIterator<Item = (&'a str, Sort)>, body: Term) -> Term {
    quantified(true, over, body)
}

/// For some choice of these variables.
pub fn exists<'a>(over: impl IntoIterator<Item = (&'a str, Sort)>, body: Term) -> Term {
    quantified(false, over, body)
}

impl Add for Term {
    type Output = Term;
    fn add(self, other: Term) -> Term {
        Term::Op(Op::Add, vec![self, other])
    }
}

impl Sub for Term {
    type Output = Term;
    fn sub(self, other: Term) -> Term {
        Term::Op(Op::Sub, vec![self, other])
    }
}

impl From<i64> for Term {
    fn from(number: i64) -> Term {
        Term::Int(number)
    }
}

impl From<bool> for Term {
    fn from(truth: bool) -> Term {
        Term::Bool(truth)
    }
}

impl Sort {
    /// A set that the script declares.
    pub fn named(name: &str) -> Sort {
        Sort::Named(name.to_owned())
    }

    pub(super) fn text(&self) -> String {
        match self {
            Sort::Bool => "Bool".to_owned(),
            Sort::Int => "Int".to_owned(),
            Sort::Named(name) => symbol(name),
        }
    }
}

impl Term {
    pub(super) fn sexp(&self) -> Sexp {
        match self {
            Term::Int(number) if *number < 0 => {
                Sexp::list("-", [Sexp::atom(number.unsigned_abs().to_string())])
            }
            Term::Int(number) => Sexp::atom(number.to_string()),
            Term::Bool(truth) => Sexp::atom(truth.to_string()),
            Term::Name(name) => Sexp::Atom(symbol(name)),
            Term::Call(function, arguments) if arguments.is_empty() => Sexp::Atom(symbol(function)),
            Term::Call(function, arguments) => {
                Sexp::list(&symbol(function), arguments.iter().map(Term::sexp))
            }
            Term::Op(op, terms) => Sexp::list(op.word(), terms.iter().map(Term::sexp)),
            Term::Quantified { all, over, body } => {
                let word = if *all { "forall" } else { "exists" };
                Sexp::list(word, [variables(over), body.sexp()])
            }
        }
    }
}

pub(super) fn variables(over: &[(String, Sort)]) -> Sexp {
    let one = |(name, sort): &(String, Sort)| {
        Sexp::List(vec![Sexp::Atom(symbol(name)), Sexp::Atom(sort.text())])
    };
    Sexp::List(over.iter().map(one).collect())
}

/// A name as SMT-LIB writes it: between bars where its characters are not those of a simple symbol,
/// with a dot behind it where it has a meaning already. Bars and backslashes, which no name of
/// SMT-LIB can hold, become dots.
pub(super) fn symbol(name: &str) -> String {
    const TAKEN: &str = " true false not and or xor => = distinct ite + - * / < <= > >= div mod \
        abs let forall exists match as par _ ! assert check-sat Bool Int Real Array select store \
        to_real to_int is_int String RegExp Float64 RoundingMode BINARY DECIMAL HEXADECIMAL \
        NUMERAL STRING ";
    let simple = |c: char| c.is_ascii_alphanumeric() || "~!@$%^&*_-+=<>.?/".contains(c);
    let name = name.replace(['|', '\\'], ".");
    if TAKEN.split(' ').any(|taken| taken == name) {
        return if name.is_empty() { "||".to_owned() } else { format!("{name}.") };
    }
    match name.chars().all(simple) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        true => name,
        false => format!("|{name}|"),
    }
}

fn fold(op: Op, terms: impl IntoIterator<Item = Term>, none: Term) -> Term {
    let mut terms: Vec<Term> = terms.into_iter().collect();
    match terms.len() {
        0 => none,
        1 => terms.remove(0),
        _ => Term::Op(op, terms),
    }
}

fn quantified<'a>(all: bool, over: impl IntoIterator<Item = (&'a str, Sort)>, body: Term) -> Term {
    let over: Vec<_> = over.into_iter().map(|(name, sort)| (name.to_owned(), sort)).collect();
    match over.is_empty() {
        true => body,
        false => Term::Quantified { all, over, body: Box::new(body) },
    }
}
