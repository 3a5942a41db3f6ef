//! Calls: built-in calls, one function for those with the same arguments; and metrics, which are
//! inlined.

use super::expr::{Typed, widened};
use super::scope::{Meaning, Scope};
use super::{Lowering, no, suggest};
use crate::Diagnostic;
use crate::ir::{Bool, Dimension, Level, Num, Place, QueueAt, Set, Visitor, visit_num};
use crate::syntax::ast::{self, Expr, Name};
use crate::syntax::vocabulary;

impl<'a> Lowering<'a> {
    /// The value of a call, if it is a number.
    pub(super) fn call(
        &mut self,
        name: &Name,
        args: &[Expr],
        whole: &Expr,
        scope: &Scope,
    ) -> Option<Typed> {
        if let Some(metric) = self.metric_named.get(name.text.as_str()).copied() {
            let [arg] = self.arity(name, args)?;
            return self.metric(metric, name, (arg, whole), scope);
        }
        match name.text.as_str() {
            "queued" | "weight" | "min_vt" | "running" | "cpus" => {
                let [arg] = self.arity(name, args)?;
                self.of_place(name, arg, scope)
            }
            "min" | "max" => {
                let [a, b] = self.arity(name, args)?;
                let (a, b, dimension) = self.alike(a, b, whole, scope)?;
                let num = if name.text == "min" { Num::Min(a, b) } else { Num::Max(a, b) };
                Some((num, dimension))
            }
            "half" => {
                let [of] = self.arity(name, args)?;
                let (num, dimension) = self.num(of, scope)?;
                Some((Num::Over(Box::new(num), 2), dimension))
            }
            "scaled" | "decayed" | "until" => self.of_time(name, args, scope),
            "seen" => self.seen(name, args, scope),
            "idle" | "allowed" => self.no_number(whole, "a condition"),
            place if vocabulary::is_place(place) => {
                self.no_number(whole, "a CPU or a group of CPUs")
            }
            _ => self.no_call(name),
        }
    }

    /// A count in a queue or on CPUs.
    fn of_place(&mut self, name: &Name, arg: &Expr, scope: &Scope) -> Option<Typed> {
        let (num, dimension) = match name.text.as_str() {
            "queued" => (Num::Queued(self.queue_at(arg, scope)?), Dimension::Count),
            "weight" if self.looks_like_queue(arg) => {
                (Num::QueuedWeight(self.queue_at(arg, scope)?), Dimension::Weight)
            }
            "weight" => (Num::RunningWeight(self.place(arg, scope)?.0), Dimension::Weight),
            "running" => (Num::Running(self.place(arg, scope)?.0), Dimension::Count),
            "cpus" => (Num::Cpus(self.place(arg, scope)?.0), Dimension::Count),
            _ => {
                let at = self.queue_at(arg, scope)?;
                let dimension = self.key_dimension(&at, arg)?;
                (Num::MinKey(at), dimension)
            }
        };
        Some((num, Some(dimension)))
    }

    /// A number computed from times.
    fn of_time(&mut self, name: &Name, args: &[Expr], scope: &Scope) -> Option<Typed> {
        let time = Some(Dimension::Time);
        match name.text.as_str() {
            "scaled" => {
                let [ran, weight] = self.arity(name, args)?;
                let ran = self.argument(name, ran, scope, Dimension::Time);
                let weight = self.argument(name, weight, scope, Dimension::Weight);
                Some((Num::Scaled(Box::new(ran?), Box::new(weight?)), time))
            }
            "decayed" => {
                let [of, after, half] = self.arity(name, args)?;
                let (of, dimension) = self.num(of, scope)?;
                let after = self.argument(name, after, scope, Dimension::Time)?;
                let half = self.argument(name, half, scope, Dimension::Time)?;
                Some((Num::Decayed(Box::new(of), Box::new(after), Box::new(half)), dimension))
            }
            _ => {
                let [period] = self.arity(name, args)?;
                let period = self.argument(name, period, scope, Dimension::Time)?;
                Some((Num::Until(Box::new(period)), time))
            }
        }
    }

    /// The value of a number when the filter was evaluated.
    fn seen(&mut self, name: &Name, args: &[Expr], scope: &Scope) -> Option<Typed> {
        if !scope.seen {
            let help = "use `seen` only after `where`: it returns the value that the filter read";
            self.fault(
                "R205",
                name.span,
                "no value was read before this",
                "not allowed here",
                help,
            );
            return None;
        }
        let [of] = self.arity(name, args)?;
        let (num, dimension) = self.num(of, scope)?;
        if is_of_task(&num) {
            let message = "`seen` cannot return a value of a task, because a filter has no task";
            let help = "use a value that needs no task: a queue, a CPU, the time";
            self.fault("R205", of.span, message, "no task here", help);
            return None;
        }
        self.seen += 1;
        Some((Num::Seen(self.seen - 1, Box::new(num)), dimension))
    }

    fn no_call(&mut self, name: &Name) -> Option<Typed> {
        let mut known: Vec<&str> = vocabulary::called().collect();
        known.extend(self.metrics.iter().map(|metric| metric.name.text.as_str()));
        let otherwise = format!("declare the metric: `metric {}(c: cpu) : count = ...`", name.text);
        let help = suggest(&name.text, known, &otherwise);
        self.fault("R101", name.span, no("metric", name), super::NOT_DECLARED, help);
        None
    }

    /// A number argument of a call; with another dimension, the error shows the form of the call.
    fn argument(
        &mut self,
        name: &Name,
        arg: &Expr,
        scope: &Scope,
        wanted: Dimension,
    ) -> Option<Num> {
        let told = self.found.len();
        let num = self.number_of(arg, scope, wanted);
        let own = |fault: &&mut Diagnostic| (fault.code, fault.span) == ("R204", arg.span);
        if let Some(fault) = self.found[told..].last_mut().filter(own)
            && let Some(form) = vocabulary::form(&name.text)
        {
            fault.help += &format!("; the form is `{form}`");
        }
        num
    }

    pub(super) fn arity<'e, const N: usize>(
        &mut self,
        name: &Name,
        args: &'e [Expr],
    ) -> Option<[&'e Expr; N]> {
        let array: Option<[&Expr; N]> = args.iter().collect::<Vec<_>>().try_into().ok();
        if array.is_none() {
            let message = format!("`{}` needs {N}, but it has {}", name.text, args.len());
            let help = match vocabulary::form(&name.text) {
                Some(form) => format!("write `{form}`"),
                None => format!("write {N} in the parentheses"),
            };
            self.fault("R206", name.span, message, "this call", help);
        }
        array
    }

    fn key_dimension(&mut self, at: &QueueAt, expr: &Expr) -> Option<Dimension> {
        let queue = &self.policy.queues[at.queue];
        match queue.key {
            Some(key) => Some(self.policy.task_vars[key].dimension),
            None => {
                let message = format!("`{}` is not ordered, so it has no least key", queue.name);
                let help = "declare the queue as `ordered(VARIABLE)`";
                self.fault("R401", expr.span, message, "first in, first out", help);
                None
            }
        }
    }
}

/// Metrics.
impl<'a> Lowering<'a> {
    /// Records a metric, so that it can be called.
    pub(super) fn declare_metric(&mut self, metric: &'a ast::Metric) {
        let name = &metric.name;
        if vocabulary::called().any(|known| known == name.text) {
            let message = format!("`{}` is the name of a built-in call", name.text);
            let help = "give the metric another name";
            self.fault("R103", name.span, message, "this name is taken", help);
        }
        match self.metric_named.get(name.text.as_str()) {
            Some(first) => self.twice(name, self.metrics[*first].name.span),
            None => {
                self.metric_named.insert(&name.text, self.metrics.len());
            }
        }
        self.metrics.push(metric);
    }

    /// Checks every metric once, whether or not it is called.
    pub(super) fn check_metrics(&mut self) {
        for index in 0..self.metrics.len() {
            let metric = self.metrics[index];
            if let Some(level) = self.level(&metric.level) {
                self.putting_in = Some(metric.name.span);
                self.metric_value(index, Place::Item(0), level, 1);
            }
        }
        self.putting_in = None;
    }

    /// The value of a metric: its expression, with the place inserted.
    fn metric(
        &mut self,
        index: usize,
        name: &Name,
        (arg, whole): (&Expr, &Expr),
        scope: &Scope,
    ) -> Option<Typed> {
        if index >= self.metrics_known {
            let message = format!("`{}` is not known in this metric", name.text);
            let help = "move the other metric above this one; a metric cannot use itself";
            self.fault("R101", name.span, message, "not known here", help);
            return None;
        }
        let metric = self.metrics[index];
        let (place, level) = self.place(arg, scope)?;
        let wanted = self.level(&metric.level)?;
        if level > wanted {
            let message = format!("`{}` is a metric of each {}", metric.name.text, wanted.name());
            let label = format!("this is a {}", level.name());
            self.fault("R402", arg.span, message, label, "fold: `sum c in g : load(c)`");
            return None;
        }
        let outermost = self.putting_in.is_none();
        self.putting_in.get_or_insert(whole.span);
        let value = self.metric_value(index, widened(place, level, wanted), wanted, scope.depth);
        if outermost {
            self.putting_in = None;
        }
        value
    }

    fn metric_value(
        &mut self,
        index: usize,
        place: Place,
        level: Level,
        depth: usize,
    ) -> Option<Typed> {
        let metric = self.metrics[index];
        let dimension = self.dimension(&metric.dimension)?;
        let mut inner = self.scope();
        inner.depth = depth;
        inner.bind(&metric.of.text, Meaning::Place(place, level));
        // A metric may use only those before it, so none can use itself.
        let known = std::mem::replace(&mut self.metrics_known, index);
        let value = self.number_of(&metric.value, &inner, dimension);
        self.metrics_known = known;
        Some((value?, Some(dimension)))
    }
}

/// Whether a number depends on the task, or on the CPUs on which it may run.
fn is_of_task(num: &Num) -> bool {
    struct Reads(bool);
    impl Visitor for Reads {
        fn num(&mut self, num: &Num) {
            self.0 |= match num {
                Num::TaskVar(_) | Num::Weight | Num::Job => true,
                Num::Fold { set, .. } | Num::Count { set, .. } => *set == Set::Allowed,
                _ => false,
            };
        }
        fn bool(&mut self, condition: &Bool) {
            self.0 |= match condition {
                Bool::Allowed(_) => true,
                Bool::Quantified { set, .. } => *set == Set::Allowed,
                _ => false,
            };
        }
    }
    let mut reads = Reads(false);
    visit_num(num, &mut reads);
    reads.0
}
