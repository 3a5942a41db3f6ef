//! Expressions as C. A place of level `cpu` is held as the number of the CPU, a wider place as the
//! number of the group. An expression becomes one C expression: one that needs a set of CPUs calls
//! a function of its own, whose loop is one `bpf_loop`, so that the verifier checks it once.

use std::fmt::Write;

use super::Writer;
use super::quote::Quote;
use crate::ir::{Aggregate, Bool, Level, Num, Place, QueueAt, Set};

/// A sum that may exceed this could overflow 64 bits, so it is written as a saturating sum.
const PLAIN: i64 = 1 << 61;

impl Writer<'_> {
    /// A place: its level, and the C for its number on that level.
    pub(super) fn place(&self, place: &Place) -> (Level, String) {
        match place {
            Place::Me => (self.me, "f->me".into()),
            Place::Other => (self.other, "f->other".into()),
            Place::Here => (Level::Cpu, "f->here".into()),
            Place::Prev => (Level::Cpu, "f->t->prev".into()),
            Place::Home => (Level::Cpu, "f->home".into()),
            Place::Slot(slot) => (Level::Cpu, format!("f->cpu{slot}")),
            Place::Item(item) => (Level::Cpu, format!("f->x{item}")),
            Place::Machine => (Level::Machine, "f->part".into()),
            Place::Of(level, inner) => {
                let level = (*level).max(self.place(inner).0);
                (level, self.group(inner, level))
            }
        }
    }

    /// The lowest CPU of a place.
    pub(super) fn cpu(&self, place: &Place) -> String {
        match self.place(place) {
            (Level::Cpu, cpu) => cpu,
            (level, group) => format!("nth({}, {group}, 0)", constant(level)),
        }
    }

    /// The number of the group of a level that contains a place, or that the place is.
    pub(super) fn group(&self, place: &Place, level: Level) -> String {
        match (self.place(place), level) {
            ((at, group), level) if at == level && at != Level::Cpu => group,
            (_, Level::Machine) => "f->part".into(),
            _ => format!("group({}, {})", constant(level), self.cpu(place)),
        }
    }

    /// The group whose queue is meant.
    pub(super) fn queue(&self, at: &QueueAt) -> String {
        let per = self.policy.queues[at.queue].per;
        format!("{}, {}", self.kind(at.queue), self.group(&at.at, per))
    }

    /// A number.
    pub(super) fn num(&mut self, num: &Num) -> String {
        match num {
            Num::Const(value) if *value == i64::MIN => "(-0x7fffffffffffffffLL - 1)".into(),
            Num::Const(value) if i32::try_from(*value).is_ok() => value.to_string(),
            Num::Const(value) => format!("{value}LL"),
            Num::Param(param) => self.named(&self.policy.params[*param].name),
            Num::Local(slot) => format!("f->number{slot}"),
            Num::TaskVar(var) => format!("f->t->{}", self.task_var(*var)),
            Num::CpuVar(var, place) => format!("{}({})", self.cpu_var(*var), self.cpu(place)),
            Num::Weight => "(s64)f->p->scx.weight".into(),
            Num::Job => "(s64)f->p->tgid".into(),
            Num::Ran => "f->ran".into(),
            Num::Now => "f->now".into(),
            Num::Cpus(place) => match self.place(place) {
                (Level::Cpu, _) => "1".into(),
                (level, group) => format!("(s64)cpus({}, {group})", constant(level)),
            },
            Num::Queued(at) => format!("queued(f->part, {})", self.queue(at)),
            Num::QueuedWeight(at) => format!("queued_weight({})", self.queue(at)),
            Num::MinKey(at) => format!("min_key({})", self.queue(at)),
            Num::Running(place) => self.running(place, "runs_on"),
            Num::RunningWeight(place) => self.running(place, "weight_on"),
            Num::Add(a, b) => self.sum("plus", "+", (a, b), num),
            Num::Sub(a, b) => self.sum("minus", "-", (a, b), num),
            Num::Min(a, b) => self.call("lesser", &[a, b]),
            Num::Max(a, b) => self.call("greater", &[a, b]),
            Num::Times(a, by) if self.bound(num).is_some() => format!("{} * {by}", self.factor(a)),
            Num::Times(a, by) => format!("times({}, {})", self.num(a), self.num(&Num::Const(*by))),
            Num::Over(a, by) => format!("over({}, {by})", self.num(a)),
            Num::Scaled(time, weight) => self.call("scaled", &[time, weight]),
            Num::Decayed(a, time, half) => self.call("decayed", &[a, time, half]),
            Num::Until(period) => format!("until(f->now, {})", self.num(period)),
            // Only re-checks read older values, and emission refuses those re-checks.
            Num::Seen(_, now) => self.num(now),
            Num::Fold { aggregate, item, set, body } => {
                self.bind(*item);
                let text = Quote(self.policy).num(num);
                let body = self.num(body);
                self.fold(*aggregate, (*item, set), (&body, 0), &text)
            }
            Num::Count { item, set, body } => {
                self.bind(*item);
                let text = Quote(self.policy).num(num);
                let body = self.bool(body);
                self.fold(Aggregate::Sum, (*item, set), (&body, 0), &text)
            }
        }
    }

    /// A condition.
    pub(super) fn bool(&mut self, condition: &Bool) -> String {
        match condition {
            Bool::Const(value) => value.to_string(),
            Bool::Compare(a, how, b) => {
                let (a, sign, b) = how.written(a, b);
                let sign = if sign == "=" { "==" } else { sign };
                format!("{} {sign} {}", self.num(a), self.num(b))
            }
            Bool::And(a, b) => format!("{} && {}", self.operand(a), self.operand(b)),
            Bool::Or(a, b) => format!("{} || {}", self.operand(a), self.operand(b)),
            Bool::Not(a) => format!("!({})", self.bool(a)),
            Bool::Idle(place) => format!("!runs_on({})", self.cpu(place)),
            Bool::Allowed(place) => format!("allowed(f->p, {})", self.cpu(place)),
            Bool::Found(slot) => format!("f->cpu{slot} >= 0"),
            Bool::Within(a, b) => self.within(a, b),
            Bool::Quantified { all, item, set, body } => {
                self.bind(*item);
                let text = Quote(self.policy).bool(condition);
                let (how, none) = if *all { (Aggregate::Min, 1) } else { (Aggregate::Max, 0) };
                let body = self.bool(body);
                self.fold(how, (*item, set), (&body, none), &text)
            }
        }
    }

    fn operand(&mut self, condition: &Bool) -> String {
        let text = self.bool(condition);
        let mixed = matches!(condition, Bool::And(..) | Bool::Or(..));
        if mixed { format!("({text})") } else { text }
    }

    fn call(&mut self, name: &str, of: &[&Num]) -> String {
        let of: Vec<String> = of.iter().map(|num| self.num(num)).collect();
        format!("{name}({})", of.join(", "))
    }

    fn sum(&mut self, name: &str, sign: &str, (a, b): (&Num, &Num), whole: &Num) -> String {
        match self.bound(whole) {
            Some(_) => format!("{} {sign} {}", self.num(a), self.factor(b)),
            None => self.call(name, &[a, b]),
        }
    }

    fn factor(&mut self, num: &Num) -> String {
        let text = self.num(num);
        let sum = matches!(num, Num::Add(..) | Num::Sub(..) | Num::Times(..));
        if sum { format!("({text})") } else { text }
    }

    fn running(&mut self, place: &Place, of: &str) -> String {
        if self.place(place).0 == Level::Cpu {
            return format!("{of}({})", self.cpu(place));
        }
        let word = if of == "runs_on" { "running" } else { "weight" };
        let text = format!("{word}({})", Quote(self.policy).place(place));
        let item = self.items;
        self.bind(item);
        let body = format!("{of}(f->x{item})");
        self.fold(Aggregate::Sum, (item, &Set::In(place.clone())), (&body, 0), &text)
    }

    fn within(&mut self, a: &Place, b: &Place) -> String {
        match (self.place(a), self.place(b)) {
            ((Level::Cpu, a), (Level::Cpu, b)) => format!("{a} == {b}"),
            ((narrow, _), (wide, _)) if wide < narrow => "false".into(),
            (_, (level, _)) => format!("{} == {}", self.group(a, level), self.group(b, level)),
        }
    }

    /// An upper bound of a number, if one is known and small enough to be harmless.
    fn bound(&self, num: &Num) -> Option<i64> {
        let bound = match num {
            Num::Const(value) => value.checked_abs()?,
            Num::Cpus(_) | Num::Running(_) | Num::Count { .. } => 1 << 16,
            Num::Queued(_) | Num::Weight | Num::Job | Num::RunningWeight(_) => 1 << 32,
            Num::Add(a, b) | Num::Sub(a, b) => self.bound(a)?.checked_add(self.bound(b)?)?,
            Num::Min(a, b) | Num::Max(a, b) => self.bound(a)?.max(self.bound(b)?),
            Num::Times(a, by) => self.bound(a)?.checked_mul(by.checked_abs()?)?,
            Num::Over(a, _) => self.bound(a)?,
            _ => return None,
        };
        (bound <= PLAIN).then_some(bound)
    }

    fn bind(&mut self, item: usize) {
        self.items = self.items.max(item + 1);
    }

    /// A function that evaluates `body` for each CPU of a set, and its call. The empty set gives
    /// `none`.
    fn fold(
        &mut self,
        aggregate: Aggregate,
        (item, set): (usize, &Set),
        (body, none): (&str, i64),
        text: &str,
    ) -> String {
        let name = self.function(aggregate.word());
        let (level, group) = self.members(set);
        let skip = match set {
            Set::In(_) => "",
            Set::Allowed => "\tif (!allowed(f->p, f->x@))\n\t\treturn 0;\n",
        };
        let skip = skip.replace('@', &item.to_string());
        let add = match aggregate {
            Aggregate::Sum | Aggregate::Mean => "s->value = plus(s->value, value);",
            Aggregate::Min => "s->value = s->met ? lesser(s->value, value) : value;",
            Aggregate::Max => "s->value = s->met ? greater(s->value, value) : value;",
        };
        let give = match aggregate {
            Aggregate::Mean => "s.met ? over(s.value, s.met) : 0",
            _ if none == 0 => "s.value",
            _ => "s.met ? s.value : 1",
        };
        write!(
            self.functions,
            "/* {text} */\nstatic long {name}_step(u32 n, struct fold *s)\n{{\n\
             \tstruct frame *f = s->f;\n\ts64 value;\n\n\
             \tf->x{item} = nth({level}, s->group, n);\n{skip}\tvalue = {body};\n\t{add}\n\
             \ts->met++;\n\treturn 0;\n}}\n\n\
             static s64 {name}(struct frame *f)\n{{\n\
             \tstruct fold s = {{ .f = f, .group = {group}, .met = zero, .value = zero }};\n\tu32 n = cpus({level}, s.group);\n\n\
             \tif (n)\n\t\tbpf_loop(n, {name}_step, &s, 0);\n\treturn {give};\n}}\n\n"
        )
        .expect("text grows");
        format!("{name}(f)")
    }

    /// The level and the group that contain all CPUs of a set.
    pub(super) fn members(&self, set: &Set) -> (&'static str, String) {
        match set {
            Set::In(place) => {
                let level = self.place(place).0;
                (constant(level), self.group(place, level))
            }
            Set::Allowed => ("MACHINE", "f->part".into()),
        }
    }
}

/// The C constant of a level.
pub(super) fn constant(level: Level) -> &'static str {
    ["CPU", "SMT", "LLC", "NODE", "MACHINE"][level as usize]
}
