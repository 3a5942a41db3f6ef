//! `wastenot rota fmt`: formats policies.

use std::path::Path;

use wastenot_rota::{Diagnostic, format};

use super::super::policy::{Source, faults};
use crate::args::rota::Fmt;
use crate::fail::{Answer, Stop};
use crate::out;

/// Formats files. A file with syntax faults does not prevent formatting of the others.
pub(super) fn run(args: &Fmt) -> Result<Answer, Stop> {
    let (mut changed, mut failed) = (Vec::new(), Vec::new());
    for file in &args.files {
        let source = Source::read(file)?;
        let formatted = match &source.fault {
            Some(fault) => Err(vec![fault.clone()]),
            None => format(&source.text),
        };
        match formatted {
            Ok(text) if args.check => {
                if text != source.text {
                    changed.push(source.name);
                }
            }
            Ok(text) if file == Path::new("-") => out::print_as_is(&text)?,
            Ok(text) if text != source.text => {
                out::rewrite(file, &text)?;
                changed.push(source.name);
            }
            Ok(_) => {}
            Err(found) => failed.push((source, found)),
        }
    }
    let names: String = changed.iter().map(|name| format!("{name}\n")).collect();
    out::print(&names)?;
    refuse(&failed)?;
    Ok(if args.check && !changed.is_empty() { Answer::No } else { Answer::Yes })
}

/// Reports the faults of files that were not formatted.
fn refuse(failed: &[(Source, Vec<Diagnostic>)]) -> Result<(), Stop> {
    let Some((first, _)) = failed.first() else { return Ok(()) };
    for (source, found) in failed {
        out::complain(&source.shown(found, out::colour_of_errors()));
    }
    let count = failed.iter().map(|(_, found)| found.len()).sum();
    let names = match failed.len() {
        1 => first.name.clone(),
        files => format!("{} and {} more", first.name, files - 1),
    };
    let what = format!("{names}: not changed, because the syntax has {}", faults(count));
    Err(Stop::new(what, "fix the faults above, and format again"))
}
