//! `wastenot bounds test`: tests whether a task set meets all deadlines.

use wastenot_bounds::verdict::Verdict;
use wastenot_realtime::set::Request;
use wastenot_scenario::task_set;

use super::overheads;
use crate::args::bounds::Test;
use crate::fail::{Answer, Stop};
use crate::out::Target;
use crate::verbs::report::is_page;
use crate::{open, out, progress};

/// The help for a task set if standard input is a terminal.
const PIPED: &str = "pipe a task set: `... | wastenot bounds test - --cpus 4`";
/// The help for overheads if standard input is a terminal.
const TABLE_PIPED: &str =
    "pipe a table: `... | wastenot bounds test tasks.csv --cpus 4 --overheads -`";

/// Tests a task set.
pub(super) fn run(args: &Test) -> Result<Answer, Stop> {
    let target = args.output.as_ref().map(|path| {
        is_page(path)?;
        Target::new(path, args.force)
    });
    let target = target.transpose()?;
    let table = args.overheads.as_deref().map(|file| overheads::read(file, TABLE_PIPED));
    let table = table.transpose()?;
    let name = open::shown(&args.file);
    let tasks = task_set::read(&name, open::once(&args.file, PIPED)?)?;
    let request = Request {
        cpus: args.cpus,
        cluster: args.cluster,
        implementation: args.implementation,
        tests: &args.tests,
        overheads: table.as_ref(),
        extrapolate: args.extrapolate,
    };
    let answer = || request.answer(&name, &tasks);
    let answer = progress::during(&format!("judging {name}"), answer)?;
    let report = &answer.report;
    match target {
        None => args.face.print(report)?,
        Some(target) => {
            let page = wastenot_view::html(report);
            target.write(|file| file.write_all(page.as_bytes()))?;
            if target.is_file() {
                let shown = target.path().display();
                out::print(&format!("{}\n\nReport: {shown}\n", report.verdict))?;
            }
        }
    }
    Ok(match answer.verdict {
        Verdict::Schedulable(_) => Answer::Yes,
        Verdict::Unschedulable(_) => Answer::No,
        Verdict::Unknown => Answer::CannotTell,
    })
}
