//! What was found, in words and figures.

use wastenot_bounds::Answer;
use wastenot_bounds::overheads::TooMuch;
use wastenot_bounds::verdict::{Alone, Judgement, Test, Verdict, Witness, utilization};
use wastenot_lab::Implementation;
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_model::{Column, Report, Table, Unit, Value};
use wastenot_sim::edf::{Missed, Tie};

use super::outcome::{Asked, Counts, Outcome, SEARCHED, Soft, TOLD};
use super::overheads::words;

/// The whole report.
pub(super) fn report(name: &str, tasks: &TaskSet, asked: &Asked, outcome: &Outcome) -> Report {
    let cpus = plural(asked.cpus.into(), "CPU");
    let count = plural(tasks.len() as u64, "task");
    let mut report = Report::new("bounds/1", format!("{name}: {count} on {cpus}"));
    let verdict = outcome.verdict();
    report.word = Some(verdict.word());
    report.verdict = sentence(tasks, asked, outcome, &verdict);
    figures(&mut report, tasks, asked, outcome, &verdict);
    for_programs(&mut report, tasks, asked, outcome, &verdict);
    report.tables.push(tests(asked, outcome));
    report.tables.push(of_tasks(tasks, outcome, &verdict));
    report.assumptions = assumptions(tasks, asked, outcome);
    // With other CPUs overheads are others, and a table tells those of one machine.
    let can_go_on = name != "standard input" && asked.overheads.is_none();
    report.next = next(name, asked, outcome).filter(|_| can_go_on);
    report
}

/// What to ask next.
fn next(name: &str, asked: &Asked, outcome: &Outcome) -> Option<String> {
    if outcome.refused.is_some() {
        return Some(format!(
            "wastenot bounds {name} --cpus {} --implementation gsn-edf",
            asked.cpus
        ));
    }
    let how = match asked.implementation.name() {
        "gsn-edf" => String::new(),
        name => format!(" --implementation {name}"),
    };
    let is_schedulable = matches!(outcome.verdict(), Verdict::Schedulable(_));
    let partition = outcome.plain.answer(Test::Partitioned);
    if !is_schedulable && partition == Some(Answer::Accept) && asked.implementation.dedicated() == 0
    {
        return Some(format!("wastenot bounds {name} --cpus {} --cluster 1{how}", asked.cpus));
    }
    let cpus = outcome.enough?.cpus + asked.implementation.dedicated();
    Some(format!("wastenot bounds {name} --cpus {cpus}{how}"))
}

pub(super) fn plural(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The verdict, and why.
fn sentence(
    tasks: &TaskSet,
    asked: &Asked,
    outcome: &Outcome,
    verdict: &Verdict<Missed>,
) -> String {
    let on = format!("under global EDF on {}", plural(asked.for_tasks().into(), "CPU"));
    let counted = with_overheads(asked);
    match verdict {
        Verdict::Schedulable(test) => {
            let (test, source) = (test.key().to_uppercase(), test.source());
            format!(
                "Schedulable: {on} no job is ever late{counted}, whenever jobs come and whoever \
                 goes first of equal deadlines. {test} shows it ({source})."
            )
        }
        Verdict::Unschedulable(witness) => unschedulable(witness, tasks, asked.for_tasks(), asked),
        Verdict::Unknown if outcome.refused.is_some() => {
            format!("Unknown: {}", Cause::of(outcome).words(tasks, outcome, asked))
        }
        Verdict::Unknown => {
            format!(
                "Unknown: {on} nobody shows that deadlines hold{counted}, nor that one is \
                     missed. {}",
                Cause::of(outcome).words(tasks, outcome, asked)
            )
        }
    }
}

/// That overheads are counted, if they are.
pub(super) fn with_overheads(asked: &Asked) -> String {
    asked.overheads.as_ref().map_or_else(String::new, |it| {
        format!(", with what {} says that {} takes", it.file, asked.implementation.name())
    })
}

/// The verdict on tasks of which something shows that they miss on so many CPUs.
pub(super) fn unschedulable(
    witness: &Witness<Missed>,
    tasks: &TaskSet,
    cpus: u32,
    asked: &Asked,
) -> String {
    let without = match asked.overheads {
        None => "",
        Some(_) => " That is so even if the kernel takes nothing.",
    };
    format!("Unschedulable: {}{without}", aloud(witness, tasks, cpus, asked))
}

/// A witness, read aloud.
fn aloud(witness: &Witness<Missed>, tasks: &TaskSet, cpus: u32, asked: &Asked) -> String {
    let given = plural(cpus.into(), "CPU");
    let (give, are, run) = if cpus == 1 { ("gives", "is", "runs") } else { ("give", "are", "run") };
    let (there, helps) = match asked.implementation.dedicated() {
        0 => (format!("there {are} {cpus}"), "No scheduler helps."),
        _ => (format!("{cpus} {run} tasks"), "No scheduler helps on these."),
    };
    match witness {
        Witness::Alone(Alone { task, released_us, deadline_us, completed_us }) => {
            let it = &tasks[*task];
            let job = match released_us {
                0 => format!("a job takes {} us and is due after {}", it.wcet_us, it.deadline_us),
                _ => format!(
                    "jobs take {} us and are released every {}: the one released at {released_us} \
                     us is due at {deadline_us} and completes at {completed_us} at the earliest",
                    it.wcet_us, it.period_us
                ),
            };
            format!("task {}: {job}, even on a CPU of its own. No scheduler helps.", task + 1)
        }
        Witness::Overuse => {
            let used = format!("{:.3}", utilization(tasks));
            let used = if used.trim_end_matches(['0', '.']) == cpus.to_string() {
                format!("a little more than {cpus}")
            } else {
                used
            };
            format!("tasks use {used} CPUs in the long run, and {there}. {helps}")
        }
        Witness::Demand { window_us, demand_us } => format!(
            "if all tasks release together, the jobs that are due within {window_us} us take \
             {demand_us} us, and {given} {give} {}. {helps}",
            u128::from(*window_us) * u128::from(cpus)
        ),
        Witness::Missed(missed) => {
            let job = &missed.job;
            let released = match missed.offsets_us.iter().all(|&at| at == 0) {
                true => "All tasks release at 0 and then every period".to_owned(),
                false => "Tasks release first at `offsets_us` (--json), then every period".into(),
            };
            format!(
                "a job of task {}, released at {} us and due at {}, completes at {} under global \
                 EDF on {given}. {released}; {}.",
                job.task + 1,
                job.released_us,
                job.deadline_us,
                job.at_us,
                ties(missed)
            )
        }
    }
}

/// Of which tie rules a miss was seen.
fn ties(missed: &Missed) -> String {
    let words = |tie: &Tie| match tie {
        Tie::First => "the first task",
        Tie::Last => "the last task",
        Tie::Running => "the running task",
    };
    let all: Vec<&str> = missed.ties.iter().map(words).collect();
    match all.len() {
        3 => format!(
            "of equal deadlines {} goes first, and with the other tie rules a job is late, too",
            words(&missed.tie)
        ),
        _ => format!(
            "of equal deadlines {} goes first. With another tie-breaking rule no late job was \
             found, and this does not apply to it",
            all.join(", or ")
        ),
    }
}

/// In JSON.
fn tie(tie: Tie) -> &'static str {
    match tie {
        Tie::First => "first",
        Tie::Last => "last",
        Tie::Running => "running",
    }
}

/// Why a set is not schedulable, or not known to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Interrupts,
    Latency,
    Density,
    Utilization,
    Demand,
    Miss,
    Refused,
    Budget,
    Test,
}

impl Cause {
    fn of(outcome: &Outcome) -> Cause {
        if let Verdict::Unschedulable(witness) = &outcome.plain.verdict {
            return Cause::of_witness(witness);
        }
        if outcome.refused.is_some() {
            return Cause::Refused;
        }
        let answers = match &outcome.counted {
            None => &outcome.plain.answers,
            Some(Err(why)) => return Cause::of_too_much(why),
            Some(Ok(Counts { judgement, .. })) => match &judgement.verdict {
                Verdict::Unschedulable(witness) => return Cause::of_witness(witness),
                _ => &judgement.answers,
            },
        };
        let spent = answers.iter().any(|(_, answer)| *answer == Answer::Unknown);
        if spent { Cause::Budget } else { Cause::Test }
    }
    pub(super) fn of_too_much(why: &TooMuch) -> Cause {
        match why {
            TooMuch::Latency { .. } => Cause::Latency,
            TooMuch::Close => Cause::Budget,
            _ => Cause::Interrupts,
        }
    }
    pub(super) fn of_witness(witness: &Witness<Missed>) -> Cause {
        match witness {
            Witness::Alone(_) => Cause::Density,
            Witness::Overuse => Cause::Utilization,
            Witness::Demand { .. } => Cause::Demand,
            Witness::Missed(_) => Cause::Miss,
        }
    }
    /// In JSON.
    pub(super) fn word(self) -> &'static str {
        match self {
            Cause::Interrupts => "interrupts",
            Cause::Latency => "latency",
            Cause::Density => "density",
            Cause::Utilization => "utilization",
            Cause::Demand => "demand",
            Cause::Miss => "miss",
            Cause::Refused => "deadline",
            Cause::Budget => "budget",
            Cause::Test => "test",
        }
    }
    /// Of a verdict that is unknown.
    fn words(self, tasks: &TaskSet, outcome: &Outcome, asked: &Asked) -> String {
        let too_much = outcome.counted.as_ref().and_then(|it| it.as_ref().err());
        match self {
            Cause::Interrupts | Cause::Latency => match too_much {
                Some(why) => format!("Once overheads are counted, no capacity is left: {why}."),
                None => String::new(),
            },
            Cause::Density => "Once overheads are counted, a job takes longer than its deadline \
                               or period: see the tasks."
                .into(),
            Cause::Utilization => {
                let cpus = plural(asked.for_tasks().into(), "CPU");
                format!("Once overheads are counted, tasks use more than {cpus}.")
            }
            Cause::Demand | Cause::Miss => {
                "Once overheads are counted, a window demands more than CPUs provide.".into()
            }
            Cause::Refused => match outcome.refused {
                Some(task) => refused(asked, task, &tasks[task]),
                None => String::new(),
            },
            Cause::Budget => "Some tests exceeded their budget of steps.".into(),
            Cause::Test => unshown(outcome).into(),
        }
    }
}

/// That a task is none that the implementation takes.
pub(super) fn refused(asked: &Asked, task: usize, it: &Sporadic) -> String {
    format!(
        "{} allows no deadline beyond its period: Linux rejects it (`sched_setattr` fails with \
         EINVAL), because jobs that global EDF completes in time would be late. Jobs of task {} \
         are released every {} us and are due after {}.",
        asked.implementation.name(),
        task + 1,
        it.period_us,
        it.deadline_us
    )
}

/// Of a set that no test accepts: which tests that says something of.
fn unshown(outcome: &Outcome) -> &'static str {
    let answers = outcome.judgement().map_or(&[][..], |it| &it.answers);
    let global = || answers.iter().filter(|(test, _)| test.is_of_global_edf());
    let rejects = |(_, answer): &(Test, Answer)| *answer == Answer::Reject;
    match () {
        () if global().count() == 0 => {
            "No test of global EDF was selected, and partitioned EDF is another scheduler."
        }
        () if !global().any(rejects) => "None of the selected tests applies.",
        () => "No selected test of global EDF accepts it, and the tests are sufficient only.",
    }
}

/// What people want to know first.
fn figures(
    report: &mut Report,
    tasks: &TaskSet,
    asked: &Asked,
    outcome: &Outcome,
    verdict: &Verdict<Missed>,
) {
    let cpus = asked.for_tasks();
    let mut say = |label: &str, value: String| report.measure("", label, value, Unit::None);
    say("tasks use", format!("{:.3} of {}", utilization(tasks), plural(cpus.into(), "CPU")));
    if let Some(Ok(counts)) = &outcome.counted {
        let used = utilization(&counts.tasks);
        say("with overheads", format!("{used:.3} of {}", plural(cpus.into(), "CPU")));
    }
    if outcome.refused.is_some() {
        return;
    }
    if let Some(tried) = &outcome.tried {
        let late = if tried.missed.is_some() { "one late" } else { "none late" };
        let jobs = plural(tried.jobs, "job");
        say(
            "simulated",
            format!("{jobs} in {}, {late}", plural(tried.schedules.into(), "schedule")),
        );
    }
    if let Some(answer) = outcome.judgement().and_then(|it| it.answer(Test::Partitioned)) {
        let says = match answer {
            Answer::Accept => "schedulable: first fit finds a CPU for each task",
            Answer::Reject => "not shown: first fit finds no CPU for some task",
            Answer::NotApplicable(_) | Answer::Unknown => "not shown: out of budget",
        };
        let cpus = plural(cpus.into(), "CPU");
        let paid = match asked.overheads {
            None => String::new(),
            Some(_) => format!(", on {cpus} and with C+ of {}", asked.implementation.name()),
        };
        say("partitioned EDF", format!("{says}{paid}"));
    }
    let searched = tasks.len() <= SEARCHED;
    let is_schedulable = matches!(verdict, Verdict::Schedulable(_));
    if let Some(enough) = outcome.enough {
        let by = enough.by.key().to_uppercase();
        let cpus = enough.cpus + asked.implementation.dedicated();
        let least = if enough.is_least { "fewest" } else { "fewer may suffice" };
        let given = match (&asked.overheads, asked.cpus) {
            (None, _) => String::new(),
            (Some(_), 1) => "; with what 1 takes".into(),
            (Some(_), cpus) => format!("; with what {cpus} take"),
        };
        say("accepted on", format!("{} ({least}; by {by}{given})", plural(cpus.into(), "CPU")));
    } else if searched && !is_schedulable {
        say("accepted on", nowhere(asked, outcome).into());
    }
    match outcome.scale {
        Some(scale) => {
            let share = format!("{}.{:03}", scale.per_mille / 1_000, scale.per_mille % 1_000);
            let by = scale.by.key().to_uppercase();
            let more = if scale.is_most { "" } else { "; more may be accepted" };
            let critical = scale.critical.map(|task| format!("; task {} is critical", task + 1));
            let critical = critical.unwrap_or_default();
            say("accepted with", format!("every C x {share} (by {by}{more}{critical})"));
        }
        None if searched => say("accepted with", no_share(asked, outcome).into()),
        // That nobody searched is told among the assumptions.
        None => {}
    }
    if let Some(soft) = outcome.soft.as_ref().filter(|_| !is_schedulable) {
        say("if jobs may be late", late(soft));
    }
}

/// That no number of CPUs is known with which some test accepts, and whether any was tried.
fn nowhere(asked: &Asked, outcome: &Outcome) -> &'static str {
    let alone = matches!(outcome.plain.verdict, Verdict::Unschedulable(Witness::Alone(_)));
    match () {
        () if alone => "no number of CPUs: a job is late even on a CPU of its own",
        () if !asked.tests.iter().any(|test| test.is_of_global_edf()) => NOT_SELECTED,
        () if matches!(outcome.counted, Some(Err(_))) => {
            "no number of CPUs: overheads leave no capacity"
        }
        () => "no number of CPUs that was tried",
    }
}

/// That no share of the work is known with which some test accepts, and whether any was tried.
fn no_share(asked: &Asked, outcome: &Outcome) -> &'static str {
    let tells = |test: &Test| test.is_of_global_edf() && test.takes_less();
    match () {
        () if !asked.tests.iter().any(|test| test.is_of_global_edf()) => NOT_SELECTED,
        () if !asked.tests.iter().any(tells) => "not tried: BAK may reject less work",
        () if matches!(outcome.counted, Some(Err(_))) => {
            "no share of the work: overheads leave no capacity"
        }
        () => "no share of the work that was tried",
    }
}

/// Why nothing was tried.
const NOT_SELECTED: &str = "not tried: no test of global EDF was selected";

/// What is known of tardiness.
fn late(soft: &Soft) -> String {
    let most = |all: &Option<Vec<u64>>| all.as_ref().and_then(|all| all.iter().max().copied());
    let on_average = match soft.bounded_on_average {
        Some(true) => "; bounded also with averages (no guarantee)",
        Some(false) => "; not even bounded with averages",
        None => "",
    };
    if soft.bounded.is_none() {
        return "too close to determine whether ever later".into();
    }
    if soft.bounded == Some(false) {
        return format!(
            "ever later{}",
            if soft.bounded_on_average == Some(true) {
                "; bounded with averages (no guarantee)"
            } else {
                ""
            }
        );
    }
    match (most(&soft.gedf_us), most(&soft.gfl_us)) {
        (Some(gedf), Some(gfl)) => {
            format!("by {gedf} us at most (by {gfl} us under fair lateness){on_average}")
        }
        (Some(late), None) => format!("by {late} us at most{on_average}"),
        (None, Some(late)) => {
            format!("by some bound (by {late} us under fair lateness){on_average}")
        }
        (None, None) => format!("by some bound, which was not computed{on_average}"),
    }
}

/// What has a name in JSON and is said to people elsewhere.
fn for_programs(
    report: &mut Report,
    tasks: &TaskSet,
    asked: &Asked,
    outcome: &Outcome,
    verdict: &Verdict<Missed>,
) {
    let mut put = |name: &str, value: Value| report.measure(name, "", value, Unit::None);
    let by = |verdict: &Verdict<Missed>| match verdict {
        Verdict::Schedulable(test) => test.key().into(),
        _ => Value::Unknown,
    };
    put("by", by(verdict));
    let cause = match verdict {
        Verdict::Schedulable(_) => Value::Unknown,
        _ => Cause::of(outcome).word().into(),
    };
    put("cause", cause);
    let witness = match verdict {
        Verdict::Unschedulable(witness) => of_witness(witness, tasks, asked.for_tasks()),
        _ => Value::Unknown,
    };
    put("tests", outcome.judgement().map_or(Value::Unknown, answers));
    put("witness", witness);
    put("cpus", asked.cpus.into());
    put("cpus_for_tasks", asked.for_tasks().into());
    put("implementation", asked.implementation.name().into());
    put("task_count", tasks.len().into());
    put("utilization", utilization(tasks).into());
    let used = match &outcome.counted {
        Some(Ok(counts)) => Some(utilization(&counts.tasks)),
        _ => None,
    };
    put("overheads", of_counted(asked, asked.beyond(tasks).is_some(), used));
    let plain = asked.overheads.as_ref().map(|_| {
        let plain = &outcome.plain;
        map([
            ("verdict", plain.verdict.word().into()),
            ("by", by(&plain.verdict)),
            ("tests", answers(plain)),
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

/// Overheads that are counted, in JSON, and what tasks use with them.
pub(super) fn of_counted(asked: &Asked, extrapolated: bool, used: Option<f64>) -> Value {
    let Some(it) = &asked.overheads else { return Value::Unknown };
    map([
        ("file", it.file.as_str().into()),
        ("extrapolated", extrapolated.into()),
        ("not_measured", asked.missing(&it.maxima).into()),
        ("utilization", used.into()),
    ])
}

fn map<const N: usize>(values: [(&str, Value); N]) -> Value {
    Value::Map(values.map(|(name, value)| (name.to_owned(), value)).into())
}

fn answers(judgement: &Judgement<Missed>) -> Value {
    let one = |(test, answer): &(Test, Answer)| (test.key().to_owned(), answer.word().into());
    Value::Map(judgement.answers.iter().map(one).collect())
}

/// A witness in JSON: enough to check it without us.
pub(super) fn of_witness(witness: &Witness<Missed>, tasks: &TaskSet, cpus: u32) -> Value {
    let plain = ("overheads", false.into());
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

/// What each test says: for people.
fn tests(asked: &Asked, outcome: &Outcome) -> Table {
    let says = |judgement: Option<&Judgement<Missed>>, test| {
        let answer = judgement.and_then(|it| it.answer(test));
        Value::from(match answer {
            Some(Answer::Accept) => "accept".to_owned(),
            Some(Answer::Reject) => "reject".to_owned(),
            Some(Answer::NotApplicable(why)) => format!("no: {why}"),
            Some(Answer::Unknown) => "out of budget".to_owned(),
            None => "no capacity left".to_owned(),
        })
    };
    let plain = if asked.overheads.is_some() { "without overheads" } else { "says" };
    let mut columns =
        vec![Column::for_people("test", Unit::None), Column::for_people(plain, Unit::None)];
    if asked.overheads.is_some() {
        columns.push(Column::for_people("with overheads", Unit::None));
    }
    columns.push(Column::for_people("source", Unit::None));
    let mut table = Table::new("", "What tests say", columns);
    for &test in &asked.tests {
        // Of several CPUs it is shown to who asked for it.
        if test == Test::Qpa && asked.for_tasks() > 1 && asked.tests.len() == Test::ALL.len() {
            continue;
        }
        let mut row = vec![test.key().into(), says(Some(&outcome.plain), test)];
        if asked.overheads.is_some() {
            row.push(says(outcome.judgement(), test));
        }
        row.push(test.source().into());
        table.push(row);
    }
    table
}

/// Each task, with what is known of it.
fn of_tasks(tasks: &TaskSet, outcome: &Outcome, verdict: &Verdict<Missed>) -> Table {
    let columns = [
        Column::new("task", "task", Unit::None),
        Column::new("wcet_us", "C", Unit::None),
        Column::new("period_us", "T", Unit::None),
        Column::new("deadline_us", "D", Unit::None),
        Column::new("wcet_us_with_overheads", "C+", Unit::None),
        Column::new("response_us_max", "response", Unit::None),
        Column::new("response_us_max_fp", "FP", Unit::None),
        Column::new("response_us_max_np", "NP-EDF", Unit::None),
        Column::new("tardiness_us_max", "late", Unit::None),
        Column::new("tardiness_us_max_gfl", "late (G-FL)", Unit::None),
        Column::new("partition_cpu", "P-EDF CPU", Unit::None),
    ];
    let mut table = Table::new("tasks", "Tasks, in us", columns);
    if tasks.len() > TOLD {
        return table;
    }
    let counted = match &outcome.counted {
        Some(Ok(counts)) => Some(&counts.tasks),
        _ => None,
    };
    let of =
        |all: Option<&Vec<u64>>, n: usize| Value::from(all.and_then(|all| all.get(n).copied()));
    let soft = outcome.soft.as_ref();
    for (n, it) in tasks.iter().enumerate() {
        table.push(vec![
            (n + 1).into(),
            it.wcet_us.into(),
            it.period_us.into(),
            it.deadline_us.into(),
            counted.map(|tasks| tasks[n].wcet_us).into(),
            of(outcome.responses_us.as_ref(), n),
            of(outcome.fixed_us.as_ref(), n),
            of(outcome.unpreempted_us.as_ref(), n),
            of(soft.and_then(|it| it.gedf_us.as_ref()), n),
            of(soft.and_then(|it| it.gfl_us.as_ref()), n),
            outcome.cpu_of.get(n).copied().into(),
        ]);
    }
    let in_time = matches!(verdict, Verdict::Schedulable(_));
    table.hide_unknown();
    // People need no bound on lateness where nobody is late.
    for column in table.columns.iter_mut().filter(|column| column.key.starts_with("tardiness")) {
        *column = column.clone().shown_if(!in_time);
    }
    table
}

/// What was taken for granted.
fn assumptions(tasks: &TaskSet, asked: &Asked, outcome: &Outcome) -> Vec<String> {
    let mut all = vec![
        "jobs of a task come a period apart or more, need no more than C, and share nothing; they \
         may be preempted and moved at any time"
            .to_owned(),
    ];
    all.extend(of_kernel(asked, asked.beyond(tasks).map(|beyond| words(&beyond))));
    if asked.overheads.is_some() {
        if asked.tests.contains(&Test::Partitioned) {
            let name = asked.implementation.name();
            all.push(format!(
                "partitioned EDF is asked of tasks that pay what {name} takes, where {name} runs \
                 them: its own overheads are others (`--cluster 1` counts them)"
            ));
        }
        if outcome.enough.is_some() {
            all.push(format!("on more CPUs everything takes what it takes on {}", asked.cpus));
        }
    }
    if asked.implementation.dedicated() > 0 {
        let name = asked.implementation.name();
        all.push(format!("{name}: one of the CPUs runs no task"));
    }
    all.extend(Implementation::assumption(&[asked.implementation]));
    let rta = outcome.judgement().and_then(|it| it.answer(Test::Rta));
    if rta == Some(Answer::Accept) && asked.for_tasks() > 1 {
        all.push(
            "whatever RTA accepts is schedulable under partitioned EDF, too (Biondi, Sun 2018)"
                .into(),
        );
    }
    if tasks.len() > TOLD {
        all.push(format!("more than {TOLD} tasks: they are not listed"));
    }
    if tasks.len() > SEARCHED {
        all.push(format!(
            "more than {SEARCHED} tasks: CPUs and work that fit were not searched for"
        ));
    }
    all
}

/// What was taken for granted of what the kernel takes; `beyond` says where that was not measured.
pub(super) fn of_kernel(asked: &Asked, beyond: Option<String>) -> Vec<String> {
    let Some(counted) = &asked.overheads else {
        let nothing = "the kernel takes nothing for itself (`--overheads` counts what it takes)";
        return vec![nothing.into()];
    };
    let file = &counted.file;
    let (name, cpus) = (asked.implementation.name(), plural(asked.cpus.into(), "CPU"));
    let mut all = vec![format!(
        "{file}: maxima are the longest that were seen, which proves no bound; a job pays for \
         preemptions, interrupts and its cache as in Brandenburg 2011"
    )];
    if !counted.is_told {
        all.push(format!("that {file} is of {name} on {cpus} is taken for granted"));
    }
    let missing = asked.missing(&counted.maxima);
    if !missing.is_empty() {
        all.push(format!("{file} has no {}: counted as 0", missing.join(", ")));
    }
    if let Some(beyond) = beyond {
        all.push(format!("extrapolated: {beyond}"));
    }
    if let Some(averages) = &counted.averages {
        all.push("averages bound nothing: what holds with them is no guarantee".into());
        let mut less = asked.missing(averages);
        less.retain(|kind| !missing.contains(kind));
        if !less.is_empty() {
            all.push(format!("{file} has no averages of {}: counted as 0", less.join(", ")));
        }
    }
    all
}
