//! What was found of clusters, in words and figures.

use wastenot_bounds::overheads::Beyond;
use wastenot_bounds::verdict::{Shown, Verdict, utilization};
use wastenot_lab::Implementation;
use wastenot_model::sporadic::TaskSet;
use wastenot_model::{Column, Report, Table, Unit, Value};
use wastenot_sim::edf::Missed;

use super::{By, Division};
use crate::verbs::bounds::outcome::{Asked, TOLD};
use crate::verbs::bounds::overheads::words;
use crate::verbs::bounds::report::{
    Cause, of_counted, of_kernel, of_witness, plural, refused, unschedulable, with_overheads,
};

/// The whole report. `asked` is of one cluster.
pub(in crate::verbs::bounds) fn report(
    name: &str,
    tasks: &TaskSet,
    asked: &Asked,
    division: &Division,
) -> Report {
    let clusters = division.clusters.len() as u32;
    let cpus = plural((clusters * asked.cpus).into(), "CPU");
    let count = plural(tasks.len() as u64, "task");
    let apart = match asked.cpus {
        1 => "each for itself".to_owned(),
        cpus => format!("in {}", these(clusters, cpus)),
    };
    let title = format!("{name}: {count} on {cpus}, {apart}");
    let mut report = Report::new("bounds-clusters/1", title);
    let verdict = division.verdict();
    report.word = Some(verdict.word());
    report.verdict = sentence(tasks, asked, division, &verdict);
    figures(&mut report, tasks, asked, division);
    for_programs(&mut report, tasks, asked, division, &verdict);
    report.tables = vec![of_clusters(asked, division), of_tasks(tasks, asked, division)];
    report.assumptions = assumptions(tasks, asked, division);
    report
}

/// Where an overhead of a cluster is asked for that was not measured.
pub(in crate::verbs::bounds) fn place(cluster: usize, beyond: &Beyond, asked: &Asked) -> String {
    format!("{} in {} {cluster}", words(beyond), noun(asked))
}

/// So many clusters, each of so many CPUs.
fn these(clusters: u32, cpus: u32) -> String {
    format!("{} of {}", plural(clusters.into(), "cluster"), plural(cpus.into(), "CPU"))
}

/// What a cluster is called.
fn noun(asked: &Asked) -> &'static str {
    if asked.cpus == 1 { "CPU" } else { "cluster" }
}

/// The verdict, and why.
fn sentence(
    tasks: &TaskSet,
    asked: &Asked,
    division: &Division,
    verdict: &Verdict<Missed>,
) -> String {
    let clusters = division.clusters.len() as u32;
    let how = match asked.cpus {
        1 => format!("under partitioned EDF on {}", plural(clusters.into(), "CPU")),
        cpus if clusters == 1 => format!("under global EDF on {}", plural(cpus.into(), "CPU")),
        cpus => format!("under global EDF in each of {}", these(clusters, cpus)),
    };
    let counted = with_overheads(asked);
    match verdict {
        Verdict::Schedulable(_) => format!(
            "Schedulable: {how} no job is ever late{counted}, whenever jobs come and whoever goes \
             first of equal deadlines. Below is which tasks are together, and by which test."
        ),
        Verdict::Unschedulable(witness) => {
            unschedulable(witness, tasks, clusters * asked.for_tasks(), asked)
        }
        Verdict::Unknown => match division.refused {
            Some(task) => format!("Unknown: {}", refused(asked, task, &tasks[task])),
            None => format!(
                "Unknown: {how} it is not shown that deadlines hold{counted}, nor that no \
                 partition meets them. {}",
                unshown(asked, division)
            ),
        },
    }
}

/// Of a division that is not shown to be in time: where, and that another one was tried.
fn unshown(asked: &Asked, division: &Division) -> String {
    let Some(first) = division.unshown() else { return String::new() };
    let cluster = &division.clusters[first];
    let why = match (&cluster.counted, cluster.shown) {
        (Err(why), _) => format!("overheads leave no capacity in it ({why})"),
        (Ok(_), Shown::Spent) => "tests exceeded their budget of steps".into(),
        (Ok(counted), _) if utilization(counted) > f64::from(asked.for_tasks()) => {
            format!("its tasks use {:.3} of {}", utilization(counted), {
                plural(asked.for_tasks().into(), "CPU")
            })
        }
        (Ok(_), _) => "no selected test accepts its tasks".into(),
    };
    let noun = noun(asked);
    let (by, other) = match division.by {
        _ if division.clusters.len() == 1 => return format!("The reason: {why}."),
        By::FirstFit => ("first", ""),
        By::WorstFit if division.spent => ("worst", " First fit exceeded its budget of steps."),
        By::WorstFit => ("worst", " First fit finds no accepted partition."),
    };
    format!("With {by} fit, {noun} {first} is the first not accepted: {why}.{other}")
}

/// What people want to know first.
fn figures(report: &mut Report, tasks: &TaskSet, asked: &Asked, division: &Division) {
    let cpus = plural((division.clusters.len() as u32 * asked.for_tasks()).into(), "CPU");
    let mut say = |label: &str, value: String| report.measure("", label, value, Unit::None);
    say("tasks use", format!("{:.3} of {cpus}", utilization(tasks)));
    if let (Some(_), Some(used)) = (&asked.overheads, used(division)) {
        say("with overheads", format!("{used:.3} of {cpus}"));
    }
    let by = match division.by {
        By::WorstFit => "worst fit, by decreasing utilization",
        By::FirstFit => "first fit, by decreasing density (worst fit is not accepted)",
    };
    say("divided by", by.into());
}

/// What tasks use once they pay for overheads, unless nothing is left in some cluster.
fn used(division: &Division) -> Option<f64> {
    division.clusters.iter().map(|it| it.counted.as_ref().ok().map(utilization)).sum()
}

/// What has a name in JSON and is said to people elsewhere.
fn for_programs(
    report: &mut Report,
    tasks: &TaskSet,
    asked: &Asked,
    division: &Division,
    verdict: &Verdict<Missed>,
) {
    let clusters = division.clusters.len() as u32;
    let mut put = |name: &str, value: Value| report.measure(name, "", value, Unit::None);
    let cause = match verdict {
        Verdict::Schedulable(_) => None,
        Verdict::Unschedulable(witness) => Some(Cause::of_witness(witness)),
        Verdict::Unknown if division.refused.is_some() => Some(Cause::Refused),
        Verdict::Unknown => match division.unshown().map(|first| &division.clusters[first]) {
            Some(cluster) if cluster.shown == Shown::Spent || division.spent => Some(Cause::Budget),
            Some(cluster) => Some(match &cluster.counted {
                Err(why) => Cause::of_too_much(why),
                Ok(_) => Cause::Test,
            }),
            None => None,
        },
    };
    put("cause", cause.map(Cause::word).into());
    let cpus = clusters * asked.for_tasks();
    put(
        "witness",
        match verdict {
            Verdict::Unschedulable(witness) => of_witness(witness, tasks, cpus),
            _ => Value::Unknown,
        },
    );
    put("cpus", (clusters * asked.cpus).into());
    put("cpus_for_tasks", cpus.into());
    put("cluster_cpus", asked.cpus.into());
    let by = match division.by {
        By::WorstFit => "worst_fit",
        By::FirstFit => "first_fit",
    };
    put("divided_by", by.into());
    put("implementation", asked.implementation.name().into());
    put("task_count", tasks.len().into());
    put("utilization", utilization(tasks).into());
    put("overheads", of_counted(asked, division.beyond(asked).is_some(), used(division)));
}

fn of_clusters(asked: &Asked, division: &Division) -> Table {
    let columns = [
        Column::new("cluster", noun(asked), Unit::None),
        Column::new("task_count", "tasks", Unit::None),
        Column::new("utilization", "use", Unit::None),
        Column::new("utilization_with_overheads", "with overheads", Unit::None),
        Column::new("by", "shown by", Unit::None),
    ];
    let mut table =
        Table::new("clusters", if asked.cpus == 1 { "CPUs" } else { "Clusters" }, columns);
    for (n, cluster) in division.clusters.iter().enumerate() {
        let of = |set: &TaskSet| Value::from((utilization(set) * 1e3).round() / 1e3);
        let counted = cluster.counted.as_ref().ok().filter(|_| asked.overheads.is_some());
        table.push(vec![
            n.into(),
            cluster.tasks.len().into(),
            of(&cluster.tasks),
            counted.map_or(Value::Unknown, of),
            match cluster.shown {
                Shown::By(test) => test.key().into(),
                Shown::Nothing | Shown::Spent => Value::Unknown,
            },
        ]);
    }
    table.hide_unknown();
    table
}

fn of_tasks(tasks: &TaskSet, asked: &Asked, division: &Division) -> Table {
    let columns = [
        Column::new("task", "task", Unit::None),
        Column::new("wcet_us", "C", Unit::None),
        Column::new("period_us", "T", Unit::None),
        Column::new("deadline_us", "D", Unit::None),
        Column::new("wcet_us_with_overheads", "C+", Unit::None),
        Column::new("response_us_max", "response", Unit::None),
        Column::new("cluster", noun(asked), Unit::None),
    ];
    let mut table = Table::new("tasks", "Tasks, in us", columns);
    if tasks.len() > TOLD {
        return table;
    }
    let (responses, counted) = (division.responses_us(asked), division.counted_us());
    for (n, it) in tasks.iter().enumerate() {
        table.push(vec![
            (n + 1).into(),
            it.wcet_us.into(),
            it.period_us.into(),
            it.deadline_us.into(),
            counted[n].filter(|_| asked.overheads.is_some()).into(),
            responses[n].into(),
            division.cluster_of[n].into(),
        ]);
    }
    table.hide_unknown();
    table
}

/// What was taken for granted.
fn assumptions(tasks: &TaskSet, asked: &Asked, division: &Division) -> Vec<String> {
    let mut all = vec![
        "jobs of a task come a period apart or more, need no more than C, and share nothing; they \
         may be preempted at any time, and moved within their cluster"
            .to_owned(),
        "clusters have the same size and share no lock: activity in one does not delay tasks \
         in another"
            .to_owned(),
    ];
    let beyond = division.beyond(asked).map(|(n, beyond)| place(n, &beyond, asked));
    all.extend(of_kernel(asked, beyond));
    if asked.implementation.dedicated() > 0 {
        let name = asked.implementation.name();
        all.push(format!("{name}: one of the CPUs of each cluster runs no task"));
    }
    all.extend(Implementation::assumption(&[asked.implementation]));
    if tasks.len() > TOLD {
        all.push(format!("more than {TOLD} tasks: they are not listed"));
    }
    all
}
