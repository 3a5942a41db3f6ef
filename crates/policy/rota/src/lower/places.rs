//! Places and queues: which CPU or group, and which queue.

use super::expr::widened;
use super::scope::{Meaning, Scope};
use super::{Lowering, NOT_DECLARED, no, suggest};
use crate::ir::{Level, Place, QueueAt};
use crate::syntax::ast::{Expr, ExprKind, Name};
use crate::syntax::vocabulary;

impl Lowering<'_> {
    /// A CPU or a group, and its level.
    pub(super) fn place(&mut self, expr: &Expr, scope: &Scope) -> Option<(Place, Level)> {
        match &expr.kind {
            ExprKind::Name(name) => self.place_named(name, expr, scope),
            ExprKind::Field(of, field) if field.text == "prev" && self.is_task(of, scope) => {
                self.has_prev(expr, scope)?;
                Some((Place::Prev, Level::Cpu))
            }
            ExprKind::Call(name, args) => match (name.text.as_str(), args.as_slice()) {
                ("home", [task]) => {
                    self.task(task, scope)?;
                    self.has_prev(expr, scope)?;
                    Some((Place::Home, Level::Cpu))
                }
                ("smt" | "llc" | "node", [inner]) => {
                    let to = Level::named(&name.text)?;
                    let (place, level) = self.place(inner, scope)?;
                    if level > to {
                        let message = format!("a {} is not inside a {}", level.name(), to.name());
                        let help = "use levels from narrow to wide: cpu, smt, llc, node, machine";
                        self.fault("R402", expr.span, message, "too wide", help);
                        return None;
                    }
                    Some((widened(place, level, to), to))
                }
                _ => self.no_place(expr),
            },
            _ => self.no_place(expr),
        }
    }

    fn place_named(&mut self, name: &str, expr: &Expr, scope: &Scope) -> Option<(Place, Level)> {
        match scope.get(name) {
            Some(Meaning::Place(place, level)) => Some((place.clone(), *level)),
            Some(Meaning::Maybe(_)) => {
                let message =
                    format!("`{name}` may be unset, because the search may have found no idle CPU");
                let help =
                    format!("test it first: `if {name} {{ run t on {name} }} else {{ ... }}`");
                self.fault("R301", expr.span, message, "maybe no CPU", help);
                None
            }
            Some(_) => self.no_place(expr),
            None if name == "machine" => Some((Place::Machine, Level::Machine)),
            None if name == "here" && scope.here => Some((Place::Here, Level::Cpu)),
            None => {
                let help = suggest(
                    name,
                    scope.names().chain(["machine", "here"]),
                    "use a CPU of the handler or of the balance: `me`, `v`, `here`, `t.prev`",
                );
                let name = Name { text: name.to_owned(), span: expr.span };
                self.fault("R101", expr.span, no("CPU", &name), "not known here", help);
                None
            }
        }
    }

    fn has_prev(&mut self, expr: &Expr, scope: &Scope) -> Option<()> {
        if !scope.prev {
            let message = "the last CPU of a task is not known here";
            let help = "use the last CPU of a task only in the handler of a task";
            self.fault("R205", expr.span, message, "not here", help);
        }
        scope.prev.then_some(())
    }

    fn no_place(&mut self, expr: &Expr) -> Option<(Place, Level)> {
        let known = match &expr.kind {
            ExprKind::Call(name, _) => vocabulary::near_place(&name.text),
            _ => None,
        };
        let help = match known {
            Some(form) => format!("did you mean `{form}`?"),
            None => {
                "write `me`, `here`, `t.prev`, `home(t)`, `llc(c)`, `machine`, or a name for one \
                 of them"
                    .to_owned()
            }
        };
        let message = "a CPU or a group of CPUs is required here";
        self.fault("R205", expr.span, message, "neither", help);
        None
    }

    /// A place that is a CPU.
    pub(super) fn cpu(&mut self, expr: &Expr, scope: &Scope) -> Option<Place> {
        let (place, level) = self.place(expr, scope)?;
        if level != Level::Cpu {
            let label = format!("this is a {}", level.name());
            let help = "name one of its CPUs, or fold over them: `exists c in g : idle(c)`";
            self.fault("R402", expr.span, "a CPU is required here", label, help);
            return None;
        }
        Some(place)
    }

    /// Whether `expr` can only be a place: for `=`, which compares numbers and places.
    pub(super) fn is_place(&self, expr: &Expr, scope: &Scope) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => match scope.get(name) {
                Some(meaning) => matches!(meaning, Meaning::Place(..)),
                None => ["machine", "here"].contains(&name.as_str()),
            },
            ExprKind::Field(of, field) => field.text == "prev" && self.is_task(of, scope),
            ExprKind::Call(name, _) => vocabulary::is_place(&name.text),
            _ => false,
        }
    }

    pub(super) fn queue_named(&self, name: &str) -> Option<usize> {
        self.policy.queues.iter().position(|queue| queue.name == name)
    }

    /// Whether `expr` is `PLACE.QUEUE`.
    pub(super) fn looks_like_queue(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Field(_, field) if self.queue_named(&field.text).is_some())
    }

    /// `PLACE.QUEUE`
    pub(super) fn queue_at(&mut self, expr: &Expr, scope: &Scope) -> Option<QueueAt> {
        let ExprKind::Field(of, field) = &expr.kind else {
            let help = "write a place and a queue: `me.ready`, `home(t).ready`, `machine.all`";
            self.fault("R404", expr.span, "a queue is required here", "not a queue", help);
            return None;
        };
        let Some(queue) = self.queue_named(&field.text) else {
            let known: Vec<String> =
                self.policy.queues.iter().map(|queue| queue.name.clone()).collect();
            let known = known.iter().map(String::as_str);
            let help =
                suggest(&field.text, known, "declare the queue: `queue ready : fifo per cpu`");
            self.fault("R101", field.span, no("queue", field), NOT_DECLARED, help);
            return None;
        };
        let (at, level) = self.place(of, scope)?;
        let per = self.policy.queues[queue].per;
        if level > per {
            let message = format!("a {} has many queues `{}`", level.name(), field.text);
            let label = format!("one queue for each {}", per.name());
            let help = "name one queue, or fold: `sum c in g : queued(c.ready)`";
            self.fault("R402", expr.span, message, label, help);
            return None;
        }
        Some(QueueAt { queue, at: widened(at, level, per) })
    }
}
