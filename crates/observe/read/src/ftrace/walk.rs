//! Walks the records of ring-buffer pages (`include/linux/ring_buffer.h`) of one CPU.

use wastenot_model::{Context, Loss, LossKind};

use super::event::Outcome;
use super::format::PageLayout;
use super::{Decoder, Order};
use crate::raw::{Raw, RawEvent};

/// The state of the walk through one CPU's pages.
#[derive(Debug)]
pub(crate) struct Walk {
    layout: PageLayout,
    page_size: usize,
    cpu: u16,
    /// The stamp of the last record, if there was one.
    last: Option<u64>,
    /// Events were missed since then; the number, if the kernel stored it.
    lost: Option<Option<u32>>,
    /// Whether any loss was reported.
    pub(crate) lost_once: bool,
    /// The first record of an event that is not read.
    foreign: Option<Raw>,
    /// Whether any event that is read was found.
    pub(crate) told: bool,
    /// Records that do not fit their descriptions or pages.
    damaged: u64,
}

/// Low bits of the commit word are the bytes in use (`RB_WRITE_MASK`).
const USED: u32 = 0xf_ffff;
/// Events were missed before this page (`RB_MISSED_EVENTS`).
const MISSED: u32 = 1 << 31;
/// Their number is stored behind the data (`RB_MISSED_STORED`).
const STORED: u32 = 1 << 30;

impl Walk {
    pub(crate) fn new(cpu: u16, layout: PageLayout, page_size: usize) -> Walk {
        Walk {
            layout,
            page_size,
            cpu,
            last: None,
            lost: None,
            lost_once: false,
            foreign: None,
            told: false,
            damaged: 0,
        }
    }

    /// Decodes the records of the next page.
    pub(crate) fn page<O: Order>(&mut self, decoder: &Decoder, page: &[u8], out: &mut Vec<Raw>) {
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
        // A page that the end of the file cuts off still has its first records.
        let data = page.get(layout.data..end.min(page.len())).unwrap_or_default();
        self.damaged += u64::from(end > self.page_size);
        let mut at = 0;
        while let Some(word) = read_u32::<O>(data, at) {
            let head = Head::new::<O>(word);
            at = match head.kind {
                1..=28 => {
                    time = time.wrapping_add(head.delta.into());
                    let end = at + 4 + 4 * head.kind as usize;
                    self.record::<O>(decoder, time, data.get(at + 4..end), out);
                    end
                }
                0 => {
                    time = time.wrapping_add(head.delta.into());
                    let Some(len) = read_u32::<O>(data, at + 4) else { break };
                    let end = (at + 4).saturating_add(len as usize);
                    self.record::<O>(decoder, time, data.get(at + 8..end), out);
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
    fn record<O: Order>(
        &mut self,
        decoder: &Decoder,
        time: u64,
        record: Option<&[u8]>,
        out: &mut Vec<Raw>,
    ) {
        if self.lost.is_some() {
            self.lose(time, out);
        }
        self.last = Some(time);
        let Some(record) = record else {
            self.damaged += 1;
            return;
        };
        match decoder.decode::<O>(self.cpu, time, record, out) {
            Outcome::Told => self.told = true,
            Outcome::Damaged => self.damaged += 1,
            Outcome::Foreign { current, context } => {
                if !self.told && self.foreign.is_none() {
                    self.foreign = Some(Raw { time, current, context, event: RawEvent::Seen });
                }
            }
        }
    }

    /// Reports that events were lost: the gap begins at the previous record, or at the first one.
    #[cold]
    fn lose(&mut self, now: u64, out: &mut Vec<Raw>) {
        let Some(count) = self.lost.take() else { return };
        self.lost_once = true;
        let time = self.last.unwrap_or(now);
        let event = RawEvent::Lost { count };
        out.push(Raw { time, current: -1, context: Context::Unknown, event });
    }

    /// Pages are missing here.
    pub(crate) fn miss(&mut self) {
        self.lost = Some(None);
    }

    /// No page follows: reports a loss that no record came after.
    pub(crate) fn end(&mut self, out: &mut Vec<Raw>) {
        if let Some(last) = self.last {
            self.lose(last, out);
        }
    }

    /// If a CPU has no other event, this still shows which task it ran.
    pub(crate) fn seen(&self) -> Option<Raw> {
        self.foreign.filter(|_| !self.told && !self.lost_once)
    }

    /// The loss for records that could not be decoded.
    pub(crate) fn damage(&self) -> Option<Loss> {
        let note = "records do not match their description, or do not fit into their page";
        let mut loss = Loss::new(LossKind::Damaged, note);
        loss.count = Some(self.damaged);
        (self.damaged > 0).then_some(loss)
    }
}

/// The first word of a record: its kind (1 to 28: words of payload) and the time since the previous
/// record. Big-endian compilers allocate bit fields from the top.
struct Head {
    kind: u32,
    delta: u32,
}

impl Head {
    #[inline(always)]
    fn new<O: Order>(word: u32) -> Head {
        match O::ENDIAN {
            super::Endian::Little => Head { kind: word & 31, delta: word >> 5 },
            super::Endian::Big => Head { kind: word >> 27, delta: word & 0x7ff_ffff },
        }
    }
}

/// An absolute stamp has 59 bits; the high bits are those of the previous time, plus one if the low
/// bits wrapped.
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
