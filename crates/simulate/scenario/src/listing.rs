//! The names that scenarios may use, as Reports.

use wastenot_model::{Report, Table};

use crate::{CATALOGUE, presets};

/// Every preset of a machine.
pub fn machines() -> Report {
    let mut report = Report::new("list.machines/1", "Machines");
    report.verdict = "Give one of these names to `--machine`, or to the key `machine` of a \
                      scenario. Arguments in brackets are whole numbers. For any other machine, \
                      give an hwloc description such as 'pack:2 core:4 pu:2', or the path of a \
                      file (hwloc XML, output of `lscpu -p`), or /sys."
        .into();
    let columns = [("name", "name"), ("about", "what it is"), ("source", "")];
    let mut all = Table::listing("machines", "Machines", &columns);
    for preset in presets() {
        all.push(vec![preset.usage().into(), preset.about.into(), preset.source.into()]);
    }
    report.tables = vec![all];
    report
}

/// Every workload of the catalogue, with its arguments.
pub fn workloads() -> Report {
    let mut report = Report::new("list.workloads/1", "Workloads");
    report.verdict = "To use one of these workloads in a scenario, write its name into the key \
                      `use` of a table [[tasks]]. The arguments of the workload are further keys \
                      of the same table (docs/reference/scenario.md)."
        .into();
    let columns =
        [("name", "name"), ("family", ""), ("about", "what the tasks do"), ("source", "")];
    let mut all = Table::listing("workloads", "Workloads", &columns);
    let columns = [
        ("workload", "workload"),
        ("argument", "argument"),
        ("default", "default"),
        ("about", "meaning"),
    ];
    let mut arguments = Table::listing("arguments", "Arguments", &columns);
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
