//! `wastenot record` on this machine, where it may be recorded: as root with BPF.

mod decisions;
mod ends;
mod failures;
mod held;
mod interrupts;
mod witness;

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use wastenot_model::{Carries, CpuMode, Event, Help, History};
use wastenot_needs::skipped;
use wastenot_read::Options;

use crate::shell::{Desk, said};

/// Recordings see each other's work, and what is left behind is counted: one test at a time.
static MACHINE: Mutex<()> = Mutex::new(());

/// The machine to record, or why not.
pub(crate) fn machine(test: &str) -> Option<MutexGuard<'static, ()>> {
    let guard = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    match wastenot_record::probe_bpf(&wastenot_record::Options::default()) {
        Ok(()) if is_root() => Some(guard),
        Ok(()) => {
            skipped(test, "not root", "run the tests as root");
            None
        }
        Err(error) => {
            skipped(test, &error.to_string(), &error.help());
            None
        }
    }
}

/// Whether `record` says in `text` that tracefs is missing; then `test` says so.
fn lacks_tracefs(test: &str, text: &str) -> bool {
    let lacks = text.contains("cannot record with tracefs: it is not mounted");
    if lacks {
        skipped(test, "no tracefs", "mount -t tracefs nodev /sys/kernel/tracing");
    }
    lacks
}

fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.starts_with("Uid:\t0\t0"))
}

pub(crate) fn read(path: &Path) -> History {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    wastenot_read::read(&bytes, &Options::default()).expect("a recording")
}

/// How many of our programs the kernel holds for no process: those of other recorders are in use.
/// None where bpftool is missing.
fn programs_left() -> usize {
    let listed = Command::new("bpftool").args(["-j", "prog", "list"]).output();
    let listed = listed.map(|output| output.stdout).unwrap_or_default();
    let listed: Vec<serde_json::Value> = serde_json::from_slice(&listed).unwrap_or_default();
    let ours = listed
        .iter()
        .filter(|it| it["name"].as_str().is_some_and(|name| name.starts_with("on_sched_")));
    let ours: Vec<u64> = ours.filter_map(|program| program["id"].as_u64()).collect();
    let held = held();
    ours.iter().filter(|program| !held.contains(program)).count()
}

/// Every program that a process holds.
fn held() -> HashSet<u64> {
    let files = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let processes = files(Path::new("/proc"));
    let infos = processes.flat_map(|process| files(&process.path().join("fdinfo")));
    let texts = infos.filter_map(|info| std::fs::read_to_string(info.path()).ok());
    let held = |text: String| {
        let line = text.lines().find_map(|line| line.strip_prefix("prog_id:"))?;
        line.trim().parse().ok()
    };
    texts.filter_map(held).collect()
}

/// Waits until `is_so`, or for five seconds.
fn soon(is_so: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn a_command_is_recorded_and_its_end_passed_on() {
    let Some(_machine) = machine("a_command_is_recorded_and_its_end_passed_on") else { return };
    let desk = Desk::new();
    for (line, code) in [
        ("-- true", 0),
        ("-- sh -c 'exit 7'", 7),
        ("-- sh -c 'kill -TERM $$'", 143),
        ("-- sh -c 'kill -KILL $$'", 137),
        ("-- ./nonesuch", 127),
        ("-- /etc/passwd", 126),
        ("-o /nonesuch/x.wn -- true", 125),
    ] {
        desk.exits(code, &format!("wastenot record --force {line}"));
    }
    assert!(!desk.path().join("wastenot.wn.part").exists());
    // A signal to us is for the command; its code is ours.
    let line = "-- sh -c 'trap \"exit 9\" USR1 TERM; kill -TERM $PPID; sleep 5 & wait'";
    desk.exits(9, &format!("wastenot record --force {line}"));
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn a_recording_is_said_to_hold_as_many_events_as_a_check_finds() {
    let test = "a_recording_is_said_to_hold_as_many_events_as_a_check_finds";
    let Some(_machine) = machine(test) else { return };
    let desk = Desk::new();
    for way in ["", "--tracefs", "--last 5s", "--last 200ms"] {
        let line = format!(
            "wastenot record --force {way} -o a.wn -- sh -c 'ls -R /etc >ls.txt 2>&1; sleep 0.3' \
             && wastenot check a.wn | head -1"
        );
        let (text, code) = said(&desk.bash(&line));
        if lacks_tracefs(test, &text) {
            continue;
        }
        assert_eq!(code, 0, "{text}");
        let before = |word: &str| {
            let (front, _) = text.split_once(word).unwrap_or_else(|| panic!("{word}: {text}"));
            front.split_whitespace().next_back().and_then(|n| n.parse::<u64>().ok())
        };
        assert_eq!(before(" events, none lost"), before(" events\n"), "{way}: {text}");
    }
}

#[test]
fn a_recording_knows_what_was_so_at_its_start() {
    let Some(_machine) = machine("a_recording_knows_what_was_so_at_its_start") else { return };
    let desk = Desk::new();
    // It sleeps before the recording begins, and for all of it, pinned.
    let line = "taskset -c 0 sleep 60 & echo $! >sleeper; sleep 0.2; wastenot record -o a.wn -- \
        sh -c 'ls / >ls.txt; nice -n 5 sh -c \"sleep 0.1\"'; kill %1";
    desk.exits(0, line);
    let history = read(&desk.path().join("a.wn"));
    let carried = Carries::START | Carries::AFFINITY | Carries::THROTTLING | Carries::CGROUPS;
    assert!(history.head.carries.has(carried), "{}", history.head.carries);
    let start = history.head.start.as_ref().expect("a start");
    assert!(!start.cpus.contains(&CpuMode::Unknown), "{:?}", start.cpus);
    // By its tid: other tests have sleepers, too.
    let tid = std::fs::read_to_string(desk.path().join("sleeper")).expect("its tid");
    let sleeper = history.tasks().find(|(id, task)| {
        history.task_name(*id) == "sleep"
            && task.tid.to_string() == tid.trim()
            && start.sleeping.iter().any(|(other, _)| other == id)
            && task.pid.is_some()
    });
    let (sleeper, _) = sleeper.expect("the sleeper");
    let mask = history.entries().find_map(|entry| match entry.event {
        Event::Changed { task, what: wastenot_model::Change::Affinity(mask) }
            if task == sleeper =>
        {
            history.mask(mask)
        }
        _ => None,
    });
    assert_eq!(mask.expect("an affinity").to_string(), "0");
    // What ran meanwhile: forked, with its names, nice, and gone.
    let names: Vec<&str> = history.names().collect();
    assert!(["sh", "ls", "sleep"].iter().all(|name| names.contains(name)), "{names:?}");
    let is_nice = |event: &Event| {
        matches!(event, Event::Changed { what: wastenot_model::Change::Nice(5), .. })
    };
    assert!(history.entries().any(|entry| is_nice(&entry.event)));
    let count = |is: fn(&Event) -> bool| history.entries().filter(|e| is(&e.event)).count();
    assert!(count(|event| matches!(event, Event::Fork { .. })) >= 3);
    assert!(count(|event| matches!(event, Event::Exec { .. })) >= 4);
    assert!(count(|event| matches!(event, Event::Exit { .. })) >= 4);
    assert_eq!(history.lost_events(), (0, false));
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn a_flight_recording_holds_the_moment_that_ended_it() {
    let Some(_machine) = machine("a_flight_recording_holds_the_moment_that_ended_it") else {
        return;
    };
    let desk = Desk::new();
    // Two tasks on one CPU: each waits for the slices of the other.
    let line = "wastenot record --last 2s --until 'task=greedy* wait > 1ms' -o a.wn -- \
        sh -c 'sleep 0.5; cp $(command -v sh) greedy; \
               for i in 1 2 3; do taskset -c 0 timeout 1 ./greedy -c \"while :; do :; done\" & done; wait'";
    desk.says(0, line, &["greedy:", " waited "]);
    let history = read(&desk.path().join("a.wn"));
    assert!(history.window().span().as_secs() <= 2.0, "{}", history.window().span());
    assert!(history.names().any(|name| name == "greedy"));
    // Without the bound being exceeded it ends with its command, and keeps the end.
    let line = "wastenot record --last 300ms -o b.wn -- sleep 1";
    desk.exits(0, line);
    let history = read(&desk.path().join("b.wn"));
    let span = history.window().span().as_secs();
    assert!((0.25..0.35).contains(&span), "{span}");
    assert!(history.head.carries.has(Carries::START));
}

#[test]
fn killed_at_any_moment_it_leaves_a_readable_part_and_nothing_else() {
    let name = "killed_at_any_moment_it_leaves_a_readable_part_and_nothing_else";
    let Some(_machine) = machine(name) else { return };
    let desk = Desk::new();
    let mut read_some = 0;
    for round in 0..10 {
        // From before the programs are loaded to after the second batch. On a busy machine a
        // recording begins late, so the long ones count from then.
        let wait = f64::from(round * round) * 0.03;
        let begun = if wait > 1.5 {
            "until [ -s ROUND.wn.part ] || ! kill -0 $!; do sleep 0.1; done;"
        } else {
            ""
        };
        let begun = begun.replace("ROUND", &round.to_string());
        let line =
            format!("wastenot record -o {round}.wn & {begun} sleep {wait}; kill -9 $!; wait $!");
        desk.bash(&line);
        assert!(soon(|| programs_left() == 0), "programs stay after {wait} s");
        let part = desk.path().join(format!("{round}.wn.part"));
        assert!(!desk.path().join(format!("{round}.wn")).exists());
        let length = std::fs::metadata(&part).map_or(0, |meta| meta.len());
        if length > 0 && wait > 1.5 {
            let history = read(&part);
            assert!(!history.is_empty());
            assert!(history.losses().iter().any(|l| l.kind == wastenot_model::LossKind::Cut));
            read_some += 1;
        }
    }
    assert!(read_some > 1, "{read_some}");
    // The next recording of that name says what lies there, and leaves it.
    let known = ["9.wn.part exists already", "wastenot check 9.wn.part"];
    desk.says(2, "wastenot record -o 9.wn --for 1s", &known);
    desk.exits(0, "wastenot record -o 9.wn --force --for 200ms && ls 9.wn");
    let both = "wastenot record -o a.wn & sleep 0.5; wastenot record -o a.wn --force; \
        code=$?; kill -TERM %1; wait; exit $code";
    desk.says(2, both, &["another process records into a.wn.part"]);
}

#[test]
fn a_check_tells_what_the_recorder_itself_took() {
    let Some(_machine) = machine("a_check_tells_what_the_recorder_itself_took") else { return };
    let desk = Desk::new();
    let text = desk.exits(0, "wastenot record -o a.wn --for 1s && wastenot check a.wn --text");
    let history = read(&desk.path().join("a.wn"));
    if !history.head.source.notes.iter().any(|(key, _)| key == "recorder_pid") {
        assert!(!text.contains("CPU time of the recorder"), "{text}");
        return;
    }
    assert!(text.contains("CPU time of the recorder"), "{text}");
    let (json, _) = desk.json("wastenot check a.wn --json");
    let took = json["recorder"]["cpu_ns"].as_u64().expect("known");
    let tasks = json["tasks"].as_array().expect("a table");
    let own: Vec<_> = tasks.iter().filter(|row| row["recorder"] == true).collect();
    assert!(!own.is_empty() && own.iter().all(|row| row["task"] == "wastenot"), "{own:?}");
    let sum: u64 = own.iter().map(|row| row["run_ns"].as_u64().expect("a time")).sum();
    assert!(took == sum && (1_000..1_000_000_000).contains(&took), "{took} of {sum}");
}
