//! From the syntax tree of a text to [`ir`]: names, dimensions, handlers, balances, claims.
//!
//! Every error in a text that parses is found here, all in one run: a part with an error is
//! reported and left out, and the other parts are still checked.

mod balance;
mod call;
mod claims;
mod declare;
mod expr;
mod handlers;
mod partitions;
mod paths;
mod places;
mod plain;
mod scope;
mod statements;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use wastenot_model::suggest;

use crate::Diagnostic;
use crate::ir::{self, Event, Program, Protocol};
use crate::syntax::{Span, ast};

pub use self::plain::faults;
use self::scope::Scope;

/// The limit on the expressions of a policy after its metrics are inlined. There must be one, since
/// a metric that uses another one twice doubles it.
const EXPRESSIONS: usize = 10_000;

/// The meaning of the text, or all of its errors.
pub(crate) fn lower(file: &ast::File) -> Result<Program, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut policies = Vec::new();
    for policy in &file.policies {
        let mut lowering = Lowering::new(policy);
        lowering.policy(policy);
        policies.push(lowering.policy);
        once_each(&mut lowering.found);
        found.append(&mut lowering.found);
    }
    let partitions = partitions::lower(file, &mut found);
    if found.is_empty() { Ok(Program { policies, partitions }) } else { Err(found) }
}

/// The label at a name that its policy should declare and does not.
const NOT_DECLARED: &str = "not declared";

/// Keeps one error for each mistake: a handler of several events, or a metric that is used twice,
/// is reported once; a missing declaration is reported once.
fn once_each(found: &mut Vec<Diagnostic>) {
    found.sort_by_key(|fault| fault.span);
    let mut told: BTreeSet<(&str, Span, String)> = BTreeSet::new();
    found.retain(|fault| {
        let undeclared = fault.label == NOT_DECLARED;
        let (span, message) = match undeclared {
            true => (Span::default(), fault.message.clone()),
            false => (fault.span, String::new()),
        };
        told.insert((fault.code, span, message))
    });
}

/// The state of lowering one policy.
struct Lowering<'a> {
    /// The result so far.
    policy: ir::Policy,
    /// The metrics, which are inlined where they are called, and the index of each name.
    metrics: Vec<&'a ast::Metric>,
    metric_named: BTreeMap<&'a str, usize>,
    /// How many of them can be used: in a metric, only those before it.
    metrics_known: usize,
    /// The metric that is being inlined, or the outermost call of one.
    putting_in: Option<Span>,
    found: Vec<Diagnostic>,
    /// How many expressions were made so far.
    expressions: usize,
    /// How many slots the current handler uses.
    cpu_slots: usize,
    num_slots: usize,
    /// The numbers that the current balance remembers.
    seen: usize,
}

impl<'a> Lowering<'a> {
    fn new(policy: &ast::Policy) -> Lowering<'a> {
        let policy = ir::Policy {
            name: policy.name.text.clone(),
            params: Vec::new(),
            task_vars: Vec::new(),
            cpu_vars: Vec::new(),
            queues: Vec::new(),
            handlers: [const { Vec::new() }; Event::COUNT],
            dispatch: Vec::new(),
            idle: None,
            periodic: Vec::new(),
            protocol: Protocol::default(),
            claims: Vec::new(),
            handler_spans: [policy.span; Event::COUNT],
            span: policy.span,
        };
        Lowering {
            policy,
            metrics: Vec::new(),
            metric_named: BTreeMap::new(),
            metrics_known: usize::MAX,
            putting_in: None,
            found: Vec::new(),
            expressions: 0,
            cpu_slots: 0,
            num_slots: 0,
            seen: 0,
        }
    }

    /// Declarations are lowered first, so that the order of the text does not matter.
    fn policy(&mut self, policy: &'a ast::Policy) {
        self.declare(policy);
        self.check_metrics();
        for item in &policy.items {
            match item {
                ast::Item::Balance(balance) => self.balance(balance),
                ast::Item::Protocol(settings, span) => self.protocol(settings, *span),
                ast::Item::Prove(claims) => claims.iter().for_each(|claim| self.claim(claim)),
                _ => {}
            }
        }
        let handlers = policy.items.iter().filter_map(|item| match item {
            ast::Item::On(handler) => Some(handler),
            _ => None,
        });
        self.handlers(policy, handlers);
    }

    /// Reports an error.
    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// The same, for the usual form of an error.
    fn fault(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.report(Diagnostic::new(code, span, message, label, help));
    }

    /// The scope of a policy without any handler: its parameters.
    fn scope(&self) -> Scope {
        Scope::of(&self.policy.params)
    }

    /// The level with this name.
    fn level(&mut self, name: &ast::Name) -> Option<ir::Level> {
        let level = ir::Level::named(&name.text);
        if level.is_none() {
            let known = ir::Level::ALL.map(ir::Level::name);
            let help =
                suggest(&name.text, known, "use one of the levels cpu, smt, llc, node and machine");
            self.fault("R102", name.span, no("level", name), "not a level", help);
        }
        level
    }

    /// Whether a level is wider than the one before it; if not, this is reported.
    fn is_wider(&mut self, name: &ast::Name, level: ir::Level, before: Option<ir::Level>) -> bool {
        let (message, help) = match before.map(|before| before.cmp(&level)) {
            None | Some(Ordering::Less) => return true,
            Some(Ordering::Equal) => {
                (format!("`{}` occurs twice", name.text), "remove one of the two")
            }
            Some(Ordering::Greater) => {
                let help = "write the levels in the order cpu, smt, llc, node, machine";
                ("the levels must go from narrow to wide".to_owned(), help)
            }
        };
        self.fault("R406", name.span, message, "not wider than the level before", help);
        false
    }
}

/// `there is no queue \`redy\``
fn no(what: &str, name: &ast::Name) -> String {
    format!("there is no {what} `{}`", name.text)
}
