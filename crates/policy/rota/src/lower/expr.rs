//! Expressions: resolves names, checks dimensions, inlines metrics.

use super::scope::{Meaning, Scope};
use super::{EXPRESSIONS, Lowering, NOT_DECLARED, no, suggest};
use crate::Diagnostic;
use crate::ir::{Aggregate, Bool, Comparison, Dimension, Level, Num, Place, Set};
use crate::syntax::ast::{Expr, ExprKind, Name, Operator, Unit};

/// A number and its dimension; `None` is a plain number, which fits every dimension except time.
pub(super) type Typed = (Num, Option<Dimension>);

impl Lowering<'_> {
    /// A number of this dimension.
    pub(super) fn number_of(
        &mut self,
        expr: &Expr,
        scope: &Scope,
        wanted: Dimension,
    ) -> Option<Num> {
        let (num, dimension) = self.num(expr, scope)?;
        let fits = match dimension {
            Some(dimension) => dimension == wanted,
            None => wanted != Dimension::Time || num == Num::Const(0),
        };
        if !fits {
            let (is, wants) = (word(dimension), word(Some(wanted)));
            let help = match (wanted, dimension) {
                (Dimension::Time, None) => "add a unit: ns, us, ms or s".to_owned(),
                _ => format!("write a value with the dimension {wants}"),
            };
            let message = format!("a value with the dimension {wants} is required here");
            self.fault("R204", expr.span, message, format!("this value is a {is}"), help);
            return None;
        }
        Some(num)
    }

    /// A number.
    pub(super) fn num(&mut self, expr: &Expr, scope: &Scope) -> Option<Typed> {
        self.count_expression(expr)?;
        match &expr.kind {
            ExprKind::Number(_, Some(Unit::Percent)) => self.no_share(expr),
            ExprKind::Number(value, unit) => Some(number(*value, *unit)),
            ExprKind::Name(name) => self.named(name, expr, scope),
            ExprKind::Field(of, field) => self.field(of, field, expr, scope),
            ExprKind::Call(name, args) => self.call(name, args, expr, scope),
            ExprKind::Binary(a, operator, b) => self.binary(a, *operator, b, expr, scope),
            ExprKind::Over { operator, name, set, body } => {
                self.fold(operator, name, set, body, expr, scope)
            }
            ExprKind::Not(_) => self.no_number(expr, "a condition"),
        }
    }

    fn no_share(&mut self, expr: &Expr) -> Option<Typed> {
        let help = "multiply a value by the share: `x * 50%`";
        self.fault("R204", expr.span, "a share needs a value", "not a number", help);
        None
    }

    fn named(&mut self, name: &str, expr: &Expr, scope: &Scope) -> Option<Typed> {
        match scope.get(name) {
            Some(Meaning::Num(num, dimension)) => Some((num.clone(), Some(*dimension))),
            Some(Meaning::Place(..)) => self.no_number(expr, "a CPU or a group of CPUs"),
            Some(Meaning::Maybe(_)) => self.no_number(expr, "a CPU, if one was found"),
            Some(Meaning::Task) => self.no_number(expr, "a task"),
            None if name == "now" => Some((Num::Now, Some(Dimension::Time))),
            None => {
                let name = Name { text: name.to_owned(), span: expr.span };
                let known = scope.names().chain(["now", "machine", "here"]);
                let help =
                    suggest(&name.text, known, "declare this name as a parameter of the policy");
                self.fault("R101", expr.span, no("number", &name), "not known here", help);
                None
            }
        }
    }

    pub(super) fn no_number(&mut self, expr: &Expr, is: &str) -> Option<Typed> {
        let help = "write a number, or count something: `queued(v.ready)`";
        self.fault("R205", expr.span, "a number is required here", format!("this is {is}"), help);
        None
    }

    fn field(&mut self, of: &Expr, field: &Name, expr: &Expr, scope: &Scope) -> Option<Typed> {
        if self.is_task(of, scope) {
            return self.task_field(field, scope);
        }
        let (place, level) = self.place(of, scope)?;
        if let Some(queue) = self.queue_named(&field.text) {
            let label = format!("`{}` is a queue", self.policy.queues[queue].name);
            let help = "count the tasks that wait in the queue: `queued(v.ready)`";
            self.fault("R205", expr.span, "a number is required here", label, help);
            return None;
        }
        let known = self.policy.cpu_vars.iter();
        let var = known.clone().position(|variable| variable.name == field.text);
        let Some(var) = var else {
            let names: Vec<&str> = known.map(|variable| variable.name.as_str()).collect();
            let help =
                suggest(&field.text, names, "declare the variable: `cpu { x: count = 0 shared }`");
            self.fault("R101", field.span, no("variable of CPUs", field), NOT_DECLARED, help);
            return None;
        };
        if level != Level::Cpu {
            let message = format!("`{}` is a variable of each CPU", field.text);
            let label = format!("this is a group: a {}", level.name());
            self.fault(
                "R402",
                of.span,
                message,
                label,
                "name a CPU, or fold over the CPUs: `sum c in g : c.x`",
            );
            return None;
        }
        Some((Num::CpuVar(var, place), Some(self.policy.cpu_vars[var].dimension)))
    }

    fn task_field(&mut self, field: &Name, scope: &Scope) -> Option<Typed> {
        match field.text.as_str() {
            "weight" => return Some((Num::Weight, Some(Dimension::Weight))),
            "job" => return Some((Num::Job, Some(Dimension::Count))),
            "prev" if scope.prev => {
                let help = "write `t.prev` where a CPU is required";
                let message = "a number is required here";
                self.fault("R205", field.span, message, "this is a CPU", help);
                return None;
            }
            _ => {}
        }
        let known = self.policy.task_vars.iter();
        let var = known.clone().position(|variable| variable.name == field.text);
        if var.is_none() {
            let names = known.map(|variable| variable.name.as_str());
            let names: Vec<&str> = names.chain(["prev", "weight", "job"]).collect();
            let help = suggest(
                &field.text,
                names,
                "declare the variable: `task { vt: time = 0 owner queue }`",
            );
            self.fault("R101", field.span, no("variable of tasks", field), NOT_DECLARED, help);
        }
        let var = var?;
        Some((Num::TaskVar(var), Some(self.policy.task_vars[var].dimension)))
    }

    pub(super) fn is_task(&self, expr: &Expr, scope: &Scope) -> bool {
        matches!(&expr.kind, ExprKind::Name(name)
            if matches!(scope.get(name), Some(Meaning::Task)))
    }

    /// Two numbers of the same dimension.
    pub(super) fn alike(
        &mut self,
        a: &Expr,
        b: &Expr,
        whole: &Expr,
        scope: &Scope,
    ) -> Option<(Box<Num>, Box<Num>, Option<Dimension>)> {
        let (left, right) = (self.num(a, scope), self.num(b, scope));
        let ((left, first), (right, second)) = (left?, right?);
        let plain = |num: &Num, other: Option<Dimension>| {
            other != Some(Dimension::Time) || *num == Num::Const(0)
        };
        let dimension = match (first, second) {
            (a, b) if a == b => a,
            (None, other) if plain(&left, other) => other,
            (other, None) if plain(&right, other) => other,
            (first, second) => {
                let message =
                    format!("a {} and a {} cannot be combined", word(first), word(second));
                let help = match (first, second) {
                    (None, _) | (_, None) => "add a unit to the number: ns, us, ms or s",
                    _ => "use numbers of one dimension in sums and comparisons",
                };
                let fault = Diagnostic::new("R204", whole.span, message, "here", help)
                    .and(a.span, format!("a {}", word(first)))
                    .and(b.span, format!("a {}", word(second)));
                self.report(fault);
                return None;
            }
        };
        Some((Box::new(left), Box::new(right), dimension))
    }

    fn binary(
        &mut self,
        a: &Expr,
        operator: Operator,
        b: &Expr,
        whole: &Expr,
        scope: &Scope,
    ) -> Option<Typed> {
        match operator {
            Operator::Add => {
                let (a, b, dimension) = self.alike(a, b, whole, scope)?;
                Some((Num::Add(a, b), dimension))
            }
            Operator::Subtract => {
                let (a, b, dimension) = self.alike(a, b, whole, scope)?;
                Some((Num::Sub(a, b), dimension))
            }
            Operator::Multiply => self.times(a, b, whole, scope),
            Operator::Divide => {
                let (a, dimension) = self.num(a, scope)?;
                let (message, help) = match self.num(b, scope)? {
                    (Num::Const(by), None) if by > 0 => {
                        return Some((Num::Over(Box::new(a), by), dimension));
                    }
                    (Num::Const(0), _) => ("division by zero", "write a number above zero"),
                    (_, Some(Dimension::Weight)) => {
                        let help = "write `scaled(ran, t.weight)` for virtual time";
                        ("the divisor is not a constant", help)
                    }
                    _ => {
                        let help = "divide by a literal number: `x / 3`";
                        ("the divisor is not a constant", help)
                    }
                };
                self.fault("R207", b.span, message, "not a number above zero", help);
                None
            }
            _ => self.no_number(whole, "a condition"),
        }
    }

    fn times(&mut self, a: &Expr, b: &Expr, whole: &Expr, scope: &Scope) -> Option<Typed> {
        for (share, of) in [(a, b), (b, a)] {
            if let ExprKind::Number(by, Some(Unit::Percent)) = share.kind {
                let (num, dimension) = self.num(of, scope)?;
                let times = Num::Times(Box::new(num), constant(by, 1));
                return Some((Num::Over(Box::new(times), 100), dimension));
            }
        }
        let (left, right) = (self.num(a, scope)?, self.num(b, scope)?);
        let (by, (num, dimension)) = match (left, right) {
            ((Num::Const(by), None), other) | (other, (Num::Const(by), None)) => (by, other),
            _ => {
                let help = "multiply by a literal number: `3 * x`, `x * 50%`";
                let message = "one side of `*` must be a literal number";
                self.fault("R207", whole.span, message, "neither side is a literal number", help);
                return None;
            }
        };
        Some((Num::Times(Box::new(num), by), dimension))
    }

    fn fold(
        &mut self,
        operator: &Name,
        name: &Name,
        set: &Expr,
        body: &Expr,
        whole: &Expr,
        scope: &Scope,
    ) -> Option<Typed> {
        let lowered = self.set(set, scope);
        let (inner, item) = member(scope, &name.text);
        let aggregate = match operator.text.as_str() {
            "sum" => Aggregate::Sum,
            "min" => Aggregate::Min,
            "max" => Aggregate::Max,
            "mean" => Aggregate::Mean,
            "count" => {
                let body = Box::new(self.condition(body, &inner)?);
                return Some((Num::Count { item, set: lowered?, body }, Some(Dimension::Count)));
            }
            "exists" | "forall" => return self.no_number(whole, "a condition"),
            _ => return self.no_number(whole, "a CPU"),
        };
        let (body, dimension) = self.num(body, &inner)?;
        let body = Box::new(body);
        Some((Num::Fold { aggregate, item, set: lowered?, body }, dimension))
    }

    /// A condition.
    pub(super) fn condition(&mut self, expr: &Expr, scope: &Scope) -> Option<Bool> {
        self.count_expression(expr)?;
        match &expr.kind {
            ExprKind::Not(inner) => Some(Bool::Not(Box::new(self.condition(inner, scope)?))),
            ExprKind::Binary(a, Operator::And, b) => {
                let (a, b) = (self.condition(a, scope), self.condition(b, scope));
                Some(Bool::And(Box::new(a?), Box::new(b?)))
            }
            ExprKind::Binary(a, Operator::Or, b) => {
                let (a, b) = (self.condition(a, scope), self.condition(b, scope));
                Some(Bool::Or(Box::new(a?), Box::new(b?)))
            }
            ExprKind::Binary(a, Operator::In, b) => self.within(a, b, scope),
            ExprKind::Binary(a, operator, b) => self.compare(a, *operator, b, expr, scope),
            ExprKind::Call(name, args) if name.text == "idle" => {
                let [place] = self.arity(name, args)?;
                Some(Bool::Idle(self.cpu(place, scope)?))
            }
            ExprKind::Over { operator, name, set, body }
                if ["exists", "forall"].contains(&operator.text.as_str()) =>
            {
                let lowered = self.set(set, scope);
                let (inner, item) = member(scope, &name.text);
                let body = Box::new(self.condition(body, &inner)?);
                let all = operator.text == "forall";
                Some(Bool::Quantified { all, item, set: lowered?, body })
            }
            ExprKind::Name(name) if matches!(scope.get(name), Some(Meaning::Maybe(_))) => {
                let message =
                    format!("a test for `{name}` cannot be combined with other conditions");
                let help = format!("write `if {name} {{ ... }} else {{ ... }}`");
                self.fault("R208", expr.span, message, "must be tested alone", help);
                None
            }
            _ => {
                let help = "compare: `queued(v.ready) >= 1`";
                let message = "a condition is required here";
                self.fault("R208", expr.span, message, "neither true nor false", help);
                None
            }
        }
    }

    fn within(&mut self, a: &Expr, b: &Expr, scope: &Scope) -> Option<Bool> {
        if let ExprKind::Call(name, args) = &b.kind
            && name.text == "allowed"
        {
            let [task] = self.arity(name, args)?;
            self.task(task, scope)?;
            return Some(Bool::Allowed(self.cpu(a, scope)?));
        }
        let (a, b) = (self.place(a, scope)?.0, self.place(b, scope)?.0);
        Some(Bool::Within(a, b))
    }

    fn compare(
        &mut self,
        a: &Expr,
        operator: Operator,
        b: &Expr,
        whole: &Expr,
        scope: &Scope,
    ) -> Option<Bool> {
        let equal = matches!(operator, Operator::Equal | Operator::NotEqual);
        if equal && self.is_place(a, scope) && self.is_place(b, scope) {
            let (a, b) = (self.place(a, scope)?, self.place(b, scope)?);
            let same = Bool::And(
                Box::new(Bool::Within(a.0.clone(), b.0.clone())),
                Box::new(Bool::Within(b.0, a.0)),
            );
            let not = operator == Operator::NotEqual;
            return Some(if not { Bool::Not(Box::new(same)) } else { same });
        }
        let (a, b, _) = self.alike(a, b, whole, scope)?;
        let (a, how, b) = match operator {
            Operator::Less => (a, Comparison::Less, b),
            Operator::LessOrEqual => (a, Comparison::LessOrEqual, b),
            Operator::Greater => (b, Comparison::Less, a),
            Operator::GreaterOrEqual => (b, Comparison::LessOrEqual, a),
            Operator::Equal => (a, Comparison::Equal, b),
            Operator::NotEqual => (a, Comparison::NotEqual, b),
            _ => {
                let help = "compare: `queued(v.ready) >= 1`";
                let message = "a condition is required here";
                self.fault("R208", whole.span, message, "this is a number", help);
                return None;
            }
        };
        Some(Bool::Compare(*a, how, *b))
    }

    /// The CPUs of a set.
    pub(super) fn set(&mut self, expr: &Expr, scope: &Scope) -> Option<Set> {
        if let ExprKind::Call(name, args) = &expr.kind
            && name.text == "allowed"
        {
            let [task] = self.arity(name, args)?;
            self.task(task, scope)?;
            return Some(Set::Allowed);
        }
        if self.looks_like_queue(expr) {
            let help = "count the tasks instead: `queued(v.ready) >= 1`. A search needs the lock \
                        of the queue. When the kernel takes a task, it checks whether the task may \
                        run here";
            let message = "a queue is not a set of CPUs";
            self.fault("R403", expr.span, message, "a queue", help);
            return None;
        }
        Some(Set::In(self.place(expr, scope)?.0))
    }

    /// The task of the handler.
    pub(super) fn task(&mut self, expr: &Expr, scope: &Scope) -> Option<()> {
        if self.is_task(expr, scope) {
            return Some(());
        }
        let help = "use the task that the handler names, as in `on wake(t)`";
        self.fault("R205", expr.span, "a task is required here", "not a task", help);
        None
    }

    fn count_expression(&mut self, expr: &Expr) -> Option<()> {
        self.expressions += 1;
        if self.expressions == EXPRESSIONS {
            let message = "the policy is too large after its metrics are inlined";
            let help =
                format!("use fewer or simpler metrics: the limit is {EXPRESSIONS} expressions");
            let span = self.putting_in.unwrap_or(expr.span);
            self.fault("R209", span, message, "the limit is exceeded here", help);
        }
        (self.expressions < EXPRESSIONS).then_some(())
    }
}

/// A number as it is written.
fn number(value: u64, unit: Option<Unit>) -> Typed {
    let (by, dimension) = match unit {
        None | Some(Unit::Percent) => (1, None),
        Some(Unit::Nanosecond) => (1, Some(Dimension::Time)),
        Some(Unit::Microsecond) => (1_000, Some(Dimension::Time)),
        Some(Unit::Millisecond) => (1_000_000, Some(Dimension::Time)),
        Some(Unit::Second) => (1_000_000_000, Some(Dimension::Time)),
    };
    (Num::Const(constant(value, by)), dimension)
}

/// A number times its unit; the lexer refuses numbers that would be too large.
fn constant(value: u64, by: i64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX).saturating_mul(by)
}

/// The scope within a fold, and the nesting depth of its member.
pub(super) fn member(scope: &Scope, name: &str) -> (Scope, usize) {
    let mut inner = scope.clone();
    let item = inner.depth;
    inner.depth += 1;
    inner.bind(name, Meaning::Place(Place::Item(item), Level::Cpu));
    (inner, item)
}

/// The group of a level that contains a place.
pub(super) fn widened(place: Place, level: Level, to: Level) -> Place {
    match to {
        _ if level >= to => place,
        Level::Machine => Place::Machine,
        _ => Place::Of(to, Box::new(place)),
    }
}

fn word(dimension: Option<Dimension>) -> &'static str {
    match dimension {
        None => "plain number",
        Some(Dimension::Count) => "count",
        Some(Dimension::Time) => "time",
        Some(Dimension::Weight) => "weight",
    }
}
