//! A policy in the language of solvers, on a machine of any size.
//!
//! CPUs are a sort of which nothing is known, levels are functions that give each CPU its group,
//! and what queues and CPUs are like is a function of those. So whatever is shown holds of any
//! number of CPUs, and of states that no run may reach: what is not said is possible.

mod bounded;
mod expr;
mod state;

use std::collections::BTreeSet;

use wastenot_rota::ir::{Level, Policy};

use crate::smt::{Script, Sort, Term, call, equal, forall, implies, name};

/// Why something is not put into the language of solvers: what it is that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotEncoded(pub &'static str);

/// A script on its way.
#[derive(Debug)]
pub struct Encoder<'p> {
    policy: &'p Policy,
    script: Script,
    declared: BTreeSet<String>,
    fresh: usize,
    /// If each read is at an instant of its own: what stays as it is meanwhile.
    apart: Option<Held>,
    /// How many such reads there were.
    reads: usize,
}

/// What stays as it is between one read and the next. All else may have changed: nothing is read as
/// a snapshot. Queues are told by their index and a CPU of the group whose they are.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// Who runs and who waits: only variables of CPUs change.
    pub tasks: bool,
    /// A task waits in this queue.
    pub occupied: Option<(usize, Term)>,
    /// This queue is locked.
    pub locked: Option<(usize, Term)>,
    /// This CPU is idle.
    pub idle: Option<Term>,
}

/// What names stand for: CPUs by themselves, groups by one of their CPUs.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Who dispatches or balances.
    pub me: Option<(Level, Term)>,
    /// The candidate.
    pub other: Option<(Level, Term)>,
    /// Where the task was last.
    pub prev: Option<Term>,
    /// Where it is at home.
    pub home: Option<Term>,
    /// Where it happens.
    pub here: Option<Term>,
    /// Slots of CPUs.
    pub slots: Vec<Option<Term>>,
    /// Slots of numbers.
    pub locals: Vec<Option<Term>>,
    /// The variables of the task.
    pub vars: Vec<Term>,
    /// Members of sets, by depth.
    pub items: Vec<Term>,
    /// What numbers were when the filter was asked.
    pub seen: Vec<Term>,
    /// Which state is read: what its functions' names end in.
    pub when: &'static str,
    /// At which moment: what the names of all end in that goes on while the state stays. That is
    /// the time, variables of CPUs, and which task it is about.
    pub moment: &'static str,
}

impl<'p> Encoder<'p> {
    /// A script that asks `about`.
    pub fn new(policy: &'p Policy, about: &str) -> Encoder<'p> {
        let mut script = Script::new(about);
        script.sort("Cpu");
        Encoder { policy, script, declared: BTreeSet::new(), fresh: 0, apart: None, reads: 0 }
    }
    /// The policy.
    pub fn policy(&self) -> &'p Policy {
        self.policy
    }
    /// From now on every read is at an instant of its own, and only this is held still.
    pub(crate) fn reads_apart(&mut self, held: Held) {
        self.apart = Some(held);
    }
    /// Something whose reads are each at an instant of its own, whatever is held still otherwise.
    pub(crate) fn apart<T>(&mut self, what: impl FnOnce(&mut Self) -> T) -> T {
        let held = self.apart.replace(Held::default());
        let result = what(self);
        self.apart = held;
        result
    }
    /// How many reads there were, each at an instant of its own.
    pub(crate) fn reads(&self) -> usize {
        self.reads
    }
    /// What names of a queue, or of who runs, end in if that is read now, at such a time.
    fn read(&mut self, when: &str) -> String {
        match self.apart.as_ref().is_none_or(|held| held.tasks) {
            true => when.to_owned(),
            false => self.next_read(when),
        }
    }
    fn next_read(&mut self, when: &str) -> String {
        self.reads += 1;
        format!("{when}.{}", self.reads)
    }
    /// The queue that is locked, if it is this one: a CPU of the group whose it is.
    fn locked(&self, queue: usize) -> Option<Term> {
        let (locked, cpu) = self.apart.as_ref()?.locked.as_ref()?;
        (*locked == queue).then(|| cpu.clone())
    }
    /// The script, to be asked.
    pub fn finish(self) -> Script {
        self.script
    }
    /// This holds, for this reason.
    pub fn assert(&mut self, why: &str, term: Term) {
        self.script.assert(why, term);
    }

    /// Declares a function once.
    pub(crate) fn function(&mut self, name: &str, takes: &[Sort], gives: Sort) -> bool {
        let new = self.declared.insert(name.to_owned());
        if new {
            self.script.declare(name, takes.iter().cloned(), gives);
        }
        new
    }
    /// A CPU of which nothing is known.
    pub fn cpu(&mut self, called: &str) -> Term {
        self.function(called, &[], cpu_sort());
        name(called)
    }
    /// A number of which nothing is known.
    pub fn number(&mut self, called: &str) -> Term {
        self.function(called, &[], Sort::Int);
        name(called)
    }
    /// The same, under a name of its own.
    fn fresh(&mut self, called: &str) -> String {
        self.fresh += 1;
        format!("{called}.{}", self.fresh)
    }
    /// Whether the task may run on a CPU. It may on one at least.
    pub(crate) fn allowed(&mut self, cpu: Term) -> Term {
        if self.function("allowed", &[cpu_sort()], Sort::Bool) {
            let some = crate::smt::exists([("c", cpu_sort())], call("allowed", [name("c")]));
            self.assert("The task may run on at least one CPU.", some);
        }
        call("allowed", [cpu])
    }

    /// The group of a level that a CPU is in; `None` is the machine, of which there is one.
    pub fn group(&mut self, level: Level, cpu: Term) -> Option<Term> {
        match level {
            Level::Cpu => Some(cpu),
            Level::Machine => None,
            level => {
                self.level(level);
                Some(call(level.name(), [cpu]))
            }
        }
    }
    /// Whether two CPUs are in the same group of a level.
    pub fn same(&mut self, level: Level, a: Term, b: Term) -> Term {
        match (self.group(level, a), self.group(level, b)) {
            (Some(a), Some(b)) => equal(a, b),
            _ => Term::Bool(true),
        }
    }

    /// Declares a level: narrower ones lie within it.
    fn level(&mut self, level: Level) {
        if !self.declared.insert(format!("level {}", level.name())) {
            return;
        }
        let sort = level_sort(level).unwrap_or(Sort::Int);
        if let Sort::Named(sort) = &sort {
            self.script.sort(sort);
        }
        self.script.declare(level.name(), [cpu_sort()], sort);
        for other in [Level::Smt, Level::Llc, Level::Node] {
            let known = self.declared.contains(&format!("level {}", other.name()));
            if other == level || !known {
                continue;
            }
            let (narrow, wide) = (level.min(other), level.max(other));
            let both = |level: Level| {
                equal(call(level.name(), [name("a")]), call(level.name(), [name("b")]))
            };
            let nested =
                forall([("a", cpu_sort()), ("b", cpu_sort())], implies(both(narrow), both(wide)));
            self.assert(
                "CPUs that share a group of a narrow level also share a group of a wider level.",
                nested,
            );
        }
    }
}

/// The sort of CPUs.
pub(crate) fn cpu_sort() -> Sort {
    Sort::named("Cpu")
}

/// The sort of the groups of a level; the machine has none.
fn level_sort(level: Level) -> Option<Sort> {
    match level {
        Level::Cpu => Some(cpu_sort()),
        Level::Smt => Some(Sort::named("Smt")),
        Level::Llc => Some(Sort::named("Llc")),
        Level::Node => Some(Sort::named("Node")),
        Level::Machine => None,
    }
}
