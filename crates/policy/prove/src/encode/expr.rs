//! Expressions as terms.

use wastenot_rota::ir::{Bool, Comparison, Level, Num, Place, QueueAt, Set};

use super::{Encoder, Names, NotEncoded, cpu_sort};
use crate::smt::{
    Op, Term, and, at_most, choice, equal, exists, forall, implies, int, less, name, not, or,
};

pub(super) type Encoded<T = Term> = Result<T, NotEncoded>;

const UNKNOWN_PLACE: NotEncoded = NotEncoded("a place that is not known here");

impl Encoder<'_> {
    /// A place: its level, and one of its CPUs.
    pub fn place(&mut self, place: &Place, names: &Names) -> Encoded<(Level, Term)> {
        let cpu =
            |term: &Option<Term>| term.clone().map(|term| (Level::Cpu, term)).ok_or(UNKNOWN_PLACE);
        match place {
            Place::Me => names.me.clone().ok_or(UNKNOWN_PLACE),
            Place::Other => names.other.clone().ok_or(UNKNOWN_PLACE),
            Place::Here => cpu(&names.here),
            Place::Prev => cpu(&names.prev),
            Place::Home => cpu(&names.home),
            Place::Slot(slot) => cpu(names.slots.get(*slot).unwrap_or(&None)),
            Place::Item(item) => cpu(&names.items.get(*item).cloned()),
            Place::Machine => {
                let any = self.cpu("any");
                Ok((Level::Machine, any))
            }
            Place::Of(level, inner) => {
                let (_, cpu) = self.place(inner, names)?;
                Ok((*level, cpu))
            }
        }
    }

    /// One of the CPUs whose queue it is.
    pub(crate) fn queue_cpu(&mut self, at: &QueueAt, names: &Names) -> Encoded {
        self.place(&at.at, names).map(|(_, cpu)| cpu)
    }

    /// A number.
    pub fn num(&mut self, num: &Num, names: &Names) -> Encoded {
        Ok(match num {
            Num::Const(value) => int(*value),
            Num::Param(param) => self.param(*param),
            Num::Local(slot) => local(*slot, names)?,
            Num::TaskVar(var) => self.task_var(*var, names),
            Num::CpuVar(var, place) => {
                let (_, cpu) = self.place(place, names)?;
                self.cpu_var(*var, cpu, names)
            }
            Num::Weight => self.between(&format!("t.weight{}", names.moment), int(1), int(10_000)),
            Num::Job => self.at_least(&format!("t.job{}", names.moment), int(0)),
            Num::Ran => self.at_least("ran", int(0)),
            Num::Now => self.now(names),
            Num::Cpus(place) => {
                let (level, cpu) = self.place(place, names)?;
                self.size(level, cpu)
            }
            Num::Queued(at) => self.of_queue(at, names, Encoder::queued)?,
            Num::QueuedWeight(at) => self.of_queue(at, names, Encoder::queued_weight)?,
            Num::MinKey(at) => self.of_queue(at, names, Encoder::min_key)?,
            Num::Running(place) => self.running(place, names)?,
            Num::RunningWeight(place) => match self.place(place, names)? {
                (Level::Cpu, cpu) => self.running_weight(cpu, names),
                _ => self.any_at_least("weights", int(0), names)?,
            },
            Num::Add(a, b) => self.num(a, names)? + self.num(b, names)?,
            Num::Sub(a, b) => self.num(a, names)? - self.num(b, names)?,
            Num::Min(a, b) => extreme(self.num(a, names)?, self.num(b, names)?, false),
            Num::Max(a, b) => extreme(self.num(a, names)?, self.num(b, names)?, true),
            Num::Times(a, by) => Term::Op(Op::Times, vec![int(*by), self.num(a, names)?]),
            Num::Over(a, by) => Term::Op(Op::Div, vec![self.num(a, names)?, int(*by)]),
            Num::Scaled(time, _) => self.scaled(time, names)?,
            Num::Decayed(of, ..) => self.decayed(of, names)?,
            Num::Until(_) => self.any_at_least("until", int(1), names)?,
            Num::Seen(index, now) => match names.seen.get(*index) {
                Some(then) => then.clone(),
                None => self.num(now, names)?,
            },
            Num::Fold { aggregate, item, set, body } => {
                self.fold(*aggregate, (*item, set, body), names)?
            }
            Num::Count { item, set, body } => self.count((*item, set, body), names)?,
        })
    }

    fn task_var(&mut self, var: usize, names: &Names) -> Term {
        match names.vars.get(var) {
            Some(term) => term.clone(),
            None => {
                let called = format!("t.{}{}", self.policy.task_vars[var].name, names.moment);
                self.number(&called)
            }
        }
    }

    /// A number of a queue: which, of the group of which CPU.
    fn of_queue(
        &mut self,
        at: &QueueAt,
        names: &Names,
        number: fn(&mut Self, usize, Term, &Names) -> Term,
    ) -> Encoded {
        let cpu = self.queue_cpu(at, names)?;
        Ok(number(self, at.queue, cpu, names))
    }

    pub(super) fn inside(&mut self, set: &Set, cpu: Term, names: &Names) -> Encoded {
        match set {
            Set::Allowed => Ok(self.allowed(cpu)),
            Set::In(place) => {
                let (level, of) = self.place(place, names)?;
                Ok(self.same(level, cpu, of))
            }
        }
    }

    /// A condition.
    pub fn bool(&mut self, condition: &Bool, names: &Names) -> Encoded {
        Ok(match condition {
            Bool::Const(value) => Term::Bool(*value),
            Bool::Compare(a, how, b) => {
                let (a, b) = (self.num(a, names)?, self.num(b, names)?);
                match how {
                    Comparison::Less => less(a, b),
                    Comparison::LessOrEqual => at_most(a, b),
                    Comparison::Equal => equal(a, b),
                    Comparison::NotEqual => not(equal(a, b)),
                }
            }
            Bool::And(a, b) => and([self.bool(a, names)?, self.bool(b, names)?]),
            Bool::Or(a, b) => or([self.bool(a, names)?, self.bool(b, names)?]),
            Bool::Not(a) => not(self.bool(a, names)?),
            Bool::Idle(place) => {
                let (_, cpu) = self.place(place, names)?;
                not(self.runs(cpu, names))
            }
            Bool::Allowed(place) => {
                let (_, cpu) = self.place(place, names)?;
                self.allowed(cpu)
            }
            Bool::Found(_) => return Err(NotEncoded("whether an idle CPU is found")),
            Bool::Within(a, b) => {
                let ((narrow, a), (wide, b)) = (self.place(a, names)?, self.place(b, names)?);
                if wide < narrow { Term::Bool(false) } else { self.same(wide, a, b) }
            }
            Bool::Quantified { all, item, set, body } => {
                let bound = format!("c{item}");
                let inside = self.inside(set, name(&bound), names)?;
                let body = self.bool(body, &bind(names, *item, &bound))?;
                let over = [(bound.as_str(), cpu_sort())];
                match all {
                    true => forall(over, implies(inside, body)),
                    false => exists(over, and([inside, body])),
                }
            }
        })
    }
}

/// A slot of numbers.
fn local(slot: usize, names: &Names) -> Encoded {
    let local = names.locals.get(slot).cloned().flatten();
    local.ok_or(NotEncoded("a number that is not known here"))
}

/// The greater of two, or the lesser.
fn extreme(a: Term, b: Term, greatest: bool) -> Term {
    let first = less(a.clone(), b.clone());
    if greatest { choice(first, b, a) } else { choice(first, a, b) }
}

pub(super) fn bind(names: &Names, item: usize, bound: &str) -> Names {
    let mut inner = names.clone();
    inner.items.resize(item, name(bound));
    inner.items.push(name(bound));
    inner
}
