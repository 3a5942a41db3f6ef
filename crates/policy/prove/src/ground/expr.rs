//! Expressions at one instant on a small machine. Places are known, so only numbers of tasks are
//! left open.

use wastenot_model::CpuId;
use wastenot_rota::Tree;
use wastenot_rota::eval::{At, Domain, Frame, Leaf, Look, decayed, scaled, until};
use wastenot_rota::ir::{Bool, Comparison, Num, Place, QueueAt, Set};

use super::counts::{Counts, some};
use super::terms::{all, any, compares, extreme, minus, one_if, over, times, total};
use crate::encode::NotEncoded;
use crate::explore::{Task, World};
use crate::smt::{Term, int, not};

pub(super) type Encoded<T = Term> = Result<T, NotEncoded>;

/// Numbers beyond this, about 10^12, are left to others: in the language numbers saturate.
const GREAT: i64 = 1 << 40;

/// The domain of terms: a term, or the reason why the expression has no term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms;

/// A number that does not depend on tasks.
fn known(num: Encoded) -> Encoded<i64> {
    match num? {
        Term::Int(number) => Ok(number),
        _ => Err(NotEncoded("virtual time that depends on a number of tasks")),
    }
}

impl Domain for Terms {
    type Num = Encoded;
    type Bool = Encoded;

    fn number(value: i64) -> Encoded {
        if value.abs() > GREAT { Err(NotEncoded("a great number")) } else { Ok(int(value)) }
    }
    fn truth(value: bool) -> Encoded {
        Ok(Term::Bool(value))
    }
    fn add(a: Encoded, b: Encoded) -> Encoded {
        Ok(total([a?, b?]))
    }
    fn sub(a: Encoded, b: Encoded) -> Encoded {
        Ok(minus(a?, b?))
    }
    fn min(a: Encoded, b: Encoded) -> Encoded {
        Ok(extreme(a?, b?, false))
    }
    fn max(a: Encoded, b: Encoded) -> Encoded {
        Ok(extreme(a?, b?, true))
    }
    fn times(a: Encoded, by: i64) -> Encoded {
        Ok(times(a?, by))
    }
    fn over(a: Encoded, by: i64) -> Encoded {
        Ok(over(a?, by))
    }
    fn scaled(time: Encoded, weight: Encoded) -> Encoded {
        Ok(int(scaled(known(time)?, known(weight)?)))
    }
    fn decayed(a: Encoded, time: Encoded, half: Encoded) -> Encoded {
        Ok(int(decayed(known(a)?, known(time)?, known(half)?)))
    }
    fn until(now: Encoded, period: Encoded) -> Encoded {
        Ok(int(until(known(now)?, known(period)?)))
    }
    fn one_if(condition: Encoded) -> Encoded {
        Ok(one_if(condition?))
    }
    fn compare(a: Encoded, how: Comparison, b: Encoded) -> Encoded {
        Ok(compares(a?, how, b?))
    }
    fn not(a: Encoded) -> Encoded {
        Ok(not(a?))
    }
    /// Evaluates all: one that has no term leaves none for the whole, whatever the others are.
    fn joined(every: bool, each: impl Iterator<Item = Encoded>) -> Encoded {
        let each: Vec<Term> = each.collect::<Encoded<_>>()?;
        Ok(if every { all(each) } else { any(each) })
    }
}

/// What expressions read at an instant.
#[derive(Clone, Debug)]
pub(super) struct Instant<'a, 'p> {
    pub(super) world: &'a World<'p>,
    pub(super) counts: Counts,
    /// The task that it is about: places depend on where it may run.
    task: Option<Task>,
}

impl Look for Instant<'_, '_> {
    type Domain = Terms;

    fn tree(&self) -> &Tree {
        self.world.tree()
    }
    fn allowed(&self, cpu: CpuId) -> bool {
        self.task.is_some_and(|task| task.allowed(cpu))
    }
    fn read(&self, leaf: Leaf) -> Encoded {
        let counts = &self.counts;
        Ok(match leaf {
            Leaf::Queued(queue, group) => counts.queued[queue][group].clone(),
            Leaf::QueuedWeight(queue, group) => counts.weight[queue][group].clone(),
            Leaf::Running(cpu) => counts.runs[cpu.index()].clone(),
            Leaf::RunningWeight(cpu) => counts.running_weight[cpu.index()].clone(),
            Leaf::CpuVar(var, cpu) => counts.vars[cpu.index()][var].clone(),
            Leaf::Weight => int(self.task.map_or(100, |task| task.weight)),
            // Keys and times are no part of a situation (`explore::Looking`).
            Leaf::MinKey(..) | Leaf::TaskVar(_) | Leaf::Job | Leaf::Ran | Leaf::Now => int(0),
        })
    }
}

/// The reader of expressions: what names stand for, and at which instant.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a, 'p> {
    pub(super) frame: Frame<Terms>,
    pub(super) at: Instant<'a, 'p>,
}

impl<'a, 'p> Reader<'a, 'p> {
    pub(super) fn new(
        world: &'a World<'p>,
        counts: &Counts,
        frame: Frame<Terms>,
    ) -> Reader<'a, 'p> {
        Reader { frame, at: Instant { world, counts: counts.clone(), task: None } }
    }

    /// The same about a task.
    pub(super) fn about(mut self, task: Task) -> Reader<'a, 'p> {
        self.at.task = Some(task);
        self
    }

    pub(super) fn place(&self, place: &Place) -> At {
        self.frame.place(&self.at, place)
    }

    pub(super) fn cpu(&self, place: &Place) -> CpuId {
        self.frame.cpu(&self.at, place)
    }

    /// Which queue it is, and whose.
    pub(super) fn queue(&self, at: &QueueAt) -> (usize, usize) {
        (at.queue, self.frame.queue(&self.at, at, self.at.world.per[at.queue]))
    }

    pub(super) fn set(&self, set: &Set) -> Vec<CpuId> {
        self.frame.set(&self.at, set)
    }

    /// A number.
    pub(super) fn num(&mut self, num: &Num) -> Encoded {
        self.frame.num(&self.at, &self.at.world.per, num)
    }

    /// A condition.
    pub(super) fn bool(&mut self, condition: &Bool) -> Encoded {
        self.frame.bool(&self.at, &self.at.world.per, condition)
    }

    /// Whether a CPU runs nobody.
    pub(super) fn idle(&self, cpu: CpuId) -> Term {
        not(some(self.at.counts.runs[cpu.index()].clone()))
    }
}
