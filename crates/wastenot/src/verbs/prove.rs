//! `wastenot prove`: claims of policies, judged.

use std::path::{Path, PathBuf};
use std::time::Duration;

use wastenot_model::report::Unit;
use wastenot_model::{Report, Table};
use wastenot_prove::cache::Cache;
use wastenot_prove::certificate::{self, Expected};
use wastenot_prove::explore::Bounds;
use wastenot_prove::obligations::Question;
use wastenot_prove::solver::{Kind, Places, Solver};
use wastenot_prove::{Counterexample, Error, Options, Outcome, Verdict, judge, report};
use wastenot_rota::ir::{Policy, Program};
use wastenot_rota::{compile, line_and_column};

use super::check::print;
use super::convert;
use super::rota::Source;
use super::simulate::ENDINGS;
use crate::args::prove::{Prove, Who};
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::progress;

/// Proves, or asks again what was proved.
pub(crate) fn run(args: &Prove) -> Result<Answer, Stop> {
    match (&args.recheck, &args.file) {
        (Some(folder), _) => recheck(folder, args),
        (None, Some(file)) => prove(file, args),
        (None, None) => Err(Stop::new("nothing to prove", "`wastenot prove my.rota`")),
    }
}

fn prove(file: &Path, args: &Prove) -> Result<Answer, Stop> {
    let source = Source::read(file)?;
    let program = meaning(&source)?;
    let policies = chosen(&program, &source.name, args)?;
    let target = args.cex.as_ref().map(|path| Target::new(path, args.force)).transpose()?;
    let format = args.cex.as_ref().map(|path| convert::by_ending(path, ENDINGS)).transpose()?;
    let options = options(args)?;
    let judging = || policies.iter().map(|policy| judge(policy, &options)).collect();
    let verdicts: Result<Vec<Vec<Verdict>>, Error> =
        progress::during(&format!("proving {}", source.name), judging);
    let verdicts = verdicts.map_err(|error| failed(&error))?;
    let judged: Vec<(&Policy, Vec<Verdict>)> = policies.iter().zip(verdicts).collect();
    let line = |at: u32| line_and_column(&source.text, at).0;
    print(&report(&source.name, &judged, &options, line), &args.face)?;
    if let (Some(target), Some(format)) = (target, format) {
        match first(&judged) {
            Some((policy, found)) => {
                let history = found.history(policy);
                target.write(|out| convert::fill(&history, format, out))?;
            }
            None => crate::out::note("no counterexample: nothing was written"),
        }
    }
    if let Some(folder) = &args.certificate {
        certify(folder, &source.name, &judged, &options)?;
    }
    Ok(answer(judged.iter().flat_map(|(_, verdicts)| verdicts)))
}

/// What a text means; its faults are told as `rota check` tells them.
fn meaning(source: &Source) -> Result<Program, Stop> {
    let compiled = match &source.fault {
        Some(fault) => Err(vec![fault.clone()]),
        None => compile(&source.text),
    };
    compiled.map_err(|found| {
        let shown = source.shown(&found, false);
        let what = format!("{} means nothing\n{}", source.name, shown.trim_end());
        let again = if source.name.contains(' ') { "-" } else { &source.name };
        Stop::new(what, format!("`wastenot rota check {again}`"))
    })
}

/// The policies with the claims that were asked for.
fn chosen(program: &Program, file: &str, args: &Prove) -> Result<Vec<Policy>, Stop> {
    let mut policies = program.policies.clone();
    if let Some(policy) = policies.iter().find(|policy| !policy.protocol.is_safe())
        && !args.allow_unsafe
    {
        let what = format!("{file}: `{}` asks for an unsafe protocol", policy.name);
        return Err(Stop::new(what, "add `--allow-unsafe` to see what comes of it"));
    }
    for name in &args.claim {
        let mut claims = policies.iter().flat_map(|policy| &policy.claims);
        if !claims.any(|claim| claim.kind.name() == name) {
            let what = format!("{file} does not claim `{name}`");
            return Err(Stop::new(what, format!("add `prove {name}` to the policy")));
        }
    }
    if !args.claim.is_empty() {
        for policy in &mut policies {
            policy.claims.retain(|claim| args.claim.iter().any(|name| name == claim.kind.name()));
        }
    }
    Ok(policies)
}

fn options(args: &Prove) -> Result<Options, Stop> {
    let bounds = Bounds {
        cpus: usize::from(args.cpus),
        tasks: usize::from(args.tasks),
        ..Bounds::default()
    };
    let cache = match args.no_cache {
        true => None,
        // Without a folder of one's own everything is asked anew.
        false => cache_folder().and_then(|folder| Cache::open(&folder).ok()),
    };
    Ok(Options { solvers: solvers(args)?, cache, patience: patience(args), bounds })
}

fn patience(args: &Prove) -> Duration {
    Duration::from_nanos(args.patience.0)
}

fn solvers(args: &Prove) -> Result<Vec<Solver>, Stop> {
    let places = Places::from_environment();
    let wanted = |kind: Kind| {
        let found = places.find(kind).map_err(|error| failed(&error))?;
        found.ok_or_else(|| Stop::new(format!("there is no {} here", kind.name()), kind.recipe()))
    };
    match (args.both, args.solver) {
        (true, _) => Ok(vec![wanted(Kind::Z3)?, wanted(Kind::Cvc5)?]),
        (_, Some(Who::Z3)) => Ok(vec![wanted(Kind::Z3)?]),
        (_, Some(Who::Cvc5)) => Ok(vec![wanted(Kind::Cvc5)?]),
        (_, Some(Who::None)) => Ok(Vec::new()),
        (_, None) => {
            let found = places.solvers().map_err(|error| failed(&error))?;
            if found.is_empty() {
                let recipe = Kind::Z3.recipe();
                crate::out::note(&format!("no solver: small machines only ({recipe})"));
            }
            Ok(found.into_iter().take(1).collect())
        }
    }
}

/// `$XDG_CACHE_HOME/wastenot/proofs`
fn cache_folder() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = named.filter(|folder| folder.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    Some(cache.or_else(home)?.join("wastenot").join("proofs"))
}

fn first<'j>(judged: &'j [(&Policy, Vec<Verdict>)]) -> Option<(&'j Policy, &'j Counterexample)> {
    judged.iter().find_map(|(policy, verdicts)| {
        verdicts.iter().find_map(|verdict| match &verdict.outcome {
            Outcome::Refuted(found) => Some((*policy, found)),
            _ => None,
        })
    })
}

/// A refutation is a no even beside claims that nobody can tell of.
fn answer<'v>(verdicts: impl Iterator<Item = &'v Verdict> + Clone) -> Answer {
    let mut all = verdicts.clone();
    if all.any(|it| matches!(it.outcome, Outcome::Refuted(_) | Outcome::Contradicted(_))) {
        return Answer::No;
    }
    let mut all = verdicts;
    match all.any(|it| matches!(it.outcome, Outcome::Unknown(_))) {
        true => Answer::CannotTell,
        false => Answer::Yes,
    }
}

fn certify(
    folder: &Path,
    file: &str,
    judged: &[(&Policy, Vec<Verdict>)],
    options: &Options,
) -> Result<(), Stop> {
    if options.solvers.is_empty() {
        let help = "name one with `--solver z3`, or both with `--both`";
        return Err(Stop::new("a certificate takes a solver", help));
    }
    let mut obligations = Vec::new();
    for (policy, verdicts) in judged {
        for verdict in verdicts {
            for (n, judged) in verdict.obligations.iter().enumerate() {
                let Question::Unsatisfiable(script) = &judged.obligation.question else { continue };
                let claim = verdict.claim.kind.name();
                let name = format!("{}-{claim}-{n}-{}", policy.name, judged.obligation.name);
                obligations.push(certificate::Obligation {
                    name: name.replace('_', "-"),
                    label: "any n".to_owned(),
                    script: script.clone(),
                    expected: Expected::Unsat,
                });
            }
        }
    }
    let write =
        || certificate::write(folder, file, &obligations, &options.solvers, options.patience);
    progress::during("writing the certificate", write).map_err(|error| failed(&error))?;
    Ok(())
}

fn recheck(folder: &Path, args: &Prove) -> Result<Answer, Stop> {
    let solvers = solvers(args)?;
    if solvers.is_empty() {
        return Err(Stop::new("asking again takes a solver", Kind::Z3.recipe()));
    }
    let ask = || certificate::recheck(folder, &solvers, patience(args));
    let all = progress::during("asking again", ask).map_err(|error| failed(&error))?;
    let columns = [
        ("obligation", "obligation", Unit::None),
        ("solver", "solver", Unit::None),
        ("expected", "expected", Unit::None),
        ("answer", "answer", Unit::None),
        ("time_ns", "time", Unit::Ns),
    ];
    let mut table = Table::new("obligations", "Obligations", &columns);
    table.shown = usize::MAX;
    for one in &all {
        let took = one.took.as_nanos() as u64;
        let expected = if one.expected == Expected::Sat { "sat" } else { "unsat" };
        table.push(vec![
            one.name.as_str().into(),
            one.solver.as_str().into(),
            expected.into(),
            one.answer.word().into(),
            took.into(),
        ]);
    }
    let wrong = all.iter().filter(|one| !one.holds());
    let unknown = wrong.clone().filter(|one| one.answer.word() == "unknown").count();
    let wrong = wrong.count();
    let mut report = Report::new("recheck/1", format!("Certificate: {}", folder.display()));
    report.verdict = match wrong {
        0 => format!("All {} answers are as they should be.", all.len()),
        _ => format!("{wrong} of {} answers are not as they should be.", all.len()),
    };
    report.tables.push(table);
    print(&report, &args.face)?;
    Ok(match wrong {
        0 => Answer::Yes,
        _ if unknown == wrong => Answer::CannotTell,
        _ => Answer::No,
    })
}

fn failed(error: &Error) -> Stop {
    Stop::new(error, error.help())
}
