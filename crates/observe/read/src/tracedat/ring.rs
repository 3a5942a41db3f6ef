//! The records of one CPU of a trace.dat, as a stream.

use std::marker::PhantomData;

use wastenot_model::{Loss, LossKind};

use super::clock::Stamps;
use super::pages::{Found, Pages};
use crate::ftrace::format::PageLayout;
use crate::ftrace::{Decoder, Order, Walk};
use crate::merge::Stream;
use crate::raw::Raw;

/// One CPU's records, page by page.
pub(super) struct Ring<'a, O> {
    pages: Pages<'a>,
    walk: Walk,
    decoder: &'a Decoder,
    stamps: Stamps,
    /// Overwritten or dropped events by the recorder's own statistics.
    counted: u64,
    /// The most events that may come out: a small file may unpack to any size.
    room: usize,
    overflow: bool,
    ended: bool,
    order: PhantomData<O>,
}

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
        let walk = Walk::new(cpu, layout, pages.page_size());
        let (counted, room, overflow, ended) = (0, usize::MAX, false, false);
        Ring { pages, walk, decoder, stamps, counted, room, overflow, ended, order: PhantomData }
    }

    /// Limits the output to `events` events.
    pub(super) fn limit(&mut self, events: usize) {
        self.room = events;
    }
    /// Sets how many events the recorder reports as lost.
    pub(super) fn count_lost(&mut self, events: u64) {
        self.counted = events;
    }
    /// Whether it contains any event that is read; walks up to the first.
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
                Found::Page(page) => self.walk.page::<O>(self.decoder, page, out),
                Found::Gap => self.walk.miss(),
                Found::End => {
                    self.walk.end(out);
                    out.extend(self.walk.seen());
                    self.ended = true;
                }
            }
        }
        let new = out.len() - before;
        if new > self.room {
            out.truncate(before + self.room);
            self.overflow = true;
            self.ended = true;
        }
        self.room -= new.min(self.room);
        if !self.stamps.are_times() {
            for raw in &mut out[before..] {
                raw.time = self.stamps.time(raw.time);
            }
        }
    }

    fn losses(&self) -> Vec<Loss> {
        let mut losses = self.pages.losses();
        if self.counted > 0 && !self.walk.lost_once {
            let note = "the recorder overwrote or dropped events before the first event of the \
                        trace";
            let mut loss = Loss::new(LossKind::LostEvents, note);
            loss.count = Some(self.counted);
            losses.push(loss);
        }
        losses.extend(self.walk.damage());
        if self.overflow {
            let note = "the data contain more events than the size of the file allows; the events \
                        above this limit were skipped";
            losses.push(Loss::new(LossKind::Damaged, note));
        }
        losses
    }
}
