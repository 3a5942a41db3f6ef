//! The tasks that are assumed to be pinned if the source has no affinities.

use std::collections::{BTreeMap, BTreeSet};

use wastenot_model::{Carries, CpuId, CpuSet, Event, History, Seen, TaskId};

/// Kernel threads named after one CPU that were seen on no other, and interrupt threads that were
/// seen on one CPU only. Seen means running there, or queued there.
pub(super) fn assumed(history: &History) -> BTreeSet<TaskId> {
    if history.head.carries.has(Carries::AFFINITY) {
        return BTreeSet::new();
    }
    let seen = seen(history);
    let nowhere = BTreeSet::new();
    let pinned = |task: &TaskId| {
        let name = history.task_name(*task);
        let seen = seen.get(task).unwrap_or(&nowhere);
        let on = if seen.len() == 1 { seen.first() } else { None };
        on.is_some_and(|&on| name.starts_with("irq/") || named_after(&name) == Some(on))
    };
    history.tasks().map(|(task, _)| task).filter(pinned).collect()
}

/// Whether a task serves one CPU or interrupt, if the source has affinities: a kernel thread named
/// after the one CPU where it may run, or a thread of an interrupt.
pub(super) fn serves(name: &str, mask: Option<&CpuSet>) -> bool {
    let only = |cpu| mask.is_some_and(|mask| mask.iter().eq([cpu]));
    name.starts_with("irq/") || named_after(name).is_some_and(only)
}

fn seen(history: &History) -> BTreeMap<TaskId, BTreeSet<CpuId>> {
    let mut seen: BTreeMap<TaskId, BTreeSet<CpuId>> = BTreeMap::new();
    for past in history.past() {
        let cpus = match past.seen {
            Seen::Nowhere => BTreeSet::new(),
            Seen::On(cpu) => BTreeSet::from([cpu]),
            // Any two.
            Seen::Several => BTreeSet::from([CpuId(0), CpuId(1)]),
        };
        seen.insert(past.task, cpus);
    }
    let mut see = |task: TaskId, cpu: CpuId| seen.entry(task).or_default().insert(cpu);
    for entry in history.entries() {
        match entry.event {
            Event::Switch { cpu, prev, next, .. } => {
                see(prev, cpu);
                see(next, cpu);
            }
            Event::Queued { task, on: Some(cpu), .. } | Event::Migrate { task, to: cpu, .. } => {
                see(task, cpu);
            }
            _ => {}
        }
    }
    seen
}

/// N of a name that ends in `/N` or `/N:...`, as in `ksoftirqd/3` and `kworker/3:1H`.
fn named_after(name: &str) -> Option<CpuId> {
    let (_, last) = name.rsplit_once('/')?;
    let number = last.split(':').next().unwrap_or("");
    let decimal = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    decimal.then(|| number.parse().ok().map(CpuId))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_cpu_ends_a_name_or_its_first_part() {
        assert_eq!(named_after("ksoftirqd/3"), Some(CpuId(3)));
        assert_eq!(named_after("kworker/12:1H-x"), Some(CpuId(12)));
        for free in ["kworker/u8:2", "migration", "x/", "x/+3", "x/3a", "x/99999"] {
            assert_eq!(named_after(free), None, "{free}");
        }
    }
}
