//! `wastenot prove`: checks the claims of policies.

mod conforms;
mod next;
mod replay;
mod solvers;

use std::path::Path;

use wastenot_model::Help;
use wastenot_prove::certificate;
use wastenot_prove::solver::Kind;
use wastenot_prove::{Conclusion, Error, Judgement, choose, judge_program, report};
use wastenot_rota::ir::Program;
use wastenot_rota::{compile, line_and_column};

use self::next::next;
pub(super) use self::solvers::{cache, first_solver};
use self::solvers::{options, solvers};
use super::policy::Source;
use crate::args::prove::Prove;
use crate::fail::{Answer, Stop};
use crate::verbs::trace_file::TraceFile;
use crate::{out, progress};

/// Proves claims, rechecks a certificate, or replays a counterexample or a log of steps.
pub(crate) fn run(args: &Prove) -> Result<Answer, Stop> {
    if let (Some(history), Some(file)) = (&args.conforms, &args.file) {
        return conforms::run(file, history, args);
    }
    match (&args.recheck, &args.replay, &args.file) {
        (Some(folder), ..) => recheck(folder, args),
        (None, Some(file), _) => replay::run(file, args),
        (None, None, Some(file)) => prove(file, args),
        (None, None, None) => Err(Stop::new("nothing to prove", "run `wastenot prove my.rota`")),
    }
}

fn prove(file: &Path, args: &Prove) -> Result<Answer, Stop> {
    let source = Source::read(file)?;
    let program = meaning(&source)?;
    let chosen = choose(&program, &args.claim, args.allow_unsafe);
    let chosen = chosen.map_err(|error| about(&source.name, &error))?;
    let kept =
        args.cex.as_ref().map(|path| TraceFile::named("--cex", path, args.force)).transpose()?;
    if let Some(folder) = args.certificate.as_ref().filter(|folder| folder.exists()) {
        let what = format!("{} already exists", folder.display());
        return Err(Stop::new(what, "give a new directory; certificates are never overwritten"));
    }
    let options = options(args)?;
    let judging = || judge_program(&program, &chosen, &args.claim, &options);
    let judged = progress::during(&format!("proving {}", source.name), judging)?;
    let line = |at: u32| line_and_column(&source.text, at).0;
    let mut report = report(&source.name, &judged, &options, line);
    report.next = next(file, &judged, args, options.solvers.len());
    args.face.print(&report)?;
    if let Some(kept) = kept {
        match judged.iter().find_map(Judgement::counterexample) {
            Some((policy, claim, found)) => {
                kept.write(&found.history(policy, claim, &source.text))?;
            }
            None if judged.iter().any(Judgement::is_contradicted) => out::note(
                "the text of the policy refutes the claim, so there is no counterexample to write",
            ),
            None => out::note("no counterexample was found, so nothing was written"),
        }
    }
    if let Some(folder) = &args.certificate {
        if options.solvers.is_empty() {
            let help = "use `--solver z3`, or `--both` for two solvers";
            return Err(Stop::new("a certificate needs a solver", help));
        }
        let of = (source.name.as_str(), source.text.as_str());
        let (solvers, patience) = (&options.solvers, options.patience);
        let write = || certificate::write(folder, of, &judged, solvers, patience);
        progress::during("writing the certificate", write)?;
    }
    Ok(answer(Conclusion::of(&judged)))
}

fn recheck(folder: &Path, args: &Prove) -> Result<Answer, Stop> {
    let solvers = solvers(args)?;
    if solvers.is_empty() {
        return Err(Stop::new("--recheck needs a solver", Kind::Z3.recipe()));
    }
    let options = options(args)?;
    let name = folder.display().to_string();
    let ask = || certificate::recheck(folder, &solvers, options.patience);
    let mut again = progress::during("running queries again", ask)?;
    again.only(&args.claim).map_err(|error| about(&name, &error))?;
    let conclude = || again.conclude(&name, &options);
    let (report, conclusion) = progress::during("proving the other claims", conclude)?;
    args.face.print(&report)?;
    Ok(answer(conclusion))
}

/// Compiles a text, and reports faults in the same way as `rota check`.
fn meaning(source: &Source) -> Result<Program, Stop> {
    let compiled = match &source.fault {
        Some(fault) => Err(vec![fault.clone()]),
        None => compile(&source.text),
    };
    compiled.map_err(|found| {
        out::complain(&source.shown(&found, out::colour_of_errors()));
        let what = format!("{} is not valid Rota", source.name);
        let again = if source.name.contains(' ') { "-" } else { &source.name };
        Stop::new(what, format!("run `wastenot rota check {again}`"))
    })
}

fn answer(conclusion: Conclusion) -> Answer {
    match conclusion {
        Conclusion::Yes => Answer::Yes,
        Conclusion::No => Answer::No,
        Conclusion::CannotTell => Answer::CannotTell,
    }
}

/// An error about one file.
fn about(name: &str, error: &Error) -> Stop {
    Stop::new(format_args!("{name}: {error}"), error.help())
}
