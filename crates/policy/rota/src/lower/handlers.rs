//! Handlers: each event once, all required events handled, and where a CPU looks when it
//! dispatches.

use super::paths;
use super::scope::{Meaning, Scope};
use super::{Lowering, suggest};
use crate::Diagnostic;
use crate::ir::{self, Dimension, Event, Level, Num, Place};
use crate::syntax::{Span, ast};

/// Events that every policy must handle. Starting and stopping need no handler.
const NEEDED: [Event; 6] =
    [Event::New, Event::Wake, Event::Preempt, Event::Yield, Event::Block, Event::Exit];

impl<'a> Lowering<'a> {
    pub(super) fn handlers(
        &mut self,
        policy: &ast::Policy,
        handlers: impl Iterator<Item = &'a ast::Handler>,
    ) {
        let mut seen: Vec<(String, Span)> = Vec::new();
        for handler in handlers {
            for (name, args) in &handler.events {
                let twice = seen.iter().find(|(known, _)| *known == name.text).cloned();
                if let Some((_, first)) = twice {
                    let message = format!("the event `{}` has two handlers", name.text);
                    let help = "combine them into one handler";
                    let twice = Diagnostic::new("R302", name.span, message, "again", help);
                    self.report(twice.and(first, "first handler"));
                    continue;
                }
                seen.push((name.text.clone(), name.span));
                match Event::named(&name.text) {
                    Some(event) => self.handler(event, name, args, &handler.body),
                    None if name.text == "dispatch" => {
                        self.dispatch(name, args, &handler.body, declares_balance(policy));
                    }
                    None => self.unknown_event(name),
                }
            }
        }
        let missing = |name: &str| !seen.iter().any(|(known, _)| known == name);
        let needed = NEEDED.iter().map(|event| event.name()).chain(["dispatch"]);
        let lacking: Vec<&str> = needed.filter(|name| missing(name)).collect();
        if !lacking.is_empty() {
            let message = format!("`{}` does not handle {}", policy.name.text, lacking.join(", "));
            let help = match lacking.as_slice() {
                ["dispatch"] => "write `on dispatch(c) { take c.ready else balance idle }`".into(),
                _ => format!("add `on {}(t) {{ ... }}`", lacking[0]),
            };
            let label = "an event without a handler";
            self.fault("R303", policy.name.span, message, label, help);
        }
    }

    fn unknown_event(&mut self, name: &ast::Name) {
        let known = Event::ALL.map(Event::name).into_iter().chain(["dispatch"]);
        let otherwise = "use one of the events new, wake, preempt, yield, block, exit, start, \
                         stop, tick and dispatch";
        let help = suggest(&name.text, known, otherwise);
        let message = format!("there is no event `{}`", name.text);
        self.fault("R102", name.span, message, "not an event", help);
    }

    fn handler(&mut self, event: Event, name: &ast::Name, args: &[ast::Name], body: &ast::Block) {
        let mut scope = self.scope();
        (scope.task, scope.prev, scope.here) = (true, true, true);
        let wanted: &[&str] = if event == Event::Stop { &["t", "ran"] } else { &["t"] };
        if args.len() != wanted.len() {
            let message = format!("`{}` takes {} names", name.text, wanted.len());
            let help = format!("write `on {}({})`", name.text, wanted.join(", "));
            return self.fault("R304", name.span, message, "wrong number of names", help);
        }
        scope.bind(&args[0].text, Meaning::Task);
        if let Some(ran) = args.get(1) {
            if ran.text == args[0].text {
                return self.twice(ran, args[0].span);
            }
            scope.bind(&ran.text, Meaning::Num(Num::Ran, Dimension::Time));
        }
        (self.cpu_slots, self.num_slots) = (0, 0);
        let told = self.found.len();
        let statements = self.block(body, &mut scope);
        // After an error in a statement, what the handler places is not known.
        if self.found.len() == told {
            paths::check(&statements, event, body.span, &mut self.found);
        }
        self.policy.handler_spans[event as usize] = name.span;
        self.policy.handlers[event as usize] = statements.into_iter().map(|s| s.stmt).collect();
    }

    fn dispatch(&mut self, name: &ast::Name, args: &[ast::Name], body: &ast::Block, balance: bool) {
        let [cpu] = args else {
            let help = "write `on dispatch(c)`";
            let message = "`dispatch` takes one name, for the CPU";
            return self.fault("R304", name.span, message, "wrong number of names", help);
        };
        let mut scope = self.scope();
        scope.bind(&cpu.text, Meaning::Place(Place::Me, Level::Cpu));
        let [ast::Statement { kind: ast::StatementKind::Attempts(attempts), .. }] =
            body.statements.as_slice()
        else {
            let help = "write `take c.ready else balance idle`";
            let message = "`dispatch` must contain only one chain of `take` and `balance idle`";
            return self.fault("R305", body.span, message, "not a chain", help);
        };
        for attempt in attempts {
            let lowered = match attempt {
                ast::Attempt::Take(queue) => {
                    self.queue_at(queue, &scope).map(|at| ir::Attempt::Take(at, queue.span))
                }
                ast::Attempt::Balance(span) if !balance => {
                    let message = "`balance idle` is used here, but the policy does not define it";
                    let help = "add `balance idle { ... }` with level, filter, choose, steal and \
                                retry";
                    self.fault("R405", *span, message, "not defined", help);
                    None
                }
                ast::Attempt::Balance(_) => Some(ir::Attempt::Balance),
            };
            self.policy.dispatch.extend(lowered);
        }
        let balances = self.policy.dispatch.contains(&ir::Attempt::Balance);
        if let Some(idle) = self.policy.idle.as_ref().filter(|_| !balances) {
            let span = idle.spans.whole;
            let message = "`balance idle` is defined, but never used";
            let help = "end `on dispatch(c)` with `else balance idle`";
            self.fault("R405", span, message, "never used", help);
        }
    }

    /// A scope for balances: the CPU that takes, and the candidate.
    pub(super) fn balance_scope(
        &self,
        (me, my_level): (&ast::Name, Level),
        (other, level): (&ast::Name, Level),
    ) -> Scope {
        let mut scope = self.scope();
        scope.bind(&me.text, Meaning::Place(Place::Me, my_level));
        scope.bind(&other.text, Meaning::Place(Place::Other, level));
        scope
    }
}

/// Whether the text has a `balance idle`, correct or not.
fn declares_balance(policy: &ast::Policy) -> bool {
    let idle = |balance: &ast::Balance| matches!(balance.when, ast::When::Idle);
    policy.items.iter().any(|item| matches!(item, ast::Item::Balance(it) if idle(it)))
}
