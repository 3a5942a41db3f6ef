use wastenot_model::*;

use super::{Writer, write_wn};
use crate::write::sample::{anything, machine};
use crate::{Error, Format, Options, detect, read};

/// Compares everything that a History holds.
#[track_caller]
fn assert_equal(a: &History, b: &History) {
    assert_eq!(a.head, b.head);
    assert_eq!(a.names().collect::<Vec<_>>(), b.names().collect::<Vec<_>>());
    assert_eq!(a.masks(), b.masks());
    assert!(a.tasks().eq(b.tasks()), "tasks differ");
    assert_eq!(a.losses(), b.losses());
    assert_eq!(a.annexes, b.annexes);
    assert_eq!(a.len(), b.len());
    for (a, b) in a.entries().zip(b.entries()) {
        assert_eq!(a, b);
    }
}

fn written(history: &History) -> Vec<u8> {
    write_wn(history, Vec::new()).expect("writing to memory")
}

fn read_back(bytes: &[u8]) -> History {
    read(bytes, &Options::default()).expect("a file that was just written")
}

#[test]
fn what_is_written_is_read_back_exactly() {
    for seed in 0..40 {
        let history = anything(seed, seed as usize * 50);
        let bytes = written(&history);
        assert_eq!(detect(&bytes).expect("own"), Format::Own);
        assert_equal(&history, &read_back(&bytes));
    }
}

#[test]
fn histories_longer_than_a_batch_are_read_back_exactly() {
    let history = anything(5, 150_000);
    assert_equal(&history, &read_back(&written(&history)));
}

#[test]
fn a_file_of_the_largest_machine_is_recognised_and_read() {
    let history = Builder::new(Head::new(machine(CpuId::LIMIT - 1))).finish();
    assert_equal(&history, &read_back(&written(&history)));
}

#[test]
fn a_writer_counts_the_events_that_are_read_back() {
    let history = anything(7, 700);
    let mut writer = Writer::new(Vec::new(), &history.head).expect("memory");
    for name in history.names() {
        writer.name(name);
    }
    for mask in history.masks() {
        writer.mask(mask);
    }
    for (_, task) in history.tasks() {
        writer.task(task.clone());
    }
    history.entries().for_each(|entry| writer.push(entry));
    let events = writer.events();
    let back = read_back(&writer.finish().expect("memory"));
    assert_eq!((events, events), (back.len() as u64, history.len() as u64));
}

#[test]
fn the_same_history_gives_the_same_bytes() {
    assert_eq!(written(&anything(3, 1000)), written(&anything(3, 1000)));
}

#[test]
fn a_sink_that_writes_tells_what_a_sink_that_keeps_was_told() {
    let produce = |sink: &mut dyn Sink| {
        let name = sink.name("first");
        let task = sink.task(Task::new(7, name));
        let later = sink.name("later");
        let (cpu, idle) = (CpuId(1), TaskId::idle(CpuId(1)));
        sink.push(Entry::switch(Time(10), cpu, idle, task, Left::Runnable));
        let by = By::task(task);
        sink.loss(Loss::new(LossKind::ClockStep, "back"));
        sink.push(Entry { time: Time(11), cpu, by, event: Event::Lost { count: Some(3) } });
        sink.loss(Loss { count: Some(1), ..Loss::dropped(cpu, Time(9), None) });
        let what = Change::Name(later);
        sink.push(Entry { time: Time(12), cpu, by, event: Event::Changed { task, what } });
    };
    let mut keeps = Builder::new(Head::new(machine(2)));
    produce(&mut keeps);
    let kept = keeps.finish();
    let mut writes = Writer::new(Vec::new(), &Head::new(machine(2))).expect("memory");
    produce(&mut writes);
    let read = read_back(&writes.finish().expect("memory"));
    assert!(kept.entries().eq(read.entries()));
    assert_eq!(kept.losses(), read.losses());
    assert_eq!(kept.window(), read.window());
    assert_eq!(read.task_name(TaskId::nth(0)), "later");
}

#[test]
fn a_file_cut_anywhere_reads_up_to_its_last_whole_batch() {
    let mut writer = Writer::new(Vec::new(), &Head::new(machine(2))).expect("memory");
    let name = writer.name("a");
    let task = writer.task(Task::new(7, name));
    let mut batches = Vec::new();
    for n in 0..30 {
        let idle = TaskId::idle(CpuId(0));
        writer.push(Entry::switch(Time(n), CpuId(0), idle, task, Left::Runnable));
        if n % 10 == 9 {
            writer.flush().expect("memory");
            batches.push(n as usize + 1);
        }
    }
    let bytes = writer.finish().expect("memory");
    let mut lengths = vec![];
    for cut in 0..bytes.len() {
        match read(&bytes[..cut], &Options::default()) {
            Ok(history) => {
                let cut = history.losses().iter().any(|loss| loss.kind == LossKind::Cut);
                assert!(cut || history.len() == 30, "{:?}", history.losses());
                lengths.push(history.len());
            }
            Err(error) => assert!(lengths.is_empty(), "{error} after {cut} bytes"),
        }
    }
    lengths.dedup();
    assert_eq!(lengths, [[0].as_slice(), &batches].concat());
}

#[test]
fn a_newer_major_version_is_refused_and_a_newer_minor_one_is_read() {
    let bytes = written(&anything(1, 10));
    let at = bytes.windows(5).position(|part| part == b"\"1.3\"").expect("the version");
    let with = |version: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + 5].copy_from_slice(version);
        read(&bytes, &Options::default())
    };
    assert!(matches!(with(b"\"2.0\""), Err(Error::Version { version, .. }) if version == "2.0"));
    assert!(with(b"\"1.7\"").is_ok());
}

#[test]
fn a_task_without_a_row_is_left_out_and_counted() {
    let mut writer = Writer::new(Vec::new(), &Head::new(machine(2))).expect("memory");
    let far = TaskId(u32::MAX - 7);
    writer.push(Entry::switch(Time(1), CpuId(0), TaskId::idle(CpuId(0)), far, Left::Runnable));
    let history = read_back(&writer.finish().expect("memory"));
    assert_eq!(history.len(), 0);
    let damaged = history.losses().iter().find(|loss| loss.kind == LossKind::Damaged);
    assert_eq!(damaged.and_then(|loss| loss.count), Some(1));
}

#[test]
fn an_annex_may_come_in_pieces_between_events() {
    let piece = |rows: &[u32]| {
        let columns = [Column::new("number", "number", Unit::None)];
        let mut table = Table::new("numbers", "Numbers", columns);
        rows.iter().for_each(|row| table.push(vec![(*row).into()]));
        Annex { table }
    };
    let other = Annex { table: Table::new("numbers", "Numbers", []) };
    let mut writer = Writer::new(Vec::new(), &Head::new(machine(2))).expect("memory");
    let mut builder = Builder::new(Head::new(machine(2)));
    for sink in [&mut writer as &mut dyn Sink, &mut builder] {
        let idle = TaskId::idle(CpuId(0));
        sink.annex(piece(&[]));
        sink.push(Entry::switch(Time(1), CpuId(0), idle, idle, Left::Runnable));
        sink.annex(piece(&[1, 2]));
        sink.annex(other.clone());
        sink.push(Entry::switch(Time(2), CpuId(0), idle, idle, Left::Runnable));
        sink.annex(piece(&[3]));
    }
    let history = read_back(&writer.finish().expect("memory"));
    assert_eq!(history.annexes, [piece(&[1, 2, 3]), other]);
    assert_eq!(history.annexes, builder.finish().annexes);
}

#[test]
fn a_file_of_version_1_0_reads_as_it_did() {
    let back = read_back(include_bytes!("fixtures/1.0.wn"));
    let mut lines = Vec::new();
    crate::write::jsonl(&back, &mut lines).expect("memory");
    assert!(lines == include_bytes!("fixtures/1.0.jsonl"), "the events differ");
    let start = back.head.start.as_ref().expect("a start");
    assert_eq!((start.waiting.len(), start.sleeping.len(), start.past.clone()), (2, 1, None));
    assert_eq!(start.silent, [CpuId(5)]);
    assert_eq!((back.masks().len(), back.annexes.len()), (5, 1));
    assert!(back.losses().iter().any(|loss| loss.kind == LossKind::ClockSkew));
    assert!(back.losses().iter().all(|loss| loss.kind != LossKind::Damaged));
}

#[test]
fn a_file_of_version_1_1_reads_as_it_did_and_knows_no_nice_values() {
    let back = read_back(include_bytes!("fixtures/1.1.wn"));
    let past = back.past();
    assert_eq!((back.len(), past.len()), (14, 6));
    assert!(past.iter().any(|past| past.waking.is_some() && past.last.is_some()));
    assert!(past.iter().all(|past| past.nice.is_none()));
    assert!(back.losses().iter().all(|loss| loss.kind != LossKind::Damaged));
}
