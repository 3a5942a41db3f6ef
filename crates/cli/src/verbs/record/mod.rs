//! `wastenot record`: records the scheduling events of this machine into a file.

mod kept;

use wastenot_model::Span;
use wastenot_record::{Begun, Error, Options, Way};

use self::kept::Kept;
use crate::args::record::{Record, Until};
use crate::fail::{Answer, Stop};
use crate::out::{self, Target};
use crate::verbs::child::OWN_FAILURE;
use crate::verbs::length::{Length, Running, TURN};

/// Records.
pub(crate) fn run(args: &Record) -> Result<Answer, Stop> {
    let result = record(args);
    match args.command.is_empty() {
        true => result,
        // The exit codes of the command pass through, so errors of wastenot have another code.
        false => result.map_err(|stop| stop.or_code(OWN_FAILURE)),
    }
}

fn record(args: &Record) -> Result<Answer, Stop> {
    // Check this before recording starts: a typing error must cost nothing.
    let target = Target::new(&args.output, args.force)?;
    args.flight.check()?;
    let length = Length::of(args)?;
    let signals = length.listen(args.flight.signal())?;
    let mut file = target.grow()?;
    let way = if args.means.tracefs { Way::Tracefs } else { Way::Best };
    let how = Options {
        ring_bytes: args.means.buffer,
        way,
        decisions: args.decisions,
        interrupts: args.interrupts,
    };
    let begun = match wastenot_record::begin(&how) {
        Ok(begun) => begun,
        Err(error) => {
            file.discard();
            return Err(error.into());
        }
    };
    let Begun { mut recording, head, instead_of_bpf } = begun;
    if let Some(why) = instead_of_bpf {
        let less = if args.interrupts { "affinities, without interrupts" } else { "affinities" };
        out::note(&format!("{why}: recording through tracefs, without {less}"));
    }
    let mut kept = Kept::new(args, &mut file, head).map_err(|error| unwritten(&target, error))?;
    let mut running = match length.begin(signals, args.flight.signal()) {
        Ok(running) => running,
        Err(stop) => {
            drop(kept);
            file.discard();
            return Err(stop);
        }
    };
    let mut has_fired = false;
    while !running.is_over() {
        recording.wait(TURN);
        recording.drain(kept.sink());
        match kept.turn() {
            Ok(None) => {}
            Ok(Some(fired)) => {
                has_fired = true;
                if running.end_after(kept.aftermath()) {
                    out::note(&format!("at @{}: {}", fired.window.to, fired.what));
                }
            }
            Err(error) => {
                drop(recording);
                return unwritten_beside(running, unwritten(&target, error));
            }
        }
    }
    let summary = recording.finish(kept.sink());
    // Stop recording here: the command may run for a long time.
    drop(recording);
    let (span, events) = match kept.finish() {
        Ok(kept) => kept,
        Err(error) => return unwritten_beside(running, unwritten(&target, error)),
    };
    let bytes = file.finish()?;
    if matches!(args.flight.until, Some(Until::Trigger(_))) && !has_fired {
        out::note("the condition of --until did not occur");
    }
    out::note(&said(&target, span, events, summary.lost, bytes));
    if running.has_command_left() {
        out::note("waiting for the command to end");
    }
    Ok(running.answer())
}

/// The error if a recording failed while its command runs: waits for the command. A closed pipe is
/// not an error.
fn unwritten_beside(mut running: Running, stop: Stop) -> Result<Answer, Stop> {
    if matches!(stop, Stop::Failure { .. }) && running.has_command() {
        out::note("the recording failed; waiting for the command to end");
    }
    let answer = running.answer();
    match stop {
        Stop::Pipe => Ok(answer),
        failure => Err(failure),
    }
}

fn unwritten(target: &Target, error: Error) -> Stop {
    target.failed(&error.into_io())
}

/// `recorded 1.204 s: 48123 events, none lost, 193 KiB; next: ...`.
fn said(target: &Target, span: Span, events: u64, lost: u64, bytes: u64) -> String {
    let lost = match lost {
        0 => "none lost".to_owned(),
        lost => format!("{lost} lost (increase `--buffer`)"),
    };
    let next = match target.is_file() {
        true => format!("; next: `wastenot check {}`", target.path().display()),
        false => String::new(),
    };
    format!("recorded {span}: {events} events, {lost}, {} KiB{next}", bytes.div_ceil(1024))
}
