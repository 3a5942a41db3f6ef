//! Files of every form, and damaged files.

use wastenot_model::{Change, Event, History, Left, Loss, LossKind, Prio, Start};

use super::sample::{Buffer, Out, PLAIN, Page, Record, Shape, V7};
use crate::ftrace::Endian;
use crate::{Error, Options};

fn read(bytes: &[u8]) -> Result<History, Error> {
    super::read(bytes, &Options::default())
}

/// Two CPUs, two pages each.
fn usual(shape: Shape) -> Vec<Buffer> {
    let data = |delta, payload| Record::Data(delta, payload);
    let zero = vec![
        Page {
            stamp: 1000,
            records: vec![
                data(0, shape.wakeup(0, 9, 1)),
                data(5, shape.switch(0, 0, 7)),
                data(5, shape.switch(7, 1, 0)),
            ],
            missed: None,
        },
        Page { stamp: 5000, records: vec![data(1, shape.switch(0, 0, 8))], missed: None },
    ];
    let one = vec![
        Page { stamp: 1002, records: vec![data(0, shape.switch(0, 0, 9))], missed: None },
        Page {
            stamp: 4000,
            records: vec![data(4, shape.switch(9, 0x4, 5)), data(0, shape.switch(5, 2, 9))],
            missed: None,
        },
        Page { stamp: 4500, records: vec![data(0, shape.switch(9, 1, 0))], missed: None },
    ];
    vec![Buffer { name: "", clock: "mono", cpus: vec![zero, one] }]
}

/// One line per event.
fn lines(history: &History) -> Vec<String> {
    let tid = |task| history.task(task).map_or(0, |task| task.tid);
    let line = |entry: wastenot_model::Entry| {
        let what = match entry.event {
            Event::Switch { prev, next, left, .. } => {
                format!("switch {} {} {}", tid(prev), left.letters(), tid(next))
            }
            Event::Queued { task, on, .. } => format!("wakeup {} {on:?}", tid(task)),
            Event::Changed { task, what: Change::Name(_) } => format!("named {}", tid(task)),
            Event::Lost { count } => format!("lost {count:?}"),
            other => format!("{other:?}"),
        };
        format!("{} {} {what}", entry.time.0, entry.cpu)
    };
    history.entries().map(line).collect()
}

/// The lines of events in the file, without those that a cut adds.
fn recorded(history: &History) -> Vec<String> {
    lines(history).into_iter().filter(|line| !line.contains("lost")).collect()
}

const USUAL: [&str; 8] = [
    "1000 0 wakeup 9 Some(CpuId(1))",
    "1002 1 switch 0 R 9",
    "1005 0 switch 0 R 7",
    "1010 0 switch 7 S 0",
    "4004 1 switch 9 R+ 5",
    "4004 1 switch 5 D 9",
    "4500 1 switch 9 S 0",
    "5001 0 switch 0 R 8",
];

fn one_cpu(shape: Shape, pages: Vec<Page>) -> Vec<u8> {
    shape.file(&[Buffer { name: "", clock: "mono", cpus: vec![pages] }], &[])
}

#[test]
fn stamps_extend_replace_and_skip() {
    for endian in [Endian::Little, Endian::Big] {
        let shape = Shape { endian, ..PLAIN };
        let high = 3u64 << 59;
        let records = vec![
            Record::Extend(0x1_2345_6789),
            Record::Data(1, shape.switch(0, 0, 7)),
            Record::Discarded(10, 20),
            Record::Long(100, shape.switch(7, 1, 0)),
            Record::Absolute(high | 0x2_0000_0000),
            Record::Data(2, shape.switch(0, 0, 8)),
        ];
        let file = one_cpu(shape, vec![Page { stamp: high | 1000, records, missed: None }]);
        let start = (high | 1000) + 0x1_2345_6789 + 1;
        let want = [
            format!("{start} 0 switch 0 R 7"),
            format!("{} 0 switch 7 S 0", start + 110),
            format!("{} 0 switch 0 R 8", (high | 0x2_0000_0000) + 2),
        ];
        assert_eq!(lines(&read(&file).expect("reads")), want);
    }
}

#[test]
fn missed_events_are_lost_where_the_gap_begins() {
    let page = |stamp, tid, missed| Page {
        stamp,
        records: vec![Record::Data(3, PLAIN.switch(0, 0, tid))],
        missed,
    };
    for shape in [PLAIN, Shape { long: 4, endian: Endian::Big, ..PLAIN }] {
        let pages = vec![
            page(100, 1, Some(None)),
            page(200, 2, None),
            Page { stamp: 250, records: Vec::new(), missed: Some(Some(9)) },
            page(300, 3, None),
            page(400, 4, Some(Some(17))),
        ];
        let pages = pages.into_iter().map(|mut page| {
            page.records = match &page.records[..] {
                [] => Vec::new(),
                _ => vec![Record::Data(3, shape.switch(0, 0, (page.stamp / 100) as i32))],
            };
            page
        });
        let history = read(&one_cpu(shape, pages.collect())).expect("reads");
        let want = [
            "103 0 lost None",
            "103 0 switch 0 R 1",
            "203 0 switch 0 R 2",
            "203 0 lost Some(9)",
            "303 0 switch 0 R 3",
            "303 0 lost Some(17)",
            "403 0 switch 0 R 4",
        ];
        assert_eq!(lines(&history), want);
        assert_eq!(history.lost_events(), (0, true));
    }
}

#[test]
fn a_cpu_of_which_only_other_events_tell_shows_whom_it_ran() {
    let mut buffers = usual(PLAIN);
    let page = |stamp, current| Page {
        stamp,
        records: vec![
            Record::Data(0, PLAIN.foreign(current)),
            Record::Data(1, PLAIN.foreign(current)),
        ],
        missed: None,
    };
    buffers[0].cpus.push(vec![page(2000, 33), page(3000, 33)]);
    buffers[0].cpus.push(vec![page(2000, 0)]);
    buffers[0].cpus[0].insert(0, page(900, 0));
    let history = read(&PLAIN.file(&buffers, &[])).expect("reads");
    let mut want: Vec<&str> = USUAL.into();
    want.splice(4..4, ["2000 2 named 33", "2000 3 named 0"]);
    assert_eq!(lines(&history), want);
    let start = Start::infer(&history, Default::default());
    let running = history.entries().find(|entry| entry.cpu.0 == 2).and_then(|entry| entry.by.task);
    assert_eq!(start.cpus[2], wastenot_model::CpuMode::Busy(running.expect("told")));
    assert_eq!(start.cpus[3], wastenot_model::CpuMode::Idle);
}

#[test]
fn the_buffer_with_scheduling_events_is_read_and_others_are_named() {
    for shape in [PLAIN, V7, Shape { packer: "zstd", ..V7 }] {
        let mut buffers = usual(shape);
        let page =
            |payload| Page { stamp: 7, records: vec![Record::Data(0, payload)], missed: None };
        let top = vec![vec![page(shape.foreign(1))], vec![]];
        buffers.insert(0, Buffer { name: "", clock: "mono", cpus: top });
        buffers[1].name = "work";
        let late = vec![vec![page(shape.switch(1, 1, 2))], vec![]];
        buffers.push(Buffer { name: "late", clock: "mono", cpus: late });
        let file = shape.file(&buffers, &[]);
        let history = read(&file).expect("reads");
        assert_eq!(lines(&history), USUAL);
        let notes = &history.head.source.notes;
        assert!(notes.contains(&("buffer".into(), "work".into())), "{notes:?}");
        assert!(notes.contains(&("other buffers, not read".into(), "top, late".into())));
        let asked = |name: &str| {
            let options = Options { buffer: Some(name.into()), ..Options::default() };
            super::read(&file, &options)
        };
        assert_eq!(lines(&asked("late").expect("reads")), ["7 0 switch 1 S 2"]);
        assert!(matches!(asked("top"), Err(Error::NoEvents { .. })));
        let missing = asked("other").expect_err("there is no such buffer").to_string();
        assert!(missing.contains("top, work, late"), "{missing}");
    }
}

fn tsc_file(options: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut buffers = usual(V7);
    buffers[0].clock = "x86-tsc";
    V7.file(&buffers, options)
}

#[test]
fn cycles_stay_cycles_unless_a_rate_is_known() {
    let history = read(&tsc_file(&[])).expect("reads");
    assert!(!history.head.clock.nanoseconds);
    assert_eq!(history.losses()[0].kind, LossKind::UnknownUnit);
    let options = Options { clock_hz: Some(2_000_000_000), ..Options::default() };
    let history = super::read(&tsc_file(&[]), &options).expect("reads");
    assert!(history.head.clock.nanoseconds && history.losses().is_empty());
    assert_eq!(history.entries().next().expect("an event").time.0, 500);
    let mut rate = Out::new(Endian::Little);
    rate.int(1 << 10, 4).int(8, 4).int(0, 8);
    let history = read(&tsc_file(&[(14, rate.bytes)])).expect("reads");
    assert!(history.head.clock.nanoseconds);
    assert_eq!(history.entries().next().expect("an event").time.0, 4000);
}

#[test]
fn options_are_told() {
    let options = [
        (5, b"Linux host 6.18\0".to_vec()),
        (8, vec![5, 0, 0, 0]),
        (7, b"100\0".to_vec()),
        (12, vec![0; 16]),
        (13, b"vm1\0\0\0\0\0".to_vec()),
        (2, b"CPU: 1\noverrun: 7\ndropped events: 2\n\0".to_vec()),
        (4711, b"?".to_vec()),
    ];
    for shape in [PLAIN, V7] {
        let history = read(&shape.file(&usual(shape), &options)).expect("reads");
        assert_eq!(history.head.source.kernel.as_deref(), Some("Linux host 6.18"));
        assert_eq!(history.head.clock.name, "mono");
        assert_eq!(history.cpu_count(), 5);
        assert_eq!(history.entries().next().expect("an event").time.0, 1100);
        let keys: Vec<&str> = history.head.source.notes.iter().map(|note| &*note.0).collect();
        assert!(keys.contains(&"guest") && keys.contains(&"recorded together with guests"));
        let [Loss { kind: LossKind::LostEvents, cpu, count: Some(9), .. }] = history.losses()
        else {
            panic!("{:?}", history.losses())
        };
        assert_eq!(cpu.map(|cpu| cpu.0), Some(1));
    }
}

#[test]
fn what_comes_before_a_cut_is_read() {
    let file = PLAIN.file(&usual(PLAIN), &[]);
    let history = read(&file[..file.len() - 2 * 4096 - 100]).expect("the first pages are there");
    assert_eq!(recorded(&history).len(), 5);
}

/// The file up to the options with the places of its data.
fn without_index(shape: Shape) -> Vec<u8> {
    let mut file = shape.file(&usual(shape), &[(4, b"local [mono]\0".to_vec())]);
    let len = file.len();
    // The options of one buffer of two CPUs.
    file.truncate(len - 16 - (6 + 8 + 1 + 5 + 4 + 4 + 2 * 20) - 14);
    file
}

#[test]
fn data_without_an_index_is_found_in_every_shape() {
    for packer in ["none", "zlib", "zstd"] {
        for endian in [Endian::Little, Endian::Big] {
            for (long, page_size) in [(8, 4096), (4, 4096), (8, 65_536)] {
                let shape = Shape { version: 7, endian, long, page_size, packer };
                let mut file = without_index(shape);
                let history = read(&file).expect("reads");
                assert_eq!(recorded(&history), USUAL, "{shape:?}");
                assert_eq!(history.head.clock.name, "mono");
                let cut = |loss: &Loss| loss.kind == LossKind::Cut && loss.cpu.is_none();
                assert!(history.losses().iter().any(cut), "{shape:?}");
                // The writer died before it could write the amount of data.
                let len = data_len(shape, &mut file);
                file[len..len + 8].fill(0);
                assert_eq!(recorded(&read(&file).expect("reads")), USUAL, "{shape:?}");
            }
        }
    }
}

/// The place of the length in the head of the section of data.
fn data_len(shape: Shape, file: &mut [u8]) -> usize {
    let mut head = Out::new(shape.endian);
    head.int(3, 2).int(u64::from(shape.packer != "none"), 2).int(0, 4);
    let found = file.windows(8).rposition(|window| window == head.bytes);
    found.expect("a section of data") + 8
}

#[test]
fn a_stream_that_names_no_cpu_is_left_out_and_counted() {
    for packer in ["none", "zstd"] {
        let shape = Shape { packer, ..V7 };
        let page = |stamp, from, to| Page {
            stamp,
            records: vec![Record::Data(0, shape.switch(from, 1, to))],
            missed: None,
        };
        let cpus = vec![vec![page(50, 0, 7)], vec![page(40, 8, 9)], vec![], vec![page(30, 0, 6)]];
        let buffer = Buffer { name: "", clock: "mono", cpus };
        let mut file = shape.file(&[buffer], &[]);
        file.truncate(file.len() - 100);
        let history = read(&file).expect("reads");
        assert_eq!(recorded(&history), ["30 3 switch 0 S 6", "50 0 switch 0 S 7"], "{packer}");
        let damaged = history.losses().iter().find(|loss| loss.kind == LossKind::Damaged);
        assert_eq!(damaged.and_then(|loss| loss.count), Some(1), "{packer}");
    }
}

#[test]
fn a_damaged_chunk_is_a_gap() {
    let shape = Shape { packer: "zstd", ..V7 };
    let mut buffers = usual(shape);
    let page = buffers[0].cpus[1][0].clone();
    buffers[0].cpus[1].splice(0..0, [page.clone(), page]);
    let mut file = shape.file(&buffers, &[]);
    let magic = b"\x28\xb5\x2f\xfd";
    let frames: Vec<usize> = (0..file.len() - 4).filter(|&at| &file[at..at + 4] == magic).collect();
    let last = *frames.last().expect("a chunk");
    file[last] = 0;
    let history = read(&file).expect("reads");
    assert!(history.losses().iter().any(|loss| loss.kind == LossKind::Damaged));
    assert!(lines(&history).iter().any(|line| line.contains("1 lost None")));
}

#[test]
fn what_cannot_be_read_says_why() {
    let error = |bytes: &[u8]| read(bytes).expect_err("cannot be read").to_string();
    let mut file = PLAIN.file(&usual(PLAIN), &[]);
    assert_eq!(
        error(&file[..30]),
        "trace.dat: the event descriptions are incomplete or damaged (at byte 18)"
    );
    let tag = file.windows(10).position(|tag| tag == b"flyrecord\0").expect("an index");
    file[tag..tag + 10].copy_from_slice(b"latency  \0");
    assert!(error(&file).contains("latency tracer"));
    file[10] = b'8';
    assert_eq!(error(&file), "trace.dat: wastenot cannot read version 8 of this format");
    let file = Shape { packer: "lzma", ..V7 };
    let mut bytes = PLAIN.file(&usual(PLAIN), &[]);
    bytes.truncate(18);
    bytes[10] = b'7';
    bytes.extend(file.packer.as_bytes());
    bytes.extend([0; 10]);
    assert!(error(&bytes).contains("\"lzma\" is unknown"));
    let silent = one_cpu(PLAIN, vec![Page::default()]);
    assert!(matches!(read(&silent), Err(Error::NoEvents { .. })));
}

#[test]
fn a_state_without_letter_is_unknown() {
    let records = vec![Record::Data(0, PLAIN.switch(7, 0x40, 0))];
    let file = one_cpu(PLAIN, vec![Page { stamp: 1, records, missed: None }]);
    let history = read(&file).expect("reads");
    let Some(Event::Switch { left, .. }) = history.entries().next().map(|entry| entry.event) else {
        panic!("a switch");
    };
    assert_eq!(left, Left::Unknown);
}

#[test]
fn a_priority_that_cannot_be_is_unknown() {
    let mut payload = PLAIN.wakeup(0, 9, 0);
    payload[28..32].copy_from_slice(&32_767u32.to_le_bytes());
    let records = vec![Record::Data(0, payload)];
    let file = one_cpu(PLAIN, vec![Page { stamp: 1, records, missed: None }]);
    let history = read(&file).expect("reads");
    let Some(Event::Queued { prio, .. }) = history.entries().next().map(|entry| entry.event) else {
        panic!("a wakeup");
    };
    assert_eq!(prio, Prio::UNKNOWN);
}

/// Changes every byte in turn, to the values most likely to break numbers: no panic, no hang.
#[test]
fn no_byte_can_do_harm() {
    for shape in [PLAIN, Shape { packer: "zstd", ..V7 }, Shape { endian: Endian::Big, ..V7 }] {
        let file = shape.file(&usual(shape), &[(8, vec![2, 0, 0, 0])]);
        // Most of an empty page is never read.
        let spots = (0..file.len())
            .filter(|at| file[at.saturating_sub(40)..][..40].iter().any(|&b| b != 0));
        for at in spots {
            for byte in [0, 0x7f, 0xff, file[at] ^ 1] {
                let mut file = file.clone();
                file[at] = byte;
                let _ = read(&file);
            }
        }
    }
}
