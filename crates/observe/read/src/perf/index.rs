//! The walk over a perf.data's records: assigns each to its CPU, and keeps other facts in them.
//!
//! perf drains one ring buffer after the other into a perf.data, in rounds. Within one buffer
//! records are in time order, so the records of one CPU are that CPU's stream.

use std::collections::HashMap;
use std::hint::black_box;

use wastenot_model::CpuId;

use super::bytes::Bytes;
use super::events::{Events, Stamp};
use super::keep::Keep;
use super::own::{self, Own};
use super::records::{HEAD, Record, Records, Stop, kind};

/// The contents of the records.
pub(super) struct Index<'a, K> {
    events: &'a Events,
    /// The bytes that contain the records.
    bytes: Bytes<'a>,
    /// By CPU.
    lanes: Vec<Lane<K>>,
    pub(super) names: HashMap<i32, String>,
    pub(super) pids: HashMap<i32, i32>,
    /// How many of the kept records are perf's own.
    own: usize,
    /// Samples with a CPU number that no kernel has.
    pub(super) damaged: u64,
    /// Events lost on an unknown CPU.
    pub(super) lost_somewhere: u64,
    /// The CPU that an event id was opened on.
    id_cpus: HashMap<u64, u32>,
    /// Losses without a CPU: they belong to the buffer of the next sample.
    waiting: Vec<u64>,
}

/// One CPU's part of the file.
struct Lane<K> {
    keep: K,
    /// How many records are kept.
    kept: usize,
    last: u64,
    /// Whether its records came from more than one buffer.
    unsorted: bool,
    /// Events that its records report as lost, and those that perf counted at the end.
    lost: u64,
    counted: u64,
}

impl<'a, K: Keep<'a>> Lane<K> {
    /// A record of this time was kept. An interrupt may write its record into the buffer between
    /// the stamp and the write of another record.
    #[inline(always)]
    fn kept(&mut self, time: u64) {
        self.kept += 1;
        if time < self.last {
            self.unsorted |= !self.keep.late();
        }
        self.last = self.last.max(time);
    }
}

/// Why a walk stops.
pub(super) enum Halt<'r> {
    /// There is no further record.
    Stop(Stop),
    /// This record holds others, compressed.
    Compressed(Record<'r>),
}

impl<'a, K: Keep<'a>> Index<'a, K> {
    pub(super) fn new(events: &'a Events, bytes: Bytes<'a>) -> Self {
        Index {
            events,
            bytes,
            lanes: Vec::new(),
            names: HashMap::new(),
            pids: HashMap::new(),
            own: 0,
            damaged: 0,
            lost_somewhere: 0,
            id_cpus: HashMap::new(),
            waiting: Vec::new(),
        }
    }

    /// Reads `records` from their current position on.
    pub(super) fn walk<'r>(&mut self, records: &mut Records<'r>) -> Halt<'r> {
        // In local variables the place stays in a register.
        let mut walk = Records { bytes: Bytes { endian: K::ENDIAN, ..records.bytes }, ..*records };
        let halt = loop {
            match walk.next() {
                Ok(record) if record.kind == kind::SAMPLE => self.sample(&record),
                Ok(record) if matches!(record.kind, kind::COMPRESSED | kind::COMPRESSED2) => {
                    break Halt::Compressed(record);
                }
                Ok(record) => self.own(&record),
                Err(stop) => break Halt::Stop(stop),
            }
        };
        records.at = walk.at;
        black_box(walk.ahead);
        halt
    }

    /// How many records are kept.
    pub(super) fn kept(&self) -> usize {
        self.lanes.iter().map(|lane| lane.kept).sum()
    }

    /// Whether there is any sample.
    pub(super) fn has_samples(&self) -> bool {
        self.kept() > self.own || self.damaged > 0
    }

    /// The streams of the CPUs that have records.
    pub(super) fn streams(&mut self) -> Vec<(u16, K)> {
        self.waited(None);
        let lanes = std::mem::take(&mut self.lanes).into_iter().zip(0..);
        let lanes = lanes.filter(|(lane, _)| lane.kept > 0);
        let stream = |(mut lane, cpu): (Lane<K>, u16)| {
            if lane.unsorted {
                lane.keep.sort();
            }
            let untold = lane.counted.saturating_sub(lane.lost);
            if untold > 0 {
                lane.keep.own(Own::Lost { time: lane.last, count: untold });
            }
            (cpu, lane.keep)
        };
        lanes.map(stream).collect()
    }

    #[inline(always)]
    fn sample(&mut self, record: &Record<'_>) {
        let found = self.events.sample(record.bytes);
        if !self.waiting.is_empty() {
            self.waited(found.map(|(_, stamp)| stamp));
        }
        let Some((attr, stamp)) = found else { return };
        if let Some(lane) = self.lane(stamp.cpu) {
            lane.keep.sample(attr, record);
            lane.kept(stamp.time);
        }
    }

    /// The keeper of a CPU's records.
    #[inline(always)]
    fn lane(&mut self, cpu: u32) -> Option<&mut Lane<K>> {
        let cpu = cpu as usize;
        if cpu >= self.lanes.len() {
            self.grow(cpu);
        }
        let lane = self.lanes.get_mut(cpu);
        self.damaged += u64::from(lane.is_none());
        lane
    }

    #[cold]
    fn grow(&mut self, cpu: usize) {
        let cpus = if cpu < CpuId::LIMIT { self.lanes.len()..cpu + 1 } else { 0..0 };
        let (kept, last, unsorted) = (0, 0, false);
        for cpu in cpus {
            let keep = K::new(self.events, self.bytes, cpu as u16);
            self.lanes.push(Lane { keep, kept, last, unsorted, lost: 0, counted: 0 });
        }
    }

    /// Reads one of perf's own records.
    #[cold]
    fn own(&mut self, record: &Record<'_>) {
        let stamp = self.events.own_stamp(record);
        let known = match record.kind {
            kind::COMM => self.comm(record),
            kind::FORK => self.fork(record),
            kind::ID_INDEX => self.id_index(record),
            kind::LOST | kind::LOST_SAMPLES => return self.lost(record, stamp).unwrap_or(()),
            kind::EXIT => Some(()),
            _ => return,
        };
        let _ = known; // a record that is too short is ignored
        let Some(stamp) = stamp else { return };
        for own in own::read(self.events, record, stamp.time) {
            if let Some(lane) = self.lane(stamp.cpu) {
                lane.keep.own(own);
                lane.kept(stamp.time);
                self.own += 1;
            }
        }
    }

    /// `{u32 pid, tid; char comm[]}`. Later names of a task are events of its CPU's stream.
    fn comm(&mut self, record: &Record<'_>) -> Option<()> {
        let (pid, tid) = (record.bytes.u32(HEAD)? as i32, record.bytes.u32(HEAD + 4)? as i32);
        self.names.entry(tid).or_insert(own::comm(self.events, record)?.text());
        self.pids.insert(tid, pid);
        Some(())
    }

    /// `{u32 pid, ppid; u32 tid, ptid; u64 time}`.
    fn fork(&mut self, record: &Record<'_>) -> Option<()> {
        let (pid, tid) = (record.bytes.u32(HEAD)? as i32, record.bytes.u32(HEAD + 8)? as i32);
        self.pids.insert(tid, pid);
        Some(())
    }

    /// `{u64 nr; {u64 id, idx, cpu, tid}[nr]}`.
    fn id_index(&mut self, record: &Record<'_>) -> Option<()> {
        for at in (HEAD + 8..record.bytes.len()).step_by(32) {
            let (id, cpu) = (record.bytes.u64(at)?, record.bytes.u64(at + 16)?);
            if cpu < CpuId::LIMIT as u64 {
                self.id_cpus.insert(id, cpu as u32);
            }
        }
        Some(())
    }

    /// The kernel writes LOST into the buffer that was full. perf 6.1 and later also counts per
    /// event at the end, in LOST_SAMPLES without a stamp: the same losses again, and those after
    /// which nothing more was written.
    fn lost(&mut self, record: &Record<'_>, stamp: Option<Stamp>) -> Option<()> {
        /// `PERF_RECORD_MISC_LOST_SAMPLES_BPF`: a filter dropped them on purpose.
        const BY_FILTER: u16 = 1 << 15;
        let count = own::lost(record)?;
        if stamp.is_some() {
            self.lose(count, stamp);
        } else if record.kind == kind::LOST {
            self.waiting.push(count);
        } else if record.misc & BY_FILTER == 0 {
            let id = self.events.trailer_id(record)?;
            let cpu = self.id_cpus.get(&id).map(|&cpu| cpu as usize);
            cpu.into_iter().for_each(|cpu| self.grow(cpu));
            match cpu.and_then(|cpu| self.lanes.get_mut(cpu)) {
                Some(lane) => lane.counted = lane.counted.saturating_add(count),
                None => self.lost_somewhere = self.lost_somewhere.saturating_add(count),
            }
        }
        Some(())
    }

    fn lose(&mut self, count: u64, stamp: Option<Stamp>) {
        let Some(Stamp { time, cpu }) = stamp else {
            self.lost_somewhere = self.lost_somewhere.saturating_add(count);
            return;
        };
        match self.lane(cpu) {
            Some(lane) => {
                lane.lost = lane.lost.saturating_add(count);
                lane.keep.own(Own::Lost { time, count });
                lane.kept(time);
                self.own += 1;
            }
            None => self.lose(count, None),
        }
    }

    /// The sample has come for which losses waited; without a stamp their CPU is unknown.
    #[cold]
    fn waited(&mut self, stamp: Option<Stamp>) {
        for count in std::mem::take(&mut self.waiting) {
            self.lose(count, stamp);
        }
    }
}
