//! Extracts the work in a History, so that another scheduler can run it: the counterpart of
//! reading.
//!
//! The work is: what tasks computed between the points where they blocked, which task woke which
//! after how much CPU time of its own, and the forks; a sleep that no task ended keeps its length.
//! Wakeups become tokens: each task has a pipe into which its wakers put one token each, and from
//! which it takes one where it slept, and a second pipe for wakers that are about to sleep. Every
//! step was done in the History in an order that the steps allow, and only its task takes from a
//! pipe; so no task waits for ever, in any order that another scheduler chooses.

mod awaited;
mod bound;
mod life;
mod programs;
mod said;
mod watch;
mod weave;

use std::fmt;

use wastenot_model::workload::MarkId;
use wastenot_model::{
    Carries, CpuSet, Event, History, Machine, Silent, Span, TaskId, Workload, replay,
};

pub use bound::{AsRecorded, Basis, Bound, Chain, Crowd, End};

use bound::crews::Crews;
use bound::plan::Plan;
use life::Untold;
use wastenot_scenario::Error;
use watch::Watch;

/// Choices for what the History does not contain.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The run is over when these are done. `None`: the tasks for which the scenario waits, if the
    /// History is a run of one, otherwise those that came or ended within the recording.
    pub awaited: Option<&'a [TaskId]>,
    /// Whether a task belongs to the recorder.
    pub recorder: &'a dyn Fn(TaskId) -> bool,
    /// Whether a task may run only where it was first seen, for tasks whose affinity the History
    /// does not contain.
    pub pinned: &'a dyn Fn(TaskId) -> bool,
    /// Whether quotas hold tasks back for as long as they did. Otherwise none does.
    pub quotas: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { awaited: None, recorder: &|_| false, pinned: &|_| false, quotas: true }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("awaited", &self.awaited).finish_non_exhaustive()
    }
}

/// Whether a History contains the waker of each wakeup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wakers {
    /// It does, except for wakeups whose wakings were lost.
    Told,
    /// It has no wakings.
    Untold,
    /// It has wakings, but too many wakeups of awaited tasks lack one: wakings were not recorded
    /// all the time.
    Lacking {
        /// How many lack one.
        wakeups: u64,
        /// The number of wakeups of awaited tasks.
        of: u64,
    },
}

/// The work of a History.
#[derive(Clone, Debug)]
pub struct Extracted {
    /// The work. Its tasks mark [`Extracted::done`] when they have done everything that was
    /// recorded.
    pub workload: Workload,
    /// The recorded machine. All its CPUs are equally fast: work is counted in the time that it
    /// took.
    pub machine: Machine,
    /// The mark of awaited tasks at their end.
    pub done: MarkId,
    /// From the start of the History until the last awaited task ran for the last time.
    pub recorded: Span,
    /// The number of tasks.
    pub tasks: usize,
    /// The number of awaited tasks.
    pub awaited: usize,
    /// The CPU time of all tasks.
    pub work: Span,
    /// The CPU time of awaited tasks.
    pub(crate) awaited_work: Span,
    /// How long quotas throttled tasks, in total.
    pub held: Span,
    /// How long a CPU takes to react to a kick from another CPU, if it is known.
    pub ipi: Span,
    /// How much of the tasks' lives is unknown and counts as sleep.
    pub unknown: Span,
    /// What was assumed.
    pub assumptions: Vec<String>,
    /// Whether wakers are known.
    pub(crate) wakers: Wakers,
    /// Sleeps with unknown wakers, by template.
    untold: Vec<Untold>,
    /// What tasks must do under any schedule, if their programs are known.
    plan: Option<Plan>,
    /// Which tasks may share work.
    crews: Crews,
}

/// Extracts the work of `history`.
pub fn extract(history: &History, options: &Options<'_>) -> Result<Extracted, Error> {
    tells_enough(history)?;
    let mut watch = Watch::new(history, options.quotas);
    replay(history, Silent::Unknown, &mut watch);
    let extracted = weave::weave(history, options, watch);
    if extracted.awaited == 0 || extracted.recorded == Span::ZERO {
        let what = "none of the awaited tasks ran in this trace".into();
        return Err(Error::NoWork { what, help: "give other tasks with `--task`".into() });
    }
    Ok(extracted)
}

/// Whether a simulator made it; such a History contains more than events.
fn is_simulated(history: &History) -> bool {
    history.head.source.format == "simulate"
}

/// Whether it is a part of a longer History.
fn is_part(history: &History) -> bool {
    history.head.start.as_ref().is_some_and(|start| start.past.is_some())
}

/// Checks for the events without which work and waiting cannot be distinguished.
fn tells_enough(history: &History) -> Result<(), Error> {
    let wrong = |what: String, help: &str| Err(Error::NoWork { what, help: help.into() });
    let events = "record sched_switch, sched_waking and sched_wakeup: `wastenot record`, \
                  `perf sched record`, or `trace-cmd record -e sched`";
    if !history.head.clock.nanoseconds {
        let clock = &history.head.clock.name;
        return wrong(
            format!("the clock of the trace ({clock}) counts cycles, so times are unknown"),
            "give the number of cycles per second, for example `--clock-hz 2.4GHz`",
        );
    }
    if !history.entries().any(|entry| matches!(entry.event, Event::Switch { .. })) {
        if is_part(history) {
            let window = history.window();
            return wrong(
                format!("this part of the trace ({}) has no context switch", window.span()),
                "take a longer part: `--from`, `--to`",
            );
        }
        return wrong(
            "the trace has no context switch, so it does not show which task ran when".into(),
            events,
        );
    }
    let carries = history.head.carries;
    if !carries.has(Carries::WAKINGS) && !carries.has(Carries::WAKEUPS) {
        return wrong(
            "the trace has no wakeup, so it does not show which task waited for which".into(),
            events,
        );
    }
    Ok(())
}

impl Extracted {
    /// The same work on another machine. Affinities are limited to the CPUs that it has; a task
    /// with none of these may run on all.
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
                "{cut} of {whole} tasks with an affinity were pinned to CPUs that this machine \
                 does not have"
            ));
        }
        self.machine = machine;
        self
    }
}
