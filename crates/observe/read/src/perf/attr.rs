//! What was recorded: `perf_event_attr`, and the places of the fields in its samples.
//!
//! Facts from `include/uapi/linux/perf_event.h`: the order of a sample's fields is fixed, and
//! `sample_type` determines which of them are present.

use super::bytes::Bytes;
use crate::ftrace::Endian;

/// `PERF_TYPE_TRACEPOINT`: `config` is the id of a tracepoint.
const TRACEPOINT: u32 = 2;

/// One event that was opened, on every CPU or for every task: one attr with many ids.
#[derive(Clone, Debug)]
pub(super) struct Attr {
    kind: u32,
    /// For a tracepoint its id, the `ID:` of its format.
    pub(super) config: u64,
    /// The sample period: one sample every this many events.
    pub(super) period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    clock: i32,
    /// The ids that its samples carry.
    pub(super) ids: Vec<u64>,
}

/// Bits of `sample_type`, in the order of their fields where it differs from the order of the bits.
mod sample {
    pub(super) const IP: u64 = 1 << 0;
    pub(super) const TID: u64 = 1 << 1;
    pub(super) const TIME: u64 = 1 << 2;
    pub(super) const ADDR: u64 = 1 << 3;
    pub(super) const READ: u64 = 1 << 4;
    pub(super) const CALLCHAIN: u64 = 1 << 5;
    pub(super) const ID: u64 = 1 << 6;
    pub(super) const CPU: u64 = 1 << 7;
    pub(super) const PERIOD: u64 = 1 << 8;
    pub(super) const STREAM_ID: u64 = 1 << 9;
    pub(super) const RAW: u64 = 1 << 10;
    pub(super) const IDENTIFIER: u64 = 1 << 16;
}

/// Bits of `read_format`.
mod read {
    pub(super) const TIME_ENABLED: u64 = 1 << 0;
    pub(super) const TIME_RUNNING: u64 = 1 << 1;
    pub(super) const ID: u64 = 1 << 2;
    pub(super) const GROUP: u64 = 1 << 3;
    pub(super) const LOST: u64 = 1 << 4;
}

/// The one-bit fields that matter, by their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Comm = 9,
    Freq = 10,
    EnableOnExec = 12,
    Task = 13,
    SampleIdAll = 18,
    CommExec = 24,
    UseClockId = 25,
}

impl Attr {
    /// Reads an attr from its bytes; its own size field gives its length.
    pub(super) fn read(bytes: Bytes<'_>, ids: Vec<u64>) -> Option<Attr> {
        let flags = bytes.u64(40)?;
        Some(Attr {
            kind: bytes.u32(0)?,
            config: bytes.u64(8)?,
            period: bytes.u64(16)?,
            sample_type: bytes.u64(24)?,
            read_format: bytes.u64(32)?,
            // C bit fields begin at the highest bit on machines that store the high byte first.
            flags: match bytes.endian {
                Endian::Little => flags,
                Endian::Big => flags.reverse_bits(),
            },
            clock: bytes.u32(92).unwrap_or(0) as i32,
            ids,
        })
    }

    pub(super) fn has(&self, flag: Flag) -> bool {
        self.flags >> flag as u32 & 1 == 1
    }
    pub(super) fn is_tracepoint(&self) -> bool {
        self.kind == TRACEPOINT
    }
    /// Whether some events were left out on purpose.
    pub(super) fn is_sampled(&self) -> bool {
        self.has(Flag::Freq) || self.period > 1
    }
    /// The clock of its stamps, by its ftrace name if it has one. Without `-k` perf stamps with the
    /// scheduler's clock, which ftrace calls `perf`.
    pub(super) fn clock(&self) -> &'static str {
        match (self.has(Flag::UseClockId), self.clock) {
            (false, _) => "perf",
            (_, 0) => "realtime",
            (_, 1) => "mono",
            (_, 4) => "mono_raw",
            (_, 7) => "boot",
            (_, 11) => "tai",
            _ => "",
        }
    }
}

/// The places of the needed fields in one attr's records, in bytes from the record's head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) id: Option<usize>,
    pub(super) time: Option<u16>,
    pub(super) cpu: Option<u16>,
    /// The start of the fields whose sizes vary.
    varying: u16,
    read_format: Option<u64>,
    callchain: bool,
    pub(super) raw: bool,
    pub(super) trailer: Trailer,
}

/// The places of the needed fields in the samples of an attr that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    /// The index of the attr.
    pub(super) attr: u16,
    pub(super) time: u16,
    pub(super) cpu: u16,
    /// The tracepoint's own bytes, unless fields whose sizes vary come before them.
    pub(super) raw: u16,
    pub(super) varying: bool,
}

/// The places of the same fields in records that are not samples (`sample_id_all`), in bytes from
/// their end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) tid: Option<usize>,
    pub(super) time: Option<usize>,
    pub(super) id: Option<usize>,
    pub(super) cpu: Option<usize>,
    pub(super) size: usize,
}

impl Layout {
    pub(super) fn of(attr: &Attr) -> Layout {
        let mut at = 8u16;
        let mut place = |bit: u64| {
            let place = (attr.sample_type & bit != 0).then_some(at);
            at += if place.is_some() { 8 } else { 0 };
            place
        };
        let identifier = place(sample::IDENTIFIER);
        place(sample::IP);
        place(sample::TID);
        let time = place(sample::TIME);
        place(sample::ADDR);
        let id = place(sample::ID);
        place(sample::STREAM_ID);
        let cpu = place(sample::CPU);
        place(sample::PERIOD);
        Layout {
            id: identifier.or(id).map(usize::from),
            time,
            cpu,
            varying: at,
            read_format: (attr.sample_type & sample::READ != 0).then_some(attr.read_format),
            callchain: attr.sample_type & sample::CALLCHAIN != 0,
            raw: attr.sample_type & sample::RAW != 0,
            trailer: Trailer::of(attr),
        }
    }

    /// The places of the needed fields in the samples of `attr`, which has this layout.
    pub(super) fn fields(&self, attr: u16) -> Option<Fields> {
        let varying = self.read_format.is_some() || self.callchain;
        Some(Fields { attr, time: self.time?, cpu: self.cpu?, raw: self.varying, varying })
    }

    /// The tracepoint's own bytes in a sample.
    pub(super) fn raw<'a>(&self, sample: Bytes<'a>) -> Option<&'a [u8]> {
        let at = self.skip(sample)?;
        let size = sample.u32(at)? as usize;
        Some(sample.part(at + 4, size)?.data)
    }

    /// The end of the fields whose sizes vary.
    #[cold]
    fn skip(&self, sample: Bytes<'_>) -> Option<usize> {
        let mut at = usize::from(self.varying);
        if let Some(format) = self.read_format {
            at = at.checked_add(read_size(format, sample.u64(at)?)?)?;
        }
        if self.callchain {
            let frames = usize::try_from(sample.u64(at)?).ok()?;
            at = at.checked_add(frames.checked_mul(8)?.checked_add(8)?)?;
        }
        Some(at)
    }
}

/// Size of the counter values in a sample; `first` is their first word.
fn read_size(format: u64, first: u64) -> Option<usize> {
    let has = |bit: u64| usize::from(format & bit != 0);
    let times = has(read::TIME_ENABLED) + has(read::TIME_RUNNING);
    let each = 1 + has(read::ID) + has(read::LOST);
    let words = match format & read::GROUP {
        0 => times + each,
        _ => usize::try_from(first).ok()?.checked_mul(each)?.checked_add(1 + times)?,
    };
    words.checked_mul(8)
}

impl Trailer {
    fn of(attr: &Attr) -> Trailer {
        if !attr.has(Flag::SampleIdAll) {
            return Trailer::default();
        }
        // From the last field to the first.
        let mut size = 0;
        let mut place = |bit: u64| {
            let is = attr.sample_type & bit != 0;
            size += if is { 8 } else { 0 };
            is.then_some(size)
        };
        let identifier = place(sample::IDENTIFIER);
        let cpu = place(sample::CPU);
        place(sample::STREAM_ID);
        let id = place(sample::ID);
        let time = place(sample::TIME);
        let tid = place(sample::TID);
        Trailer { tid, time, id: identifier.or(id), cpu, size }
    }

    /// The time, if it has one and perf did not synthesise it before recording began.
    pub(super) fn time(self, record: Bytes<'_>) -> Option<u64> {
        record.u64(record.len().checked_sub(self.time?)?).filter(|&time| time != 0)
    }
    pub(super) fn cpu(self, record: Bytes<'_>) -> Option<u32> {
        record.u32(record.len().checked_sub(self.cpu?)?)
    }
    pub(super) fn tid(self, record: Bytes<'_>) -> Option<i32> {
        record.u32(record.len().checked_sub(self.tid?)? + 4).map(|tid| tid as i32)
    }
    pub(super) fn id(self, record: Bytes<'_>) -> Option<u64> {
        record.u64(record.len().checked_sub(self.id?)?)
    }
}
