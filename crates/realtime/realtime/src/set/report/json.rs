//! What has a name in JSON.

use wastenot_bounds::Answer;
use wastenot_bounds::verdict::{Alone, Judgement, Test, Verdict, Witness, utilization};
use wastenot_model::sporadic::TaskSet;
use wastenot_model::{Report, Unit, Value};
use wastenot_sim::edf::{Missed, Tie};

use crate::set::Asked;
use crate::set::outcome::Outcome;

fn map<const N: usize>(values: [(&str, Value); N]) -> Value {
    Value::Map(values.map(|(name, value)| (name.to_owned(), value)).into())
}

fn by(verdict: &Verdict<Missed>) -> Value {
    match verdict {
        Verdict::Schedulable(proof) => proof.test().map(Test::key).into(),
        Verdict::Unschedulable(_) | Verdict::Unknown => Value::Unknown,
    }
}

/// Of a set on all CPUs.
pub(super) fn together(report: &mut Report, tasks: &TaskSet, asked: &Asked, outcome: &Outcome) {
    let judged = &outcome.judged;
    let mut put = |name: &str, value: Value| report.measure(name, "", value, Unit::None);
    put("by", by(&judged.verdict));
    put("cause", cause(judged));
    put("tests", judged.answers().map_or(Value::Unknown, answers));
    put("witness", witness(judged, tasks, asked));
    put("cpus", asked.cpus.into());
    put("cpus_for_tasks", asked.cpus_for_tasks().into());
    put("implementation", asked.implementation.name().into());
    put("task_count", tasks.len().into());
    put("utilization", utilization(tasks).into());
    put("overheads", overheads(asked, asked.beyond(tasks).is_some(), used(judged)));
    let plain = judged.plain.as_ref().map(|plain| {
        map([
            ("verdict", plain.verdict.word().into()),
            ("by", by(&plain.verdict)),
            ("tests", plain.answers().map_or(Value::Unknown, answers)),
        ])
    });
    put("without_overheads", plain.unwrap_or(Value::Unknown));
    let tried = outcome.tried.as_ref();
    put("simulated.schedules", tried.map(|it| it.schedules).into());
    put("simulated.jobs", tried.map(|it| it.jobs).into());
    let enough = outcome.enough;
    let dedicated = asked.implementation.dedicated();
    put("fit.cpus", enough.map(|it| it.cpus + dedicated).into());
    put("fit.cpus_is_least", enough.map_or(Value::Unknown, |it| it.is_least.into()));
    put("fit.cpus_by", enough.map(|it| it.by.key()).into());
    put("fit.work_per_mille", outcome.scale.map(|it| it.per_mille).into());
    put("fit.work_is_most", outcome.scale.map_or(Value::Unknown, |it| it.is_most.into()));
    put("fit.work_by", outcome.scale.map(|it| it.by.key()).into());
    put("fit.critical_task", outcome.scale.and_then(|it| it.critical).map(|it| it + 1).into());
    let soft = outcome.soft.as_ref();
    let known = |it: Option<bool>| it.map_or(Value::Unknown, Into::into);
    let most = |all: Option<&Vec<u64>>| all.and_then(|all| all.iter().max().copied());
    put("tardiness.bounded", known(soft.and_then(|it| it.bounded)));
    put("tardiness.bounded_on_average", known(soft.and_then(|it| it.bounded_on_average)));
    put("tardiness.gedf_us_max", most(soft.and_then(|it| it.gedf_us.as_ref())).into());
    put("tardiness.gfl_us_max", most(soft.and_then(|it| it.gfl_us.as_ref())).into());
}

/// Of a set on clusters.
pub(super) fn clusters(report: &mut Report, tasks: &TaskSet, asked: &Asked, outcome: &Outcome) {
    let judged = &outcome.judged;
    let mut put = |name: &str, value: Value| report.measure(name, "", value, Unit::None);
    put("cause", cause(judged));
    put("witness", witness(judged, tasks, asked));
    put("cpus", (asked.question.clusters * asked.cpus).into());
    put("cpus_for_tasks", asked.cpus_for_tasks().into());
    put("cluster_cpus", asked.cpus.into());
    put("partitioned_by", judged.partitioning.word().into());
    put("implementation", asked.implementation.name().into());
    put("task_count", tasks.len().into());
    put("utilization", utilization(tasks).into());
    put("overheads", overheads(asked, judged.beyond().is_some(), used(judged)));
}

fn cause(judged: &Judgement<Missed>) -> Value {
    judged.reason.map(|reason| reason.word()).into()
}

/// What tasks use once they are charged, unless nothing is left in some cluster.
pub(super) fn used(judged: &Judgement<Missed>) -> Option<f64> {
    let of = |charged: &Result<TaskSet, _>| charged.as_ref().ok().map(utilization);
    judged.clusters.iter().map(|it| it.charged.as_ref().and_then(of)).sum()
}

/// Overheads that count, and what tasks use with them.
fn overheads(asked: &Asked, extrapolated: bool, used: Option<f64>) -> Value {
    let Some(table) = &asked.table else { return Value::Unknown };
    map([
        ("file", table.file.as_str().into()),
        ("extrapolated", extrapolated.into()),
        ("not_measured", asked.question.missing().into()),
        ("utilization", used.into()),
    ])
}

fn answers(answers: &[(Test, Answer)]) -> Value {
    let one = |(test, answer): &(Test, Answer)| (test.key().to_owned(), answer.word().into());
    Value::Map(answers.iter().map(one).collect())
}

/// A witness: enough to check it without us.
fn witness(judged: &Judgement<Missed>, tasks: &TaskSet, asked: &Asked) -> Value {
    let Verdict::Unschedulable(witness) = &judged.verdict else { return Value::Unknown };
    let (plain, cpus) = (("overheads", false.into()), asked.cpus_for_tasks());
    match witness {
        Witness::Alone(Alone { task, released_us, deadline_us, completed_us }) => map([
            ("kind", "alone".into()),
            plain,
            ("task", (task + 1).into()),
            ("released_us", (*released_us).into()),
            ("deadline_us", (*deadline_us).into()),
            ("completed_us", (*completed_us).into()),
        ]),
        Witness::Overuse => map([
            ("kind", "utilization".into()),
            plain,
            ("utilization", utilization(tasks).into()),
            ("cpus", cpus.into()),
        ]),
        Witness::Demand { window_us, demand_us } => map([
            ("kind", "demand".into()),
            plain,
            ("window_us", (*window_us).into()),
            ("demand_us", (*demand_us).into()),
            ("cpus", cpus.into()),
        ]),
        Witness::Missed(missed) => map([
            ("kind", "miss".into()),
            plain,
            ("tie", tie(missed.tie).into()),
            ("ties", missed.ties.iter().copied().map(tie).collect::<Vec<_>>().into()),
            ("offsets_us", missed.offsets_us.clone().into()),
            ("cpus", cpus.into()),
            ("task", (missed.job.task + 1).into()),
            ("released_us", missed.job.released_us.into()),
            ("deadline_us", missed.job.deadline_us.into()),
            ("completed_us", missed.job.at_us.into()),
        ]),
    }
}

fn tie(tie: Tie) -> &'static str {
    match tie {
        Tie::First => "first",
        Tie::Last => "last",
        Tie::Running => "running",
    }
}
