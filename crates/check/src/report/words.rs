//! Violations and kinds in words.

use wastenot_model::{By, Context, Distance, History, Origin};

use crate::violations::Violation;

/// `1 CPU`, `2 CPUs`.
pub(super) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

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
    format!(
        "{} waited {} on CPU {}{how}, while CPU {}{near} stayed idle for {}.",
        history.task_label(it.task),
        it.window.span(),
        it.cpu,
        it.idle_cpu,
        it.stretch.span()
    )
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
