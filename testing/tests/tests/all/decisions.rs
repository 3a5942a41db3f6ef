//! Decisions that a real kernel took, as `record --decisions` recorded them, agree with the events
//! beside them.
//!
//! `recordings/6.12-mix-decisions.wn` is of Debian's 6.12.117+deb13-cloud-amd64 with 8 CPUs in two
//! nodes of four under QEMU 10.0.2 (`-icount shift=1,sleep=off`): 14 threads that compute for 0.2
//! to 3.2 ms; two of three then sleep for 0.1 to 2.1 ms; two are pinned to CPU 0.
//!
//! `recordings/7.2-hotplug-domains.wn` is of Debian's 7.2.13+deb14-cloud-amd64 with `isolcpus=6`,
//! and 8 CPUs in two nodes of two cores of two threads: CPU 3 goes off, and comes back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use wastenot_model::{CpuId, CpuSet, Decision, Event, History, TaskId, Time, decisions};

fn recording() -> History {
    read("6.12-mix-decisions.wn")
}

pub(crate) fn read(name: &str) -> History {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings").join(name);
    let bytes = std::fs::read(path).expect("a recording");
    wastenot_read::read(&bytes, &wastenot_read::Options::default()).expect("it reads")
}

fn of_kind<'h>(history: &'h History, what: &'static str) -> Vec<Decision<'h>> {
    let all = history.decisions().expect("decisions");
    all.filter(|it| it.what == what).collect()
}

#[test]
fn a_woken_task_is_queued_on_the_cpu_that_was_selected_for_it() {
    let history = recording();
    let rows = of_kind(&history, Decision::WAKEUP);
    let mut told = 0;
    for row in &rows {
        let of_task = |event: &Event| match *event {
            Event::Waking { task, prev: Some(prev), .. } if Some(task) == row.task => Some(prev),
            _ => None,
        };
        let before = history.entries().filter(|it| it.time <= row.time && it.cpu == row.cpu);
        let prev = before.filter_map(|it| of_task(&it.event)).last().expect("its waking");
        let queued =
            history.entries().filter(|it| it.time >= row.time).find_map(|it| match it.event {
                Event::Queued { task, on: Some(on), .. } if Some(task) == row.task => Some(on),
                _ => None,
            });
        let Some(on) = queued else { continue }; // the recording ends between the two
        told += 1;
        let sync = row.outcome.ends_with("sync");
        // Workqueues choose where the search for one of their threads begins (`wake_cpu`).
        let name = row.task.map(|task| history.task_name(task)).unwrap_or_default();
        if name.starts_with("kworker/") {
            assert!(row.outcome.contains(&format!("to {on}")), "{row:?}");
        } else {
            assert_eq!(row.outcome, decisions::selected(prev, on, sync), "{row:?}");
        }
        // Idle or not, the selected CPU was looked at.
        assert!(row.considered.contains(on), "{row:?}");
    }
    assert!(told > 100 && told + 2 > rows.len(), "{told} of {}", rows.len());
}

#[test]
fn passes_moved_the_tasks_that_were_pulled_while_they_waited() {
    let history = recording();
    let mut moved = BTreeMap::<CpuId, u32>::new();
    for row in history.decisions().expect("decisions").filter(Decision::is_pass) {
        if let Some(count) = row.outcome.strip_prefix("moved ") {
            *moved.entry(row.cpu).or_default() += count.parse::<u32>().expect("a number");
        }
    }
    let (mut waking, mut pulled) = (BTreeSet::<TaskId>::new(), BTreeMap::<CpuId, u32>::new());
    // Threads that move tasks away from CPUs that these may not use any more.
    let is_stopper = |by: TaskId| history.task_name(by).starts_with("migration/");
    for entry in history.entries() {
        let by = entry.by.task.unwrap_or(TaskId::idle(entry.cpu));
        match entry.event {
            Event::Waking { task, .. } | Event::Fork { child: task, .. } => _ = waking.insert(task),
            Event::Queued { task, .. } => _ = waking.remove(&task),
            Event::Migrate { task, to, .. } if !waking.contains(&task) && !is_stopper(by) => {
                *pulled.entry(to).or_default() += 1;
            }
            _ => {}
        }
    }
    assert!(moved.values().sum::<u32>() > 20, "{moved:?}");
    assert_eq!(moved, pulled);
}

#[test]
fn passes_are_over_the_domains_of_their_machine() {
    let history = recording();
    let set = |list: &str| CpuSet::parse(list).expect("a list");
    let one = |cpu| [cpu].into_iter().collect::<CpuSet>();
    let nodes = [set("0-3"), set("4-7")];
    for row in history.decisions().expect("decisions").filter(Decision::is_pass) {
        let node = nodes.iter().find(|node| node.contains(row.cpu)).expect("one of eight");
        let (within, all) = ((node.clone(), one(row.cpu)), (set("0-7"), node.clone()));
        let domain = (row.considered.clone(), row.local.clone());
        assert!(domain == within || domain == all, "{row:?}");
    }
}

#[test]
fn each_cpu_has_its_domains_at_the_start_and_whenever_they_are_rebuilt() {
    let history = read("7.2-hotplug-domains.wn");
    // What `cpu` has, each time it has others: spans and local groups, narrowest first.
    let chains = |cpu: u16| {
        let mut chains: Vec<(Time, Vec<String>)> = Vec::new();
        for row in of_kind(&history, Decision::DOMAIN).iter().filter(|it| it.cpu == CpuId(cpu)) {
            if chains.last().is_none_or(|(time, _)| *time != row.time) {
                chains.push((row.time, Vec::new()));
            }
            let domain = format!("{} of {}", row.local, row.considered);
            chains.last_mut().expect("one").1.push(domain);
        }
        chains.into_iter().map(|(_, chain)| chain).collect::<Vec<_>>()
    };
    // As the kernel printed them with `sched_verbose`.
    let all = vec!["0 of 0-1", "0-1 of 0-3", "0-3 of 0-5,7"];
    let without_3 = vec!["0 of 0-1", "0-1 of 0-2", "0-2 of 0-2,4-5,7"];
    let alone = vec!["0 of 0"];
    assert_eq!(chains(0), [all.clone(), alone.clone(), without_3, alone, all]);
    let all = vec!["3 of 2-3", "2-3 of 0-3", "0-3 of 0-5,7"];
    assert_eq!(chains(3), [all.clone(), vec!["3 of 3"], all]);
    assert_eq!(chains(6), [["6 of 6"]], "it is isolated");
    // Every pass is over a domain that its CPU has.
    let mut has: BTreeMap<CpuId, (Time, Vec<Decision>)> = BTreeMap::new();
    let mut passes = 0;
    for row in history.decisions().expect("decisions") {
        if row.what == Decision::DOMAIN {
            let (time, domains) = has.entry(row.cpu).or_default();
            if *time != row.time {
                (*time, *domains) = (row.time, Vec::new());
            }
            domains.push(row);
        } else if row.is_pass() {
            // In the first instants the CPUs tell their domains one after the other.
            let Some((_, domains)) = has.get(&row.cpu) else { continue };
            let is_it =
                |it: &Decision| (&it.considered, &it.local) == (&row.considered, &row.local);
            assert!(domains.iter().any(is_it), "{row:?}: {domains:?}");
            passes += 1;
        }
    }
    assert!(passes > 100, "{passes}");
}
