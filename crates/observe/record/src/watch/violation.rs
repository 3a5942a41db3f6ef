//! One confirmed violation, as in the JSON line.

use serde::Serialize;
use wastenot_check::sanity::{Deficit, Useless};
use wastenot_check::{Check, violations};
use wastenot_model::{Change, CpuId, Event, History, Origin, Span, TaskId, Time, Window};

/// Which invariant is violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A CPU idles while a task that may use it waits on another one.
    IdleWhileOverloaded,
    /// A task waits longer, or shorter, than others of its weight.
    RunTimeDeficit,
    /// A waiting task is moved to a CPU where no fewer tasks wait.
    UselessMigration,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 3] =
        [Kind::IdleWhileOverloaded, Kind::RunTimeDeficit, Kind::UselessMigration];

    /// Its name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Kind::IdleWhileOverloaded => "idle-while-overloaded",
            Kind::RunTimeDeficit => "run-time-deficit",
            Kind::UselessMigration => "useless-migration",
        }
    }
}

/// What `wastenot watch` prints: one line of JSON each, schema `wastenot.violation/1`. Times are
/// of CLOCK_MONOTONIC, as in the saved recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Violation {
    /// `wastenot.violation/1`
    pub schema: &'static str,
    /// Which invariant is violated.
    pub kind: Kind,
    /// When the first look found it.
    pub since_ns: u64,
    /// Until when it was seen to last; it may go on.
    pub until_ns: u64,
    /// How long that is.
    pub length_ns: u64,
    /// CPU time wasted while events were recorded.
    pub wasted_cpu_ns: u64,
    /// The task that waited longest beside an idle CPU.
    pub task: Actor,
    /// How long it waited.
    pub wait_ns: u64,
    /// Where it waited.
    pub cpu: u16,
    /// CPUs that it may use and that were idle meanwhile.
    pub idle_cpus: Vec<u16>,
    /// How its wait began: `wakeup`, `fork`, `preemption`, `slice end`, ...
    pub origin: &'static str,
    /// The task that woke or created it, if one did.
    pub waker: Option<Actor>,
    /// Its CPU before.
    pub prev_cpu: Option<u16>,
    /// What its CPU ran instead.
    pub behind: Option<Actor>,
    /// Why most of the waste came about: a path in the tree of causes, where one has more than
    /// half of it.
    pub cause: Option<&'static str>,
    /// The saved recording, if there is one.
    pub recording: Option<String>,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Actor {
    /// Its command name.
    pub name: String,
    /// Its thread id.
    pub tid: i32,
    /// Its process.
    pub pid: Option<i32>,
    /// Its cgroup, where known.
    pub cgroup: Option<String>,
}

impl Violation {
    pub(super) fn new(
        since: Time,
        history: &History,
        check: &Check,
        wait: &violations::Violation,
        until: Time,
    ) -> Violation {
        Violation {
            schema: "wastenot.violation/1",
            kind: Kind::IdleWhileOverloaded,
            since_ns: since.0,
            until_ns: until.0,
            length_ns: until.since(since).0,
            wasted_cpu_ns: check.waste.cpu_ns,
            task: Actor::of(history, wait.task),
            wait_ns: wait.window.to.since(wait.wait_since).0,
            cpu: wait.cpu.0,
            idle_cpus: wait.idle.iter().map(|idle| idle.cpu.0).collect(),
            origin: wait.origin.name(),
            waker: wait.waker.and_then(|by| by.task).map(|task| Actor::of(history, task)),
            prev_cpu: wait.prev.map(|cpu| cpu.0),
            behind: wait.behind.map(|task| Actor::of(history, task)),
            cause: check.main_cause().map(|(cause, _)| cause.path),
            recording: None,
        }
    }
}

impl Violation {
    /// A violation of another kind, without an idle CPU.
    fn other(kind: Kind, history: &History, task: TaskId, window: Window, cpu: CpuId) -> Violation {
        Violation {
            schema: "wastenot.violation/1",
            kind,
            since_ns: window.from.0,
            until_ns: window.to.0,
            length_ns: window.to.since(window.from).0,
            wasted_cpu_ns: 0,
            task: Actor::of(history, task),
            wait_ns: 0,
            cpu: cpu.0,
            idle_cpus: Vec::new(),
            origin: Origin::Unknown.name(),
            waker: None,
            prev_cpu: None,
            behind: None,
            cause: None,
            recording: None,
        }
    }

    /// A violation by a task that waited longer or shorter than its equals during `period`.
    pub(super) fn of_deficit(history: &History, found: &Deficit, period: Span) -> Violation {
        let from = Time(found.time.0.saturating_sub(period.0));
        let window = Window { from, to: found.time };
        let wait_ns = found.wait.0;
        let kind = Kind::RunTimeDeficit;
        Violation { wait_ns, ..Violation::other(kind, history, found.task, window, found.cpu) }
    }

    /// A violation by a task that was moved in vain.
    pub(super) fn of_move(history: &History, found: &Useless) -> Violation {
        let window = Window { from: found.time, to: found.time };
        let prev_cpu = Some(found.from.0);
        let kind = Kind::UselessMigration;
        Violation { prev_cpu, ..Violation::other(kind, history, found.task, window, found.to) }
    }
}

impl Actor {
    fn of(history: &History, id: TaskId) -> Actor {
        let task = history.task(id);
        let cgroup = history.entries().filter_map(|entry| match entry.event {
            Event::Changed { task, what: Change::Cgroup(name) } if task == id => Some(name),
            _ => None,
        });
        Actor {
            name: history.task_name(id),
            tid: task.map_or(0, |task| task.tid),
            pid: task.and_then(|task| task.pid),
            cgroup: cgroup.last().map(|name| history.name(name).to_owned()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn sample() -> Violation {
        let task = Actor { name: "make".into(), tid: 7, pid: Some(7), cgroup: Some("/b".into()) };
        Violation {
            schema: "wastenot.violation/1",
            kind: Kind::IdleWhileOverloaded,
            since_ns: 1_000,
            until_ns: 130_001_000,
            length_ns: 130_000_000,
            wasted_cpu_ns: 99_000_000,
            task,
            wait_ns: 4_000_000,
            cpu: 0,
            idle_cpus: vec![1],
            origin: "slice end",
            waker: None,
            prev_cpu: Some(0),
            behind: None,
            cause: Some("scheduler/placement/fork-crowd"),
            recording: None,
        }
    }

    #[test]
    fn kinds_are_named_alike_in_lines_and_metrics() {
        for kind in Kind::ALL {
            let json = serde_json::to_string(&kind).expect("JSON");
            assert_eq!(json, format!("{:?}", kind.name()));
        }
    }
}
