//! Numbers of which only bounds are said: times, weights, virtual time, and whatever is counted
//! over CPUs, whose number is not known.

use wastenot_rota::ir::{Aggregate, Level, Num, Place, Set};

use super::expr::{Encoded, bind};
use super::{Encoder, Names, NotEncoded, cpu_sort};
use crate::smt::{Term, and, at_most, choice, exists, forall, implies, int, less, name, not};

impl Encoder<'_> {
    /// The time passes between one moment and the next.
    pub(super) fn now(&mut self, names: &Names) -> Term {
        let now = self.at_least("now", int(0));
        if names.moment.is_empty() {
            return now;
        }
        let then = self.at_least(&format!("now{}", names.moment), int(0));
        self.assert("Time passes.", at_most(then.clone(), now));
        then
    }

    pub(super) fn param(&mut self, param: usize) -> Term {
        let called = format!("param.{}", self.policy.params[param].name);
        self.at_least(&called, int(0))
    }

    /// How many CPUs of a place run a task.
    pub(super) fn running(&mut self, place: &Place, names: &Names) -> Encoded {
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

    /// Virtual time: above zero if the time is, which is all that any proof needs.
    pub(super) fn scaled(&mut self, time: &Num, names: &Names) -> Encoded {
        let time = self.num(time, names)?;
        let value = self.any("scaled", names)?;
        let sign = |least: i64| {
            implies(at_most(int(least), time.clone()), at_most(int(least), value.clone()))
        };
        self.assert("Virtual time passes when time does.", and([sign(0), sign(1)]));
        Ok(value)
    }

    /// What is left of a number after some time.
    pub(super) fn decayed(&mut self, of: &Num, names: &Names) -> Encoded {
        let of = self.num(of, names)?;
        let value = self.any("decayed", names)?;
        let most = choice(less(of.clone(), int(0)), int(0), of);
        let bounds = and([at_most(int(0), value.clone()), at_most(value.clone(), most)]);
        self.assert("What decays grows no more.", bounds);
        Ok(value)
    }

    /// How many CPUs of a set meet a condition.
    pub(super) fn count(&mut self, set: &Set, names: &Names) -> Encoded {
        let count = self.any_at_least("count", int(0), names)?;
        if let Set::In(place) = set {
            let (level, cpu) = self.place(place, names)?;
            let size = self.size(level, cpu);
            self.assert("No more than there are.", at_most(count.clone(), size));
        }
        Ok(count)
    }

    /// An aggregate over CPUs: it is reached, and what it is of goes no further.
    pub(super) fn fold(
        &mut self,
        aggregate: Aggregate,
        (item, set, body): (usize, &Set, &Num),
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

    pub(super) fn any_at_least(&mut self, called: &str, least: Term, names: &Names) -> Encoded {
        let value = self.any(called, names)?;
        self.assert("It is no less.", at_most(least, value.clone()));
        Ok(value)
    }

    pub(super) fn at_least(&mut self, called: &str, least: Term) -> Term {
        if self.function(called, &[], crate::smt::Sort::Int) {
            self.assert("It is no less.", at_most(least, name(called)));
        }
        name(called)
    }

    pub(super) fn between(&mut self, called: &str, least: Term, most: Term) -> Term {
        if self.function(called, &[], crate::smt::Sort::Int) {
            let bounds = and([at_most(least, name(called)), at_most(name(called), most)]);
            self.assert("It is in its range.", bounds);
        }
        name(called)
    }
}
