//! perf's own records that belong to a CPU's stream.

use super::events::Events;
use super::records::{HEAD, Record, kind};
use crate::raw::{Comm, Raw, RawEvent};
use wastenot_model::Context;

/// The content of one of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Own {
    /// Events were lost before the next record.
    Lost { time: u64, count: u64 },
    /// It replaces a tracepoint.
    Told(Raw),
}

impl Own {
    pub(super) fn time(&self) -> u64 {
        match self {
            Own::Lost { time, .. } => *time,
            Own::Told(raw) => raw.time,
        }
    }
}

/// The content of a FORK, EXIT or COMM at this time.
pub(super) fn read(events: &Events, record: &Record<'_>, time: u64) -> Vec<Own> {
    /// `PERF_RECORD_MISC_COMM_EXEC`: the name changed because the task executes a new program.
    const COMM_EXEC: u16 = 1 << 13;
    let tid = |at: usize| record.bytes.u32(at).map(|tid| tid as i32);
    let (Some(second), Some(third)) = (tid(HEAD + 4), tid(HEAD + 8)) else { return Vec::new() };
    let current = events.trailer_tid(record).unwrap_or(-1);
    let told = |event| Own::Told(Raw { time, current, context: Context::Task, event });
    match record.kind {
        // {u32 pid, ppid; u32 tid, ptid}
        kind::FORK => {
            let parent = tid(HEAD + 12).unwrap_or(current);
            vec![told(RawEvent::Fork { parent, child: third, child_comm: Comm::default() })]
        }
        kind::EXIT => vec![told(RawEvent::Exit { tid: third, comm: Comm::default() })],
        // {u32 pid, tid; char comm[]}
        _ => {
            let executes = events.execs && record.misc & COMM_EXEC != 0;
            let comm = comm(events, record).unwrap_or_default();
            let exec = executes.then(|| told(RawEvent::Exec { tid: second }));
            exec.into_iter().chain([told(RawEvent::Rename { tid: second, comm })]).collect()
        }
    }
}

/// How many events a LOST, `{u64 id, lost}`, or LOST_SAMPLES, `{u64 lost}`, reports as lost.
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
