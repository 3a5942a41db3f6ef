//! `wastenot explain`: where tasks spent their time, why a task stalled under sched_ext, and which
//! change removes a loss.

use wastenot_check::account::{Account, Question};
use wastenot_check::{Options, stall};
use wastenot_experiment::confirm::{Plan, Question as Trial, RUNS, Verdict};
use wastenot_experiment::{Error, Sim};

use super::{check, select, what_if};
use crate::args::explain::{Explain, Whom};
use crate::args::scheduler::Under;
use crate::args::when::cycles;
use crate::fail::{Answer, Stop};
use crate::verbs::trace_file::TraceFile;
use crate::{open, out, progress};

/// Explains.
pub(crate) fn run(args: &Explain) -> Result<Answer, Stop> {
    if args.confirm {
        return confirmed(args);
    }
    if args.whom == Whom::default() {
        return stalled(args);
    }
    let history = open::history(&args.file, &args.reading)?;
    if !history.head.clock.nanoseconds {
        return Err(cycles(&history, "explain reports times in nanoseconds"));
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
    args.face.print(&report)?;
    Ok(Answer::Yes)
}

/// Explains a dump of sched_ext, for which the user names no task.
fn stalled(args: &Explain) -> Result<Answer, Stop> {
    let bytes = open::bytes(&args.file)?;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(16 << 20)]);
    let recorded = || open::history(&args.file, &args.reading).ok();
    if bytes.is_empty() {
        open::history(&args.file, &args.reading)?;
    }
    let Some(dump) = stall::find(&text, recorded) else {
        let file = open::shown(&args.file);
        let what = format!("`explain` needs a task, because {file} contains no dump of sched_ext");
        return Err(Stop::new(
            what,
            format!("run `wastenot explain {file} --task 'make*'`, or add `--confirm`"),
        ));
    };
    args.face.print(&dump.report())?;
    Ok(Answer::Yes)
}

/// Tests the change that should remove the loss.
fn confirmed(args: &Explain) -> Result<Answer, Stop> {
    let trial = &args.trial;
    let kept =
        trial.output.as_ref().map(|file| TraceFile::named("-o", file, trial.force)).transpose()?;
    // Check this before reading the trace: a typing error must not cost a minute.
    let under = Under { scheduler: trial.scheduler.clone(), allow_unsafe: false };
    let scheduler = open::scheduler(&under)?;
    let history = what_if::trace(&args.file, &args.reading, &args.window)?;
    let seeds = trial.seeds.unwrap_or(RUNS);
    let question = Trial { scheduler, cause: trial.cause, seeds };
    let wrong = |error: Error| what_if::failed_with(&args.file, error);
    let plan = || Plan::new(&Sim, &history, &question);
    let plan = progress::during("simulating", plan).map_err(wrong)?;
    let answer = progress::counting("simulating", plan.len(), |done| plan.run(done));
    let answer = answer.map_err(wrong)?;
    kept.map_or(Ok(()), |kept| kept.write(&history))?;
    let file = trial.output.as_ref().unwrap_or(&args.file);
    let part = trial.output.is_none() && (args.window.is_asked() || args.reading.machine.is_some());
    let report = answer.report(&out::quoted(file).filter(|_| !part).unwrap_or("PART.wn".into()));
    args.face.print(&report)?;
    Ok(match answer.verdict() {
        Verdict::Confirmed | Verdict::NothingLost => Answer::Yes,
        Verdict::Refuted => Answer::No,
        _ => Answer::CannotTell,
    })
}
