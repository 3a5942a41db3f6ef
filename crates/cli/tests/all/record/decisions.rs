//! `record --decisions`, on kernels that allow it and on those that do not.

use wastenot_model::{CpuId, CpuSet, Decision};

use super::{machine, programs_left, read, soon};
use crate::shell::{Desk, said};

#[test]
fn decisions_are_recorded_or_it_is_said_what_the_kernel_refuses() {
    let test = "decisions_are_recorded_or_it_is_said_what_the_kernel_refuses";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    let (text, code) = said(&desk.bash(
        "wastenot record --decisions -o a.wn -- \
         sh -c 'for i in 1 2 3 4 5; do ls / >ls.txt; sleep 0.02; done'",
    ));
    if code == 125 {
        assert!(text.contains("cannot record decisions on this kernel: "), "{text}");
        assert!(text.contains("record without --decisions"), "{text}");
        assert!(!desk.path().join("a.wn").exists() && !desk.path().join("a.wn.part").exists());
        wastenot_needs::skipped(test, "only the refusal was tested", text.trim());
    } else {
        assert_eq!(code, 0, "{text}");
        let history = read(&desk.path().join("a.wn"));
        let rows: Vec<Decision> = history.decisions().expect("decisions").collect();
        let selects = |what, name: &str| {
            let is_named = |it: &Decision| it.task.is_some_and(|it| history.task_name(it) == name);
            rows.iter().any(|it| it.what == what && is_named(it))
        };
        assert!(selects(Decision::WAKEUP, "sleep"), "{rows:?}");
        assert!(selects(Decision::FORK, "ls"), "{rows:?}");
        assert!(rows.iter().any(Decision::is_pass), "{rows:?}");
        let spans = rows.iter().filter(|it| it.is_pass());
        assert!(spans.clone().all(|it| it.considered.contains(it.cpu)), "{rows:?}");
        assert!(spans.clone().all(|it| it.local.contains(it.cpu)), "{rows:?}");
        // Each CPU that is online has domains from the start on, each wider than the one before.
        for cpu in history.head.machine.online().iter() {
            let domains = rows.iter().filter(|it| it.what == Decision::DOMAIN && it.cpu == cpu);
            let first = domains.clone().next().map(|it| it.time);
            let domains: Vec<_> = domains.filter(|it| Some(it.time) == first).collect();
            assert!(!domains.is_empty(), "CPU {cpu} has no domains: {rows:?}");
            assert!(domains.iter().all(|it| it.considered.and(&it.local) == it.local), "{rows:?}");
            assert!(domains.iter().all(|it| it.local.contains(cpu)), "{rows:?}");
            let spans: Vec<&CpuSet> = domains.iter().map(|it| &it.considered).collect();
            assert!(spans.is_sorted_by(|a, b| a.len() < b.len() && a.and(b) == **a), "{spans:?}");
        }
        let cpus = history.cpu_count() as u16;
        assert!(spans.flat_map(|it| it.considered.iter()).all(|cpu| cpu < CpuId(cpus)), "{rows:?}");
    }
    assert!(soon(|| programs_left() == 0));
    desk.exits(2, "wastenot record --decisions --tracefs -- true");
}
