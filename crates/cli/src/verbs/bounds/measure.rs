//! `wastenot bounds measure`: measures locks and messages on this machine.

use std::path::Path;

use wastenot_realtime::measuring::{Here, Run};
use wastenot_scenario::measured::{self, Measured};

use crate::args::bounds::Measure as Args;
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::{open, progress};

/// Measures each design on each number of CPUs.
pub(super) fn run(args: &Args) -> Result<Answer, Stop> {
    let target = args.output.as_deref().map(|path| target(path, args)).transpose()?;
    let here = Here::look()?;
    let runs = here.runs(args.cpus.as_ref(), &args.designs)?;
    let one = |(n, run): (usize, &Run), done: &(dyn Fn(usize) + Sync)| {
        let measured = run.measure(&here, args.span);
        done(n + 1);
        measured
    };
    let measured = progress::counting("measuring", runs.len(), |done| {
        runs.iter().enumerate().map(|run| one(run, done)).collect::<Result<Vec<_>, _>>()
    })?;
    let (lines, unseen): (Vec<_>, Vec<_>) = measured.into_iter().unzip();
    let lines = lines.concat();
    if let Some(target) = &target {
        write(target, args.append, &lines)?;
    }
    if target.is_none_or(|target| target.is_file()) {
        args.face.print(&here.report(&runs, &lines, unseen.concat(), args.span))?;
    }
    Ok(Answer::Yes)
}

/// The output table, which is checked before the first measurement.
fn target(path: &Path, args: &Args) -> Result<Target, Stop> {
    let adds = args.append && path.is_file();
    if adds {
        there(path)?;
    }
    let help = "use a name that ends in .csv";
    let target = super::target(path, "csv", args.force || adds, "figures are CSV", help);
    target.map_err(|stop| match stop {
        Stop::Failure { what, code, .. } if path.is_file() => {
            let help = "append to the file with `--append`, or overwrite it with `--force`";
            Stop::Failure { what, help: help.to_owned(), code }
        }
        other => other,
    })
}

/// The text of an existing table that can be extended.
fn there(path: &Path) -> Result<String, Stop> {
    let (name, text) = open::text(path, "give a table that `wastenot bounds measure` wrote")?;
    measured::read(&name, text.as_bytes())?;
    let header = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    if header.map(str::trim_end) != Some(&measured::header()) {
        let what = format!("{name}: its columns are in the wrong order");
        return Err(Stop::new(what, format!("use the order {}", measured::header())));
    }
    Ok(text)
}

fn write(target: &Target, append: bool, lines: &[Measured]) -> Result<(), Stop> {
    let mut text = match append && target.is_file() && target.path().is_file() {
        true => there(target.path())?,
        false => measured::header(),
    };
    for line in lines {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text += &line.to_string();
    }
    text.push('\n');
    target.write(|file| file.write_all(text.as_bytes()))
}
