//! Between what an expression of a handler lies, as far as it is known what the handler sees.

use wastenot_model::CpuId;
use wastenot_rota::Tree;
use wastenot_rota::eval::{Domain, Leaf, Look, decayed, scaled};
use wastenot_rota::ir::{Comparison, Place};

use super::situation::Situation;
use super::world::{Looking, World};
use crate::text::{Sets, USUAL};

/// Weights of tasks.
const WEIGHTS: Range = Range { least: 1, most: 10_000 };

/// A number, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) least: i64,
    pub(crate) most: i64,
}

impl Range {
    /// Nothing is known of it.
    pub(crate) const ANY: Range = Range { least: i64::MIN, most: i64::MAX };
    /// It is no less than 0.
    pub(crate) const COUNT: Range = Range { least: 0, most: i64::MAX };

    /// It is this.
    pub(crate) fn point(value: i64) -> Range {
        Range { least: value, most: value }
    }
    /// Whether it is certainly less than another, or no more.
    pub(super) fn is_below(self, other: Range, or_equal: bool) -> bool {
        self.most < other.least || or_equal && self.most == other.least
    }
    fn known(self) -> Option<i64> {
        (self.least == self.most).then_some(self.least)
    }
    fn each(self, other: Range, of: impl Fn(i64, i64) -> i64) -> Range {
        Range { least: of(self.least, other.least), most: of(self.most, other.most) }
    }
    /// From its other end.
    fn turned(self) -> Range {
        Range { least: self.most, most: self.least }
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
}

/// Numbers as far as they are known, and conditions if they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranges;

impl Domain for Ranges {
    type Num = Range;
    type Bool = Option<bool>;

    fn number(value: i64) -> Range {
        Range::point(value)
    }
    fn truth(value: bool) -> Option<bool> {
        Some(value)
    }
    fn add(a: Range, b: Range) -> Range {
        a.each(b, i64::saturating_add)
    }
    fn sub(a: Range, b: Range) -> Range {
        a.each(b.turned(), i64::saturating_sub)
    }
    fn min(a: Range, b: Range) -> Range {
        a.each(b, i64::min)
    }
    fn max(a: Range, b: Range) -> Range {
        a.each(b, i64::max)
    }
    fn times(a: Range, by: i64) -> Range {
        let (a, b) = (a.least.saturating_mul(by), a.most.saturating_mul(by));
        Range { least: a.min(b), most: a.max(b) }
    }
    fn over(a: Range, by: i64) -> Range {
        a.each(Range::point(by), i64::div_euclid)
    }
    fn scaled(time: Range, weight: Range) -> Range {
        if time.least >= 0 { time.each(weight.turned(), scaled) } else { Range::ANY }
    }
    fn decayed(a: Range, time: Range, half: Range) -> Range {
        match (a.known(), time.known(), half.known()) {
            (Some(a), Some(time), Some(half)) => Range::point(decayed(a, time, half)),
            _ => Range { least: 0, most: a.most.max(0) },
        }
    }
    fn until(_: Range, period: Range) -> Range {
        Range { least: 1, most: period.most.max(1) }
    }
    fn one_if(condition: Option<bool>) -> Range {
        let is = |truth| i64::from(condition.unwrap_or(truth));
        Range { least: is(false), most: is(true) }
    }
    fn compare(a: Range, how: Comparison, b: Range) -> Option<bool> {
        match how {
            Comparison::Less => a.less(b),
            Comparison::LessOrEqual => b.less(a).map(|less| !less),
            Comparison::Equal => a.same(b),
            Comparison::NotEqual => a.same(b).map(|same| !same),
        }
    }
    fn not(a: Option<bool>) -> Option<bool> {
        a.map(|it| !it)
    }
    fn joined(every: bool, each: impl Iterator<Item = Option<bool>>) -> Option<bool> {
        let mut whole = Some(every);
        for one in each {
            match one {
                Some(truth) if truth == every => {}
                Some(truth) => return Some(truth),
                None => whole = None,
            }
        }
        whole
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
#[derive(Clone, Debug)]
pub(super) struct Seen<'a, 'p> {
    pub(super) world: &'a World<'p>,
    /// The groups, and where the task may run.
    pub(super) look: Looking<'a>,
    /// `None`: whatever there can be.
    pub(super) sample: Option<Sample>,
    /// What handlers ever change.
    pub(super) sets: &'a Sets,
    pub(super) task_vars: Vec<Range>,
    /// Of every CPU.
    pub(super) cpu_vars: Vec<Range>,
    /// Where the task ran last, and where the event happens; in periodic balancing unknown.
    pub(super) prev: Option<CpuId>,
    pub(super) here: Option<CpuId>,
    /// The queue that the task was put into by now.
    pub(super) put: Option<(usize, usize)>,
}

impl<'a, 'p> Seen<'a, 'p> {
    /// When a handler begins, or periodic balancing.
    pub(super) fn begun(
        world: &'a World<'p>,
        situation: &'a Situation,
        sets: &'a Sets,
        sample: Option<Sample>,
        is_new: bool,
    ) -> Seen<'a, 'p> {
        let known = |known: bool, value| if known { Range::point(value) } else { Range::ANY };
        let task = world.policy.task_vars.iter().zip(&sets.task);
        let cpu = world.policy.cpu_vars.iter().zip(&sets.cpu);
        Seen {
            world,
            look: world.look(situation, Some(0)),
            sample,
            sets,
            task_vars: task.map(|(var, set)| known(is_new || !set, var.value)).collect(),
            // Who came before may have set variables of CPUs, or not.
            cpu_vars: cpu.map(|(var, set)| known(sample.is_some() || !set, var.value)).collect(),
            prev: None,
            here: None,
            put: None,
        }
    }

    /// Whether a handler has certainly set a variable of a CPU, to whatever: the task ran there, or
    /// whoever wakes it does.
    fn is_set_by_now(&self, var: usize, cpu: CpuId) -> bool {
        let ran = self.prev.is_some() && self.sets.ran[var];
        ran && [self.prev, self.here].contains(&Some(cpu))
    }

    /// What a number is in the sample; without one, whatever it can be.
    fn sampled(&self, any: Range, of: impl Fn(Sample) -> i64) -> Range {
        self.sample.map_or(any, |sample| Range::point(of(sample)))
    }

    fn queued(&self, queue: usize, group: usize) -> Range {
        if !self.sets.fed[queue] {
            return Range::point(0);
        }
        let own = Range::point(i64::from(self.put == Some((queue, group))));
        let others = self.sampled(Range::COUNT, |it| it.length(self.world, queue, group));
        Ranges::add(others, own)
    }

    fn running(&self) -> Range {
        Ranges::one_if(self.sample.map(|it| it.busy))
    }

    /// The weights of so many tasks, added.
    fn weighed(&self, many: Range) -> Range {
        // In a sample all others are of nice 0. The task itself is none of them.
        let known = self.sample.is_some() && self.put.is_none();
        let each = if known { Range::point(USUAL) } else { WEIGHTS };
        many.each(each, i64::saturating_mul)
    }
}

impl Look for Seen<'_, '_> {
    type Domain = Ranges;

    fn tree(&self) -> &Tree {
        self.world.tree()
    }
    fn allowed(&self, cpu: CpuId) -> bool {
        self.look.allowed(cpu)
    }
    fn read(&self, leaf: Leaf) -> Range {
        match leaf {
            Leaf::Queued(queue, group) => self.queued(queue, group),
            Leaf::QueuedWeight(queue, group) => self.weighed(self.queued(queue, group)),
            Leaf::MinKey(..) => Range::ANY,
            Leaf::Running(_) => self.running(),
            Leaf::RunningWeight(_) => self.weighed(self.running()),
            Leaf::CpuVar(var, cpu) if self.is_set_by_now(var, cpu) => Range::ANY,
            Leaf::CpuVar(var, _) => self.cpu_vars[var],
            Leaf::TaskVar(var) => self.task_vars[var],
            Leaf::Weight => self.sampled(WEIGHTS, |it| it.weight),
            Leaf::Job | Leaf::Ran => Range::COUNT,
            Leaf::Now => self.sampled(Range::COUNT, |it| it.now),
        }
    }
    /// There are others than the text gives.
    fn param(&self, value: i64) -> Range {
        self.sampled(Range::ANY, |_| value)
    }
    /// Which CPU is nearest depends on levels that no text names, and on CPU numbers: home is known
    /// only where the task was.
    fn within(&self, places: [&Place; 2], holds: bool) -> Option<bool> {
        let known = self.prev.is_some_and(|prev| self.allowed(prev));
        (known || !places.into_iter().any(is_home)).then_some(holds)
    }
}

fn is_home(place: &Place) -> bool {
    match place {
        Place::Home => true,
        Place::Of(_, inner) => is_home(inner),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use wastenot_rota::eval::Exact;

    use super::*;

    /// All operations on two numbers; what is true is 1.
    fn all<D: Domain>(a: &D::Num, b: &D::Num) -> Vec<D::Num> {
        use Comparison::{Equal, Less, LessOrEqual, NotEqual};
        let (a, b) = (|| a.clone(), || b.clone());
        let pairs = [D::add, D::sub, D::min, D::max, D::scaled, D::until];
        let each = [Less, LessOrEqual, Equal, NotEqual].map(|how| D::compare(a(), how, b()));
        let joined = [false, true].map(|every| D::joined(every, each.iter().cloned()));
        let numbers = pairs.map(|of| of(a(), b())).into_iter();
        let others = [D::times(a(), -3), D::over(a(), 2), D::decayed(a(), b(), D::number(2))];
        let truths = each.into_iter().chain(joined.map(D::not)).map(D::one_if);
        numbers.chain(others).chain(truths).collect()
    }

    #[test]
    fn a_range_contains_what_its_numbers_give() {
        let numbers = || -3..=4;
        let ranges = || numbers().flat_map(|a| (a..=4).map(move |b| Range { least: a, most: b }));
        for (a, b) in ranges().flat_map(|a| ranges().map(move |b| (a, b))) {
            let wide = all::<Ranges>(&a, &b);
            for (x, y) in (a.least..=a.most).flat_map(|x| (b.least..=b.most).map(move |y| (x, y))) {
                for (n, exact) in all::<Exact>(&x, &y).into_iter().enumerate() {
                    let Range { least, most } = wide[n];
                    assert!(least <= exact && exact <= most, "{n}: {x} of {a:?}, {y} of {b:?}");
                }
            }
        }
    }
}
