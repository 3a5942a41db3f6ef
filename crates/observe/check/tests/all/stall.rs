//! Dumps of sched_ext: the stalled task, its CPU, and the CPUs that could have run it.

use wastenot_check::causes::LostTime;
use wastenot_check::stall::{Dump, Place, find, is_dump, parse};
use wastenot_check::{Options, check};
use wastenot_model::{Annex, Column, CpuId, CpuSet, History, Span, Table, Time, Unit, Value};

use crate::story::{full, story};

/// A dump of a machine of four CPUs, with the lines that kernel/sched/ext.c writes.
fn dump(cpus: &str, current: &str, class: &str) -> String {
    format!(
        "DEBUG DUMP
================================================================================

kworker/u8:1[40] triggered exit kind 1026:
  runnable task stall (worker 1[77] failed to run for 6.028s)

Backtrace:
  scx_watchdog_workfn+0x154/0x1e0

CPU states
----------

CPU 0   : nr_run=2 flags=0x1 cpu_rel=0 ops_qseq=2022 pnt_seq=8107
          curr={current} class={class}

 *R kworker/u8:1[40] +0ms
      scx_state/flags=3/0xd dsq_flags=0x0 ops_state/qseq=0/0
      sticky/holding_cpu=-1/-1 dsq_id=(n/a)
      dsq_vtime=0 slice=20000000 weight=100
      cpus=f

    scx_dump_state+0x5f8/0x700

  R worker 1[77] -6028ms
      scx_state/flags=3/0x9 dsq_flags=0x0 ops_state/qseq=2/34
      sticky/holding_cpu=-1/-1 dsq_id=(n/a) dsq_vtime=5190387810 slice=41281 weight=100
      cpus={cpus} no_mig=0

    do_nanosleep+0x67/0x190

================================================================================
"
    )
}

#[test]
fn a_dump_is_read_line_by_line() {
    let text = dump("f", "kworker/u8:1[40]", "ext_sched_class");
    assert!(is_dump(&text) && !is_dump("CPU 0: nothing"));
    let dump = parse(&text);
    assert_eq!((dump.kind, dump.truncated, dump.cpus.len()), (Some(1026), false, 1));
    let (stalled, waited) = dump.stalled.as_ref().expect("a stall");
    assert_eq!((&*stalled.name, stalled.tid, *waited), ("worker 1", 77, Span::ms(6028)));
    let cpu = &dump.cpus[0];
    assert_eq!((cpu.cpu, &*cpu.class, cpu.current.tid), (CpuId(0), "ext_sched_class", 40));
    let [running, waiting] = &cpu.tasks[..] else { panic!("{:?}", cpu.tasks) };
    assert!(running.runs && !waiting.runs);
    assert_eq!((waiting.place, waiting.runnable), (Some(Place::Scheduler), Span::ms(6028)));
    assert_eq!(waiting.cpus, CpuSet::parse("0-3"));
}

/// What kernels 6.16 to 7.3 wrote when they ejected a scheduler that never dispatched the task
/// `victim`: 8 CPUs under QEMU, some of which ran `work`.
#[test]
fn dumps_of_kernels_are_explained() {
    for (kernel, text, task, ran, idle) in [
        ("6.16", include_str!("dumps/6.16.txt"), 228, "CPU 0 ran work:227", "1,4-7"),
        ("6.18", include_str!("dumps/6.18.txt"), 218, "CPU 6 ran kworker/u34:0:64", "1-5,7"),
        ("7.2", include_str!("dumps/7.2.txt"), 192, "CPU 6 ran kworker/u34:2:70", "0,2-4"),
        ("7.3", include_str!("dumps/7.3.txt"), 189, "CPU 6 was idle", "0-1,3,6"),
    ] {
        let dump = parse(text);
        assert_eq!((dump.kind, dump.truncated, dump.further), (Some(1026), false, 0), "{kernel}");
        let reason = format!("runnable task stall (victim[{task}] failed to run for ");
        assert!(dump.reason.starts_with(&reason), "{kernel}: {}", dump.reason);
        let tasks: Vec<_> = dump.cpus.iter().flat_map(|cpu| &cpu.tasks).collect();
        let victim = tasks.iter().find(|it| it.task.tid == task).expect("the victim");
        assert_eq!((victim.place, victim.runs), (Some(Place::Scheduler), false), "{kernel}");
        assert!(tasks.iter().all(|it| it.cpus == CpuSet::parse("0-7")), "{kernel}");
        let verdict = dump.report().verdict;
        assert!(verdict.contains(ran), "{kernel}: {verdict}");
        assert!(verdict.contains(&format!(" CPUs {idle} were idle")), "{kernel}: {verdict}");
    }
    // What the kernel's log has of the last one.
    let log = include_str!("dumps/7.3-log.txt");
    assert!(is_dump(log));
    assert_eq!(parse(log).reason, "victim[189] failed to run for 2.672s");
    assert_eq!(parse(log).stalled, parse(include_str!("dumps/7.3.txt")).stalled);
}

#[test]
fn names_may_have_colons_and_parentheses() {
    let stalled = |text: &str| parse(text).stalled.expect("a stall").0;
    for name in ["kworker/0:1H", "(sd-pam)", "a: b", "x (y"] {
        let text = dump("f", "a[1]", "ext_sched_class").replace("worker 1[", &format!("{name}["));
        assert_eq!((&*stalled(&text).name, stalled(&text).tid), (name, 77));
        let log = format!("[  512.4] sched_ext: rusty: {name}[7] failed to run for 5.314s\n");
        assert_eq!((&*stalled(&log).name, stalled(&log).tid), (name, 7));
    }
}

#[test]
fn a_scheduler_that_failed_otherwise_stalled_no_task() {
    let text = dump("f", "a[1]", "ext_sched_class").replace(
        "runnable task stall (worker 1[77] failed to run for 6.028s)",
        "runtime error (invalid DSQ ID 0x7)",
    );
    let dump = parse(&text);
    assert_eq!((&*dump.reason, &dump.stalled), ("runtime error (invalid DSQ ID 0x7)", &None));
    assert_eq!(dump.cpus.len(), 1);
    assert!(dump.report().verdict.contains("invalid DSQ"), "{}", dump.report().verdict);
}

#[test]
fn of_several_dumps_the_first_is_read() {
    let first = dump("f", "a[1]", "ext_sched_class");
    let second = first.replace("worker 1[77]", "other[78]").replace("CPU 0 ", "CPU 1 ");
    let both = parse(&(first.clone() + &second));
    assert_eq!(both.further, 1);
    assert_eq!(Dump { further: 0, ..both.clone() }, parse(&first));
    assert!(both.report().assumptions[0].contains("1 more dump"), "{:?}", both.report());
}

#[test]
fn cpus_that_are_left_out_were_idle() {
    let text = dump("f", "kworker/u8:1[40]", "ext_sched_class");
    let verdict = parse(&text).report().verdict;
    assert!(
        verdict.starts_with("worker 1:77 was runnable and did not run for 6.028 s."),
        "{verdict}"
    );
    assert!(verdict.contains("on CPU 0, in the BPF scheduler, which had not"), "{verdict}");
    assert!(verdict.contains("The task may use CPUs 0-3, and CPUs 1-3 were idle"), "{verdict}");
    // Where the end is missing, nothing is known of them.
    let cut = parse(&(text + "~~~~ TRUNCATED ~~~~\n")).report();
    assert!(cut.verdict.contains("the state of CPUs 1-3 is unknown"), "{}", cut.verdict);
    assert_eq!(cut.assumptions.len(), 1);
}

#[test]
fn tasks_of_higher_classes_are_not_the_schedulers_fault() {
    let verdict = parse(&dump("1", "audio[9]", "rt_sched_class")).report().verdict;
    assert!(verdict.contains("CPU 0 ran audio:9 of class rt."), "{verdict}");
    assert!(verdict.contains("ran tasks of higher classes"), "{verdict}");
}

#[test]
fn logs_write_prefixes() {
    let text = dump("f", "kworker/u8:1[40]", "ext_sched_class");
    let journal = text.lines().map(|line| format!("Jun 13 05:27:08 host bash[1097]: {line}\n"));
    assert_eq!(parse(&journal.collect::<String>()), parse(&text));
    let log = "[  512.4] sched_ext: BPF scheduler \"x\" disabled (runnable task stall)
[  512.4] sched_ext: x: make[7] failed to run for 5.314s
[  512.4]    scx_watchdog_workfn+0x154/0x1e0\n";
    let dump = parse(log);
    assert_eq!(dump.stalled.as_ref().map(|(task, _)| task.tid), Some(7));
    let verdict = dump.report().verdict;
    assert!(verdict.contains("does not contain the states of the CPUs"), "{verdict}");
}

#[test]
fn places_are_told_by_the_number_of_the_queue() {
    for (id, place) in [
        ("0x8000000000000002", Place::Local),
        ("0xc000000000000003", Place::Local),
        ("0x8000000000000001", Place::Global),
        ("0x7", Place::Queue(7)),
        ("(n/a)", Place::Nowhere),
    ] {
        let text = dump("f", "a[1]", "ext_sched_class");
        let text = text
            .replace("qseq=2/34", "qseq=0/0")
            .replace("dsq_id=(n/a) dsq", &format!("dsq_id={id} dsq"));
        assert_eq!(parse(&text).cpus[0].tasks[1].place, Some(place), "{id}");
    }
}

#[test]
fn damaged_dumps_are_read_as_far_as_they_go() {
    let text = dump("f", "kworker/u8:1[40]", "ext_sched_class");
    for at in 0..text.len() {
        parse(&text[..at]).report();
        let mut other = text.clone();
        other.replace_range(at..=at, "9");
        parse(&other).report();
    }
}

/// A wait beside an idle CPU, in a recording that tells of sched_ext what was loaded at its start
/// and at its end.
fn recorded(start: Option<&str>, end: Option<&str>) -> History {
    let lines = "0 switch 0 - a S\n0 switch 1 c - S\n1000 queued 0 b 0\n3000 switch 0 a b S\n\
        9000 end";
    let mut history = story(2, full(), lines);
    let note = start.map(|name| ("sched_ext".to_owned(), name.to_owned()));
    history.head.source.notes.extend(note);
    if let Some(end) = end {
        let columns = ["what", "start", "end"].map(|key| Column::for_programs(key, Unit::None));
        let mut table = Table::new("sched_ext", "", columns);
        for (what, end) in [("enable_seq", "2"), ("loaded", end)] {
            table.push(vec![what.into(), Value::Unknown, end.into()]);
        }
        history.annexes.push(Annex { table });
    }
    history
}

#[test]
fn what_a_loaded_scheduler_wastes_is_its_policys() {
    let class = |start, end| {
        let found = check(&recorded(start, end), &Options::default());
        let causes = found.causes.expect("they are asked for");
        let mut wasted = causes.iter().filter(|(_, part)| part.ns[LostTime::Waste as usize] > 0);
        wasted.next().expect("waste").0.class()
    };
    for (start, end) in [(None, None), (Some(""), None), (Some(""), Some(""))] {
        assert_eq!(class(start, end), "scheduler/placement", "{start:?} {end:?}");
    }
    for end in [None, Some("rusty")] {
        assert_eq!(class(Some("rusty"), end), "scheduler/policy", "{end:?}");
    }
    // For a part of the time, or of the tasks.
    for (start, end) in
        [("", "rusty"), ("rusty", ""), ("rusty", "layered"), ("rusty partial", "rusty partial")]
    {
        assert_eq!(class(Some(start), Some(end)), "scheduler", "{start:?} {end:?}");
    }
}

#[test]
fn where_a_scheduler_was_loaded_the_cpu_of_a_waiting_task_may_say_nothing() {
    let says = |history: &History, shared_queue| {
        let options = Options { shared_queue, ..Options::default() };
        let report = check(history, &options).report(history, &options);
        report.assumptions.iter().any(|it| it.contains("sched_ext"))
    };
    // Loaded and gone again between start and end: it was enabled once more.
    let between = |from: &str| {
        let mut history = recorded(Some(""), Some(""));
        let annex = history.annexes.iter_mut().find(|it| it.table.name == "sched_ext");
        annex.expect("an annex").table.rows[0][1] = from.into();
        history
    };
    assert!(says(&between("1"), false) && !says(&between("1"), true));
    assert!(!says(&between("2"), false) && !says(&recorded(None, None), false));
    for (start, end) in [("rusty", "rusty"), ("rusty", ""), ("", "rusty")] {
        assert!(says(&recorded(Some(start), Some(end)), false), "{start} {end}");
    }
}

#[test]
fn a_recording_has_the_dump_in_an_annex() {
    let mut history = recorded(Some("rusty"), Some(""));
    assert_eq!(find("no dump", || Some(history.clone())), None);
    let columns =
        [Column::for_programs("time_ns", Unit::At), Column::for_programs("line", Unit::None)];
    let mut table = Table::new("sched_ext_dump", "", columns);
    let text = dump("f", "kworker/u8:1[40]", "ext_sched_class");
    for (n, line) in text.lines().enumerate() {
        table.push(vec![(2_000 + n).into(), line.into()]);
    }
    history.annexes.push(Annex { table });
    assert_eq!(find("no dump", || Some(history.clone())), Some(parse(&text)));
    assert_eq!(find(&text, || unreachable!("it is the text")), Some(parse(&text)));
    let report = check(&history, &Options::default()).report(&history, &Options::default());
    let finding = report.findings.iter().find(|it| it.code == "sched-ext-dump");
    let finding = finding.expect("a finding");
    assert_eq!(finding.window.from, Time(2_000));
    assert!(finding.message.contains("worker 1:77 was runnable"), "{}", finding.message);
}
