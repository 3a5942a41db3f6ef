//! How a CPU's records are kept until they are merged: by their places, or decoded.

use std::marker::PhantomData;

use wastenot_model::Context;

use super::bytes::Bytes;
use super::events::Events;
use super::own::Own;
use super::records::Record;
use crate::ftrace::event::Outcome;
use crate::ftrace::{Endian, Order};
use crate::merge::Stream;
use crate::raw::{Raw, RawEvent};

/// A CPU's records.
pub(super) trait Keep<'a>: Stream {
    /// The byte order, known to the compiler.
    const ENDIAN: Endian;
    fn new(events: &'a Events, bytes: Bytes<'a>, cpu: u16) -> Self;
    fn sample(&mut self, attr: u16, record: &Record<'_>);
    fn own(&mut self, own: Own);
    /// The record that was just kept is earlier than others: moves it to its place, if that is
    /// among the last [`NEAR`].
    fn late(&mut self) -> bool;
    /// Sorts all by time: they came from more than one buffer.
    fn sort(&mut self);
}

/// How many places a record may be late without a second buffer being the cause.
pub(super) const NEAR: usize = 256;

/// Decodes one CPU's records, one after the other.
pub(super) struct Decoding<'a, O> {
    events: &'a Events,
    cpu: u16,
    /// The time of the last record; a gap begins there.
    last: Option<u64>,
    /// Events lost before the first record.
    lost_first: u64,
    order: PhantomData<O>,
}

impl<'a, O: Order> Decoding<'a, O> {
    pub(super) fn new(events: &'a Events, cpu: u16) -> Self {
        Decoding { events, cpu, last: None, lost_first: 0, order: PhantomData }
    }

    /// The time of a sample.
    pub(super) fn time(&self, attr: u16, sample: Bytes<'_>) -> Option<u64> {
        sample.u64(self.events.fields(attr)?.time.into())
    }

    #[inline(always)]
    pub(super) fn sample(&mut self, attr: u16, sample: Bytes<'_>, out: &mut Vec<Raw>) {
        let Some(fields) = self.events.fields(attr) else { return };
        let Some(time) = sample.u64(fields.time.into()) else { return };
        self.recorded(time, out);
        let raw = self.events.raw(fields, sample).unwrap_or_default();
        let outcome = self.events.decoder.decode::<O>(self.cpu, time, raw, out);
        if outcome == Outcome::Damaged {
            self.gap(1, out);
        }
    }

    pub(super) fn own(&mut self, own: &Own, out: &mut Vec<Raw>) {
        match own {
            Own::Lost { count, .. } => self.gap(*count, out),
            Own::Told(raw) => {
                self.recorded(raw.time, out);
                out.push(*raw);
            }
        }
    }

    /// There is a record at `time`; the loss before the first record is put in front of it.
    #[inline(always)]
    fn recorded(&mut self, time: u64, out: &mut Vec<Raw>) {
        let first = self.last.is_none();
        self.last = self.last.max(Some(time));
        if first && self.lost_first > 0 {
            self.gap(self.lost_first, out);
        }
    }

    #[cold]
    fn gap(&mut self, count: u64, out: &mut Vec<Raw>) {
        let Some(time) = self.last else {
            self.lost_first = self.lost_first.saturating_add(count);
            return;
        };
        let event = RawEvent::Lost { count: u32::try_from(count).ok() };
        out.push(Raw { time, current: -1, context: Context::Unknown, event });
    }
}
