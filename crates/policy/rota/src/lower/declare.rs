//! The declarations of a policy: parameters, variables, queues, metrics, the protocol.

use std::collections::BTreeMap;

use wastenot_model::nearest;

use super::{Lowering, NOT_DECLARED, no, suggest};
use crate::Diagnostic;
use crate::ir::{Dimension, Num, Protocol, Queue, Variable, Writer};
use crate::syntax::{Span, ast, vocabulary};

impl<'a> Lowering<'a> {
    pub(super) fn declare(&mut self, policy: &'a ast::Policy) {
        let mut params = Names::default();
        let (mut of_tasks, mut of_cpus) = (Names::default(), Names::default());
        let mut faults = Names::default();
        for param in &policy.params {
            if let Some(variable) = self.variable(param, Writer::Constant) {
                params.declare(self, &param.name);
                self.policy.params.push(variable);
            }
        }
        for item in &policy.items {
            match item {
                ast::Item::Task(variables, _) => {
                    for variable in variables {
                        self.task_variable(variable, &mut of_tasks);
                    }
                }
                ast::Item::Cpu(variables, _) => {
                    for variable in variables {
                        self.cpu_variable(variable, &mut of_cpus);
                    }
                }
                ast::Item::Metric(metric) => self.declare_metric(metric),
                ast::Item::Protocol(settings, _) => {
                    settings.iter().for_each(|setting| faults.once(self, &setting.key));
                }
                _ => {}
            }
        }
        // Variables that order a queue may come later in the text.
        let mut queues = Names::default();
        for item in &policy.items {
            if let ast::Item::Queue(queue) = item {
                self.queue(queue, &mut queues);
            }
        }
    }

    /// Reports a name that was declared before.
    pub(super) fn twice(&mut self, name: &ast::Name, first: Span) {
        let message = format!("the name `{}` is used twice", name.text);
        let help = "give one of the two another name";
        let twice = Diagnostic::new("R103", name.span, message, "again", help);
        self.report(twice.and(first, "first use"));
    }

    /// Reports a word that may occur once and occurred before.
    pub(super) fn again(&mut self, word: &ast::Name, first: Span) {
        let message = format!("`{}` occurs twice", word.text);
        let help = "remove one of the two";
        let again = Diagnostic::new("R103", word.span, message, "again", help);
        self.report(again.and(first, "first occurrence"));
    }

    fn task_variable(&mut self, variable: &'a ast::Variable, names: &mut Names<'a>) {
        if words(&variable.writer) != ["owner", "queue"] {
            let help = "write `owner queue`: task variables are written while the task is in no \
                        queue, or under the lock of its queue";
            self.no_writer(variable, "not allowed for tasks", help);
        }
        if let Some(lowered) = self.variable(variable, Writer::Queue) {
            const BUILT_IN: [&str; 3] = ["prev", "weight", "job"];
            if BUILT_IN.contains(&lowered.name.as_str()) {
                let message = format!("`{}` is a built-in variable of tasks", lowered.name);
                let help = "give the variable another name";
                self.fault("R103", variable.name.span, message, "built in", help);
            }
            names.declare(self, &variable.name);
            self.policy.task_vars.push(lowered);
        }
    }

    fn cpu_variable(&mut self, variable: &'a ast::Variable, names: &mut Names<'a>) {
        let writer = match words(&variable.writer).as_slice() {
            ["owner", "cpu"] => Writer::Cpu,
            ["shared"] => Writer::Shared,
            _ => {
                let help = "write `owner cpu` (only handlers on this CPU write it) or `shared` \
                            (all handlers may add to it)";
                self.no_writer(variable, "not allowed for CPUs", help);
                Writer::Shared
            }
        };
        if let Some(lowered) = self.variable(variable, writer) {
            names.declare(self, &variable.name);
            self.policy.cpu_vars.push(lowered);
        }
    }

    /// Reports a variable without a writer, or with the wrong one. It is declared nevertheless, so
    /// that its uses cause no further errors.
    fn no_writer(&mut self, variable: &ast::Variable, label: &str, help: &str) {
        let span = variable.writer.first().map_or(variable.name.span, |word| word.span);
        let message = format!("the writer of `{}` is missing", variable.name.text);
        self.fault("R201", span, message, label, help);
    }

    fn variable(&mut self, variable: &ast::Variable, writer: Writer) -> Option<Variable> {
        let dimension = self.dimension(&variable.dimension)?;
        let scope = super::Scope::default();
        // A variable with an error is declared nevertheless.
        let value = match self.number_of(&variable.value, &scope, dimension) {
            Some(Num::Const(value)) => value,
            Some(_) => {
                let help = "write a number: `slice: time = 20ms`";
                let message = format!("`{}` needs a number as its default", variable.name.text);
                self.fault("R205", variable.value.span, message, "not a number", help);
                0
            }
            None => 0,
        };
        let (name, span) = (variable.name.text.clone(), variable.name.span);
        Some(Variable { name, dimension, value, writer, span })
    }

    pub(super) fn dimension(&mut self, name: &ast::Name) -> Option<Dimension> {
        let known = ["count", "time", "weight"];
        let index = known.iter().position(|known| *known == name.text);
        let Some(index) = index else {
            let help =
                suggest(&name.text, known, "use one of the dimensions count, time and weight");
            self.fault("R102", name.span, no("dimension", name), "not a dimension", help);
            return None;
        };
        Some([Dimension::Count, Dimension::Time, Dimension::Weight][index])
    }

    fn queue(&mut self, queue: &'a ast::Queue, names: &mut Names<'a>) {
        let Some(per) = self.level(&queue.per) else { return };
        let key = match (queue.order.text.as_str(), &queue.key) {
            ("fifo", None) => None,
            ("ordered", Some(key)) => Some(self.key(key)),
            _ => {
                let message = "write `fifo` or `ordered(VARIABLE)`";
                let help = format!("write `queue {} : fifo per {}`", queue.name.text, per.name());
                return self.fault("R401", queue.order.span, message, "neither", help);
            }
        };
        names.declare(self, &queue.name);
        let (name, span) = (queue.name.text.clone(), queue.name.span);
        self.policy.queues.push(Queue { name, key, per, span });
    }

    /// The variable that orders a queue. If it does not exist, this is reported; then the nearest
    /// name is used, or a new variable, so that no other use of the name is reported.
    fn key(&mut self, key: &ast::Name) -> usize {
        let known = |name: &str| self.policy.task_vars.iter().position(|it| it.name == name);
        if let Some(index) = known(&key.text) {
            return index;
        }
        let names = self.policy.task_vars.iter().map(|variable| variable.name.as_str());
        let near = nearest(&key.text, names).and_then(known);
        let help = match near {
            Some(near) => format!("did you mean `{}`?", self.policy.task_vars[near].name),
            None => {
                format!("declare the variable: `task {{ {}: time = 0 owner queue }}`", key.text)
            }
        };
        self.fault("R101", key.span, no("variable of tasks", key), NOT_DECLARED, help);
        near.unwrap_or_else(|| {
            let (name, span, writer) = (key.text.clone(), key.span, Writer::Queue);
            let dimension = Dimension::Time;
            self.policy.task_vars.push(Variable { name, dimension, value: 0, writer, span });
            self.policy.task_vars.len() - 1
        })
    }

    pub(super) fn protocol(&mut self, settings: &[ast::Setting], span: Span) {
        let mut protocol = Protocol { span, ..self.policy.protocol };
        for setting in settings {
            let words = words(&setting.words);
            match (setting.key.text.as_str(), words.as_slice()) {
                ("enqueue", ["kick", "insert"]) => protocol.kick_first = true,
                ("idle", ["no_rescan"]) => protocol.no_rescan = true,
                ("dispatch", ["no_chain"]) => protocol.no_chain = true,
                ("steal", ["unchecked"]) => protocol.unchecked = true,
                ("groups", ["cpu0"]) => protocol.groups_from_cpu0 = true,
                _ => self.no_setting(setting),
            }
        }
        self.policy.protocol = protocol;
    }

    fn no_setting(&mut self, setting: &ast::Setting) {
        let key = &setting.key.text;
        let right = vocabulary::PROTOCOL.iter().map(|entry| entry.form);
        let of_key = right.clone().find(|form| form.split(':').next() == Some(key.as_str()));
        let (span, message, help) = match of_key {
            Some(form) => {
                let first = setting.words.first().map_or(setting.key.span, |word| word.span);
                let span = setting.words.last().map_or(first, |last| first.to(last.span));
                let message = format!("there is no such fault of `{key}`");
                (span, message, format!("write `{form}`"))
            }
            None => {
                let message = format!("there is no fault `{key}`");
                let right: Vec<String> = right.map(|form| format!("`{form}`")).collect();
                (setting.key.span, message, format!("use one of {}", right.join(", ")))
            }
        };
        self.fault("R502", span, message, "unknown", help);
    }
}

/// The names of one kind, and where each was declared first.
#[derive(Default)]
struct Names<'a>(BTreeMap<&'a str, Span>);

impl<'a> Names<'a> {
    /// Records a name; reports it if it was declared before.
    fn declare(&mut self, lowering: &mut Lowering<'_>, name: &'a ast::Name) {
        if let Some(first) = self.first(name) {
            lowering.twice(name, first);
        }
    }

    /// The same for a word that may occur once.
    fn once(&mut self, lowering: &mut Lowering<'_>, word: &'a ast::Name) {
        if let Some(first) = self.first(word) {
            lowering.again(word, first);
        }
    }

    /// The position of the first declaration; if there is none, records this one.
    fn first(&mut self, name: &'a ast::Name) -> Option<Span> {
        let first = self.0.get(name.text.as_str()).copied();
        if first.is_none() {
            self.0.insert(&name.text, name.span);
        }
        first
    }
}

fn words(names: &[ast::Name]) -> Vec<&str> {
    names.iter().map(|name| name.text.as_str()).collect()
}
