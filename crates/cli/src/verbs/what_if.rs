//! `wastenot what-if`: simulates the work of a trace under another scheduler.

use std::path::Path;

use wastenot_experiment::{Error, Question, what_if};
use wastenot_model::{Help, History};
use wastenot_read::write::edit;

use super::select;
use crate::args::input::Reading;
use crate::args::what_if::WhatIf;
use crate::args::when::WindowArgs;
use crate::fail::{Answer, Stop};
use crate::verbs::trace_file::TraceFile;
use crate::{open, progress};

/// Simulates, and reports.
pub(crate) fn run(args: &WhatIf) -> Result<Answer, Stop> {
    let kept =
        args.output.as_ref().map(|file| TraceFile::named("-o", file, args.force)).transpose()?;
    // Check this before reading the trace: a typing error must not cost a minute.
    let scheduler = open::scheduler(&args.under)?;
    let machine = args.target_machine.as_deref();
    let machine = machine.map(|text| open::machine("--target-machine", text)).transpose()?;
    let history = trace(&args.trace, &args.reading, &args.window)?;
    let awaited = select::tasks(&history, &args.task)?;
    let question = Question { scheduler, machine, awaited, seed: args.seed };
    let answer = || what_if(&history, &question);
    let answer = progress::during("simulating", answer);
    let answer = answer.map_err(|error| failed_with(&args.trace, error))?;
    kept.map_or(Ok(()), |kept| kept.write(&answer.asked.run.history))?;
    args.face.print(&answer.report())?;
    Ok(Answer::Yes)
}

/// The trace with the work to simulate, or its selected part.
pub(super) fn trace(file: &Path, reading: &Reading, part: &WindowArgs) -> Result<History, Stop> {
    let history = open::history(file, reading)?;
    if wastenot_prove::replay::is_counterexample(&history) {
        let name = open::shown(file);
        let what = format!("{name} is a counterexample of `wastenot prove`, not a recorded trace");
        return Err(Stop::new(what, format!("run `wastenot prove --replay {name}`")));
    }
    let window = part.of(&history)?;
    Ok(if part.is_asked() { edit::window(&history, window) } else { history })
}

/// The error if the work of `file` cannot run.
pub(super) fn failed_with(file: &Path, error: Error) -> Stop {
    match error {
        Error::Extract(_) | Error::NoModel { .. } => {
            Stop::new(format_args!("{}: {error}", open::shown(file)), error.help())
        }
        error => error.into(),
    }
}
