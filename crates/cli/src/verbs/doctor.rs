//! `wastenot doctor`: prints what this machine supports, how to get missing parts, and the command
//! lines for recording.

use std::fmt::Write;

use wastenot_host::recipe::{self, Recipe};
use wastenot_host::{Check, Host, State};
use wastenot_lab::kernels::Kernels;
use wastenot_model::{Column, Help, Report, Table, Unit, Value};
use wastenot_prove::solver::{Kind, Places};
use wastenot_record::{Error, Options, probe_bpf};

use super::lab;
use crate::args::doctor::Doctor;
use crate::fail::{Answer, Stop};
use crate::out;

/// Checks this machine.
pub(crate) fn run(args: &Doctor) -> Result<Answer, Stop> {
    let host = Host::this();
    let checks = checks(&host);
    let recipes = recipe::all(&host, &checks);
    match args.json {
        true => out::print_json(&report(&host, &checks, &recipes))?,
        false => out::print(&text(&host, &checks, &recipes))?,
    }
    Ok(Answer::Yes)
}

/// All checks, the required ones first. The BPF checks load programs, attach them if only this
/// shows that they work, and unload them.
fn checks(host: &Host) -> Vec<Check> {
    let tried = |name, works: &str, it: Result<(), Error>| match it {
        Ok(()) => Check::yes(name, works),
        Err(error) => Check::no(name, error.to_string(), error.help()),
    };
    let (plain, decisions) =
        (Options::default(), Options { decisions: true, ..Options::default() });
    let mut checks = vec![
        tried("BPF", "BPF programs can be loaded", probe_bpf(&plain)),
        tried("decisions", "BPF programs can trace functions", probe_bpf(&decisions)),
        tried("watch", "the BPF timer works", wastenot_record::watch::probe()),
    ];
    checks.extend(host.checks());
    checks.push(solvers());
    checks.push(guests());
    checks
}

/// The solvers that `prove` can use.
fn solvers() -> Check {
    const NAME: &str = "solvers";
    match Places::from_environment().solvers() {
        Ok(found) if found.is_empty() => {
            let seen = "no solver found: `prove` can only explore small machines";
            Check::no(NAME, seen, Kind::Z3.recipe())
        }
        Ok(found) => {
            let names: Vec<String> = found.iter().map(ToString::to_string).collect();
            Check::yes(NAME, names.join(", "))
        }
        Err(error) => Check::no(NAME, error.to_string(), error.help()),
    }
}

/// The check of QEMU, in which `run --on 7.2` boots kernels.
fn guests() -> Check {
    const NAME: &str = "guests";
    let version = lab::qemu().and_then(|qemu| qemu.version().map_err(Stop::from));
    match version {
        Ok(version) => {
            let kernels = Kernels::of_user().map_or(0, |it| it.cached().len());
            let mut seen = format!("QEMU {version}, {kernels} kernels in the cache");
            if !wastenot_lab::has_equal_turns(&version) {
                seen += "; without KVM, use QEMU 8.1 or later (docs/how-to/lab.md)";
            }
            Check::yes(NAME, seen)
        }
        Err(Stop::Failure { what, help, .. }) => Check::no(NAME, what, &help),
        Err(Stop::Pipe) => Check::no(NAME, "unknown", "try again"),
    }
}

fn verdict(recipes: &[Recipe]) -> String {
    match recipes.iter().find(|recipe| recipe.lacks.is_empty()) {
        Some(ready) => format!("This machine can be recorded with {}.", ready.tool),
        None => "No method can record this machine yet; see below what is missing.".to_owned(),
    }
}

fn report(host: &Host, checks: &[Check], recipes: &[Recipe]) -> Report {
    let mut report = Report::new("doctor/1", "Features of this machine");
    report.verdict = verdict(recipes);
    report.measure("machine.kernel", "Kernel", host.kernel(), Unit::None);
    report.measure("machine.cpus", "CPUs online", host.cpus().map(|cpus| cpus.len()), Unit::None);
    report.measure("machine.root", "Run as root", host.root, Unit::None);
    let columns = ["name", "state", "seen", "fix"].map(|name| Column::new(name, name, Unit::None));
    let mut table = Table::new("checks", "Checks", columns);
    for check in checks {
        let row = [check.name.into(), check.state.name().into(), check.seen.clone().into()];
        let mut row = Vec::from(row);
        row.push(check.fix.clone().into());
        table.push(row);
    }
    report.tables.push(table);
    let columns =
        ["tool", "ready", "lacks", "commands"].map(|name| Column::new(name, name, Unit::None));
    let mut table = Table::new("recipes", "Recording methods", columns);
    for recipe in recipes {
        let commands: Vec<Value> = recipe.lines.iter().map(|line| line.as_str().into()).collect();
        let lacks: Vec<Value> = recipe.lacks.iter().map(|&name| name.into()).collect();
        table.push(vec![
            recipe.tool.into(),
            recipe.lacks.is_empty().into(),
            Value::List(lacks),
            Value::List(commands),
        ]);
    }
    report.tables.push(table);
    report
}

/// The text for people. It is not the text form of the report, because users copy the commands, so
/// their lines must not be wrapped.
fn text(host: &Host, checks: &[Check], recipes: &[Recipe]) -> String {
    let mut text = String::new();
    let cpus = host.cpus().map_or_else(|| "?".to_owned(), |cpus| cpus.len().to_string());
    let who = if host.root { "root" } else { "not root" };
    let _ = writeln!(text, "Linux {}, {cpus} CPUs, {who}\n", host.kernel());
    for check in checks {
        let _ = writeln!(text, "  {:<8} {:<16} {}", check.state.name(), check.name, check.seen);
        if let (State::No, Some(fix)) = (check.state, &check.fix) {
            let _ = writeln!(text, "  {:<8} {:<16} -> {fix}", "", "");
        }
    }
    let _ = writeln!(text, "\n{}", verdict(recipes));
    for recipe in recipes {
        let state = match recipe.lacks.as_slice() {
            [] => "ready".to_owned(),
            lacks => format!("lacks {}", lacks.join(", ")),
        };
        let _ = writeln!(text, "\n{} ({state}): {}\n", recipe.tool, recipe.note);
        for line in &recipe.lines {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}
