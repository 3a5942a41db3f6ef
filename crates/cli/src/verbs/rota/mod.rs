//! `wastenot rota`: works on policies in Rota.

mod check;
pub(in crate::verbs) mod emit;
mod error;
mod fmt;

use std::collections::BTreeSet;
use std::path::Path;

use wastenot_model::printable;
use wastenot_rota::syntax::FAULTS;
use wastenot_rota::{Diagnostic, render, text};

use crate::args::rota::{Rota, What};
use crate::fail::{Answer, Stop};
use crate::{open, out};

/// Runs the subcommand.
pub(crate) fn run(args: &Rota) -> Result<Answer, Stop> {
    match &args.what {
        What::Check(args) => check::run(args),
        What::Fmt(args) => fmt::run(args),
        What::Error(args) => error::run(args),
        What::Emit(args) => emit::run(args),
    }
}

/// A policy file.
pub(in crate::verbs) struct Source {
    /// The name in messages.
    pub(in crate::verbs) name: String,
    /// The text; empty if the file is not UTF-8.
    pub(in crate::verbs) text: String,
    /// The fault if the file is not a text.
    pub(in crate::verbs) fault: Option<Diagnostic>,
}

impl Source {
    pub(in crate::verbs) fn read(file: &Path) -> Result<Source, Stop> {
        let name = open::shown(file);
        let bytes = open::policy(file)?;
        let fault = text(&bytes).err();
        Ok(Source { name, text: String::from_utf8(bytes).unwrap_or_default(), fault })
    }

    /// Formats faults for people, with the command that explains them.
    pub(super) fn shown(&self, faults: &[Diagnostic], colour: bool) -> String {
        let codes: BTreeSet<&str> = faults.iter().map(|fault| fault.code).collect();
        let name = printable(&self.name);
        let shown = render(faults, &name, &self.text, colour, out::size().0);
        let first = codes.first().map_or("", |code| *code);
        let others = if codes.len() > 1 { ", and likewise for the other codes" } else { "" };
        format!("{shown}explanation: `wastenot rota error {first}`{others}\n")
    }

    /// Formats faults as an answer on standard output, with their number.
    pub(in crate::verbs) fn refused(&self, found: &[Diagnostic]) -> String {
        let shown = self.shown(found, out::colour());
        format!("{shown}{}: {}\n", printable(&self.name), faults(found.len()))
    }
}

/// `1 fault`, `3 faults`. A long list is cut off.
fn faults(count: usize) -> String {
    match count {
        1 => "1 fault".to_owned(),
        FAULTS => format!("{count} faults or more"),
        _ => format!("{count} faults"),
    }
}
