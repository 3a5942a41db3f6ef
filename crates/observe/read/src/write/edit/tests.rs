use wastenot_model::*;

use super::{scrub, window};
use crate::write::sample::{anything, plausible};

#[test]
fn a_cut_of_everything_is_everything() {
    let history = plausible(4, 800);
    let mut part = history.window();
    part.to = Time(part.to.0 + 1);
    let mut longer = history.clone();
    longer.head.window = part;
    history.same(&window(&longer, part)).expect("the same");
}

#[test]
fn a_part_up_to_the_end_holds_what_happens_in_the_last_instant() {
    let mut sink = Builder::new(Head::new(Machine::flat(1)));
    let name = sink.name("a");
    let (task, idle) = (sink.task(Task::new(7, name)), TaskId::idle(CpuId(0)));
    sink.push(Entry::switch(Time(10), CpuId(0), idle, task, Left::Runnable));
    sink.push(Entry::switch(Time(50), CpuId(0), task, idle, Left::Dead));
    let history = sink.finish();
    let times = |from, to| {
        let part = window(&history, Window { from: Time(from), to: Time(to) });
        assert_eq!(part.window(), Window { from: Time(from), to: Time(to.min(50)) });
        part.entries().map(|entry| entry.time.0).collect::<Vec<_>>()
    };
    assert_eq!(times(10, 50), [10, 50], "all of it");
    assert_eq!(times(30, 50), [50]);
    assert_eq!(times(30, 90), [50], "it ends where the recording does");
    assert_eq!(times(10, 49), [10], "a part that ends before is half-open");
    let part = window(&history, Window { from: Time(30), to: Time(50) });
    assert_eq!(times(30, 50).len(), window(&part, part.window()).len(), "a part of a part");
}

#[test]
fn a_cut_holds_only_the_tasks_that_it_needs() {
    let history = anything(7, 2000);
    let Window { from, .. } = history.window();
    let part = Window { from, to: Time(from.0 + 1) };
    assert!(window(&history, part).task_count() < history.task_count());
}

#[test]
fn scrubbing_keeps_everything_but_names() {
    let history = plausible(2, 800);
    let scrubbed = scrub(&history, None);
    let mut nameless = scrubbed.clone();
    nameless.head.carries = nameless.head.carries.without(Carries::NAMES);
    history.same(&nameless).expect("the same but for names");
    assert!(scrubbed.names().all(|name| name.starts_with("t-")), "{:?}", names(&scrubbed));
    assert_eq!(scrubbed.head.source.kernel.as_deref(), Some("6.12.1"));
    assert_eq!(scrubbed.head.machine.name, "");
    let kinds = |history: &History| -> Vec<_> {
        history.losses().iter().map(|loss| (loss.kind, loss.cpu, loss.time, loss.count)).collect()
    };
    assert_eq!(kinds(&scrubbed), kinds(&history));
    let is_scrubbed = |loss: &Loss| loss.note.contains("left out");
    assert!(!history.losses().is_empty() && scrubbed.losses().iter().all(is_scrubbed));
    assert_eq!(scrubbed.window(), history.window());
}

#[test]
fn names_that_decide_where_a_task_may_run_stay() {
    let names_after = |salt| {
        let mut sink = Builder::new(Head::new(Machine::flat(1)));
        let kept = ["kworker/3:1H-kblockd", "migration/0", "kswapd0", "irq/24-nvme", "<...>"];
        let lost = ["secret", "worker/7", "secret/3:plan", "kworkers", "kswapdx"];
        for name in kept.iter().chain(&lost) {
            let name = sink.name(name);
            sink.task(Task::new(1, name));
        }
        let scrubbed = scrub(&sink.finish(), salt);
        let names = names(&scrubbed);
        assert_eq!(names[..5], kept);
        assert!(names[6].ends_with("/7") && names[7].ends_with("/3"), "{names:?}");
        assert!(lost.iter().all(|&lost| !names.iter().any(|name| name.contains(lost))));
        assert!(names.iter().all(|name| name.len() <= 20));
        // The same stem has the same pseudonym whatever its CPU.
        assert_eq!(names[7].trim_end_matches("/3"), names[5]);
        names
    };
    assert_eq!(names_after(None)[5], "t-1");
    assert_eq!(names_after(Some("salt")), names_after(Some("salt")));
    assert_ne!(names_after(Some("salt")), names_after(Some("pepper")));
}

#[test]
fn no_text_of_the_original_is_left_in_the_written_file() {
    let scrubbed = scrub(&anything(1, 400), Some("salt"));
    let mut bytes = Vec::new();
    crate::write::jsonl(&scrubbed, &mut bytes).expect("memory");
    let head = format!("{:?} {:?}", scrubbed.head, scrubbed.annexes);
    let text = String::from_utf8(bytes).expect("JSON is UTF-8") + &head;
    for secret in ["name 1", "host", "\"key\"", "\"x\"", "nodes\\\""] {
        assert!(!text.contains(secret), "{secret}");
    }
}

fn names(history: &History) -> Vec<String> {
    history.names().map(str::to_owned).collect()
}

#[test]
fn a_part_has_the_stretches_of_annexes_that_reach_into_it() {
    let mut history = plausible(4, 800);
    let whole = history.window();
    let columns = ["time_ns", "span_ns"].map(|key| Column::for_programs(key, Unit::Ns));
    let mut table = Table::new("interrupts", "", columns);
    let (from, to) = (whole.from.0, whole.to.0);
    let middle = from + (to - from) / 2;
    for until in [from + 1, middle + 1, middle + 2, to] {
        table.push(vec![until.into(), 1u64.into()]);
    }
    let instants = Table::new("steal", "", [Column::for_programs("time_ns", Unit::At)]);
    history.annexes = vec![Annex { table }, Annex { table: instants }];
    history.annexes[1].table.push(vec![from.into()]);
    let part = window(&history, Window { from: Time(middle + 1), to: whole.to });
    let ends: Vec<_> = part.annexes[0].table.rows.iter().map(|row| row[0].clone()).collect();
    assert_eq!(ends, [(middle + 2).into(), to.into()]);
    assert_eq!(part.annexes[1].table.rows.len(), 1, "what is no stretch stays");
    let first = window(&history, Window { from: whole.from, to: Time(middle + 1) });
    assert_eq!(first.annexes[0].table.rows.len(), 2);
}

#[test]
fn a_part_tells_of_a_cut_where_a_cpu_ends_in_it() {
    let mut sink = Builder::new(Head::new(Machine::flat(2)));
    let end = |time, cpu| Entry {
        time: Time(time),
        cpu: CpuId(cpu),
        by: By::UNKNOWN,
        event: Event::Lost { count: None },
    };
    sink.push_told(end(40, 0));
    sink.push_told(end(80, 1));
    sink.loss(Loss::new(LossKind::Cut, "the file is cut"));
    let history = sink.finish();
    let kinds = |from, to| {
        let part = window(&history, Window { from: Time(from), to: Time(to) });
        part.losses().iter().map(|loss| loss.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(40, 60), [LossKind::Cut]);
    assert_eq!(kinds(50, 70), []);
}

#[test]
fn a_part_knows_which_cgroup_its_tasks_are_in() {
    let mut sink = Builder::new(Head::new(Machine::flat(1)));
    let (name, first, second) = (sink.name("a"), sink.name("/first"), sink.name("/second"));
    let task = sink.task(Task::new(7, name));
    let idle = TaskId::idle(CpuId(0));
    let group = |time, group| {
        let event = Event::Changed { task, what: Change::Cgroup(group) };
        Entry { time: Time(time), cpu: CpuId(0), by: By::UNKNOWN, event }
    };
    for entry in [
        group(1, first),
        group(2, second),
        Entry::switch(Time(5), CpuId(0), idle, task, Left::Sleeping),
        Entry::switch(Time(20), CpuId(0), task, idle, Left::Sleeping),
    ] {
        sink.push(entry);
    }
    let cut = window(&sink.finish(), Window { from: Time(10), to: Time(15) });
    let told = cut.entries().filter_map(|entry| match entry.event {
        Event::Changed { what: Change::Cgroup(name), .. } => Some((entry.time, cut.name(name))),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [(Time(10), "/second")]);
}
