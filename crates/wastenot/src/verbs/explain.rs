//! `wastenot explain`: where the time of tasks went.

use wastenot_check::Options;
use wastenot_check::account::{Account, Question};

use super::{check, select};
use crate::args::explain::Explain;
use crate::args::when::cycles;
use crate::fail::{Answer, Stop};
use crate::{open, progress};

/// Explains.
pub(crate) fn run(args: &Explain) -> Result<Answer, Stop> {
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
