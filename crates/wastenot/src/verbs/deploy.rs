//! `wastenot deploy`: a policy schedules this machine.

use std::io::PipeReader;
use std::path::Path;
use std::time::{Duration, Instant};

use wastenot_deploy::{Error, Exit, Loaded, Object, Running, STEPS, Verified, compile, tables};
use wastenot_model::{Column, Report, Span, Table, Unit};
use wastenot_rota::ir::Program;

use super::check::print;
use super::rota::emit::{Doubt, emitted};
use super::signals;
use crate::args::deploy::Deploy;
use crate::fail::{Answer, Stop};
use crate::{open, out, progress};

/// Verifies the policy, and lets it schedule for a time.
pub(crate) fn run(args: &Deploy) -> Result<Answer, Stop> {
    let Some((source, emitted)) = emitted(&args.file)? else { return Ok(Answer::No) };
    if let Some(doubt) = emitted.doubt.filter(|_| !args.allow_unproved) {
        let why = match doubt {
            Doubt::Refuted(why) => why,
            Doubt::NotProved(claims) => format!("{claims} not proved for any number of CPUs"),
        };
        let help = "`wastenot prove` shows how; `--allow-unproved` loads it all the same";
        return Err(Stop::new(format!("{}: not loaded: {why}", source.name), help));
    }
    let object = match &args.object {
        Some(path) => Object::open(path),
        None => compile(&emitted.text).and_then(|elf| Object::of(Path::new(&source.name), &elf)),
    };
    let machine = match &args.machine {
        None => wastenot_record::machine(),
        Some(text) => open::machine("--machine", text)?,
    };
    let tables = tables(&emitted.program, &machine).map_err(failed)?;
    let load = |mut object: Object| {
        object.fill(&tables)?;
        object.load()
    };
    let loaded = object.and_then(|it| progress::during("verifying", || load(it)));
    let loaded = loaded.map_err(failed)?;
    let mut report = Report::new("deploy/1", source.name);
    verified(&mut report, &loaded);
    let mut answer = Answer::Yes;
    if !args.dry_run {
        let signals = signals::listen().map_err(|error| Stop::new(error, "try again"))?;
        let running = loaded.start().map_err(failed)?;
        let (ran, steps, exit) = schedule(running, &emitted.program, &signals, args.span)?;
        answer = if exit.is_some() { Answer::No } else { Answer::Yes };
        scheduled(&mut report, ran, &steps, exit.as_ref());
    }
    print(&report, &args.face)?;
    Ok(answer)
}

#[expect(clippy::needless_pass_by_value, reason = "map_err hands it over")]
fn failed(error: Error) -> Stop {
    if let Error::Refused { log, .. } = &error {
        log.lines().for_each(out::note);
    }
    Stop::new(&error, error.help())
}

/// What the kernel made of it.
fn verified(report: &mut Report, loaded: &Loaded) {
    let programs = loaded.programs();
    let all = Verified::instructions_of(&programs);
    report.verdict = format!("The kernel verified it, in {all} instructions.");
    report.measure("deploy.programs", "Programs", programs.len(), Unit::None);
    report.measure("deploy.instructions", "Verified instructions", all, Unit::None);
    let columns = [
        Column::new("name", "program", Unit::None),
        Column::new("instructions", "verified instructions", Unit::None),
    ];
    let mut table = Table::new("programs", "Programs", columns);
    for it in &programs {
        table.push(vec![it.name.as_str().into(), it.instructions.into()]);
    }
    report.tables.push(table);
}

/// Lets it schedule until the time is over, a signal comes, or the kernel ends it.
fn schedule(
    running: Running,
    program: &Program,
    signals: &PipeReader,
    span: Span,
) -> Result<(Duration, [u64; STEPS.len()], Option<Exit>), Stop> {
    let begun = Instant::now();
    let span = Duration::from_nanos(span.0);
    let mut placed = None;
    while let Some(left) = span.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
        if placed.is_none_or(|at: Instant| at.elapsed() >= PLACE) {
            running.place(program).map_err(failed)?;
            placed = Some(Instant::now());
        }
        if signals::comes_within(signals, left.min(LOOK)) || running.exit().is_some() {
            break;
        }
    }
    let (ran, steps) = (begun.elapsed(), running.steps());
    Ok((ran, steps, running.stop()))
}

/// How often new cgroups are placed.
const PLACE: Duration = Duration::from_secs(1);

/// How often it is looked whether the kernel ended it.
const LOOK: Duration = Duration::from_millis(100);

fn scheduled(report: &mut Report, ran: Duration, steps: &[u64; STEPS.len()], exit: Option<&Exit>) {
    let span = Span(u64::try_from(ran.as_nanos()).unwrap_or(u64::MAX));
    report.verdict = match exit {
        None => format!("It scheduled for {span}, and was unloaded."),
        Some(exit) => format!("The kernel ended it after {span}: {exit}."),
    };
    report.measure("deploy.ran_ns", "Scheduled for", span, Unit::Ns);
    report.measure("deploy.exit_kind", "", exit.map(|it| it.kind), Unit::None);
    for (name, count) in STEPS.iter().zip(steps) {
        report.measure(&format!("steps.{name}"), &format!("Steps: {name}"), *count, Unit::None);
    }
}
