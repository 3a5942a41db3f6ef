//! Evaluates expressions against any source of queue and CPU state: the interpreter, which reads
//! the current state, and the explorer, which also reads older state.

use wastenot_model::CpuId;

use crate::Tree;
use crate::ir::{Aggregate, Bool, Comparison, Level, Num, Place, QueueAt, Set};

/// A group, by its level and its number there ([`Tree`]); a CPU is a group of [`Level::Cpu`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct At {
    /// The level.
    pub level: Level,
    /// The number of the group on that level.
    pub group: usize,
}

/// A source of queue and CPU state.
pub trait Look {
    /// The groups.
    fn tree(&self) -> &Tree;
    /// How many tasks wait in a queue of a group.
    fn queued(&self, queue: usize, group: usize) -> i64;
    /// The sum of the weights of those tasks.
    fn queued_weight(&self, queue: usize, group: usize) -> i64;
    /// [`Num::MinKey`].
    fn min_key(&self, queue: usize, group: usize) -> i64;
    /// The weight of the task that a CPU runs, if it runs a task.
    fn running(&self, cpu: CpuId) -> Option<i64>;
    /// A variable of a CPU.
    fn cpu_var(&self, var: usize, cpu: CpuId) -> i64;
    /// The time, in ns.
    fn now(&self) -> i64;

    /// A variable of the task at hand.
    fn task_var(&self, var: usize) -> i64;
    /// The weight of the task.
    fn weight(&self) -> i64;
    /// The number of its parallel job.
    fn job(&self) -> i64;
    /// For how long the task ran, in ns.
    fn ran(&self) -> i64;
    /// Whether the task may run on a CPU.
    fn allowed(&self, cpu: CpuId) -> bool;
}

/// The values of names while expressions are evaluated.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// [`Num::Param`].
    pub params: Vec<i64>,
    /// [`Place::Me`].
    pub me: Option<At>,
    /// [`Place::Other`].
    pub other: Option<At>,
    /// [`Place::Here`].
    pub here: Option<CpuId>,
    /// [`Place::Prev`].
    pub prev: Option<CpuId>,
    /// [`Place::Slot`].
    pub slots: Vec<Option<CpuId>>,
    /// [`Num::Local`].
    pub locals: Vec<i64>,
    /// [`Num::Seen`], if time has passed since the value was read; if empty, the current values are
    /// used.
    pub seen: Vec<i64>,
    /// [`Place::Item`], by depth.
    pub items: Vec<CpuId>,
}

const MISSING: &str = "typing lets nobody name a place that the handler does not have";

impl Frame {
    /// A frame with parameters only.
    pub fn new(params: Vec<i64>) -> Frame {
        Frame { params, ..Frame::default() }
    }
    /// Binds [`Place::Item`] of a depth to a CPU.
    pub fn bind(&mut self, item: usize, cpu: CpuId) {
        self.items.resize(self.items.len().max(item + 1), cpu);
        self.items[item] = cpu;
    }
    /// Fills a slot of CPUs.
    pub fn set_slot(&mut self, slot: usize, cpu: Option<CpuId>) {
        self.slots.resize(self.slots.len().max(slot + 1), None);
        self.slots[slot] = cpu;
    }
    /// Fills a slot of numbers.
    pub fn set_local(&mut self, slot: usize, value: i64) {
        self.locals.resize(self.locals.len().max(slot + 1), 0);
        self.locals[slot] = value;
    }

    /// The group that a place denotes.
    pub fn place(&self, look: &impl Look, place: &Place) -> At {
        let tree = look.tree();
        let cpu = |cpu: CpuId| At { level: Level::Cpu, group: tree.group(Level::Cpu, cpu) };
        match place {
            Place::Me => self.me.expect(MISSING),
            Place::Other => self.other.expect(MISSING),
            Place::Here => cpu(self.here.expect(MISSING)),
            Place::Prev => cpu(self.prev.expect(MISSING)),
            Place::Home => cpu(self.home(look)),
            Place::Slot(slot) => cpu(self.slots[*slot].expect(MISSING)),
            Place::Item(item) => cpu(self.items[*item]),
            Place::Machine => At { level: Level::Machine, group: 0 },
            Place::Of(level, inner) => widen(tree, self.place(look, inner), *level),
        }
    }

    /// The lowest CPU of a place; a CPU is its own lowest.
    pub fn cpu(&self, look: &impl Look, place: &Place) -> CpuId {
        let at = self.place(look, place);
        look.tree().members(at.level, at.group)[0]
    }

    /// [`Place::Home`]. If the task may run on none of these CPUs, its home is the CPU where it
    /// was.
    fn home(&self, look: &impl Look) -> CpuId {
        let prev = self.prev.expect(MISSING);
        let nearest = || look.tree().nearest(prev, |cpu| look.allowed(cpu));
        if look.allowed(prev) { prev } else { nearest().unwrap_or(prev) }
    }

    /// The group whose queue of that name is meant.
    pub fn queue(&self, look: &impl Look, queue: &QueueAt, per: Level) -> usize {
        widen(look.tree(), self.place(look, &queue.at), per).group
    }

    fn set(&self, look: &impl Look, set: &Set) -> Vec<CpuId> {
        match set {
            Set::In(place) => {
                let at = self.place(look, place);
                look.tree().members(at.level, at.group).to_vec()
            }
            Set::Allowed => {
                look.tree().cpus().iter().copied().filter(|&cpu| look.allowed(cpu)).collect()
            }
        }
    }

    /// The CPU of a set for which `key` is greatest (or least); ties go to the lowest CPU.
    pub fn pick(
        &mut self,
        look: &impl Look,
        per: &[Level],
        (set, item, key, greatest): (&Set, usize, &Num, bool),
    ) -> Option<CpuId> {
        let mut best: Option<(i64, CpuId)> = None;
        for cpu in self.set(look, set) {
            self.bind(item, cpu);
            let value = self.num(look, per, key);
            if best.is_none_or(|(than, _)| if greatest { value > than } else { value < than }) {
                best = Some((value, cpu));
            }
        }
        best.map(|(_, cpu)| cpu)
    }

    /// The value of a number. `per` holds the level of each queue of the policy.
    pub fn num(&mut self, look: &impl Look, per: &[Level], num: &Num) -> i64 {
        match num {
            Num::Const(value) => *value,
            Num::Param(param) => self.params[*param],
            Num::Local(slot) => self.locals[*slot],
            Num::TaskVar(var) => look.task_var(*var),
            Num::CpuVar(var, place) => look.cpu_var(*var, self.cpu(look, place)),
            Num::Weight => look.weight(),
            Num::Job => look.job(),
            Num::Ran => look.ran(),
            Num::Now => look.now(),
            Num::Cpus(place) => {
                let at = self.place(look, place);
                look.tree().members(at.level, at.group).len() as i64
            }
            Num::Queued(at) => look.queued(at.queue, self.queue(look, at, per[at.queue])),
            Num::QueuedWeight(at) => {
                look.queued_weight(at.queue, self.queue(look, at, per[at.queue]))
            }
            Num::MinKey(at) => look.min_key(at.queue, self.queue(look, at, per[at.queue])),
            Num::Running(place) => self.over(look, place, |cpu| i64::from(cpu.is_some())),
            Num::RunningWeight(place) => self.over(look, place, |cpu| cpu.unwrap_or(0)),
            Num::Add(a, b) => self.num(look, per, a).saturating_add(self.num(look, per, b)),
            Num::Sub(a, b) => self.num(look, per, a).saturating_sub(self.num(look, per, b)),
            Num::Min(a, b) => self.num(look, per, a).min(self.num(look, per, b)),
            Num::Max(a, b) => self.num(look, per, a).max(self.num(look, per, b)),
            Num::Times(a, by) => self.num(look, per, a).saturating_mul(*by),
            Num::Over(a, by) => self.num(look, per, a).div_euclid(*by),
            Num::Scaled(time, weight) => {
                scaled(self.num(look, per, time), self.num(look, per, weight))
            }
            Num::Decayed(a, time, half) => {
                let (a, time) = (self.num(look, per, a), self.num(look, per, time));
                decayed(a, time, self.num(look, per, half))
            }
            Num::Seen(index, now) => match self.seen.get(*index) {
                Some(then) => *then,
                None => self.num(look, per, now),
            },
            Num::Until(period) => until(look.now(), self.num(look, per, period)),
            Num::Fold { aggregate, item, set, body } => {
                let cpus = self.set(look, set);
                let values = cpus.iter().map(|&cpu| {
                    self.bind(*item, cpu);
                    self.num(look, per, body)
                });
                aggregate.of(values)
            }
            Num::Count { item, set, body } => {
                let cpus = self.set(look, set);
                let meets = |cpu: &&CpuId| {
                    self.bind(*item, **cpu);
                    self.bool(look, per, body)
                };
                cpus.iter().filter(meets).count() as i64
            }
        }
    }

    /// Whether a condition holds.
    pub fn bool(&mut self, look: &impl Look, per: &[Level], condition: &Bool) -> bool {
        match condition {
            Bool::Const(value) => *value,
            Bool::Compare(a, how, b) => how.holds(self.num(look, per, a), self.num(look, per, b)),
            Bool::And(a, b) => self.bool(look, per, a) && self.bool(look, per, b),
            Bool::Or(a, b) => self.bool(look, per, a) || self.bool(look, per, b),
            Bool::Not(a) => !self.bool(look, per, a),
            Bool::Idle(place) => look.running(self.cpu(look, place)).is_none(),
            Bool::Allowed(place) => look.allowed(self.cpu(look, place)),
            Bool::Found(slot) => self.slots.get(*slot).copied().flatten().is_some(),
            Bool::Within(a, b) => {
                let (a, b) = (self.place(look, a), self.place(look, b));
                b.level >= a.level && widen(look.tree(), a, b.level) == b
            }
            Bool::Quantified { all, item, set, body } => {
                let cpus = self.set(look, set);
                let mut meets = |cpu: &CpuId| {
                    self.bind(*item, *cpu);
                    self.bool(look, per, body)
                };
                if *all { cpus.iter().all(meets) } else { cpus.iter().any(&mut meets) }
            }
        }
    }

    fn over(&self, look: &impl Look, place: &Place, of: impl Fn(Option<i64>) -> i64) -> i64 {
        let at = self.place(look, place);
        let members = look.tree().members(at.level, at.group);
        members.iter().fold(0, |sum, &cpu| sum.saturating_add(of(look.running(cpu))))
    }
}

/// The group of a level that contains a group; the group itself if the level is not wider.
pub fn widen(tree: &Tree, at: At, level: Level) -> At {
    if level <= at.level {
        return at;
    }
    At { level, group: tree.group(level, tree.members(at.level, at.group)[0]) }
}

impl Aggregate {
    /// The aggregate of these values; 0 if there are none.
    pub fn of(self, values: impl Iterator<Item = i64>) -> i64 {
        let mut count = 0;
        let value = values.inspect(|_| count += 1).reduce(|a, b| match self {
            Aggregate::Sum | Aggregate::Mean => a.saturating_add(b),
            Aggregate::Min => a.min(b),
            Aggregate::Max => a.max(b),
        });
        let value = value.unwrap_or(0);
        if self == Aggregate::Mean { value.div_euclid(count.max(1)) } else { value }
    }
}

impl Comparison {
    /// Whether the comparison holds for two numbers.
    pub fn holds(self, a: i64, b: i64) -> bool {
        match self {
            Comparison::Less => a < b,
            Comparison::LessOrEqual => a <= b,
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
        }
    }
}

/// A time as virtual time: `ceil(time * 100 / weight)`. Rounded up, so that every task that ran
/// pays.
pub fn scaled(time: i64, weight: i64) -> i64 {
    let (time, weight) = (i128::from(time) * 100, i128::from(weight.max(1)));
    let up = time.div_euclid(weight) + i128::from(time.rem_euclid(weight) != 0);
    up.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// What is left of `value` after `time`, if it halves in each `half`; linear between halvings, and
/// rounded down, so that integer arithmetic is enough.
pub fn decayed(value: i64, time: i64, half: i64) -> i64 {
    let (time, half) = (time.max(0), half.max(1));
    let halvings = time / half;
    if halvings > 62 {
        return 0;
    }
    let left = value.max(0) >> halvings;
    let part = i128::from(left) * i128::from(time % half) / (2 * i128::from(half));
    left - part as i64
}

/// The time from `now` to the next multiple of a period; never 0.
pub fn until(now: i64, period: i64) -> i64 {
    let period = period.max(1);
    period - now.rem_euclid(period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_time_is_rounded_up() {
        assert_eq!(scaled(1_000, 100), 1_000);
        assert_eq!(scaled(1, 10_000), 1);
        assert_eq!(scaled(0, 1), 0);
        assert_eq!(scaled(i64::MAX, 1), i64::MAX);
    }

    #[test]
    fn what_decays_halves_in_each_half() {
        assert_eq!(decayed(1_000, 0, 10), 1_000);
        assert_eq!(decayed(1_000, 10, 10), 500);
        assert_eq!(decayed(1_000, 5, 10), 750);
        assert_eq!(decayed(1_000, 700, 10), 0);
        let steps: Vec<i64> = (0..100).map(|time| decayed(12_345, time, 7)).collect();
        assert!(steps.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn the_next_multiple_is_ahead() {
        assert_eq!((until(0, 10), until(9, 10), until(10, 10)), (10, 1, 10));
    }
}
