//! Expressions: numbers, conditions, places.

/// What CPUs share. A CPU is a group of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The CPU itself.
    Cpu,
    /// A core: SMT siblings.
    Smt,
    /// A last-level cache.
    Llc,
    /// A NUMA node.
    Node,
    /// All CPUs of the machine, or of the policy's partition.
    Machine,
}

impl Level {
    /// From narrow to wide.
    pub const ALL: [Level; 5] = [Level::Cpu, Level::Smt, Level::Llc, Level::Node, Level::Machine];
    /// Its word.
    pub fn name(self) -> &'static str {
        ["cpu", "smt", "llc", "node", "machine"][self as usize]
    }
    /// The level of this name.
    pub fn named(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// What happens to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// It is new.
    New,
    /// It was woken.
    Wake,
    /// Its slice is over, or somebody took its CPU.
    Preempt,
    /// It gave way.
    Yield,
    /// It sleeps.
    Block,
    /// It has ended.
    Exit,
    /// It begins to run on [`Place::Here`].
    Start,
    /// It no longer runs on [`Place::Here`]; [`Num::Ran`] says for how long it did. Comes before
    /// `Preempt`, `Yield`, `Block` and `Exit`.
    Stop,
    /// The tick of [`Place::Here`], on which it runs.
    Tick,
}

impl Event {
    /// How many there are.
    pub const COUNT: usize = 9;
    /// All of them.
    pub const ALL: [Event; Event::COUNT] = [
        Event::New,
        Event::Wake,
        Event::Preempt,
        Event::Yield,
        Event::Block,
        Event::Exit,
        Event::Start,
        Event::Stop,
        Event::Tick,
    ];
    /// Its word.
    pub fn name(self) -> &'static str {
        ["new", "wake", "preempt", "yield", "block", "exit", "start", "stop", "tick"][self as usize]
    }
    /// The event of this name.
    pub fn named(name: &str) -> Option<Event> {
        Event::ALL.into_iter().find(|event| event.name() == name)
    }
    /// Whether its handler has to say where the task goes.
    pub fn places(self) -> bool {
        self <= Event::Yield
    }
}

/// A CPU, or a group of CPUs.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Who dispatches or balances: a CPU; in a periodic balance the group of the victims' level
    /// that the CPU is in.
    Me,
    /// The candidate of a balance: a group of the level of the queue that is stolen from.
    Other,
    /// The CPU where the event happens: that of the task's waker, or the one on which it ran.
    Here,
    /// The CPU on which the task ran last.
    Prev,
    /// The CPU on which the task ran last if it may run there, else the nearest on which it may.
    Home,
    /// The CPU in a slot of [`super::Stmt::Claim`] or [`super::Stmt::Pick`].
    Slot(usize),
    /// A member of a set, by the depth that the set gave it: a CPU.
    Item(usize),
    /// The group of this level that a place is in.
    Of(Level, Box<Place>),
    /// All CPUs.
    Machine,
}

/// One queue of those of a name: that of the group which the place is in.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueAt {
    /// Index into [`super::Policy::queues`].
    pub queue: usize,
    /// Whose.
    pub at: Place,
}

/// CPUs, to ask something of each.
#[derive(Clone, Debug, PartialEq)]
pub enum Set {
    /// Those of a place.
    In(Place),
    /// Those on which the task may run.
    Allowed,
}

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub enum Num {
    /// This one.
    Const(i64),
    /// A parameter.
    Param(usize),
    /// A slot of [`super::Stmt::Let`].
    Local(usize),
    /// A variable of the task.
    TaskVar(usize),
    /// A variable of a CPU.
    CpuVar(usize, Place),
    /// The task's weight, 1 to 10 000.
    Weight,
    /// The number of the parallel job that the task is of; 0 if of none.
    Job,
    /// In [`Event::Stop`]: for how long the task ran, in ns.
    Ran,
    /// The time, in ns.
    Now,
    /// How many CPUs a place has.
    Cpus(Place),
    /// How many tasks wait in a queue.
    Queued(QueueAt),
    /// The weights of those tasks, added.
    QueuedWeight(QueueAt),
    /// The least key that the queue ever gave out, of those in it or the last one taken: never
    /// falls. Of an ordered queue.
    MinKey(QueueAt),
    /// How many CPUs of a place run a task.
    Running(Place),
    /// The weights of those tasks, added.
    RunningWeight(Place),
    /// Sum.
    Add(Box<Num>, Box<Num>),
    /// Difference, which may be negative.
    Sub(Box<Num>, Box<Num>),
    /// The lesser.
    Min(Box<Num>, Box<Num>),
    /// The greater.
    Max(Box<Num>, Box<Num>),
    /// Times a constant.
    Times(Box<Num>, i64),
    /// Divided by a constant above zero, rounded down.
    Over(Box<Num>, i64),
    /// A time as virtual time: `ceil(time * 100 / weight)`, weight at least 1.
    Scaled(Box<Num>, Box<Num>),
    /// What is left of a number after a time, if it halves in each `half` of time: the first is
    /// the number, then the time, then half.
    Decayed(Box<Num>, Box<Num>, Box<Num>),
    /// The time from now to the next multiple of a period.
    Until(Box<Num>),
    /// In a balance's `recheck`: what a number was when the filter was asked. `seen(x)`; numbered
    /// from 0 in each balance.
    Seen(usize, Box<Num>),
    /// An aggregate over CPUs, each bound to [`Place::Item`] of `item`.
    Fold {
        /// Which.
        aggregate: Aggregate,
        /// The depth of its member.
        item: usize,
        /// Which CPUs.
        set: Set,
        /// Of what.
        body: Box<Num>,
    },
    /// How many CPUs of a set meet a condition.
    Count {
        /// The depth of its member.
        item: usize,
        /// Which CPUs.
        set: Set,
        /// Which of them count.
        body: Box<Bool>,
    },
}

/// What becomes of many numbers. Of none it is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// All added.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// Their sum divided by how many there are, rounded down.
    Mean,
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Bool {
    /// Always, or never.
    Const(bool),
    /// Two numbers compared.
    Compare(Num, Comparison, Num),
    /// Both.
    And(Box<Bool>, Box<Bool>),
    /// One at least.
    Or(Box<Bool>, Box<Bool>),
    /// The contrary.
    Not(Box<Bool>),
    /// Whether a CPU runs no task.
    Idle(Place),
    /// Whether the task may run on a CPU.
    Allowed(Place),
    /// Whether a [`super::Stmt::Claim`] found a CPU.
    Found(usize),
    /// Whether two places are the same, or the first is in the second.
    Within(Place, Place),
    /// Whether one CPU of a set meets a condition (`all` false), or all do.
    Quantified {
        /// All, or one at least.
        all: bool,
        /// The depth of its member.
        item: usize,
        /// Which CPUs.
        set: Set,
        /// The condition.
        body: Box<Bool>,
    },
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
}
