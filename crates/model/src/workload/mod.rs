//! A Workload: what tasks want to do, as programs of steps, and what they share while they do it.
//! It is written by hand, made by a catalogue or extracted from a History; the simulator and the
//! real runner execute the same Workload.

mod class;
mod natures;
mod program;
mod programs;
mod variate;

pub use class::Class;
pub use natures::{Nature, Natures, Synchrony};
pub use program::{MAX_DEPTH, Program, Step, Unbalanced};
pub use programs::Programs;
pub use variate::{Random, Variate};

use crate::{CpuId, CpuSet, Span, Time};

macro_rules! ids {
    ($($name:ident $doc:literal;)*) => {
        $(#[doc = $doc]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);
        impl $name {
            /// As an index into the Workload's list of them.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        })*
    };
}

ids! {
    TemplateId "One of [`Workload::templates`].";
    GroupId "One of [`Workload::groups`]; group 0 is the root.";
    LockId "One of [`Workload::locks`].";
    BarrierId "One of [`Workload::barriers`].";
    PipeId "One of [`Workload::pipes`].";
    ConditionId "One of [`Workload::conditions`].";
    MarkId "One of [`Workload::marks`].";
    AffinityId "One of [`Workload::affinities`].";
    CommandId "One of [`Workload::commands`].";
}

/// The work of all tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    /// Templates of tasks.
    pub templates: Vec<Template>,
    /// Tasks that exist without being forked by another task, in the order of `at`.
    pub launches: Vec<Launch>,
    /// Sessions and cgroups; the first is the root.
    pub groups: Vec<Group>,
    /// Mutual exclusion.
    pub locks: Vec<Lock>,
    /// Barriers, at which tasks wait for one another.
    pub barriers: Vec<Barrier>,
    /// Bounded queues of tokens between tasks.
    pub pipes: Vec<Pipe>,
    /// Condition variables: a task that does not wait misses the signal.
    pub conditions: Vec<Condition>,
    /// Names of the moments that programs mark.
    pub marks: Vec<String>,
    /// Sets of CPUs that programs change to.
    pub affinities: Vec<CpuSet>,
    /// Programs of the user that tasks run.
    pub commands: Vec<Command>,
    /// CPUs that go off and come back, in the order of `at`.
    pub hotplug: Vec<Hotplug>,
}

/// The properties of the tasks of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// Command name of its tasks.
    pub name: String,
    /// What each task does.
    pub program: Program,
    /// Nice value, -20..=19.
    pub nice: i8,
    /// The scheduling class that it asks Linux for; models of schedulers have none.
    pub class: Class,
    /// The session or cgroup.
    pub group: GroupId,
    /// The CPUs on which it may run; `None` is all.
    pub affinity: Option<CpuSet>,
    /// Whether it is a kernel thread.
    pub kthread: bool,
    /// Priority of OSv: a task of half the value gets twice the CPU time. The default is 1.
    pub priority: f64,
    /// The parallel job that it belongs to, for schedulers that run jobs as a whole.
    pub job: Option<u32>,
    /// How long after its release each job should be complete, for real-time schedulers; the
    /// default is the period.
    pub deadline: Option<Span>,
    /// The longest computation of a job, for real-time schedulers; the default is derived from the
    /// program.
    pub wcet: Option<Span>,
    /// Whether the workload is done only when the task has ended; daemons and stressors are not
    /// awaited.
    pub awaited: bool,
}

impl Template {
    /// An ordinary task.
    pub fn new(name: &str, program: Program) -> Template {
        Template {
            name: name.into(),
            program,
            nice: 0,
            class: Class::Other,
            group: GroupId(0),
            affinity: None,
            kthread: false,
            priority: 1.0,
            job: None,
            deadline: None,
            wcet: None,
            awaited: true,
        }
    }
}

/// A task that exists without being forked by another task of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// When.
    pub at: Time,
    /// Its template.
    pub template: TemplateId,
    /// The CPU on which its creator ran.
    pub from: CpuId,
}

/// A session (with a scheduler that groups by session) or a cgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// The group that contains it; only the root has none.
    pub parent: Option<GroupId>,
    /// Whether it is a session: schedulers without autogroup put its tasks into the root.
    pub session: bool,
    /// `cpu.shares`: its weight among its siblings; the default is 1024.
    pub shares: u32,
    /// How much CPU time it may use in each period.
    pub quota: Option<Quota>,
    /// The CPUs that its tasks may use (`cpuset.cpus`); `None`: all. Affinities of tasks are within
    /// it already.
    pub cpus: Option<CpuSet>,
}

impl Group {
    /// The group that every task is in.
    pub fn root() -> Group {
        let (name, shares) = ("/".to_owned(), 1024);
        Group { name, parent: None, session: false, shares, quota: None, cpus: None }
    }
}

/// Bandwidth of a group (`cpu.max`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// CPU time per period.
    pub runtime: Span,
    /// Length of a period.
    pub period: Span,
}

/// How a task waits for another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// It sleeps until it is woken.
    #[default]
    Block,
    /// It continues to run, and checks.
    Spin,
    /// It checks for this much CPU time, then sleeps (as OpenMP runtimes and adaptive mutexes do).
    SpinThenBlock(Span),
}

/// A lock. It is handed over in the order of arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Its name.
    pub name: String,
    /// How tasks wait for it.
    pub waiting: Waiting,
}

/// A barrier: the last of `parties` tasks to arrive lets all continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Its name.
    pub name: String,
    /// How many have to arrive.
    pub parties: u32,
    /// How they wait for the last one.
    pub waiting: Waiting,
}

/// A bounded queue of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipe {
    /// Its name.
    pub name: String,
    /// How many tokens fit; a task that puts one more waits. `None` is unlimited.
    pub capacity: Option<u32>,
    /// How many are in it at the start.
    pub tokens: u32,
    /// How tasks wait for a token, or for room.
    pub waiting: Waiting,
    /// Whether a wakeup through it is synchronous: the scheduler learns that the waker will sleep
    /// soon (`WF_SYNC`), as with pipes and sockets.
    pub sync: bool,
    /// Whether the tokens that a task puts into several such pipes, one step after the other, wake
    /// all waiting tasks at once, as a barrier does: the task is not preempted in between.
    pub at_once: bool,
}

/// A condition variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its name.
    pub name: String,
}

/// A program of the user with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program, and its arguments; never empty.
    pub words: Vec<String>,
    /// The folder in which it runs; empty is that of this process.
    pub folder: String,
}

impl std::fmt::Display for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}

/// A CPU goes off or comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hotplug {
    /// When.
    pub at: Time,
    /// Which CPU.
    pub cpu: CpuId,
    /// Whether it comes back.
    pub up: bool,
}

impl Workload {
    /// No tasks.
    pub fn new() -> Workload {
        Workload { groups: vec![Group::root()], ..Workload::default() }
    }

    /// Adds a kind of task.
    pub fn template(&mut self, template: Template) -> TemplateId {
        self.templates.push(template);
        TemplateId(self.templates.len() as u32 - 1)
    }
    /// Adds a task of a kind at time 0, as if created on `from`.
    pub fn launch(&mut self, template: TemplateId, from: CpuId) {
        self.launches.push(Launch { at: Time(0), template, from });
    }
    /// Adds a lock.
    pub fn lock(&mut self, name: &str, waiting: Waiting) -> LockId {
        self.locks.push(Lock { name: name.into(), waiting });
        LockId(self.locks.len() as u32 - 1)
    }
    /// Adds a barrier.
    pub fn barrier(&mut self, name: &str, parties: u32, waiting: Waiting) -> BarrierId {
        self.barriers.push(Barrier { name: name.into(), parties, waiting });
        BarrierId(self.barriers.len() as u32 - 1)
    }
    /// Adds a pipe, empty at the start.
    pub fn pipe(&mut self, name: &str, capacity: Option<u32>, waiting: Waiting) -> PipeId {
        let sync = waiting == Waiting::Block;
        self.pipes.push(Pipe {
            name: name.into(),
            capacity,
            tokens: 0,
            waiting,
            sync,
            at_once: false,
        });
        PipeId(self.pipes.len() as u32 - 1)
    }
    /// Adds a condition variable.
    pub fn condition(&mut self, name: &str) -> ConditionId {
        self.conditions.push(Condition { name: name.into() });
        ConditionId(self.conditions.len() as u32 - 1)
    }
    /// Adds a session or cgroup.
    pub fn group(&mut self, group: Group) -> GroupId {
        self.groups.push(group);
        GroupId(self.groups.len() as u32 - 1)
    }
    /// Adds a name of moments.
    pub fn mark(&mut self, name: &str) -> MarkId {
        self.marks.push(name.into());
        MarkId(self.marks.len() as u32 - 1)
    }
    /// Returns the id of these CPUs, and adds the set if the workload does not have it.
    pub fn affinity_of(&mut self, cpus: CpuSet) -> AffinityId {
        let known = self.affinities.iter().position(|set| *set == cpus);
        known.map_or_else(|| self.affinity(cpus), |at| AffinityId(at as u32))
    }
    /// Adds a program of the user.
    pub fn command(&mut self, words: Vec<String>) -> CommandId {
        self.commands.push(Command { words, folder: String::new() });
        CommandId(self.commands.len() as u32 - 1)
    }
    /// Adds a set of CPUs to change to.
    pub fn affinity(&mut self, cpus: CpuSet) -> AffinityId {
        self.affinities.push(cpus);
        AffinityId(self.affinities.len() as u32 - 1)
    }
}
