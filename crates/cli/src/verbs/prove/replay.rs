//! `wastenot prove --replay`: forces the steps of a counterexample on a policy.

use std::path::Path;

use wastenot_prove::Error;
use wastenot_prove::replay::{Recorded, is_counterexample, report};
use wastenot_rota::ir::{Policy, Program};

use super::super::policy::Source;
use super::{about, meaning};
use crate::args::input::Reading;
use crate::args::prove::Prove;
use crate::fail::{Answer, Stop};
use crate::open;

/// Forces the steps on the policy of `--scheduler`, or on the policy of the counterexample.
pub(super) fn run(file: &Path, args: &Prove) -> Result<Answer, Stop> {
    let name = open::shown(file);
    // Report faults of the policy before the counterexample is read.
    let named = args.scheduler.as_deref().map(|text| named(text, args)).transpose()?;
    let written = "write a counterexample: `wastenot prove FILE.rota --cex CEX.wn`";
    if file != Path::new("-") && !file.exists() {
        return Err(Stop::new(format_args!("there is no counterexample {name}"), written));
    }
    let history = open::history(file, &Reading::default())?;
    if !is_counterexample(&history) {
        return Err(Stop::new(format_args!("{name} is not a counterexample"), written));
    }
    let failed = |error: Error| about(&name, &error);
    let recorded = Recorded::read(&history).map_err(failed)?;
    let policy = policy(&name, &recorded, named)?;
    let replay = recorded.force(&policy).map_err(failed)?;
    args.face.print(&report(&name, &replay))?;
    let goes_wrong = replay.is_reached() || replay.still.is_some();
    Ok(if goes_wrong { Answer::No } else { Answer::Yes })
}

/// The policy of `--scheduler`. A policy with an unsafe protocol needs `--allow-unsafe`.
fn named(file: &Path, args: &Prove) -> Result<Program, Stop> {
    let source = Source::read(file)?;
    let program = meaning(&source)?;
    match program.policies.iter().find(|policy| !policy.protocol.is_safe() && !args.allow_unsafe) {
        None => Ok(program),
        Some(policy) => Err(about(&source.name, &Error::Unsafe { policy: policy.name.clone() })),
    }
}

/// The policy for the replay: the one with the same name, or the only one in the file.
fn policy(name: &str, recorded: &Recorded, named: Option<Program>) -> Result<Policy, Stop> {
    let is_named = named.is_some();
    let program = named.map_or_else(|| found_with(name, recorded), Ok)?;
    let alike = program.policies.iter().find(|policy| policy.name == recorded.policy());
    let only = program.policies.first().filter(|_| is_named && program.policies.len() == 1);
    alike.or(only).cloned().ok_or_else(|| {
        let what = format!("{name} needs the policy `{}`, which is missing", recorded.policy());
        Stop::new(
            what,
            "give a file that contains this policy, or a single policy: `--scheduler FILE.rota`",
        )
    })
}

/// The policy text in the counterexample. It is missing if names were removed from the file.
fn found_with(name: &str, recorded: &Recorded) -> Result<Program, Stop> {
    let help = "give the policy: `--scheduler FILE.rota`";
    let missing = || Stop::new(format!("{name} does not contain the text of its policy"), help);
    wastenot_rota::compile(recorded.text().ok_or_else(missing)?)
        .map_err(|_| Stop::new(format!("{name}: the text of its policy is not valid Rota"), help))
}
