//! `wastenot prove`: claims of policies, judged.

use std::path::{Path, PathBuf};
use std::time::Duration;

use wastenot_model::report::Unit;
use wastenot_model::{Column, Report, Table, Value};
use wastenot_prove::cache::Cache;
use wastenot_prove::certificate::{self, Again, Rechecked, Standing};
use wastenot_prove::explore::Bounds;
use wastenot_prove::solver::{Kind, Places, Solver};
use wastenot_prove::{
    Counterexample, Error, Finding, Judgement, Options, Outcome, Scope, Verdict, Warning, judge,
    judge_partitions, report, warnings,
};
use wastenot_rota::ir::{ClaimKind, Policy, Program};
use wastenot_rota::{compile, line_and_column};

use super::check::print;
use super::convert;
use super::rota::Source;
use super::simulate::ENDINGS;
use crate::args::prove::{Prove, Who};
use crate::fail::{Answer, Stop};
use crate::out::{self, Target};
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
    let target =
        args.cex.as_ref().map(|path| Target::named("--cex", path, args.force)).transpose()?;
    let format = args.cex.as_ref().map(|path| convert::by_ending(path, ENDINGS)).transpose()?;
    if let Some(folder) = args.certificate.as_ref().filter(|folder| folder.exists()) {
        let what = format!("{} already exists", folder.display());
        return Err(Stop::new(what, "name a new directory: a certificate is written once"));
    }
    let options = options(args)?;
    let judging = || {
        let verdicts: Vec<Vec<Verdict>> =
            policies.iter().map(|policy| judge(policy, &options)).collect::<Result<_, Error>>()?;
        let warned: Vec<Vec<Warning>> = program
            .policies
            .iter()
            .map(|it| warnings(it, &options))
            .collect::<Result<_, Error>>()?;
        Ok((verdicts, warned))
    };
    let judged = progress::during(&format!("proving {}", source.name), judging);
    let (verdicts, warned) = judged.map_err(|error: Error| failed(&error))?;
    let mut whole = judge_partitions(&program, &verdicts);
    whole.retain(|verdict| is_asked(verdict.claim.kind.name(), args));
    let of_policy =
        |((policy, verdicts), warnings)| Judgement { policy: Some(policy), verdicts, warnings };
    let each = policies.iter().zip(verdicts).zip(warned);
    let mut judged: Vec<Judgement> = each.map(of_policy).collect();
    judged.push(Judgement { policy: None, verdicts: whole, warnings: Vec::new() });
    let line = |at: u32| line_and_column(&source.text, at).0;
    let mut report = report(&source.name, &judged, &options, line);
    report.next = next(file, &judged, args, options.solvers.len());
    print(&report, &args.face)?;
    if let (Some(target), Some(format)) = (target, format) {
        match first(&judged) {
            Some((policy, claim, found)) => {
                let history = found.history(policy, claim, &source.text);
                target.write(|out| convert::fill(&history, format, out))?;
            }
            None if refutes(&judged) => out::note(
                "the text itself refutes the claim: there is no counterexample, nothing was written",
            ),
            None => out::note("no counterexample: nothing was written"),
        }
    }
    if let Some(folder) = &args.certificate {
        certify(folder, &source, &judged, &options)?;
    }
    Ok(answer(judged.iter().flat_map(|it| &it.verdicts)))
}

/// What a text means; its faults are told as `rota check` tells them.
fn meaning(source: &Source) -> Result<Program, Stop> {
    let compiled = match &source.fault {
        Some(fault) => Err(vec![fault.clone()]),
        None => compile(&source.text),
    };
    compiled.map_err(|found| {
        out::complain(&source.shown(&found, out::colour_of_errors()));
        let what = format!("{} is not valid Rota", source.name);
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
        let what = format!("{file}: `{}` uses an unsafe protocol", policy.name);
        return Err(Stop::new(what, "add `--allow-unsafe` to accept it"));
    }
    let whole = [ClaimKind::Isolation, ClaimKind::Composition];
    let whole = whole.iter().filter(|_| !program.partitions.is_empty());
    for name in &args.claim {
        let claims = policies.iter().flat_map(|policy| &policy.claims).map(|claim| &claim.kind);
        let claims: Vec<&str> = claims.chain(whole.clone()).map(ClaimKind::name).collect();
        if !claims.contains(&name.as_str()) {
            let help = match wastenot_model::nearest(name, claims.iter().copied()) {
                Some(near) => format!("did you mean `--claim {near}`?"),
                None if claims.is_empty() => "it has no claims: add `prove ...` to it".into(),
                None => format!("it claims {}", claims.join(", ")),
            };
            return Err(Stop::new(format!("{file} does not claim `{name}`"), help));
        }
    }
    // What the whole has takes all that its policies claim.
    if !args.claim.iter().any(|name| name == ClaimKind::Composition.name()) {
        for policy in &mut policies {
            policy.claims.retain(|claim| is_asked(claim.kind.name(), args));
        }
    }
    Ok(policies)
}

/// Whether a claim is among those that were asked for: all, if none was.
fn is_asked(claim: &str, args: &Prove) -> bool {
    args.claim.is_empty() || args.claim.iter().any(|name| name == claim)
}

fn options(args: &Prove) -> Result<Options, Stop> {
    let bounds = Bounds {
        cpus: usize::from(args.cpus),
        tasks: usize::from(args.tasks),
        ..Bounds::default()
    };
    let cache = match args.no_cache {
        true => None,
        false => cache(),
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
        found.ok_or_else(|| Stop::new(format!("{} is not installed", kind.name()), kind.recipe()))
    };
    match (args.both, args.solver) {
        (true, _) => Ok(vec![wanted(Kind::Z3)?, wanted(Kind::Cvc5)?]),
        (_, Some(Who::Z3)) => Ok(vec![wanted(Kind::Z3)?]),
        (_, Some(Who::Cvc5)) => Ok(vec![wanted(Kind::Cvc5)?]),
        (_, Some(Who::None)) => Ok(Vec::new()),
        (_, None) => {
            let found = first_solver()?;
            if found.is_empty() {
                let recipe = Kind::Z3.recipe();
                out::note(&format!("no solver: small machines only ({recipe})"));
            }
            Ok(found)
        }
    }
}

/// Who is asked if nobody is named.
pub(super) fn first_solver() -> Result<Vec<Solver>, Stop> {
    let found = Places::from_environment().solvers().map_err(|error| failed(&error))?;
    Ok(found.into_iter().take(1).collect())
}

/// Where answers are kept. Without a folder of one's own everything is asked anew.
pub(super) fn cache() -> Option<Cache> {
    cache_folder().and_then(|folder| Cache::open(&folder).ok())
}

/// `$XDG_CACHE_HOME/wastenot/proofs`
fn cache_folder() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = named.filter(|folder| folder.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    Some(cache.or_else(home)?.join("wastenot").join("proofs"))
}

/// The first counterexample, and of what policy and claim it is.
fn first<'j>(judged: &'j [Judgement<'_>]) -> Option<(&'j Policy, &'j str, &'j Counterexample)> {
    judged.iter().find_map(|it| {
        it.verdicts.iter().find_map(|verdict| match &verdict.outcome {
            Outcome::Refuted(found) => Some((it.policy?, verdict.claim.kind.name(), found)),
            _ => None,
        })
    })
}

/// Whether the text itself refutes a claim.
fn refutes(judged: &[Judgement<'_>]) -> bool {
    let mut verdicts = judged.iter().flat_map(|it| &it.verdicts);
    verdicts.any(|verdict| matches!(verdict.outcome, Outcome::Contradicted(_)))
}

/// What to type next, as it was typed now: a picture of what went wrong, or more time.
/// `asked`: how many solvers were.
fn next(file: &Path, judged: &[Judgement<'_>], args: &Prove, asked: usize) -> Option<String> {
    let file = quoted(file).filter(|file| file != "-")?;
    let allow = ["", " --allow-unsafe"][usize::from(args.allow_unsafe)];
    let mut verdicts = judged.iter().flat_map(|it| &it.verdicts);
    let is_open = |verdict: &Verdict| {
        let mut findings = verdict.obligations.iter().map(|it| &it.finding);
        let open = findings.any(|it| matches!(it, Finding::Open(_)));
        open && matches!(verdict.outcome, Outcome::Unknown(_))
    };
    match (first(judged), &args.cex) {
        (Some(_), Some(cex)) => Some(format!("wastenot draw cores {}", quoted(cex)?)),
        // A refuted policy ends with 1, so `&&` would end here.
        (Some(_), None) => {
            Some(format!("wastenot prove {file}{allow} --cex cex.wn; wastenot draw cores cex.wn"))
        }
        (None, _) => {
            // More time does not help where a solver knows, nor where there is none.
            let more = match (args.solver, asked) {
                (Some(Who::None), _) => "",
                (_, 0) => return None,
                _ => " --both --patience 2m",
            };
            verdicts.any(is_open).then(|| format!("wastenot prove {file}{allow}{more}"))
        }
    }
}

/// As a shell takes it. `None`: it does not.
pub(super) fn quoted(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    match text.chars().all(plain) {
        true => Some(text.to_owned()),
        false => (!text.contains('\'')).then(|| format!("'{text}'")),
    }
}

/// Of nothing the tool cannot tell.
fn answer<'v>(verdicts: impl Iterator<Item = &'v Verdict>) -> Answer {
    worst(verdicts.map(|verdict| answered(&verdict.outcome))).unwrap_or(Answer::CannotTell)
}

/// What is proved of small machines only is no answer for the machine that it is to run on.
fn answered(outcome: &Outcome) -> Answer {
    match outcome {
        Outcome::Proved(Scope::Any) => Answer::Yes,
        Outcome::Proved(Scope::UpTo(_)) | Outcome::Unknown(_) => Answer::CannotTell,
        Outcome::Refuted(_) | Outcome::Contradicted(_) => Answer::No,
    }
}

/// A no even beside what cannot be told.
fn worst(answers: impl Iterator<Item = Answer>) -> Option<Answer> {
    answers.reduce(|a, b| match (a, b) {
        (Answer::No, _) | (_, Answer::No) => Answer::No,
        (Answer::Yes, other) => other,
        (other, _) => other,
    })
}

fn certify(
    folder: &Path,
    source: &Source,
    judged: &[Judgement<'_>],
    options: &Options,
) -> Result<(), Stop> {
    if options.solvers.is_empty() {
        let help = "name one with `--solver z3`, or both with `--both`";
        return Err(Stop::new("a certificate needs a solver", help));
    }
    let of = (source.name.as_str(), source.text.as_str());
    let write = || certificate::write(folder, of, judged, &options.solvers, options.patience);
    progress::during("writing the certificate", write).map_err(|error| failed(&error))?;
    Ok(())
}

fn recheck(folder: &Path, args: &Prove) -> Result<Answer, Stop> {
    let solvers = solvers(args)?;
    if solvers.is_empty() {
        return Err(Stop::new("--recheck needs a solver", Kind::Z3.recipe()));
    }
    let options = options(args)?;
    let ask = || certificate::recheck(folder, &solvers, options.patience);
    let mut again =
        progress::during("running queries again", ask).map_err(|error| failed(&error))?;
    only_asked(&mut again, args)?;
    let rejudge = || standings(&again, &options);
    let standings = progress::during("proving what is not shown", rejudge);
    let standings = standings.map_err(|error| failed(&error))?;
    let all = &again.answers;
    let wrong = all.iter().filter(|one| !one.holds());
    let unknown = wrong.clone().filter(|one| one.answer.word() == "unknown").count();
    let wrong = wrong.count();
    let asked = match wrong {
        0 => Answer::Yes,
        _ if unknown == wrong => Answer::CannotTell,
        _ => Answer::No,
    };
    let answer = worst(standings.iter().map(|it| it.answer).chain([asked])).unwrap_or(asked);
    let mut report = Report::new("recheck/1", format!("Certificate: {}", folder.display()));
    report.verdict = match wrong {
        0 => format!("All {} answers are as expected", all.len()),
        _ => format!("{wrong} of {} answers are not as expected", all.len()),
    };
    let left: Vec<String> = standings
        .iter()
        .filter(|it| it.answer != Answer::Yes)
        .map(|it| format!("{} {}", it.of.claim, it.word))
        .collect();
    report.verdict += &match left.as_slice() {
        [] => ".".to_owned(),
        left => format!("; it does not show every claim: {}.", left.join(", ")),
    };
    report.tables = vec![told(&again.about, &standings), asked_again(all)];
    print(&report, &args.face)?;
    Ok(answer)
}

/// Leaves out claims that were not asked for.
fn only_asked(again: &mut Again, args: &Prove) -> Result<(), Stop> {
    for name in &args.claim {
        if !again.claims.iter().any(|standing| standing.claim == *name) {
            let claims: Vec<&str> = again.claims.iter().map(|it| it.claim.as_str()).collect();
            let what = format!("the text of the certificate does not claim `{name}`");
            return Err(Stop::new(what, format!("it claims {}", claims.join(", "))));
        }
    }
    again.claims.retain(|standing| is_asked(&standing.claim, args));
    again.answers.retain(|one| is_asked(&one.claim, args));
    Ok(())
}

/// How a claim of a certificate stands: in a word, and what that answers.
struct Stands<'a> {
    of: &'a Standing,
    word: String,
    answer: Answer,
}

/// What becomes of each claim. Those that the certificate does not show are judged anew, since a
/// question that solvers do not refute is no refutation of the claim.
fn standings<'a>(again: &'a Again, options: &Options) -> Result<Vec<Stands<'a>>, Error> {
    let mut all = Vec::new();
    for policy in &again.program.policies {
        let of_policy = || again.claims.iter().filter(|it| it.policy == policy.name);
        let not_shown =
            |name: &str| of_policy().any(|it| it.claim == name && it.shown == Some(false));
        let mut left = policy.clone();
        left.claims.retain(|claim| not_shown(claim.kind.name()));
        let verdicts = judge(&left, options)?;
        all.extend(of_policy().map(|of| {
            let verdict = verdicts.iter().find(|it| it.claim.kind.name() == of.claim);
            let outcome = verdict.map(|verdict| &verdict.outcome);
            let (word, answer) = match (of.shown, outcome) {
                (Some(true), _) => ("shown".to_owned(), Answer::Yes),
                (Some(false), Some(Outcome::Refuted(_) | Outcome::Contradicted(_))) => {
                    ("refuted".to_owned(), Answer::No)
                }
                (Some(false), Some(Outcome::Proved(Scope::UpTo(bounds)))) => {
                    (format!("not shown beyond {} CPUs", bounds.cpus), Answer::CannotTell)
                }
                (Some(false), _) => ("not shown".to_owned(), Answer::CannotTell),
                (None, _) => ("not in it".to_owned(), Answer::CannotTell),
            };
            Stands { of, word, answer }
        }));
    }
    Ok(all)
}

/// What a certificate says of the claims of its text.
fn told(about: &str, standings: &[Stands<'_>]) -> Table {
    let columns = [
        Column::new("policy", "policy", Unit::None),
        Column::new("claim", "claim", Unit::None),
        Column::new("standing", "standing", Unit::None),
    ];
    let mut table = Table::new("claims", &format!("Claims of {about}"), columns);
    table.shown = usize::MAX;
    for Stands { of, word, .. } in standings {
        table.push(vec![of.policy.as_str().into(), of.claim.as_str().into(), word.as_str().into()]);
    }
    table
}

fn asked_again(all: &[Rechecked]) -> Table {
    let columns = [
        Column::new("policy", "policy", Unit::None),
        Column::new("claim", "claim", Unit::None),
        Column::for_programs("obligation", Unit::None),
        Column::new("file", "file", Unit::None),
        Column::new("solver", "solver", Unit::None),
        Column::new("expected", "expected", Unit::None),
        Column::new("answer", "answer", Unit::None),
        Column::new("time_ns", "time", Unit::Ns),
    ];
    let mut table = Table::new("obligations", "Obligations", columns);
    table.shown = usize::MAX;
    for one in all {
        table.push(vec![
            one.policy.as_str().into(),
            one.claim.as_str().into(),
            one.name.as_str().into(),
            one.file.as_str().into(),
            one.solver.as_str().into(),
            one.expected.word().into(),
            one.answer.word().into(),
            Value::from(one.took.as_nanos() as u64),
        ]);
    }
    table
}

fn failed(error: &Error) -> Stop {
    Stop::new(error, error.help())
}
