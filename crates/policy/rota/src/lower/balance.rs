//! Balances: the levels, the candidates, the choice, the number of tasks.

use super::scope::{Meaning, Scope};
use super::{Lowering, suggest};
use crate::Diagnostic;
use crate::ir::{
    Balance, BalanceSpans, Bool, Choose, Dimension, Level, Num, Periodic, Place, QueueAt,
};
use crate::syntax::{Span, ast};

/// The clauses of a balance; each occurs at most once.
struct Clauses<'a> {
    levels: (&'a [ast::Name], Span),
    filter: (&'a ast::Name, &'a ast::Name, &'a ast::Expr),
    choose: Option<(&'a ast::Name, Option<&'a ast::Expr>, Option<&'a ast::Name>)>,
    steal: &'a ast::Steal,
    retry: Option<(Option<u64>, Span)>,
}

impl Lowering<'_> {
    pub(super) fn balance(&mut self, balance: &ast::Balance) {
        match &balance.when {
            ast::When::Idle => {
                if let Some(first) = self.policy.idle.as_ref().map(|idle| idle.spans.whole) {
                    let message = "the policy has two `balance idle`";
                    let help = "write one `balance idle` with the levels of both, from narrow to \
                                wide";
                    let twice = Diagnostic::new("R407", balance.span, message, "again", help);
                    return self.report(twice.and(first, "first `balance idle`"));
                }
                self.policy.idle = self.body(balance, false);
            }
            ast::When::Every { period, leader } => {
                let scope = self.scope();
                let period_num = self.number_of(period, &scope, Dimension::Time);
                if period_num == Some(Num::Const(0)) {
                    let help = "write a period above 0, for example `balance every 50ms`";
                    self.fault("R211", period.span, "the period is 0", "0", help);
                }
                let leader = match leader {
                    Some(name) => self.level(name).map(Some),
                    None => Some(None),
                };
                let body = self.body(balance, true);
                if let (Some(period), Some(leader), Some(balance)) = (period_num, leader, body) {
                    self.policy.periodic.push(Periodic { period, leader, balance });
                }
            }
        }
    }

    fn body(&mut self, balance: &ast::Balance, periodic: bool) -> Option<Balance> {
        let clauses = self.clauses(balance)?;
        let (me, other, condition) = clauses.filter;
        let from = self.stolen_from(&clauses)?;
        let per = self.policy.queues[from].per;
        let my_level = if periodic { per } else { Level::Cpu };
        let scope = self.balance_scope((me, my_level), (other, per));
        let levels = self.levels(&clauses, per);
        let filter = self.condition(condition, &scope);
        let choose = self.choose(&clauses, &scope);
        let into = self.into(clauses.steal, &scope, periodic);
        let count = self.count(clauses.steal, &scope, periodic);
        let recheck = self.recheck(clauses.steal, &scope);
        let rebase = self.rebase(clauses.steal, from, into);
        let spans = BalanceSpans {
            whole: balance.span,
            levels: clauses.levels.1,
            filter: condition.span,
            choose: clauses.choose.map_or(balance.span, |(how, ..)| how.span),
            steal: clauses.steal.span,
            retry: clauses.retry.map_or(balance.span, |(_, span)| span),
        };
        Some(Balance {
            levels: levels?,
            from,
            filter: filter?,
            choose: choose?,
            count: count?,
            into: into?,
            recheck: recheck?,
            rebase: rebase?,
            retry: clauses.retry.and_then(|(count, _)| count),
            spans,
        })
    }

    /// Sorts the clauses, and reports clauses that are missing or repeated.
    fn clauses<'a>(&mut self, balance: &'a ast::Balance) -> Option<Clauses<'a>> {
        let (mut levels, mut filter, mut choose, mut steal, mut retry) =
            (None, None, None, None, None);
        for clause in &balance.clauses {
            let again = match clause {
                ast::Clause::Level(names, span) => {
                    levels.replace((names.as_slice(), *span)).map(|_| *span)
                }
                ast::Clause::Filter { me, other, condition } => {
                    if me.text == other.text {
                        self.twice(other, me.span);
                    }
                    filter.replace((me, other, condition)).map(|_| me.span)
                }
                ast::Clause::Choose { how, key, tie } => {
                    choose.replace((how, key.as_ref(), tie.as_ref())).map(|_| how.span)
                }
                ast::Clause::Steal(clause) => steal.replace(&**clause).map(|_| clause.span),
                ast::Clause::Retry { count, span } => retry.replace((*count, *span)).map(|_| *span),
            };
            if let Some(span) = again {
                let message = "this clause occurs twice";
                self.fault("R407", span, message, "again", "remove one of the two clauses");
            }
        }
        let missing = [
            ("level", levels.is_none(), "level machine"),
            ("filter", filter.is_none(), "filter(me, v) = queued(v.ready) >= 1"),
            ("steal", steal.is_none(), "steal 1 where me in allowed(t)"),
        ];
        for (name, _, example) in missing.iter().filter(|(_, missing, _)| *missing) {
            let message = format!("the balance has no `{name}`");
            let help = format!("add `{example}`");
            self.fault("R408", balance.span, message, "in this balance", help);
        }
        Some(Clauses { levels: levels?, filter: filter?, choose, steal: steal?, retry })
    }

    /// The victims' queue: the one that is named, or the only queue of the candidate that the
    /// filter reads.
    fn stolen_from(&mut self, clauses: &Clauses<'_>) -> Option<usize> {
        let (_, other, condition) = clauses.filter;
        if let Some(from) = &clauses.steal.from {
            let ast::ExprKind::Field(_, queue) = &from.kind else {
                let help = format!("write `steal 1 from {}.ready`", other.text);
                self.fault("R404", from.span, "a queue is required here", "not a queue", help);
                return None;
            };
            let scope = self.any_level(other, &queue.text);
            return self.queue_at(from, &scope).map(|at| at.queue);
        }
        let mut named = Vec::new();
        queues_of(condition, &other.text, &mut named);
        let mut queues: Vec<usize> =
            named.iter().filter_map(|name| self.queue_named(name)).collect();
        queues.sort_unstable();
        queues.dedup();
        match queues.as_slice() {
            [queue] => Some(*queue),
            several => {
                let message = "the queue to take from is unclear";
                let label = match several.len() {
                    0 => format!("the filter reads no queue of `{}`", other.text),
                    _ => format!("the filter reads several queues of `{}`", other.text),
                };
                let help = format!("name the queue: `steal 1 from {}.ready`", other.text);
                self.fault("R409", clauses.steal.span, message, label, help);
                None
            }
        }
    }

    /// A scope in which the candidate is a group of any level that has such a queue.
    fn any_level(&self, other: &ast::Name, queue: &str) -> Scope {
        let level = self.queue_named(queue).map_or(Level::Cpu, |at| self.policy.queues[at].per);
        let mut scope = self.scope();
        scope.bind(&other.text, Meaning::Place(Place::Other, level));
        scope
    }

    fn levels(&mut self, clauses: &Clauses<'_>, per: Level) -> Option<Vec<Level>> {
        let mut levels: Vec<Level> = Vec::new();
        for name in clauses.levels.0 {
            let level = self.level(name)?;
            if level <= per {
                let message = format!("a {} contains at most one of these queues", level.name());
                let help = match per {
                    Level::Machine => "remove this balance: all CPUs share one queue, so `take` \
                                       from it in `dispatch`"
                        .into(),
                    _ => format!(
                        "write wider levels, because each {} has one queue of its own",
                        per.name()
                    ),
                };
                self.fault("R406", name.span, message, "no other queue at this level", help);
                return None;
            }
            if !self.is_wider(name, level, levels.last().copied()) {
                return None;
            }
            levels.push(level);
        }
        Some(levels)
    }

    fn choose(&mut self, clauses: &Clauses<'_>, scope: &Scope) -> Option<Choose> {
        let Some((how, key, tie)) = clauses.choose else { return Some(Choose::Any) };
        if let Some(tie) = tie.filter(|tie| tie.text != clauses.filter.0.text) {
            let message = format!("`tie near` does not accept `{}`", tie.text);
            let help = format!("write `tie near({})`", clauses.filter.0.text);
            self.fault("R101", tie.span, message, "not the CPU that takes", help);
        }
        match (how.text.as_str(), key) {
            ("any", None) => Some(Choose::Any),
            ("argmax" | "argmin", Some(key)) => {
                let (key, _) = self.num(key, scope)?;
                let greatest = how.text == "argmax";
                Some(Choose::Best { key, greatest, near: tie.is_some() })
            }
            _ => {
                let known = ["any", "argmax", "argmin"];
                let help = suggest(&how.text, known, "write `argmax queued(v.ready)`, or `any`");
                self.fault("R102", how.span, "the choice is invalid", "not a choice", help);
                None
            }
        }
    }

    /// `None`: onto the CPU.
    #[allow(clippy::option_option)]
    fn into(&mut self, steal: &ast::Steal, scope: &Scope, periodic: bool) -> Option<Option<usize>> {
        let Some(into) = &steal.into else {
            if periodic {
                self.report(nowhere(steal.span));
                return None;
            }
            return Some(None);
        };
        if !periodic {
            let message = "an idle CPU takes exactly one task and runs it";
            let help = "remove `into`: another CPU could take a task back from a queue at once";
            self.fault("R411", into.span, message, "a queue is not allowed here", help);
            return None;
        }
        let QueueAt { queue, at } = self.queue_at(into, scope)?;
        if !is_mine(&at) {
            let message = "a CPU can only take tasks for itself";
            self.fault("R411", into.span, message, "not its own queue", "write `into me.ready`");
            return None;
        }
        Some(Some(queue))
    }

    fn count(&mut self, steal: &ast::Steal, scope: &Scope, periodic: bool) -> Option<Num> {
        let count = self.number_of(&steal.count, scope, Dimension::Count)?;
        if let Some(fault) = not_one(&count, steal.count.span).filter(|_| !periodic) {
            self.report(fault);
            return None;
        }
        Some(count)
    }

    /// The condition checked under the lock, without `allowed`, which is always checked.
    fn recheck(&mut self, steal: &ast::Steal, scope: &Scope) -> Option<Bool> {
        let Some(expr) = &steal.recheck else { return Some(Bool::Const(true)) };
        let mut inner = scope.clone();
        (inner.task, inner.seen) = (true, true);
        self.seen = 0;
        inner.bind("t", Meaning::Task);
        let condition = self.condition(expr, &inner)?;
        Some(without_allowed(condition))
    }

    /// Checks that this variable is the key of both queues: a task's distance from the least key of
    /// one becomes its distance from that of the other.
    #[allow(clippy::option_option)]
    fn rebase(
        &mut self,
        steal: &ast::Steal,
        from: usize,
        into: Option<Option<usize>>,
    ) -> Option<Option<usize>> {
        let Some(name) = &steal.rebase else { return Some(None) };
        let other = [Some(from), into.flatten()].into_iter().flatten().find(|queue| {
            let key = self.policy.queues[*queue].key;
            key.is_none_or(|key| self.policy.task_vars[key].name != name.text)
        });
        if let Some(queue) = other {
            let queue = &self.policy.queues[queue].name;
            let message = format!("`{queue}` is not ordered by `{}`", name.text);
            let help = "use the variable by which both queues are ordered: only this key can be \
                        carried over";
            self.fault("R401", name.span, message, "not its order", help);
            return None;
        }
        Some(self.policy.queues[from].key)
    }
}

/// The error of a regular balance that does not name its own queue.
pub(super) fn nowhere(span: Span) -> Diagnostic {
    let message = "a regular balance must name a queue after `into`, because its CPU may be busy";
    let help = "name the queue: `steal 1 into me.ready`";
    Diagnostic::new("R411", span, message, "the queue is missing", help)
}

/// The error of an idle CPU that takes more than one task.
pub(super) fn not_one(count: &Num, span: Span) -> Option<Diagnostic> {
    let message = "an idle CPU takes exactly one task";
    let help = "write `steal 1`, because more tasks would wait in a local queue where no CPU finds \
                them; to move several tasks, use `balance every`";
    (*count != Num::Const(1)).then(|| Diagnostic::new("R411", span, message, "not 1", help))
}

/// The names of the queues of `of` in an expression.
fn queues_of(expr: &ast::Expr, of: &str, into: &mut Vec<String>) {
    use ast::ExprKind;
    match &expr.kind {
        ExprKind::Number(..) | ExprKind::Name(_) => {}
        ExprKind::Field(inner, field) => match &inner.kind {
            ExprKind::Name(name) if name == of => into.push(field.text.clone()),
            _ => queues_of(inner, of, into),
        },
        ExprKind::Call(_, args) => args.iter().for_each(|arg| queues_of(arg, of, into)),
        ExprKind::Not(inner) => queues_of(inner, of, into),
        ExprKind::Binary(a, _, b) => {
            queues_of(a, of, into);
            queues_of(b, of, into);
        }
        ExprKind::Over { set, body, .. } => {
            queues_of(set, of, into);
            queues_of(body, of, into);
        }
    }
}

fn is_mine(place: &Place) -> bool {
    match place {
        Place::Me => true,
        Place::Of(_, inner) => is_mine(inner),
        Place::Machine => true,
        _ => false,
    }
}

/// A condition without the parts that are checked anyway.
fn without_allowed(condition: Bool) -> Bool {
    match condition {
        Bool::Allowed(Place::Me) => Bool::Const(true),
        Bool::And(a, b) => match (without_allowed(*a), without_allowed(*b)) {
            (Bool::Const(true), other) | (other, Bool::Const(true)) => other,
            (a, b) => Bool::And(Box::new(a), Box::new(b)),
        },
        other => other,
    }
}
