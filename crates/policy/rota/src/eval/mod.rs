//! Evaluates expressions against any source of queue and CPU state, in any [`Domain`]. The
//! interpreter and the explorer compute numbers; proofs also compute intervals and terms.

mod domain;

use wastenot_model::CpuId;

pub use self::domain::{Domain, Exact, decayed, scaled, until};
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

/// A number that expressions read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// How many tasks wait in a queue of a group.
    Queued(usize, usize),
    /// The sum of the weights of those tasks.
    QueuedWeight(usize, usize),
    /// [`Num::MinKey`].
    MinKey(usize, usize),
    /// How many tasks a CPU runs: 1 or 0.
    Running(CpuId),
    /// The weight of that task, or 0.
    RunningWeight(CpuId),
    /// A variable of a CPU.
    CpuVar(usize, CpuId),
    /// A variable of the task at hand.
    TaskVar(usize),
    /// The weight of the task.
    Weight,
    /// The number of its parallel job.
    Job,
    /// For how long the task ran, in ns.
    Ran,
    /// The time, in ns.
    Now,
}

/// A source of queue and CPU state.
pub trait Look {
    /// The domain of its numbers.
    type Domain: Domain;

    /// The groups.
    fn tree(&self) -> &Tree;
    /// Whether the task at hand may run on a CPU.
    fn allowed(&self, cpu: CpuId) -> bool;
    /// A number.
    fn read(&self, leaf: Leaf) -> <Self::Domain as Domain>::Num;

    /// A parameter with this value.
    fn param(&self, value: i64) -> <Self::Domain as Domain>::Num {
        Self::Domain::number(value)
    }
    /// [`Bool::Within`] of two places, which in the frame holds or does not.
    fn within(&self, _places: [&Place; 2], holds: bool) -> <Self::Domain as Domain>::Bool {
        Self::Domain::truth(holds)
    }
}

/// The values of names while expressions are evaluated.
#[derive(Clone, Debug)]
pub struct Frame<D: Domain = Exact> {
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
    pub locals: Vec<D::Num>,
    /// [`Num::Seen`], if time has passed since the value was read; if empty, the current values are
    /// used.
    pub seen: Vec<D::Num>,
    /// [`Place::Item`], by depth.
    pub items: Vec<CpuId>,
}

const MISSING: &str = "the type checker accepts a place only in handlers that have this place";

impl<D: Domain> Frame<D> {
    /// A frame with parameters only.
    pub fn new(params: Vec<i64>) -> Frame<D> {
        Frame {
            params,
            me: None,
            other: None,
            here: None,
            prev: None,
            slots: Vec::new(),
            locals: Vec::new(),
            seen: Vec::new(),
            items: Vec::new(),
        }
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
    pub fn set_local(&mut self, slot: usize, value: D::Num) {
        self.locals.resize(self.locals.len().max(slot + 1), value.clone());
        self.locals[slot] = value;
    }

    /// The group that a place denotes.
    pub fn place(&self, look: &impl Look<Domain = D>, place: &Place) -> At {
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
    pub fn cpu(&self, look: &impl Look<Domain = D>, place: &Place) -> CpuId {
        self.members(look, place)[0]
    }

    /// [`Place::Home`]. If the task may run on none of these CPUs, its home is the CPU where it
    /// was.
    fn home(&self, look: &impl Look<Domain = D>) -> CpuId {
        let prev = self.prev.expect(MISSING);
        let nearest = || look.tree().nearest(prev, |cpu| look.allowed(cpu));
        if look.allowed(prev) { prev } else { nearest().unwrap_or(prev) }
    }

    /// The group whose queue of that name is meant.
    pub fn queue(&self, look: &impl Look<Domain = D>, queue: &QueueAt, per: Level) -> usize {
        widen(look.tree(), self.place(look, &queue.at), per).group
    }

    /// The CPUs of a set.
    pub fn set(&self, look: &impl Look<Domain = D>, set: &Set) -> Vec<CpuId> {
        match set {
            Set::In(place) => self.members(look, place).to_vec(),
            Set::Allowed => {
                look.tree().cpus().iter().copied().filter(|&cpu| look.allowed(cpu)).collect()
            }
        }
    }

    /// The value of a number. `per` holds the level of each queue of the policy.
    pub fn num(&mut self, look: &impl Look<Domain = D>, per: &[Level], num: &Num) -> D::Num {
        let mut of = |num: &Num| self.num(look, per, num);
        match num {
            Num::Const(value) => D::number(*value),
            Num::Param(param) => look.param(self.params[*param]),
            Num::Local(slot) => self.locals[*slot].clone(),
            Num::TaskVar(var) => look.read(Leaf::TaskVar(*var)),
            Num::CpuVar(var, place) => look.read(Leaf::CpuVar(*var, self.cpu(look, place))),
            Num::Weight => look.read(Leaf::Weight),
            Num::Job => look.read(Leaf::Job),
            Num::Ran => look.read(Leaf::Ran),
            Num::Now => look.read(Leaf::Now),
            Num::Cpus(place) => D::number(self.members(look, place).len() as i64),
            Num::Queued(at) => self.of_queue(look, at, per, Leaf::Queued),
            Num::QueuedWeight(at) => self.of_queue(look, at, per, Leaf::QueuedWeight),
            Num::MinKey(at) => self.of_queue(look, at, per, Leaf::MinKey),
            Num::Running(place) => self.of_cpus(look, place, Leaf::Running),
            Num::RunningWeight(place) => self.of_cpus(look, place, Leaf::RunningWeight),
            Num::Add(a, b) => D::add(of(a), of(b)),
            Num::Sub(a, b) => D::sub(of(a), of(b)),
            Num::Min(a, b) => D::min(of(a), of(b)),
            Num::Max(a, b) => D::max(of(a), of(b)),
            Num::Times(a, by) => D::times(of(a), *by),
            Num::Over(a, by) => D::over(of(a), *by),
            Num::Scaled(time, weight) => D::scaled(of(time), of(weight)),
            Num::Decayed(a, time, half) => D::decayed(of(a), of(time), of(half)),
            Num::Until(period) => D::until(look.read(Leaf::Now), of(period)),
            Num::Seen(index, now) => match self.seen.get(*index) {
                Some(then) => then.clone(),
                None => self.num(look, per, now),
            },
            Num::Fold { aggregate, item, set, body } => {
                let cpus = self.set(look, set).into_iter();
                aggregate.of::<D>(cpus.map(|cpu| self.bound(*item, cpu).num(look, per, body)))
            }
            Num::Count { item, set, body } => {
                let cpus = self.set(look, set).into_iter();
                let meets = cpus.map(|cpu| self.bound(*item, cpu).bool(look, per, body));
                sum::<D>(meets.map(D::one_if))
            }
        }
    }

    /// Whether a condition holds.
    pub fn bool(&mut self, look: &impl Look<Domain = D>, per: &[Level], of: &Bool) -> D::Bool {
        match of {
            Bool::Const(value) => D::truth(*value),
            Bool::Compare(a, how, b) => {
                D::compare(self.num(look, per, a), *how, self.num(look, per, b))
            }
            Bool::And(a, b) => {
                D::joined(true, [a, b].into_iter().map(|it| self.bool(look, per, it)))
            }
            Bool::Or(a, b) => {
                D::joined(false, [a, b].into_iter().map(|it| self.bool(look, per, it)))
            }
            Bool::Not(a) => D::not(self.bool(look, per, a)),
            Bool::Idle(place) => {
                let running = look.read(Leaf::Running(self.cpu(look, place)));
                D::not(D::compare(D::number(1), Comparison::LessOrEqual, running))
            }
            Bool::Allowed(place) => D::truth(look.allowed(self.cpu(look, place))),
            Bool::Found(slot) => D::truth(self.slots.get(*slot).copied().flatten().is_some()),
            Bool::Within(inner, outer) => {
                let (a, b) = (self.place(look, inner), self.place(look, outer));
                let holds = b.level >= a.level && widen(look.tree(), a, b.level) == b;
                look.within([inner, outer], holds)
            }
            Bool::Quantified { all, item, set, body } => {
                let cpus = self.set(look, set).into_iter();
                D::joined(*all, cpus.map(|cpu| self.bound(*item, cpu).bool(look, per, body)))
            }
        }
    }

    fn members<'l>(&self, look: &'l impl Look<Domain = D>, place: &Place) -> &'l [CpuId] {
        let at = self.place(look, place);
        look.tree().members(at.level, at.group)
    }

    fn of_queue(
        &self,
        look: &impl Look<Domain = D>,
        at: &QueueAt,
        per: &[Level],
        leaf: impl Fn(usize, usize) -> Leaf,
    ) -> D::Num {
        look.read(leaf(at.queue, self.queue(look, at, per[at.queue])))
    }

    fn of_cpus(
        &self,
        look: &impl Look<Domain = D>,
        place: &Place,
        leaf: impl Fn(CpuId) -> Leaf,
    ) -> D::Num {
        sum::<D>(self.members(look, place).iter().map(|&cpu| look.read(leaf(cpu))))
    }

    fn bound(&mut self, item: usize, cpu: CpuId) -> &mut Self {
        self.bind(item, cpu);
        self
    }
}

fn sum<D: Domain>(numbers: impl Iterator<Item = D::Num>) -> D::Num {
    Aggregate::Sum.of::<D>(numbers)
}

impl<D: Domain> Default for Frame<D> {
    fn default() -> Frame<D> {
        Frame::new(Vec::new())
    }
}

impl Frame {
    /// The CPU of a set for which `key` is greatest (or least); ties go to the lowest CPU.
    pub fn pick(
        &mut self,
        look: &impl Look<Domain = Exact>,
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
}

/// The group of a level that contains a group; the group itself if the level is not wider.
pub fn widen(tree: &Tree, at: At, level: Level) -> At {
    if level <= at.level {
        return at;
    }
    At { level, group: tree.group(level, tree.members(at.level, at.group)[0]) }
}
