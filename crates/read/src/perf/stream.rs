//! The second pass: decodes one CPU's records.

use std::marker::PhantomData;

use wastenot_model::Context;

use super::bytes::Bytes;
use super::events::Events;
use super::index::{Lane, comm, lost, next_stamp};
use super::records::{HEAD, Record, Records, kind};
use crate::ftrace::Order;
use crate::ftrace::event::Outcome;
use crate::merge::Stream;
use crate::raw::{Comm, Raw, RawEvent};

/// `PERF_RECORD_MISC_COMM_EXEC`: the name changed because the task executes a new program.
const COMM_EXEC: u16 = 1 << 13;
const BATCH: usize = 512;

/// One CPU's records, run by run.
pub(super) struct CpuStream<'a, O> {
    events: &'a Events,
    bytes: Bytes<'a>,
    cpu: u16,
    lane: Lane,
    next_run: usize,
    /// Where the run goes on that is being read.
    at: Option<usize>,
    /// Time of the last record; a gap begins there.
    last: Option<u64>,
    /// Events lost before the first record.
    lost_first: u64,
    order: PhantomData<O>,
}

impl<'a, O: Order> CpuStream<'a, O> {
    pub(super) fn new(events: &'a Events, bytes: Bytes<'a>, cpu: u16, lane: Lane) -> Self {
        CpuStream {
            events,
            bytes,
            cpu,
            lane,
            next_run: 0,
            at: None,
            last: None,
            lost_first: 0,
            order: PhantomData,
        }
    }

    /// Decodes on in the run that goes on at `at`, until `out` is full or the run has ended.
    #[inline]
    fn run(&mut self, at: usize, out: &mut Vec<Raw>, full: usize) {
        let mut records = Records { bytes: self.bytes, at };
        while out.len() < full {
            let Ok(record) = records.next() else { return };
            if record.kind == kind::SAMPLE {
                let Some((opened, stamp)) = self.events.sample(record.bytes) else { continue };
                if stamp.cpu != u32::from(self.cpu) {
                    return;
                }
                self.recorded(stamp.time, out);
                let raw = opened.layout.raw(record.bytes).unwrap_or_default();
                let decoder = &self.events.decoder;
                let outcome = decoder.decode::<O>(self.cpu, stamp.time, raw, out);
                if outcome == Outcome::Damaged {
                    self.gap(1, out);
                }
            } else if !self.own(&record, records, out) {
                return;
            }
            if self.lane.single {
                return;
            }
        }
        self.at = Some(records.at);
    }

    /// One of perf's own records; false when it is another CPU's.
    #[cold]
    fn own(&mut self, record: &Record<'_>, rest: Records<'_>, out: &mut Vec<Raw>) -> bool {
        let mut stamp = self.events.own_stamp(record);
        if stamp.is_none() && record.kind == kind::LOST {
            stamp = next_stamp(self.events, rest);
        }
        match stamp {
            Some(stamp) if stamp.cpu == u32::from(self.cpu) => {
                self.decode_own(record, stamp.time, out);
                true
            }
            Some(_) => false,
            None => true,
        }
    }

    /// There is a record at `time`; what was lost before the first one goes in front of it.
    #[inline]
    fn recorded(&mut self, time: u64, out: &mut Vec<Raw>) {
        let first = self.last.is_none();
        self.last = Some(time);
        if first && self.lost_first > 0 {
            self.gap(self.lost_first, out);
        }
    }

    fn gap(&mut self, count: u64, out: &mut Vec<Raw>) {
        let Some(time) = self.last else {
            self.lost_first = self.lost_first.saturating_add(count);
            return;
        };
        let event = RawEvent::Lost { count: u32::try_from(count).ok() };
        out.push(Raw { time, current: -1, context: Context::Unknown, event });
    }

    fn decode_own(&mut self, record: &Record<'_>, time: u64, out: &mut Vec<Raw>) {
        if matches!(record.kind, kind::LOST | kind::LOST_SAMPLES) {
            return self.gap(lost(record).unwrap_or(0), out);
        }
        let tid = |at: usize| record.bytes.u32(at).map(|tid| tid as i32);
        let (Some(second), Some(third)) = (tid(HEAD + 4), tid(HEAD + 8)) else { return };
        self.recorded(time, out);
        let current = self.events.trailer_tid(record).unwrap_or(-1);
        let mut push = |event| out.push(Raw { time, current, context: Context::Task, event });
        match record.kind {
            // {u32 pid, ppid; u32 tid, ptid}
            kind::FORK => {
                let parent = tid(HEAD + 12).unwrap_or(current);
                push(RawEvent::Fork { parent, child: third, child_comm: Comm::default() });
            }
            kind::EXIT => push(RawEvent::Exit { tid: third, comm: Comm::default() }),
            // {u32 pid, tid; char comm[]}
            _ => {
                if self.events.execs && record.misc & COMM_EXEC != 0 {
                    push(RawEvent::Exec { tid: second });
                }
                let comm = comm(self.events, record).unwrap_or_default();
                push(RawEvent::Rename { tid: second, comm });
            }
        }
    }
}

impl<O: Order> Stream for CpuStream<'_, O> {
    fn fill(&mut self, out: &mut Vec<Raw>) {
        let begin = out.len();
        let full = begin + BATCH;
        while out.len() < full {
            let at = match self.at.take() {
                Some(at) => at,
                None => match self.lane.runs.get(self.next_run) {
                    Some(&run) => {
                        self.next_run += 1;
                        run as usize
                    }
                    None => break,
                },
            };
            self.run(at, out, full);
        }
        // What perf counted as lost and no record told: nothing was written after it.
        if out.len() == begin && self.lane.lost_at_end > 0 {
            let count = std::mem::take(&mut self.lane.lost_at_end);
            self.gap(count, out);
        }
    }
}
