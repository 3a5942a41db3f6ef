//! `wastenot record`: what the scheduler of this machine does, into a file.

mod child;
mod length;

use std::io;
use std::time::{Duration, Instant};

use wastenot_model::Span;
use wastenot_read::own::Writer;
use wastenot_record::{Begun, Options, Summary, Way};

use self::length::Length;
use crate::args::record::Record;
use crate::fail::{Answer, Stop};
use crate::out::{self, Target};

/// How often to look whether it is over.
const TURN: Duration = Duration::from_millis(100);
/// How much a crash loses at most.
const FLUSH: Duration = Duration::from_secs(1);
/// What the shell and its kin use for "could not even begin" (env(1), timeout(1)).
const OWN_FAILURE: u8 = 125;

/// Records.
pub(crate) fn run(args: &Record) -> Result<Answer, Stop> {
    let result = record(args);
    match args.command.is_empty() {
        true => result,
        // The command's codes are its own; ours must not look like one of them.
        false => result.map_err(|stop| stop.or_code(OWN_FAILURE)),
    }
}

fn record(args: &Record) -> Result<Answer, Stop> {
    // Before anything is switched on: a typing error must cost nothing.
    let target = Target::new(&args.output, args.force)?;
    let length = Length::of(args)?;
    let mut file = target.grow()?;
    let begun = match wastenot_record::begin(&options(args)) {
        Ok(begun) => begun,
        Err(error) => {
            file.discard();
            return Err(Stop::new(&error, error.help()));
        }
    };
    let Begun { mut recording, head, instead_of_bpf } = begun;
    if let Some(why) = instead_of_bpf {
        out::note(&format!("{why}: recording through tracefs, without affinities"));
    }
    let unwritten = |error: wastenot_read::Error| unwritten(&target, error);
    let mut writer = Writer::new(&mut file, &head).map_err(unwritten)?;
    let mut length = match length.begin() {
        Ok(length) => length,
        Err(stop) => {
            drop(writer);
            file.discard();
            return Err(stop);
        }
    };
    let begun = Instant::now();
    let mut flushed = begun;
    while !length.is_over() {
        recording.wait(TURN);
        recording.drain(&mut writer);
        if flushed.elapsed() >= FLUSH {
            writer.flush().map_err(unwritten)?;
            flushed = Instant::now();
        }
    }
    let span = Span(begun.elapsed().as_nanos() as u64);
    let summary = recording.finish(&mut writer);
    writer.finish().map_err(unwritten)?;
    let bytes = file.finish()?;
    out::note(&said(&target, span, summary, bytes));
    Ok(length.answer())
}

fn options(args: &Record) -> Options {
    Options {
        ring_bytes: u32::try_from(args.means.buffer).unwrap_or(u32::MAX / 2),
        way: if args.means.tracefs { Way::Tracefs } else { Way::Best },
    }
}

fn unwritten(target: &Target, error: wastenot_read::Error) -> Stop {
    match error {
        wastenot_read::Error::Write(error) | wastenot_read::Error::Io(error) => {
            target.failed(&error)
        }
        error => target.failed(&io::Error::other(error.to_string())),
    }
}

/// `recorded 1.204 s: 48123 events, none lost, 193 KiB: wastenot check wastenot.wn`.
fn said(target: &Target, span: Span, summary: Summary, bytes: u64) -> String {
    let lost = match summary.lost {
        0 => "none lost".to_owned(),
        lost => format!("{lost} lost (more room: `--buffer`)"),
    };
    let next = match target.is_file() {
        true => format!("; next: `wastenot check {}`", target.path().display()),
        false => String::new(),
    };
    let kib = bytes.div_ceil(1024);
    format!("recorded {span}: {} events, {lost}, {kib} KiB{next}", summary.events)
}
