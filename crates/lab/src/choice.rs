//! Schedulers as chosen: made, checked where a scenario names them, and put in words.

use wastenot_model::Policy;
use wastenot_model::workload::{Group, GroupId, Workload};
use wastenot_scenario::scenario::{Choice, Scenario, Unfit};
use wastenot_scenario::scenario_for;
use wastenot_sim::{Scheduler, Settings, WrongSetting, scheduler};

use crate::Error;

/// Reads a scenario of built-in schedulers. `file` is the name of its file.
pub fn scenario(file: &str, text: &str) -> Result<Scenario, wastenot_scenario::Error> {
    let unfit = |wrong: WrongSetting| Unfit {
        switch: wrong.switch().map(str::to_owned),
        what: wrong.to_string(),
        help: wrong.help().to_owned(),
    };
    let fits = |choice: &Choice| scheduler(&choice.name, &choice.switches).map(drop);
    scenario_for(file, text, &|choice| fits(choice).map_err(unfit))
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
    let reads = Scheduler::named(&choice.name).is_some_and(|kind| kind.groups);
    (told && used && !reads).then(|| {
        format!("{} does not look at groups: neither at shares nor at quotas", choice.name)
    })
}

/// The scheduler of a choice; a fresh one for each run.
pub(crate) fn policy(choice: &Choice) -> Result<Box<dyn Policy>, Error> {
    scheduler(&choice.name, &choice.switches).map_err(Error::Scheduler)
}

/// The label of a choice: the scheduler and what is set otherwise than by default, as in
/// `osv thyst=5ms`.
pub(crate) fn label(choice: &Choice) -> String {
    let kind = Scheduler::named(&choice.name);
    let label = kind.and_then(|kind| Some(Settings::of(kind, &choice.switches).ok()?.label(kind)));
    label.unwrap_or_else(|| choice.name.clone())
}
