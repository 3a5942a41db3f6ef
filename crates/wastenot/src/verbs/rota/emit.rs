//! `wastenot rota emit`: the C of a policy, for sched_ext.

use std::time::Duration;

use wastenot_model::printable;
use wastenot_prove::explore::Bounds;
use wastenot_prove::{Error, Options, Outcome, Scope, Verdict, judge, warnings};
use wastenot_rota::ir::Program;
use wastenot_rota::{compile, emit, line_and_column};

use super::super::prove::{cache, first_solver, quoted};
use super::Source;
use crate::args::rota::Emit;
use crate::fail::{Answer, Stop};
use crate::out::{self, Target};
use crate::progress;

/// What a refuted policy ends with: the answer is no.
const REFUTED: u8 = 1;
/// So long a solver may think about one question: who wants to know more asks `prove`.
const PATIENCE: Duration = Duration::from_secs(5);

/// Writes it.
pub(super) fn run(args: &Emit) -> Result<Answer, Stop> {
    let source = Source::read(&args.file)?;
    let text = match &source.fault {
        Some(fault) => Err(vec![fault.clone()]),
        None => compile(&source.text).and_then(|it| emit::emit(&it).map(|text| (it, text))),
    };
    match text {
        Ok((program, text)) => {
            let options = options()?;
            let looking =
                || Ok((judged(&program, &options)?, warned(&program, &source, &options)?));
            let looked = progress::during("proving what it claims", looking);
            let (judged, warned) =
                looked.map_err(|error: Error| Stop::new(&error, error.help()))?;
            warned.iter().for_each(|warning| out::note(warning));
            let said = if let Some(why) = refuted(&judged) {
                if !args.anyway {
                    let help = "`wastenot prove` shows how; `--anyway` writes it anyway";
                    let what = format!("{}: nothing was written: {why}", source.name);
                    return Err(Stop::new(what, help).or_code(REFUTED));
                }
                out::note(&format!("{}: written, though {why}", source.name));
                Some(why)
            } else if let Some(claims) = not_proved(&judged) {
                let prove = match quoted(&args.file).filter(|file| file != "-") {
                    Some(file) => format!("wastenot prove {file}"),
                    None => "wastenot prove".to_owned(),
                };
                out::note(&format!("{}: {claims} not proved: `{prove}`", source.name));
                Some(format!("{claims} not proved for any number of CPUs"))
            } else {
                None
            };
            let text = remarked(&text, said);
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

/// The C with what is wrong, or not shown, of its policies: it may travel without their text.
fn remarked(text: &str, said: Option<String>) -> String {
    let Some(said) = said else { return text.to_owned() };
    let (licence, rest) = text.split_once('\n').unwrap_or((text, ""));
    format!("{licence}\n// Beware: {}.\n{rest}", printable(&said))
}

/// What `prove` asks if nothing is said, but for less time. Without a solver, a short look at small
/// machines.
fn options() -> Result<Options, Stop> {
    let solvers = first_solver()?;
    let patience = if solvers.is_empty() { Duration::ZERO } else { PATIENCE };
    Ok(Options { solvers, cache: cache(), patience, bounds: Bounds::default() })
}

/// What each policy claims, judged.
fn judged<'p>(
    program: &'p Program,
    options: &Options,
) -> Result<Vec<(&'p str, Vec<Verdict>)>, Error> {
    let policies = program.policies.iter();
    policies.map(|policy| Ok((policy.name.as_str(), judge(policy, options)?))).collect()
}

/// The first claim that is refuted, by a counterexample or by its text, and how.
fn refuted(judged: &[(&str, Vec<Verdict>)]) -> Option<String> {
    judged.iter().find_map(|(policy, verdicts)| {
        verdicts.iter().find_map(|verdict| {
            let why = match &verdict.outcome {
                Outcome::Refuted(found) => found.why(),
                Outcome::Contradicted(what) => {
                    format!("it requires this, but the text states otherwise: {what}")
                }
                Outcome::Proved(_) | Outcome::Unknown(_) => return None,
            };
            let claim = verdict.claim.kind.name();
            Some(format!("`{claim}` of `{policy}` is refuted: {why}"))
        })
    })
}

/// What is claimed but not shown of any number of CPUs, as the beginning of a sentence.
fn not_proved(judged: &[(&str, Vec<Verdict>)]) -> Option<String> {
    let mut claims: Vec<String> = Vec::new();
    for (policy, verdicts) in judged {
        for verdict in verdicts {
            let claim = match judged.len() {
                1 => format!("`{}`", verdict.claim.kind.name()),
                _ => format!("`{}` of `{policy}`", verdict.claim.kind.name()),
            };
            if !matches!(verdict.outcome, Outcome::Proved(Scope::Any)) && !claims.contains(&claim) {
                claims.push(claim);
            }
        }
    }
    let is = if claims.len() == 1 { "is" } else { "are" };
    (!claims.is_empty()).then(|| format!("{} {is}", claims.join(", ")))
}

/// What to know of the policies, whatever they claim.
fn warned(program: &Program, source: &Source, options: &Options) -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for policy in &program.policies {
        all.extend(warnings(policy, options)?.into_iter().map(|warning| {
            let line = line_and_column(&source.text, warning.span.start).0;
            format!("{}:{line}: {}: {}", source.name, warning.code, warning.what)
        }));
    }
    Ok(all)
}
