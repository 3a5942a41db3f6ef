//! Statements of handlers.

use super::scope::{Meaning, Scope};
use super::{Lowering, no, suggest};
use crate::ir::{Bool, Dimension, Level, Num, Place, Put, Stmt, Writer};
use crate::syntax::Span;
use crate::syntax::ast::{Block, Expr, ExprKind, Name, Statement, StatementKind};

/// The slice of a task if the text gives none: sched_ext's default (`SCX_SLICE_DFL`).
const SLICE_NS: i64 = 20_000_000;

/// A statement and its position, kept while paths are checked.
pub(super) struct Spanned {
    pub(super) stmt: Stmt,
    pub(super) span: Span,
    pub(super) branches: Option<Branches>,
}

/// The branches of an `if`, with the positions of their statements.
pub(super) struct Branches {
    pub(super) condition: Bool,
    pub(super) then: Vec<Spanned>,
    pub(super) otherwise: Vec<Spanned>,
}

impl Lowering<'_> {
    pub(super) fn block(&mut self, block: &Block, scope: &mut Scope) -> Vec<Spanned> {
        let mut lowered = Vec::new();
        for statement in &block.statements {
            if let Some((stmt, branches)) = self.statement(statement, scope) {
                lowered.push(Spanned { stmt, span: statement.span, branches });
            }
        }
        lowered
    }

    fn statement(
        &mut self,
        statement: &Statement,
        scope: &mut Scope,
    ) -> Option<(Stmt, Option<Branches>)> {
        let span = statement.span;
        let stmt = match &statement.kind {
            StatementKind::LetIdle { name, task, within, near, by } => {
                self.let_idle((name, task), within.as_ref(), near, by, scope)?
            }
            StatementKind::Let(name, value) => self.binding(name, value, scope)?,
            StatementKind::Set { target, add, value } => {
                self.set_var(target, *add, value, scope)?
            }
            StatementKind::Put { task, queue, slice, within } => {
                self.task_name(task, scope)?;
                let slice = self.slice(slice.as_ref(), scope)?;
                let wake = match within {
                    Some(level) => self.level(level)?,
                    None => Level::Machine,
                };
                Stmt::Put(Put { queue: self.queue_at(queue, scope)?, slice, wake, span })
            }
            StatementKind::Run { task, on, slice } => {
                self.task_name(task, scope)?;
                let slice = self.slice(slice.as_ref(), scope)?;
                Stmt::Run { slot: self.claimed(on, scope)?, slice, span }
            }
            StatementKind::Kick { cpu, preempt } => {
                Stmt::Kick { cpu: self.cpu(cpu, scope)?, preempt: *preempt }
            }
            StatementKind::If { condition, then, otherwise } => {
                let (condition, mut inner) = self.question(condition, scope)?;
                let then = self.block(then, &mut inner);
                let otherwise = otherwise
                    .as_ref()
                    .map(|block| self.block(block, &mut scope.clone()))
                    .unwrap_or_default();
                let plain = |from: &[Spanned]| from.iter().map(|it| it.stmt.clone()).collect();
                let stmt = Stmt::If {
                    condition: condition.clone(),
                    then: plain(&then),
                    otherwise: plain(&otherwise),
                };
                return Some((stmt, Some(Branches { condition, then, otherwise })));
            }
            StatementKind::Attempts(_) => {
                let help = "put the task into a queue, or run it on an idle CPU";
                let message = "only `dispatch` takes tasks out of queues";
                self.fault("R305", span, message, "not allowed here", help);
                return None;
            }
        };
        Some((stmt, None))
    }

    fn let_idle(
        &mut self,
        (name, task): (&Name, &Name),
        within: Option<&Name>,
        near: &Expr,
        by: &[Name],
        scope: &mut Scope,
    ) -> Option<Stmt> {
        self.task_name(task, scope)?;
        let near = self.cpu(near, scope)?;
        let within = match within {
            Some(level) => Some(self.level(level)?),
            None => None,
        };
        let mut levels: Vec<Level> = Vec::new();
        for name in by {
            let level = self.level(name)?;
            if self.is_wider(name, level, levels.last().copied()) {
                levels.push(level);
            }
        }
        let slot = self.cpu_slots;
        self.cpu_slots += 1;
        scope.bind(&name.text, Meaning::Maybe(slot));
        Some(Stmt::Claim { slot, within, near, by: levels })
    }

    fn binding(&mut self, name: &Name, value: &Expr, scope: &mut Scope) -> Option<Stmt> {
        if let ExprKind::Over { operator, name: member, set, body } = &value.kind
            && ["argmin", "argmax"].contains(&operator.text.as_str())
        {
            let set = self.set(set, scope)?;
            let (inner, item) = super::expr::member(scope, &member.text);
            let (key, _) = self.num(body, &inner)?;
            let slot = self.cpu_slots;
            self.cpu_slots += 1;
            scope.bind(&name.text, Meaning::Place(Place::Slot(slot), Level::Cpu));
            return Some(Stmt::Pick { slot, set, item, key, greatest: operator.text == "argmax" });
        }
        let (num, dimension) = self.num(value, scope)?;
        let slot = self.num_slots;
        self.num_slots += 1;
        let dimension = dimension.unwrap_or(Dimension::Count);
        scope.bind(&name.text, Meaning::Num(Num::Local(slot), dimension));
        Some(Stmt::Let(slot, num))
    }

    fn set_var(&mut self, target: &Expr, add: bool, value: &Expr, scope: &Scope) -> Option<Stmt> {
        let current = self.num(target, scope)?;
        match current {
            (Num::TaskVar(var), Some(dimension)) => {
                let value = self.number_of(value, scope, dimension)?;
                let value = match add {
                    true => Num::Add(Box::new(Num::TaskVar(var)), Box::new(value)),
                    false => value,
                };
                Some(Stmt::SetTask(var, value))
            }
            (Num::CpuVar(var, cpu), Some(dimension)) => {
                let value = self.number_of(value, scope, dimension)?;
                let variable = &self.policy.cpu_vars[var];
                let name = variable.name.clone();
                match variable.writer {
                    Writer::Shared if !add => {
                        let message =
                            format!("`{name}` is shared, so its value may change at any time");
                        let help = format!("add to the variable: `{name} += ...`");
                        self.fault("R210", target.span, message, "set here", help);
                        None
                    }
                    Writer::Cpu if cpu != Place::Here => {
                        let message = format!("`{name}` can be set only on its own CPU");
                        let help = "write `here`, or declare the variable `shared` and add to it";
                        self.fault("R210", target.span, message, "another CPU writes it", help);
                        None
                    }
                    _ => Some(Stmt::SetCpu { var, cpu, value, add }),
                }
            }
            _ => {
                let help = "set a variable of the task or of a CPU: `t.vt := ...`";
                self.fault("R205", target.span, "this cannot be set", "not a variable", help);
                None
            }
        }
    }

    /// How long a task may run; `None` is for ever. Without a slice, it is the kernel's default.
    #[allow(clippy::option_option)]
    fn slice(&mut self, slice: Option<&Expr>, scope: &Scope) -> Option<Option<Num>> {
        match slice {
            None => Some(Some(Num::Const(SLICE_NS))),
            Some(Expr { kind: ExprKind::Name(name), .. }) if name == "forever" => Some(None),
            Some(expr) => {
                let num = self.number_of(expr, scope, Dimension::Time)?;
                if num == Num::Const(0) {
                    let help = "write a time above 0: `slice 5ms`";
                    self.fault("R211", expr.span, "the slice is 0", "0", help);
                }
                Some(Some(num))
            }
        }
    }

    /// The condition of an `if`, and the scope in which it holds.
    fn question(&mut self, condition: &Expr, scope: &Scope) -> Option<(Bool, Scope)> {
        if let ExprKind::Name(name) = &condition.kind
            && let Some(Meaning::Maybe(slot)) = scope.get(name)
        {
            return Some((Bool::Found(*slot), scope.found(name, *slot)));
        }
        Some((self.condition(condition, scope)?, scope.clone()))
    }

    /// The slot of a CPU that was claimed and found.
    fn claimed(&mut self, name: &Name, scope: &Scope) -> Option<usize> {
        let (message, help) = match scope.get(&name.text) {
            Some(Meaning::Place(Place::Slot(slot), Level::Cpu)) => return Some(*slot),
            Some(Meaning::Maybe(_)) => (
                format!(
                    "`{}` may be unset, because the search may have found no idle CPU",
                    name.text
                ),
                format!("test it first: `if {0} {{ run t on {0} }} else {{ ... }}`", name.text),
            ),
            Some(_) => (
                format!("`{}` was not claimed, so it may run another task", name.text),
                "claim a CPU: `let c = idle cpu in allowed(t) near t.prev by [llc]`".to_owned(),
            ),
            None => {
                let help =
                    suggest(&name.text, scope.names(), "claim a CPU: `let c = idle cpu ...`");
                (no("CPU", name), help)
            }
        };
        self.fault("R301", name.span, message, "not claimed", help);
        None
    }

    fn task_name(&mut self, name: &Name, scope: &Scope) -> Option<()> {
        if matches!(scope.get(&name.text), Some(Meaning::Task)) {
            return Some(());
        }
        let message = format!("`{}` is not the task of this handler", name.text);
        let help = "use the task that the handler names, as in `on wake(t)`";
        self.fault("R101", name.span, message, "not a task", help);
        None
    }
}
