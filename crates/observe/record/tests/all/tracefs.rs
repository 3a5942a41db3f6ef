//! The recorder that needs no BPF: what it records, and that it leaves nothing behind.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use wastenot_model::{Builder, Carries, Event, Help, History, LossKind, TaskId};
use wastenot_needs::{program, skipped};
use wastenot_record::{Begun, Error, Options, Summary, Way, begin};

/// Instances are counted, so one test runs at a time.
static ONE: Mutex<()> = Mutex::new(());

pub(super) fn alone() -> MutexGuard<'static, ()> {
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn options() -> Options {
    Options { way: Way::Tracefs, ..Options::default() }
}

/// A recording. `None`, with a message, if this machine does not allow one.
fn begun(test: &str, options: &Options) -> Option<Begun> {
    match begin(options) {
        Ok(begun) => Some(begun),
        Err(error @ (Error::NotRoot | Error::NoTracefs | Error::ReadOnly)) => {
            skipped(test, &error.to_string(), &error.help());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Records while `during` runs.
fn record(mut begun: Begun, during: impl FnOnce()) -> (History, Summary) {
    let mut tape = Builder::new(begun.head.clone());
    during();
    begun.recording.wait(Duration::from_millis(1));
    begun.recording.drain(&mut tape);
    let summary = begun.recording.finish(&mut tape);
    (tape.finish(), summary)
}

fn tracefs() -> PathBuf {
    ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"]
        .map(PathBuf::from)
        .into_iter()
        .find(|path| path.join("instances").exists())
        .expect("a recording began")
}

/// Names of the instances that recorders created.
fn instances() -> Vec<String> {
    let entries = fs::read_dir(tracefs().join("instances")).expect("tracefs is there");
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with("wastenot-")).collect()
}

/// Waits until `what` holds, for ten seconds.
fn eventually(what: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

fn shell(script: &str) {
    let status = Command::new("/bin/sh").args(["-c", script]).stdout(Stdio::null()).status();
    assert!(status.expect("a shell").success());
}

/// Whether this kernel hides from ftrace that some CPU leaves its idle task.
fn shields_idle(history: &History) -> bool {
    let left = |cpu| {
        let leaves = |event: &Event| matches!(event, Event::Switch { prev, .. } if *prev == cpu);
        history.entries().any(|entry| leaves(&entry.event))
    };
    history.cpus().any(|cpu| !left(TaskId::idle(cpu)))
}

#[test]
fn a_shell_that_sleeps_is_seen_to_fork_sleep_wake_and_exit() {
    let _alone = alone();
    let test = "a_shell_that_sleeps_is_seen_to_fork_sleep_wake_and_exit";
    let Some(begun) = begun(test, &options()) else { return };
    assert_eq!(begun.head.source.format, "wastenot record (tracefs)");
    // Under a name that no other process on this machine sleeps under.
    let folder = tempfile::tempdir().expect("a folder");
    let name = format!("nap-{}", std::process::id());
    let nap = folder.path().join(&name);
    std::fs::copy("/bin/sleep", &nap).expect("a program");
    let script = format!("for i in 1 2 3; do {} 0.01; done", nap.display());
    let (history, summary) = record(begun, || shell(&script));

    let carries = history.head.carries;
    let told = Carries::WAKINGS | Carries::WAKEUPS | Carries::PLACEMENT | Carries::CONTEXT;
    assert!(carries.has(told | Carries::FORKS | Carries::LEFT | Carries::LOSSES), "{carries}");
    assert!(!carries.has(Carries::AFFINITY) && !carries.has(Carries::START), "{carries}");
    let sleeps: Vec<TaskId> = history
        .tasks()
        .filter(|(_, task)| history.name(task.name) == name)
        .map(|(id, _)| id)
        .collect();
    assert_eq!(sleeps.len(), 3, "each is a task");
    let mut seen: HashMap<TaskId, [u32; 5]> = HashMap::new();
    for entry in history.entries() {
        let (task, what) = match entry.event {
            Event::Fork { child, .. } => (child, 0),
            Event::Exec { task } => (task, 1),
            Event::Queued { task, .. } => (task, 2),
            Event::Switch { next, .. } => (next, 3),
            Event::Exit { task } => (task, 4),
            _ => continue,
        };
        seen.entry(task).or_default()[what] += 1;
    }
    for task in sleeps {
        let [forks, execs, queued, runs, exits] = seen[&task];
        assert_eq!((forks, execs, exits), (1, 1, 1));
        assert!(queued >= 2, "new, and when its sleep was over");
        // The switch to a task after one that the kernel shields is not seen (see `agree`).
        assert!(runs >= 1 || shields_idle(&history), "{runs} runs of {queued} wakeups");
    }
    assert_eq!(summary.lost, 0, "{summary:?}");
    let span = history.window().to.0 - history.window().from.0;
    assert!(span >= 30_000_000, "three sleeps of 10 ms took {span} ns");
}

#[test]
fn a_recording_that_ends_or_is_dropped_leaves_nothing() {
    let _alone = alone();
    let test = "a_recording_that_ends_or_is_dropped_leaves_nothing";
    let Some(first) = begun(test, &options()) else { return };
    assert_eq!(instances().len(), 1);
    record(first, || {});
    assert_eq!(instances(), [""; 0]);
    drop(begun(test, &options()));
    assert_eq!(instances(), [""; 0]);
}

#[test]
fn what_a_dead_recorder_left_is_removed_by_the_next() {
    let _alone = alone();
    let test = "what_a_dead_recorder_left_is_removed_by_the_next";
    drop(match begun(test, &options()) {
        Some(begun) => begun,
        None => return,
    });
    let pid = std::process::id();
    // This process did not start with the machine, so a process of that start is gone.
    let left = tracefs().join("instances").join(format!("wastenot-{pid}-1-0"));
    fs::create_dir(&left).expect("root may");
    let next = begun(test, &options()).expect("it could before");
    assert!(!left.exists());
    drop(next);
    assert_eq!(instances(), [""; 0]);
}

#[test]
fn a_storm_that_overruns_a_small_buffer_is_told() {
    let _alone = alone();
    let small = Options { ring_bytes: 4096, ..options() };
    let Some(begun) = begun("a_storm_that_overruns_a_small_buffer_is_told", &small) else { return };
    let (history, summary) = record(begun, || shell("for i in $(seq 200); do /bin/true; done"));
    let lost = |event| match event {
        Event::Lost { count } => Some(count.map_or(0, u64::from)),
        _ => None,
    };
    let rows: Vec<u64> = history.entries().filter_map(|entry| lost(entry.event)).collect();
    assert!(!rows.is_empty(), "the moment is told too");
    let rows: u64 = rows.iter().sum();
    assert!(summary.lost > 100, "{summary:?}");
    let told = history.losses().iter().filter(|loss| loss.kind == LossKind::LostEvents);
    // A page that is full has no room for the number, which then stays unknown.
    match told.map(|loss| loss.count).sum::<Option<u64>>() {
        Some(told) => assert!(rows <= told && told == summary.lost, "{rows}, {told}, {summary:?}"),
        None => assert!(rows < summary.lost, "{rows}, {summary:?}"),
    }
}

/// A child of the next test.
#[test]
#[ignore = "records until it is killed"]
fn records_until_it_is_killed() {
    if std::env::var_os("RECORDER_TO_KILL").is_none() {
        return;
    }
    let mut begun = begin(&options()).expect("the parent could");
    let mut tape = Builder::new(begun.head.clone());
    loop {
        begun.recording.wait(Duration::from_millis(100));
        begun.recording.drain(&mut tape);
    }
}

fn recorder_to_kill() -> Child {
    let mut child = Command::new(std::env::current_exe().expect("we are one"));
    child.args(["--exact", "tracefs::records_until_it_is_killed", "--ignored"]);
    child.env("RECORDER_TO_KILL", "1").stdout(Stdio::null());
    child.spawn().expect("ourselves")
}

#[test]
fn a_recorder_killed_at_any_moment_leaves_nothing() {
    let _alone = alone();
    let test = "a_recorder_killed_at_any_moment_leaves_nothing";
    drop(match begun(test, &options()) {
        Some(begun) => begun,
        None => return,
    });
    let mut recorded = 0;
    for round in 0..10u64 {
        let mut child = recorder_to_kill();
        // At first while it begins, later while it records.
        if round >= 5 {
            assert!(eventually(|| !instances().is_empty()));
        }
        std::thread::sleep(Duration::from_millis(round * round * 3));
        recorded += u32::from(!instances().is_empty());
        child.kill().expect("it does not end by itself");
        child.wait().expect("it is ours");
        assert!(eventually(|| instances().is_empty()), "{:?} in round {round}", instances());
    }
    assert!(recorded >= 5, "{recorded} of 10 had an instance");
}

/// A child of the next test.
#[test]
#[ignore = "fails where it can record"]
fn tells_why_it_cannot_record() {
    let error = begin(&options()).err().expect("nothing can be recorded here");
    println!("{error}; help: {}", error.help());
}

#[test]
fn where_tracefs_may_not_be_used_it_says_why_and_leaves_nothing() {
    let _alone = alone();
    let test = "where_tracefs_may_not_be_used_it_says_why_and_leaves_nothing";
    if !program(test, "unshare", "util-linux") {
        return;
    }
    drop(match begun(test, &options()) {
        Some(begun) => begun,
        None => return,
    });
    let place = tracefs();
    let this = std::env::current_exe().expect("we are one");
    for (change, wanted) in [
        (
            format!("mount -o remount,bind,ro {}", place.display()),
            "cannot record with tracefs: it is mounted read-only",
        ),
        (
            "umount -l /sys/kernel/tracing; umount -lR /sys/kernel/debug; true".to_owned(),
            "cannot record with tracefs: it is not mounted",
        ),
    ] {
        // In a mount namespace of its own: no other process sees the change.
        let script = format!(
            "{change} && exec {} --exact tracefs::tells_why_it_cannot_record --ignored \
             --nocapture",
            this.display()
        );
        let child = Command::new("unshare").args(["--mount", "sh", "-c", &script]).output();
        let child = child.expect("unshare runs");
        let said = String::from_utf8_lossy(&child.stdout);
        let complained = String::from_utf8_lossy(&child.stderr);
        assert!(said.contains(wanted) && said.contains("; help: "), "{said}\n{complained}");
        assert_eq!(instances(), [""; 0]);
    }
}
