//! Expressions, from the weakest operator to the strongest.

use super::{DEPTH, Parser, Read};
use crate::syntax::ast::{Expr, ExprKind, Operator};
use crate::syntax::lexer::Kind;
use crate::syntax::words::{FOLDS, OPERATORS};

/// An expression and the depth of its tree. A chain such as `a + b + c` makes a tree as deep as the
/// chain is long; code that walks the tree relies on the limit.
struct Sub {
    expr: Expr,
    height: u32,
}

/// Binary operators by how strongly they bind; spellings from other languages count as Rota's.
const STRENGTHS: [&[(&str, Operator)]; 5] = [
    &[("or", Operator::Or), ("||", Operator::Or)],
    &[("and", Operator::And), ("&&", Operator::And), ("&", Operator::And)],
    &[
        ("<", Operator::Less),
        ("<=", Operator::LessOrEqual),
        (">", Operator::Greater),
        (">=", Operator::GreaterOrEqual),
        ("=", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("in", Operator::In),
        ("==", Operator::Equal),
        ("<>", Operator::NotEqual),
        ("≤", Operator::LessOrEqual),
        ("≥", Operator::GreaterOrEqual),
        ("≠", Operator::NotEqual),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide)],
];
/// The index of the comparisons: `a < b < c` is an error. `not` comes just before.
const COMPARISONS: usize = 2;

impl Parser<'_> {
    /// Any expression.
    pub(super) fn expr(&mut self) -> Read<Expr> {
        self.whole_expr().map(|sub| sub.expr)
    }

    /// One without operators: `home(t).ready`, `c`, `(a + b)`.
    pub(super) fn postfix(&mut self) -> Read<Expr> {
        self.with_fields().map(|sub| sub.expr)
    }

    fn whole_expr(&mut self) -> Read<Sub> {
        self.deeper(|parser| parser.binary(0))
    }

    /// Operands of this strength with their operators between them, from the left.
    fn binary(&mut self, strength: usize) -> Read<Sub> {
        let Some(operators) = STRENGTHS.get(strength) else { return self.with_fields() };
        if strength == COMPARISONS && (self.is("not") || self.is("!")) {
            return self.negation();
        }
        let mut left = self.binary(strength + 1)?;
        let (mut compared, mut length) = (false, 1);
        while let Some((_, operator)) = operators.iter().find(|(word, _)| self.is(word)) {
            if compared {
                return self.chained();
            }
            compared = strength == COMPARISONS;
            length += 1;
            if length > DEPTH {
                return self.too_long();
            }
            self.step();
            let right = self.binary(strength + 1)?;
            let height = left.height.max(right.height);
            let span = left.expr.span.to(right.expr.span);
            let (one, other) = (Box::new(left.expr), Box::new(right.expr));
            left = self.sub(ExprKind::Binary(one, *operator, other), span, height)?;
        }
        Ok(left)
    }

    fn negation(&mut self) -> Read<Sub> {
        let from = self.step();
        let inner = self.deeper(|parser| parser.binary(COMPARISONS))?;
        let span = self.since(from);
        self.sub(ExprKind::Not(Box::new(inner.expr)), span, inner.height)
    }

    fn too_long<T>(&mut self) -> Read<T> {
        let message = format!("the expression has a chain of more than {DEPTH} operators");
        let help = "use `let` or `metric` to name parts of the expression";
        self.fault("R013", self.now().span, message, "one operator too many", help)
    }

    fn chained<T>(&mut self) -> Read<T> {
        let help = "compare two values at a time: `a <= b and b <= c`";
        let span = self.now().span;
        self.fault("R016", span, "comparisons cannot be chained", "second comparison", help)
    }

    /// `primary { "." NAME }`
    fn with_fields(&mut self) -> Read<Sub> {
        let from = self.now();
        let mut sub = self.primary()?;
        while self.eat(".") {
            let field = self.name("the name of a field or queue")?;
            let span = self.since(from);
            sub = self.sub(ExprKind::Field(Box::new(sub.expr), field), span, sub.height)?;
        }
        Ok(sub)
    }

    fn primary(&mut self) -> Read<Sub> {
        let token = self.now();
        match token.kind {
            Kind::Number(value, unit) => {
                self.step();
                self.sub(ExprKind::Number(value, unit), token.span, 0)
            }
            Kind::Name if self.folds() => self.fold(),
            Kind::Name if self.next_is("(") && !OPERATORS.contains(&self.word()) => self.call(),
            Kind::Name => {
                let name = self.name("an expression")?;
                self.sub(ExprKind::Name(name.text), token.span, 0)
            }
            _ if self.is("(") => self.parentheses(),
            _ if self.is("-") => self.negative("subtract (`a - b`), or reverse the comparison"),
            _ => self.expected("an expression", "write a number, a name or a call"),
        }
    }

    /// Reports a sign before a number.
    pub(super) fn negative<T>(&mut self, help: &str) -> Read<T> {
        self.fault("R017", self.now().span, "negative numbers are not allowed", "here", help)
    }

    fn parentheses(&mut self) -> Read<Sub> {
        self.layout.groups.push(self.at);
        self.step();
        let inner = self.whole_expr()?;
        self.need(")")?;
        Ok(inner)
    }

    /// `NAME "(" [ expr { "," expr } ] ")"`
    fn call(&mut self) -> Read<Sub> {
        let from = self.now();
        let word = self.word();
        if FOLDS.contains(&word) && !["min", "max"].contains(&word) {
            let message = format!("`{word}` is not a call: it needs a set of CPUs");
            let about =
                if ["exists", "forall", "count"].contains(&word) { "idle" } else { "running" };
            let help = format!("write `{word} c in machine : {about}(c)`");
            return self.fault("R007", from.span, message, "not a call", help);
        }
        let name = self.take();
        self.need("(")?;
        let mut arguments = Vec::new();
        let mut height = 0;
        if !self.is(")") {
            for argument in self.list(Self::whole_expr)? {
                height = height.max(argument.height);
                arguments.push(argument.expr);
            }
        }
        self.need(")")?;
        let span = self.since(from);
        self.sub(ExprKind::Call(name, arguments), span, height)
    }

    /// Whether an expression over a set begins here; `min(` and `max(` are calls.
    fn folds(&self) -> bool {
        FOLDS.contains(&self.word()) && !self.next_is("(")
    }

    /// `OPERATOR NAME "in" set ":" expr`
    fn fold(&mut self) -> Read<Sub> {
        let from = self.now();
        let operator = self.take();
        let name = self.name("a name for each CPU of the set")?;
        self.need("in")?;
        let set = self.with_fields()?;
        self.colon()?;
        let body = self.whole_expr()?;
        let height = set.height.max(body.height);
        let (set, body) = (Box::new(set.expr), Box::new(body.expr));
        let span = self.since(from);
        self.sub(ExprKind::Over { operator, name, set, body }, span, height)
    }

    fn sub(&mut self, kind: ExprKind, span: super::Span, below: u32) -> Read<Sub> {
        match below < DEPTH {
            true => Ok(Sub { expr: Expr { kind, span }, height: below + 1 }),
            false => self.too_deep(),
        }
    }
}
