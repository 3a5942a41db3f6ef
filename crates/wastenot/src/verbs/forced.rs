//! `wastenot what-if` of a counterexample: its choices, forced on a policy.

use wastenot_model::History;
use wastenot_prove::Error;
use wastenot_prove::replay::{Recorded, report};
use wastenot_rota::ir::Policy;
use wastenot_scenario::scenario::Choice;

use super::check::print;
use crate::args::simulate::Simulate;
use crate::fail::{Answer, Stop};

/// Forces it on the policy that was named, else on the one that it was found with.
pub(super) fn run(
    name: &str,
    history: &History,
    choice: Option<Choice>,
    args: &Simulate,
) -> Result<Answer, Stop> {
    nothing_else(name, args)?;
    let failed = |error: Error| Stop::new(format_args!("{name}: {error}"), error.help());
    let recorded = Recorded::read(history).map_err(failed)?;
    let policy = policy(name, &recorded, choice)?;
    let replay = recorded.force(&policy).map_err(failed)?;
    print(&report(name, &replay), &args.face)?;
    let goes_wrong = replay.is_reached() || replay.still.is_some();
    Ok(if goes_wrong { Answer::No } else { Answer::Yes })
}

/// The policy to force it on: of several in a file, the one that is called as it was.
fn policy(name: &str, recorded: &Recorded, choice: Option<Choice>) -> Result<Policy, Stop> {
    let named = choice.is_some();
    let text = match choice {
        Some(Choice { text: Some(text), switches, .. }) if switches.is_empty() => text,
        Some(Choice { text: Some(_), .. }) => {
            let what = "a counterexample uses the parameters in the text of its policy";
            return Err(Stop::new(what, "change them there, and name the file alone"));
        }
        Some(Choice { name, .. }) => {
            let what =
                format!("{name} is not a policy in Rota: a counterexample cannot be forced on it");
            return Err(Stop::new(what, "name a text: `--scheduler FILE.rota`, or none"));
        }
        None => recorded.text().map(str::to_owned).ok_or_else(|| {
            let what = format!("{name} does not contain the text of its policy");
            Stop::new(what, "name one: `--scheduler FILE.rota`")
        })?,
    };
    let program = wastenot_rota::compile(&text).map_err(|_| {
        // The text of a file that was named has been compiled before.
        let what = format!("{name}: the text of its policy is not valid Rota");
        Stop::new(what, "name another one: `--scheduler FILE.rota`")
    })?;
    let alike = program.policies.iter().find(|policy| policy.name == recorded.policy());
    let only = program.policies.first().filter(|_| named && program.policies.len() == 1);
    alike.or(only).cloned().ok_or_else(|| {
        let what = format!("{name} is of a policy `{}`, which is missing", recorded.policy());
        Stop::new(what, "name a file with that policy, or with one policy")
    })
}

/// Options about runs and recordings mean nothing here.
fn nothing_else(name: &str, args: &Simulate) -> Result<(), Stop> {
    let (what, reading) = (&args.what_if, &args.what_if.reading);
    let given = [
        ("--output", args.output.is_some()),
        ("--seed", args.seed.is_some()),
        ("--task", !what.task.is_empty()),
        ("--on", what.on.is_some()),
        ("--machine", reading.machine.is_some()),
        ("--buffer", reading.buffer.is_some()),
        ("--formats-from", reading.formats_from.is_some()),
        ("--clock-hz", reading.clock_hz.is_some()),
        ("--from", what.window.from.is_some()),
        ("--to", what.window.to.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Stop::new(
            format_args!("{option} applies to a recording, but {name} is a counterexample"),
            "remove it: a counterexample is forced as it is",
        )),
    }
}
