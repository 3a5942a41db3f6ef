//! Sub-buffers of the kernel's ring buffer: the data of each CPU in a trace.dat.

use super::Bytes;
use super::tracepoint::{Layout, Record, What};

/// How sub-buffers are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Bytes of a sub-buffer.
    pub page: usize,
    /// The most records in one, so that small traces have many.
    pub records: usize,
    /// An absolute stamp precedes every this many records; 0 is never.
    pub absolute: usize,
    /// A discarded record precedes every this many records; 0 is never.
    pub discarded: usize,
    /// Whether the number of missed events is stored behind the data.
    pub counts: bool,
}

const DELTA_BITS: u32 = 27;
const PADDING: u64 = 29;
const EXTEND: u64 = 30;
const STAMP: u64 = 31;
/// Absolute stamps keep 59 bits; the page's stamp has the others.
const STAMP_BITS: u64 = (1 << 59) - 1;

/// The description of the head of a sub-buffer.
pub fn header_page(layout: &Layout, page: usize) -> String {
    let (long, data) = (layout.long, 8 + layout.long);
    format!(
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
         \tfield: local_t commit;\toffset:8;\tsize:{long};\tsigned:1;\n\
         \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
         \tfield: char data;\toffset:{data};\tsize:{};\tsigned:0;\n",
        page - data
    )
}

/// The description of the head of a record.
pub const HEADER_EVENT: &str = "# compressed entry header\n\ttype_len    :    5 bits\n\
    \ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n\tpadding     : type == 29\n\
    \ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n";

/// The sub-buffers of one CPU's records.
pub fn pages(records: &[&Record], ring: &Ring, layout: &Layout) -> Vec<u8> {
    let mut out = Vec::new();
    let mut page = Page::new(layout);
    let mut count = 0;
    let mut missed = None;
    for (number, record) in records.iter().enumerate() {
        if let What::Lost(lost) = record.what {
            page.close(ring, &mut missed, &mut out);
            missed = Some(lost);
            count = 0;
            continue;
        }
        let body = page.record(number, record, ring);
        let head = 8 + layout.long;
        if count == ring.records || head + page.data.len() + body.len() > ring.page {
            page.close(ring, &mut missed, &mut out);
            count = 0;
        }
        if page.data.is_empty() {
            (page.start, page.now) = (record.time, record.time);
        }
        let body = page.record(number, record, ring);
        page.data.raw(&body);
        page.now = record.time;
        count += 1;
    }
    page.close(ring, &mut missed, &mut out);
    out
}

struct Page<'a> {
    layout: &'a Layout,
    start: u64,
    now: u64,
    data: Bytes,
}

impl<'a> Page<'a> {
    fn new(layout: &'a Layout) -> Page<'a> {
        Page { layout, start: 0, now: 0, data: Bytes::new(layout.big) }
    }

    /// The bytes of a record if it were the next one here.
    fn record(&self, number: usize, record: &Record, ring: &Ring) -> Vec<u8> {
        let due = |every: usize| every > 0 && number % every == every - 1;
        let now = if self.data.is_empty() { record.time } else { self.now };
        let mut delta = record.time - now;
        let mut out = Bytes::new(self.layout.big);
        if due(ring.discarded) {
            // A discarded record keeps its time; a delta of 0 would end the page.
            if delta > 0 {
                self.head(&mut out, PADDING, 1);
                delta -= 1;
                out.u32(8);
                out.u32(0xdead);
            }
        }
        if due(ring.absolute) {
            let stamp = record.time & STAMP_BITS;
            self.head(&mut out, STAMP, stamp & ((1 << DELTA_BITS) - 1));
            out.u32((stamp >> DELTA_BITS) as usize);
            delta = 0;
        } else if delta >> DELTA_BITS > 0 {
            self.head(&mut out, EXTEND, delta & ((1 << DELTA_BITS) - 1));
            out.u32((delta >> DELTA_BITS) as usize);
            delta = 0;
        }
        let payload = self.layout.payload(record).expect("not a loss");
        // Every seventh record has its length in the long form, as large ones must have it.
        if payload.len() / 4 <= 28 && !number.is_multiple_of(7) {
            self.head(&mut out, payload.len() as u64 / 4, delta);
        } else {
            self.head(&mut out, 0, delta);
            out.u32(payload.len() + 4);
        }
        out.raw(&payload);
        out.data
    }

    fn head(&self, out: &mut Bytes, kind: u64, delta: u64) {
        match self.layout.big {
            false => out.int(kind | delta << 5, 4),
            true => out.int(kind << DELTA_BITS | delta, 4),
        }
    }

    fn close(&mut self, ring: &Ring, missed: &mut Option<Option<u32>>, out: &mut Vec<u8>) {
        if self.data.is_empty() {
            return;
        }
        let long = self.layout.long;
        let data = std::mem::replace(&mut self.data, Bytes::new(self.layout.big));
        let mut commit = data.len() as u64;
        let mut page = Bytes::new(self.layout.big);
        page.u64(self.start);
        page.int(0, long);
        page.raw(&data.data);
        if let Some(lost) = missed.take() {
            commit |= 1 << 31;
            let room = page.len() + long <= ring.page;
            if let (Some(count), true, true) = (lost, ring.counts, room) {
                commit |= 1 << 30;
                page.int(u64::from(count), long);
            }
        }
        page.set(8, commit, long);
        assert!(page.len() <= ring.page, "records fit on their page");
        page.data.resize(ring.page, 0);
        out.extend(page.data);
    }
}
