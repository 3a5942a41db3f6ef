//! `wastenot prove POLICY --conforms TRACE`: replays the steps that a kernel took in the model.

use std::path::Path;

use wastenot_model::LossKind;
use wastenot_prove::conforms::{conforms, is_conforming, report};
use wastenot_rota::step_log::Log;

use super::super::policy::Source;
use super::meaning;
use crate::args::input::Reading;
use crate::args::prove::Prove;
use crate::fail::{Answer, Stop};
use crate::{open, out, progress};

/// Replays the steps.
pub(super) fn run(file: &Path, history: &Path, args: &Prove) -> Result<Answer, Stop> {
    let source = Source::read(file)?;
    let program = meaning(&source)?;
    let name = open::shown(history);
    let recorded = open::history(history, &Reading::default())?;
    if recorded.losses().iter().any(|loss| loss.kind == LossKind::Cut) {
        let what = format!("{name} is truncated: the end of its log of steps is missing");
        return Err(Stop::new(what, "copy the trace again, or record it again"));
    }
    let log = Log::of(&recorded).ok_or_else(|| {
        let help =
            "record a log: `wastenot run SCENARIO --on 7.2 --scheduler POLICY --steps -o H.wn`";
        Stop::new(format!("{name} has no log of steps"), help)
    })?;
    let machine = &recorded.head.machine;
    let replay = || conforms(&program, machine, &log);
    let found = progress::during("replaying the steps", replay);
    let mut report = report(&name, (&program, machine), &log, &found);
    if log.text != source.text {
        let what = format!("{name} was recorded with a policy that differs from {}", source.name);
        out::note(&what);
        report.assumptions.push(what);
    }
    args.face.print(&report)?;
    Ok(match is_conforming(&log, &found) {
        Some(true) => Answer::Yes,
        Some(false) => Answer::No,
        None => Answer::CannotTell,
    })
}
