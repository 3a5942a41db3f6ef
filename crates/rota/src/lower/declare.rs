//! Parameters, variables, queues, metrics, the protocol: what a policy has.

use super::{Lowering, no, suggest};
use crate::ir::{Dimension, Protocol, Queue, Variable, Writer};
use crate::syntax::{Span, ast};

/// Largest number that may be written: a thousand days in ns, so that sums stay far from 64 bits.
const LARGEST: i64 = 100_000_000_000_000_000;

impl<'a> Lowering<'a> {
    pub(super) fn declare(&mut self, policy: &'a ast::Policy) {
        for param in &policy.params {
            if let Some(variable) = self.variable(param, Writer::Constant) {
                self.unique(&variable.name, param.name.span, &self.policy.params.clone());
                self.policy.params.push(variable);
            }
        }
        for item in &policy.items {
            match item {
                ast::Item::Task(variables, _) => {
                    for variable in variables {
                        self.task_variable(variable);
                    }
                }
                ast::Item::Cpu(variables, _) => {
                    for variable in variables {
                        self.cpu_variable(variable);
                    }
                }
                ast::Item::Metric(metric) => self.metrics.push(metric),
                _ => {}
            }
        }
        // Queues may be ordered by variables that the text has further down.
        for item in &policy.items {
            if let ast::Item::Queue(queue) = item {
                self.queue(queue);
            }
        }
    }

    fn unique(&mut self, name: &str, span: Span, known: &[Variable]) {
        if let Some(other) = known.iter().find(|other| other.name == name) {
            let message = format!("there are two of the name `{name}`");
            let help = "give one of them another name";
            let twice = crate::Diagnostic::new("R103", span, message, "again", help);
            self.report(twice.and(other.span, "the first"));
        }
    }

    fn task_variable(&mut self, variable: &ast::Variable) {
        let writer = match words(&variable.writer).as_slice() {
            ["owner", "queue"] => Writer::Queue,
            _ => {
                let span = variable.writer.first().map_or(variable.name.span, |word| word.span);
                let message = format!("who writes `{}`?", variable.name.text);
                let help = "variables of tasks are `owner queue`: written while the task is in no \
                            queue, or under the lock of the queue that it is in";
                return self.fault("R201", span, message, "not one that tasks can have", help);
            }
        };
        if let Some(lowered) = self.variable(variable, writer) {
            const BUILT_IN: [&str; 3] = ["prev", "weight", "job"];
            if BUILT_IN.contains(&lowered.name.as_str()) {
                let message = format!("every task has a `{}` already", lowered.name);
                let help = "give the variable another name";
                self.fault("R103", variable.name.span, message, "built in", help);
            }
            self.unique(&lowered.name, variable.name.span, &self.policy.task_vars.clone());
            self.policy.task_vars.push(lowered);
        }
    }

    fn cpu_variable(&mut self, variable: &ast::Variable) {
        let writer = match words(&variable.writer).as_slice() {
            ["owner", "cpu"] => Writer::Cpu,
            ["shared"] => Writer::Shared,
            _ => {
                let span = variable.writer.first().map_or(variable.name.span, |word| word.span);
                let message = format!("who writes `{}`?", variable.name.text);
                let help = "variables of CPUs are `owner cpu` (written by handlers that run there) \
                            or `shared` (anybody adds to it)";
                return self.fault("R201", span, message, "not one that CPUs can have", help);
            }
        };
        if let Some(lowered) = self.variable(variable, writer) {
            self.unique(&lowered.name, variable.name.span, &self.policy.cpu_vars.clone());
            self.policy.cpu_vars.push(lowered);
        }
    }

    fn variable(&mut self, variable: &ast::Variable, writer: Writer) -> Option<Variable> {
        let dimension = self.dimension(&variable.dimension)?;
        let scope = super::Scope::default();
        let value = self.number_of(&variable.value, &scope, dimension)?;
        let crate::ir::Num::Const(value) = value else {
            let help = "write a number: `slice: time = 20ms`";
            let message = format!("`{}` has to begin with a number", variable.name.text);
            self.fault("R205", variable.value.span, message, "no number", help);
            return None;
        };
        Some(Variable {
            name: variable.name.text.clone(),
            dimension,
            value,
            writer,
            span: variable.name.span,
        })
    }

    pub(super) fn dimension(&mut self, name: &ast::Name) -> Option<Dimension> {
        let known = ["count", "time", "weight", "ratio"];
        let index = known.iter().position(|known| *known == name.text);
        let Some(index) = index else {
            let help = suggest(&name.text, known, "dimensions are count, time, weight and ratio");
            self.fault("R102", name.span, no("dimension", name), "no dimension", help);
            return None;
        };
        Some([Dimension::Count, Dimension::Time, Dimension::Weight, Dimension::Ratio][index])
    }

    fn queue(&mut self, queue: &ast::Queue) {
        let Some(per) = self.level(&queue.per) else { return };
        let key = match (queue.order.text.as_str(), &queue.key) {
            ("fifo", None) => None,
            ("ordered", Some(key)) => {
                let known = self.policy.task_vars.iter();
                let index = known.clone().position(|variable| variable.name == key.text);
                if index.is_none() {
                    let known: Vec<&str> = known.map(|variable| variable.name.as_str()).collect();
                    let help = suggest(
                        &key.text,
                        known,
                        "declare it: `task { vt: time = 0 owner queue }`",
                    );
                    let message = no("variable of tasks", key);
                    self.fault("R101", key.span, message, "not declared", help);
                }
                index
            }
            _ => {
                let message = "a queue is `fifo` or `ordered(VARIABLE)`";
                let help = format!("write `queue {} : fifo per {}`", queue.name.text, per.name());
                return self.fault("R401", queue.order.span, message, "neither", help);
            }
        };
        if let Some(other) = self.policy.queues.iter().find(|other| other.name == queue.name.text) {
            let message = format!("there are two queues of the name `{}`", queue.name.text);
            let help = "give one of them another name";
            let span = queue.name.span;
            let twice = crate::Diagnostic::new("R103", span, message, "again", help);
            let twice = twice.and(other.span, "the first");
            return self.report(twice);
        }
        let (name, span) = (queue.name.text.clone(), queue.name.span);
        self.policy.queues.push(Queue { name, key, per, span });
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
                _ => {
                    let message = format!("there is no such fault as `{}`", setting.key.text);
                    let help = "there are `enqueue: kick, insert`, `idle: no_rescan`, \
                                `dispatch: no_chain`, `steal: unchecked` and `groups: cpu0`";
                    self.fault("R502", setting.key.span, message, "unknown", help);
                }
            }
        }
        self.policy.protocol = protocol;
    }

    /// A number as it is written, if it is not too large.
    pub(super) fn literal(&mut self, value: u64, by: i64, span: Span) -> i64 {
        let value = i64::try_from(value).ok().and_then(|value| value.checked_mul(by));
        match value.filter(|value| *value <= LARGEST) {
            Some(value) => value,
            None => {
                let message = "the number is too large";
                let help = "the largest is 10^17, or a thousand days";
                self.fault("R203", span, message, "too large", help);
                0
            }
        }
    }
}

fn words(names: &[ast::Name]) -> Vec<&str> {
    names.iter().map(|name| name.text.as_str()).collect()
}
