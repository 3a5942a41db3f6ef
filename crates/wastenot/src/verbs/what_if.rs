//! `wastenot simulate --replay`: the work of a trace under another scheduler.

use std::path::Path;

use wastenot_lab::{Error, Question, what_if};
use wastenot_read::write::edit;

use super::check::print;
use super::simulate::{ENDINGS, chosen, failed};
use super::{convert, select};
use crate::args::simulate::Simulate;
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::{open, progress};

/// Answers what would have been.
pub(super) fn run(trace: &Path, args: &Simulate) -> Result<Answer, Stop> {
    let output = args.output.as_deref();
    let output = output.map(|file| Ok::<_, Stop>((convert::by_ending(file, ENDINGS)?, file)));
    let output = match output.transpose()? {
        Some((format, file)) => Some((format, Target::new(file, args.force)?)),
        None => None,
    };
    let what = &args.what_if;
    // Asked before the trace is read: a typing error must not cost a minute.
    let choice = chosen(args)?;
    let machine = what.on.as_deref().map(|text| open::machine("--on", text)).transpose()?;
    let mut history = open::history(trace, &what.reading)?;
    if wastenot_prove::replay::is_counterexample(&history) {
        let name = open::shown(trace);
        let help = format!("`wastenot prove --replay {name}`");
        return Err(Stop::new(format_args!("{name} is a counterexample"), help));
    }
    let window = what.window.of(&history)?;
    if what.window.is_asked() {
        history = edit::window(&history, window);
    }
    let question = Question {
        scheduler: choice,
        machine,
        awaited: select::tasks(&history, &what.task)?,
        seed: args.seed.unwrap_or(1),
    };
    let name = open::shown(trace);
    let answer = || what_if(&history, &question);
    let answer = progress::during("simulating", answer).map_err(|error| match &error {
        Error::Extract(why) => Stop::new(format_args!("{name}: {why}"), why.help()),
        error => failed(error),
    })?;
    if let Some((format, target)) = output {
        let write = || target.write(|out| convert::fill(&answer.asked.run.history, format, out));
        progress::during("writing", write)?;
    }
    print(&answer.report(), &args.face)?;
    Ok(Answer::Yes)
}
