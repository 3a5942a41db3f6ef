//! What was found of clusters, in words and figures.

use wastenot_bounds::verdict::{Cluster, Partitioning, Reason, Verdict, utilization};
use wastenot_model::report::counted;
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_model::{Report, Table, Unit};

use super::json;
use super::words::{self, cpus};
use crate::Implementation;
use crate::set::outcome::Outcome;
use crate::set::{Asked, LISTED};

/// The whole report.
pub(in crate::set) fn report(
    name: &str,
    tasks: &TaskSet,
    asked: &Asked,
    outcome: &Outcome,
) -> Report {
    let apart = match asked.cpus {
        1 => "partitioned".to_owned(),
        _ => format!("in {}", these(asked)),
    };
    let all = cpus(asked.question.clusters * asked.cpus);
    let title = format!("{name}: {} on {all}, {apart}", counted(tasks.len(), "task"));
    let mut report = Report::new("bounds-clusters/1", title);
    report.word = Some(outcome.judged.verdict.word());
    report.verdict = sentence(tasks, asked, outcome);
    figures(&mut report, tasks, asked, outcome);
    json::clusters(&mut report, tasks, asked, outcome);
    report.tables = vec![of_clusters(asked, outcome), of_tasks(tasks, asked, outcome)];
    report.assumptions = assumptions(tasks, asked, outcome);
    report
}

/// So many clusters, each of so many CPUs.
fn these(asked: &Asked) -> String {
    format!("{} of {}", counted(asked.question.clusters, "cluster"), cpus(asked.cpus))
}

/// The verdict, and why.
fn sentence(tasks: &TaskSet, asked: &Asked, outcome: &Outcome) -> String {
    let clusters = asked.question.clusters;
    let how = match asked.cpus {
        1 => format!("under partitioned EDF on {}", cpus(clusters)),
        count if clusters == 1 => format!("under global EDF on {}", cpus(count)),
        _ => format!("under global EDF in each of {}", these(asked)),
    };
    match &outcome.judged.verdict {
        Verdict::Schedulable(_) => format!(
            "{} The tables list the {noun} of each task and the test that accepts each {noun}.",
            words::schedulable(&how, asked),
            noun = asked.noun()
        ),
        Verdict::Unschedulable(witness) => words::unschedulable(witness, tasks, asked),
        Verdict::Unknown => match outcome.judged.refused {
            Some(task) => {
                format!("Unknown: {}", words::refused(asked, task, &tasks[task]))
            }
            None => format!(
                "Unknown: {how}, the tests show neither that jobs meet all deadlines{} nor that \
                 every partition misses a deadline. {}",
                words::with_overheads(asked),
                unshown(asked, outcome)
            ),
        },
    }
}

/// Why no partition is accepted: the first cluster that is not, and that another one was tried.
fn unshown(asked: &Asked, outcome: &Outcome) -> String {
    let judged = &outcome.judged;
    let Some(first) = judged.open() else { return String::new() };
    let cluster = &judged.clusters[first];
    let given = cpus(asked.question.cpus);
    let why = match (cluster.set(), cluster.found) {
        (Err(why), _) => format!("overheads leave no capacity in it ({why})"),
        (Ok(_), Err(Reason::Budget)) => "tests exceeded their budget of steps".into(),
        (Ok(set), Err(Reason::Utilization)) => {
            format!("the utilization of its tasks ({:.3}) exceeds {given}", utilization(set))
        }
        (Ok(_), Err(Reason::Density)) => {
            "a job executes for longer than its deadline or period".into()
        }
        (Ok(_), _) => "no selected test accepts its tasks".into(),
    };
    let noun = asked.noun();
    let (by, other) = match judged.partitioning {
        _ if judged.clusters.len() == 1 => return format!("The reason: {why}."),
        Partitioning::FirstFit => ("first", ""),
        Partitioning::WorstFit if judged.spent => {
            ("worst", " First fit exceeded its budget of steps.")
        }
        Partitioning::WorstFit => ("worst", " First fit finds no partition that the tests accept."),
    };
    format!("With {by} fit, {noun} {first} is the first {noun} that no test accepts: {why}.{other}")
}

/// What people want to know first.
fn figures(report: &mut Report, tasks: &TaskSet, asked: &Asked, outcome: &Outcome) {
    let given = cpus(asked.cpus_for_tasks());
    let mut say = |label: &str, value: String| report.measure("", label, value, Unit::None);
    say("utilization", format!("{:.3} of {given}", utilization(tasks)));
    if let Some(used) = json::used(&outcome.judged) {
        say("with overheads", format!("{used:.3} of {given}"));
    }
    let by = match outcome.judged.partitioning {
        Partitioning::WorstFit => "worst fit, by decreasing utilization",
        Partitioning::FirstFit => {
            "first fit, by decreasing density (no test accepts the partition by worst fit)"
        }
    };
    say("partitioned by", by.into());
}

fn of_clusters(asked: &Asked, outcome: &Outcome) -> Table {
    let title = if asked.cpus == 1 { "CPUs" } else { "Clusters" };
    let rows = outcome.judged.clusters.iter().enumerate();
    let mut table = Table::of("clusters", title, rows, |row, (n, cluster)| {
        let of = |set: &TaskSet| (utilization(set) * 1e3).round() / 1e3;
        let charged = cluster.charged.as_ref().and_then(|charged| charged.as_ref().ok());
        let by = cluster.found.ok().and_then(|proof| proof.test());
        row.cell("cluster", asked.noun(), n)
            .cell("task_count", "tasks", cluster.tasks.len())
            .cell("utilization", "utilization", of(&cluster.tasks))
            .cell("utilization_with_overheads", "with overheads", charged.map(of))
            .cell("by", "accepted by", by.map(|test| test.key()))
    });
    table.hide_unknown();
    table
}

fn of_tasks(tasks: &TaskSet, asked: &Asked, outcome: &Outcome) -> Table {
    let judged = &outcome.judged;
    let wcet = |task: &Sporadic| task.wcet_us;
    let charged =
        |it: &Cluster| Some(it.charged.as_ref()?.as_ref().ok()?.iter().map(wcet).collect());
    let charged = judged.by_task(charged);
    let charged_us = |n: usize| charged[n];
    super::table_of_tasks(tasks, charged_us, outcome, |row, n| {
        row.cell("cluster", asked.noun(), judged.cluster_of[n])
    })
}

/// What was assumed.
fn assumptions(tasks: &TaskSet, asked: &Asked, outcome: &Outcome) -> Vec<String> {
    let mut all = vec![
        "tasks are sporadic: jobs of a task are released at least a period apart, execute for at \
         most C, and share no resources. Jobs may be preempted at any time, and may migrate within \
         their cluster"
            .to_owned(),
        "clusters have the same size and share no lock, so activity in one cluster does not delay \
         tasks in another"
            .to_owned(),
    ];
    let beyond = outcome.judged.beyond().map(|(n, beyond)| words::place(n, &beyond, asked));
    all.extend(words::of_kernel(asked, beyond));
    if asked.implementation.dedicated() > 0 {
        let name = asked.implementation.name();
        all.push(format!("{name}: in each cluster, one CPU runs no tasks"));
    }
    all.extend(Implementation::assumption(&[asked.implementation]));
    if tasks.len() > LISTED {
        all.push(format!("more than {LISTED} tasks: the report does not list them"));
    }
    all
}
