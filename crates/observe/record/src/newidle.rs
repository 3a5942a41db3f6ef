//! What the kernel believes newly-idle balancing to cost, by CPU and domain: where a CPU is idle
//! for less on average, it is left out (kernel/sched/fair.c, sched_balance_newidle).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use wastenot_model::{Annex, Table};

/// Where kernels show it: in debugfs since 5.13, before in /proc.
const ROOTS: [&str; 2] = ["/sys/kernel/debug/sched/domains", "/proc/sys/kernel/sched_domain"];

/// The costs at one moment, by CPU and level of the domain; with the domain's name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Newidle(BTreeMap<(u16, u16), (String, u64)>);

impl Newidle {
    /// As they are now; nothing if the kernel does not show them.
    pub(crate) fn now() -> Newidle {
        let all = ROOTS.iter().map(|root| Newidle::below(Path::new(root)));
        all.into_iter().find(|it| !it.0.is_empty()).unwrap_or_default()
    }

    fn below(root: &Path) -> Newidle {
        let mut all = BTreeMap::new();
        for (cpu, folder) in numbered(root, "cpu") {
            for (level, folder) in numbered(&root.join(folder), "domain") {
                let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
                let cost = read("max_newidle_lb_cost").and_then(|it| it.trim().parse().ok());
                let name = read("name").unwrap_or_default().trim().to_owned();
                all.extend(cost.map(|cost| ((cpu, level), (name, cost))));
            }
        }
        Newidle(all)
    }

    /// Both moments side by side; `None` if nothing is known.
    pub(crate) fn since(&self, before: &Newidle) -> Option<Annex> {
        let title = "Cost of newly-idle balancing";
        let table = Table::of("newidle", title, &self.0, |row, (key, (name, now))| {
            row.cell("cpu", "CPU", key.0)
                .cell("domain", "domain", key.1)
                .cell("name", "name", name.as_str())
                .ns("start_ns", "cost at the start", before.0.get(key).map(|(_, was)| *was))
                .ns("end_ns", "cost at the end", *now)
        });
        (!table.rows.is_empty()).then_some(Annex { table })
    }
}

/// The folders whose names are `prefix` and a number.
fn numbered(root: &Path, prefix: &str) -> Vec<(u16, std::path::PathBuf)> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| {
        let number = entry.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()?;
        Some((number, entry.path()))
    };
    entries.filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use wastenot_model::{Span, Value};

    use super::*;

    #[test]
    fn both_moments_of_each_domain_are_told() {
        let root = tempfile::tempdir().expect("a folder");
        let cost = |cpu: u32, cost: &str| {
            let folder = root.path().join(format!("cpu{cpu}/domain1"));
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("name"), "NUMA\n").expect("a file");
            fs::write(folder.join("max_newidle_lb_cost"), cost).expect("a file");
        };
        fs::create_dir_all(root.path().join("cpu0/domain0")).expect("a folder");
        cost(0, "1200\n");
        let before = Newidle::below(root.path());
        cost(0, "5000\n");
        cost(10, "7\n");
        let rows = Newidle::below(root.path()).since(&before).expect("a table").table.rows;
        let row = |cpu: u16, was: Value, now: u64| {
            vec![cpu.into(), 1u16.into(), Value::from("NUMA"), was, Span(now).into()]
        };
        assert_eq!(rows, [row(0, Span(1200).into(), 5000), row(10, Value::Unknown, 7)]);
        assert_eq!(Newidle::default().since(&before), None);
    }
}
