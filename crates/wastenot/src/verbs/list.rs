//! `wastenot list`: what can be named.

use wastenot_model::machine::Profile;
use wastenot_model::report::Unit;
use wastenot_model::{Column, Report, Table};
use wastenot_rota::syntax::vocabulary::CLAIMS;
use wastenot_scenario::{CATALOGUE, presets};
use wastenot_sim::{REAL_TIME, SCHEDULERS, Values};

use super::check::print;
use crate::args::list::{List, What};
use crate::fail::{Answer, Stop};

/// Lists one kind of names.
pub(crate) fn run(args: &List) -> Result<Answer, Stop> {
    let report = match args.what {
        What::Schedulers => schedulers(),
        What::Machines => machines(),
        What::Workloads => workloads(),
        What::Claims => claims(),
    };
    print(&report, &args.face)?;
    Ok(Answer::Yes)
}

/// A table that is shown whole. Of each column its name in JSON and its title; without a title it
/// is in JSON only.
fn table(name: &str, title: &str, columns: &[(&str, &str)]) -> Table {
    let columns = columns.iter().map(|&(name, title)| match title {
        "" => Column::for_programs(name, Unit::None),
        title => Column::new(name, title, Unit::None),
    });
    let mut table = Table::new(name, title, columns.collect::<Vec<_>>());
    table.shown = usize::MAX;
    table
}

fn schedulers() -> Report {
    let mut report = Report::new("list.schedulers/1", "Schedulers");
    report.verdict = "Set tunables in a scenario's [scheduler], or with \
                      `--scheduler NAME,TUNABLE=VALUE`. A policy in Rota (`x.rota`) can be named, \
                      too; its parameters are its tunables. Groups: whether the scheduler uses \
                      sessions and cgroups, their shares and quotas."
        .into();
    let columns = [("name", "name"), ("about", "what it is"), ("groups", "groups"), ("source", "")];
    let mut all = table("schedulers", "Schedulers", &columns);
    let columns = [
        ("scheduler", "scheduler"),
        ("tunable", "tunable"),
        ("default", "default"),
        ("values", "values"),
        ("about", ""),
    ];
    let mut tunables = table("tunables", "Tunables", &columns);
    for scheduler in SCHEDULERS.iter().chain(REAL_TIME) {
        let name = scheduler.name;
        let (groups, source) = (scheduler.groups.into(), scheduler.source.into());
        all.push(vec![name.into(), scheduler.about.into(), groups, source]);
        for tunable in scheduler.tunables {
            let values = match tunable.values {
                Values::Words(words) => words.join("|"),
                Values::Span => "time".into(),
                Values::Count => "whole number".into(),
                Values::Profile => {
                    Profile::NAMED.map(|(name, _)| name).join("|") + "|file of a profile"
                }
            };
            let (key, default) = (tunable.name.into(), tunable.default.into());
            tunables.push(vec![name.into(), key, default, values.into(), tunable.about.into()]);
        }
    }
    report.tables = vec![all, tunables];
    report
}

fn machines() -> Report {
    let mut report = Report::new("list.machines/1", "Machines");
    report.verdict = "Use a name with `--machine` or as `machine` in a scenario; arguments in \
                      brackets are whole numbers. Any other machine: an hwloc description such as \
                      'pack:2 core:4 pu:2', or a file (hwloc XML, `lscpu -p`, /sys)."
        .into();
    let columns = [("name", "name"), ("about", "what it is"), ("source", "")];
    let mut all = table("machines", "Machines", &columns);
    for preset in presets() {
        all.push(vec![preset.usage().into(), preset.about.into(), preset.source.into()]);
    }
    report.tables = vec![all];
    report
}

fn workloads() -> Report {
    let mut report = Report::new("list.workloads/1", "Workloads");
    report.verdict = "Use a name as `use = \"NAME\"` in [[tasks]] of a scenario; arguments are \
                      further keys there (docs/scenario.md)."
        .into();
    let columns =
        [("name", "name"), ("family", ""), ("about", "what its tasks do"), ("source", "")];
    let mut all = table("workloads", "Workloads", &columns);
    let columns = [
        ("workload", "workload"),
        ("argument", "argument"),
        ("default", "default"),
        ("about", "what it sets"),
    ];
    let mut arguments = table("arguments", "Arguments", &columns);
    for family in CATALOGUE {
        for function in family.functions {
            let (name, about) = (function.name, function.about);
            let row = vec![name.into(), family.about.into(), about.into(), function.source.into()];
            all.push(row);
            for argument in function.arguments {
                let (key, default) = (argument.name.into(), argument.default.into());
                arguments.push(vec![name.into(), key, default, argument.about.into()]);
            }
        }
    }
    report.tables = vec![all, arguments];
    report
}

fn claims() -> Report {
    let mut report = Report::new("list.claims/1", "Claims");
    report.verdict = "A policy declares its claims with `prove ...`; `wastenot prove FILE` checks \
                      them (docs/proofs.md)."
        .into();
    let columns = [("claim", "claim"), ("about", "what it means"), ("example", "")];
    let mut all = table("claims", "Claims", &columns);
    for claim in CLAIMS {
        all.push(vec![claim.form.into(), claim.about.into(), claim.example.into()]);
    }
    report.tables = vec![all];
    report
}
