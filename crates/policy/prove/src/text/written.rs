//! Conditions and numbers in the syntax of the language, for messages. The names that the text
//! gives to CPUs are not kept: the CPU that balances is `me`, its candidate `v`.

use wastenot_rota::ir::{
    Aggregate, Bool, Comparison, Dimension, Num, Place, Policy, QueueAt, Set, Visitor, visit_num,
};

/// A condition as a text would have it.
pub(crate) fn condition(policy: &Policy, condition: &Bool) -> String {
    Writing { policy }.bool(condition, Binds::Nothing)
}

/// A number as a text would have it.
pub(crate) fn number(policy: &Policy, num: &Num) -> String {
    Writing { policy }.num(num, Binds::Nothing, false)
}

/// A place as balances write it.
pub(crate) fn place(of: &Place) -> String {
    match of {
        Place::Me | Place::Here => "me".to_owned(),
        Place::Other => "v".to_owned(),
        Place::Machine => "machine".to_owned(),
        Place::Of(level, inner) => format!("{}({})", level.name(), place(inner)),
        Place::Item(depth) => member(*depth).to_owned(),
        Place::Prev | Place::Home | Place::Slot(_) => "t".to_owned(),
    }
}

/// A member of a set, by its depth.
fn member(depth: usize) -> &'static str {
    ["c", "d", "e"].get(depth).copied().unwrap_or("each")
}

/// What stands around an expression: what binds no stronger has to stand in parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binds {
    Nothing,
    Or,
    And,
    Not,
    Compare,
    Sum,
    Product,
}

struct Writing<'p> {
    policy: &'p Policy,
}

impl Writing<'_> {
    fn bool(&self, condition: &Bool, around: Binds) -> String {
        let (binds, text) = match condition {
            Bool::Const(true) => (Binds::Compare, "0 = 0".to_owned()),
            Bool::Const(false) => (Binds::Compare, "0 != 0".to_owned()),
            Bool::Compare(a, how, b) => (Binds::Compare, self.compare(a, *how, b)),
            Bool::And(a, b) => match (&**a, &**b) {
                // That is how `=` of places is kept.
                (Bool::Within(a, b), Bool::Within(c, d)) if (a, b) == (d, c) => {
                    (Binds::Compare, format!("{} = {}", place(a), place(b)))
                }
                _ => (Binds::And, self.both(a, "and", b, Binds::And)),
            },
            Bool::Or(a, b) => (Binds::Or, self.both(a, "or", b, Binds::Or)),
            Bool::Not(a) => (Binds::Not, format!("not {}", self.bool(a, Binds::Not))),
            Bool::Idle(at) => return format!("idle({})", place(at)),
            Bool::Allowed(at) => (Binds::Compare, format!("{} in allowed(t)", place(at))),
            Bool::Found(_) => return "c".to_owned(),
            Bool::Within(a, b) => (Binds::Compare, format!("{} in {}", place(a), place(b))),
            Bool::Quantified { all, item, set, body } => {
                let what = if *all { "forall" } else { "exists" };
                let body = self.bool(body, Binds::Nothing);
                (Binds::Nothing, over(what, *item, set, &body))
            }
        };
        enclosed(text, binds, around)
    }

    /// Chains of one word need no parentheses.
    fn both(&self, a: &Bool, word: &str, b: &Bool, binds: Binds) -> String {
        let side = |of: &Bool| match (of, binds) {
            (Bool::And(..), Binds::And) | (Bool::Or(..), Binds::Or) => {
                self.bool(of, Binds::Nothing)
            }
            _ => self.bool(of, binds),
        };
        format!("{} {word} {}", side(a), side(b))
    }

    /// What is asked of the candidate stands first, and what is fixed last.
    fn compare(&self, a: &Num, how: Comparison, b: &Num) -> String {
        let turned = asks(a) < asks(b);
        let (a, b) = if turned { (b, a) } else { (a, b) };
        let sign = match (how, turned) {
            (Comparison::Less, false) => "<",
            (Comparison::Less, true) => ">",
            (Comparison::LessOrEqual, false) => "<=",
            (Comparison::LessOrEqual, true) => ">=",
            (Comparison::Equal, _) => "=",
            (Comparison::NotEqual, _) => "!=",
        };
        let time = self.is_time(a) || self.is_time(b);
        let side = |of| self.num(of, Binds::Compare, time);
        format!("{} {sign} {}", side(a), side(b))
    }

    /// `time`: plain numbers in it are times.
    fn num(&self, num: &Num, around: Binds, time: bool) -> String {
        let of = |num: &Num| self.num(num, Binds::Nothing, self.is_time(num));
        let both = |a: &Num, b: &Num| {
            let time = time || self.is_time(num);
            let side = |of| self.num(of, Binds::Nothing, time);
            format!("({}, {})", side(a), side(b))
        };
        let (binds, text) = match num {
            Num::Const(number) if time => return as_time(*number),
            Num::Const(number) => return number.to_string(),
            Num::Param(param) => return self.policy.params[*param].name.clone(),
            Num::TaskVar(var) => return format!("t.{}", self.policy.task_vars[*var].name),
            Num::CpuVar(var, at) => {
                return format!("{}.{}", place(at), self.policy.cpu_vars[*var].name);
            }
            Num::Local(_) => return "x".to_owned(),
            Num::Weight => return "t.weight".to_owned(),
            Num::Job => return "t.job".to_owned(),
            Num::Ran => return "ran".to_owned(),
            Num::Now => return "now".to_owned(),
            Num::Cpus(at) => return format!("cpus({})", place(at)),
            Num::Queued(at) => return format!("queued({})", self.queue(at)),
            Num::QueuedWeight(at) => return format!("weight({})", self.queue(at)),
            Num::MinKey(at) => return format!("min_vt({})", self.queue(at)),
            Num::Running(at) => return format!("running({})", place(at)),
            Num::RunningWeight(at) => return format!("weight({})", place(at)),
            Num::Add(a, b) => {
                let side = |of| self.num(of, Binds::Compare, time);
                (Binds::Sum, format!("{} + {}", side(a), side(b)))
            }
            Num::Sub(a, b) => {
                let (a, b) = (self.num(a, Binds::Compare, time), self.num(b, Binds::Sum, time));
                (Binds::Sum, format!("{a} - {b}"))
            }
            Num::Min(a, b) => return format!("min{}", both(a, b)),
            Num::Max(a, b) => return format!("max{}", both(a, b)),
            Num::Times(a, by) => {
                (Binds::Product, format!("{} * {by}", self.num(a, Binds::Sum, time)))
            }
            Num::Over(a, 2) => return format!("half({})", self.num(a, Binds::Nothing, time)),
            Num::Over(a, by) => match &**a {
                Num::Times(a, share) if *by == 100 => {
                    (Binds::Product, format!("{} * {share}%", self.num(a, Binds::Sum, time)))
                }
                a => (Binds::Product, format!("{} / {by}", self.num(a, Binds::Sum, time))),
            },
            Num::Scaled(a, b) => return format!("scaled({}, {})", of(a), of(b)),
            Num::Decayed(a, b, c) => return format!("decayed({}, {}, {})", of(a), of(b), of(c)),
            Num::Until(a) => return format!("until({})", self.num(a, Binds::Nothing, true)),
            Num::Seen(_, a) => return format!("seen({})", self.num(a, Binds::Nothing, time)),
            Num::Fold { aggregate, item, set, body } => {
                let what = match aggregate {
                    Aggregate::Sum => "sum",
                    Aggregate::Min => "min",
                    Aggregate::Max => "max",
                    Aggregate::Mean => "mean",
                };
                let body = self.num(body, Binds::Nothing, time);
                (Binds::Nothing, over(what, *item, set, &body))
            }
            Num::Count { item, set, body } => {
                let body = self.bool(body, Binds::Nothing);
                (Binds::Nothing, over("count", *item, set, &body))
            }
        };
        enclosed(text, binds, around)
    }

    fn queue(&self, at: &QueueAt) -> String {
        format!("{}.{}", place(&at.at), self.policy.queues[at.queue].name)
    }

    /// Whether a number is a time, as far as it says so itself.
    fn is_time(&self, num: &Num) -> bool {
        let (params, policy) = (&self.policy.params, self.policy);
        let is = |dimension| dimension == Dimension::Time;
        match num {
            Num::Now | Num::Ran | Num::Until(_) | Num::Scaled(..) => true,
            Num::Param(param) => is(params[*param].dimension),
            Num::TaskVar(var) => is(policy.task_vars[*var].dimension),
            Num::CpuVar(var, _) => is(policy.cpu_vars[*var].dimension),
            Num::MinKey(at) => {
                policy.queues[at.queue].key.is_some_and(|key| is(policy.task_vars[key].dimension))
            }
            Num::Add(a, b) | Num::Sub(a, b) | Num::Min(a, b) | Num::Max(a, b) => {
                self.is_time(a) || self.is_time(b)
            }
            Num::Times(a, _) | Num::Over(a, _) | Num::Seen(_, a) | Num::Decayed(a, ..) => {
                self.is_time(a)
            }
            Num::Fold { body, .. } => self.is_time(body),
            _ => false,
        }
    }
}

/// `sum c in machine : queued(c.q)`
fn over(what: &str, item: usize, set: &Set, body: &str) -> String {
    let set = match set {
        Set::In(at) => place(at),
        Set::Allowed => "allowed(t)".to_owned(),
    };
    format!("{what} {} in {set} : {body}", member(item))
}

fn enclosed(text: String, binds: Binds, around: Binds) -> String {
    if around == Binds::Nothing || binds > around { text } else { format!("({text})") }
}

/// In the largest unit that it is a whole number of.
fn as_time(ns: i64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    match units.into_iter().find(|(by, _)| ns % by == 0) {
        _ if ns == 0 => "0".to_owned(),
        Some((by, unit)) => format!("{}{unit}", ns / by),
        None => format!("{ns}ns"),
    }
}

/// What a number reads: the candidate, something else, or nothing.
fn asks(num: &Num) -> u8 {
    struct Asks(u8);
    impl Visitor for Asks {
        fn num(&mut self, num: &Num) {
            let fixed = matches!(num, Num::Const(_) | Num::Param(_));
            self.0 = self.0.max(u8::from(!fixed));
        }
        fn place(&mut self, place: &Place) {
            if *place == Place::Other {
                self.0 = 2;
            }
        }
    }
    let mut asks = Asks(0);
    visit_num(num, &mut asks);
    asks.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written means the same again, and reads as it was written.
    #[test]
    fn a_filter_is_written_as_it_stands_in_the_text() {
        for filter in [
            "queued(v.q) >= 1 and queued(me.q) < 4",
            "queued(v.q) - queued(me.q) >= 2 + k",
            "queued(v.q) > queued(me.q) - (queued(me.q) - 1)",
            "(queued(v.q) >= 1 or idle(me)) and not idle(v)",
            "queued(v.q) * 3 >= (queued(me.q) + 1) * 4",
            "half(queued(v.q)) >= 1 or queued(v.q) * 150% != 7 or queued(v.q) / 3 = 1",
            "(sum c in llc(v) : queued(c.q)) >= (max c in machine : queued(c.q))",
            "exists c in node(v) : queued(c.q) >= 2 and (forall d in llc(c) : d.x < 3ms)",
            "(count c in machine : not idle(c)) >= 2 and now >= 5us and 4ms < limit",
            "min(queued(v.q), 3) >= 2 and llc(v) = llc(me) and v in node(me)",
        ] {
            let text = |filter: &str| {
                format!(
                    "policy p(k: count = 12, limit: time = 3ms) {{
                        queue q : fifo per cpu
                        cpu {{ x: time = 0 owner cpu }}
                        on new(t), wake(t), preempt(t), yield(t) {{ put t in home(t).q }}
                        on block(t), exit(t) {{ }}
                        on dispatch(c) {{ take c.q else balance idle }}
                        balance idle {{
                            level machine
                            filter(me, v) = {filter}
                            choose any
                            steal 1 from v.q where me in allowed(t)
                        }}
                    }}"
                )
            };
            let means = |filter: &str| {
                let program = wastenot_rota::compile(&text(filter));
                let policy = program.unwrap_or_else(|why| panic!("{filter}: {why:?}"));
                policy.policies.into_iter().next().expect("one")
            };
            let policy = means(filter);
            let asked = |policy: &Policy| policy.idle.as_ref().expect("it balances").filter.clone();
            let written = condition(&policy, &asked(&policy));
            assert_eq!(written, filter);
            assert_eq!(condition(&policy, &asked(&means(&written))), written);
        }
    }
}
