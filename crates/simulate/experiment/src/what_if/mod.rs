//! What if: the work of a History under another scheduler, and what none could beat.

mod report;

use crate::extract::{self, AsRecorded, Bound, Extracted};
use wastenot_check::waste::Figures;
use wastenot_check::{Movable, is_recorders, waste};
use wastenot_model::machine::Costs;
use wastenot_model::{History, Loss, Machine, Silent, Span, TaskId, Time, Window, replay};
use wastenot_scenario::scenario::{Choice, Variant};
use wastenot_sim::Options;

use crate::{Bench, Error, Run, Sim, choice};

/// The scheduler that is shown beside every other.
pub const YARDSTICK: &str = "work-conserving";
/// A run that takes so many times as long as the recorded one is given up.
const PATIENCE: u64 = 100;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The scheduler; the yardstick if none is named.
    pub scheduler: Option<Choice>,
    /// Another machine than the one it ran on.
    pub machine: Option<Machine>,
    /// The run is over when these are done, instead of all that are no kernel threads.
    pub awaited: Option<Vec<TaskId>>,
    /// Seed of what schedulers draw.
    pub seed: u64,
}

/// The answer.
#[derive(Debug)]
pub struct WhatIf {
    /// What the trace is called.
    pub name: String,
    /// The work, on the machine where it is run.
    pub extracted: Extracted,
    /// What no scheduler beats there.
    pub bound: Bound,
    /// What none does there that hands over locks and divides the work as the recorded one did.
    pub as_recorded: AsRecorded,
    /// Whether that is another machine than the one it ran on.
    pub moved: bool,
    /// What was wasted in the History.
    pub waste: Figures,
    /// What of it was lost or is suspect.
    pub losses: Vec<Loss>,
    /// The run under the scheduler that was asked for.
    pub asked: Replayed,
    /// The run under the yardstick, where that is another one.
    pub yardstick: Option<Replayed>,
}

/// The work under a scheduler.
#[derive(Debug)]
pub struct Replayed {
    /// The scheduler, with its tunables.
    pub scheduler: String,
    /// What of the work it does not look at.
    pub unread: Option<String>,
    /// From the start until the last task that is waited for had done its work; unknown if the
    /// run was given up.
    pub makespan: Option<Span>,
    /// What was wasted.
    pub waste: Figures,
    /// The run.
    pub run: Run,
}

/// Answers `question` about `history`.
pub fn what_if(history: &History, question: &Question) -> Result<WhatIf, Error> {
    let yardstick = Choice::named(YARDSTICK);
    let choice = question.scheduler.clone().unwrap_or_else(|| yardstick.clone());
    choice::policy(&choice)?;
    let mut extracted = work(history, question.awaited.as_deref(), true)?;
    if let Some(machine) = &question.machine {
        extracted = extracted.on(machine.clone());
    }
    let name = history.head.source.name.clone();
    Ok(WhatIf {
        bound: extracted.bound(),
        as_recorded: extracted.as_recorded(),
        moved: question.machine.is_some(),
        waste: waste::measure(history, &wastenot_check::Options::default()),
        losses: losses(history),
        asked: replayed(&extracted, &choice, question.seed, &name)?,
        yardstick: match choice != yardstick {
            true => Some(replayed(&extracted, &yardstick, question.seed, &name)?),
            false => None,
        },
        extracted,
        name,
    })
}

/// The work in `history`; without `quotas`, as if they had held no task back.
pub(crate) fn work(
    history: &History,
    awaited: Option<&[TaskId]>,
    quotas: bool,
) -> Result<Extracted, Error> {
    let movable = Movable::survey(history);
    let options = extract::Options {
        awaited,
        recorder: &|task| is_recorders(history, task),
        pinned: &|task| movable.pinned(task).is_some(),
        quotas,
    };
    extract::extract(history, &options).map_err(Error::Extract)
}

/// What of `history` was lost or is suspect.
fn losses(history: &History) -> Vec<Loss> {
    let mut contradictions = waste::Contradictions::within(Window::ALL, history);
    replay(history, Silent::Unknown, &mut contradictions);
    contradictions.losses(history)
}

/// Runs the work under the scheduler of `choice`.
fn replayed(
    extracted: &Extracted,
    choice: &Choice,
    seed: u64,
    name: &str,
) -> Result<Replayed, Error> {
    let run = rerun(&Sim, &variant(extracted, choice), extracted, seed, name)?;
    Ok(Replayed {
        scheduler: choice::label(choice),
        unread: choice::unread(choice, &extracted.workload),
        makespan: makespan(extracted, &run),
        waste: waste::measure(&run.history, &wastenot_check::Options::default()),
        run,
    })
}

/// The work under the scheduler of `choice`. What else it cost stands in the CPU time of tasks.
pub(crate) fn variant(extracted: &Extracted, choice: &Choice) -> Variant {
    Variant {
        name: choice::label(choice),
        machine: extracted.machine.clone(),
        costs: Costs { ipi: extracted.ipi, ..Costs::default() },
        workload: extracted.workload.clone(),
        scheduler: choice.clone(),
    }
}

/// Runs a variant of the work.
pub(crate) fn rerun(
    bench: &dyn Bench,
    variant: &Variant,
    extracted: &Extracted,
    seed: u64,
    name: &str,
) -> Result<Run, Error> {
    let limit = Time(extracted.recorded.0.saturating_mul(PATIENCE));
    let options = Options { name: name.into(), seed, limit, notes: false };
    bench.run(variant, &options).map_err(|error| match error {
        Error::Run { variant: scheduler, what, help, .. }
        | Error::Wrong { variant: scheduler, what, help, .. } => {
            Error::Replay { scheduler, what, help }
        }
        error => error,
    })
}

/// From the start until the last task that is waited for had done its work; unknown if the run was
/// given up.
pub(crate) fn makespan(extracted: &Extracted, run: &Run) -> Option<Span> {
    let done = run.outcome.marks.iter().filter(|mark| mark.mark == extracted.done);
    let last = done.clone().map(|mark| mark.time).max();
    let all = done.count() == extracted.awaited;
    last.filter(|_| all).map(|last| Span(last.0))
}

impl WhatIf {
    /// What no scheduler does that keeps to the recorded order and division: unknown where nothing
    /// tells who woke whom. What holds under every schedule holds under these, too.
    pub fn as_recorded(&self) -> Option<Span> {
        self.bound.span().map(|bound| bound.max(self.as_recorded.span()))
    }

    /// How much of the recorded run the bound does not explain: at most so much was the
    /// scheduler's doing.
    pub fn at_most(&self) -> Option<f64> {
        self.left_by(self.bound.span())
    }

    /// How much of the recorded run is longer than `least`.
    fn left_by(&self, least: Option<Span>) -> Option<f64> {
        let recorded = self.extracted.recorded;
        let saved = recorded.0.saturating_sub(least?.0) as f64;
        (!self.moved && recorded > Span::ZERO).then(|| saved / recorded.0 as f64)
    }
}
