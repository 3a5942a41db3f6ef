//! Terms, made as short as what is known allows: of a small machine most is known.

use wastenot_rota::ir::Comparison;

use crate::smt::{Op, Term, and, at_most, choice, equal, int, less, not, or, sum};

/// All of these.
pub(super) fn all(terms: impl IntoIterator<Item = Term>) -> Term {
    joined(Op::And, terms, true)
}

/// One of these at least.
pub(super) fn any(terms: impl IntoIterator<Item = Term>) -> Term {
    joined(Op::Or, terms, false)
}

/// These joined by one operator, of which `none` is what nothing comes to.
fn joined(op: Op, terms: impl IntoIterator<Item = Term>, none: bool) -> Term {
    let mut kept = Vec::new();
    for term in terms.into_iter().flat_map(|term| parts(op, term)) {
        match term {
            Term::Bool(truth) if truth == none => {}
            Term::Bool(truth) => return Term::Bool(truth),
            term if kept.contains(&term) => {}
            term => kept.push(term),
        }
    }
    if op == Op::And { and(kept) } else { or(kept) }
}

/// What a term is made of by this operator.
fn parts(op: Op, term: Term) -> Vec<Term> {
    match term {
        Term::Op(made, parts) if made == op => parts,
        term => vec![term],
    }
}

/// If the first then the second.
pub(super) fn only_if(first: Term, second: Term) -> Term {
    any([not(first), second])
}

/// One or the other.
pub(super) fn either(condition: Term, then: Term, otherwise: Term) -> Term {
    match (condition, then, otherwise) {
        (Term::Bool(true), then, _) => then,
        (Term::Bool(false), _, otherwise) => otherwise,
        (_, then, otherwise) if then == otherwise => then,
        (condition, Term::Bool(true), otherwise) => any([condition, otherwise]),
        (condition, Term::Bool(false), otherwise) => all([not(condition), otherwise]),
        (condition, then, Term::Bool(true)) => any([not(condition), then]),
        (condition, then, Term::Bool(false)) => all([condition, then]),
        (condition, then, otherwise) => choice(condition, then, otherwise),
    }
}

/// 1 if so, else 0.
pub(super) fn one_if(condition: Term) -> Term {
    either(condition, int(1), int(0))
}

/// The sum of these.
pub(super) fn total(terms: impl IntoIterator<Item = Term>) -> Term {
    let mut known = 0_i64;
    let mut kept = Vec::new();
    for term in terms.into_iter().flat_map(|term| parts(Op::Add, term)) {
        match term {
            Term::Int(number) => known = known.saturating_add(number),
            term => kept.push(term),
        }
    }
    if known != 0 {
        kept.push(int(known));
    }
    sum(kept)
}

/// The first without the second.
pub(super) fn minus(a: Term, b: Term) -> Term {
    match (a, b) {
        (Term::Int(a), Term::Int(b)) => int(a.saturating_sub(b)),
        (a, Term::Int(0)) => a,
        (a, b) => a - b,
    }
}

/// So many times.
pub(super) fn times(term: Term, by: i64) -> Term {
    match term {
        Term::Int(number) => int(number.saturating_mul(by)),
        term if by == 1 => term,
        term => Term::Op(Op::Times, vec![int(by), term]),
    }
}

/// Divided by a number above zero, rounded down.
pub(super) fn over(term: Term, by: i64) -> Term {
    match term {
        Term::Int(number) => int(number.div_euclid(by)),
        term if by == 1 => term,
        term => Term::Op(Op::Div, vec![term, int(by)]),
    }
}

/// Whether two numbers compare so.
pub(super) fn compares(a: Term, how: Comparison, b: Term) -> Term {
    if let (Term::Int(a), Term::Int(b)) = (&a, &b) {
        return Term::Bool(how.holds(*a, *b));
    }
    match how {
        Comparison::Less => less(a, b),
        Comparison::LessOrEqual => at_most(a, b),
        Comparison::Equal => equal(a, b),
        Comparison::NotEqual => not(equal(a, b)),
    }
}

/// The lesser of two, or the greater.
pub(super) fn extreme(a: Term, b: Term, greatest: bool) -> Term {
    let first = compares(a.clone(), Comparison::LessOrEqual, b.clone());
    if greatest { either(first, b, a) } else { either(first, a, b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smt::name;

    #[test]
    fn what_is_known_is_not_asked() {
        let (p, x) = (|| name("p"), || name("x"));
        assert_eq!(all([Term::Bool(true), p(), p()]), p());
        assert_eq!(any([p(), Term::Bool(true)]), Term::Bool(true));
        assert_eq!(either(p(), Term::Bool(true), Term::Bool(false)), p());
        assert_eq!(either(p(), x(), x()), x());
        assert_eq!(total([int(1), x(), int(-1)]), x());
        assert_eq!(over(int(-3), 2), int(-2));
        assert_eq!(extreme(int(3), int(5), true), int(5));
        assert_eq!(only_if(Term::Bool(false), p()), Term::Bool(true));
        assert_eq!(compares(x(), Comparison::Less, int(2)), less(x(), int(2)));
    }
}
