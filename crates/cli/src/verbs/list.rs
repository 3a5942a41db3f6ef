//! `wastenot list`: lists the names that options and scenarios accept.

use wastenot_model::machine::Profile;
use wastenot_model::{Report, Table};
use wastenot_scenario::listing;
use wastenot_sim::{REAL_TIME, SCHEDULERS, Values};

use crate::args::list::{List, What};
use crate::fail::{Answer, Stop};

/// Lists one kind of names.
pub(crate) fn run(args: &List) -> Result<Answer, Stop> {
    let report = match args.what {
        What::Schedulers => schedulers(),
        What::Machines => listing::machines(),
        What::Workloads => listing::workloads(),
        What::Claims => wastenot_rota::claims(),
        What::Causes => wastenot_check::causes::listing(),
    };
    args.face.print(&report)?;
    Ok(Answer::Yes)
}

fn schedulers() -> Report {
    let mut report = Report::new("list.schedulers/1", "Schedulers");
    report.verdict = "Set tunables in the [scheduler] table of a scenario, or with `--scheduler \
                      NAME,TUNABLE=VALUE`. Instead of NAME, you can give the file of a policy in \
                      Rota (`x.rota`); the parameters of the policy are its tunables. The column \
                      `groups` shows whether the scheduler uses sessions and cgroups. Such a \
                      scheduler also uses the shares and quotas of cgroups."
        .into();
    let columns =
        [("name", "name"), ("about", "description"), ("groups", "groups"), ("source", "")];
    let mut all = Table::listing("schedulers", "Schedulers", &columns);
    let columns = [
        ("scheduler", "scheduler"),
        ("tunable", "tunable"),
        ("default", "default"),
        ("values", "values"),
        ("about", ""),
    ];
    let mut tunables = Table::listing("tunables", "Tunables", &columns);
    for scheduler in SCHEDULERS.iter().chain(REAL_TIME) {
        let name = scheduler.name;
        let (groups, source) = (scheduler.groups.into(), scheduler.source.into());
        all.push(vec![name.into(), scheduler.about.into(), groups, source]);
        for tunable in scheduler.tunables {
            let values = match tunable.values {
                Values::Words(words) => words.join("|"),
                Values::Span => "time".into(),
                Values::Count => "whole number".into(),
                Values::Profile => Profile::NAMED.map(|(name, _)| name).join("|") + "|profile file",
            };
            let (key, default) = (tunable.name.into(), tunable.default.into());
            tunables.push(vec![name.into(), key, default, values.into(), tunable.about.into()]);
        }
    }
    report.tables = vec![all, tunables];
    report
}
