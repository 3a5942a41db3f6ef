//! A plan is run on the machine that this program runs on, and recorded meanwhile.

use std::time::Duration;

use crate::runner::{End, Plan, Told};
use wastenot_experiment::Run;
use wastenot_model::workload::{MarkId, Step, TemplateId};
use wastenot_model::{
    Builder, Event, History, Sink as _, Span, Task, TaskId, Time, Window, Workload,
};
use wastenot_read::write::edit;
use wastenot_record::Begun;
use wastenot_sim::{Mark, Outcome};

use crate::Error;

/// How often what was recorded is taken out, and it is looked whether it is over.
const TURN: Duration = Duration::from_millis(50);

/// Runs `plan` and records. `before` is done before there is any task; `is_over` ends it before its
/// time.
pub(crate) fn run(
    plan: &Plan,
    decisions: bool,
    before: &dyn Fn(),
    is_over: &dyn Fn() -> bool,
) -> Result<(History, Told), Error> {
    let options = wastenot_record::Options { decisions, ..Default::default() };
    let Begun { mut recording, head, .. } = wastenot_record::begin(&options)?;
    let mut sink = Builder::new(head);
    let mut running = plan.begin_after(before)?;
    while !running.is_over()? {
        if is_over() {
            return Err(Error::Interrupted);
        }
        recording.wait(TURN);
        recording.drain(&mut sink);
    }
    let told = running.told()?;
    recording.finish(&mut sink);
    drop(recording);
    name(&mut sink, plan, &told);
    Ok((sink.finish(), told))
}

/// Gives tasks their names. The recorder looks at a name when something else happens to its task:
/// one that executed a program and ended soon after is still called as its file, `memfd:task`.
fn name(sink: &mut Builder, plan: &Plan, told: &Told) {
    let by_tid = told.by_tid();
    let name_of = |task: &Task| plan.name(told.tasks[*by_tid.get(&task.tid)?].template);
    let named: Vec<(TaskId, &str)> =
        sink.tasks().filter_map(|(id, task)| Some((id, name_of(task)?))).collect();
    for (id, name) in named {
        let name = sink.name(name);
        if let Some(task) = sink.task_mut(id) {
            task.name = name;
        }
    }
}

/// What of a recording is the run: from the creation of the first task to the end.
pub(crate) fn part(history: &History, told: &Told, workload: &Workload) -> Run {
    let window = Window { from: Time(told.start_ns), to: Time(told.end_ns) };
    let history = edit::window(history, window);
    let mut ended = vec![None; history.task_count()];
    let mut templates = vec![None; history.task_count()];
    let mut of: Vec<Option<TaskId>> = vec![None; told.tasks.len()];
    let by_tid = told.by_tid();
    for (task, known) in history.tasks() {
        if let Some(&n) = by_tid.get(&known.tid) {
            let did = &told.tasks[n];
            of[n] = Some(task);
            templates[task.ordinal()] = Some(TemplateId(did.template));
            ended[task.ordinal()] = did.ended_ns.map(|ns| told.since_start(ns));
        }
    }
    adopt(&history, told, workload, &mut templates, &mut ended);
    let marks = told.marks.iter().filter_map(|it| {
        let task = of.get(it.task as usize).copied().flatten()?;
        let time = told.since_start(it.at_ns);
        Some(Mark { time, task, mark: MarkId(it.mark), late: Span(it.late_ns) })
    });
    let outcome = Outcome {
        end: match told.end {
            End::Done => wastenot_sim::End::Done,
            End::Limit => wastenot_sim::End::Limit,
        },
        time: Time(told.span_ns()),
        stuck: Vec::new(),
        marks: marks.collect(),
        ended,
        rows: history.len(),
    };
    Run { history, outcome, templates: Some(templates), real_time: None, fault: None }
}

/// Counts what programs of users forked as tasks of the kind that runs them. What they left behind
/// ended with the run.
fn adopt(
    history: &History,
    told: &Told,
    workload: &Workload,
    templates: &mut [Option<TemplateId>],
    ended: &mut [Option<Time>],
) {
    let runs = |of: &TemplateId| {
        let steps = workload.templates[of.index()].program.steps();
        steps.iter().any(|step| matches!(step, Step::Run(_)))
    };
    if workload.commands.is_empty() {
        return;
    }
    let mut adopted = vec![false; templates.len()];
    for entry in history.entries() {
        match entry.event {
            Event::Fork { parent, child } => {
                let of = templates[parent.ordinal()].filter(runs);
                let child = child.ordinal();
                if templates[child].is_none() && of.is_some() {
                    (templates[child], adopted[child]) = (of, true);
                    ended[child] = Some(Time(told.span_ns()));
                }
            }
            Event::Exit { task } if adopted[task.ordinal()] => {
                ended[task.ordinal()] = Some(told.since_start(entry.time.0));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::runner::Did;
    use wastenot_model::{By, CpuId, Entry, Head, Machine};

    use super::*;

    #[test]
    fn strangers_with_the_name_of_a_task_are_not_tasks() {
        let mut builder = Builder::new(Head::new(Machine::flat(1)));
        let name = builder.name("sleep");
        for (tid, time) in [(7, Time(1)), (8, Time(2))] {
            let task = builder.task(Task::new(tid, name));
            let event = Event::Exec { task };
            builder.push(Entry { time, cpu: CpuId(0), by: By::UNKNOWN, event });
        }
        let did = Did { tid: 8, template: 3, began_ns: 0, ended_ns: Some(5) };
        let (end, marks) = (End::Done, Vec::new());
        let told = Told { start_ns: 0, end_ns: 9, end, tasks: vec![did], marks };
        let run = part(&builder.finish(), &told, &Workload::new());
        assert_eq!(run.templates, Some(vec![None, Some(TemplateId(3))]));
        assert_eq!(run.outcome.ended, [None, Some(Time(5))]);
    }

    #[test]
    fn tasks_are_called_as_in_the_scenario_whatever_the_recorder_saw() {
        let text = "schema = \"wastenot.scenario/1\"\nmachine = \"smp4\"\n\
                    scheduler = { name = \"osv\" }\n\
                    [[tasks]]\nname = \"make\"\nprogram = [\"fork cc\", \"wait\"]\n\
                    [[tasks]]\nname = \"cc\"\nforked = true\nprogram = [\"exec\"]\n";
        let scenario = wastenot_scenario::scenario::scenario("a.toml", text).expect("a scenario");
        let workload = &scenario.variants[0].workload;
        let plan = Plan::new(workload, 4, 1, Span::s(1)).expect("a plan");
        let did = |tid, template| Did { tid, template, began_ns: 0, ended_ns: None };
        let tasks = vec![did(7, 0), did(8, 1), did(0, 1)];
        let (end, marks) = (End::Done, Vec::new());
        let told = Told { start_ns: 0, end_ns: 1, end, tasks, marks };
        let mut sink = Builder::new(Head::new(scenario.variants[0].machine.clone()));
        for (tid, called) in [(7, "make"), (8, "memfd:wastenot-"), (9, "kworker/1"), (0, "swapper")]
        {
            let name = sink.name(called);
            sink.task(Task::new(tid, name));
        }
        name(&mut sink, &plan, &told);
        let history = sink.finish();
        let names: Vec<&str> = history.tasks().map(|(_, task)| history.name(task.name)).collect();
        assert_eq!(names, ["make", "cc", "kworker/1", "swapper"]);
    }
}
