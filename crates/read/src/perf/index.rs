//! The first pass: finds the parts of each CPU's stream, copies nothing.
//!
//! A perf.data holds what was drained from one ring buffer after the other, in rounds. Within one
//! buffer records are in time order, so the records of one CPU are that CPU's stream. Only where a
//! run of records of one CPU begins is kept: at most 8 bytes an event, mostly far less.

use std::collections::HashMap;

use wastenot_model::CpuId;

use super::bytes::Bytes;
use super::events::{Events, Stamp};
use super::records::{HEAD, Record, Records, Stop, kind};
use crate::raw::Comm;

/// What the first pass found.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// By CPU.
    pub(super) lanes: Vec<Lane>,
    pub(super) names: HashMap<i32, String>,
    pub(super) pids: HashMap<i32, i32>,
    pub(super) samples: u64,
    /// Samples of CPUs that no kernel has.
    pub(super) damaged: u64,
    /// Events lost on a CPU that is not told.
    pub(super) lost_somewhere: u64,
    pub(super) stop: Option<Stop>,
    /// The CPU that an event id was opened on.
    id_cpus: HashMap<u64, u32>,
    /// The CPU of the last record that belongs to a stream.
    run: Option<u32>,
}

/// One CPU's part of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    /// Where each run of its records begins.
    pub(super) runs: Vec<u64>,
    /// Each of `runs` is one record, sorted by time: it came out of more than one buffer.
    pub(super) single: bool,
    /// Events lost after its last record.
    pub(super) lost_at_end: u64,
    last: u64,
    unsorted: bool,
    /// Events that its records call lost, and that perf counted at the end.
    lost: u64,
    counted: u64,
}

/// The records hold compressed ones: inflate first.
pub(super) struct Compressed;

impl Index {
    pub(super) fn build(events: &Events, bytes: Bytes<'_>) -> Result<Index, Compressed> {
        let mut index = Index::default();
        let mut records = Records { bytes, at: 0 };
        loop {
            match records.next() {
                Ok(record) if matches!(record.kind, kind::COMPRESSED | kind::COMPRESSED2) => {
                    return Err(Compressed);
                }
                Ok(record) => index.record(events, &record, records),
                Err(stop) => {
                    index.stop = Some(stop);
                    break;
                }
            }
        }
        for cpu in 0..index.lanes.len() {
            let lane = &mut index.lanes[cpu];
            lane.lost_at_end = lane.counted.saturating_sub(lane.lost);
            if lane.unsorted {
                lane.sort(cpu as u32, events, bytes);
            }
        }
        Ok(index)
    }

    #[inline]
    fn record(&mut self, events: &Events, record: &Record<'_>, rest: Records<'_>) {
        let mut stamp = events.stamp(record);
        if record.kind == kind::SAMPLE {
            self.samples += u64::from(stamp.is_some());
        } else {
            self.note(events, record, &mut stamp, rest);
        }
        if let Some(stamp) = stamp {
            self.place(record.at, stamp);
        }
    }

    #[inline]
    fn place(&mut self, at: usize, stamp: Stamp) {
        let Some(lane) = self.lane(stamp.cpu) else {
            self.damaged += 1;
            return;
        };
        lane.unsorted |= stamp.time < lane.last;
        lane.last = stamp.time;
        if self.run != Some(stamp.cpu) {
            self.run = Some(stamp.cpu);
            self.lanes[stamp.cpu as usize].runs.push(at as u64);
        }
    }

    #[inline]
    fn lane(&mut self, cpu: u32) -> Option<&mut Lane> {
        let cpu = cpu as usize;
        if cpu >= self.lanes.len() && cpu < CpuId::LIMIT {
            self.lanes.resize_with(cpu + 1, Lane::default);
        }
        self.lanes.get_mut(cpu)
    }

    /// Takes in what perf's own records say.
    fn note(
        &mut self,
        events: &Events,
        record: &Record<'_>,
        stamp: &mut Option<Stamp>,
        rest: Records<'_>,
    ) {
        let known = match record.kind {
            kind::COMM => self.comm(events, record),
            kind::FORK => self.fork(record),
            kind::ID_INDEX => self.id_index(record),
            kind::LOST | kind::LOST_SAMPLES => self.lost(events, record, stamp, rest),
            _ => return,
        };
        let _ = known; // a record too short to say it says nothing
    }

    /// `{u32 pid, tid; char comm[]}`. Later names of a task are events of its CPU's stream.
    fn comm(&mut self, events: &Events, record: &Record<'_>) -> Option<()> {
        let (pid, tid) = (record.bytes.u32(HEAD)? as i32, record.bytes.u32(HEAD + 4)? as i32);
        self.names.entry(tid).or_insert(comm(events, record)?.text());
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

    /// `{u64 id, lost}` or, for LOST_SAMPLES, `{u64 lost}`.
    ///
    /// The kernel writes the former into the buffer that had no room. perf 6.1 and later also
    /// counts per event at the end, in LOST_SAMPLES without a stamp: the same losses again, and
    /// those after which nothing more was written.
    fn lost(
        &mut self,
        events: &Events,
        record: &Record<'_>,
        stamp: &mut Option<Stamp>,
        rest: Records<'_>,
    ) -> Option<()> {
        /// `PERF_RECORD_MISC_LOST_SAMPLES_BPF`: a filter let them go on purpose.
        const BY_FILTER: u16 = 1 << 15;
        let count = lost(record)?;
        let counted = stamp.is_none() && record.kind == kind::LOST_SAMPLES;
        if counted {
            let id = events.trailer_id(record)?;
            match self.id_cpus.get(&id).copied().and_then(|cpu| self.lane(cpu)) {
                _ if record.misc & BY_FILTER != 0 => {}
                Some(lane) => lane.counted = lane.counted.saturating_add(count),
                None => self.lost_somewhere = self.lost_somewhere.saturating_add(count),
            }
            return Some(());
        }
        // Without a stamp of its own it is of the buffer that the next record came out of.
        *stamp = stamp.or_else(|| next_stamp(events, rest));
        match stamp.and_then(|stamp| self.lane(stamp.cpu)) {
            Some(lane) => lane.lost = lane.lost.saturating_add(count),
            None => self.lost_somewhere = self.lost_somewhere.saturating_add(count),
        }
        Some(())
    }
}

/// Where the next sample was made.
pub(super) fn next_stamp(events: &Events, mut rest: Records<'_>) -> Option<Stamp> {
    const FAR: usize = 64;
    for _ in 0..FAR {
        let record = rest.next().ok()?;
        if record.kind == kind::SAMPLE {
            return events.stamp(&record);
        }
    }
    None
}

/// How many events a LOST or LOST_SAMPLES record says are lost.
pub(super) fn lost(record: &Record<'_>) -> Option<u64> {
    let at = if record.kind == kind::LOST { HEAD + 8 } else { HEAD };
    record.bytes.u64(at)
}

/// The name in a COMM record: between its ids and its trailer.
pub(super) fn comm(events: &Events, record: &Record<'_>) -> Option<Comm> {
    let end = record.bytes.len().checked_sub(events.trailer_size())?;
    let name = record.bytes.data.get(HEAD + 8..end)?;
    Some(Comm::new(name))
}

impl Lane {
    /// Makes each record a run of its own, in time order.
    fn sort(&mut self, cpu: u32, events: &Events, bytes: Bytes<'_>) {
        let mut all = Vec::new();
        for &run in &self.runs {
            let mut records = Records { bytes, at: run as usize };
            while let Ok(record) = records.next() {
                match events.stamp(&record) {
                    Some(stamp) if stamp.cpu == cpu => all.push((stamp.time, record.at as u64)),
                    Some(_) => break,
                    None => {}
                }
            }
        }
        all.sort_by_key(|&(time, _)| time);
        self.runs = all.into_iter().map(|(_, at)| at).collect();
        self.single = true;
    }
}
