//! Between what an expression of a handler lies, as far as it is known what the handler sees.

use wastenot_model::CpuId;
use wastenot_rota::eval::{At, Frame, decayed, scaled};
use wastenot_rota::ir::{Aggregate, Bool, Comparison, Num, Place, QueueAt, Set};

use super::world::{Looking, World};
use crate::text::{Sets, USUAL};

/// Weights of tasks.
const WEIGHTS: Range = Range { least: 1, most: 10_000 };

/// A number, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    least: i64,
    most: i64,
}

impl Range {
    /// Nothing is known of it.
    pub(super) const ANY: Range = Range { least: i64::MIN, most: i64::MAX };
    /// It is no less than 0.
    const COUNT: Range = Range { least: 0, most: i64::MAX };

    /// It is this.
    pub(super) fn point(value: i64) -> Range {
        Range { least: value, most: value }
    }
    /// Whether it is certainly less than another, or no more.
    pub(super) fn is_below(self, other: Range, or_equal: bool) -> bool {
        self.most < other.least || or_equal && self.most == other.least
    }
    /// Whether it is certainly so much, or certainly less.
    pub(super) fn is_at_least(self, least: i64) -> Option<bool> {
        self.less(Range::point(least)).map(|less| !less)
    }
    fn known(self) -> Option<i64> {
        (self.least == self.most).then_some(self.least)
    }
    fn each(self, other: Range, of: impl Fn(i64, i64) -> i64) -> Range {
        Range { least: of(self.least, other.least), most: of(self.most, other.most) }
    }
    fn less(self, other: Range) -> Option<bool> {
        match (self.most < other.least, self.least >= other.most) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
    fn same(self, other: Range) -> Option<bool> {
        match self.known().zip(other.known()) {
            Some((a, b)) => Some(a == b),
            None if self.most < other.least || other.most < self.least => Some(false),
            None => None,
        }
    }
    fn compare(self, how: Comparison, other: Range) -> Option<bool> {
        match how {
            Comparison::Less => self.less(other),
            Comparison::LessOrEqual => other.less(self).map(|less| !less),
            Comparison::Equal => self.same(other),
            Comparison::NotEqual => self.same(other).map(|same| !same),
        }
    }
}

/// What queues, CPUs, the task and the clock are like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Queues of its groups have a length of their own.
    pub(super) apart: CpuId,
    /// How many wait in each of those; in each other queue.
    pub(super) lengths: (i64, i64),
    /// Whether CPUs run tasks.
    pub(super) busy: bool,
    /// The weight of the task.
    pub(super) weight: i64,
    /// The time, in ns.
    pub(super) now: i64,
}

impl Sample {
    /// How many wait in the queue of a group, if anybody ever comes there.
    pub(super) fn length(&self, world: &World<'_>, queue: usize, group: usize) -> i64 {
        let apart = world.tree().group(world.per[queue], self.apart);
        if group == apart { self.lengths.0 } else { self.lengths.1 }
    }
}

/// What a handler sees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a, 'p> {
    pub(super) world: &'a World<'p>,
    /// The groups, and where the task may run.
    pub(super) look: Looking<'a>,
    /// `None`: whatever there can be.
    pub(super) sample: Option<Sample>,
    /// What handlers ever change.
    pub(super) sets: &'a Sets,
    pub(super) task_vars: &'a [Range],
    /// Of every CPU.
    pub(super) cpu_vars: &'a [Range],
    pub(super) locals: &'a [Range],
    /// The queue that the task was put into by now.
    pub(super) put: Option<(usize, usize)>,
}

impl Seen<'_, '_> {
    /// The CPUs of a set.
    pub(super) fn members(&self, set: &Set, frame: &Frame) -> Vec<CpuId> {
        let tree = self.world.tree();
        let all = match set {
            Set::In(place) => {
                let At { level, group } = frame.place(&self.look, place);
                tree.members(level, group)
            }
            Set::Allowed => tree.cpus(),
        };
        let able = |cpu: &CpuId| *set != Set::Allowed || self.look.may_run(*cpu);
        all.iter().copied().filter(able).collect()
    }

    /// Between what a number lies.
    pub(super) fn num(&self, frame: &mut Frame, num: &Num) -> Range {
        if let Num::CpuVar(var, place) = num {
            let is_set = self.is_set_by_now(frame, *var, place);
            return if is_set { Range::ANY } else { self.cpu_vars[*var] };
        }
        let mut of = |num: &Num| self.num(frame, num);
        match num {
            Num::Const(value) => Range::point(*value),
            // There are others than the text gives.
            Num::Param(param) => {
                self.sample.map_or(Range::ANY, |_| Range::point(frame.params[*param]))
            }
            Num::Local(slot) => self.locals[*slot],
            Num::TaskVar(var) => self.task_vars[*var],
            Num::CpuVar(..) => Range::ANY,
            Num::Weight => self.sample.map_or(WEIGHTS, |it| Range::point(it.weight)),
            Num::Now => self.sample.map_or(Range::COUNT, |it| Range::point(it.now)),
            Num::Job | Num::Ran => Range::COUNT,
            Num::Cpus(place) => Range::point(self.within(frame, place).len() as i64),
            Num::Queued(at) => self.queued(frame, at),
            Num::QueuedWeight(at) => self.weighed(self.queued(frame, at)),
            Num::MinKey(_) => Range::ANY,
            Num::Running(place) => self.running(frame, place),
            Num::RunningWeight(place) => self.weighed(self.running(frame, place)),
            Num::Add(a, b) => of(a).each(of(b), i64::saturating_add),
            Num::Sub(a, b) => {
                let (a, b) = (of(a), of(b));
                a.each(Range { least: b.most, most: b.least }, i64::saturating_sub)
            }
            Num::Min(a, b) => of(a).each(of(b), i64::min),
            Num::Max(a, b) => of(a).each(of(b), i64::max),
            Num::Times(a, by) => {
                let a = of(a);
                let (a, b) = (a.least.saturating_mul(*by), a.most.saturating_mul(*by));
                Range { least: a.min(b), most: a.max(b) }
            }
            Num::Over(a, by) => {
                let by = Range::point(*by);
                of(a).each(by, i64::div_euclid)
            }
            Num::Scaled(time, weight) => match (of(time), of(weight)) {
                (time, weight) if time.least >= 0 => {
                    time.each(Range { least: weight.most, most: weight.least }, scaled)
                }
                _ => Range::ANY,
            },
            Num::Decayed(a, time, half) => {
                let (a, time, half) = (of(a), of(time), of(half));
                match (a.known(), time.known(), half.known()) {
                    (Some(a), Some(time), Some(half)) => Range::point(decayed(a, time, half)),
                    _ => Range { least: 0, most: a.most.max(0) },
                }
            }
            Num::Seen(_, now) => of(now),
            Num::Until(period) => Range { least: 1, most: of(period).most.max(1) },
            Num::Fold { aggregate, item, set, body } => {
                let members = self.members(set, frame).into_iter();
                let each = members.map(|cpu| {
                    frame.bind(*item, cpu);
                    self.num(frame, body)
                });
                folded(*aggregate, &each.collect::<Vec<Range>>())
            }
            Num::Count { item, set, body } => {
                let met = self.each(frame, (*item, set, body));
                let least = met.iter().filter(|it| **it == Some(true)).count();
                let most = met.iter().filter(|it| **it != Some(false)).count();
                Range { least: least as i64, most: most as i64 }
            }
        }
    }

    /// Whether a condition holds, if that is known.
    pub(super) fn bool(&self, frame: &mut Frame, condition: &Bool) -> Option<bool> {
        match condition {
            Bool::Compare(a, how, b) => {
                let (a, b) = (self.num(frame, a), self.num(frame, b));
                a.compare(*how, b)
            }
            Bool::And(a, b) => all([self.bool(frame, a), self.bool(frame, b)]),
            Bool::Or(a, b) => {
                let none = all([a, b].map(|it| self.bool(frame, it).map(|it| !it)));
                none.map(|none| !none)
            }
            Bool::Not(a) => self.bool(frame, a).map(|it| !it),
            Bool::Idle(_) => self.sample.map(|it| !it.busy),
            Bool::Quantified { all: every, item, set, body } => {
                let met = self.each(frame, (*item, set, body));
                match every {
                    true => all(met),
                    false => all(met.into_iter().map(|it| it.map(|it| !it))).map(|none| !none),
                }
            }
            // Who is nearest, levels say that nobody names, and how CPUs are numbered.
            Bool::Within(a, b) if (is_home(a) || is_home(b)) && !self.is_home_known(frame) => None,
            // Where a task may run, and where places are, is known.
            Bool::Const(_) | Bool::Allowed(_) | Bool::Found(_) | Bool::Within(..) => {
                Some(frame.bool(&self.look, &self.world.per, condition))
            }
        }
    }

    fn each(
        &self,
        frame: &mut Frame,
        (item, set, body): (usize, &Set, &Bool),
    ) -> Vec<Option<bool>> {
        let members = self.members(set, frame).into_iter();
        let met = members.map(|cpu| {
            frame.bind(item, cpu);
            self.bool(frame, body)
        });
        met.collect()
    }

    /// Whether home is where the task was.
    fn is_home_known(&self, frame: &Frame) -> bool {
        frame.prev.is_some_and(|prev| self.look.may_run(prev))
    }

    /// Whether a handler has certainly set a variable of a CPU, to whatever: the task ran there, or
    /// whoever wakes it does.
    fn is_set_by_now(&self, frame: &Frame, var: usize, place: &Place) -> bool {
        let Some(prev) = frame.prev.filter(|_| self.sets.ran[var]) else { return false };
        let cpu = frame.cpu(&self.look, place);
        cpu == prev || Some(cpu) == frame.here
    }

    fn within(&self, frame: &Frame, place: &Place) -> &[CpuId] {
        let At { level, group } = frame.place(&self.look, place);
        self.world.tree().members(level, group)
    }

    fn queued(&self, frame: &Frame, at: &QueueAt) -> Range {
        if !self.sets.fed[at.queue] {
            return Range::point(0);
        }
        let group = frame.queue(&self.look, at, self.world.per[at.queue]);
        let others = self.sample.map_or(Range::COUNT, |sample| {
            Range::point(sample.length(self.world, at.queue, group))
        });
        let own = i64::from(self.put == Some((at.queue, group)));
        others.each(Range::point(own), i64::saturating_add)
    }

    /// The weights of so many tasks, added.
    fn weighed(&self, many: Range) -> Range {
        // In a sample all others are of nice 0. The task itself is none of them.
        let known = self.sample.is_some() && self.put.is_none();
        let each = if known { Range::point(USUAL) } else { WEIGHTS };
        many.each(each, i64::saturating_mul)
    }

    fn running(&self, frame: &Frame, place: &Place) -> Range {
        let most = self.within(frame, place).len() as i64;
        match self.sample {
            Some(sample) => Range::point(if sample.busy { most } else { 0 }),
            None => Range { least: 0, most },
        }
    }
}

fn is_home(place: &Place) -> bool {
    match place {
        Place::Home => true,
        Place::Of(_, inner) => is_home(inner),
        _ => false,
    }
}

/// Whether all hold, if that is known.
pub(super) fn all(each: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut whole = Some(true);
    for one in each {
        match one {
            Some(false) => return Some(false),
            Some(true) => {}
            None => whole = None,
        }
    }
    whole
}

fn folded(aggregate: Aggregate, each: &[Range]) -> Range {
    let of = |end: fn(&Range) -> i64| aggregate.of(each.iter().map(end));
    Range { least: of(|it| it.least), most: of(|it| it.most) }
}
