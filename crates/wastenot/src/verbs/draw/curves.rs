//! `wastenot draw curves`: what came of a sweep, as a picture.

use std::path::Path;

use wastenot_draw::Chart;
use wastenot_scenario::sweep::{Judged, results};

use super::File;
use super::sheet::{Sheet, cell};
use crate::args::draw::{Column, Curves as Args, Only};
use crate::fail::{Answer, Stop};
use crate::{open, out, progress};

/// How a result comes by way of standard input.
const PIPED: &str = "`wastenot bounds sweep E.toml -o - | wastenot draw curves -`";

/// Draws.
pub(super) fn run(args: &Args) -> Result<Answer, Stop> {
    let file = File::new(args.output.as_ref(), args.force)?;
    let shown = open::shown(&args.file);
    let read = open::table(&args.file, PIPED)?;
    let all = progress::during(&format!("reading {shown}"), || results(&shown, read));
    let all = all.map_err(|error| Stop::new(&error, error.help()))?;
    let chart = Sheet::new(chosen(&all, &args.only)?, args.over)?.chart(&name(&args.file))?;
    match file {
        Some(file) => file.write(&wastenot_draw::curves(&chart))?,
        None => print(&chart)?,
    }
    Ok(Answer::Yes)
}

/// What the picture is called.
fn name(file: &Path) -> String {
    let stem = file.file_stem().filter(|_| file != Path::new("-"));
    stem.map_or_else(|| "sweep".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// The lines that have what was asked for.
fn chosen<'l>(all: &'l [Judged], only: &[Only]) -> Result<Vec<&'l Judged>, Stop> {
    let mut lines: Vec<&Judged> = all.iter().collect();
    for Only { column, .. } in only {
        // Several values of a column: any of them.
        let own = only.iter().filter(|it| it.column == *column);
        let values: Vec<&str> = own.map(|it| it.value.as_str()).collect();
        let kept = lines.iter().filter(|line| values.iter().any(|value| has(line, *column, value)));
        let kept: Vec<&Judged> = kept.copied().collect();
        if kept.is_empty() {
            let what = format!("no line has {}={}", column.name(), values.join(" or "));
            return Err(Stop::new(what, format!("values are {}", known(&lines, *column))));
        }
        lines = kept;
    }
    Ok(lines)
}

/// Whether a line has this value; numbers may be written otherwise.
fn has(line: &Judged, column: Column, value: &str) -> bool {
    if column == Column::CacheDelay && !line.has_overheads() {
        return true; // it has none, so that it goes with any
    }
    let cell = cell(line, column);
    let number = |text: &str| text.parse::<f64>().ok();
    cell == value || number(&cell).is_some_and(|is| Some(is) == number(value))
}

/// What a column has, some of it.
fn known(lines: &[&Judged], column: Column) -> String {
    const SHOWN: usize = 12;
    let mut values: Vec<String> = Vec::new();
    for line in lines {
        let value = cell(line, column);
        if !values.contains(&value) {
            values.push(value);
        }
        if values.len() > SHOWN {
            values[SHOWN] = "...".to_owned();
            break;
        }
    }
    values.join(", ")
}

/// Panel by panel: a terminal has room for one. What is not known of a share is left to files.
fn print(chart: &Chart) -> Result<(), Stop> {
    let last = chart.panels.len().saturating_sub(1);
    for (n, panel) in chart.panels.iter().enumerate() {
        let mut panel = panel.clone();
        for place in panel.curves.iter_mut().flatten() {
            place.share = place.share.map(|share| wastenot_draw::Share { band: None, ..share });
        }
        let mut one = Chart {
            title: format!("{}: {}", panel.heading, panel.remark),
            panels: vec![panel],
            ..chart.clone()
        };
        if n == 0 {
            out::print(&format!("{}\n{}\n\n", chart.title, chart.subtitle))?;
        }
        if n < last {
            one.notes.clear();
        }
        let text = out::drawn(&wastenot_draw::curves(&one));
        out::print_as_is(&format!("{text}{}", if n < last { "\n" } else { "" }))?;
    }
    Ok(())
}
