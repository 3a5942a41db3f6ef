use libdeflater::{CompressionLvl, Compressor};
use wastenot_model::*;

use super::fields::{
    bundle, clocks, compact, cpuhp, event, frequency, hotplug, life, packet, rename, service,
    switch, system, trace, tree, wake,
};
use super::{is_trace, wire};
use crate::write::perfetto::wire::Message;
use crate::write::sample::plausible;
use crate::{Error, Options, read};

fn file(packets: &[Message]) -> Vec<u8> {
    let mut file = Message::default();
    packets.iter().for_each(|packet| file.raw(trace::PACKET, packet.bytes()));
    file.bytes().to_vec()
}

fn packet(field: u32, build: impl FnOnce(&mut Message)) -> Message {
    let mut packet = Message::default();
    packet.message(field, build);
    packet
}

fn bundle_of(cpu: u32, build: impl FnOnce(&mut Message)) -> Message {
    packet(packet::FTRACE_EVENTS, |message| {
        message.int(bundle::CPU, cpu);
        build(message);
    })
}

fn event_of(message: &mut Message, time: u64, kind: u32, build: impl FnOnce(&mut Message)) {
    message.message(bundle::EVENT, |message| {
        message.uint(event::TIMESTAMP, time);
        message.int(event::PID, 7);
        message.message(kind, build);
    });
}

fn switch_of(message: &mut Message, time: u64, prev: u32, next: u32) {
    event_of(message, time, event::SCHED_SWITCH, |message| {
        message.int(switch::PREV_PID, prev);
        message.int(switch::PREV_STATE, 1);
        message.int(switch::NEXT_PID, next);
        message.text(switch::NEXT_COMM, "next");
    });
}

fn packed(message: &mut Message, field: u32, values: &[u64]) {
    let mut array = Message::default();
    values.iter().for_each(|&value| array.varint(value));
    message.raw(field, array.bytes());
}

/// Deltas of time, state and tid, of each switch; then delta, tid, target and flags of wakings.
fn compact_of(message: &mut Message, switches: &[[u64; 3]], wakings: &[[u64; 4]]) {
    let column = |rows: &[[u64; 3]], n: usize| rows.iter().map(|row| row[n]).collect::<Vec<_>>();
    let waking = |n: usize| wakings.iter().map(|row| row[n]).collect::<Vec<_>>();
    message.message(bundle::COMPACT_SCHED, |message| {
        message.text(compact::INTERN_TABLE, "zero");
        message.text(compact::INTERN_TABLE, "one");
        packed(message, compact::SWITCH_TIMESTAMP, &column(switches, 0));
        packed(message, compact::SWITCH_PREV_STATE, &column(switches, 1));
        packed(message, compact::SWITCH_NEXT_PID, &column(switches, 2));
        packed(message, compact::SWITCH_NEXT_COMM, &vec![1; switches.len()]);
        packed(message, compact::WAKING_TIMESTAMP, &waking(0));
        packed(message, compact::WAKING_PID, &waking(1));
        packed(message, compact::WAKING_TARGET_CPU, &waking(2));
        packed(message, compact::WAKING_FLAGS, &waking(3));
    });
}

fn read_back(bytes: &[u8]) -> History {
    read(bytes, &Options::default()).expect("a trace")
}

/// The previous task, the next task, and how the previous one left; by tid.
fn switches(history: &History) -> Vec<(u64, i32, i32, Left)> {
    let tid = |task| history.task(task).map_or(0, |task| task.tid);
    let switch = |entry: Entry| match entry.event {
        Event::Switch { prev, next, left, .. } => Some((entry.time.0, tid(prev), tid(next), left)),
        _ => None,
    };
    history.entries().filter_map(switch).collect()
}

fn times(history: &History) -> Vec<u64> {
    history.entries().map(|entry| entry.time.0).collect()
}

#[test]
fn who_leaves_in_compact_form_is_who_came_before() {
    let switches_of = [[100, 0, 5], [10, 0x100, 6], [5, 1, 0]];
    let wakings = [[105, 9, 3, 0], [3, 10, 2, 0x08]];
    let bytes = file(&[
        packet(packet::SYSTEM_INFO, |info| {
            info.message(system::UTSNAME, |name| name.text(system::RELEASE, "6.1.0"));
        }),
        bundle_of(2, |message| compact_of(message, &switches_of, &wakings)),
    ]);
    let history = read_back(&bytes);
    let want =
        [(100, -1, 5, Left::Unknown), (110, 5, 6, Left::Preempted), (115, 6, 0, Left::Sleeping)];
    assert_eq!(switches(&history), want);
    assert_eq!(times(&history), [100, 105, 108, 110, 115]);
    let carries = history.head.carries;
    assert!(carries.has(Carries::WAKINGS | Carries::WAKERS | Carries::CONTEXT | Carries::LEFT));
    assert!(!carries.has(Carries::PLACEMENT), "the target of a waking is no placement");
    let wakings: Vec<Entry> =
        history.entries().filter(|entry| matches!(entry.event, Event::Waking { .. })).collect();
    let by = |entry: &Entry| {
        (entry.by.task.and_then(|t| history.task(t)).map(|t| t.tid), entry.by.context)
    };
    assert_eq!(by(&wakings[0]), (Some(5), Context::Task));
    assert_eq!(by(&wakings[1]), (Some(5), Context::Hardirq));
    assert_eq!(history.task_name(wakings[0].by.task.expect("known")), "one");
}

#[test]
fn before_its_first_compact_switch_a_cpu_is_unknown() {
    let bytes = file(&[
        bundle_of(0, |message| compact_of(message, &[[10, 0, 5]], &[])),
        bundle_of(1, |message| compact_of(message, &[[50, 0, 6], [9, 1, 0]], &[])),
    ]);
    let history = read_back(&bytes);
    let state = Replay::begin(&history, Silent::Unknown, &mut ()).state;
    assert!(state.cpus().all(|(_, cpu)| cpu.mode == CpuMode::Unknown));
    let state = replay(&history, Silent::Unknown, &mut ());
    assert_eq!(state.cpu(CpuId(1)).mode, CpuMode::Idle);
    assert_eq!(state.cpus().map(|(_, cpu)| cpu.waiting).sum::<u32>(), 0);
}

#[test]
fn a_gap_begins_at_the_record_before_it_and_ends_what_is_known() {
    let bytes = file(&[
        bundle_of(0, |message| compact_of(message, &[[10, 0, 5], [10, 1, 6]], &[])),
        bundle_of(0, |message| {
            message.uint(bundle::LOST_EVENTS, 1);
            compact_of(message, &[[50, 1, 7], [10, 1, 8]], &[]);
        }),
        bundle_of(0, |message| message.uint(bundle::LOST_EVENTS, 1)),
    ]);
    let history = read_back(&bytes);
    let lost = history.entries().filter(|entry| matches!(entry.event, Event::Lost { .. }));
    assert_eq!(lost.map(|entry| entry.time.0).collect::<Vec<_>>(), [20, 60]);
    let tids: Vec<_> = switches(&history).iter().map(|switch| switch.1).collect();
    assert_eq!(tids, [-1, 5, -1, 7]);
}

#[test]
fn bundles_come_in_any_order() {
    let one = || bundle_of(1, |message| switch_of(message, 10, 0, 5));
    let two = || bundle_of(1, |message| switch_of(message, 20, 5, 6));
    let three = || bundle_of(0, |message| switch_of(message, 15, 0, 9));
    let sorted = read_back(&file(&[one(), two(), three()]));
    assert_eq!(times(&sorted), [10, 15, 20]);
    for packets in [[three(), two(), one()], [two(), one(), three()]] {
        sorted.same(&read_back(&file(&packets))).expect("the same");
    }
}

#[test]
fn compressed_packets_and_compressed_files_read_as_plain_ones() {
    let history = plausible(3, 400);
    let mut plain = Vec::new();
    crate::write::perfetto(&history, &mut plain).expect("memory");
    let mut deflate = Compressor::new(CompressionLvl::default());
    let mut zlib = vec![0; deflate.zlib_compress_bound(plain.len())];
    let len = deflate.zlib_compress(&plain, &mut zlib).expect("room");
    zlib.truncate(len);
    let mut gzip = vec![0; deflate.gzip_compress_bound(plain.len())];
    let len = deflate.gzip_compress(&plain, &mut gzip).expect("room");
    gzip.truncate(len);
    let zstd = zstd::bulk::compress(&plain, 3).expect("zstd");
    let wrapped = |field, bytes: &[u8]| {
        let mut packet = Message::default();
        packet.raw(field, bytes);
        file(&[packet])
    };
    for bytes in [
        wrapped(packet::COMPRESSED_PACKETS, &zlib),
        wrapped(packet::ZSTD_COMPRESSED_PACKETS, &zstd),
        gzip,
        zstd.clone(),
    ] {
        history.same(&read_back(&bytes)).expect("the same");
    }
    let broken = wrapped(packet::COMPRESSED_PACKETS, &zlib[..zlib.len() / 2]);
    assert!(matches!(read(&broken, &Options::default()), Err(Error::NoEvents { .. })));
}

#[test]
fn stamps_of_another_clock_are_brought_onto_the_boot_clock() {
    let clocked = |cpu, time, clock: u64, pair: Option<(u64, u64)>| {
        bundle_of(cpu, |message| {
            switch_of(message, time, 0, 5);
            message.uint(bundle::FTRACE_CLOCK, clock);
            if let Some((stamp, boot)) = pair {
                message.uint(bundle::FTRACE_TIMESTAMP, stamp);
                message.uint(bundle::BOOT_TIMESTAMP, boot);
            }
        })
    };
    let snapshot = packet(packet::CLOCK_SNAPSHOT, |message| {
        for (id, stamp) in [(clocks::MONOTONIC_RAW, 500), (clocks::BOOTTIME, 1500)] {
            message.message(clocks::CLOCKS, |clock| {
                clock.uint(clocks::ID, id);
                clock.uint(clocks::TIMESTAMP, stamp);
            });
        }
    });
    let bytes = file(&[
        snapshot,
        clocked(0, 3000, 0, None),
        clocked(1, 2500, 4, None),
        clocked(2, 100, 3, Some((90, 3990))),
    ]);
    let history = read_back(&bytes);
    assert_eq!(times(&history), [3000, 3500, 4000]);
    assert_eq!(history.head.clock.name, "boot");

    let alone = read_back(&file(&[clocked(0, 10, 3, None)]));
    assert_eq!((alone.head.clock.name.as_str(), times(&alone)), ("local", vec![10]));
    let odd = read_back(&file(&[clocked(0, 10, 3, None), clocked(1, 20, 0, None)]));
    assert!(odd.losses().iter().any(|loss| loss.kind == LossKind::UnknownUnit));
}

#[test]
fn names_processes_and_rare_events_are_read() {
    let bytes = file(&[
        packet(packet::PROCESS_TREE, |tree| {
            tree.message(tree::PROCESSES, |process| {
                process.int(tree::PROCESS_PID, 7u32);
                process.text(tree::PROCESS_CMDLINE, "/usr/bin/seven --with args");
            });
            tree.message(tree::THREADS, |thread| {
                thread.int(tree::THREAD_TID, 8u32);
                thread.int(tree::THREAD_TGID, 7u32);
                thread.text(tree::THREAD_NAME, "eight");
            });
        }),
        bundle_of(1, |message| {
            event_of(message, 10, event::SCHED_WAKEUP, |message| {
                message.int(wake::PID, 8u32);
                message.int(wake::PRIO, 120);
                message.int(wake::TARGET_CPU, 3u32);
            });
            event_of(message, 11, event::SCHED_WAKEUP, |message| {
                message.int(wake::PID, 8u32);
                message.int(wake::SUCCESS, 0);
            });
            event_of(message, 12, event::CPU_FREQUENCY, |message| {
                message.int(frequency::KHZ, 800_000);
                message.int(frequency::CPU, 2u32);
            });
            event_of(message, 13, event::SCHED_CPU_HOTPLUG, |message| {
                message.int(hotplug::CPU, 2u32);
                message.int(hotplug::UP, 0);
            });
            event_of(message, 14, event::CPUHP_ENTER, |message| {
                message.int(cpuhp::CPU, 1u32);
                message.int(cpuhp::STEP, 150);
                message.int(cpuhp::TARGET, 230);
            });
            event_of(message, 15, event::TASK_RENAME, |message| {
                message.int(rename::PID, 8u32);
                message.text(rename::NEW, "acht");
            });
            event_of(message, 16, event::SCHED_PROCESS_EXIT, |message| {
                message.int(life::PID, 8u32);
            });
        }),
    ]);
    let history = read_back(&bytes);
    let (eight, task) = history.tasks().find(|(_, task)| task.tid == 8).expect("task 8");
    assert_eq!((history.task_name(eight).as_str(), task.pid), ("acht", Some(7)));
    let (seven, _) = history.tasks().find(|(_, task)| task.tid == 7).expect("task 7");
    assert_eq!(history.task_name(seven), "<...>", "a command line is no command name");
    let events: Vec<Event> = history.entries().map(|entry| entry.event).collect();
    let (how, prio) = (How::Wakeup, Prio(Some(120)));
    assert_eq!(events[0], Event::Queued { task: eight, on: Some(CpuId(3)), how, prio });
    assert_eq!(events[1], Event::Freq { cpu: CpuId(2), khz: 800_000 });
    assert_eq!(events[2], Event::Cpu { cpu: CpuId(2), up: false });
    assert_eq!(events[3], Event::Cpu { cpu: CpuId(1), up: true });
    assert_eq!(events.len(), 6, "{events:?}");
    assert!(history.head.carries.has(Carries::PLACEMENT | Carries::TGID));
}

#[test]
fn a_cpu_whose_beginning_was_overwritten_is_unknown_there() {
    let from = |cpu, valid: u64, time| {
        bundle_of(cpu, |message| {
            message.uint(bundle::PREVIOUS_BUNDLE_END, valid);
            switch_of(message, time, 0, 5);
        })
    };
    let history = read_back(&file(&[from(0, 5, 10), from(1, 500, 600)]));
    let state = Replay::begin(&history, Silent::Unknown, &mut ()).state;
    assert_eq!(state.cpu(CpuId(0)).mode, CpuMode::Idle);
    assert_eq!(state.cpu(CpuId(1)).mode, CpuMode::Unknown);
    let history = read_back(&file(&[from(0, 5, 10), from(1, 7, 600)]));
    assert_eq!(history.window().from, Time(7));
}

#[test]
fn a_file_cut_anywhere_tells_so() {
    let history = plausible(6, 300);
    let mut bytes = Vec::new();
    crate::write::perfetto(&history, &mut bytes).expect("memory");
    for cut in 1..bytes.len() {
        let Ok(history) = read(&bytes[..cut], &Options::default()) else { continue };
        let told = history.losses().iter().any(|loss| loss.kind == LossKind::Cut);
        let boundary = wire::Fields::of(&bytes[..cut]).all(|_| true)
            && wire::Fields::of(&bytes[..cut]).fold(0, |_, (_, wire)| wire.bytes().len()) > 0;
        assert!(told || boundary, "{cut} bytes");
    }
}

#[test]
fn other_files_are_not_taken_for_traces() {
    let text = b"\n# tracer: nop\n#\n# entries-in-buffer/entries-written: 3/3   #P:2\n";
    for bytes in [&text[..], b"\n\n\n\n", b"\n", b"\n\x02\x08\x01", b"\xff\xd8\xff\xe0", b"PAR1"] {
        assert!(!is_trace(bytes), "{bytes:?}");
    }
    assert!(is_trace(&file(&[bundle_of(0, |message| switch_of(message, 1, 0, 5))])));
}

/// An event of the recorder at `time` of `clock`, of this `kind`.
fn service_of(time: u64, clock: Option<u64>, kind: u32) -> Message {
    let mut packet = Message::default();
    packet.uint(packet::TIMESTAMP, time);
    clock.into_iter().for_each(|clock| packet.uint(packet::TIMESTAMP_CLOCK_ID, clock));
    packet.message(packet::SERVICE_EVENT, |message| message.uint(kind, 1));
    packet
}

#[test]
fn the_window_ends_with_the_last_flush() {
    const DISABLED: u32 = 5;
    let flushed = service::ALL_DATA_SOURCES_FLUSHED;
    let end = |last: &[Message]| {
        let first = bundle_of(0, |message| switch_of(message, 100, 7, 0));
        let packets: Vec<&Message> = [&first].into_iter().chain(last).collect();
        let mut file = Message::default();
        packets.iter().for_each(|packet| file.raw(trace::PACKET, packet.bytes()));
        read_back(file.bytes()).window().to
    };
    assert_eq!(end(&[]), Time(100));
    let flush = |time| service_of(time, None, flushed);
    assert_eq!(end(&[flush(150), flush(190), flush(170)]), Time(190));
    assert_eq!(end(&[flush(50)]), Time(100));
    // Events between the flush and the end of tracing were not read any more.
    assert_eq!(end(&[flush(150), service_of(300, None, DISABLED)]), Time(150));
    assert_eq!(end(&[service_of(150, Some(clocks::MONOTONIC), flushed)]), Time(100));
}
