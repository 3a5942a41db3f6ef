//! Perfetto's protobuf, from its `.proto` files.

use std::collections::BTreeMap;

use wastenot_model::{Context, History};

use super::Tamper;
use super::tracepoint::{POINTS, Record, STATES_NEW, Value, What, records};

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Perfetto {
    /// Switches and wakings as arrays, nothing else.
    pub compact: bool,
    /// How packets are wrapped.
    pub wrap: Wrap,
    /// The most records in a bundle.
    pub bundle: usize,
    /// Damage to packets.
    pub tamper: Tamper,
}

/// How packets are wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// Not at all.
    Plain,
    /// The whole file is a gzip.
    Gzip,
    /// Packets within `compressed_packets` (zlib).
    Packets,
}

/// A message that is being written.
#[derive(Clone, Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
    fn number(&mut self, field: u32, value: i64) {
        self.varint(u64::from(field) << 3);
        self.varint(value as u64);
    }
    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }
    fn packed(&mut self, field: u32, values: &[i64]) {
        let mut inner = Message::default();
        values.iter().for_each(|&value| inner.varint(value as u64));
        self.bytes(field, &inner.0);
    }
}

/// A whole file.
pub fn perfetto(history: &History, how: &Perfetto) -> Vec<u8> {
    let mut packets = vec![clocks(), system(history), processes(history)];
    let records = records(history);
    for cpu in 0..history.cpu_count() as u16 {
        let own: Vec<&Record> = records.iter().filter(|record| record.cpu == cpu).collect();
        packets.extend(bundles(cpu, &own, how));
    }
    let mut trace = Message::default();
    for (number, packet) in packets.iter_mut().enumerate() {
        how.tamper.piece(number, &mut packet.0);
        if how.wrap == Wrap::Packets {
            let mut inner = Message::default();
            inner.bytes(1, &packet.0);
            let mut outer = Message::default();
            outer.bytes(50, &zlib(&inner.0));
            trace.bytes(1, &outer.0);
        } else {
            trace.bytes(1, &packet.0);
        }
    }
    if how.wrap == Wrap::Gzip { gzip(&trace.0) } else { trace.0 }
}

/// A `ClockSnapshot`: boot time and monotonic time, one second apart.
fn clocks() -> Message {
    let mut snapshot = Message::default();
    for (id, now) in [(6, 5_000_000_000), (3, 4_000_000_000)] {
        let mut clock = Message::default();
        clock.number(1, id);
        clock.number(2, now);
        snapshot.bytes(1, &clock.0);
    }
    let mut packet = Message::default();
    packet.bytes(6, &snapshot.0);
    packet
}

/// A `SystemInfo`: the meaning of `prev_state` depends on the release.
fn system(history: &History) -> Message {
    let mut names = Message::default();
    for (field, text) in [(1, "Linux"), (2, "#1 SMP"), (3, "6.12.0"), (4, "x86_64")] {
        names.bytes(field, text.as_bytes());
    }
    let mut info = Message::default();
    info.bytes(1, &names.0);
    info.number(8, history.cpu_count() as i64);
    let mut packet = Message::default();
    packet.bytes(45, &info.0);
    packet
}

/// A `ProcessTree` with every thread.
fn processes(history: &History) -> Message {
    let mut tree = Message::default();
    for (task, known) in history.tasks() {
        let mut thread = Message::default();
        thread.number(1, i64::from(known.tid));
        thread.bytes(2, history.task_name(task).as_bytes());
        thread.number(3, i64::from(known.tid));
        tree.bytes(2, &thread.0);
    }
    let mut packet = Message::default();
    packet.bytes(2, &tree.0);
    packet
}

fn bundles(cpu: u16, records: &[&Record], how: &Perfetto) -> Vec<Message> {
    let mut packets = Vec::new();
    let mut lost = false;
    let mut rest: Vec<&Record> = Vec::new();
    let mut close = |rest: &mut Vec<&Record>, lost: &mut bool| {
        if rest.is_empty() {
            return;
        }
        let mut bundle = Message::default();
        bundle.number(1, i64::from(cpu));
        if how.compact {
            bundle.bytes(4, &compact(rest).0);
        } else {
            rest.iter().for_each(|record| bundle.bytes(2, &event(record).0));
        }
        if std::mem::take(lost) {
            bundle.number(3, 1);
        }
        rest.clear();
        let mut packet = Message::default();
        packet.bytes(1, &bundle.0);
        packets.push(packet);
    };
    for record in records {
        if matches!(record.what, What::Lost(_)) {
            close(&mut rest, &mut lost);
            lost = true;
            continue;
        }
        rest.push(record);
        if rest.len() == how.bundle {
            close(&mut rest, &mut lost);
        }
    }
    close(&mut rest, &mut lost);
    packets
}

/// A `CompactSched`: arrays with one entry per switch, and with one entry per waking.
fn compact(records: &[&Record]) -> Message {
    let mut names: Vec<String> = Vec::new();
    let mut arrays: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
    let (mut switched, mut woken) = (0, 0);
    for record in records {
        let name = record.point().expect("not a loss").name;
        let mut add = |field: u32, value: i64| arrays.entry(field).or_default().push(value);
        if name == "sched_switch" {
            add(1, record.time as i64 - std::mem::replace(&mut switched, record.time as i64));
            add(2, number(record.value("prev_state")));
            add(3, number(record.value("next_pid")));
            add(4, number(record.value("next_prio")));
            add(6, interned(&mut names, record.value("next_comm")));
        } else if name == "sched_waking" {
            add(7, record.time as i64 - std::mem::replace(&mut woken, record.time as i64));
            add(8, number(record.value("pid")));
            add(9, number(record.value("target_cpu")));
            add(10, number(record.value("prio")));
            add(11, interned(&mut names, record.value("comm")));
            add(12, i64::from(flags(record.context)));
        }
    }
    let mut message = Message::default();
    names.iter().for_each(|name| message.bytes(5, name.as_bytes()));
    arrays.iter().for_each(|(&field, values)| message.packed(field, values));
    message
}

fn interned(names: &mut Vec<String>, name: &Value) -> i64 {
    let Value::Text(name) = name else { panic!("names are texts") };
    if let Some(at) = names.iter().position(|known| known == name) {
        return at as i64;
    }
    names.push(name.clone());
    names.len() as i64 - 1
}

/// An `FtraceEvent`: the message of each tracepoint, and the numbers of its fields.
fn event(record: &Record) -> Message {
    let What::Hit(point, values) = &record.what else { panic!("not a loss") };
    let (kind, fields): (u32, &[u32]) = match POINTS[*point].name {
        "sched_switch" => (4, &[1, 2, 3, 4, 5, 6, 7]),
        "sched_waking" => (20, &[1, 2, 3, 5]),
        "sched_wakeup" => (17, &[1, 2, 3, 5]),
        "sched_wakeup_new" => (114, &[1, 2, 3, 5]),
        "sched_migrate_task" => (491, &[1, 2, 3, 4, 5]),
        "sched_process_fork" => (239, &[1, 2, 3, 4]),
        "sched_process_exec" => (237, &[1, 2, 3]),
        "sched_process_exit" => (238, &[1, 2, 4]),
        "cpu_frequency" => (11, &[1, 2]),
        "cpuhp_enter" => (345, &[1, 4, 3, 2]),
        other => panic!("{other} has no message"),
    };
    let mut inner = Message::default();
    for (&field, value) in fields.iter().zip(values) {
        match value {
            Value::Text(text) => inner.bytes(field, text.as_bytes()),
            value => inner.number(field, number(value)),
        }
    }
    let mut event = Message::default();
    event.number(1, record.time as i64);
    event.number(2, i64::from(record.current.0));
    event.number(5, i64::from(flags(record.context)));
    event.bytes(kind, &inner.0);
    event
}

fn number(value: &Value) -> i64 {
    match value {
        Value::Number(number) => *number,
        Value::Left(left) => i64::from(STATES_NEW.bits(*left)),
        Value::Text(text) => panic!("{text} is no number"),
    }
}

fn flags(context: Context) -> u8 {
    match context {
        Context::Unknown | Context::Task => 0x01,
        Context::Softirq => 0x10,
        Context::Hardirq => 0x18,
    }
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let level = libdeflater::CompressionLvl::new(6).expect("a level");
    let mut compressor = libdeflater::Compressor::new(level);
    let mut out = vec![0; compressor.zlib_compress_bound(bytes.len())];
    let size = compressor.zlib_compress(bytes, &mut out).expect("the bound holds");
    out.truncate(size);
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let level = libdeflater::CompressionLvl::new(6).expect("a level");
    let mut compressor = libdeflater::Compressor::new(level);
    let mut out = vec![0; compressor.gzip_compress_bound(bytes.len())];
    let size = compressor.gzip_compress(bytes, &mut out).expect("the bound holds");
    out.truncate(size);
    out
}
