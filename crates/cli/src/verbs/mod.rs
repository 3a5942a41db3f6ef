//! The work of each verb: one file per verb.

mod again;
mod bounds;
mod check;
mod child;
mod compare;
mod convert;
mod deploy;
mod doctor;
mod draw;
mod explain;
mod hunt;
mod lab;
mod length;
mod list;
mod policy;
mod prove;
mod record;
mod recording;
mod report;
mod rota;
mod run;
mod select;
mod shell;
mod signals;
mod trace_file;
mod view;
mod watch;
mod what_if;

use crate::args::{Cli, Verb};
use crate::fail::{Answer, Stop};

/// Runs the verb.
pub(crate) fn run(cli: Cli) -> Result<Answer, Stop> {
    match cli.verb {
        Verb::Doctor(args) => doctor::run(&args),
        Verb::Watch(args) => watch::run(&args),
        Verb::Report(args) => report::run(&args),
        Verb::Record(args) => record::run(&args),
        Verb::Check(args) => check::run(&args),
        Verb::View(args) => view::run(&args),
        Verb::Draw(args) => draw::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::Compare(args) => compare::run(&args),
        Verb::Convert(args) => convert::run(&args),
        Verb::Run(args) => run::run(&args),
        Verb::WhatIf(args) => what_if::run(&args),
        Verb::Hunt(args) => hunt::run(&args),
        Verb::List(args) => list::run(&args),
        Verb::Prove(args) => prove::run(&args),
        Verb::Bounds(args) => bounds::run(&args),
        Verb::Rota(args) => rota::run(&args),
        Verb::Deploy(args) => deploy::run(&args),
        Verb::Lab(args) => lab::run(&args),
        Verb::Completions(args) => shell::completions(&args),
        Verb::Man(args) => shell::man(&args),
    }
}
