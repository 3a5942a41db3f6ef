//! A snapshot of `/sys/devices/system/{cpu,node}` in a file.

use std::collections::{BTreeMap, BTreeSet};

use wastenot_model::Machine;
use wastenot_model::machine::draft::Undescribed;
use wastenot_model::machine::from_sys;

use crate::Error;

const CPU: &str = "/sys/devices/system/cpu";
const NODE: &str = "/sys/devices/system/node";

/// Reads a snapshot as [`SYS_COMMAND`](crate::SYS_COMMAND) prints it. If a file has several lines,
/// the first one counts.
pub(crate) fn read(file: &str, text: &str) -> Result<Machine, Error> {
    let mut values: BTreeMap<&str, &str> = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("/sys/devices/system/")) {
        if let Some((path, value)) = line.trim_end().split_once(':') {
            values.entry(path).or_insert(value);
        }
    }
    // A snapshot of a few folders may lack the lists; its paths then give the CPUs and nodes. An
    // offline CPU has a folder too, but no topology in it.
    let listed = |prefix: &str, folder: &str| {
        let names = values.keys().filter_map(|path| path.strip_prefix(prefix)?.split_once('/'));
        let names = names.filter(|(_, rest)| rest.starts_with(folder));
        let numbers: BTreeSet<u32> = names.filter_map(|(name, _)| name.parse().ok()).collect();
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        (!numbers.is_empty()).then(|| numbers.join(","))
    };
    let cpus = listed(&format!("{CPU}/cpu"), "topology/");
    let nodes = listed(&format!("{NODE}/node"), "");
    from_sys(|path| {
        let named = values.get(path).map(|value| value.to_string());
        named.or_else(|| match path.rsplit_once('/') {
            Some((CPU, "online")) => cpus.clone(),
            Some((NODE, "online")) => nodes.clone(),
            _ => None,
        })
    })
    .map_err(|error| match error {
        Undescribed::TooLarge(error) => Error::too_large(file)(error),
        Undescribed::NoCpus => Error::Unrecognised { file: file.into() },
        list @ Undescribed::List { .. } => {
            Error::Broken { file: file.into(), form: "/sys", line: None, why: list.to_string() }
        }
    })
}
