//! `wastenot check`: how much CPU time was wasted, when, where and to whom.

use std::path::Path;

use wastenot_check::Check as Found;
use wastenot_check::waste::Figures;
use wastenot_export::picture::around;
use wastenot_model::{History, Report, Span, Unit, Value, Window};

use super::prove::quoted;
use super::select;
use crate::args::check::{Budget, Check, Face};
use crate::fail::{Answer, Stop};
use crate::{open, out, progress};

/// Checks a trace.
pub(crate) fn run(args: &Check) -> Result<Answer, Stop> {
    let history = open::history(&args.file, &args.reading)?;
    let window = args.window.of(&history)?;
    let options = select::options(&history, window, &args.select)?;
    let check = progress::during("checking", || wastenot_check::check(&history, &options));
    let mut report = check.report(&history, &options);
    report.next = next(&args.file, &history, &check);
    print(&report, &args.face)?;
    Ok(match args.budget {
        None => Answer::Yes,
        Some(Budget::CpuTime(_)) if !history.head.clock.nanoseconds => {
            out::note(
                "cannot tell: the clock counts cycles, so CPU time is unknown; give its rate with \
                 `--clock-hz 2.4GHz`, or give a share: `--budget 1%`",
            );
            Answer::CannotTell
        }
        Some(_) if check.waste.known_ns == 0 => {
            out::note("cannot tell: CPU activity is not known for any part of this trace");
            Answer::CannotTell
        }
        Some(budget) => judge(budget, &check.waste, wastenot_check::is_cut(&history)),
    })
}

/// Prints a report in the face that was asked for; where none was, what stands first if anything
/// does.
pub(crate) fn print(report: &Report, face: &Face) -> Result<(), Stop> {
    match (face.json, face.text || report.proportions.is_empty()) {
        (true, _) => out::print_json(report),
        (false, true) => out::print(&report.text()),
        (false, false) => out::print(&report.first_screen(&rest(report))),
    }
}

/// What the first screen leaves out.
fn rest(report: &Report) -> String {
    let tables = report.tables.iter().filter(|table| table.is_shown()).count();
    format!(
        "{} measures, {tables} tables, {} assumptions: add --text, or --json",
        report.shown_measures().count(),
        report.assumptions.len()
    )
}

/// Whether a budget holds. Waste is a lower bound: above the budget is a sure no, and a sure yes
/// takes that even the upper bound is within. What is not a yes is explained on stderr.
fn judge(budget: Budget, waste: &Figures, is_cut: bool) -> Answer {
    let (low, high, limit, unit) = match budget {
        Budget::CpuTime(limit) => {
            (waste.cpu_ns as f64, waste.cpu_ns_max as f64, limit.0 as f64, Unit::Ns)
        }
        // The upper bound takes unknown CPUs for idle ones, so all CPU time is its measure.
        Budget::Share(limit) => {
            let high = waste.cpu_ns_max as f64 / waste.online_ns.max(1) as f64;
            (waste.share(), high, limit, Unit::Share)
        }
    };
    let show = |value: f64| Value::Num(value).show(unit);
    let of = if unit == Unit::Share { " of the known CPU time" } else { " of CPU time" };
    if high > limit && is_cut {
        let (low, limit) = (show(low), show(limit));
        out::note(&format!(
            "cannot tell: about {low}{of} wasted, which is not a bound because the file is \
             truncated; {limit} allowed"
        ));
        Answer::CannotTell
    } else if low > limit {
        out::note(&format!("over budget: {}{of} wasted, {} allowed", show(low), show(limit)));
        Answer::No
    } else if high > limit {
        let (low, high, limit) = (show(low), show(high), show(limit));
        out::note(&format!(
            "cannot tell: at least {low}{of} wasted, at most {high}; {limit} allowed"
        ));
        Answer::CannotTell
    } else {
        Answer::Yes
    }
}

/// The command that draws the moment to look at first in the terminal.
pub(super) fn next(file: &Path, history: &History, check: &Found) -> Option<String> {
    const CPUS: usize = 2;
    let (moment, places) = check.to_draw(history, CPUS)?;
    let Window { from, to } = around(moment, history);
    let file = quoted(file).filter(|file| file != "-")?;
    let start = history.window().from;
    // Tenths of a millisecond, outwards: short to type.
    let tenth = Span::us(100).0;
    let (first, last) = ((from - start).0 / tenth, (to - start).0.div_ceil(tenth));
    let [from, to] = [first, last].map(|tenths| format!("{}.{}ms", tenths / 10, tenths % 10));
    let cpus = match history.cpu_count() > CPUS && !places.is_empty() {
        true => format!(" --cpus {places}"),
        false => String::new(),
    };
    Some(format!("wastenot draw cores {file} --from {from} --to {to}{cpus}"))
}
