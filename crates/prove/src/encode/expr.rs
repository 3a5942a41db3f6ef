//! Expressions as terms. An aggregate over CPUs, whose number is not known, is a number of which
//! only that is said which follows from what it is of.

use wastenot_rota::ir::{Aggregate, Bool, Comparison, Level, Num, Place, QueueAt, Set};

use super::{Encoder, Names, NotEncoded, cpu_sort};
use crate::smt::{
    Op, Term, and, at_most, choice, equal, exists, forall, implies, int, less, name, not, or,
};

type Encoded<T = Term> = Result<T, NotEncoded>;

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
    pub fn queue_cpu(&mut self, at: &QueueAt, names: &Names) -> Encoded {
        self.place(&at.at, names).map(|(_, cpu)| cpu)
    }

    /// A number.
    pub fn num(&mut self, num: &Num, names: &Names) -> Encoded {
        Ok(match num {
            Num::Const(value) => int(*value),
            Num::Param(param) => self.param(*param),
            Num::Local(slot) => {
                let local = names.locals.get(*slot).cloned().flatten();
                local.ok_or(NotEncoded("a number that is not known here"))?
            }
            Num::TaskVar(var) => match names.vars.get(*var) {
                Some(term) => term.clone(),
                None => self.number(&format!("t.{}", self.policy.task_vars[*var].name)),
            },
            Num::CpuVar(var, place) => {
                let (_, cpu) = self.place(place, names)?;
                self.cpu_var(*var, cpu, names)
            }
            Num::Weight => self.between("t.weight", int(1), int(10_000)),
            Num::Job => self.at_least("t.job", int(0)),
            Num::Ran => self.at_least("ran", int(0)),
            Num::Now => self.now(names),
            Num::Cpus(place) => {
                let (level, cpu) = self.place(place, names)?;
                self.size(level, cpu)
            }
            Num::Queued(at) => {
                let cpu = self.queue_cpu(at, names)?;
                self.queued(at.queue, cpu, names)
            }
            Num::QueuedWeight(at) => {
                let cpu = self.queue_cpu(at, names)?;
                self.queued_weight(at.queue, cpu, names)
            }
            Num::MinKey(at) => {
                let cpu = self.queue_cpu(at, names)?;
                self.min_key(at.queue, cpu, names)
            }
            Num::Running(place) => self.running(place, names)?,
            Num::RunningWeight(place) => match self.place(place, names)? {
                (Level::Cpu, cpu) => self.running_weight(cpu, names),
                _ => self.any_at_least("weights", int(0), names)?,
            },
            Num::Add(a, b) => self.num(a, names)? + self.num(b, names)?,
            Num::Sub(a, b) => self.num(a, names)? - self.num(b, names)?,
            Num::Min(a, b) => {
                let (a, b) = (self.num(a, names)?, self.num(b, names)?);
                choice(less(a.clone(), b.clone()), a, b)
            }
            Num::Max(a, b) => {
                let (a, b) = (self.num(a, names)?, self.num(b, names)?);
                choice(less(a.clone(), b.clone()), b, a)
            }
            Num::Times(a, by) => Term::Op(Op::Times, vec![int(*by), self.num(a, names)?]),
            Num::Over(a, by) => Term::Op(Op::Div, vec![self.num(a, names)?, int(*by)]),
            Num::Scaled(time, _) => {
                // Above zero if the time is: all that any proof needs.
                let time = self.num(time, names)?;
                let value = self.any("scaled", names)?;
                let sign = |least: i64| {
                    implies(at_most(int(least), time.clone()), at_most(int(least), value.clone()))
                };
                self.assert("Virtual time passes when time does.", and([sign(0), sign(1)]));
                value
            }
            Num::Decayed(of, ..) => {
                let of = self.num(of, names)?;
                let value = self.any("decayed", names)?;
                let most = choice(less(of.clone(), int(0)), int(0), of);
                let bounds = and([at_most(int(0), value.clone()), at_most(value.clone(), most)]);
                self.assert("What decays grows no more.", bounds);
                value
            }
            Num::Until(_) => self.any_at_least("until", int(1), names)?,
            Num::Seen(index, now) => match names.seen.get(*index) {
                Some(then) => then.clone(),
                None => self.num(now, names)?,
            },
            Num::Fold { aggregate, item, set, body } => {
                self.fold(*aggregate, *item, set, body, names)?
            }
            Num::Count { set, .. } => {
                let count = self.any_at_least("count", int(0), names)?;
                if let Set::In(place) = set {
                    let (level, cpu) = self.place(place, names)?;
                    let size = self.size(level, cpu);
                    self.assert("No more than there are.", at_most(count.clone(), size));
                }
                count
            }
        })
    }

    /// The time passes between one state and the next.
    fn now(&mut self, names: &Names) -> Term {
        let now = self.at_least("now", int(0));
        if names.when.is_empty() {
            return now;
        }
        let then = self.at_least(&format!("now{}", names.when), int(0));
        self.assert("Time passes.", at_most(then.clone(), now));
        then
    }

    fn param(&mut self, param: usize) -> Term {
        let called = format!("param.{}", self.policy.params[param].name);
        self.at_least(&called, int(0))
    }

    /// How many CPUs of a place run a task.
    fn running(&mut self, place: &Place, names: &Names) -> Encoded {
        let (level, cpu) = self.place(place, names)?;
        if level == Level::Cpu {
            let runs = self.runs(cpu, names);
            return Ok(choice(runs, int(1), int(0)));
        }
        let count = self.any_at_least("running", int(0), names)?;
        let size = self.size(level, cpu.clone());
        self.assert("No more run than there are.", at_most(count.clone(), size.clone()));
        if let Some((_, me)) = names.me.clone() {
            let (here, runs) = (self.same(level, me.clone(), cpu), self.runs(me, names));
            let fewer = implies(and([here, not(runs)]), less(count.clone(), size));
            self.assert("I am one of them, and may be idle.", fewer);
        }
        Ok(count)
    }

    /// An aggregate over CPUs: it is reached, and what it is of goes no further.
    fn fold(
        &mut self,
        aggregate: Aggregate,
        item: usize,
        set: &Set,
        body: &Num,
        names: &Names,
    ) -> Encoded {
        let value = self.any("aggregate", names)?;
        if aggregate == Aggregate::Sum {
            return Ok(value);
        }
        let bound = format!("c{item}");
        let (inside, of_each) = self.of_each(item, &bound, set, body, names)?;
        let over = || [(bound.as_str(), cpu_sort())];
        let reached = |least: bool| {
            let reached = match least {
                true => at_most(of_each.clone(), value.clone()),
                false => at_most(value.clone(), of_each.clone()),
            };
            exists(over(), and([inside.clone(), reached]))
        };
        let limit = |least: bool| {
            let limit = match least {
                true => at_most(value.clone(), of_each.clone()),
                false => at_most(of_each.clone(), value.clone()),
            };
            forall(over(), implies(inside.clone(), limit))
        };
        let known = match aggregate {
            Aggregate::Min => and([reached(true), limit(true)]),
            Aggregate::Max => and([reached(false), limit(false)]),
            // Between the least and the greatest; and where some are below it others are above.
            _ => {
                let some = |holds: Term| exists(over(), and([inside.clone(), holds]));
                let below = some(less(of_each.clone(), value.clone()));
                let above = some(less(value.clone(), of_each.clone()));
                and([reached(true), reached(false), implies(below, above)])
            }
        };
        self.assert("What an aggregate is.", known);
        Ok(value)
    }

    /// Whether a bound CPU is in the set, and the body for it.
    fn of_each(
        &mut self,
        item: usize,
        bound: &str,
        set: &Set,
        body: &Num,
        names: &Names,
    ) -> Encoded<(Term, Term)> {
        let inside = self.inside(set, name(bound), names)?;
        let inner = bind(names, item, bound);
        Ok((inside, self.num(body, &inner)?))
    }

    fn inside(&mut self, set: &Set, cpu: Term, names: &Names) -> Encoded {
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

    /// A number under a name of its own. Within a fold it would have to be a function of its
    /// member, and where any CPU looks, of that CPU: that is not put into words.
    fn any(&mut self, called: &str, names: &Names) -> Encoded {
        if !names.items.is_empty() {
            return Err(NotEncoded("an aggregate within an aggregate"));
        }
        if names.me.as_ref().is_some_and(|(_, me)| self.is_bound(me)) {
            return Err(NotEncoded("an aggregate that any CPU reads"));
        }
        let called = self.fresh(called);
        Ok(self.number(&called))
    }

    fn any_at_least(&mut self, called: &str, least: Term, names: &Names) -> Encoded {
        let value = self.any(called, names)?;
        self.assert("It is no less.", at_most(least, value.clone()));
        Ok(value)
    }

    fn at_least(&mut self, called: &str, least: Term) -> Term {
        if self.function(called, &[], crate::smt::Sort::Int) {
            self.assert("It is no less.", at_most(least, name(called)));
        }
        name(called)
    }

    fn between(&mut self, called: &str, least: Term, most: Term) -> Term {
        if self.function(called, &[], crate::smt::Sort::Int) {
            let bounds = and([at_most(least, name(called)), at_most(name(called), most)]);
            self.assert("It is in its range.", bounds);
        }
        name(called)
    }
}

fn bind(names: &Names, item: usize, bound: &str) -> Names {
    let mut inner = names.clone();
    inner.items.resize(item, name(bound));
    inner.items.push(name(bound));
    inner
}
