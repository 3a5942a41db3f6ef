//! `wastenot rota emit`: the C of a policy, for sched_ext.

use std::time::Duration;

use wastenot_prove::explore::Bounds;
use wastenot_prove::{Error, Options, Outcome, judge, warnings};
use wastenot_rota::ir::Program;
use wastenot_rota::{compile, emit, line_and_column};

use super::Source;
use crate::args::rota::Emit;
use crate::fail::{Answer, Stop};
use crate::out::{self, Target};
use crate::progress;

/// What a refuted policy ends with: the answer is no.
const REFUTED: u8 = 1;

/// Writes it.
pub(super) fn run(args: &Emit) -> Result<Answer, Stop> {
    let source = Source::read(&args.file)?;
    let text = match &source.fault {
        Some(fault) => Err(vec![fault.clone()]),
        None => compile(&source.text).and_then(|it| emit::emit(&it).map(|text| (it, text))),
    };
    match text {
        Ok((program, text)) => {
            let looking = || Ok((refuted(&program)?, warned(&program, &source)?));
            let looked = progress::during("looking at small machines", looking);
            let (refuted, warned) =
                looked.map_err(|error: Error| Stop::new(&error, error.help()))?;
            warned.iter().for_each(|warning| out::note(warning));
            if let Some(why) = refuted {
                if !args.anyway {
                    let help = "`wastenot prove` shows how; `--anyway` writes it all the same";
                    let what = format!("{}: nothing was written: {why}", source.name);
                    return Err(Stop::new(what, help).or_code(REFUTED));
                }
                out::note(&format!("{}: written, though {why}", source.name));
            }
            let target = Target::new(&args.output, args.force)?;
            target.write(|out| out.write_all(text.as_bytes()))?;
            Ok(Answer::Yes)
        }
        Err(found) => {
            out::print_as_is(&source.refused(&found))?;
            Ok(Answer::No)
        }
    }
}

/// A short look: no solvers, small machines.
fn options() -> Options {
    let (patience, bounds) = (Duration::ZERO, Bounds::default());
    Options { solvers: Vec::new(), cache: None, patience, bounds }
}

/// The first claim that fails on a small machine, or by its text, and how.
fn refuted(program: &Program) -> Result<Option<String>, Error> {
    for policy in &program.policies {
        for verdict in judge(policy, &options())? {
            let why = match &verdict.outcome {
                Outcome::Refuted(found) => found.why(),
                Outcome::Contradicted(what) => format!("this does not hold: {what}"),
                Outcome::Proved(_) | Outcome::Unknown(_) => continue,
            };
            let claim = verdict.claim.kind.name();
            return Ok(Some(format!("`{claim}` of `{}` is refuted: {why}", policy.name)));
        }
    }
    Ok(None)
}

/// What to know of the policies, whatever they claim.
fn warned(program: &Program, source: &Source) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for policy in &program.policies {
        all.extend(warnings(policy, &options())?.into_iter().map(|warning| {
            let line = line_and_column(&source.text, warning.span.start).0;
            format!("{}:{line}: {}: {}", source.name, warning.code, warning.what)
        }));
    }
    Ok(all)
}
