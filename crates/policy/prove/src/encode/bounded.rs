//! Numbers of which only bounds are said: times, weights, virtual time, and whatever is counted
//! over CPUs, whose number is not known.

use wastenot_rota::ir::{Aggregate, Bool, Level, Num, Place, Set, Variable, Visitor};
use wastenot_rota::ir::{visit_bool, visit_num};

use super::expr::{Encoded, bind};
use super::{Encoder, Names, NotEncoded, cpu_sort};
use crate::smt::{
    Term, and, at_most, choice, equal, exists, forall, implies, int, less, name, not,
};

impl Encoder<'_> {
    /// The time passes between one moment and the next.
    pub(super) fn now(&mut self, names: &Names) -> Term {
        let now = self.at_least("now", int(0));
        if names.moment.is_empty() {
            return now;
        }
        let then = self.at_least(&format!("now{}", names.moment), int(0));
        self.assert("Time never decreases.", at_most(then.clone(), now));
        then
    }

    pub(super) fn param(&mut self, param: usize) -> Term {
        let Variable { name, value, .. } = &self.policy.params[param];
        let called = format!("param.{name}");
        if !self.declared.contains(&called) {
            self.script.usually(&called, *value);
        }
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
        self.assert(
            "The number of CPUs of the place that run a task is at most the number of all its \
             CPUs.",
            at_most(count.clone(), size.clone()),
        );
        if let Some((_, me)) = names.me.clone() {
            let (here, runs) = (self.same(level, me.clone(), cpu), self.runs(me, names));
            let fewer = implies(and([here, not(runs)]), less(count.clone(), size));
            self.assert(
                "If this CPU is in the place and idle, not all CPUs of the place run a task.",
                fewer,
            );
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
        self.assert(
            "If the time is at least 0, the virtual time is at least 0. If the time is at least 1, \
             the virtual time is at least 1.",
            and([sign(0), sign(1)]),
        );
        Ok(value)
    }

    /// What is left of a number after some time.
    pub(super) fn decayed(&mut self, of: &Num, names: &Names) -> Encoded {
        let of = self.num(of, names)?;
        let value = self.any("decayed", names)?;
        let most = choice(less(of.clone(), int(0)), int(0), of);
        let bounds = and([at_most(int(0), value.clone()), at_most(value.clone(), most)]);
        self.assert(
            "A decayed value is between 0 and the original value. If the original value is \
             negative, the decayed value is 0.",
            bounds,
        );
        Ok(value)
    }

    /// How many CPUs of a set meet a condition: some if one does, several if two do, all if each
    /// does.
    pub(super) fn count(
        &mut self,
        (item, set, body): (usize, &Set, &Bool),
        names: &Names,
    ) -> Encoded {
        let mut asks = Asks::default();
        visit_bool(body, &mut asks);
        let count = self.of_some("count", asks.about_me(set), names)?;
        self.assert("A count is at least 0.", at_most(int(0), count.clone()));
        let bound = format!("c{item}");
        let inside = self.inside(set, name(&bound), names)?;
        let Ok(meets) = self.bool(body, &bind(names, item, &bound)) else {
            // Of what has no words only the size is known.
            self.at_most_all(set, &count, names)?;
            return Ok(count);
        };
        let other = format!("d{item}");
        let met = and([inside.clone(), meets.clone()]);
        let second = met.of_another(&bound, &other);
        let over = || [(bound.as_str(), cpu_sort())];
        let some = exists(over(), met.clone());
        self.assert(
            "The count is at least 1 exactly if some CPU meets the condition.",
            equal(some, at_most(int(1), count.clone())),
        );
        let same = implies(and([met, second]), equal(name(&bound), name(&other)));
        let both = [(bound.as_str(), cpu_sort()), (other.as_str(), cpu_sort())];
        let one = forall(both, same);
        self.assert(
            "The count is at most 1 exactly if no two CPUs meet the condition.",
            equal(one, at_most(count.clone(), int(1))),
        );
        if let Some(size) = self.at_most_all(set, &count, names)? {
            let all = forall(over(), implies(inside, meets));
            self.assert(
                "The count is the number of CPUs exactly if all CPUs meet the condition.",
                equal(all, equal(count.clone(), size)),
            );
        }
        Ok(count)
    }

    /// A number of CPUs of a set: no more than it has. How many it has, where that is known.
    fn at_most_all(&mut self, set: &Set, count: &Term, names: &Names) -> Encoded<Option<Term>> {
        let Set::In(place) = set else { return Ok(None) };
        let (level, cpu) = self.place(place, names)?;
        let size = self.size(level, cpu);
        self.assert(
            "The count is at most the number of CPUs in the place.",
            at_most(count.clone(), size.clone()),
        );
        Ok(Some(size))
    }

    /// A sum over CPUs, of which solvers know no induction: that it is no less than each part where
    /// no part is negative, and the like.
    fn sum_of(
        &mut self,
        set: &Set,
        (bound, inside, part): (&str, Term, Term),
        names: &Names,
    ) -> Encoded {
        let value = self.number_called("sum");
        let over = || [(bound, cpu_sort())];
        let each = |holds: Term| forall(over(), implies(inside.clone(), holds));
        for (no_less, why) in [
            (true, "If no summand is negative, the sum is at least 0 and at least each summand."),
            (false, "If no summand is positive, the sum is at most 0 and at most each summand."),
        ] {
            let ordered = |a: Term, b: Term| if no_less { at_most(a, b) } else { at_most(b, a) };
            let parts = each(ordered(int(0), part.clone()));
            let whole =
                and([ordered(int(0), value.clone()), each(ordered(part.clone(), value.clone()))]);
            self.assert(why, implies(parts, whole));
        }
        if let Set::In(place) = set {
            let (level, cpu) = self.place(place, names)?;
            let size = self.size(level, cpu);
            let ones = each(at_most(part.clone(), int(1)));
            let most = implies(ones, at_most(value.clone(), size.clone()));
            let least = implies(each(at_most(int(1), part)), at_most(size, value.clone()));
            self.assert(
                "If all summands are at most 1, the sum is at most the number of CPUs. If all \
                 summands are at least 1, the sum is at least this number.",
                and([most, least]),
            );
        }
        Ok(value)
    }

    /// An aggregate over CPUs: it is reached, and what it is of goes no further.
    pub(super) fn fold(
        &mut self,
        aggregate: Aggregate,
        (item, set, body): (usize, &Set, &Num),
        names: &Names,
    ) -> Encoded {
        let mut asks = Asks::default();
        visit_num(body, &mut asks);
        let value = self.of_some("aggregate", asks.about_me(set), names)?;
        let bound = format!("c{item}");
        let parts = self.of_each(item, &bound, set, body, names);
        if aggregate == Aggregate::Sum {
            // Of parts that have no words it may be any number.
            let Ok((inside, part)) = parts else { return Ok(value) };
            return self.sum_of(set, (&bound, inside, part), names);
        }
        let (inside, of_each) = parts?;
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
        self.assert(
            "The aggregate is the least operand, the greatest operand, or a mean of all operands.",
            known,
        );
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
        self.of_some(called, true, names)
    }

    /// The same; `about_me`: whether it is another one for each CPU that looks.
    fn of_some(&mut self, called: &str, about_me: bool, names: &Names) -> Encoded {
        if !names.items.is_empty() {
            return Err(NotEncoded("an aggregate within an aggregate"));
        }
        if about_me && names.me.as_ref().is_some_and(|(_, me)| self.is_bound(me)) {
            return Err(NotEncoded("an aggregate that any CPU reads"));
        }
        Ok(self.number_called(called))
    }

    fn number_called(&mut self, called: &str) -> Term {
        let called = self.fresh(called);
        self.number(&called)
    }

    pub(super) fn any_at_least(&mut self, called: &str, least: Term, names: &Names) -> Encoded {
        let value = self.any(called, names)?;
        self.assert("The number is at least its lower bound.", at_most(least, value.clone()));
        Ok(value)
    }

    pub(super) fn at_least(&mut self, called: &str, least: Term) -> Term {
        if self.function(called, &[], crate::smt::Sort::Int) {
            self.assert("The number is at least its lower bound.", at_most(least, name(called)));
        }
        name(called)
    }

    pub(super) fn between(&mut self, called: &str, least: Term, most: Term) -> Term {
        if self.function(called, &[], crate::smt::Sort::Int) {
            let bounds = and([at_most(least, name(called)), at_most(name(called), most)]);
            self.assert("The number is within its range.", bounds);
        }
        name(called)
    }
}

/// Whether an expression asks about who looks.
#[derive(Default)]
struct Asks {
    me: bool,
}

impl Asks {
    /// The same of an aggregate of it over a set.
    fn about_me(&mut self, set: &Set) -> bool {
        if let Set::In(place) = set {
            self.place(place);
        }
        self.me
    }
}

impl Visitor for Asks {
    fn place(&mut self, place: &Place) {
        match place {
            Place::Of(_, inner) => self.place(inner),
            place => self.me |= matches!(place, Place::Me | Place::Here),
        }
    }
}
