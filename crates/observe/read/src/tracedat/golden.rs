//! Real recordings: counts and cuts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use wastenot_model::{Event, History, LossKind};

use crate::Options;

fn traces() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "..", "traces"].iter().collect()
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(traces().join(name)).expect(name)
}

fn read(bytes: &[u8]) -> Result<History, crate::Error> {
    super::read(bytes, &Options::default())
}

/// Events as trace-cmd counts them: without those that the reader adds.
fn recorded(history: &History) -> usize {
    let added = |event| matches!(event, Event::Lost { .. } | Event::Changed { .. });
    history.entries().filter(|entry| !added(entry.event)).count()
}

/// `file | .. | events | ..` rows of the README, which `trace-cmd report` counted.
fn counts() -> BTreeMap<String, usize> {
    let readme = String::from_utf8(bytes("README.md")).expect("text");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let count = cells.get(7)?.parse().ok()?;
        cells.get(1)?.ends_with(".dat").then_some((cells[1].to_owned(), count))
    };
    readme.lines().filter_map(row).collect()
}

#[test]
fn every_recording_has_the_events_that_trace_cmd_counts() {
    let counts = counts();
    assert!(counts.len() > 50);
    for (name, count) in counts {
        let history = read(&bytes(&name)).expect(&name);
        assert_eq!(recorded(&history), count, "{name}");
        let lost = history.losses().iter().any(|loss| loss.kind == LossKind::LostEvents);
        assert_eq!(lost, name.ends_with("-overwrite.dat"), "{name}");
        let bad = |kind| matches!(kind, LossKind::Cut | LossKind::Damaged | LossKind::Unread);
        assert!(!history.losses().iter().any(|loss| bad(loss.kind)), "{name}");
        assert_eq!(history.head.clock.nanoseconds, !name.contains("tscclock"), "{name}");
    }
}

#[test]
fn a_recording_in_an_instance_is_found() {
    let history = read(&bytes("host-6.18-2cpu-messaging.dat")).expect("reads");
    assert_eq!(recorded(&history), 59_991);
    assert!(history.head.source.notes.contains(&("buffer".into(), "rotalab".into())));
}

/// What each CPU recorded. Task ids depend on what was seen before; times and kinds do not.
fn by_cpu(history: &History) -> BTreeMap<u16, Vec<String>> {
    let mut cpus: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for entry in history.entries() {
        if !matches!(entry.event, Event::Lost { .. } | Event::Changed { .. }) {
            let kind = format!("{:?}", entry.event);
            let kind = kind.split(' ').next().unwrap_or_default();
            cpus.entry(entry.cpu.0).or_default().push(format!("{} {kind}", entry.time));
        }
    }
    cpus
}

fn is_cut(history: &History) -> bool {
    history.losses().iter().any(|loss| loss.kind == LossKind::Cut)
}

#[test]
fn a_recording_cut_anywhere_gives_a_prefix_of_each_cpu() {
    for (name, step, more) in [
        ("6.12-t4x4-fmt-v6.dat", 997, 0..0),
        ("6.12-t4x4-fmt-v7-none.dat", 997, 0..0),
        ("6.12-t4x4-fmt-v7-zstd.dat", 997, 0..0),
        // Of 128 CPUs, and where their data begins.
        ("7.2-s4x16x2-make.dat", 7 * 997, 126_000..140_000),
    ] {
        let bytes = bytes(name);
        let whole = by_cpu(&read(&bytes).expect(name));
        for len in (0..bytes.len()).step_by(step).chain(more.step_by(997)) {
            let Ok(history) = read(&bytes[..len]) else { continue };
            for (cpu, events) in by_cpu(&history) {
                assert!(whole[&cpu].starts_with(&events), "{name} cut at {len}, CPU {cpu}");
            }
            assert!(is_cut(&history), "{name} {len}");
        }
    }
}

/// The range of the data of a version 7 recording.
fn data(name: &str) -> std::ops::Range<usize> {
    match name {
        "6.12-t4x4-fmt-v7-none.dat" => 32_768..114_688,
        "6.12-t4x4-fmt-v7-zstd.dat" => 8192..70_450,
        "7.2-s4x16x2-make.dat" => 126_976..653_089,
        _ => panic!("{name}"),
    }
}

#[test]
fn a_version_7_cut_within_its_data_has_the_events_before_the_cut() {
    let names = ["6.12-t4x4-fmt-v7-none.dat", "6.12-t4x4-fmt-v7-zstd.dat", "7.2-s4x16x2-make.dat"];
    for name in names {
        let (bytes, data) = (bytes(name), data(name));
        let whole = by_cpu(&read(&bytes).expect(name));
        for percent in [30, 50, 70, 90] {
            let len = data.start + data.len() * percent / 100;
            let history = read(&bytes[..len]).expect(name);
            let read = by_cpu(&history);
            for (cpu, events) in &read {
                assert!(whole[cpu].starts_with(events), "{name} at {percent} %, CPU {cpu}");
            }
            assert!(is_cut(&history), "{name} at {percent} %");
            let events = |cpus: &BTreeMap<_, Vec<_>>| cpus.values().map(Vec::len).sum::<usize>();
            // The data of the CPUs is in sequence, and no two CPUs have the same number of events.
            let least = events(&whole) * (percent - 10) / 100;
            assert!(events(&read) > least, "{name} at {percent} %: {}", events(&read));
            assert!(read.keys().zip(0..).all(|(&cpu, index)| cpu == index), "{name}");
            // CPUs whose data is behind the cut belong to the machine, and are unknown.
            assert_eq!(history.cpu_count(), whole.len(), "{name}");
        }
    }
}

#[test]
fn a_version_7_cut_before_its_index_lacks_nothing_but_the_index() {
    let bytes = bytes("6.12-t4x4-fmt-v7-none.dat");
    let end = data("6.12-t4x4-fmt-v7-none.dat").end;
    let (whole, cut) = (read(&bytes).expect("reads"), read(&bytes[..end]).expect("reads"));
    assert_eq!(by_cpu(&whole), by_cpu(&cut));
    assert!(whole.losses().is_empty() && is_cut(&cut));
    assert_eq!(cut.head.clock, whole.head.clock);
}

#[test]
fn a_version_7_cut_within_the_names_of_its_sections_says_so() {
    let whole = bytes("6.12-t4x4-fmt-v7-none.dat");
    let all = by_cpu(&read(&whole).expect("reads"));
    for missing in [1, 20, 53] {
        let history = read(&whole[..whole.len() - missing]).expect("tells of all events");
        assert_eq!(by_cpu(&history), all, "{missing} bytes fewer");
        let notes: Vec<&str> = history.losses().iter().map(|loss| loss.note.as_str()).collect();
        assert!(notes.iter().any(|note| note.contains("ends inside")), "{notes:?}");
    }
}

#[test]
fn a_cut_within_an_instance_gives_its_events_without_its_name() {
    let bytes = bytes("host-6.18-2cpu-messaging.dat");
    let whole = by_cpu(&read(&bytes).expect("reads"));
    let history = read(&bytes[..1_400_000]).expect("reads");
    let read = by_cpu(&history);
    assert_eq!(read[&0], whole[&0]);
    assert!(whole[&1].starts_with(&read[&1]) && read[&1].len() > whole[&1].len() / 2);
    assert!(is_cut(&history));
    assert!(history.head.source.notes.contains(&("buffer".into(), "unknown".into())));
}
