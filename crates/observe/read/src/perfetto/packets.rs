//! Walks the packets of a trace and sorts them by topic.

use std::collections::BTreeMap;
use std::io::Read;

use libdeflater::{DecompressionError, Decompressor};

use super::clock::{Clocks, Conversion};
use super::fields::{bundle, clocks, compact, event, packet, service, trace};
use super::system::System;
use super::wire::{Fields, Packed, Stop, Wire};
use crate::unpack::limit;

/// All relevant parts of a trace, still as bytes.
#[derive(Debug, Default)]
pub(super) struct Trace<'a> {
    pub(super) cpus: BTreeMap<u16, Vec<Bundle<'a>>>,
    pub(super) clocks: Clocks,
    pub(super) system: System,
    pub(super) packets: u64,
    /// Whether bundles have the compact form, and whether events have flags and the current task.
    pub(super) compact: bool,
    pub(super) context: bool,
    pub(super) current: bool,
    pub(super) cut: bool,
    pub(super) damaged: u64,
    pub(super) unpackable: u64,
    pub(super) errors: u64,
    pub(super) odd_cpus: u64,
    /// When the recorder had last flushed all events until then, on the boot clock.
    flushed: Option<u64>,
    /// Grows with every packet that the recorder dropped: the next bundle of every CPU is suspect.
    drops: u64,
    drops_seen: BTreeMap<u16, u64>,
}

/// What one CPU recorded in a span of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bundle<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) compact: Option<&'a [u8]>,
    pub(super) clock: u64,
    /// Events before this bundle were lost.
    pub(super) lost: bool,
    /// The stamp of its first record; if it has none, that of the bundle before it.
    first: u64,
    has_records: bool,
    /// From when on it is complete, if known.
    valid_from: Option<u64>,
}

/// Whether `bytes` begin like a Perfetto trace, which has no magic: its first packets must be whole
/// messages, and their fields must include some that traces have.
pub(crate) fn is_trace(bytes: &[u8]) -> bool {
    const TELLING: [u32; 18] = [
        packet::FTRACE_EVENTS,
        packet::PROCESS_TREE,
        packet::CLOCK_SNAPSHOT,
        packet::TIMESTAMP,
        packet::PROCESS_STATS,
        packet::SEQUENCE_ID,
        packet::TRACK_EVENT,
        packet::TRACE_CONFIG,
        packet::TRACE_STATS,
        packet::SYNCHRONIZATION_MARKER,
        packet::PREVIOUS_PACKET_DROPPED,
        packet::SYSTEM_INFO,
        packet::COMPRESSED_PACKETS,
        packet::TRACK_DESCRIPTOR,
        packet::CPU_INFO,
        packet::FIRST_PACKET_ON_SEQUENCE,
        packet::TRACE_UUID,
        packet::ZSTD_COMPRESSED_PACKETS,
    ];
    /// Those of them that are not messages or texts.
    const INTEGERS: [u32; 4] = [
        packet::TIMESTAMP,
        packet::SEQUENCE_ID,
        packet::PREVIOUS_PACKET_DROPPED,
        packet::FIRST_PACKET_ON_SEQUENCE,
    ];
    /// No field of a packet has a larger number.
    const LARGEST: u32 = 4096;
    let mut packets = Fields::of(bytes);
    let mut telling = 0;
    for (number, wire) in packets.by_ref().take(8) {
        let (trace::PACKET, Wire::Bytes(message)) = (number, wire) else { return false };
        let mut fields = Fields::of(message);
        for (number, wire) in fields.by_ref() {
            let known = TELLING.contains(&number);
            let fits = INTEGERS.contains(&number) != matches!(wire, Wire::Bytes(_));
            if number > LARGEST || known && !fits {
                return false;
            }
            telling += u32::from(known);
        }
        if fields.stop.is_some() {
            return false;
        }
    }
    telling > 0 && packets.stop != Some(Stop::Damaged)
}

/// The contents of the compressed packets of a trace, in their order; empty if one cannot be
/// unpacked.
pub(super) fn unpack(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut room = limit(bytes.len());
    let mut unpacked = Vec::new();
    for (_, message) in Fields::of(bytes).filter(|(number, _)| *number == trace::PACKET) {
        for (number, wire) in Fields::of(message.bytes()) {
            let packets = match number {
                packet::COMPRESSED_PACKETS => inflate(wire.bytes(), room),
                packet::ZSTD_COMPRESSED_PACKETS => unzstd(wire.bytes(), room),
                _ => continue,
            };
            let packets = packets.unwrap_or_default();
            room -= packets.len();
            unpacked.push(packets);
        }
    }
    unpacked
}

/// Packets are compressed half a megabyte at a time, so room is doubled until it suffices.
fn inflate(bytes: &[u8], room: usize) -> Option<Vec<u8>> {
    let mut size = bytes.len().saturating_mul(8).max(4096).min(room);
    loop {
        let mut out = vec![0; size];
        match Decompressor::new().zlib_decompress(bytes, &mut out) {
            Ok(len) => {
                out.truncate(len);
                return Some(out);
            }
            Err(DecompressionError::InsufficientSpace) if size < room => {
                size = size.saturating_mul(4).min(room);
            }
            Err(_) => return None,
        }
    }
}

fn unzstd(bytes: &[u8], room: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let decoder = zstd::stream::read::Decoder::with_buffer(bytes).ok()?;
    decoder.take(room as u64).read_to_end(&mut out).ok()?;
    Some(out)
}

impl<'a> Trace<'a> {
    /// Reads every packet. `unpacked` is the result of [`unpack`] for the compressed ones.
    pub(super) fn scan(bytes: &'a [u8], unpacked: &'a [Vec<u8>]) -> Trace<'a> {
        let mut found = Trace::default();
        let mut unpacked = unpacked.iter();
        let mut packets = Fields::of(bytes);
        for (number, wire) in packets.by_ref() {
            if number != trace::PACKET {
                continue;
            }
            found.packet(wire.bytes(), &mut unpacked);
        }
        found.cut = packets.stop == Some(Stop::Cut);
        found.damaged += u64::from(packets.stop == Some(Stop::Damaged));
        found
    }

    fn packet(&mut self, message: &'a [u8], unpacked: &mut std::slice::Iter<'a, Vec<u8>>) {
        self.packets += 1;
        let mut fields = Fields::of(message);
        let (mut dropped, mut first) = (false, false);
        let (mut bundles, mut flushed) = (None, false);
        let (mut stamp, mut clock) = (None, clocks::BOOTTIME);
        for (number, wire) in fields.by_ref() {
            match number {
                packet::FTRACE_EVENTS => bundles = Some(wire.bytes()),
                packet::TIMESTAMP => stamp = wire.int(),
                packet::TIMESTAMP_CLOCK_ID => clock = wire.int_or(0),
                packet::SERVICE_EVENT => flushed = tells_flush(wire.bytes()),
                packet::PROCESS_TREE => self.system.process_tree(wire.bytes()),
                packet::PROCESS_STATS => self.system.process_stats(wire.bytes()),
                packet::CLOCK_SNAPSHOT => self.snapshot(wire.bytes()),
                packet::SYSTEM_INFO => self.system.system_info(wire.bytes()),
                packet::CPU_INFO => self.system.cpu_info(wire.bytes()),
                packet::PREVIOUS_PACKET_DROPPED => dropped = wire.int_or(0) != 0,
                packet::FIRST_PACKET_ON_SEQUENCE => first = wire.int_or(0) != 0,
                packet::COMPRESSED_PACKETS | packet::ZSTD_COMPRESSED_PACKETS => {
                    let packets = unpacked.next().map_or(&[][..], Vec::as_slice);
                    self.unpackable += u64::from(packets.is_empty());
                    let inner = Fields::of(packets).filter(|(number, _)| *number == trace::PACKET);
                    // Compressed packets inside compressed packets do not exist.
                    inner.for_each(|(_, wire)| self.packet(wire.bytes(), &mut [].iter()));
                }
                _ => {}
            }
        }
        self.damaged += u64::from(fields.stop.is_some());
        if flushed && clock == clocks::BOOTTIME {
            self.flushed = self.flushed.max(stamp);
        }
        if let Some(bytes) = bundles {
            self.drops += u64::from(dropped && !first);
            self.bundle(bytes);
        }
    }

    fn bundle(&mut self, bytes: &'a [u8]) {
        let mut cpu = 0;
        let mut found = Bundle {
            bytes,
            compact: None,
            clock: 0,
            lost: false,
            first: u64::MAX,
            has_records: false,
            valid_from: None,
        };
        let (mut stamp, mut boot) = (None, None);
        let mut see_event = true;
        for (number, wire) in Fields::of(bytes) {
            match number {
                bundle::EVENT if see_event => {
                    see_event = false;
                    self.see_event(wire.bytes(), &mut found);
                }
                bundle::CPU => cpu = wire.int_or(0),
                bundle::LOST_EVENTS => found.lost = wire.int_or(0) != 0,
                bundle::COMPACT_SCHED => {
                    found.compact = Some(wire.bytes());
                    self.see_compact(wire.bytes(), &mut found);
                }
                bundle::FTRACE_CLOCK => found.clock = wire.int_or(0),
                bundle::FTRACE_TIMESTAMP => stamp = wire.int(),
                bundle::BOOT_TIMESTAMP => boot = wire.int(),
                bundle::ERROR => self.errors += 1,
                bundle::PREVIOUS_BUNDLE_END => found.valid_from = wire.int(),
                _ => {}
            }
        }
        self.clocks.uses(found.clock);
        if let (Some(stamp), Some(boot)) = (stamp, boot) {
            self.clocks.pair(found.clock, stamp, boot);
        }
        let Some(cpu) = super::cpu_id(cpu) else {
            self.odd_cpus += 1;
            return;
        };
        let seen = self.drops_seen.insert(cpu.0, self.drops);
        found.lost |= seen.is_some_and(|seen| seen < self.drops);
        if found.has_records || found.lost {
            self.cpus.entry(cpu.0).or_default().push(found);
        }
    }

    fn see_event(&mut self, message: &[u8], found: &mut Bundle<'_>) {
        for (number, wire) in Fields::of(message) {
            match number {
                event::TIMESTAMP => {
                    found.first = found.first.min(wire.int_or(u64::MAX));
                    found.has_records = true;
                }
                event::PID => self.current = true,
                event::COMMON_FLAGS => self.context = true,
                _ => {}
            }
        }
    }

    fn see_compact(&mut self, message: &[u8], found: &mut Bundle<'_>) {
        for (number, wire) in Fields::of(message) {
            match number {
                compact::SWITCH_TIMESTAMP | compact::WAKING_TIMESTAMP => {
                    let Some(first) = Packed::of(wire.bytes()).next() else { continue };
                    found.first = found.first.min(first);
                    found.has_records = true;
                    self.compact |= number == compact::SWITCH_TIMESTAMP;
                }
                compact::WAKING_FLAGS => self.context = true,
                _ => {}
            }
        }
    }

    fn snapshot(&mut self, message: &[u8]) {
        let (mut raw, mut boot) = (None, None);
        for (_, clock) in Fields::of(message).filter(|(number, _)| *number == clocks::CLOCKS) {
            let (mut id, mut stamp) = (0, None);
            for (number, wire) in Fields::of(clock.bytes()) {
                match number {
                    clocks::ID => id = wire.int_or(0),
                    clocks::TIMESTAMP => stamp = wire.int(),
                    _ => {}
                }
            }
            match id {
                clocks::MONOTONIC_RAW => raw = stamp,
                clocks::BOOTTIME => boot = stamp,
                _ => {}
            }
        }
        if let (Some(raw), Some(boot)) = (raw, boot) {
            self.clocks.raw_pair(raw, boot);
        }
    }

    /// Puts the bundles of each CPU in time order: a recorder may drain buffers in any order. A
    /// bundle without records stays behind the one that it came after.
    pub(super) fn order(&mut self, clocks: &Conversion) {
        let earliest = self.earliest(clocks);
        for bundles in self.cpus.values_mut() {
            let mut last = 0;
            for bundle in bundles.iter_mut() {
                if !bundle.has_records {
                    bundle.first = last;
                }
                last = bundle.first;
            }
            bundles.sort_by_key(|bundle| bundle.first);
            // The beginning of this CPU's records was overwritten while that of others was kept.
            let first = &mut bundles[0];
            let valid = first.valid_from.map(|from| shifted(from, first.clock, clocks));
            first.lost |= valid > earliest && earliest.is_some();
        }
    }

    /// Stamp of the first record of any CPU.
    fn earliest(&self, clocks: &Conversion) -> Option<u64> {
        let bundles = self.cpus.values().flatten().filter(|bundle| bundle.has_records);
        bundles.map(|bundle| shifted(bundle.first, bundle.clock, clocks)).min()
    }

    /// Until when every CPU's records are complete, if known: the last flush. Events between it and
    /// the end of tracing (`tracing_disabled`) may not have been read any more.
    pub(super) fn valid_to(&self, clocks: &Conversion) -> Option<u64> {
        self.flushed.filter(|_| !self.cut && clocks.is_boot())
    }

    /// From when on every CPU's records are complete, if all bundles state it.
    pub(super) fn valid_from(&self, clocks: &Conversion) -> Option<u64> {
        let from = |bundles: &Vec<Bundle<'_>>| {
            let first = bundles.first()?;
            first.valid_from.filter(|&from| from > 0).map(|from| shifted(from, first.clock, clocks))
        };
        let from = self.cpus.values().map(from).collect::<Option<Vec<u64>>>()?.into_iter().max();
        from.filter(|&from| self.earliest(clocks).is_some_and(|earliest| from <= earliest))
    }
}

fn tells_flush(message: &[u8]) -> bool {
    let mut fields = Fields::of(message);
    fields.any(|(number, wire)| number == service::ALL_DATA_SOURCES_FLUSHED && wire.int_or(0) != 0)
}

fn shifted(stamp: u64, clock: u64, clocks: &Conversion) -> u64 {
    stamp.saturating_add_signed(clocks.offset(clock))
}
