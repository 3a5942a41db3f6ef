//! The work in a History, taken out so that another scheduler can run it: the twin of reading.
//!
//! What tasks computed between the points where they blocked, who woke whom after how much CPU time
//! of his own, who forked whom; a sleep that no task ended keeps its length. Wakeups become tokens:
//! each task has a pipe into which whoever wakes it puts one, and from which it takes one where it
//! slept, and a second one for wakers who are about to sleep. Every step was done in the History in
//! an order that the steps allow, and only its task takes from a pipe; so whatever order another
//! scheduler finds, nobody waits for ever.

mod awaited;
mod bound;
mod life;
mod said;
mod watch;
mod weave;

use std::fmt;

use wastenot_model::workload::MarkId;
use wastenot_model::{
    Carries, CpuSet, Event, History, Machine, Silent, Span, TaskId, Workload, replay,
};

pub use bound::{AsRecorded, Basis, Bound, Chain, Crowd, End};

use crate::Error;
use bound::crews::Crews;
use bound::plan::Plan;
use life::Untold;
use watch::Watch;

/// What is meant, where the History does not tell.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The run is over when these are done. If nothing is said: those for whom the scenario waits,
    /// of which this is a run, or those who came or ended within the recording.
    pub awaited: Option<&'a [TaskId]>,
    /// Who made the recording.
    pub recorder: &'a dyn Fn(TaskId) -> bool,
    /// Who may run only where it was first seen, of those whose affinity the History does not
    /// tell.
    pub pinned: &'a dyn Fn(TaskId) -> bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { awaited: None, recorder: &|_| false, pinned: &|_| false }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("awaited", &self.awaited).finish_non_exhaustive()
    }
}

/// Whether a History tells who woke whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wakers {
    /// It does, but for wakeups whose wakings were lost.
    Told,
    /// It has no wakings.
    Untold,
    /// It has wakings, but too many wakeups of those who are waited for lack one: they were not
    /// recorded all the time.
    Lacking {
        /// How many lack one.
        wakeups: u64,
        /// Of how many.
        of: u64,
    },
}

/// The work of a History.
#[derive(Clone, Debug)]
pub struct Extracted {
    /// The work. Its tasks mark [`Extracted::done`] when they have done all that was recorded.
    pub workload: Workload,
    /// The machine that it ran on. All its CPUs are equally fast: work is counted in the time that
    /// it took.
    pub machine: Machine,
    /// What those tasks mark at their end that the run waits for.
    pub done: MarkId,
    /// From the start of the History until the last of these had run for the last time.
    pub recorded: Span,
    /// How many tasks there are.
    pub tasks: usize,
    /// How many of them the run waits for.
    pub awaited: usize,
    /// CPU time of all.
    pub work: Span,
    /// CPU time of those the run waits for.
    pub awaited_work: Span,
    /// How long quotas held tasks back, all together.
    pub held: Span,
    /// How long it takes until a CPU that another one kicks looks up, where that is known.
    pub ipi: Span,
    /// How much of tasks' lives is unknown, and taken for sleep.
    pub unknown: Span,
    /// What was taken for granted.
    pub assumptions: Vec<String>,
    /// Whether it is told who woke whom.
    pub wakers: Wakers,
    /// Sleeps of which nothing tells who ended them, by template.
    untold: Vec<Untold>,
    /// What tasks have to do under any schedule, if their programs are known.
    plan: Option<Plan>,
    /// Who may share work with whom.
    crews: Crews,
}

/// Takes the work out of `history`.
pub fn extract(history: &History, options: &Options<'_>) -> Result<Extracted, Error> {
    tells_enough(history)?;
    let mut watch = Watch::new(history);
    replay(history, Silent::Unknown, &mut watch);
    let extracted = weave::weave(history, options, watch);
    if extracted.awaited == 0 || extracted.recorded == Span::ZERO {
        let what = "nobody in it ran whom the run could wait for".into();
        return Err(Error::NoWork { what, help: "name tasks that ran with `--task`".into() });
    }
    Ok(extracted)
}

/// Whether a simulator made it, which tells more than events.
fn is_simulated(history: &History) -> bool {
    history.head.source.format == "simulate"
}

/// Whether it is a part of a longer one.
fn is_part(history: &History) -> bool {
    history.head.start.as_ref().is_some_and(|start| start.past.is_some())
}

/// Work cannot be told from waiting without these.
fn tells_enough(history: &History) -> Result<(), Error> {
    let wrong = |what: String, help: &str| Err(Error::NoWork { what, help: help.into() });
    let events = "record sched_switch, sched_waking and sched_wakeup: `wastenot record`, \
                  `perf sched record`, or `trace-cmd record -e sched`";
    if !history.head.clock.nanoseconds {
        let clock = &history.head.clock.name;
        return wrong(
            format!("its clock ({clock}) counts cycles: how long anything took is unknown"),
            "say how many cycles a second has: `--clock-hz 2.4GHz`",
        );
    }
    if !history.entries().any(|entry| matches!(entry.event, Event::Switch { .. })) {
        if is_part(history) {
            let window = history.window();
            return wrong(
                format!("nobody was switched in this part of it ({})", window.span()),
                "take a longer one: `--from`, `--to`",
            );
        }
        return wrong("it holds no switch: who ran when is unknown".into(), events);
    }
    let carries = history.head.carries;
    if !carries.has(Carries::WAKINGS) && !carries.has(Carries::WAKEUPS) {
        return wrong("it holds no wakeup: who waited for whom is unknown".into(), events);
    }
    Ok(())
}

impl Extracted {
    /// The same work on another machine. Affinities to CPUs that it does not have are cut down to
    /// those that it has; who may run on none of them may run on all.
    pub fn on(mut self, machine: Machine) -> Extracted {
        let cpus = CpuSet::first(machine.len());
        let freed = |set: &CpuSet| {
            let left = set.and(&cpus);
            if left.is_empty() { cpus.clone() } else { left }
        };
        let workload = &mut self.workload;
        let (mut cut, mut whole) = (0, 0);
        for set in workload.templates.iter_mut().filter_map(|it| it.affinity.as_mut()) {
            whole += 1;
            cut += usize::from(!set.is_subset(&cpus));
            *set = freed(set);
        }
        workload.affinities.iter_mut().for_each(|set| *set = freed(set));
        for launch in &mut workload.launches {
            launch.from = weave::or_first(launch.from, machine.len());
        }
        workload.hotplug.clear();
        if cut > 0 {
            self.assumptions.push(format!(
                "{cut} of {whole} tasks with an affinity were bound to CPUs that this machine \
                 does not have"
            ));
        }
        self.machine = machine;
        self
    }
}
