//! Walks the records of ring-buffer pages (`include/linux/ring_buffer.h`) of one CPU.

use std::marker::PhantomData;

use wastenot_model::{Context, Loss, LossKind};

use super::clock::Stamps;
use super::pages::{Found, Pages};
use crate::ftrace::event::Outcome;
use crate::ftrace::format::PageLayout;
use crate::ftrace::{Decoder, Order};
use crate::merge::Stream;
use crate::raw::{Raw, RawEvent};

/// One CPU's records, page by page.
pub(super) struct Ring<'a, O> {
    pages: Pages<'a>,
    walk: Walk<'a>,
    /// Most events that may come out: a small file may unpack to any size.
    room: usize,
    ended: bool,
    order: PhantomData<O>,
}

/// What is known where the walk stands.
struct Walk<'a> {
    decoder: &'a Decoder,
    layout: PageLayout,
    stamps: Stamps,
    cpu: u16,
    /// The stamp of the last record, if there was one.
    last: Option<u64>,
    /// Events were missed since then; how many, where that is told.
    lost: Option<Option<u32>>,
    lost_once: bool,
    /// The first record of an event that is not read.
    foreign: Option<Raw>,
    told: bool,
    damaged: u64,
    page_size: usize,
    /// Overwritten or dropped events by the recorder's own statistics.
    counted: u64,
    overflow: bool,
}

/// Low bits of the commit word are the bytes in use (`RB_WRITE_MASK`).
const USED: u32 = 0xf_ffff;
/// Events were missed before this page (`RB_MISSED_EVENTS`).
const MISSED: u32 = 1 << 31;
/// Their number stands behind the data (`RB_MISSED_STORED`).
const STORED: u32 = 1 << 30;

/// Events of a batch: small, so that the batches of all CPUs stay in cache.
const BATCH: usize = 256;

impl<'a, O: Order> Ring<'a, O> {
    pub(super) fn new(
        (cpu, pages): (u16, Pages<'a>),
        decoder: &'a Decoder,
        layout: PageLayout,
        stamps: Stamps,
        _: O,
    ) -> Ring<'a, O> {
        let walk = Walk {
            decoder,
            layout,
            stamps,
            cpu,
            last: None,
            lost: None,
            lost_once: false,
            foreign: None,
            told: false,
            damaged: 0,
            page_size: pages.page_size(),
            counted: 0,
            overflow: false,
        };
        Ring { pages, walk, room: usize::MAX, ended: false, order: PhantomData }
    }

    /// Lets at most `events` come out.
    pub(super) fn limit(&mut self, events: usize) {
        self.room = events;
    }
    /// How many events the recorder says that it lost.
    pub(super) fn count_lost(&mut self, events: u64) {
        self.walk.counted = events;
    }
    /// Whether any event that is read is in it; walks as far as the first.
    pub(super) fn has_events(mut self) -> bool {
        let mut out = Vec::new();
        self.fill(&mut out);
        self.walk.told
    }
}

impl<O: Order> Stream for Ring<'_, O> {
    fn fill(&mut self, out: &mut Vec<Raw>) {
        let before = out.len();
        while !self.ended && out.len() - before < BATCH {
            match self.pages.next() {
                Found::Page(page) => self.walk.page::<O>(page, out),
                Found::Gap => self.walk.lost = Some(None),
                Found::End => {
                    self.walk.end(out);
                    self.ended = true;
                }
            }
        }
        let new = out.len() - before;
        if new > self.room {
            out.truncate(before + self.room);
            self.walk.overflow = true;
            self.ended = true;
        }
        self.room -= new.min(self.room);
        if !self.walk.stamps.are_times() {
            for raw in &mut out[before..] {
                raw.time = self.walk.stamps.time(raw.time);
            }
        }
    }

    fn losses(&self) -> Vec<Loss> {
        let mut losses = self.pages.losses();
        losses.extend(self.walk.losses());
        losses
    }
}

impl Walk<'_> {
    fn page<O: Order>(&mut self, page: &[u8], out: &mut Vec<Raw>) {
        let layout = self.layout;
        let Some(mut time) = read_u64::<O>(page, layout.timestamp) else { return };
        let Some(commit) = self.commit::<O>(page) else { return };
        let end = layout.data + (commit & USED) as usize;
        if commit & MISSED != 0 {
            let stored = commit & STORED != 0;
            let count = match layout.commit_size {
                4 => read_u32::<O>(page, end).map(u64::from),
                _ => read_u64::<O>(page, end),
            };
            let count = count.filter(|&count| stored && count > 0);
            self.lost = Some(count.map(|count| u32::try_from(count).unwrap_or(u32::MAX - 1)));
        }
        // A page that the end of the file cuts still has its first records.
        let data = page.get(layout.data..end.min(page.len())).unwrap_or_default();
        self.damaged += u64::from(end > self.page_size);
        let mut at = 0;
        while let Some(word) = read_u32::<O>(data, at) {
            let head = Head::new::<O>(word);
            at = match head.kind {
                1..=28 => {
                    time = time.wrapping_add(head.delta.into());
                    let end = at + 4 + 4 * head.kind as usize;
                    self.record::<O>(time, data.get(at + 4..end), out);
                    end
                }
                0 => {
                    time = time.wrapping_add(head.delta.into());
                    let Some(len) = read_u32::<O>(data, at + 4) else { break };
                    let end = (at + 4).saturating_add(len as usize);
                    self.record::<O>(time, data.get(at + 8..end), out);
                    end.max(at + 8)
                }
                29 if head.delta == 0 => break,
                29 => {
                    time = time.wrapping_add(head.delta.into());
                    let Some(len) = read_u32::<O>(data, at + 4) else { break };
                    (at + 4).saturating_add(len as usize).max(at + 8)
                }
                kind => {
                    let Some(high) = read_u32::<O>(data, at + 4) else { break };
                    let stamp = u64::from(high) << 27 | u64::from(head.delta);
                    time =
                        if kind == 30 { time.wrapping_add(stamp) } else { absolute(time, stamp) };
                    at + 8
                }
            };
        }
    }

    fn commit<O: Order>(&self, page: &[u8]) -> Option<u32> {
        let at = self.layout.commit;
        match self.layout.commit_size {
            4 => read_u32::<O>(page, at),
            _ => read_u64::<O>(page, at).map(|commit| commit as u32),
        }
    }

    #[inline(always)]
    fn record<O: Order>(&mut self, time: u64, record: Option<&[u8]>, out: &mut Vec<Raw>) {
        if self.lost.is_some() {
            self.lose(time, out);
        }
        self.last = Some(time);
        let Some(record) = record else {
            self.damaged += 1;
            return;
        };
        match self.decoder.decode::<O>(self.cpu, time, record, out) {
            Outcome::Told => self.told = true,
            Outcome::Damaged => self.damaged += 1,
            Outcome::Foreign { current, context } => {
                if !self.told && self.foreign.is_none() {
                    self.foreign = Some(Raw { time, current, context, event: RawEvent::Seen });
                }
            }
        }
    }

    /// Says that events were lost: the gap begins at the previous record, or at the first one.
    #[cold]
    fn lose(&mut self, now: u64, out: &mut Vec<Raw>) {
        let Some(count) = self.lost.take() else { return };
        self.lost_once = true;
        let time = self.last.unwrap_or(now);
        let event = RawEvent::Lost { count };
        out.push(Raw { time, current: -1, context: Context::Unknown, event });
    }

    /// A CPU of which nothing else is told still shows whom it ran.
    fn end(&mut self, out: &mut Vec<Raw>) {
        if let Some(last) = self.last {
            self.lose(last, out);
        }
        if !self.told && !self.lost_once {
            out.extend(self.foreign);
        }
    }

    fn losses(&self) -> Vec<Loss> {
        let mut losses = Vec::new();
        let mut add = |kind, count, note: &str| {
            let mut loss = Loss::new(kind, note);
            loss.count = count;
            losses.push(loss);
        };
        if self.counted > 0 && !self.lost_once {
            let note = "the recorder overwrote or dropped events before the first that it kept";
            add(LossKind::LostEvents, Some(self.counted), note);
        }
        if self.damaged > 0 {
            let note = "records do not fit their descriptions or pages";
            add(LossKind::Damaged, Some(self.damaged), note);
        }
        if self.overflow {
            let note = "more events than a file of this size can hold; the rest was left out";
            add(LossKind::Damaged, None, note);
        }
        losses
    }
}

/// The first word of a record: what kind it is (1 to 28: words of payload) and how long after
/// the previous one. Big-endian compilers allot bit fields from the top.
struct Head {
    kind: u32,
    delta: u32,
}

impl Head {
    #[inline(always)]
    fn new<O: Order>(word: u32) -> Head {
        match O::ENDIAN {
            crate::ftrace::Endian::Little => Head { kind: word & 31, delta: word >> 5 },
            crate::ftrace::Endian::Big => Head { kind: word >> 27, delta: word & 0x7ff_ffff },
        }
    }
}

/// An absolute stamp has 59 bits; the high ones are those of the time before, and one more where
/// the low ones wrapped.
fn absolute(before: u64, stamp: u64) -> u64 {
    const LOW: u64 = (1 << 59) - 1;
    let time = before & !LOW | stamp & LOW;
    let wrapped = before & !LOW != 0 && time < before;
    if wrapped { time.wrapping_add(1 << 59) } else { time }
}

#[inline(always)]
fn read_u32<O: Order>(bytes: &[u8], at: usize) -> Option<u32> {
    Some(O::u32(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[inline(always)]
fn read_u64<O: Order>(bytes: &[u8], at: usize) -> Option<u64> {
    Some(O::u64(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_stamps_keep_the_high_bits() {
        assert_eq!(absolute(5, 9), 9);
        assert_eq!(absolute(9, 5), 5, "time may go back where there are no high bits");
        let high = 3u64 << 59;
        assert_eq!(absolute(high | 5, 9), high | 9);
        assert_eq!(absolute(high | 9, 5), (4 << 59) | 5, "the low bits wrapped");
    }
}
