//! `wastenot draw curves`: draws the result of a sweep.

use std::path::Path;

use wastenot_draw::Chart;
use wastenot_realtime::curves::chart;
use wastenot_scenario::sweep::results;

use super::File;
use crate::args::draw::Curves as Args;
use crate::fail::{Answer, Stop};
use crate::{open, out, progress};

/// The help if standard input is a terminal.
const PIPED: &str = "run `wastenot bounds sweep E.toml -o - | wastenot draw curves -`";

/// Draws.
pub(super) fn run(args: &Args) -> Result<Answer, Stop> {
    let file = File::new(args.output.as_ref(), args.force)?;
    let shown = open::shown(&args.file);
    let read = open::once(&args.file, PIPED)?;
    let all = progress::during(&format!("reading {shown}"), || results(&shown, read))?;
    let chart = chart(&name(&args.file), &all, &args.only, args.over)?;
    match file {
        Some(file) => file.write(&wastenot_draw::curves(&chart))?,
        None => print(&chart)?,
    }
    Ok(Answer::Yes)
}

/// The title of the picture.
fn name(file: &Path) -> String {
    let stem = file.file_stem().filter(|_| file != Path::new("-"));
    stem.map_or_else(|| "sweep".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Prints one panel after the other, because a terminal has room for one. Only files show the
/// confidence intervals.
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
