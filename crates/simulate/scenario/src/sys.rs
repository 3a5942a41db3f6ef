//! The contents of `/sys/devices/system/{cpu,node}`, from this machine or from a snapshot.

use std::collections::{BTreeMap, BTreeSet};

use wastenot_model::{CpuId, CpuSet, Machine};

use crate::draft::{DistanceRows, Draft, Place};
use crate::{Error, NODE_LIMIT};

/// The command that prints a snapshot of `/sys` as lines `path:value`.
pub const COMMAND: &str = "grep -rs . /sys/devices/system/cpu /sys/devices/system/node";

const CPU: &str = "/sys/devices/system/cpu";
const NODE: &str = "/sys/devices/system/node";

/// The maximum number of caches of a CPU: Linux knows four levels, the first two of them split.
const CACHES: usize = 8;

/// The machine that `/sys` describes (Linux: Documentation/ABI/testing/sysfs-devices-system-cpu and
/// stable/sysfs-devices-node). `read` returns the content of the file at a path, or `None` if there
/// is no such file.
///
/// For an offline CPU, only its number is known. A CPU that may be plugged in later does not count.
pub fn from_sys(read: impl Fn(&str) -> Option<String>) -> Result<Machine, Error> {
    describe("/sys", read)
}

/// Reads a snapshot as [`COMMAND`] prints it. If a file has several lines, the first one counts.
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
    describe(file, |path| {
        let named = values.get(path).map(|value| value.to_string());
        named.or_else(|| match path.rsplit_once('/') {
            Some((CPU, "online")) => cpus.clone(),
            Some((NODE, "online")) => nodes.clone(),
            _ => None,
        })
    })
}

fn describe(file: &str, read: impl Fn(&str) -> Option<String>) -> Result<Machine, Error> {
    let source = Source { file, read };
    let online = source.list(&format!("{CPU}/online"))?;
    let present = source.list(&format!("{CPU}/present"))?.or_else(|| online.clone());
    let present = present
        .filter(|cpus| !cpus.is_empty())
        .ok_or_else(|| Error::Unrecognised { file: file.into() })?;
    let isolated = source.list(&format!("{CPU}/isolated"))?.unwrap_or_default();
    let (node_of, rows) = source.nodes()?;
    let mut draft = Draft::new(file);
    for cpu in present.iter() {
        let place = Place {
            core: source.siblings(cpu.index(), &["core_cpus_list", "thread_siblings_list"]),
            llc: source.last_cache(cpu.index()),
            package: source.package(cpu.index()),
            node: node_of[cpu.index()],
            capacity: source.capacity(cpu.index()),
            online: online.as_ref().is_none_or(|online| online.contains(cpu)),
            isolated: isolated.contains(cpu),
        };
        draft.place(cpu.index(), place)?;
    }
    Ok(draft.finish(&rows))
}

/// Files, by path.
struct Source<'f, F> {
    file: &'f str,
    read: F,
}

impl<F: Fn(&str) -> Option<String>> Source<'_, F> {
    /// The value of a file, without the newline.
    fn value(&self, path: &str) -> Option<String> {
        let value = (self.read)(path)?.trim().to_string();
        (!value.is_empty()).then_some(value)
    }

    /// A list of numbers like `0-3,8`. An empty file is an empty list.
    fn list(&self, path: &str) -> Result<Option<CpuSet>, Error> {
        let Some(text) = (self.read)(path) else { return Ok(None) };
        let list = CpuSet::parse(&text).ok_or_else(|| {
            let shown: String = text.trim().chars().take(40).collect();
            let why = format!("{path}: `{shown}` is not a valid list of CPUs");
            Error::Broken { file: self.file.into(), form: "/sys", line: None, why }
        })?;
        Ok(Some(list))
    }

    /// The node of each CPU, and the distances. The columns of a row are the online nodes.
    fn nodes(&self) -> Result<(Vec<Option<usize>>, DistanceRows), Error> {
        let online = self.list(&format!("{NODE}/online"))?.unwrap_or_default();
        if online.len() > NODE_LIMIT {
            return Err(Error::TooLarge { what: self.file.into(), unit: "nodes" });
        }
        let (mut node_of, mut rows) = (vec![None; CpuId::LIMIT], DistanceRows::new());
        for node in online.iter().map(|node| node.index()) {
            let cpus = self.list(&format!("{NODE}/node{node}/cpulist"))?.unwrap_or_default();
            cpus.iter().for_each(|cpu| node_of[cpu.index()] = Some(node));
            let distances = self.value(&format!("{NODE}/node{node}/distance")).unwrap_or_default();
            let row: Option<Vec<u32>> =
                distances.split_whitespace().map(|distance| distance.parse().ok()).collect();
            if let Some(row) = row.filter(|row| row.len() == online.len()) {
                rows.insert(node, online.iter().map(|to| to.index()).zip(row).collect());
            }
        }
        Ok((node_of, rows))
    }

    /// The list of CPUs with which `cpu` shares a resource, as text: equal lists are equal texts.
    /// Uses the first of `names` that exists; older names come last.
    fn siblings(&self, cpu: usize, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.value(&format!("{CPU}/cpu{cpu}/topology/{name}")))
    }

    fn package(&self, cpu: usize) -> Option<String> {
        self.siblings(cpu, &["package_cpus_list", "core_siblings_list"]).or_else(|| {
            // Minus one if the firmware does not give it.
            let id = self.value(&format!("{CPU}/cpu{cpu}/topology/physical_package_id"))?;
            (!id.starts_with('-')).then_some(id)
        })
    }

    /// The level and the CPUs of the highest-level cache that holds data.
    fn last_cache(&self, cpu: usize) -> Option<String> {
        let caches = (0..CACHES).filter_map(|index| {
            let value = |name| self.value(&format!("{CPU}/cpu{cpu}/cache/index{index}/{name}"));
            let level: u32 = value("level")?.parse().ok()?;
            let data = value("type").is_none_or(|kind| kind != "Instruction");
            data.then(|| (level, value("shared_cpu_list").or_else(|| value("shared_cpu_map"))))
        });
        let (level, cpus) = caches.max_by_key(|(level, _)| *level)?;
        Some(format!("{level} {}", cpus?))
    }

    fn capacity(&self, cpu: usize) -> u16 {
        let full = Machine::unknown_cpu().capacity;
        let capacity = self.value(&format!("{CPU}/cpu{cpu}/cpu_capacity"));
        capacity.and_then(|capacity| capacity.parse().ok()).map_or(full, |own: u16| own.min(full))
    }
}
