//! `wastenot deploy`: runs a policy as the scheduler of this machine.

mod parts;
mod scheduling;

use std::ffi::OsString;
use std::path::Path;
use std::{fs, io, process};

use wastenot_deploy::{Error, Loaded, Scheduler, Verified, compile};
use wastenot_host::{Hierarchy, Share, sched_ext};
use wastenot_lab::runner::class;
use wastenot_model::{Builder, Head, Help, Machine, Report, Span, Table, Unit};
use wastenot_rota::emit::{Options, digest};
use wastenot_rota::step_log::Log;

use self::scheduling::{Scheduled, Shown, schedule};
use super::child::OWN_FAILURE;
use super::length::Length;
use super::rota::emit::{Doubt, emitted};
use crate::args::deploy::Deploy;
use crate::fail::{Answer, Stop, reason};
use crate::verbs::trace_file::TraceFile;
use crate::{open, out, progress};

/// Verifies the policy, and runs it for a time.
pub(crate) fn run(args: &Deploy) -> Result<Answer, Stop> {
    let result = deploy(args);
    match args.command.is_empty() {
        true => result,
        // The exit codes of the command pass through, so errors of wastenot have another code.
        false => result.map_err(|stop| stop.or_code(OWN_FAILURE)),
    }
}

fn deploy(args: &Deploy) -> Result<Answer, Stop> {
    let partial = !args.command.is_empty();
    let machine = machine(args)?;
    let here = || Ok(machine.clone().unwrap_or_else(wastenot_host::machine));
    let source = match parts::source(&args.policies, &here)? {
        Ok(source) => source,
        Err(answer) => return Ok(answer),
    };
    let options = Options { steps: args.steps.is_some() };
    let Some(emitted) = emitted(&source, options)? else { return Ok(Answer::No) };
    if let Some(doubt) = emitted.doubt.filter(|_| !args.allow_unproved) {
        return Err(doubtful(&source.name, doubt));
    }
    if args.object.is_none() && sched_ext::state().is_none() {
        return Err(failed(Error::NoSchedExt));
    }
    if !args.dry_run && !args.ignore_cgroups {
        no_shares(partial)?;
    }
    let kept = args.steps.as_ref().map(|file| TraceFile::named("--steps", file, args.force));
    let kept = kept.transpose()?;
    let length = Length::of_command(&args.command, in_class, args.span.or(default_span(partial)));
    let signals = length.listen(None)?;
    let scheduler = Scheduler {
        object: args.object.clone().unwrap_or_else(|| source.name.clone().into()),
        elf: object(args, &emitted.text)?,
        program: emitted.program,
        machine: Box::new(move || machine.clone().unwrap_or_else(wastenot_host::machine)),
        partial,
    };
    let loaded = progress::during("verifying", || scheduler.load()).map_err(failed)?;
    let mut report = Report::new("deploy/1", source.name.clone());
    verified(&mut report, &loaded);
    if args.dry_run {
        args.face.print(&report)?;
        return Ok(Answer::Yes);
    }
    let shown = Shown::new(&source.name, args.listen, !partial)?;
    // Even a policy that starves tasks must be unloaded in time.
    if let Err(error) = class::go_first() {
        let why = reason(&error);
        out::note(&format!("a policy that starves tasks may also starve wastenot itself: {why}"));
    }
    let running = loaded.start().map_err(failed)?;
    let mut length = length.begin(signals, None)?;
    let machine = (scheduler.machine)();
    let ended = schedule(&scheduler, running, &mut length, shown);
    if length.has_command_left() {
        out::note("the policy is unloaded; waiting for the command to end");
    }
    let answer = length.answer();
    let ended = ended.map_err(failed)?;
    scheduled(&mut report, &ended);
    args.face.print(&report)?;
    if let Some(kept) = kept {
        keep(kept, machine, Log { text: source.text, ..ended.log })?;
    }
    match ended.exit {
        None => Ok(answer),
        Some(_) if partial => Ok(Answer::OfCommand(OWN_FAILURE)),
        Some(_) => Ok(Answer::No),
    }
}

/// The default time of a policy. With a command, the policy runs until the command ends.
fn default_span(partial: bool) -> Option<Span> {
    (!partial).then_some(Span::s(60))
}

/// Runs a command in the class of the scheduler.
fn in_class(words: &[OsString]) -> io::Result<process::Child> {
    class::spawn(class::SCHED_EXT, words)
}

fn failed(error: Error) -> Stop {
    if let Error::Refused(refusal) = &error {
        refusal.log.iter().for_each(|line| out::note(line));
    }
    error.into()
}

fn doubtful(name: &str, doubt: Doubt) -> Stop {
    let why = match doubt {
        Doubt::Refuted(why) => why,
        Doubt::NotProved(claims) => format!("{claims} unproved for some numbers of CPUs"),
    };
    let help = "see why with `wastenot prove`, or load the policy anyway with `--allow-unproved`";
    Stop::new(format!("{name}: not loaded: {why}"), help)
}

/// The number of cgroups that a message names.
const NAMED: usize = 3;

/// Policies ignore the weights and quotas of cgroups. If any are set, users may rely on them, so
/// the policy is refused.
fn no_shares(partial: bool) -> Result<(), Stop> {
    let hierarchy = Hierarchy::here();
    let shares = if partial { hierarchy.shares_here() } else { hierarchy.shares() };
    if shares.is_empty() {
        return Ok(());
    }
    let one = |it: &Share| format!("{} ({})", it.path, it.set.join(", "));
    let mut named: Vec<String> = shares.iter().take(NAMED).map(one).collect();
    if shares.len() > NAMED {
        named.push(format!("and {} more", shares.len() - NAMED));
    }
    let what = format!("policies do not enforce the shares of these cgroups: {}", named.join("; "));
    let help = match partial {
        true => "load the policy anyway with `--ignore-cgroups`",
        false => {
            "load the policy anyway with `--ignore-cgroups`, or schedule one command with \
             `-- COMMAND`"
        }
    };
    Err(Stop::new(what, help))
}

fn object(args: &Deploy, text: &str) -> Result<Vec<u8>, Stop> {
    let unreadable = |path: &Path, error: io::Error| {
        failed(Error::Unreadable { path: path.to_owned(), why: reason(&error) })
    };
    match &args.object {
        Some(path) => {
            let elf = fs::read(path).map_err(|error| unreadable(path, error))?;
            if wastenot_deploy::digest(path, &elf).map_err(failed)? == digest(text) {
                return Ok(elf);
            }
            let what = format!("{} was compiled from a different policy", path.display());
            let help = "emit the policy with `wastenot rota emit`, and compile the result";
            Err(Stop::new(what, help))
        }
        None => compile(text).map_err(failed),
    }
}

/// The machine of `--machine`. Without it, the machine is detected when the policy is loaded.
fn machine(args: &Deploy) -> Result<Option<Machine>, Stop> {
    args.machine.as_ref().map(|text| open::machine("--machine", text)).transpose()
}

/// Reports the result of the verifier.
fn verified(report: &mut Report, loaded: &Loaded) {
    let programs = loaded.programs();
    let all = Verified::instructions_of(&programs);
    report.verdict = format!("The kernel verified {all} instructions and accepted the policy.");
    report.measure("deploy.programs", "Programs", programs.len(), Unit::None);
    report.measure("deploy.instructions", "Verified instructions", all, Unit::None);
    report.tables.push(Table::of("programs", "Programs", &programs, |row, it| {
        let row = row.cell("name", "program", it.name.as_str());
        row.cell("instructions", "verified instructions", it.instructions)
    }));
}

/// Writes the log of steps as a History without events.
fn keep(to: TraceFile, machine: Machine, mut log: Log) -> Result<(), Stop> {
    log.order();
    let mut history = Builder::new(Head::new(machine)).finish();
    history.annexes.extend(log.annexes());
    to.write(&history)
}

/// Reports the work of the policy, and its end.
fn scheduled(report: &mut Report, Scheduled { seen, exit, log }: &Scheduled) {
    let span = Span(u64::try_from(seen.ran.as_nanos()).unwrap_or(u64::MAX));
    report.verdict = match exit {
        None => format!("The policy scheduled tasks for {span}, and was then unloaded."),
        Some(exit) => format!("The kernel ended the policy after {span}: {exit}; {}.", exit.help()),
    };
    report.measure("deploy.ran_ns", "Scheduled for", span, Unit::Ns);
    report.measure("deploy.exit_kind", "", exit.as_ref().map(|it| it.kind), Unit::None);
    report.measure("deploy.reloads", "Reloads", seen.reloads, Unit::None);
    for (name, count) in wastenot_deploy::STEPS.iter().zip(seen.steps) {
        report.measure(&format!("steps.{name}"), &format!("Steps: {name}"), count, Unit::None);
    }
    report.measure("steps.waiting", "Tasks that waited at the end", seen.waiting(), Unit::None);
    if log.lost > 0 || !log.steps.is_empty() {
        report.measure("steps.logged", "Steps logged", log.steps.len(), Unit::None);
        report.measure("steps.lost", "Steps lost", log.lost, Unit::None);
    }
    let rows = seen.events.iter().filter(|(_, count)| **count > 0);
    let table = Table::of("events", "Events counted by sched_ext", rows, |row, (name, count)| {
        let row = row.cell("event", "event of sched_ext", name.as_str());
        row.cell("count", "a count, or a duration in ns", *count)
    });
    if !table.rows.is_empty() {
        report.tables.push(table);
    }
}
