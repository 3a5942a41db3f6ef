//! The definition of the command line: one file per verb, and the options that verbs share. Help,
//! man pages, completions and `docs/reference/cli.md` are generated from it.

pub(crate) mod address;
pub(crate) mod bounds;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod deploy;
pub(crate) mod doctor;
pub(crate) mod draw;
pub(crate) mod explain;
pub(crate) mod help;
pub(crate) mod hunt;
pub(crate) mod input;
pub(crate) mod lab;
pub(crate) mod list;
pub(crate) mod prove;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod rota;
pub(crate) mod run;
pub(crate) mod scheduler;
pub(crate) mod shell;
pub(crate) mod view;
pub(crate) mod watch;
pub(crate) mod what_if;
pub(crate) mod when;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::fail::Stop;

/// Show what a CPU scheduler did and how much CPU time was wasted
#[derive(Debug, Parser)]
#[command(name = "wastenot", version, max_term_width = 80)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The verbs. Each verb is also listed in [`help::GROUPS`].
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Doctor(doctor::Doctor),
    Watch(watch::Watch),
    Report(report::Report),
    Record(record::Record),
    Check(check::Check),
    View(view::View),
    Draw(draw::Draw),
    Compare(compare::Compare),
    Explain(explain::Explain),
    Convert(convert::Convert),
    Run(run::Run),
    WhatIf(what_if::WhatIf),
    Hunt(hunt::Hunt),
    Prove(prove::Prove),
    Bounds(bounds::Bounds),
    Rota(rota::Rota),
    Deploy(deploy::Deploy),
    Lab(lab::Lab),
    List(list::List),
    Completions(shell::Completions),
    Man(shell::Man),
}

/// The whole command line, with the grouped overview as its help.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let overview = help::overview(&command);
    command.override_help(overview)
}

/// Reads a command line.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, Stop> {
    let words: Vec<OsString> = words.into_iter().collect();
    let parsed = command().try_get_matches_from(&words);
    parsed.and_then(|matches| Cli::from_arg_matches(&matches)).or_else(|e| help::answer(&e, &words))
}
