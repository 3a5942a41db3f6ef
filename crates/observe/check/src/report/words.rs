//! Violations and kinds in words.

use wastenot_model::{
    By, Context, CpuSet, Distance, Finding, History, NameId, Origin, Span, TaskId, Window,
};

use crate::stolen;
use crate::throttled::Held;
use crate::violations::Violation;
use crate::waste::{KeptTask, NotStarted};

pub(super) fn context_name(context: Context) -> &'static str {
    match context {
        Context::Unknown => "unknown",
        Context::Task => "task",
        Context::Softirq => "softirq",
        Context::Hardirq => "irq",
    }
}

/// A violation in a sentence.
pub(super) fn sentence(history: &History, it: &Violation) -> String {
    let how = match (it.origin, it.waker) {
        (Origin::Wakeup | Origin::NoSelection, Some(by)) => {
            format!(", woken by {}", actor(history, by))
        }
        (Origin::Fork, Some(by)) => format!(", created by {}", actor(history, by)),
        (Origin::Preempted, _) => match it.behind {
            Some(task) => format!(", preempted by {}", history.task_label(task)),
            None => ", preempted".to_owned(),
        },
        (Origin::Yielded, _) => match it.behind {
            Some(task) => format!(", switched out for {}", history.task_label(task)),
            None => ", switched out".to_owned(),
        },
        _ => String::new(),
    };
    let distance = it.idle.iter().find(|idle| idle.cpu == it.idle_cpu).map(|idle| idle.distance);
    let near = match distance.unwrap_or(Distance::Unknown) {
        Distance::Sibling => " (a sibling)",
        Distance::Llc => " (same LLC)",
        Distance::Node => " (same node)",
        Distance::Other => " (another node)",
        Distance::Same | Distance::Unknown => "",
    };
    let (task, waited) = (history.task_label(it.task), it.window.span());
    let mut idle = format!("while CPU {}{near} stayed idle for {}", it.idle_cpu, it.stretch.span());
    idle += &others(it);
    match places(it) {
        None => format!("{task} waited {waited}{how}, {idle}."),
        Some(place) if !it.moved => format!("{task} waited {waited} on {place}{how}, {idle}."),
        Some(place) => {
            format!(
                "{task} waited {waited}{how}, and migrated meanwhile. It waited on {place} {idle}."
            )
        }
    }
}

/// The other CPUs that were idle at some time in it.
fn others(it: &Violation) -> String {
    const SHOWN: usize = 8;
    let others = it.idle.iter().map(|idle| idle.cpu).filter(|&cpu| cpu != it.idle_cpu);
    let others: CpuSet = others.collect();
    match (others.len(), others.iter().next()) {
        (1, Some(other)) => format!("; CPU {other} was idle at times"),
        (0, _) | (_, None) => String::new(),
        (2..=SHOWN, _) => format!("; CPUs {others} were idle at times"),
        (count, _) => {
            let first: CpuSet = others.iter().take(SHOWN).collect();
            let more = count - SHOWN;
            format!("; CPUs {first} and {more} more were idle at times")
        }
    }
}

/// Where it waited during the stretch, in order.
fn places(it: &Violation) -> Option<String> {
    let (first, others) = it.stretch_cpus.split_first()?;
    let last = others.last().map_or(String::new(), |last| match others.len() {
        1 => format!(", then CPU {last}"),
        2 => format!(", then another CPU, then CPU {last}"),
        more => format!(", then {} other CPUs, then CPU {last}", more - 1),
    });
    Some(format!("CPU {first}{last}"))
}

/// A CPU that did not start a task.
pub(super) fn not_started_finding(history: &History, it: &NotStarted) -> Finding {
    let mut message = format!(
        "CPU {} stayed idle for {} although {} was queued on this CPU",
        it.cpu,
        it.window.span(),
        history.task_label(it.task)
    );
    let mut help =
        "a lost wakeup, a late interrupt or vCPU, a deep idle state, or forced idle".to_owned();
    if it.possibly_throttled {
        message += "; the task was possibly throttled";
        help = format!("a quota (the trace does not record throttling), or {help}");
    }
    let help = format!("possible reasons: {help}");
    let stolen = stolen::during(history, it.window).filter(|(cpu, _)| *cpu == it.cpu);
    let stolen = stolen.fold(0, |all: u64, (_, ns)| all.saturating_add(ns));
    if stolen > 0 {
        message += &format!(
            "; the hypervisor took {} from the CPU in the seconds that contain this delay",
            Span(stolen)
        );
    }
    Finding {
        code: "not-started".to_owned(),
        window: it.window,
        message: message + ".",
        help: Some(help),
    }
}

/// The wait in which the affinity of a task excluded idle CPUs longest, in a sentence.
pub(super) fn kept_sentence(history: &History, it: &KeptTask) -> String {
    let all = it.window.span() == Span(it.longest_ns);
    format!(
        "{0} waited {1}. Its affinity ({3}) excluded the idle CPUs during {2}.",
        history.task_label(it.task),
        it.window.span(),
        match all {
            true => "the whole wait".to_owned(),
            false => format!("{} of this wait", Span(it.longest_ns)),
        },
        cpus(history, it)
    )
}

/// The CPUs that it may use: `CPU 3`, or `CPUs 0-3`.
pub(super) fn cpus(history: &History, it: &KeptTask) -> String {
    match history.mask(it.mask) {
        Some(mask) => format!("CPU{} {mask}", if mask.len() == 1 { "" } else { "s" }),
        None => "unknown CPUs".to_owned(),
    }
}

/// A task that its affinity kept from idle CPUs.
pub(super) fn kept_finding(history: &History, it: &KeptTask) -> Finding {
    Finding {
        code: "affinity".to_owned(),
        window: it.window,
        message: format!(
            "{} waited {} in total although other CPUs were idle: its affinity allows only {}.",
            history.task_label(it.task),
            Span(it.kept_ns),
            cpus(history, it)
        ),
        help: Some("check its own mask (taskset), its cpuset, and isolated CPUs".to_owned()),
    }
}

/// A task that quotas held back.
pub(super) fn throttled_finding(
    history: &History,
    counted: Window,
    (task, group, held): &(TaskId, Option<NameId>, Held),
) -> Finding {
    let group = group.map_or(String::new(), |group| format!(" in {}", history.name(group)));
    Finding {
        code: "throttled".to_owned(),
        window: counted,
        message: format!(
            "A quota held back {}{group} for {} in total; the longest time was {}.",
            history.task_label(*task),
            Span(held.held_ns),
            Span(held.longest_ns)
        ),
        help: Some("check cpu.max of its cgroup and of the cgroups above it".to_owned()),
    }
}

fn actor(history: &History, by: By) -> String {
    match (by.context, by.task) {
        (Context::Hardirq, _) => "an interrupt".to_owned(),
        (Context::Softirq, _) => "a softirq".to_owned(),
        (_, Some(task)) if task.is_idle() => "the idle task".to_owned(),
        (_, Some(task)) => history.task_label(task),
        (_, None) => "an unknown task".to_owned(),
    }
}
