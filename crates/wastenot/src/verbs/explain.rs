//! `wastenot explain`: where the time of tasks went; why a task stalled under sched_ext.

use wastenot_check::account::{Account, Question};
use wastenot_check::{Options, stall};

use super::{check, select};
use crate::args::explain::{Explain, Whom};
use crate::args::when::cycles;
use crate::fail::{Answer, Stop};
use crate::{open, progress};

/// Explains.
pub(crate) fn run(args: &Explain) -> Result<Answer, Stop> {
    if args.whom == Whom::default() {
        return stalled(args);
    }
    let history = open::history(&args.file, &args.reading)?;
    if !history.head.clock.nanoseconds {
        return Err(cycles(&history, "an account is in units of time"));
    }
    let window = args.window.of(&history)?;
    let question =
        Question { tasks: select::whom(&history, &args.whom)?, window, every: args.every };
    let account =
        progress::during("explaining", || Account::of(&history, &question, &Options::default()));
    let mut report = account.report(&history);
    let worst = report.worst.as_ref().map(|it| it.window);
    report.next =
        worst.and_then(|it| check::picture(&args.file, &history, it, &account.places(it)));
    check::print(&report, &args.face)?;
    Ok(Answer::Yes)
}

/// Explains a dump of sched_ext, which no task has to be named for.
fn stalled(args: &Explain) -> Result<Answer, Stop> {
    let bytes = open::bytes(&args.file)?;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(16 << 20)]);
    if !stall::is_dump(&text) {
        let file = open::shown(&args.file);
        let what = format!("explain needs a task: {file} is no dump of sched_ext");
        return Err(Stop::new(what, format!("`wastenot explain {file} --task 'make*'`")));
    }
    check::print(&stall::parse(&text).report(), &args.face)?;
    Ok(Answer::Yes)
}
