//! A genome: a machine and what tasks do on it, as a scenario that can run.
//!
//! It is made and varied part by part, and then [mended](Genome::mend): references lead to what is
//! there, and no task waits for another one for ever. So every genome is a scenario that
//! `wastenot run` accepts, and its text ([`Genome::text`]) is what is run.

mod mend;
mod random;
mod smaller;
mod space;
mod text;
mod vary;

use wastenot_model::Span;

pub(crate) use self::smaller::on_few;
pub use self::smaller::{FEW, smaller};
pub use self::space::{Space, is_real_time};
pub use self::vary::{child, cross, vary};

/// The most CPUs.
pub const CPUS: usize = 64;
/// The most kinds of tasks.
pub const KINDS: usize = 6;
/// The most steps of a program, without its loop.
const STEPS: usize = 8;
/// The most groups of tasks.
const GROUPS: usize = 3;
/// The most tasks that exist from the beginning.
const TASKS: usize = 160;
/// The shortest time that a step takes, in ns.
const SHORTEST: u64 = 10_000;
/// How often a task does its steps at most.
const ROUNDS: u32 = 1000;
/// The most steps of all tasks together, so that a run takes milliseconds.
const ALL_STEPS: u64 = 6000;
/// The most steps that tasks of a kind do which go on for the whole run.
const BACKGROUND_STEPS: u64 = 4000;
/// The simulated time after which a run ends.
pub const LIMIT: Span = Span::s(2);

/// A scenario, but for its scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Genome {
    machine: Shape,
    costs: Costs,
    /// Whether nothing varies: lengths are what they say, and steps of a policy's decisions take
    /// equally long. Then what happens on several CPUs happens at the same moment.
    even: bool,
    /// All tasks are sporadic: each computes once in a period, and has to be done at its end. They
    /// leave so many CPUs to the scheduler.
    sporadic: Option<u8>,
    /// A tunable of the scheduler and its value.
    tuned: Option<(String, String)>,
    groups: Vec<Group>,
    kinds: Vec<Kind>,
    /// A kernel thread bound to each CPU: its CPU time, each so long.
    kworker: Option<(u64, u64)>,
    /// CPUs that go off and come back.
    toggles: Vec<Toggle>,
}

/// A machine: nodes with links, and what each has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Nodes.
    pub nodes: u8,
    /// Pairs of nodes that are one hop apart, the smaller first.
    pub links: Vec<(u8, u8)>,
    /// Last-level caches of a node.
    pub caches: u8,
    /// Cores of a cache.
    pub cores: u8,
    /// Threads of a core.
    pub threads: u8,
}

/// What the machine takes time for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Costs {
    /// Nothing.
    None,
    /// Switches and interrupts.
    Switches,
    /// Moves as well, further ones more.
    Moves,
    /// Interrupts come late, and balancing takes long, so that it is done rarely.
    Late,
}

impl Costs {
    const ALL: [Costs; 4] = [Costs::None, Costs::Switches, Costs::Moves, Costs::Late];
}

/// A session or a cgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Group {
    session: bool,
    shares: u32,
    /// CPU time in each 100 ms, in ms.
    quota_ms: Option<u32>,
    /// Whether it is within the group before it.
    nested: bool,
}

/// Tasks that do the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    count: u16,
    at_ns: u64,
    /// The CPU on which they are created.
    from: u8,
    nice: i8,
    /// It begins its steps at most once in so long.
    period_ns: Option<u64>,
    group: Option<u8>,
    place: Place,
    /// How often a task does its steps; never less than 1.
    rounds: u32,
    /// It does them until the run is over, which does not wait for it.
    forever: bool,
    /// How tasks wait for those of their kind; for answers they block.
    waiting: Waiting,
    steps: Vec<Step>,
}

/// Where tasks may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Any,
    /// On these nodes, a bit for each.
    Nodes(u8),
    /// On CPUs from the first on, so many.
    Cpus(u8, u8),
}

/// How a task waits for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Waiting {
    Block,
    Spin,
    /// Spins for 1 ms, then blocks.
    Both,
}

/// What a task does, again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Compute(Length),
    Sleep(Length),
    /// Computes while it has a lock, one of two.
    Locked(u8, Length),
    /// Waits for all others of its kind.
    Meet,
    /// Asks a task of this kind, and waits for the answer.
    Call(u8),
    /// Creates so many tasks of this kind, and waits until they have ended.
    Fork(u8, u8),
    Yield,
    Nice(i8),
    Move(Place),
}

/// A length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Length {
    ns: u64,
    spread: Spread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Spread {
    /// Always the same.
    Fixed,
    /// 5 % more or less.
    Some,
    /// Exponential.
    Wide,
}

/// A CPU that goes off and comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Toggle {
    cpu: u8,
    off_ns: u64,
    on_ns: u64,
}

/// What tasks of a kind are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Role {
    /// It works from the beginning.
    Worker,
    /// It answers calls.
    Server,
    /// Others create it.
    Child,
}

impl Shape {
    /// How many CPUs it has.
    pub fn cpus(&self) -> usize {
        [self.nodes, self.caches, self.cores, self.threads].map(usize::from).iter().product()
    }
}

impl Step {
    /// What a task does that does nothing else.
    const COMPUTE: Step = Step::Compute(Length { ns: 1_000_000, spread: Spread::Fixed });

    /// Whether tasks of a kind wait for one another.
    fn meets(&self) -> bool {
        *self == Step::Meet
    }
}

impl Kind {
    /// Whether one of its steps is so.
    fn has(&self, is: impl Fn(&Step) -> bool) -> bool {
        self.steps.iter().any(is)
    }

    /// Where it may run: from the beginning, and what its steps change that to.
    fn places(&mut self) -> impl Iterator<Item = &mut Place> {
        let moves = self.steps.iter_mut().filter_map(|step| match step {
            Step::Move(place) => Some(place),
            _ => None,
        });
        moves.chain([&mut self.place])
    }

    /// How long it computes and sleeps, step by step.
    fn lengths(&mut self) -> impl Iterator<Item = &mut Length> {
        self.steps.iter_mut().filter_map(|step| match step {
            Step::Compute(length) | Step::Sleep(length) | Step::Locked(_, length) => Some(length),
            _ => None,
        })
    }

    /// How many steps all of these tasks do in this time, if they do them for ever.
    fn steps_for(&mut self, ns: u64) -> u64 {
        let round_ns = self.lengths().map(|length| length.ns).sum::<u64>();
        u64::from(self.count) * self.steps.len() as u64 * (ns / round_ns.max(SHORTEST))
    }

    /// The share of a CPU that a sporadic task asks for, at most.
    fn share(&self) -> f64 {
        let Some(period_ns) = self.period_ns else { return 0.0 };
        let computes = self.steps.iter().map(|step| match step {
            Step::Compute(Length { ns, spread: Spread::Fixed }) => *ns,
            // 5 % more, in whole microseconds, as real-time schedulers count.
            Step::Compute(Length { ns, .. }) => ns + ns / 20 + 1000,
            _ => 0,
        });
        computes.sum::<u64>() as f64 / period_ns as f64
    }

    /// Computes half as long.
    fn halve(&mut self) {
        for step in &mut self.steps {
            if let Step::Compute(length) = step {
                length.ns = (length.ns / 2).max(SHORTEST);
            }
        }
    }
}

impl Genome {
    /// The machine.
    pub fn machine(&self) -> &Shape {
        &self.machine
    }

    /// How many kinds of tasks it has.
    pub fn kinds(&self) -> usize {
        self.kinds.len() + usize::from(self.kworker.is_some())
    }

    /// The longest program, in steps of the scenario.
    pub fn longest(&self) -> usize {
        let lines = |kind: usize| self.program(kind).len();
        (0..self.kinds.len()).map(lines).max().unwrap_or(0)
    }

    /// How many tasks exist from the beginning.
    pub fn tasks(&self) -> usize {
        let kinds = self.kinds.iter().enumerate();
        let launched = kinds.filter(|(n, _)| self.role(*n) != Role::Child);
        launched.map(|(_, kind)| usize::from(kind.count)).sum()
    }

    /// How many there may be at once, with those that others create.
    pub fn all_tasks(&self) -> usize {
        let forks = self.kinds.iter().map(|kind| {
            let forked = kind.steps.iter().map(|step| match step {
                Step::Fork(_, count) => usize::from(*count),
                _ => 0,
            });
            usize::from(kind.count) * forked.max().unwrap_or(0)
        });
        self.tasks() + forks.sum::<usize>()
    }

    /// The tunable that it sets, and its value.
    pub(crate) fn tuned(&self) -> Option<&(String, String)> {
        self.tuned.as_ref()
    }

    /// How many CPUs go off and come back.
    pub(crate) fn toggles(&self) -> usize {
        self.toggles.len()
    }

    /// How long an interrupt of another CPU takes.
    pub(crate) fn kick(&self) -> Span {
        match self.costs {
            Costs::None => Span::ZERO,
            Costs::Switches | Costs::Moves => Span::us(5),
            Costs::Late => Span::us(200),
        }
    }

    /// Whether a task may spin for ever: a scheduler that does not preempt it may then never run
    /// the task that it waits for.
    pub(crate) fn spins(&self) -> bool {
        self.kinds.iter().any(|kind| kind.waiting == Waiting::Spin && kind.has(Step::meets))
    }

    /// Whether no task has more right to run than another one.
    pub fn is_alike(&self) -> bool {
        let nice = self.kinds.first().map_or(0, |kind| kind.nice);
        let is_alike = |kind: &Kind| {
            let has_nice = kind.has(|step| matches!(step, Step::Nice(_)));
            kind.nice == nice && kind.group.is_none() && !has_nice
        };
        self.kworker.is_none() && self.kinds.iter().all(is_alike)
    }

    /// Whether some task may not run on some CPU, at some time.
    pub fn is_bound(&self) -> bool {
        let moves = |step: &Step| matches!(step, Step::Move(_));
        let is_bound = |kind: &Kind| kind.place != Place::Any || kind.has(moves);
        self.kworker.is_some() || self.kinds.iter().any(is_bound)
    }

    /// Whether a quota may hold tasks back.
    pub(crate) fn has_quotas(&self) -> bool {
        self.groups.iter().any(|group| group.quota_ms.is_some())
    }

    /// Whether some task yields its CPU to others.
    pub fn yields(&self) -> bool {
        self.kinds.iter().any(|kind| kind.has(|step| *step == Step::Yield))
    }

    fn role(&self, kind: usize) -> Role {
        let targets = self.kinds.iter().flat_map(|it| &it.steps);
        let (mut is_called, mut is_forked) = (false, false);
        for step in targets {
            is_called |= matches!(step, Step::Call(it) if usize::from(*it) == kind);
            is_forked |= matches!(step, Step::Fork(it, _) if usize::from(*it) == kind);
        }
        match (is_forked, is_called) {
            (true, _) => Role::Child,
            (_, true) => Role::Server,
            _ => Role::Worker,
        }
    }

    /// How many CPUs sporadic tasks need all the time, at most.
    pub fn load(&self) -> f64 {
        self.kinds.iter().map(|kind| f64::from(kind.count) * kind.share()).sum()
    }

    /// The period of sporadic tasks of this name.
    pub(crate) fn period_ns(&self, name: &str) -> Option<u64> {
        let kind = (0..self.kinds.len()).find(|kind| self.name(*kind) == name)?;
        self.kinds[kind].period_ns.filter(|_| self.sporadic.is_some())
    }
}
