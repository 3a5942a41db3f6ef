//! The intermediate form as Rota text again, for comments: each piece of the C quotes the clause
//! that it comes from. Names of tasks and CPUs are those in the grammar's examples.

use crate::ir::{Aggregate, Bool, Comparison, Num, Place, Policy, QueueAt, Set};

/// Writes the expressions of one policy in Rota.
#[derive(Clone, Copy)]
pub(super) struct Quote<'a>(pub(super) &'a Policy);

impl Quote<'_> {
    pub(super) fn place(self, place: &Place) -> String {
        match place {
            Place::Me => "me".into(),
            Place::Other => "v".into(),
            Place::Here => "here".into(),
            Place::Prev => "t.prev".into(),
            Place::Home => "home(t)".into(),
            Place::Slot(slot) => format!("cpu{slot}"),
            Place::Item(item) => format!("x{item}"),
            Place::Of(level, inner) => format!("{}({})", level.name(), self.place(inner)),
            Place::Machine => "machine".into(),
        }
    }

    pub(super) fn queue(self, at: &QueueAt) -> String {
        format!("{}.{}", self.place(&at.at), self.0.queues[at.queue].name)
    }

    pub(super) fn set(self, set: &Set) -> String {
        match set {
            Set::In(place) => self.place(place),
            Set::Allowed => "allowed(t)".into(),
        }
    }

    pub(super) fn num(self, num: &Num) -> String {
        let of = |word: &str, place: &Place| format!("{word}({})", self.place(place));
        let at = |word: &str, queue: &QueueAt| format!("{word}({})", self.queue(queue));
        let two =
            |word: &str, a: &Num, b: &Num| format!("{word}({}, {})", self.num(a), self.num(b));
        match num {
            Num::Const(value) => value.to_string(),
            Num::Param(param) => self.0.params[*param].name.clone(),
            Num::Local(slot) => format!("number{slot}"),
            Num::TaskVar(var) => format!("t.{}", self.0.task_vars[*var].name),
            Num::CpuVar(var, place) => {
                format!("{}.{}", self.place(place), self.0.cpu_vars[*var].name)
            }
            Num::Weight => "t.weight".into(),
            Num::Job => "t.job".into(),
            Num::Ran => "ran".into(),
            Num::Now => "now".into(),
            Num::Cpus(place) => of("cpus", place),
            Num::Queued(queue) => at("queued", queue),
            Num::QueuedWeight(queue) => at("weight", queue),
            Num::MinKey(queue) => at("min_vt", queue),
            Num::Running(place) => of("running", place),
            Num::RunningWeight(place) => of("weight", place),
            Num::Add(a, b) => format!("{} + {}", self.num(a), self.factor(b)),
            Num::Sub(a, b) => format!("{} - {}", self.num(a), self.factor(b)),
            Num::Min(a, b) => two("min", a, b),
            Num::Max(a, b) => two("max", a, b),
            Num::Times(a, by) => format!("{} * {by}", self.factor(a)),
            Num::Over(a, 2) => format!("half({})", self.num(a)),
            Num::Over(a, by) => format!("{} / {by}", self.factor(a)),
            Num::Scaled(a, b) => two("scaled", a, b),
            Num::Decayed(a, time, half) => {
                format!("decayed({}, {}, {})", self.num(a), self.num(time), self.num(half))
            }
            Num::Until(period) => format!("until({})", self.num(period)),
            Num::Seen(_, now) => format!("seen({})", self.num(now)),
            Num::Fold { aggregate, item, set, body } => {
                format!("{} x{item} in {}: {}", aggregate.word(), self.set(set), self.num(body))
            }
            Num::Count { item, set, body } => {
                format!("count x{item} in {}: {}", self.set(set), self.bool(body))
            }
        }
    }

    /// A number as an operand of `*` or `/`, or after `-`.
    fn factor(self, num: &Num) -> String {
        let text = self.num(num);
        let sum = matches!(num, Num::Add(..) | Num::Sub(..) | Num::Fold { .. } | Num::Count { .. });
        if sum { format!("({text})") } else { text }
    }

    pub(super) fn bool(self, condition: &Bool) -> String {
        match condition {
            Bool::Const(value) => value.to_string(),
            Bool::Compare(a, how, b) => {
                let (a, sign, b) = how.written(a, b);
                format!("{} {sign} {}", self.num(a), self.num(b))
            }
            Bool::And(a, b) => format!("{} and {}", self.operand(a), self.operand(b)),
            Bool::Or(a, b) => format!("{} or {}", self.operand(a), self.operand(b)),
            Bool::Not(a) => format!("not {}", self.operand(a)),
            Bool::Idle(place) => format!("idle({})", self.place(place)),
            Bool::Allowed(place) => format!("{} in allowed(t)", self.place(place)),
            Bool::Found(slot) => format!("cpu{slot}"),
            Bool::Within(a, b) => format!("{} in {}", self.place(a), self.place(b)),
            Bool::Quantified { all, item, set, body } => {
                let word = if *all { "forall" } else { "exists" };
                format!("{word} x{item} in {}: {}", self.set(set), self.bool(body))
            }
        }
    }

    fn operand(self, condition: &Bool) -> String {
        let text = self.bool(condition);
        match condition {
            Bool::And(..) | Bool::Or(..) | Bool::Quantified { .. } => format!("({text})"),
            _ => text,
        }
    }
}

impl Aggregate {
    pub(super) fn word(self) -> &'static str {
        match self {
            Aggregate::Sum => "sum",
            Aggregate::Min => "min",
            Aggregate::Max => "max",
            Aggregate::Mean => "mean",
        }
    }
}

impl Comparison {
    /// The usual order of the operands: a constant comes last.
    pub(super) fn written<'n>(self, a: &'n Num, b: &'n Num) -> (&'n Num, &'static str, &'n Num) {
        let signs = match matches!(a, Num::Const(_)) {
            true => [">", ">=", "=", "!="],
            false => ["<", "<=", "=", "!="],
        };
        let sign = signs[self as usize];
        if matches!(a, Num::Const(_)) { (b, sign, a) } else { (a, sign, b) }
    }
}
