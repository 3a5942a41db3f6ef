//! One instant on a small machine, in terms of how many tasks there are of each kind.

use wastenot_model::CpuId;
use wastenot_rota::ir::Comparison;

use super::terms::{any, compares, either, times, total};
use crate::explore::{Place, Task, World};
use crate::smt::{Script, Sort, Term, int, name};

/// What can be asked about an instant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counts {
    /// How many wait: `queued[queue][group]`.
    pub(super) queued: Vec<Vec<Term>>,
    /// Their weights, added.
    pub(super) weight: Vec<Vec<Term>>,
    /// How many of them may run on a CPU: `able[queue][group][cpu]`.
    pub(super) able: Vec<Vec<Vec<Term>>>,
    /// How many tasks a CPU runs: one or none.
    pub(super) runs: Vec<Term>,
    /// The weight of that task, or 0.
    pub(super) running_weight: Vec<Term>,
    /// `vars[cpu][var]`
    pub(super) vars: Vec<Vec<Term>>,
}

impl Counts {
    /// There are no tasks.
    pub(super) fn nothing(world: &World<'_>) -> Counts {
        let cpus = world.cpus().len();
        let of_groups = || world.per.iter().map(|&per| vec![int(0); world.tree().count(per)]);
        let none = |groups: Vec<Term>| vec![vec![int(0); cpus]; groups.len()];
        let vars = world.vars().into_iter();
        Counts {
            queued: of_groups().collect(),
            weight: of_groups().collect(),
            able: of_groups().map(none).collect(),
            runs: vec![int(0); cpus],
            running_weight: vec![int(0); cpus],
            vars: vars.map(|vars| vars.into_iter().map(int).collect()).collect(),
        }
    }

    /// So many tasks of each kind.
    pub(super) fn of<'k>(
        world: &World<'_>,
        kinds: impl Iterator<Item = (&'k Task, Term)>,
    ) -> Counts {
        let mut counts = Counts::nothing(world);
        for (kind, many) in kinds {
            counts.add(kind, &many);
        }
        counts
    }

    /// So many more of a kind.
    pub(super) fn add(&mut self, kind: &Task, many: &Term) {
        let weight = times(many.clone(), kind.weight);
        match kind.place {
            Place::Waits { queue, group } => {
                push(&mut self.queued[queue][group], many.clone());
                push(&mut self.weight[queue][group], weight);
                for (cpu, able) in self.able[queue][group].iter_mut().enumerate() {
                    if kind.allowed(CpuId(cpu as u16)) {
                        push(able, many.clone());
                    }
                }
            }
            Place::Runs(cpu) => {
                push(&mut self.runs[cpu.index()], many.clone());
                push(&mut self.running_weight[cpu.index()], weight);
            }
            Place::Away => {}
        }
    }

    /// That of these of which the flag is set, or these here if none is. One at most is.
    pub(super) fn one_of(mut self, world: &World<'_>, mut others: Vec<(Term, Counts)>) -> Counts {
        let others: Vec<(Term, Vec<(String, &mut Term)>)> =
            others.iter_mut().map(|(flag, counts)| (flag.clone(), counts.terms(world))).collect();
        for (place, (_, term)) in self.terms(world).into_iter().enumerate() {
            // Many come to the same: each value is said once.
            let mut values: Vec<(Term, Vec<Term>)> = Vec::new();
            for (flag, terms) in &others {
                let value = &*terms[place].1;
                match values.iter_mut().find(|(known, _)| known == value) {
                    _ if value == term => {}
                    Some((_, flags)) => flags.push(flag.clone()),
                    None => values.push((value.clone(), vec![flag.clone()])),
                }
            }
            for (value, flags) in values {
                *term = either(any(flags), value, term.clone());
            }
        }
        self
    }

    /// The same under short names, which end in `when`.
    pub(super) fn named(mut self, world: &World<'_>, when: &str, script: &mut Script) -> Counts {
        for (called, term) in self.terms(world) {
            if matches!(term, Term::Op(..)) {
                let called = format!("{called}{when}");
                let body = std::mem::replace(term, name(&called));
                script.define(&called, [], Sort::Int, body);
            }
        }
        self
    }

    /// All terms, by names that tell what they are.
    fn terms(&mut self, world: &World<'_>) -> Vec<(String, &mut Term)> {
        let queues = &world.policy.queues;
        let mut all = Vec::new();
        for (word, counts) in [("queued", &mut self.queued), ("weight", &mut self.weight)] {
            for (groups, queue) in counts.iter_mut().zip(queues) {
                let groups = groups.iter_mut().enumerate();
                all.extend(groups.map(|(n, term)| (format!("{word}.{}.{n}", queue.name), term)));
            }
        }
        for (groups, queue) in self.able.iter_mut().zip(queues) {
            for (n, cpus) in groups.iter_mut().enumerate() {
                let cpus = cpus.iter_mut().enumerate();
                let called = |cpu: usize| format!("able.{}.{n}.{cpu}", queue.name);
                all.extend(cpus.map(|(cpu, term)| (called(cpu), term)));
            }
        }
        for (word, cpus) in [("runs", &mut self.runs), ("running", &mut self.running_weight)] {
            let cpus = cpus.iter_mut().enumerate();
            all.extend(cpus.map(|(cpu, term)| (format!("{word}.{cpu}"), term)));
        }
        for (cpu, vars) in self.vars.iter_mut().enumerate() {
            let vars = vars.iter_mut().zip(&world.policy.cpu_vars);
            all.extend(vars.map(|(term, var)| (format!("var.{cpu}.{}", var.name), term)));
        }
        all
    }
}

/// Whether there is one at least.
pub(super) fn some(many: Term) -> Term {
    compares(int(1), Comparison::LessOrEqual, many)
}

fn push(sum: &mut Term, many: Term) {
    *sum = total([std::mem::replace(sum, int(0)), many]);
}
