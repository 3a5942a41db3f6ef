//! Sentences of the report: the verdict, its witness or its reason, and what it assumes.

use wastenot_bounds::verdict::{Alone, Reason, Test, Witness, utilization};
use wastenot_bounds::{Answer, overheads::Beyond};
use wastenot_model::report::counted;
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_sim::edf::{Missed, Tie};

use crate::error::words;
use crate::set::Asked;
use crate::set::outcome::Outcome;

pub(super) fn cpus(count: u32) -> String {
    counted(count, "CPU")
}

/// That deadlines hold.
pub(super) fn schedulable(how: &str, asked: &Asked) -> String {
    format!(
        "Schedulable: {how}, jobs meet all deadlines{}, for any release times and any tie-breaking \
         rule.",
        with_overheads(asked)
    )
}

/// That overheads count, if they do.
pub(super) fn with_overheads(asked: &Asked) -> String {
    asked.table.as_ref().map_or_else(String::new, |it| {
        format!(" with the overheads of {} in {}", asked.implementation.name(), it.file)
    })
}

/// That deadlines do not hold.
pub(super) fn unschedulable(witness: &Witness<Missed>, tasks: &TaskSet, asked: &Asked) -> String {
    let without = match asked.table {
        None => "",
        Some(_) => " The set is unschedulable even without overheads.",
    };
    format!("Unschedulable: {}{without}", aloud(witness, tasks, asked))
}

/// A witness, read aloud.
fn aloud(witness: &Witness<Missed>, tasks: &TaskSet, asked: &Asked) -> String {
    let count = asked.cpus_for_tasks();
    let given = cpus(count);
    let helps = match asked.implementation.dedicated() {
        0 => "No scheduler meets all deadlines.",
        _ => "No scheduler meets all deadlines on these CPUs.",
    };
    match witness {
        Witness::Alone(Alone { task, released_us: 0, .. }) => {
            let (it, task) = (&tasks[*task], task + 1);
            format!(
                "a job of task {task} executes for {} us, but its deadline is {} us after its \
                 release. No scheduler meets this deadline, even on a CPU for this task alone.",
                it.wcet_us, it.deadline_us
            )
        }
        Witness::Alone(Alone { task, released_us, deadline_us, completed_us }) => {
            let (it, task) = (&tasks[*task], task + 1);
            format!(
                "jobs of task {task} execute for {} us and are released every {} us. Even on a CPU \
                 for this task alone, the job released at {released_us} us completes at \
                 {completed_us} us or later, but its deadline is at {deadline_us} us. No scheduler \
                 meets this deadline.",
                it.wcet_us, it.period_us
            )
        }
        Witness::Overuse => {
            let used = format!("{:.3}", utilization(tasks));
            let used = if used.trim_end_matches(['0', '.']) == count.to_string() {
                format!("slightly more than {count}")
            } else {
                used
            };
            let there = match (asked.implementation.dedicated(), count) {
                (0, 1) => "the machine has 1 CPU".to_owned(),
                (0, _) => format!("the machine has {given}"),
                (_, 1) => "1 CPU runs tasks".to_owned(),
                (_, _) => format!("{given} run tasks"),
            };
            format!("the utilization of the tasks is {used}, but {there}. {helps}")
        }
        Witness::Demand { window_us, demand_us } => {
            let provide = if count == 1 { "provides" } else { "provide" };
            let supply = u128::from(*window_us) * u128::from(count);
            format!(
                "if all tasks are released together, the jobs with deadlines within {window_us} us \
                 need {demand_us} us of CPU time, but {given} {provide} only {supply} us. {helps}"
            )
        }
        Witness::Missed(missed) => {
            let job = &missed.job;
            let releases = match missed.offsets_us.iter().all(|&at| at == 0) {
                true => "Releases are synchronous and periodic",
                false => "Releases are periodic and start at the offsets in `offsets_us` (--json)",
            };
            format!(
                "under global EDF on {given}, a job of task {} that is released at {} us completes \
                 at {} us, but its deadline is at {} us. {releases}; {}.",
                job.task + 1,
                job.released_us,
                job.at_us,
                job.deadline_us,
                ties(missed)
            )
        }
    }
}

/// With which tie-breaking rules a miss was seen.
fn ties(missed: &Missed) -> String {
    let words = |tie: &Tie| match tie {
        Tie::First => "the first task",
        Tie::Last => "the last task",
        Tie::Running => "the running task",
    };
    let all: Vec<&str> = missed.ties.iter().map(words).collect();
    match all.len() {
        3 => format!(
            "if deadlines are equal, {} has priority. A job is late with the other tie-breaking \
             rules, too",
            words(&missed.tie)
        ),
        _ => format!(
            "if deadlines are equal, {} has priority. With other tie-breaking rules no late job \
             was found, so this verdict does not apply to them",
            all.join(", or ")
        ),
    }
}

/// Why a verdict is unknown.
pub(super) fn unknown(tasks: &TaskSet, outcome: &Outcome, asked: &Asked) -> String {
    let judged = &outcome.judged;
    let too_much = judged.clusters[0].set().err();
    match judged.reason.unwrap_or(Reason::Test) {
        Reason::Interrupts | Reason::Latency => match too_much {
            Some(why) => format!("Overheads leave no capacity for tasks: {why}."),
            None => String::new(),
        },
        Reason::Density => "With overheads, a job executes for longer than its deadline or period \
                            (see the table of tasks)."
            .into(),
        Reason::Utilization => {
            format!("With overheads, the tasks need more than {}.", cpus(asked.question.cpus))
        }
        Reason::Demand | Reason::Miss => {
            "With overheads, the jobs of some time window need more CPU time than the CPUs provide \
             in this window."
                .into()
        }
        Reason::Deadline => match judged.refused {
            Some(task) => refused(asked, task, &tasks[task]),
            None => String::new(),
        },
        Reason::Budget => "Some tests exceeded their budget of steps.".into(),
        Reason::Test => unshown(outcome, asked).into(),
    }
}

/// That a task is none that the implementation takes.
pub(super) fn refused(asked: &Asked, task: usize, it: &Sporadic) -> String {
    format!(
        "{} allows no task whose deadline is longer than its period: Linux rejects such a task \
         (`sched_setattr` fails with EINVAL). With such a deadline, some jobs would be late \
         although global EDF completes them in time. Jobs of task {} are released every {} us, but \
         their deadline is {} us.",
        asked.implementation.name(),
        task + 1,
        it.period_us,
        it.deadline_us
    )
}

/// Of a set that no test accepts: what that is worth.
fn unshown(outcome: &Outcome, asked: &Asked) -> &'static str {
    let answers = outcome.judged.answers().unwrap_or_default();
    let cpus = asked.question.cpus;
    let global = || answers.iter().filter(|(test, _)| test.is_of_global_edf(cpus));
    let rejects = |(_, answer): &(Test, Answer)| *answer == Answer::Reject;
    match () {
        () if global().count() == 0 => {
            "No test of global EDF was selected; partitioned EDF is a different scheduler."
        }
        () if !global().any(rejects) => "None of the selected tests applies.",
        () => {
            "No selected test of global EDF accepts the set. This proves nothing, because the \
             tests are only sufficient."
        }
    }
}

/// What is assumed about the kernel; `beyond` states where an overhead was not measured.
pub(super) fn of_kernel(asked: &Asked, beyond: Option<String>) -> Vec<String> {
    let Some(table) = &asked.table else {
        return vec!["the kernel has no overheads (use `--overheads` to include them)".into()];
    };
    let file = &table.file;
    let (name, cpus) = (asked.implementation.name(), cpus(asked.cpus));
    let mut all = vec![format!(
        "{file}: the maxima are the longest observed overheads, not proven bounds. Preemptions, \
         interrupts and cache reloads are charged to jobs as in Brandenburg 2011"
    )];
    if !table.is_told {
        all.push(format!(
            "{file} does not state its implementation and CPUs, so it is assumed to be for {name} \
             on {cpus}"
        ));
    }
    let missing = asked.question.missing();
    if !missing.is_empty() {
        all.push(format!("{file} has no {}: these overheads count as 0", missing.join(", ")));
    }
    if let Some(beyond) = beyond {
        all.push(format!("extrapolated: {beyond}"));
    }
    if let Some(average) = asked.on_average() {
        all.push("averages are not bounds, so results with averages are no guarantee".into());
        let mut less = average.missing();
        less.retain(|kind| !missing.contains(kind));
        if !less.is_empty() {
            all.push(format!(
                "{file} has no averages of {}: these overheads count as 0",
                less.join(", ")
            ));
        }
    }
    all
}

/// Where an overhead is needed that was not measured, in a cluster.
pub(super) fn place(cluster: usize, beyond: &Beyond, asked: &Asked) -> String {
    format!("{} in {} {cluster}", words(beyond), asked.noun())
}
