//! `wastenot check`: how much CPU time was wasted, when, where, and for which tasks.

use std::path::Path;

use crate::export::picture::{command, interval};
use wastenot_check::Check as Found;
use wastenot_check::budget::Judged;
use wastenot_model::machine::Costs;
use wastenot_model::{CpuSet, History, Window};

use wastenot_scenario::scenario::Instead;

use super::select;
use crate::args::check::Check;
use crate::fail::{Answer, Stop};
use crate::{open, out, progress};

/// Checks a trace.
pub(crate) fn run(args: &Check) -> Result<Answer, Stop> {
    let (history, mut options) = select::read(&args.file, &args.looking)?;
    (options.causes, options.of_cause) = (!args.no_causes, args.cause);
    options.costs = args.costs.as_deref().map(costs).transpose()?;
    let check = progress::during("checking", || wastenot_check::check(&history, &options));
    let mut report = check.report(&history, &options);
    report.next = next(&args.file, &history, &check, options.counted(&history));
    args.face.print(&report)?;
    let judged = args.budget.map(|budget| budget.judge(&check, &history));
    let (answer, why) = match judged {
        None | Some(Judged::Within) => (Answer::Yes, None),
        Some(Judged::Over(why)) => (Answer::No, Some(why)),
        Some(Judged::CannotTell(why)) => (Answer::CannotTell, Some(why)),
    };
    why.iter().for_each(|why| out::note(why));
    Ok(answer)
}

/// The costs in the first variant of a scenario.
fn costs(file: &Path) -> Result<Costs, Stop> {
    let help = "give a scenario (TOML) with a [costs] table (docs/reference/scenario.md)";
    let (name, text) = open::text(file, help)?;
    let scenario = wastenot_experiment::scenario_with(&name, &text, &Instead::default())?;
    Ok(scenario.variants.into_iter().next().map(|it| it.costs).unwrap_or_default())
}

/// The number of CPUs to draw.
const CPUS: usize = 2;

/// The next command: it draws the most important moment in the terminal, or explains a task if
/// waste is not the main problem.
pub(super) fn next(
    file: &Path,
    history: &History,
    check: &Found,
    counted: Window,
) -> Option<String> {
    if let (None, Some(task)) = (&check.trigger, check.to_explain(history)) {
        let label = history.task_label(task);
        let (file, label) =
            (out::quoted(file).filter(|file| file != "-")?, out::quoted(Path::new(&label))?);
        let part = counted != history.window();
        let part = if part { interval(history, counted) } else { String::new() };
        return Some(format!("wastenot explain {file} --task {label}{part}"));
    }
    let (moment, places) = check.to_draw(history, CPUS)?;
    picture(file, history, moment, &places)
}

/// The command that draws `moment` on `places` in the terminal.
pub(super) fn picture(
    file: &Path,
    history: &History,
    moment: Window,
    places: &CpuSet,
) -> Option<String> {
    let file = out::quoted(file).filter(|file| file != "-")?;
    let all = history.cpu_count() <= CPUS;
    Some(command(&file, history, moment, Some(places).filter(|_| !all)))
}
