//! What queues and CPUs are like: functions, and what is known of them.

use wastenot_rota::ir::Level;

use super::{Encoder, Names, cpu_sort, level_sort};
use crate::smt::{Sort, Term, and, at_most, call, choice, equal, forall, int, name, not};

/// Weights are 1 to 10 000 (`CGROUP_WEIGHT_MIN`, `_MAX`: include/linux/cgroup.h).
const WEIGHT_MAX: i64 = 10_000;

impl Encoder<'_> {
    /// How many wait in the queue of the group that `cpu` is in.
    pub fn queued(&mut self, queue: usize, cpu: Term, names: &Names) -> Term {
        let (per, text) = (self.policy.queues[queue].per, self.policy.queues[queue].name.clone());
        let count = format!("queued.{text}{}", self.read(names.when));
        if self.state(&count, per) {
            let all = over_groups(&count, per, |value| at_most(int(0), value));
            self.assert("The number of waiting tasks is at least 0.", all);
            if let Some((_, at)) = self.occupied(queue) {
                let waits = self.of_group(&count, per, at);
                self.assert("A task waits in this queue all the time.", at_most(int(1), waits));
            }
        }
        self.held_still(queue, "queued", &count);
        self.of_group(&count, per, cpu)
    }

    /// The weights of those who wait there.
    pub(crate) fn queued_weight(&mut self, queue: usize, cpu: Term, names: &Names) -> Term {
        let (per, text) = (self.policy.queues[queue].per, self.policy.queues[queue].name.clone());
        let weight = format!("weight.{text}{}", self.read(names.when));
        let waiting = self.queued(queue, cpu.clone(), names);
        self.state(&weight, per);
        self.held_still(queue, "weight", &weight);
        let value = self.of_group(&weight, per, cpu);
        let most = Term::Op(crate::smt::Op::Times, vec![int(WEIGHT_MAX), waiting.clone()]);
        let bounds = and([at_most(waiting, value.clone()), at_most(value.clone(), most)]);
        match self.is_bound(&value) {
            false => self.assert("Each task that waits weighs 1 to 10 000.", bounds),
            true => self.assert_of_each("Each task that waits weighs 1 to 10 000.", &value, bounds),
        }
        value
    }

    /// The least key of the queue.
    pub(crate) fn min_key(&mut self, queue: usize, cpu: Term, names: &Names) -> Term {
        let (per, text) = (self.policy.queues[queue].per, self.policy.queues[queue].name.clone());
        let key = format!("min.{text}{}", self.read(names.when));
        self.state(&key, per);
        self.held_still(queue, "min", &key);
        self.of_group(&key, per, cpu)
    }

    /// The least key of a queue in each of these reads that were of such keys.
    pub(crate) fn min_keys_read(&mut self, queue: usize, cpu: &Term, reads: &[usize]) -> Vec<Term> {
        let (per, text) = (self.policy.queues[queue].per, self.policy.queues[queue].name.clone());
        let called = reads.iter().map(|read| format!("min.{text}.{read}"));
        let known: Vec<String> = called.filter(|name| self.declared.contains(name)).collect();
        known.into_iter().map(|name| self.of_group(&name, per, cpu.clone())).collect()
    }

    /// What is read of a queue that is locked is the same each time.
    fn held_still(&mut self, queue: usize, number: &str, read: &str) {
        let Some(at) = self.locked(queue) else { return };
        let (per, text) = (self.policy.queues[queue].per, self.policy.queues[queue].name.clone());
        let locked = format!("{number}.{text}.locked");
        self.state(&locked, per);
        let (a, b) = (self.of_group(read, per, at.clone()), self.of_group(&locked, per, at));
        self.assert("While the queue is locked, every read returns the same value.", equal(a, b));
    }

    fn occupied(&self, queue: usize) -> Option<(usize, Term)> {
        self.apart.as_ref()?.occupied.clone().filter(|(occupied, _)| *occupied == queue)
    }

    /// Whether a CPU runs a task.
    pub fn runs(&mut self, cpu: Term, names: &Names) -> Term {
        let runs = format!("runs{}", self.read(names.when));
        let new = self.function(&runs, &[cpu_sort()], Sort::Bool);
        if new && let Some(idle) = self.apart.as_ref().and_then(|held| held.idle.clone()) {
            self.assert("This CPU is idle all the time.", not(call(&runs, [idle])));
        }
        call(&runs, [cpu])
    }

    /// The weight of the task that a CPU runs; 0 if it runs none.
    pub(crate) fn running_weight(&mut self, cpu: Term, names: &Names) -> Term {
        let weight = format!("running_weight{}", self.read(names.when));
        let runs = self.runs(cpu.clone(), names);
        self.function(&weight, &[cpu_sort()], Sort::Int);
        let value = call(&weight, [cpu]);
        let some = and([at_most(int(1), value.clone()), at_most(value.clone(), int(WEIGHT_MAX))]);
        let bounds = choice(runs, some, equal(value.clone(), int(0)));
        let why = "A running task weighs 1 to 10 000; the weight on an idle CPU is 0.";
        match self.is_bound(&value) {
            false => self.assert(why, bounds),
            true => self.assert_of_each(why, &value, bounds),
        }
        value
    }

    /// That something holds of a number of any CPU, where the number is of one that is bound.
    fn assert_of_each(&mut self, why: &str, number: &Term, holds: Term) {
        let mut bound = Vec::new();
        self.bound_in(number, &mut bound);
        let over = bound.iter().map(|name| (name.as_str(), cpu_sort()));
        self.assert(why, forall(over, holds));
    }

    fn bound_in(&self, term: &Term, into: &mut Vec<String>) {
        match term {
            Term::Name(text) if !self.declared.contains(text) && !into.contains(text) => {
                into.push(text.clone());
            }
            Term::Call(_, inner) | Term::Op(_, inner) => {
                inner.iter().for_each(|term| self.bound_in(term, into));
            }
            Term::Name(_) | Term::Int(_) | Term::Bool(_) | Term::Quantified { .. } => {}
        }
    }

    /// How many CPUs a group has.
    pub(crate) fn size(&mut self, level: Level, cpu: Term) -> Term {
        if level == Level::Cpu {
            return int(1);
        }
        let size = format!("cpus.{}", level.name());
        if self.state(&size, level) {
            let all = over_groups(&size, level, |value| at_most(int(1), value));
            self.assert("Every group has at least one CPU.", all);
        }
        self.of_group(&size, level, cpu)
    }

    /// A variable of a CPU.
    pub(crate) fn cpu_var(&mut self, var: usize, cpu: Term, names: &Names) -> Term {
        let ending = match &self.apart {
            Some(_) => self.next_read(names.moment),
            None => names.moment.to_owned(),
        };
        let var = format!("var.{}{ending}", self.policy.cpu_vars[var].name);
        self.function(&var, &[cpu_sort()], Sort::Int);
        call(&var, [cpu])
    }

    /// Whether a term holds a variable of a quantifier, of which nothing can be said outside.
    pub(super) fn is_bound(&self, term: &Term) -> bool {
        match term {
            Term::Name(text) => !self.declared.contains(text),
            Term::Call(_, inner) | Term::Op(_, inner) => {
                inner.iter().any(|term| self.is_bound(term))
            }
            Term::Int(_) | Term::Bool(_) => false,
            Term::Quantified { .. } => true,
        }
    }

    /// Declares a function of groups; whether it is new.
    fn state(&mut self, called: &str, level: Level) -> bool {
        if !matches!(level, Level::Cpu | Level::Machine) {
            self.level(level);
        }
        let takes: Vec<Sort> = level_sort(level).into_iter().collect();
        self.function(called, &takes, Sort::Int)
    }

    fn of_group(&mut self, called: &str, level: Level, cpu: Term) -> Term {
        match self.group(level, cpu) {
            Some(group) => call(called, [group]),
            None => name(called),
        }
    }
}

fn over_groups(called: &str, level: Level, holds: impl Fn(Term) -> Term) -> Term {
    match level_sort(level) {
        Some(sort) => forall([("g", sort)], holds(call(called, [name("g")]))),
        None => holds(name(called)),
    }
}
