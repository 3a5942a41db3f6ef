//! Tests of the whole reader: lines of each tool, nasty commands, and real reports.

use wastenot_model::{
    Carries, Context, CpuId, Event, Help, History, How, Left, LossKind, Prio, Span, TaskId, Time,
};

use super::fields::{Told, fields};
use super::line::Line;
use super::{is_text, read};
use crate::raw::{Comm, RawEvent};
use crate::{Error, Options};

fn history(text: &str) -> History {
    read(text.as_bytes(), &Options::default()).expect("reads")
}

fn told(line: &str) -> RawEvent {
    let parsed = Line::parse(line.as_bytes()).unwrap_or_else(|| panic!("no event: {line}"));
    match fields(&parsed) {
        Told::Event(event) => event,
        other => panic!("{other:?}: {line}"),
    }
}

fn trace(name: &str) -> Vec<u8> {
    let path = format!("{}/../../../traces/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).expect("a trace of the repository")
}

#[test]
fn the_head_of_a_line_is_found_in_each_style() {
    // Command, tid, process, CPU, context, time, the value of its last digit.
    for (text, want) in [
        ("  bash-2773    [000] d..2.  2958.164448: e: x", "bash|2773|-|0|Task|2958164448000|1000"),
        ("  a-27    (   20) [013] d.s2.  2.5: e: x", "a|27|20|13|Softirq|2500000000|100000000"),
        ("  <...>-7  (-----) [001] dNh4  2.000000001: e:", "<...>|7|-|1|Hardirq|2000000001|1"),
        (" <idle>-0  [010]    11.589772: e:  x", "<idle>|0|-|10|Unknown|11589772000|1000"),
        ("  init-1       9d..2.     7.912918018: e:  x", "init|1|-|9|Task|7912918018|1"),
        ("  perf 263 [001]  41.994533:   sched:e: x", "perf|263|-|1|Unknown|41994533000|1000"),
        ("  a b 7/8 [001]  1.000000:    1 sched:e: x", "a b|8|7|1|Unknown|1000000000|1000"),
        ("      :-1    -1 [000]  1.000000: sched:e: x", ":-1|-1|-|0|Unknown|1000000000|1000"),
        ("  bash-2773 [000] 4242424242: e: x", "bash|2773|-|0|Unknown|4242424242|0"),
    ] {
        let line = Line::parse(text.as_bytes()).unwrap_or_else(|| panic!("no event: {text}"));
        let (comm, stamp) = (String::from_utf8_lossy(line.comm), line.stamp);
        let pid = line.pid.map_or("-".into(), |pid| pid.to_string());
        let who = format!("{comm}|{}|{pid}|{}|{:?}", line.tid, line.cpu, line.context);
        assert_eq!(format!("{who}|{}|{}", stamp.time, stamp.unit), want, "{text}");
        assert_eq!(line.event, b"e", "{text}");
    }
}

#[test]
fn other_lines_are_no_events() {
    for text in [
        "",
        "# tracer: nop",
        "cpus=4",
        "CPU:3 [LOST 5 EVENTS]",
        "bash-2773 [000] 1.5: no event name",
        "bash-2773 [000] x.5: e: x",
        "bash-2773 [99999] 1.5: e: x",
        "bash [000] 1.5: e: x",
        "bash-2773 [000] 1.5555555555: e: x",
        "bash-2773 [000] 99999999999999999999.5: e: x",
        "[000] 1.5: e: x",
        "-",
        "[",
        "    ffffffff81234567 schedule+0x12 ([kernel.kallsyms])",
    ] {
        assert_eq!(Line::parse(text.as_bytes()), None, "{text}");
    }
}

/// Commands that look like other parts of a line; all have 15 bytes or fewer.
const NASTY: [&str; 14] = [
    "a b",
    "x-1 [0] 1.1: b:",
    "[000] 1.0: e: ",
    " -> ",
    "a ==> b",
    "a:1 [1] S ==> b",
    " prev_pid=5",
    " next_pid=5",
    "p next_comm=q",
    " pid=1 prio=2",
    "child_comm=",
    "(  7)",
    "1-2-3/4",
    "CPU:003",
];

#[test]
fn nasty_commands_do_not_confuse_any_style() {
    let name = |comm: &str| Comm::new(comm.as_bytes());
    for a in NASTY {
        for b in NASTY {
            let kernel = format!(
                "prev_comm={a} prev_pid=7 prev_prio=120 prev_state=S ==> next_comm={b} \
                 next_pid=8 next_prio=90"
            );
            let raw = kernel.replace("state=S ==>", "state=1");
            // The padding of the event's name and a blank at the start of a command look the same.
            let pretty = format!("{}:7 [120] S ==> {b}:8 [90]", a.trim_start());
            let want = |prev_comm| RawEvent::Switch {
                prev: 7,
                next: 8,
                left: Left::Sleeping,
                prev_prio: Prio(Some(120)),
                next_prio: Prio(Some(90)),
                prev_comm,
                next_comm: name(b),
            };
            for head in [
                format!("{a:>16}-7     [003] d..2.  5.000001: sched_switch: "),
                format!("{a:>16}-7     [003]  5.000001: sched_switch:   "),
                format!("{a:>16} 7     [003]  5.000001: sched:sched_switch: "),
            ] {
                for (fields, comm) in [(&kernel, a), (&raw, a), (&pretty, a.trim_start())] {
                    let text = format!("{head}{fields}");
                    let line = Line::parse(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
                    assert_eq!((line.tid, line.cpu), (7, CpuId(3)), "{text}");
                    assert_eq!(told(&text), want(name(comm)), "{text}");
                }
            }
        }
    }
}

#[test]
fn nasty_commands_do_not_confuse_other_events() {
    let name = |comm: &str| Comm::new(comm.as_bytes());
    for a in NASTY {
        let head = format!("{a:>16}-7     [003] d..2.  5.000001: ");
        let wake = |comm| RawEvent::Queued {
            tid: 9,
            on: Some(CpuId(2)),
            how: How::Wakeup,
            prio: Prio(Some(120)),
            comm,
        };
        for fields in [
            format!("comm={a} pid=9 prio=120 target_cpu=002"),
            format!("comm={a} pid=9 prio=120 success=1 target_cpu=002"),
        ] {
            assert_eq!(told(&format!("{head}sched_wakeup: {fields}")), wake(name(a)), "{fields}");
        }
        let fields = format!("{}:9 [120] success=1 CPU:002", a.trim_start());
        let got = told(&format!("{head}sched_wakeup: {fields}"));
        assert_eq!(got, wake(name(a.trim_start())), "{fields}");
        let fork = RawEvent::Fork { parent: 7, child: 10, child_comm: name(a) };
        for fields in [
            format!("comm={a} pid=7 child_comm={a} child_pid=10"),
            format!("parent_comm={a} parent_pid=7 child_comm={a} child_pid=10"),
        ] {
            assert_eq!(told(&format!("{head}sched_process_fork: {fields}")), fork, "{fields}");
        }
        let migrate = format!("comm={a} pid=9 prio=120 orig_cpu=1 dest_cpu=2");
        let (from, to) = (Some(CpuId(1)), CpuId(2));
        let want = RawEvent::Migrate { tid: 9, from, to, comm: name(a) };
        assert_eq!(told(&format!("{head}sched_migrate_task: {migrate}")), want);
        let rename = format!("pid=9 oldcomm={a} newcomm={a} oom_score_adj=-500");
        let want = RawEvent::Rename { tid: 9, comm: name(a) };
        assert_eq!(told(&format!("{head}task_rename: {rename}")), want);
        let exec = format!("filename=/bin/{a} pid=9 old_pid=9");
        assert_eq!(told(&format!("{head}sched_process_exec: {exec}")), RawEvent::Exec { tid: 9 });
    }
}

#[test]
fn states_are_read_as_letters_and_as_numbers() {
    let left = |state: &str, arrow: &str| {
        let text = format!(
            "a-7 [0] 1.5: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state={state}\
             {arrow} next_comm=b next_pid=8 next_prio=120"
        );
        let RawEvent::Switch { left, .. } = told(&text) else { panic!("{text}") };
        left.letters()
    };
    for (letter, want) in [("R", "R"), ("R+", "R+"), ("D|K", "D"), ("t", "T"), ("Z", "X")] {
        assert_eq!(left(letter, " ==>"), want);
    }
    let numbers =
        [("0", "R"), ("1", "S"), ("2", "D"), ("128", "I"), ("16", "X"), ("32", "X"), ("64", "P")];
    for (number, want) in numbers.into_iter().chain([("256", "R+"), ("0x82", "D"), ("8", "T")]) {
        assert_eq!(left(number, ""), want, "{number}");
    }
    let idle = told("a-7 [0] 1.5: sched_switch: a:7 [120] W ==> b:8 [120]");
    assert!(matches!(idle, RawEvent::Switch { left: Left::Idle, .. }), "{idle:?}");
}

#[test]
fn a_wakeup_in_vain_queues_nobody() {
    let line = "a-7 [0] 1.5: sched_wakeup: comm=b pid=8 prio=120 success=0 target_cpu=001";
    assert_eq!(fields(&Line::parse(line.as_bytes()).expect("an event")), Told::Nothing);
}

#[test]
fn a_hotplug_step_tells_up_from_down() {
    for (text, up) in [
        ("cpu: 0002 target: 238 step: 150 (sched_cpu_activate)", Some(true)),
        ("cpu=2 target=238 idx=150 fun=0xffffffff81000000", Some(true)),
        ("cpu: 0002 target:   0 step: 150 (sched_cpu_deactivate)", None),
    ] {
        let line = format!("cpuhp/2-20 [002] 1.5: cpuhp_enter: {text}");
        let told = fields(&Line::parse(line.as_bytes()).expect("an event"));
        let want = up.map_or(Told::Nothing, |up| Told::Event(RawEvent::Cpu { cpu: CpuId(2), up }));
        assert_eq!(told, want, "{text}");
    }
}

const STORY: &str = "\
# tracer: nop
#
# entries-in-buffer/entries-written: 3/3   #P:4
#
          a-7     [001] d..2.  5.000001: sched_waking: comm=b pid=8 prio=120 target_cpu=001
CPU:1 [LOST 5 EVENTS]
          a-7     [001] d..2.  5.000009: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 \
prev_state=S ==> next_comm=b next_pid=8 next_prio=120
CPU:2 [EVENTS DROPPED]
    <idle>-0     [002] d..2.  5.000012: sched_switch: prev_comm=swapper/2 prev_pid=0 \
prev_prio=120 prev_state=R ==> next_comm=c next_pid=9 next_prio=120
what is this
CPU:1 [SUBBUFFER START]
          b-8     [001] .....  5.000019: sched_switch: of another kind
";

#[test]
fn losses_and_odd_lines_are_told() {
    let history = history(STORY);
    let losses: Vec<_> = history.losses().iter().map(|l| (l.kind, l.cpu, l.count)).collect();
    assert!(losses.contains(&(LossKind::Unread, None, Some(2))), "{losses:?}");
    assert!(losses.contains(&(LossKind::LostEvents, Some(CpuId(1)), Some(6))), "{losses:?}");
    assert!(losses.contains(&(LossKind::LostEvents, Some(CpuId(2)), None)), "{losses:?}");
    let unread = history.losses().iter().find(|loss| loss.kind == LossKind::Unread);
    let note = &unread.expect("told").note;
    assert!(note.contains("`what is this`") && note.contains("1.000 us"), "{note}");
    let lost = history.entries().filter(|e| matches!(e.event, Event::Lost { .. }));
    let times: Vec<_> = lost.map(|entry| (entry.cpu.0, entry.time.0)).collect();
    assert_eq!(times, [(1, 5_000_001_000), (2, 5_000_012_000), (1, 5_000_019_000)]);
    assert_eq!(history.head.machine.len(), 4);
    assert!(history.head.carries.has(Carries::CONTEXT | Carries::LOSSES));
}

#[test]
fn a_text_without_scheduling_is_refused_with_what_it_is() {
    let error = |text: &str| read(text.as_bytes(), &Options::default()).expect_err("refused");
    let other = error("a-7 [001] 5.5: irq_handler_entry: irq=3 name=eth\n");
    assert!(other.to_string().contains("only 1 events of other types"), "{other}");
    let odd = error("a-7 [001] 5.5: sched_switch: who knows\n");
    assert!(matches!(odd, Error::NoEvents { .. }) && odd.to_string().contains("form"), "{odd}");
    assert!(!is_text(b"hello\nworld\n") && is_text(STORY.as_bytes()) && is_text(b"cpus=4\n"));
}

#[test]
fn a_text_cut_anywhere_reads_up_to_there() {
    for len in 0..STORY.len() {
        match read(&STORY.as_bytes()[..len], &Options::default()) {
            Ok(history) => {
                let whole = STORY.as_bytes()[len - 1] == b'\n';
                let cut = history.losses().iter().any(|loss| loss.kind == LossKind::Cut);
                assert_eq!(cut, !whole, "{len}");
            }
            Err(error) => assert!(!error.help().is_empty()),
        }
    }
}

#[test]
fn a_report_in_nanoseconds_reads_as_its_binary() {
    let text = crate::read(&trace("7.2-t4x4-make.report-N-t.txt"), &Options::default());
    let binary = crate::read(&trace("7.2-t4x4-make.dat"), &Options::default());
    let (text, binary) = (text.expect("reads"), binary.expect("reads"));
    assert_eq!(text.len(), binary.len());
    assert_eq!(text.same(&binary), Ok(()));
    assert_eq!(text.losses(), []);
}

#[test]
fn a_report_in_microseconds_keeps_the_order_of_its_binary() {
    let text = crate::read(&trace("5.10-t4x4-tpch.report-R.txt"), &Options::default());
    let binary = crate::read(&trace("5.10-t4x4-tpch.dat"), &Options::default());
    let (text, binary) = (text.expect("reads"), binary.expect("reads"));
    assert_eq!(text.len(), binary.len());
    let mut moved = 0;
    for (a, b) in text.entries().zip(binary.entries()) {
        assert!(near(a.time, b.time), "{a:?} {b:?}");
        moved += usize::from(a.time.0 % 1000 != 0);
        let (mut a, mut b) = (a, b);
        (a.time, b.time) = (Time(0), Time(0));
        (a.by.context, b.by.context) = (Context::Unknown, Context::Unknown);
        assert_eq!(a, b);
    }
    assert!(moved < text.len() / 20, "{moved} stamps moved to keep the order");
    assert!(text.losses().iter().any(|loss| loss.kind == LossKind::Unread));
    assert_eq!(text.task_name(TaskId::nth(0)), "init");
}

/// Printed to the microsecond, rounded, and perhaps moved within it.
fn near(printed: Time, exact: Time) -> bool {
    printed.0.abs_diff(exact.0) < Span::us(1).0
}

#[test]
fn events_of_one_microsecond_keep_the_order_of_the_text() {
    // In the merge's own order the waking, on a lower CPU and not a switch, would come first.
    let text = "\
a-7 [001] 5.000001: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> \
next_comm=b next_pid=8 next_prio=120
c-9 [000] 5.000001: sched_waking: comm=a pid=7 prio=120 target_cpu=001
c-9 [000] 5.000001: sched_wakeup: comm=a pid=7 prio=120 target_cpu=001
";
    let history = history(text);
    let times: Vec<_> = history.entries().map(|entry| (entry.time.0, entry.cpu.0)).collect();
    assert_eq!(times, [(5_000_001_000, 1), (5_000_001_001, 0), (5_000_001_001, 0)]);
}

#[test]
fn what_perf_script_says_in_its_head_is_taken() {
    let text = "\
# ========
# hostname : box
# os release : 6.18.1
# nrcpus avail : 8
# ========
     a     7 [001]     5.000000001: sched:sched_switch: prev_comm=a prev_pid=7 prev_prio=120 \
prev_state=S ==> next_comm=b next_pid=8 next_prio=120
\tffffffff81c0ffee __schedule+0x2b1 ([kernel.kallsyms])

";
    let history = history(text);
    let head = &history.head;
    assert_eq!((head.machine.name.as_str(), head.machine.len()), ("box", 8));
    assert_eq!(head.source.kernel.as_deref(), Some("6.18.1"));
    assert_eq!(head.source.format, "perf script text");
    assert_eq!(history.losses(), []);
    assert!(!head.carries.has(Carries::LOSSES), "perf script prints no lost events");
}
