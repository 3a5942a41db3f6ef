//! Schedulers as chosen, built in or written in Rota: made, checked where a scenario names them,
//! and put in words.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use wastenot_model::workload::{Group, GroupId, Workload};
use wastenot_model::{Help, History, Policy, Span};
use wastenot_rota::interpret::Interpreter;
use wastenot_rota::{Diagnostic, compile, line_and_column};
use wastenot_scenario::profile::BYTES;
use wastenot_scenario::scenario::{Choice, Instead, Scenario, Setting, Unfit};
use wastenot_scenario::{from_rtapp, is_rtapp, scenario_for};
use wastenot_sim::{Made, Pace, Scheduler, Settings, Tunable, Values, make, scheduler};

use crate::{Error, PACE, STEPS};

/// Reads a scenario. `file` is the name of its file: policies that it names lie beside it.
pub fn scenario(file: &str, text: &str) -> Result<Scenario, wastenot_scenario::Error> {
    scenario_with(file, text, &Instead::default())
}

/// The same with what is set `instead` of what it says.
pub fn scenario_with(
    file: &str,
    text: &str,
    instead: &Instead,
) -> Result<Scenario, wastenot_scenario::Error> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let unfit = |error: Error| Unfit {
        tunable: tunable(&error).map(str::to_owned),
        what: error.to_string(),
        help: error.help().into_owned(),
    };
    scenario_for(file, text, instead, &|choice| resolve(choice, folder).map_err(unfit))
}

/// Reads a scenario, or a file of rt-app. `scheduler` is to replace the schedulers of a scenario,
/// so it is given back. A file of rt-app has none, so it gets `scheduler` or the usual one.
pub fn given(
    file: &str,
    text: &str,
    instead: Instead,
    scheduler: Option<Choice>,
) -> Result<(Scenario, Option<Choice>), wastenot_scenario::Error> {
    if !is_rtapp(file, text) {
        return Ok((scenario_with(file, text, &instead)?, scheduler));
    }
    if let Some(Setting { name, .. }) = instead.set.first() {
        let (setting, what) = (name.clone(), "an rt-app file has no such key".into());
        let help = "use --machine or --scheduler, or write a scenario (docs/reference/scenario.md)";
        return Err(wastenot_scenario::Error::Setting { setting, what, help: help.into() });
    }
    let read = from_rtapp(file, text, instead.machine)?;
    Ok((read.scenario(scheduler.unwrap_or_else(usual)), None))
}

/// The default scheduler of files of rt-app and of commands: that of a current Linux.
pub fn usual() -> Choice {
    Choice::named("eevdf-6.12")
}

/// Reads the policy and the profile that `choice` names, if it names any, which lie in `folder`;
/// and sees whether there is such a scheduler, with such tunables.
pub fn resolve(choice: &mut Choice, folder: &Path) -> Result<(), Error> {
    if choice.name.ends_with(".rota") && choice.text.is_none() {
        let text = fs::read(folder.join(&choice.name));
        let text = text.map_err(|error| Error::NoPolicy { file: choice.name.clone(), error })?;
        let file = || choice.name.clone();
        let text = wastenot_rota::text(&text).map_err(|fault| first(file(), "", &[fault]))?;
        choice.text = Some(text.to_owned());
    }
    if let Some(file) = profile(choice).filter(|_| choice.profile.is_none()) {
        let bytes = as_much(&folder.join(file));
        let bytes = bytes.map_err(|error| Error::NoProfile { file: file.to_owned(), error })?;
        let text = match bytes.len() > BYTES {
            // It is too long, whatever it is, and may be cut within a letter.
            true => Ok(String::from_utf8_lossy(&bytes)),
            false => wastenot_scenario::text(file, &bytes).map(Cow::Borrowed),
        };
        let read = text.and_then(|text| wastenot_scenario::profile::profile(file, &text));
        let read = read.map_err(Error::Profile)?;
        choice.profile = Some(Box::new(read));
    }
    made(choice).map(drop)
}

/// The file of the profile that a tunable names.
fn profile(choice: &Choice) -> Option<&str> {
    let kind = Scheduler::named(&choice.name)?;
    let mut tunables = choice.tunables.iter();
    tunables.find_map(|(name, value)| kind.tunable(name)?.is_file(value).then_some(value.as_str()))
}

/// What stands in a file, or as much of it as makes it too long for a profile.
fn as_much(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(file)?.take(BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a choice is a policy that asks for an unsafe protocol.
pub fn is_unsafe(choice: &Choice) -> bool {
    let program = choice.text.as_ref().and_then(|text| compile(text).ok());
    let policies = program.into_iter().flat_map(|program| program.policies);
    policies.into_iter().any(|policy| !policy.protocol.is_safe())
}

/// What a policy in Rota claims of itself that a run can show to be false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims {
    /// No CPU stays idle for long while a task waits that it may run: no task or wakeup is lost,
    /// and attempts of idle CPUs fail only while others were faster. Of several policies each
    /// claims this on its own CPUs: what they claim together is nothing.
    pub conserves: bool,
    /// Balancing ends if no event happens.
    pub settles: bool,
}

/// What a choice claims, if it is a policy in Rota.
pub fn claims(choice: &Choice) -> Option<Claims> {
    use wastenot_rota::ir::ClaimKind::{NoLostTask, NoLostWakeup, Settles, WorkConservation};
    let program = compile(choice.text.as_ref()?).ok()?;
    let all = |is: &dyn Fn(&wastenot_rota::ir::ClaimKind) -> bool| {
        program.policies.iter().all(|policy| policy.claims.iter().any(|it| is(&it.kind)))
    };
    let is_one = program.policies.len() == 1;
    let conserves = |it: &_| matches!(it, NoLostTask | NoLostWakeup | WorkConservation);
    Some(Claims { conserves: is_one && all(&conserves), settles: all(&|it| matches!(it, Settles)) })
}

/// The tunables of a choice that are lengths of time, with their defaults.
pub fn times(choice: &Choice) -> Vec<(String, Span)> {
    let Some(text) = &choice.text else {
        let kind = Scheduler::named(&choice.name).into_iter();
        let all = kind.flat_map(|kind| kind.tunables).filter(|it| it.values == Values::Span);
        let time = |it: &Tunable| Some((it.name.to_owned(), Span::parse(it.default)?));
        return all.filter_map(time).collect();
    };
    let policies = compile(text).map_or(Vec::new(), |program| program.policies);
    let params = policies.into_iter().flat_map(|policy| policy.params);
    let times = params.filter(|param| param.dimension == wastenot_rota::ir::Dimension::Time);
    let time = |param: wastenot_rota::ir::Variable| {
        Some((param.name, Span(u64::try_from(param.value).ok()?)))
    };
    times.filter_map(time).collect()
}

/// The tunable that is wrong, or has the wrong value.
fn tunable(error: &Error) -> Option<&str> {
    match error {
        Error::Scheduler(wrong) => wrong.tunable(),
        Error::Parameter { wrong, .. } => wrong.parameter(),
        Error::NoProfile { .. } | Error::Profile(_) => Some("profile"),
        Error::Steps { name, .. } => Some(name),
        _ => None,
    }
}

/// What of `workload` the scheduler of a choice does not look at: cgroups, and what is set for
/// groups. Sessions alone are not worth a word: only autogroup makes something of them.
pub(crate) fn unread(choice: &Choice, workload: &Workload) -> Option<String> {
    let plain = Group::root();
    let told = workload
        .groups
        .iter()
        .skip(1)
        .any(|group| !group.session || group.quota.is_some() || group.shares != plain.shares);
    let used = workload.templates.iter().any(|template| template.group != GroupId(0));
    // What is neither one of the simulator nor a policy is the scheduler of a real kernel.
    let reads = Scheduler::named(&choice.name).map_or(choice.text.is_none(), |kind| kind.groups);
    (told && used && !reads)
        .then(|| format!("{} ignores groups, including their shares and quotas", choice.name))
}

/// The scheduler of a choice; a fresh one for each run.
pub(crate) fn made(choice: &Choice) -> Result<Made, Error> {
    match &choice.text {
        Some(text) => {
            pace(choice)?;
            Ok(Made::Policy(Box::new(interpreter(choice, text)?)))
        }
        None => {
            let made = make(&choice.name, &choice.tunables, choice.profile.as_deref().copied());
            made.map_err(Error::Scheduler)
        }
    }
}

/// The policy of a choice; a fresh one for each run.
pub(crate) fn policy(choice: &Choice) -> Result<Box<dyn Policy>, Error> {
    match &choice.text {
        Some(text) => Ok(Box::new(interpreter(choice, text)?)),
        None => scheduler(&choice.name, &choice.tunables).map_err(Error::Scheduler),
    }
}

/// The policy of a choice, and how long its steps take, if its decisions take steps.
pub(crate) fn paced(choice: &Choice) -> Result<Option<(Interpreter, Pace)>, Error> {
    let (Some(text), Some(pace)) = (&choice.text, pace(choice)?) else { return Ok(None) };
    Ok(Some((interpreter(choice, text)?, pace)))
}

/// How long the steps of a policy's decisions take; `None`: decisions take no time.
///
/// # Errors
/// It is set to what is no such time, or no such pace.
pub fn pace(choice: &Choice) -> Result<Option<Pace>, Error> {
    let set = |tunable: &str| choice.tunables.iter().find(|(name, _)| name == tunable);
    let wrong = |(name, value): &(String, String)| Error::Steps {
        file: choice.name.clone(),
        name: name.clone(),
        value: value.clone(),
    };
    let even = match set(PACE) {
        None => false,
        Some((_, value)) if value == "varied" => false,
        Some((_, value)) if value == "even" => true,
        Some(pace) => return Err(wrong(pace)),
    };
    let Some(steps) = set(STEPS) else { return Ok(None) };
    let most = Span::parse(&steps.1).filter(|most| (1..=1_000_000).contains(&most.0));
    let most = most.ok_or_else(|| wrong(steps))?;
    Ok(Some(Pace { most, even }))
}

fn interpreter(choice: &Choice, text: &str) -> Result<Interpreter, Error> {
    let file = || choice.name.clone();
    let program = compile(text).map_err(|faults| first(file(), text, &faults))?;
    let is_pace = |name: &str| [STEPS, PACE].contains(&name);
    let params = choice.tunables.iter().filter(|(name, _)| !is_pace(name));
    let params: Vec<(String, String)> = params.cloned().collect();
    let stem = Path::new(&choice.name).file_stem().and_then(|stem| stem.to_str());
    let called = |it: Interpreter| it.called(stem.unwrap_or(&choice.name));
    Interpreter::new(program, &params)
        .map(called)
        .map_err(|wrong| Error::Parameter { file: file(), wrong })
}

/// The first fault of a text, and how many there are besides.
fn first(file: String, text: &str, faults: &[Diagnostic]) -> Error {
    let Some(fault) = faults.first() else {
        let wrong = wastenot_rota::interpret::Error::Empty;
        return Error::Parameter { file, wrong };
    };
    let (line, column) = line_and_column(text, fault.span.start);
    let more = match faults.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Error::Policy {
        at: format!("{file}:{line}:{column}"),
        code: fault.code,
        what: format!("{}{more}", fault.message),
        help: fault.help.clone(),
    }
}

/// The note of a simulated History that tells what was set for its scheduler.
pub(crate) const TUNABLES: &str = "tunables";

/// `history`, with a note of what is set for its scheduler. The scheduler notes its own name.
pub(crate) fn noted(mut history: History, choice: &Choice) -> History {
    if let Some((_, set)) = typed(choice).split_once(',') {
        history.head.source.notes.push((TUNABLES.to_owned(), set.to_owned()));
    }
    history
}

/// A choice as it is typed: its name, and what is set otherwise than by default.
pub(crate) fn typed(choice: &Choice) -> String {
    let kind = Scheduler::named(&choice.name);
    let is_default = |name: &str, value: &str| {
        kind.and_then(|kind| kind.tunable(name)).is_some_and(|it| it.default == value)
    };
    let set = choice.tunables.iter().filter(|(name, value)| !is_default(name, value));
    choice.name.clone() + &set.map(|(name, value)| format!(",{name}={value}")).collect::<String>()
}

/// The label of a choice: the scheduler and what is set otherwise than by default, as in
/// `osv thyst=5ms`, and for policies `ws slice=5ms`. A file of several policies is called as it is.
pub fn label(choice: &Choice) -> String {
    if choice.text.is_some() {
        let name = policy(choice).map_or_else(|_| choice.name.clone(), |policy| policy.name());
        return match pace(choice) {
            Ok(Some(pace)) => format!("{name} {pace}"),
            _ => name,
        };
    }
    let kind = Scheduler::named(&choice.name);
    let label = kind.and_then(|kind| Some(Settings::of(kind, &choice.tunables).ok()?.label(kind)));
    label.unwrap_or_else(|| choice.name.clone())
}

#[cfg(test)]
mod tests {
    use wastenot_model::Span;
    use wastenot_model::workload::{Program, Quota, Template};

    use super::*;

    #[test]
    fn the_scheduler_of_a_real_kernel_looks_at_groups() {
        let mut workload = Workload::new();
        let quota = Some(Quota { runtime: Span::ms(10), period: Span::ms(100) });
        let group = workload.group(Group { parent: Some(GroupId(0)), quota, ..Group::root() });
        let task = Template::new("task", Program::new(Vec::new()).expect("nested"));
        workload.template(Template { group, ..task });
        assert_eq!(unread(&Choice::named("linux 7.2.13"), &workload), None);
        assert!(unread(&Choice::named("global-fifo"), &workload).is_some());
    }
}
