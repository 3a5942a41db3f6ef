//! When a recording ends, and who hears which signal.

use super::{lacks_tracefs, machine, read};
use crate::shell::{Desk, said};

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn every_way_to_say_how_long_ends() {
    let Some(_machine) = machine("every_way_to_say_how_long_ends") else { return };
    let desk = Desk::new();
    // What is written says that it records: on a busy machine it begins late.
    for (line, least) in [
        ("wastenot record -o a.wn --for 300ms", 0.3),
        (
            "(until [ -s b.wn.part ]; do sleep 0.1; done; exec sleep 0.4) & \
            wastenot record -o b.wn --pid $!",
            0.1,
        ),
        (
            "wastenot record -o c.wn & until [ -s c.wn.part ]; do sleep 0.1; done; \
            sleep 0.3; kill -INT $!; wait $!",
            0.1,
        ),
        (
            "wastenot record -o d.wn & until [ -s d.wn.part ]; do sleep 0.1; done; \
            sleep 0.3; kill -TERM $!; wait $!",
            0.1,
        ),
        ("wastenot record -o - --for 300ms | cat >e.wn", 0.3),
        // Whichever comes first; the command goes on, and its code is passed on.
        ("wastenot record -o f.wn --for 300ms -- sh -c 'sleep 6; touch g'; [ -e g ]", 0.3),
        ("wastenot record -o h.wn --for 60s -- sleep 0.4", 0.3),
        ("wastenot record -o i.wn --for 300ms --pid $$", 0.3),
    ] {
        desk.exits(0, line);
        let file = line
            .split_whitespace()
            .find_map(|word| word.strip_suffix(".wn").map(|w| w.trim_start_matches('>')));
        let history = read(&desk.path().join(format!("{}.wn", file.expect("a file"))));
        let span = history.window().span().as_secs();
        assert!((least..5.0).contains(&span), "{line}: {span} s");
    }
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn a_signal_that_was_ignored_stays_ignored_for_the_recording_and_its_command() {
    let test = "a_signal_that_was_ignored_stays_ignored_for_the_recording_and_its_command";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    // What a script runs in the background ignores SIGINT and SIGQUIT; INT ends a recording without
    // a command all the same.
    for (line, signals, code) in [
        ("nohup wastenot record --force -o a.wn --for 1s 2>&1", "HUP QUIT", 0),
        (
            "nohup wastenot record --force -o a.wn -- \
          sh -c 'grep SigIgn /proc/self/status; sleep 1; exit 7' 2>&1",
            "HUP INT QUIT",
            7,
        ),
    ] {
        let line = format!("{line} & sleep 0.5; for s in {signals}; do kill -$s $!; done; wait $!");
        let text = desk.exits(code, &line);
        let inherits = |line: &str| line.starts_with("SigIgn:") && line.ends_with('7');
        assert!(code == 0 || text.lines().any(inherits), "{text}");
        let span = read(&desk.path().join("a.wn")).window().span().as_secs();
        assert!(span > 0.95, "{line}: {span} s");
    }
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn signals_to_the_recording_are_for_its_command_but_for_its_trigger() {
    let test = "signals_to_the_recording_are_for_its_command_but_for_its_trigger";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    let hears = "trap \"echo USR1\" USR1; trap \"echo USR2\" USR2; trap \"echo CONT\" CONT; \
        trap \"echo WINCH\" WINCH; trap \"echo ALRM\" ALRM; trap \"exit 9\" HUP; touch hears; \
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0.1; done";
    let kills = "for s in USR1 USR2 CONT WINCH ALRM; do kill -$s $!; sleep 0.3; done";
    let line = |options: &str, end: &str| {
        format!(
            "rm -f hears; wastenot record {options} -- sh -c '{hears}' & \
             while [ ! -e hears ]; do sleep 0.05; done; {kills}; {end} wait $!"
        )
    };
    let text = desk.exits(9, &line("-o a.wn", "kill -HUP $!;"));
    for signal in ["USR1", "USR2", "CONT", "WINCH", "ALRM"] {
        assert_eq!(text.matches(&format!("{signal}\n")).count(), 1, "{signal}: {text}");
    }
    // The recording ends by it, and the command goes on.
    let text = desk.exits(0, &line("--last 5s --until USR2 -o b.wn", ""));
    assert!(text.contains("USR1\n") && !text.contains("USR2\n"), "{text}");
    let span = read(&desk.path().join("b.wn")).window().span().as_secs();
    assert!(span < 1.5, "{span} s");
}

#[test]
fn ended_before_it_begins_it_leaves_nothing() {
    let Some(_machine) = machine("ended_before_it_begins_it_leaves_nothing") else { return };
    let desk = Desk::new();
    // The programs are loaded while the file is there already.
    for (options, signal, code) in
        [("--for 5s", "INT", 130), ("-- touch ran", "TERM", 143), ("--last 1s", "HUP", 129)]
    {
        let line = format!(
            "wastenot record -o a.wn {options} & while [ ! -e a.wn.part ]; do :; done; \
             kill -{signal} $!; wait $!"
        );
        desk.says(code, &line, &[&format!("received SIG{signal} before the start")]);
        let left = std::fs::read_dir(desk.path()).expect("a folder").flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert!(left.is_empty(), "{line}: {left:?}");
    }
    // Killed at that moment it leaves an empty one, which is in nobody's way.
    desk.put("a.wn.part", "");
    let (text, code) = said(&desk.bash("wastenot record -o a.wn --for 200ms && ls"));
    assert_eq!((code, text.lines().next()), (0, Some("a.wn")), "{text}");
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn nothing_of_a_recording_stays_while_its_command_goes_on() {
    let test = "nothing_of_a_recording_stays_while_its_command_goes_on";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    let line = |way: &str, held: &str| {
        format!(
            "gone() {{ ! kill -0 $! 2>/dev/null; }}; \
             wastenot record --force -o a.wn --last 2s --until USR2 {way} -- sleep 4 & \
             until pgrep -P $! -x sleep >ps.txt || gone; do sleep 0.1; done; before=$({held}); \
             kill -USR2 $!; until [ -e a.wn ] || gone; do sleep 0.1; done; sleep 0.3; \
             after=$({held}); gone || echo $before, then $after; wait $!; rm a.wn"
        )
    };
    let (text, code) = said(&desk.bash(&line("", "cat /proc/$!/fdinfo/* | grep -c ^prog_id:")));
    let counts = text.lines().find_map(|line| line.split_once(", then "));
    let (before, after) = counts.unwrap_or_else(|| panic!("{text}"));
    assert!(code == 0 && before != "0" && after == "0", "{text}");
    let held = "ls -d /sys/kernel/tracing/instances/wastenot-$!-* | wc -l";
    let (text, code) = said(&desk.bash(&line("--tracefs", held)));
    if lacks_tracefs(test, &text) {
        return;
    }
    assert!(code == 0 && text.contains("1, then 0"), "{text}");
}

#[test]
fn a_cgroup_is_recorded_until_its_last_thread_leaves() {
    let test = "a_cgroup_is_recorded_until_its_last_thread_leaves";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    // By version: the cgroup.procs of a threaded one cannot be read.
    let v1 = "root=$(findmnt -n -o TARGET -t cgroup -O cpu | head -1); \
        begin() { sleep 1 & echo $! >$g/inner/cgroup.procs; }";
    let v2 = "root=$(findmnt -n -o TARGET -t cgroup2 | head -1); \
        begin() { echo threaded >$g/inner/cgroup.type || exit 77; \
                  sleep 1 & echo $! >$g/cgroup.procs; echo $! >$g/inner/cgroup.threads; }";
    for (version, begin) in [("1", v1), ("2", v2)] {
        let line = format!(
            "{begin}; g=$root/wastenot-ends; mkdir -p $g/inner 2>/dev/null || exit 77; begin; \
             wastenot record --force -o a.wn --cgroup /wastenot-ends/inner; code=$?; wait; \
             rmdir $g/inner $g; exit $code"
        );
        let (text, code) = said(&desk.bash(&line));
        if code == 77 {
            let why = format!("no cgroup of version {version} can be made");
            wastenot_needs::skipped(test, &why, "mount one");
            continue;
        }
        assert_eq!(code, 0, "{text}");
        let span = read(&desk.path().join("a.wn")).window().span().as_secs();
        assert!((0.3..5.0).contains(&span), "version {version}: {span} s, {text}");
    }
}
