//! From what was typed to what is asked of a trace.

use globset::Glob;
use wastenot_check::Options;
use wastenot_model::{CpuSet, History, TaskId, Window};

use crate::args::check::{Select, Which};
use crate::args::when::cycles;
use crate::fail::Stop;

/// What `check` is to ask of `history`.
pub(crate) fn options(history: &History, window: Window, select: &Select) -> Result<Options, Stop> {
    let Which { cpus, task } = &select.which;
    if let Some(cpus) = cpus {
        all_there(history, cpus)?;
    }
    let (cpus, tasks) = (cpus.clone(), tasks(history, task)?);
    if select.longer_than.is_some() && !history.head.clock.nanoseconds {
        return Err(cycles(history, "--longer-than is a length of time"));
    }
    Ok(Options {
        window,
        cpus,
        tasks,
        longer_than: select.longer_than.unwrap_or_default(),
        wake_grace: select.wake_grace,
        silent: select.silent_cpus.into(),
        shared_queue: select.shared_queue,
        ..Options::default()
    })
}

fn all_there(history: &History, cpus: &CpuSet) -> Result<(), Stop> {
    let count = history.cpu_count();
    match cpus.iter().find(|cpu| cpu.index() >= count) {
        None => Ok(()),
        Some(cpu) => {
            let all = CpuSet::first(count);
            Err(Stop::new(format_args!("no CPU {cpu} in the trace"), format!("it has CPUs {all}")))
        }
    }
}

/// The tasks that any of `patterns` names: a tid, or a name with `*` and `?`.
pub(super) fn tasks(history: &History, patterns: &[String]) -> Result<Option<Vec<TaskId>>, Stop> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut chosen = Vec::new();
    for pattern in patterns {
        let before = chosen.len();
        if let Ok(tid) = pattern.parse::<i32>() {
            chosen.extend(history.tasks().filter(|(_, task)| task.tid == tid).map(|(id, _)| id));
        }
        let glob = Glob::new(pattern).map_err(|error| {
            Stop::new(
                format_args!("--task {pattern}: {}", error.kind()),
                "quote it: --task 'make*'",
            )
        })?;
        let named = glob.compile_matcher();
        let fits = |id: TaskId| named.is_match(history.task_name(id));
        chosen.extend(history.tasks().map(|(id, _)| id).filter(|&id| fits(id)));
        if chosen.len() == before {
            return Err(nobody(history, pattern));
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(Some(chosen))
}

/// No task is called like that.
pub(crate) fn nobody(history: &History, pattern: &str) -> Stop {
    let what = format!("no task matches `{pattern}`");
    Stop::new(what, format!("the trace contains, for example, {}", busiest(history)))
}

/// A few names that are in the trace, those of most tasks first.
fn busiest(history: &History) -> String {
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for (id, _) in history.tasks() {
        *counts.entry(history.task_name(id)).or_default() += 1;
    }
    let mut names: Vec<(String, usize)> = counts.into_iter().collect();
    names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let names: Vec<String> =
        names.into_iter().take(5).map(|(name, _)| format!("`{name}`")).collect();
    names.join(", ")
}
