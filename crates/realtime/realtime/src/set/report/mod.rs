//! What was found, in words and figures: of a set on all CPUs here, on clusters in `clusters`.

mod clusters;
mod json;
mod words;

use wastenot_bounds::Answer;
use wastenot_bounds::verdict::{Judgement, Test, Verdict, utilization};
use wastenot_model::report::{Row, counted};
use wastenot_model::sporadic::TaskSet;
use wastenot_model::{Report, Table, Unit, Value};
use wastenot_sim::edf::Missed;

use self::words::cpus;
use super::outcome::{Outcome, Soft};
use super::{Asked, LISTED, SEARCHED};
use crate::{Implementation, error};

pub(super) use clusters::report as clusters;

/// The whole report.
pub(super) fn report(name: &str, tasks: &TaskSet, asked: &Asked, outcome: &Outcome) -> Report {
    let count = counted(tasks.len(), "task");
    let mut report = Report::new("bounds/1", format!("{name}: {count} on {}", cpus(asked.cpus)));
    let verdict = &outcome.judged.verdict;
    report.word = Some(verdict.word());
    report.verdict = sentence(tasks, asked, outcome);
    figures(&mut report, tasks, asked, outcome);
    json::together(&mut report, tasks, asked, outcome);
    report.tables.push(tests(asked, outcome));
    report.tables.push(of_tasks(tasks, outcome));
    report.assumptions = assumptions(tasks, asked, outcome);
    // On other CPUs overheads are others, and a table has those of one machine.
    let can_go_on = name != "standard input" && asked.table.is_none();
    report.next = next(name, asked, outcome).filter(|_| can_go_on);
    report
}

/// What to ask next.
fn next(name: &str, asked: &Asked, outcome: &Outcome) -> Option<String> {
    let line = |more: &str| Some(format!("wastenot bounds test {name} --cpus {more}"));
    if outcome.judged.refused.is_some() {
        return line(&format!("{} --implementation gsn-edf", asked.cpus));
    }
    let how = match asked.implementation.name() {
        "gsn-edf" => String::new(),
        name => format!(" --implementation {name}"),
    };
    let dedicated = asked.implementation.dedicated();
    let partition = outcome.plain().answer(Test::Partitioned) == Some(Answer::Accept);
    if !outcome.judged.verdict.is_schedulable() && partition && dedicated == 0 {
        return line(&format!("{} --cluster 1{how}", asked.cpus));
    }
    line(&format!("{}{how}", outcome.enough?.cpus + dedicated))
}

/// The verdict, and why.
fn sentence(tasks: &TaskSet, asked: &Asked, outcome: &Outcome) -> String {
    let on = format!("under global EDF on {}", cpus(asked.question.cpus));
    match &outcome.judged.verdict {
        Verdict::Schedulable(proof) => {
            let shown = proof.test().map_or_else(String::new, |test| {
                format!(" Proved by {} ({}).", test.key().to_uppercase(), test.source())
            });
            format!("{}{shown}", words::schedulable(&on, asked))
        }
        Verdict::Unschedulable(witness) => words::unschedulable(witness, tasks, asked),
        Verdict::Unknown => {
            let why = words::unknown(tasks, outcome, asked);
            match outcome.judged.refused {
                Some(_) => format!("Unknown: {why}"),
                None => format!(
                    "Unknown: {on}, no test shows that jobs meet all deadlines{}, and no late job \
                     was found. {why}",
                    words::with_overheads(asked)
                ),
            }
        }
    }
}

/// What people want to know first.
fn figures(report: &mut Report, tasks: &TaskSet, asked: &Asked, outcome: &Outcome) {
    let (judged, given) = (&outcome.judged, cpus(asked.question.cpus));
    let mut say = |label: &str, value: String| report.measure("", label, value, Unit::None);
    say("utilization", format!("{:.3} of {given}", utilization(tasks)));
    if let Some(used) = json::used(judged) {
        say("with overheads", format!("{used:.3} of {given}"));
    }
    if judged.refused.is_some() {
        return;
    }
    if let Some(tried) = &outcome.tried {
        let late = if tried.missed.is_some() { "one job is late" } else { "no job is late" };
        let (jobs, schedules) = (tried.jobs, tried.schedules);
        say(
            "simulated",
            format!("{} in {}, {late}", counted(jobs, "job"), counted(schedules, "schedule")),
        );
    }
    if let Some(answer) = judged.answer(Test::Partitioned) {
        let says = match answer {
            Answer::Accept => "schedulable: first fit finds a CPU for each task",
            Answer::Reject => "unknown: first fit finds no CPU for some task",
            Answer::NotApplicable(_) | Answer::Unknown => "unknown: out of budget",
        };
        let charged = match asked.table {
            None => String::new(),
            Some(_) => format!(", on {given} and with C+ of {}", asked.implementation.name()),
        };
        say("partitioned EDF", format!("{says}{charged}"));
    }
    fit(&mut say, tasks, asked, outcome);
    if let Some(soft) = outcome.soft.as_ref().filter(|_| !judged.verdict.is_schedulable()) {
        say("tardiness", tardiness(soft));
    }
}

/// What would make it schedulable.
fn fit(say: &mut impl FnMut(&str, String), tasks: &TaskSet, asked: &Asked, outcome: &Outcome) {
    let searched = tasks.len() <= SEARCHED;
    if let Some(enough) = outcome.enough {
        let by = enough.by.key().to_uppercase();
        let on = cpus(enough.cpus + asked.implementation.dedicated());
        let least = if enough.is_least { "fewest" } else { "maybe fewer" };
        let given = match &asked.table {
            None => String::new(),
            Some(_) => format!("; with the overheads on {}", asked.cpus),
        };
        say("accepted on", format!("{on} ({least}; by {by}{given})"));
    } else if searched && !outcome.judged.verdict.is_schedulable() {
        say("accepted on", nowhere(asked, outcome).into());
    }
    match outcome.scale {
        Some(scale) => {
            let share = format!("{}.{:03}", scale.per_mille / 1_000, scale.per_mille % 1_000);
            let by = scale.by.key().to_uppercase();
            let more = if scale.is_most { "" } else { "; more work may be accepted" };
            let critical = scale.critical.map(|task| format!("; task {} is critical", task + 1));
            let critical = critical.unwrap_or_default();
            say("accepted with", format!("{share} x every C (by {by}{more}{critical})"));
        }
        None if searched => say("accepted with", no_share(asked, outcome).into()),
        // The assumptions state that nothing was searched.
        None => {}
    }
}

/// The reason that no number of CPUs is known on which a test accepts the set.
fn nowhere(asked: &Asked, outcome: &Outcome) -> &'static str {
    match () {
        () if outcome.is_alone() => {
            "no number of CPUs, because a job is late even if it has a CPU for itself"
        }
        () if !is_selected(asked) => NOT_SELECTED,
        () if outcome.judged.clusters[0].set().is_err() => {
            "no number of CPUs, because overheads leave no capacity for tasks"
        }
        () => "no number of CPUs that was tried",
    }
}

/// The reason that no share of the work is known with which a test accepts the set.
fn no_share(asked: &Asked, outcome: &Outcome) -> &'static str {
    let cpus = asked.question.cpus;
    let fits = |test: &Test| test.is_of_global_edf(cpus) && test.takes_less();
    match () {
        () if !is_selected(asked) => NOT_SELECTED,
        () if !asked.question.tests.iter().any(fits) => {
            "not tried, because BAK may accept a set and reject the same set with less work"
        }
        () if outcome.judged.clusters[0].set().is_err() => {
            "no share of the work, because overheads leave no capacity for tasks"
        }
        () => "no amount of work that was tried",
    }
}

/// The reason that nothing was tried.
const NOT_SELECTED: &str = "not tried, because no test of global EDF was selected";

fn is_selected(asked: &Asked) -> bool {
    asked.question.tests.iter().any(|test| test.is_of_global_edf(asked.question.cpus))
}

/// The value of the figure `tardiness`.
fn tardiness(soft: &Soft) -> String {
    let most = |all: &Option<Vec<u64>>| all.as_ref().and_then(|all| all.iter().max().copied());
    let on_average = match (soft.bounded, soft.bounded_on_average) {
        (_, None) | (None, _) => "",
        (Some(false), Some(false)) => "",
        (Some(true), Some(true)) => "; also bounded with averages (no guarantee)",
        (Some(false), Some(true)) => "; bounded with averages (no guarantee)",
        (Some(true), Some(false)) => "; unbounded even with averages",
    };
    let bound = match soft.bounded {
        None => return "unknown: too close to the limit to decide".into(),
        Some(false) => "unbounded".into(),
        Some(true) => match (most(&soft.gedf_us), most(&soft.gfl_us)) {
            (Some(gedf), Some(gfl)) => {
                format!("at most {gedf} us ({gfl} us under fair lateness)")
            }
            (Some(late), None) => format!("at most {late} us"),
            (None, Some(late)) => format!("bounded ({late} us under fair lateness)"),
            (None, None) => "bounded, but the bound was not computed".into(),
        },
    };
    format!("{bound}{on_average}")
}

/// What each test says: for people.
fn tests(asked: &Asked, outcome: &Outcome) -> Table {
    let says = |judged: &Judgement<Missed>, test| {
        Value::from(match judged.answer(test) {
            Some(Answer::Accept) => "accept".to_owned(),
            Some(Answer::Reject) => "reject".to_owned(),
            Some(Answer::NotApplicable(why)) => format!("n/a: {why}"),
            Some(Answer::Unknown) => "out of budget".to_owned(),
            None => "no capacity left".to_owned(),
        })
    };
    let plain = if asked.table.is_some() { "without overheads" } else { "result" };
    let tests = &asked.question.tests;
    // On several CPUs QPA is shown only if it was named.
    let without_qpa = asked.question.cpus > 1 && tests.len() == Test::ALL.len();
    let shown = tests.iter().filter(|&&test| !(without_qpa && test == Test::Qpa));
    Table::of("", "Tests", shown, |row, &test| {
        let row = row.cell("", "test", test.key()).cell("", plain, says(outcome.plain(), test));
        let row = match &asked.table {
            Some(_) => row.cell("", "with overheads", says(&outcome.judged, test)),
            None => row,
        };
        row.cell("", "source", test.source())
    })
}

/// Over the table of tasks: people need to know what its letters are, and of what unit.
const TASKS: &str = "Tasks, all in us (C execution time, T period, D deadline)";

/// A table of tasks, if they are not too many: their parameters, C with overheads and response
/// times, then what `more` adds of the task of this number.
fn table_of_tasks(
    tasks: &TaskSet,
    charged_us: impl Fn(usize) -> Option<u64>,
    outcome: &Outcome,
    more: impl Fn(Row<'_>, usize) -> Row<'_>,
) -> Table {
    let listed = tasks.iter().enumerate().filter(|_| tasks.len() <= LISTED);
    let mut table = Table::of("tasks", TASKS, listed, |row, (n, it)| {
        let response_us = outcome.responses_us.get(n).copied().flatten();
        let row = row
            .cell("task", "task", n + 1)
            .cell("wcet_us", "C", it.wcet_us)
            .cell("period_us", "T", it.period_us)
            .cell("deadline_us", "D", it.deadline_us)
            .cell("wcet_us_with_overheads", "C+", charged_us(n))
            .cell("response_us_max", "max response", response_us);
        more(row, n)
    });
    table.hide_unknown();
    table
}

/// Each task, with what is known of it.
fn of_tasks(tasks: &TaskSet, outcome: &Outcome) -> Table {
    let cluster = &outcome.judged.clusters[0];
    let charged = cluster.charged.as_ref().and_then(|charged| charged.as_ref().ok());
    let charged_us = |n: usize| charged.map(|tasks| tasks[n].wcet_us);
    let of = |all: &Option<Vec<u64>>, n: usize| all.as_ref()?.get(n).copied();
    let soft = outcome.soft.as_ref();
    let gedf = |n: usize| of(&soft?.gedf_us, n);
    let gfl = |n: usize| of(&soft?.gfl_us, n);
    // People need no bound on tardiness where no job is late.
    let late = !outcome.judged.verdict.is_schedulable();
    table_of_tasks(tasks, charged_us, outcome, |row, n| {
        row.cell("response_us_max_fp", "max response, FP", of(&outcome.fixed_us, n))
            .cell("response_us_max_np", "max response, NP-EDF", of(&outcome.unpreempted_us, n))
            .cell("tardiness_us_max", "max tardiness", gedf(n))
            .shown_if(late)
            .cell("tardiness_us_max_gfl", "max tardiness, G-FL", gfl(n))
            .shown_if(late)
            .cell("partition_cpu", "P-EDF CPU", outcome.cpu_of.get(n).copied())
    })
}

/// What was assumed.
fn assumptions(tasks: &TaskSet, asked: &Asked, outcome: &Outcome) -> Vec<String> {
    let mut all = vec![
        "tasks are sporadic: jobs of a task are released at least a period apart, execute for at \
         most C, and share no resources. Jobs may be preempted at any time, and may migrate to any \
         CPU"
        .to_owned(),
    ];
    all.extend(words::of_kernel(asked, asked.beyond(tasks).map(|it| error::words(&it))));
    let name = asked.implementation.name();
    if asked.table.is_some() {
        if asked.question.tests.contains(&Test::Partitioned) {
            all.push(format!(
                "the test of partitioned EDF uses C+ (C with overheads) as under {name}, and the \
                 CPUs that run tasks under {name}. Partitioned EDF itself has other overheads (use \
                 `--cluster 1` to include them)"
            ));
        }
        if outcome.enough.is_some() {
            let given = cpus(asked.cpus);
            all.push(format!("machines with more CPUs are tested with the overheads on {given}"));
        }
    }
    if asked.implementation.dedicated() > 0 {
        all.push(format!("{name}: one CPU runs no tasks"));
    }
    all.extend(Implementation::assumption(&[asked.implementation]));
    let rta = outcome.judged.answer(Test::Rta);
    if rta == Some(Answer::Accept) && asked.question.cpus > 1 {
        all.push(
            "a set that RTA accepts is also schedulable under partitioned EDF (Biondi, Sun 2018)"
                .into(),
        );
    }
    if tasks.len() > LISTED {
        all.push(format!("more than {LISTED} tasks: the report does not list them"));
    }
    if tasks.len() > SEARCHED {
        all.push(format!(
            "more than {SEARCHED} tasks: wastenot does not search for the number of CPUs or the \
             amount of work that a test accepts"
        ));
    }
    all
}
