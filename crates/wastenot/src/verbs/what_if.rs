//! `wastenot what-if`: the work of a trace under another scheduler.

use wastenot_experiment::{Error, Question, what_if};
use wastenot_read::write::edit;

use super::check::print;
use super::run::{ENDINGS, failed};
use super::{convert, select};
use crate::args::what_if::WhatIf;
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::{open, progress};

/// Answers what would have been.
pub(crate) fn run(args: &WhatIf) -> Result<Answer, Stop> {
    let output = match &args.output {
        Some(file) => Some((convert::by_ending(file, ENDINGS)?, Target::new(file, args.force)?)),
        None => None,
    };
    // Asked before the trace is read: a typing error must not cost a minute.
    let scheduler = open::scheduler(&args.under)?;
    let machine = args.target_machine.as_deref();
    let machine = machine.map(|text| open::machine("--target-machine", text)).transpose()?;
    let mut history = open::history(&args.trace, &args.reading)?;
    let name = open::shown(&args.trace);
    if wastenot_prove::replay::is_counterexample(&history) {
        let what = format!("{name} is a counterexample of `wastenot prove`, not a recording");
        return Err(Stop::new(what, format!("`wastenot prove --replay {name}`")));
    }
    let window = args.window.of(&history)?;
    if args.window.is_asked() {
        history = edit::window(&history, window);
    }
    let awaited = select::tasks(&history, &args.task)?;
    let question = Question { scheduler, machine, awaited, seed: args.seed };
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
