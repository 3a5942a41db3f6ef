//! Expressions at one instant on a small machine. Places are known, so only numbers of tasks are
//! left open.

use wastenot_model::CpuId;
use wastenot_rota::eval::{At, Frame, decayed, scaled, until};
use wastenot_rota::ir::{Aggregate, Bool, Num, Place, QueueAt, Set};

use super::counts::{Counts, some};
use super::terms::{all, any, compares, extreme, minus, one_if, over, times, total};
use crate::encode::NotEncoded;
use crate::explore::{Situation, Task, World};
use crate::smt::{Term, int, not};

pub(super) type Encoded<T = Term> = Result<T, NotEncoded>;

/// Numbers beyond this, about 10^12, are left to others: in the language numbers saturate.
const GREAT: i64 = 1 << 40;

/// Whoever works out expressions: what names stand for, and when.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a, 'p> {
    pub(super) world: &'a World<'p>,
    pub(super) counts: Counts,
    /// What places are.
    pub(super) frame: Frame,
    /// Slots of numbers.
    pub(super) locals: Vec<Term>,
    /// What numbers were when the filter was asked.
    pub(super) seen: Vec<Term>,
    /// The task that it is about, alone: places depend on where it may run.
    alone: Situation,
}

impl<'a, 'p> Reader<'a, 'p> {
    pub(super) fn new(world: &'a World<'p>, counts: &Counts, frame: Frame) -> Reader<'a, 'p> {
        let (locals, seen) = (Vec::new(), Vec::new());
        let alone = Situation { tasks: Vec::new(), vars: Vec::new() };
        Reader { world, counts: counts.clone(), frame, locals, seen, alone }
    }

    /// The same about a task.
    pub(super) fn about(mut self, task: Task) -> Reader<'a, 'p> {
        self.alone.tasks = vec![task];
        self
    }

    pub(super) fn place(&self, place: &Place) -> At {
        self.frame.place(&self.world.look(&self.alone, Some(0)), place)
    }

    pub(super) fn cpu(&self, place: &Place) -> CpuId {
        let at = self.place(place);
        self.world.tree().members(at.level, at.group)[0]
    }

    /// Which queue it is, and whose.
    pub(super) fn queue(&self, at: &QueueAt) -> (usize, usize) {
        let look = self.world.look(&self.alone, Some(0));
        (at.queue, self.frame.queue(&look, at, self.world.per[at.queue]))
    }

    pub(super) fn set(&self, set: &Set) -> Vec<CpuId> {
        match set {
            Set::In(place) => self.members(place),
            Set::Allowed => {
                let cpus = self.world.cpus().iter().copied();
                cpus.filter(|&cpu| self.allowed(cpu)).collect()
            }
        }
    }

    fn members(&self, place: &Place) -> Vec<CpuId> {
        let at = self.place(place);
        self.world.tree().members(at.level, at.group).to_vec()
    }

    fn allowed(&self, cpu: CpuId) -> bool {
        self.alone.tasks.first().is_some_and(|task| task.allowed(cpu))
    }

    /// A number.
    pub(super) fn num(&mut self, num: &Num) -> Encoded {
        Ok(match num {
            Num::Const(value) if value.abs() > GREAT => return Err(NotEncoded("a great number")),
            Num::Const(value) => int(*value),
            Num::Param(param) => self.num(&Num::Const(self.frame.params[*param]))?,
            Num::Local(slot) => {
                let local = self.locals.get(*slot).cloned();
                local.ok_or(NotEncoded("a number that is not known here"))?
            }
            Num::CpuVar(var, place) => self.counts.vars[self.cpu(place).index()][*var].clone(),
            Num::Weight => int(self.alone.tasks.first().map_or(100, |task| task.weight)),
            // Keys and times are no part of a situation (`explore::Looking`).
            Num::TaskVar(_) | Num::Job | Num::Ran | Num::Now | Num::MinKey(_) => int(0),
            Num::Cpus(place) => int(self.members(place).len() as i64),
            Num::Queued(at) => {
                let (queue, group) = self.queue(at);
                self.counts.queued[queue][group].clone()
            }
            Num::QueuedWeight(at) => {
                let (queue, group) = self.queue(at);
                self.counts.weight[queue][group].clone()
            }
            Num::Running(place) => {
                let members = self.members(place).into_iter();
                total(members.map(|cpu| self.counts.runs[cpu.index()].clone()))
            }
            Num::RunningWeight(place) => {
                let members = self.members(place).into_iter();
                total(members.map(|cpu| self.counts.running_weight[cpu.index()].clone()))
            }
            Num::Add(a, b) => total([self.num(a)?, self.num(b)?]),
            Num::Sub(a, b) => minus(self.num(a)?, self.num(b)?),
            Num::Min(a, b) => extreme(self.num(a)?, self.num(b)?, false),
            Num::Max(a, b) => extreme(self.num(a)?, self.num(b)?, true),
            Num::Times(a, by) => times(self.num(a)?, *by),
            Num::Over(a, by) => over(self.num(a)?, *by),
            Num::Scaled(time, weight) => int(scaled(self.known(time)?, self.known(weight)?)),
            Num::Decayed(of, time, half) => {
                int(decayed(self.known(of)?, self.known(time)?, self.known(half)?))
            }
            Num::Until(period) => int(until(0, self.known(period)?)),
            Num::Seen(index, now) => match self.seen.get(*index) {
                Some(then) => then.clone(),
                None => self.num(now)?,
            },
            Num::Fold { aggregate, item, set, body } => {
                let values: Encoded<Vec<Term>> =
                    self.set(set).into_iter().map(|cpu| self.bound(*item, cpu).num(body)).collect();
                folded(*aggregate, values?)
            }
            Num::Count { item, set, body } => {
                let meets: Encoded<Vec<Term>> = self
                    .set(set)
                    .into_iter()
                    .map(|cpu| self.bound(*item, cpu).bool(body))
                    .collect();
                total(meets?.into_iter().map(one_if))
            }
        })
    }

    /// A number that does not depend on tasks.
    fn known(&mut self, num: &Num) -> Encoded<i64> {
        match self.num(num)? {
            Term::Int(number) => Ok(number),
            _ => Err(NotEncoded("virtual time of a number of tasks")),
        }
    }

    fn bound(&mut self, item: usize, cpu: CpuId) -> &mut Self {
        self.frame.bind(item, cpu);
        self
    }

    /// A condition.
    pub(super) fn bool(&mut self, condition: &Bool) -> Encoded {
        Ok(match condition {
            Bool::Const(value) => Term::Bool(*value),
            Bool::Compare(a, how, b) => compares(self.num(a)?, *how, self.num(b)?),
            Bool::And(a, b) => all([self.bool(a)?, self.bool(b)?]),
            Bool::Or(a, b) => any([self.bool(a)?, self.bool(b)?]),
            Bool::Not(a) => not(self.bool(a)?),
            Bool::Idle(place) => self.idle(self.cpu(place)),
            Bool::Allowed(place) => Term::Bool(self.allowed(self.cpu(place))),
            Bool::Found(slot) => {
                Term::Bool(self.frame.slots.get(*slot).is_some_and(Option::is_some))
            }
            Bool::Within(a, b) => Term::Bool(self.within(self.place(a), self.place(b))),
            Bool::Quantified { all: every, item, set, body } => {
                let meets: Encoded<Vec<Term>> = self
                    .set(set)
                    .into_iter()
                    .map(|cpu| self.bound(*item, cpu).bool(body))
                    .collect();
                if *every { all(meets?) } else { any(meets?) }
            }
        })
    }

    /// Whether a CPU runs nobody.
    pub(super) fn idle(&self, cpu: CpuId) -> Term {
        not(some(self.counts.runs[cpu.index()].clone()))
    }

    /// Whether all CPUs of the first are in the second, which is no narrower.
    fn within(&self, a: At, b: At) -> bool {
        let tree = self.world.tree();
        let inside = |cpu: &CpuId| tree.group(b.level, *cpu) == b.group;
        a.level <= b.level && tree.members(a.level, a.group).iter().all(inside)
    }
}

fn folded(aggregate: Aggregate, values: Vec<Term>) -> Term {
    let count = values.len().max(1) as i64;
    match aggregate {
        Aggregate::Sum => total(values),
        Aggregate::Mean => over(total(values), count),
        Aggregate::Min | Aggregate::Max => {
            let greatest = aggregate == Aggregate::Max;
            let best = values.into_iter().reduce(|a, b| extreme(a, b, greatest));
            best.unwrap_or(int(0))
        }
    }
}
