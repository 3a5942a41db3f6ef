//! What goes wrong on a machine that is recorded: the right message and code, nothing left behind.

use wastenot_model::{Carries, Change, Event};
use wastenot_needs::{program, skipped};

use super::{machine, programs_left, read, soon};
use crate::shell::{Desk, said};

#[test]
fn a_full_disk_ends_it_and_keeps_what_was_written() {
    let Some(_machine) = machine("a_full_disk_ends_it_and_keeps_what_was_written") else { return };
    let desk = Desk::new();
    // In a mount namespace of its own: nothing of it is seen outside.
    let line = "mkdir small out; unshare -m bash -c 'mount -t tmpfs -o size=64k none small && \
        { wastenot record -o small/a.wn -- perf bench sched messaging -l 200 >messaging.txt; \
          echo code $?; ls small; cp small/a.wn.part out/; }'";
    let (text, _) = said(&desk.bash(line));
    assert!(text.contains("code 125"), "{text}");
    assert!(text.contains("cannot write small/a.wn: no space left on device"), "{text}");
    assert!(text.contains("a.wn.part"), "{text}");
    assert!(!read(&desk.path().join("out/a.wn.part")).is_empty());
    assert!(soon(|| programs_left() == 0));
}

#[test]
fn a_recording_is_on_disk_before_it_has_its_name() {
    let test = "a_recording_is_on_disk_before_it_has_its_name";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    if !program(test, "strace", "strace") {
        return;
    }
    let line = "strace -f -y -e trace=fdatasync,fsync,/^rename -o calls.txt \
        wastenot record -o a.wn --for 200ms; cat calls.txt";
    let (text, _) = said(&desk.bash(line));
    if text.contains("ptrace") {
        return skipped(test, "calls cannot be followed", "allow ptrace");
    }
    let synced = text.find("a.wn.part>)").expect(&text);
    let named = text.find("a.wn.part\", ");
    assert!(text[..synced].contains("fdatasync(") && Some(synced) < named, "{text}");
    // Nothing waits for a disk when somebody else writes it.
    let (text, _) = said(&desk.bash(&line.replace("-o a.wn", "-o - | wc -c")));
    assert!(!text.contains("sync("), "{text}");
}

#[test]
fn a_ring_that_overruns_tells_how_much_was_lost() {
    let Some(_machine) = machine("a_ring_that_overruns_tells_how_much_was_lost") else { return };
    let desk = Desk::new();
    // It is stopped while forks storm: all that there is is the memory that it has.
    let line = "wastenot record -o a.wn --buffer 64KiB & \
        until [ -s a.wn.part ]; do sleep 0.1; done; kill -STOP $!; \
        sh -c 'for i in $(seq 2000); do (:) & done; wait'; kill -CONT $!; sleep 1; kill -INT $!; \
        wait; wastenot check a.wn";
    let text = desk.exits(0, line);
    let history = read(&desk.path().join("a.wn"));
    let (lost, unknown) = history.lost_events();
    assert!(lost > 100 && !unknown, "{lost}, {text}");
    assert!(text.contains(&format!("{lost} lost (increase `--buffer`)")), "{text}");
    // What is known again after the gap is known: both its ends are told.
    let known = history.window().to.0 - history.losses()[0].time.expect("told").0;
    assert!(known > 1_000_000, "{known}");
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn a_command_is_waited_for_when_its_recording_fails() {
    let Some(_machine) = machine("a_command_is_waited_for_when_its_recording_fails") else {
        return;
    };
    let desk = Desk::new();
    // Nobody reads: the command's code is all that is left.
    let line = "set -o pipefail; wastenot record -o - -- sh -c 'ls -R /usr/share >ls.txt; sleep 1; \
        echo done >end.txt; exit 7' | head -c 10 >head.txt; echo code ${PIPESTATUS[0]}; cat end.txt";
    let (text, _) = said(&desk.bash(line));
    assert!(text.contains("code 7") && text.contains("done"), "{text}");
    let line = "wastenot record -o /dev/full/x.wn -- true";
    desk.exits(125, line);
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn a_task_under_a_quota_is_throttled_as_often_as_the_kernel_says() {
    let test = "a_task_under_a_quota_is_throttled_as_often_as_the_kernel_says";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    let line = "g=/sys/fs/cgroup/cpu/wastenot-test; mkdir $g 2>/dev/null || exit 77; \
        echo 20000 >$g/cpu.cfs_quota_us; \
        sh -c \"echo \\$\\$ >$g/cgroup.procs; exec timeout 2 sh -c 'while :; do :; done'\" & \
        sleep 0.3; wastenot record -o a.wn --for 1500ms; wait; rmdir $g";
    let (text, code) = said(&desk.bash(line));
    if code == 77 {
        return skipped(test, "no cpu controller of version 1", "mount -t cgroup -o cpu");
    }
    let history = read(&desk.path().join("a.wn"));
    let table = &history.annexes.iter().find(|it| it.table.name == "cgroups").expect("told").table;
    let row = table.rows.iter().find(|row| row[0] == "/wastenot-test".into()).expect("the group");
    let wastenot_model::Value::Int(throttled) = row[4] else { panic!("{row:?}, {text}") };
    let told = history.entries().filter(|entry| {
        matches!(entry.event, Event::Changed { what: Change::Throttled(true), .. })
    });
    let told = told.count() as i64;
    // The kernel counts a group. A task that was preempted when its group was throttled is held
    // back only once it returns to user mode, by when the next period may have begun.
    let most = told * 2 > throttled && told <= throttled + 2;
    assert!(throttled > 5 && most, "{told} of {throttled}");
}

#[test]
fn who_may_not_record_is_told_what_it_takes() {
    let Some(_machine) = machine("who_may_not_record_is_told_what_it_takes") else { return };
    let desk = Desk::new();
    // As nobody, in a folder that nobody may write to: the binary lies where nobody may read.
    let line = "d=$(mktemp -d); cp $(command -v wastenot) $d; chmod -R a+rx $d; cd $d; \
        setpriv --reuid 65534 --regid 65534 --clear-groups ./wastenot record -o - --for 1s; \
        echo code $?; rm -r $d";
    let (text, _) = said(&desk.bash(line));
    assert!(text.contains("code 2"), "{text}");
    assert!(text.contains("CAP_BPF and CAP_PERFMON"), "{text}");
    assert!(text.contains("sudo wastenot"), "{text}");
    // These two suffice.
    let line = line.replace(
        "--clear-groups",
        "--clear-groups --inh-caps=+bpf,+perfmon --ambient-caps=+bpf,+perfmon",
    );
    let (text, _) = said(&desk.bash(&line.replace("-o - --for 1s", "-o - --for 200ms >/dev/null")));
    assert!(text.contains("code 0"), "{text}");
}

#[test]
fn without_the_kernels_types_it_records_less_and_says_so() {
    let test = "without_the_kernels_types_it_records_less_and_says_so";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    let why = "the kernel has no BTF (/sys/kernel/btf/vmlinux)";
    // In a mount namespace of its own nothing is where the types are.
    let run =
        |line: &str| {
            let hidden = "mount -t tmpfs none /sys/kernel/btf || exit 77";
            said(&desk.bash(&format!(
                "unshare -m true || exit 77; unshare -m bash -c '{hidden}; {line}'"
            )))
        };
    let (text, code) = run("wastenot record -o a.wn --for 300ms");
    if code == 77 {
        return skipped(test, text.trim(), "run as root of the host");
    }
    if text.contains("cannot record with tracefs") {
        return skipped(test, "no tracefs", "mount -t tracefs nodev /sys/kernel/tracing");
    }
    assert_eq!(code, 0, "{text}");
    assert!(text.contains(&format!("{why}: recording through tracefs")), "{text}");
    let history = read(&desk.path().join("a.wn"));
    assert!(!history.is_empty() && !history.head.carries.has(Carries::AFFINITY));
    let (text, code) = run("wastenot watch --for 300ms");
    assert_eq!((code, text.lines().count()), (2, 2), "{text}");
    let help = "help: boot a kernel with CONFIG_DEBUG_INFO_BTF";
    assert!(text.contains(why) && text.contains(help), "{text}");
    let (text, code) = run("wastenot doctor");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains(why) && !text.contains("records affinities"), "{text}");
}
