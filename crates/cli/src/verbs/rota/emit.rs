//! `wastenot rota emit`: emits a policy as C for sched_ext.

use std::time::Duration;

use wastenot_model::printable;
use wastenot_prove::explore::Bounds;
use wastenot_prove::{Error, Judgement, Options, judge, warnings};
use wastenot_rota::ir::Program;
use wastenot_rota::{compile, emit, line_and_column};

use super::super::policy::Source;
use super::super::prove::{cache, first_solver};
use crate::args::rota::Emit;
use crate::fail::{Answer, Stop};
use crate::out::{self, Target};
use crate::progress;

/// The exit code for a refuted policy.
const REFUTED: u8 = 1;
/// The time limit of a solver for one query. `prove` allows more time.
const PATIENCE: Duration = Duration::from_secs(5);

/// A policy in C, and a claim that is refuted or not proved.
pub(in crate::verbs) struct Emitted {
    pub(in crate::verbs) program: Program,
    pub(in crate::verbs) text: String,
    pub(in crate::verbs) doubt: Option<Doubt>,
}

/// The reason to doubt a policy.
pub(in crate::verbs) enum Doubt {
    Refuted(String),
    NotProved(String),
}

/// Writes the C.
pub(super) fn run(args: &Emit) -> Result<Answer, Stop> {
    let source = Source::read(&args.file)?;
    let how = emit::Options { steps: args.steps };
    let Some(emitted) = emitted(&source, how)? else { return Ok(Answer::No) };
    let said = match emitted.doubt {
        Some(Doubt::Refuted(why)) if !args.anyway => {
            let help = "see why with `wastenot prove`, or write the C code anyway with `--anyway`";
            let what = format!("{}: nothing was written: {why}", source.name);
            return Err(Stop::new(what, help).or_code(REFUTED));
        }
        Some(Doubt::Refuted(why)) => {
            out::note(&format!("{}: written, though {why}", source.name));
            Some(why)
        }
        Some(Doubt::NotProved(claims)) => {
            let prove = match out::quoted(&args.file).filter(|file| file != "-") {
                Some(file) => format!("wastenot prove {file}"),
                None => "wastenot prove".to_owned(),
            };
            out::note(&format!("{}: {claims} not proved: see `{prove}`", source.name));
            Some(format!("{claims} unproved for some numbers of CPUs"))
        }
        None => None,
    };
    let text = remarked(&emitted.text, said);
    let target = Target::new(&args.output, args.force)?;
    target.write(|out| out.write_all(text.as_bytes()))?;
    Ok(Answer::Yes)
}

/// The C of the policies in a text, with the doubt about them. `None` if the text has faults, which
/// were printed.
pub(in crate::verbs) fn emitted(
    source: &Source,
    how: emit::Options,
) -> Result<Option<Emitted>, Stop> {
    let text = match &source.fault {
        Some(fault) => Err(vec![fault.clone()]),
        None => {
            compile(&source.text).and_then(|it| emit::emit_with(&it, how).map(|text| (it, text)))
        }
    };
    let (program, text) = match text {
        Ok(both) => both,
        Err(found) => {
            out::print_as_is(&source.refused(&found))?;
            return Ok(None);
        }
    };
    let options = options()?;
    let judging = || judged(&program, &options);
    let judged = progress::during("proving the claims", judging)?;
    warn(source, &judged);
    let doubt = refuted(&judged).map(Doubt::Refuted);
    let doubt = doubt.or_else(|| not_proved(&judged).map(Doubt::NotProved));
    drop(judged);
    Ok(Some(Emitted { program, text, doubt }))
}

/// The C with a warning at the top, because the C may be copied without the policy text.
fn remarked(text: &str, said: Option<String>) -> String {
    let Some(said) = said else { return text.to_owned() };
    let (licence, rest) = text.split_once('\n').unwrap_or((text, ""));
    format!("{licence}\n// Beware: {}.\n{rest}", printable(&said))
}

/// The default options of `prove`, but with less time. Without a solver, a short exploration of
/// small machines.
fn options() -> Result<Options, Stop> {
    let solvers = first_solver()?;
    let patience = if solvers.is_empty() { Duration::ZERO } else { PATIENCE };
    Ok(Options { solvers, cache: cache(), patience, bounds: Bounds::default() })
}

/// The verdicts on the claims of each policy.
fn judged<'p>(program: &'p Program, options: &Options) -> Result<Vec<Judgement<'p>>, Error> {
    let judged = |policy| {
        let (verdicts, warnings) = (judge(policy, options)?, warnings(policy, options)?);
        Ok(Judgement { policy: Some(policy), verdicts, warnings })
    };
    program.policies.iter().map(judged).collect()
}

/// The first claim that is refuted, by a counterexample or by its text, and the reason.
fn refuted(judged: &[Judgement<'_>]) -> Option<String> {
    judged.iter().find_map(|of| {
        let (claim, why) = of.refuted()?;
        Some(format!("`{claim}` of `{}` is refuted: {why}", of.policy?.name))
    })
}

/// The claims that are not proved for any number of CPUs, as the beginning of a sentence.
fn not_proved(judged: &[Judgement<'_>]) -> Option<String> {
    let mut claims: Vec<String> = Vec::new();
    for (policy, of) in judged.iter().filter_map(|of| Some((of.policy?, of))) {
        for claim in of.not_proved() {
            let claim = match judged.len() {
                1 => format!("`{claim}`"),
                _ => format!("`{claim}` of `{}`", policy.name),
            };
            if !claims.contains(&claim) {
                claims.push(claim);
            }
        }
    }
    let is = if claims.len() == 1 { "is" } else { "are" };
    (!claims.is_empty()).then(|| format!("{} {is}", claims.join(", ")))
}

/// Prints the warnings about the policies.
fn warn(source: &Source, judged: &[Judgement<'_>]) {
    for warning in judged.iter().flat_map(|of| &of.warnings) {
        let line = line_and_column(&source.text, warning.span.start).0;
        out::note(&format!("{}:{line}: {}: {}", source.name, warning.code, warning.what));
    }
}
