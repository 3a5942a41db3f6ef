//! Converts the selection on the command line to options of a check.

use std::path::Path;

use globset::{Glob, GlobMatcher};
use wastenot_check::Options;
use wastenot_model::{Change, CpuSet, Event, History, TaskId, Window};

use crate::args::check::{Looking, Select, Which};
use crate::args::explain::Whom;
use crate::args::when::cycles;
use crate::fail::Stop;
use crate::open;

/// The History in `file`, and the options for its check.
pub(super) fn read(file: &Path, looking: &Looking) -> Result<(History, Options), Stop> {
    let history = open::history(file, &looking.reading)?;
    let options = options(&history, looking.window.of(&history)?, &looking.select)?;
    Ok((history, options))
}

/// The options for a check of `history`.
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
            let what = format!("the trace has no CPU {cpu}");
            Err(Stop::new(what, format!("choose from CPUs {all}")))
        }
    }
}

/// The tasks that match any of `patterns`: a tid, or a name with `*` and `?`.
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
        let named = glob("--task", pattern)?;
        let fits = |id: TaskId| {
            named.is_match(history.task_name(id)) || history.task_label(id) == *pattern
        };
        chosen.extend(history.tasks().map(|(id, _)| id).filter(|&id| fits(id)));
        if chosen.len() == before {
            return Err(nobody(history, pattern));
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(Some(chosen))
}

/// The tasks to explain.
pub(super) fn whom(history: &History, whom: &Whom) -> Result<Vec<TaskId>, Stop> {
    if let Some(names) = whom.task.as_ref().or(whom.command.as_ref()) {
        return Ok(tasks(history, std::slice::from_ref(names))?.unwrap_or_default());
    }
    if let Some(pid) = whom.pid {
        let threads = history.tasks().filter(|(_, task)| task.pid == Some(pid));
        let threads: Vec<TaskId> = threads.map(|(id, _)| id).collect();
        let help = "use `--task TASK` (a tid or a name); many traces contain no process ids";
        let none = || Stop::new(format_args!("the trace has no task of process {pid}"), help);
        return (!threads.is_empty()).then_some(threads).ok_or_else(none);
    }
    let pattern = whom.cgroup.as_deref().unwrap_or("*");
    let glob = glob("--cgroup", pattern)?;
    let groups = history.entries().filter_map(|entry| match entry.event {
        Event::Changed { task, what: Change::Cgroup(group) } => Some((task, history.name(group))),
        _ => None,
    });
    let (in_it, others): (Vec<_>, Vec<_>) = groups.partition(|(_, group)| glob.is_match(group));
    if in_it.is_empty() {
        let what = format!("no task was in a cgroup that matches `{pattern}`");
        let help = match others.first() {
            Some((_, group)) => format!("choose a cgroup of the trace, for example `{group}`"),
            None => "use `--task TASK`; the trace contains no cgroups".to_owned(),
        };
        return Err(Stop::new(what, help));
    }
    Ok(in_it.into_iter().map(|(task, _)| task).collect())
}

fn glob(option: &str, pattern: &str) -> Result<GlobMatcher, Stop> {
    let glob = Glob::new(pattern).map_err(|error| {
        Stop::new(
            format_args!("{option} {pattern}: {}", error.kind()),
            format_args!("quote the pattern: {option} 'make*'"),
        )
    })?;
    Ok(glob.compile_matcher())
}

/// The error if no task matches.
pub(crate) fn nobody(history: &History, pattern: &str) -> Stop {
    let what = format!("no task matches `{pattern}`");
    Stop::new(what, format!("choose a task of the trace, for example {}", busiest(history)))
}

/// A few task names of the trace, the most frequent ones first.
fn busiest(history: &History) -> String {
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for (id, _) in history.tasks() {
        *counts.entry(history.task_name(id)).or_default() += 1;
    }
    // What a recorder writes for a task whose name it does not know.
    counts.remove("<...>");
    let mut names: Vec<(String, usize)> = counts.into_iter().collect();
    names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let names: Vec<String> =
        names.into_iter().take(5).map(|(name, _)| format!("`{name}`")).collect();
    names.join(", ")
}
