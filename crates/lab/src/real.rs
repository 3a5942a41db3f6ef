//! A plan is run on the machine that this program runs on, and recorded meanwhile.

use std::time::Duration;

use wastenot_experiment::Run;
use wastenot_model::workload::MarkId;
use wastenot_model::{Builder, History, Span, TaskId, Time, Window};
use wastenot_read::write::edit;
use wastenot_record::Begun;
use wastenot_runner::{Did, End, Plan, Told};
use wastenot_sim::{Mark, Outcome};

use crate::Error;

/// How often what was recorded is taken out, and it is looked whether it is over.
const TURN: Duration = Duration::from_millis(50);

/// Runs `plan` and records. `is_over` ends it before its time.
pub(crate) fn run(
    plan: &Plan,
    decisions: bool,
    is_over: &dyn Fn() -> bool,
) -> Result<(History, Told), Error> {
    let options = wastenot_record::Options { decisions, ..Default::default() };
    let Begun { mut recording, head, .. } = wastenot_record::begin(&options)?;
    let mut sink = Builder::new(head);
    let mut running = plan.begin()?;
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
    Ok((sink.finish(), told))
}

/// What of a recording is the run: from the creation of the first task to the end.
pub(crate) fn part(history: &History, told: &Told) -> Run {
    let window = Window { from: Time(told.start_ns), to: Time(told.end_ns) };
    let history = edit::window(history, window);
    let mut ended = vec![None; history.task_count()];
    let mut of: Vec<Option<TaskId>> = vec![None; told.tasks.len()];
    for (task, known) in history.tasks() {
        // A number may be used again: then the task is the one that began last before it was seen.
        let is = |(_, did): &(usize, &Did)| did.tid == known.tid && did.tid > 0;
        if let Some((n, did)) = told.tasks.iter().enumerate().find(is) {
            of[n] = Some(task);
            ended[task.ordinal()] = did.ended_ns.map(|ns| told.since_start(ns));
        }
    }
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
    Run { history, outcome, real_time: None }
}
