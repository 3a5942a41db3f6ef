//! `wastenot rota`: texts of the language of schedulers.

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

/// Does with texts what was asked.
pub(crate) fn run(args: &Rota) -> Result<Answer, Stop> {
    match &args.what {
        What::Check(args) => check::run(args),
        What::Fmt(args) => fmt::run(args),
        What::Error(args) => error::run(args),
        What::Emit(args) => emit::run(args),
    }
}

/// A file that should hold a text.
pub(in crate::verbs) struct Source {
    /// How it is called in messages.
    pub(in crate::verbs) name: String,
    /// Empty where it is no UTF-8.
    pub(in crate::verbs) text: String,
    /// Why it is none.
    pub(in crate::verbs) fault: Option<Diagnostic>,
}

impl Source {
    pub(in crate::verbs) fn read(file: &Path) -> Result<Source, Stop> {
        let name = open::shown(file);
        let bytes = open::policy(file)?;
        let fault = text(&bytes).err();
        Ok(Source { name, text: String::from_utf8(bytes).unwrap_or_default(), fault })
    }

    /// Faults as people read them, and where more is said of them.
    pub(super) fn shown(&self, faults: &[Diagnostic], colour: bool) -> String {
        let codes: BTreeSet<&str> = faults.iter().map(|fault| fault.code).collect();
        let name = printable(&self.name);
        let shown = render(faults, &name, &self.text, colour, out::size().0);
        let first = codes.first().map_or("", |code| *code);
        let others = if codes.len() > 1 { ", and likewise for the other codes" } else { "" };
        format!("{shown}explanation: `wastenot rota error {first}`{others}\n")
    }

    /// The same as an answer on standard output, with how many they are.
    pub(in crate::verbs) fn refused(&self, found: &[Diagnostic]) -> String {
        let shown = self.shown(found, out::colour());
        format!("{shown}{}: {}\n", printable(&self.name), faults(found.len()))
    }
}

/// `1 fault`, `3 faults`; of a long list only the beginning was told.
fn faults(count: usize) -> String {
    match count {
        1 => "1 fault".to_owned(),
        FAULTS => format!("{count} faults or more"),
        _ => format!("{count} faults"),
    }
}
