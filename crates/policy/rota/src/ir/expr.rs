//! Expressions: numbers, conditions, places.

/// A level: the resource that the CPUs of a group share. A CPU is a group of its own.
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
    /// Its word in the language.
    pub fn name(self) -> &'static str {
        ["cpu", "smt", "llc", "node", "machine"][self as usize]
    }
    /// The level of this name.
    pub fn named(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// An event that happens to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// It is new.
    New,
    /// It was woken.
    Wake,
    /// Its slice is over, or another task took its CPU.
    Preempt,
    /// It gave way.
    Yield,
    /// It sleeps.
    Block,
    /// It has ended.
    Exit,
    /// It begins to run on [`Place::Here`].
    Start,
    /// It no longer runs on [`Place::Here`]; [`Num::Ran`] is how long it ran. Comes before
    /// `Preempt`, `Yield`, `Block` and `Exit`.
    Stop,
    /// The tick of [`Place::Here`], where it runs.
    Tick,
}

impl Event {
    /// The number of events.
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
    /// Its word in the language.
    pub fn name(self) -> &'static str {
        ["new", "wake", "preempt", "yield", "block", "exit", "start", "stop", "tick"][self as usize]
    }
    /// The event of this name.
    pub fn named(name: &str) -> Option<Event> {
        Event::ALL.into_iter().find(|event| event.name() == name)
    }
    /// Whether its handler must place the task.
    pub fn places(self) -> bool {
        self <= Event::Yield
    }
}

/// A CPU, or a group of CPUs.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// The CPU that dispatches or balances; in a periodic balance, the group of the victims' level
    /// that contains this CPU.
    Me,
    /// The candidate of a balance: a group of the level of the victims' queue.
    Other,
    /// The CPU where the event happens: the waker's CPU, or the CPU on which the task ran.
    Here,
    /// The CPU on which the task ran last.
    Prev,
    /// The CPU on which the task ran last if it may run there, else the nearest on which it may.
    Home,
    /// The CPU in a slot of [`super::Stmt::Claim`] or [`super::Stmt::Pick`].
    Slot(usize),
    /// A member of a set, by the nesting depth of the set: a CPU.
    Item(usize),
    /// The group of this level that contains a place.
    Of(Level, Box<Place>),
    /// All CPUs.
    Machine,
}

/// One queue among those of a name: that of the group that contains the place.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueAt {
    /// Index into [`super::Policy::queues`].
    pub queue: usize,
    /// The place.
    pub at: Place,
}

/// A set of CPUs.
#[derive(Clone, Debug, PartialEq)]
pub enum Set {
    /// The CPUs of a place.
    In(Place),
    /// The CPUs on which the task may run.
    Allowed,
}

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub enum Num {
    /// A constant.
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
    /// The number of the task's parallel job; 0 if it has none.
    Job,
    /// In [`Event::Stop`]: for how long the task ran, in ns.
    Ran,
    /// The time, in ns.
    Now,
    /// How many CPUs a place has.
    Cpus(Place),
    /// How many tasks wait in a queue.
    Queued(QueueAt),
    /// The sum of the weights of those tasks.
    QueuedWeight(QueueAt),
    /// The least key of the tasks in the queue and of the last one taken; it never falls. For
    /// ordered queues only.
    MinKey(QueueAt),
    /// How many CPUs of a place run a task.
    Running(Place),
    /// The sum of the weights of those tasks.
    RunningWeight(Place),
    /// Sum.
    Add(Box<Num>, Box<Num>),
    /// Difference, which may be negative.
    Sub(Box<Num>, Box<Num>),
    /// The smaller of two numbers.
    Min(Box<Num>, Box<Num>),
    /// The larger of two numbers.
    Max(Box<Num>, Box<Num>),
    /// Times a constant.
    Times(Box<Num>, i64),
    /// Divided by a constant above zero, rounded down.
    Over(Box<Num>, i64),
    /// A time as virtual time: `ceil(time * 100 / weight)`, weight at least 1.
    Scaled(Box<Num>, Box<Num>),
    /// What is left of a number after a time, if it halves in each `half`: the first is the number,
    /// the second the time, the third `half`.
    Decayed(Box<Num>, Box<Num>, Box<Num>),
    /// The time from now to the next multiple of a period.
    Until(Box<Num>),
    /// In a balance's `recheck`: the value of a number when the filter was evaluated. Written
    /// `seen(x)`; numbered from 0 in each balance.
    Seen(usize, Box<Num>),
    /// An aggregate over CPUs, each bound to [`Place::Item`] of `item`.
    Fold {
        /// Which aggregate.
        aggregate: Aggregate,
        /// The nesting depth of its member.
        item: usize,
        /// The CPUs.
        set: Set,
        /// The number for each CPU.
        body: Box<Num>,
    },
    /// How many CPUs of a set meet a condition.
    Count {
        /// The nesting depth of its member.
        item: usize,
        /// The CPUs.
        set: Set,
        /// The condition for a CPU to count.
        body: Box<Bool>,
    },
}

/// How many numbers become one; no numbers give 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// The sum.
    Sum,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// The sum divided by the number of values, rounded down.
    Mean,
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Bool {
    /// Always, or never.
    Const(bool),
    /// Two numbers compared.
    Compare(Num, Comparison, Num),
    /// Both hold.
    And(Box<Bool>, Box<Bool>),
    /// At least one holds.
    Or(Box<Bool>, Box<Bool>),
    /// Negation.
    Not(Box<Bool>),
    /// Whether a CPU runs no task.
    Idle(Place),
    /// Whether the task may run on a CPU.
    Allowed(Place),
    /// Whether a [`super::Stmt::Claim`] found a CPU.
    Found(usize),
    /// Whether two places are the same, or the second contains the first.
    Within(Place, Place),
    /// Whether at least one CPU of a set meets a condition (`all` false), or all do.
    Quantified {
        /// All CPUs, or at least one.
        all: bool,
        /// The nesting depth of its member.
        item: usize,
        /// The CPUs.
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
