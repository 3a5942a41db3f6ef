//! `wastenot compare`: compares the measures of traces.

use std::path::{Path, PathBuf};

use wastenot_check::compare::{self, Comparison, Difference, SMALLER_IS_BETTER};
use wastenot_model::{Report, Unit, Value};

use super::select;
use crate::args::compare::Compare;
use crate::fail::{Answer, Stop};
use crate::{open, out, progress};

/// Compares traces.
pub(crate) fn run(args: &Compare) -> Result<Answer, Stop> {
    let (before, after) = sides(args)?;
    let checked = |files: &[PathBuf]| -> Result<Vec<Report>, Stop> {
        files.iter().map(|file| one(file, args)).collect()
    };
    let (before, after) = (checked(before)?, checked(after)?);
    let runs = Comparison::of(&before, &after);
    let mut report = compare::report(&runs);
    let Some(bound) = args.worse_than else {
        args.face.print(&report)?;
        return Ok(Answer::Yes);
    };
    if !runs.bars.is_empty() && !args.anyway {
        args.face.print(&report)?;
        runs.bars.iter().for_each(|bar| out::note(&format!("not comparable: {bar}")));
        out::note("no verdict; add `--anyway` to compare these traces anyway");
        return Ok(Answer::CannotTell);
    }
    let (worse, chance) = compare::worse(&runs.differences, bound.0);
    let names: Vec<&str> = worse.iter().map(|difference| difference.name.as_str()).collect();
    report.measure("worse", "", names, Unit::None);
    args.face.print(&report)?;
    worse.iter().for_each(|difference| out::note(&format!("worse: {}", growth(difference))));
    for difference in chance {
        let grown = growth(difference);
        out::note(&format!("an increase that may be noise does not count as worse: {grown}"));
    }
    Ok(match worse.is_empty() {
        false => Answer::No,
        true if runs.differences.iter().any(is_judged) => Answer::Yes,
        true => {
            out::note(
                "no verdict: none of the measures of --worse-than is known both before and after \
                 the change",
            );
            Answer::CannotTell
        }
    })
}

/// `wake_delay.cpu_ns +104.0 % (57.30 ms -> 116.9 ms)`.
fn growth(difference: &Difference) -> String {
    let show = |value: f64| Value::Num(value).show(difference.unit);
    let share = difference.relative.map_or(String::new(), |it| format!(" {:+.1} %", it * 100.0));
    let (before, after) = (show(difference.before), show(difference.after));
    format!("{}{share} ({before} -> {after})", difference.name)
}

fn is_judged(difference: &Difference) -> bool {
    SMALLER_IS_BETTER.contains(&difference.name.as_str())
}

/// `A B` without `--` means one trace on each side.
fn sides(args: &Compare) -> Result<(&[PathBuf], &[PathBuf]), Stop> {
    let is_option = |path: &&PathBuf| path.to_string_lossy().starts_with("--") && !path.exists();
    if let Some(option) = args.after.iter().find(is_option) {
        let what = format!("{} follows `--`, where only files are allowed", option.display());
        let help = "put options before `--`: `wastenot compare --json A.dat -- B.dat`";
        return Err(Stop::new(what, help));
    }
    match (args.before.as_slice(), args.after.as_slice()) {
        ([before, after], []) => Ok((std::slice::from_ref(before), std::slice::from_ref(after))),
        ([first, rest @ ..], []) if rest.len() > 1 => {
            let name = |file: &PathBuf| open::shown(file);
            let rest: Vec<String> = rest.iter().map(name).collect();
            let count = rest.len() + 1;
            let what = format!(
                "with {count} files, `--` must separate the files before and after the change"
            );
            let help = format!("run `wastenot compare {} -- {}`", name(first), rest.join(" "));
            Err(Stop::new(what, help))
        }
        (_, []) => {
            let help = "run `wastenot compare before.dat after.dat`, \
                or `wastenot compare before-*.dat -- after-*.dat`";
            Err(Stop::new("nothing to compare: there is only one trace", help))
        }
        (before, after) => Ok((before, after)),
    }
}

fn one(file: &Path, args: &Compare) -> Result<Report, Stop> {
    let (history, options) = select::read(file, &args.looking)?;
    let what = format!("checking {}", open::shown(file));
    let check = progress::during(&what, || wastenot_check::check(&history, &options));
    Ok(check.report(&history, &options))
}
