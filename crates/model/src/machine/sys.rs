//! A machine from the content of `/sys/devices/system/{cpu,node}`.

use super::draft::{DistanceRows, Draft, Place, TooLarge, Undescribed};
use super::{Hops, Machine};
use crate::{CpuId, CpuSet};

const CPU: &str = "/sys/devices/system/cpu";
const NODE: &str = "/sys/devices/system/node";

/// The maximum number of caches of a CPU: Linux knows four levels, the first two of them split.
const CACHES: usize = 8;

/// The machine that `/sys` describes (Linux: Documentation/ABI/testing/sysfs-devices-system-cpu and
/// stable/sysfs-devices-node). `read` returns the content of the file at a path, or `None` if there
/// is no such file.
///
/// For an offline CPU, only its number is known. A CPU that may be plugged in later does not count.
///
/// # Errors
/// There is no list of CPUs, a list is broken, or the machine is too large.
pub fn from_sys(read: impl Fn(&str) -> Option<String>) -> Result<Machine, Undescribed> {
    let source = Source { read };
    let online = source.list(&format!("{CPU}/online"))?;
    let present = source.list(&format!("{CPU}/present"))?.or_else(|| online.clone());
    let present = present.filter(|cpus| !cpus.is_empty()).ok_or(Undescribed::NoCpus)?;
    let isolated = source.list(&format!("{CPU}/isolated"))?.unwrap_or_default();
    let (node_of, rows) = source.nodes()?;
    let mut draft = Draft::default();
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
struct Source<F> {
    read: F,
}

impl<F: Fn(&str) -> Option<String>> Source<F> {
    /// The value of a file, without the newline.
    fn value(&self, path: &str) -> Option<String> {
        let value = (self.read)(path)?.trim().to_string();
        (!value.is_empty()).then_some(value)
    }

    /// A list of numbers like `0-3,8`. An empty file is an empty list.
    fn list(&self, path: &str) -> Result<Option<CpuSet>, Undescribed> {
        let Some(text) = (self.read)(path) else { return Ok(None) };
        let list = CpuSet::parse(&text).ok_or_else(|| Undescribed::List {
            path: path.to_owned(),
            text: text.trim().chars().take(40).collect(),
        })?;
        Ok(Some(list))
    }

    /// The node of each CPU, and the distances. The columns of a row are the online nodes.
    fn nodes(&self) -> Result<(Vec<Option<usize>>, DistanceRows), Undescribed> {
        let online = self.list(&format!("{NODE}/online"))?.unwrap_or_default();
        if online.len() > Hops::NODE_LIMIT {
            return Err(TooLarge("nodes").into());
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
