//! A genome: a machine and what tasks do on it, as a scenario that can run.
//!
//! It is made and varied part by part, and then [mended](Genome::mend): references lead to what is
//! there, and no task waits for another one for ever. So every genome is a scenario that
//! `wastenot run` accepts, and its text ([`Genome::text`]) is what is run.

mod random;
mod smaller;
mod space;
mod text;
mod vary;

use wastenot_model::Span;

pub use self::smaller::smaller;
pub use self::space::{Space, is_real_time};
pub use self::vary::{cross, vary};

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
/// The most steps of all tasks together, so that a run takes milliseconds.
const ALL_STEPS: u64 = 6000;
/// The simulated time after which a run ends.
pub const LIMIT: Span = Span::s(2);

/// A scenario, but for its scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genome {
    machine: Shape,
    costs: Costs,
    /// Whether all steps of a policy's decisions take equally long.
    even: bool,
    /// All tasks are sporadic: each computes once in a period, and has to be done at its end.
    sporadic: bool,
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    session: bool,
    shares: u32,
    /// CPU time in each 100 ms, in ms.
    quota_ms: Option<u32>,
    /// Whether it is within the group before it.
    nested: bool,
}

/// Tasks that do the same.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// How tasks wait for those of their kind, and for answers.
    waiting: Waiting,
    steps: Vec<Step>,
}

/// Where tasks may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Any,
    /// On these nodes, a bit for each.
    Nodes(u8),
    /// On CPUs from the first on, so many.
    Cpus(u8, u8),
}

/// How a task waits for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    Block,
    Spin,
    /// Spins for 1 ms, then blocks.
    Both,
}

/// What a task does, again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Length {
    ns: u64,
    spread: Spread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spread {
    /// Always the same.
    Fixed,
    /// 5 % more or less.
    Some,
    /// Exponential.
    Wide,
}

/// A CPU that goes off and comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Toggle {
    cpu: u8,
    off_ns: u64,
    on_ns: u64,
}

/// What tasks of a kind are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    fn mend(&mut self) {
        for (number, most) in [
            (&mut self.nodes, 8),
            (&mut self.caches, 4),
            (&mut self.cores, 16),
            (&mut self.threads, 2),
        ] {
            *number = (*number).clamp(1, most);
        }
        while self.cpus() > CPUS {
            let parts = [&mut self.cores, &mut self.caches, &mut self.nodes];
            let largest = parts.into_iter().max_by_key(|it| **it);
            largest.into_iter().for_each(|it| *it -= 1);
        }
        let nodes = self.nodes;
        self.links.retain(|(a, b)| a < b && *b < nodes);
        self.links.sort_unstable();
        self.links.dedup();
        // Each node that is not reached gets a link to the one before it.
        let mut reached = 1u8;
        for node in 1..nodes {
            loop {
                let more = self.links.iter().fold(reached, |reached, (a, b)| {
                    let (a, b) = (1 << a, 1 << b);
                    if reached & (a | b) == 0 { reached } else { reached | a | b }
                });
                if more == reached {
                    break;
                }
                reached = more;
            }
            if reached & 1 << node == 0 {
                self.links.push((node - 1, node));
            }
        }
        self.links.sort_unstable();
    }
}

impl Place {
    fn mend(&mut self, machine: &Shape) {
        let cpus = machine.cpus() as u8;
        match self {
            Place::Any => {}
            Place::Nodes(mask) => {
                let all = ((1u16 << machine.nodes) - 1) as u8;
                if *mask & all == 0 || *mask & all == all {
                    *self = Place::Any;
                } else {
                    *mask &= all;
                }
            }
            Place::Cpus(first, count) => {
                *first %= cpus;
                *count = (*count).clamp(1, cpus - *first);
                if *count == cpus {
                    *self = Place::Any;
                }
            }
        }
    }
}

impl Kind {
    /// Whether one of its steps is so.
    fn has(&self, is: impl Fn(&Step) -> bool) -> bool {
        self.steps.iter().any(is)
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
    pub fn tuned(&self) -> Option<&(String, String)> {
        self.tuned.as_ref()
    }

    /// How many CPUs go off and come back.
    pub fn toggles(&self) -> usize {
        self.toggles.len()
    }

    /// How long an interrupt of another CPU takes.
    pub fn kick(&self) -> Span {
        match self.costs {
            Costs::None => Span::ZERO,
            Costs::Switches | Costs::Moves => Span::us(5),
            Costs::Late => Span::us(200),
        }
    }

    /// Whether a task may spin: a scheduler that does not preempt it may then never run the task
    /// that it waits for.
    pub fn spins(&self) -> bool {
        self.kinds.iter().any(|kind| kind.waiting != Waiting::Block)
    }

    /// Whether no task has more right to run than another one.
    pub fn is_even(&self) -> bool {
        let nice = self.kinds.first().map_or(0, |kind| kind.nice);
        let is_even = |kind: &Kind| {
            let has_nice = kind.has(|step| matches!(step, Step::Nice(_)));
            kind.nice == nice && kind.group.is_none() && !has_nice
        };
        self.kworker.is_none() && self.kinds.iter().all(is_even)
    }

    /// Whether each task may run on each CPU, and takes what it gets.
    pub fn is_free(&self) -> bool {
        let gives = |step: &Step| matches!(step, Step::Move(_) | Step::Yield);
        self.kinds.iter().all(|kind| kind.place == Place::Any && !kind.has(gives))
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

    /// Makes it a scenario that can run: whatever was put together, all of it leads somewhere.
    pub(crate) fn mend(mut self) -> Genome {
        self.machine.mend();
        if self.sporadic {
            self.mend_jobs();
        }
        let machine = self.machine.clone();
        let cpus = machine.cpus() as u8;
        self.groups.truncate(GROUPS);
        if let Some(first) = self.groups.first_mut() {
            first.nested = false;
        }
        self.kinds.truncate(KINDS);
        let (groups, kinds) = (self.groups.len(), self.kinds.len());
        for (n, kind) in self.kinds.iter_mut().enumerate() {
            kind.count = kind.count.clamp(1, 64);
            kind.from %= cpus;
            kind.nice = kind.nice.clamp(-20, 19);
            kind.group = kind.group.filter(|group| usize::from(*group) < groups);
            kind.place.mend(&machine);
            kind.steps.truncate(STEPS);
            // What works for others comes after them, so that there is no circle.
            let is_later = |it: u8| usize::from(it) > n && usize::from(it) < kinds;
            kind.steps.retain(|step| match step {
                Step::Call(it) | Step::Fork(it, _) => is_later(*it),
                _ => true,
            });
            for step in &mut kind.steps {
                match step {
                    Step::Move(place) => place.mend(&machine),
                    Step::Fork(_, count) => *count = (*count).clamp(1, 32),
                    Step::Nice(nice) => *nice = (*nice).clamp(-20, 19),
                    Step::Locked(lock, _) => *lock %= 2,
                    _ => {}
                }
            }
        }
        // A kind that is created by others answers none, and those below wait for none.
        for n in 0..kinds {
            let role = self.role(n);
            if role == Role::Child {
                for step in self.kinds.iter_mut().flat_map(|it| &mut it.steps) {
                    if *step == Step::Call(n as u8) {
                        *step = Step::Yield;
                    }
                }
            }
            let kind = &mut self.kinds[n];
            if role != Role::Worker {
                kind.forever = false;
                kind.period_ns = None;
                kind.steps
                    .retain(|step| !matches!(step, Step::Meet | Step::Call(_) | Step::Fork(..)));
            }
            if kind.count == 1 {
                kind.steps.retain(|step| *step != Step::Meet);
            }
            if !kind.has(|step| matches!(step, Step::Compute(_) | Step::Locked(..))) {
                kind.steps.truncate(STEPS - 1);
                kind.steps.push(Step::Compute(Length { ns: 1_000_000, spread: Spread::Fixed }));
            }
        }
        // The run waits for the first kind.
        if let Some(first) = self.kinds.first_mut() {
            first.forever = false;
        }
        // What goes on for the whole run does not do too much.
        for step in self.kinds.iter_mut().filter(|it| it.forever).flat_map(|it| &mut it.steps) {
            if let Step::Compute(length) | Step::Sleep(length) | Step::Locked(_, length) = step {
                length.ns = length.ns.max(10 * SHORTEST);
            }
        }
        self.mend_amounts();
        let mut seen = 0u64;
        self.toggles.retain_mut(|it| {
            it.cpu %= cpus;
            it.on_ns = it.on_ns.max(it.off_ns + 1_000_000);
            let is_new = seen & 1 << it.cpu == 0;
            seen |= 1 << it.cpu;
            is_new && cpus > 1
        });
        self.toggles.truncate(usize::from(cpus - 1).min(2));
        self
    }

    /// Sporadic tasks compute, and ask for no more than all CPUs. Then there is a schedule in which
    /// each job is complete at the end of its period (Baruah et al., Proportionate progress,
    /// Algorithmica 1996).
    fn mend_jobs(&mut self) {
        let cpus = self.machine.cpus() as f64;
        (self.costs, self.even, self.kworker) = (Costs::None, false, None);
        self.groups.clear();
        self.toggles.clear();
        for kind in &mut self.kinds {
            (kind.nice, kind.group, kind.place, kind.from) = (0, None, Place::Any, 0);
            (kind.forever, kind.waiting) = (false, Waiting::Block);
            kind.rounds = kind.rounds.max(2);
            kind.steps.retain(|step| matches!(step, Step::Compute(_)));
            if kind.steps.is_empty() {
                kind.steps.push(Step::Compute(Length { ns: 1_000_000, spread: Spread::Fixed }));
            }
            for step in &mut kind.steps {
                if let Step::Compute(Length { spread: spread @ Spread::Wide, .. }) = step {
                    *spread = Spread::Some;
                }
            }
            kind.period_ns = Some(kind.period_ns.map_or(10_000_000, |it| it.max(1_000_000)));
            while kind.share() > 1.0 {
                kind.halve();
            }
        }
        while self.load() > cpus {
            let most = self.kinds.iter_mut().max_by_key(|kind| kind.count);
            let Some(most) = most else { break };
            match most.count {
                0..=1 => self.kinds.iter_mut().for_each(Kind::halve),
                count => most.count = count / 2,
            }
        }
    }

    /// How many CPUs sporadic tasks need all the time, at most.
    pub fn load(&self) -> f64 {
        self.kinds.iter().map(|kind| f64::from(kind.count) * kind.share()).sum()
    }

    /// The period of sporadic tasks of this name.
    pub fn period_ns(&self, name: &str) -> Option<u64> {
        let kind = (0..self.kinds.len()).find(|kind| self.name(*kind) == name)?;
        self.kinds[kind].period_ns.filter(|_| self.sporadic)
    }

    /// Takes tasks, then rounds, until a run is short.
    fn mend_amounts(&mut self) {
        while self.tasks() > TASKS {
            let most = self.kinds.iter_mut().max_by_key(|kind| kind.count);
            most.into_iter().for_each(|kind| kind.count = (kind.count / 2).max(1));
        }
        // A child's steps are done for each time that it is created.
        let steps = |of: &Genome| {
            let each = of.kinds.iter().enumerate().map(|(n, kind)| {
                let forks = kind.steps.iter().map(|step| match step {
                    Step::Fork(child, count) => {
                        let child = &of.kinds[usize::from(*child)];
                        u64::from(*count) * u64::from(child.rounds) * child.steps.len() as u64
                    }
                    _ => 1,
                });
                let once = u64::from(kind.rounds) * forks.sum::<u64>();
                if of.role(n) == Role::Child { 0 } else { u64::from(kind.count) * once }
            });
            each.sum::<u64>()
        };
        for kind in &mut self.kinds {
            kind.rounds = kind.rounds.clamp(1, 1000);
        }
        while steps(self) > ALL_STEPS {
            let Some(most) = self.kinds.iter_mut().max_by_key(|kind| kind.rounds) else { break };
            if most.rounds > 1 {
                most.rounds = most.rounds * 3 / 4;
                continue;
            }
            let most = self.kinds.iter_mut().max_by_key(|kind| kind.count);
            most.into_iter().for_each(|kind| kind.count = (kind.count / 2).max(1));
            let forks = self.kinds.iter_mut().flat_map(|kind| &mut kind.steps);
            for step in forks {
                if let Step::Fork(_, count) = step {
                    *count = (*count / 2).max(1);
                }
            }
        }
    }
}
