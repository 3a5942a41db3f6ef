//! Policies in Rota that verbs read, and their faults.

use std::collections::BTreeSet;
use std::path::Path;

use wastenot_model::printable;
use wastenot_rota::syntax::FAULTS;
use wastenot_rota::{Diagnostic, render, text};

use crate::fail::Stop;
use crate::{open, out};

/// A policy file.
pub(super) struct Source {
    /// The name in messages.
    pub(super) name: String,
    /// The text; empty if the file is not UTF-8.
    pub(super) text: String,
    /// The fault if the file is not a text.
    pub(super) fault: Option<Diagnostic>,
}

impl Source {
    pub(super) fn read(file: &Path) -> Result<Source, Stop> {
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
    pub(super) fn refused(&self, found: &[Diagnostic]) -> String {
        let shown = self.shown(found, out::colour());
        format!("{shown}{}: {}\n", printable(&self.name), faults(found.len()))
    }
}

/// `1 fault`, `3 faults`. A long list is cut off.
pub(super) fn faults(count: usize) -> String {
    match count {
        1 => "1 fault".to_owned(),
        FAULTS => format!("{count} faults or more"),
        _ => format!("{count} faults"),
    }
}
