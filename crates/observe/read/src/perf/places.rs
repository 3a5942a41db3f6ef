//! Records in the file itself: kept as places, decoded when they are merged.

use std::hint::black_box;

use super::bytes::Bytes;
use super::events::{ATTRS_MAX, Events};
use super::keep::{Decoding, Keep, NEAR};
use super::own::Own;
use super::records::{LINE, Record, SIZE};
use crate::ftrace::{Endian, Order};
use crate::merge::Stream;
use crate::raw::Raw;

const BATCH: usize = 512;

/// One CPU's records.
pub(super) struct Places<'a, O> {
    bytes: Bytes<'a>,
    decoding: Decoding<'a, O>,
    places: Vec<Place>,
    /// The contents of perf's own records among them.
    own: Vec<Own>,
    next: usize,
}

/// The start of a record, with its attr in the high bits.
#[derive(Clone, Copy)]
struct Place(u64);

/// No attr: an index into `own`.
const OWN: u16 = ATTRS_MAX;
const ATTR_SHIFT: u32 = 48;

impl Place {
    #[inline(always)]
    fn new(attr: u16, at: usize) -> Place {
        Place(u64::from(attr) << ATTR_SHIFT | at as u64)
    }
    #[inline(always)]
    fn attr(self) -> u16 {
        (self.0 >> ATTR_SHIFT) as u16
    }
    #[inline(always)]
    fn at(self) -> usize {
        (self.0 & ((1 << ATTR_SHIFT) - 1)) as usize
    }
}

impl<'a, O: Order> Keep<'a> for Places<'a, O> {
    const ENDIAN: Endian = O::ENDIAN;

    fn new(events: &'a Events, bytes: Bytes<'a>, cpu: u16) -> Self {
        let (places, own) = (Vec::new(), Vec::new());
        let bytes = Bytes { endian: O::ENDIAN, ..bytes };
        Places { bytes, decoding: Decoding::new(events, cpu), places, own, next: 0 }
    }
    #[inline(always)]
    fn sample(&mut self, attr: u16, record: &Record<'_>) {
        self.places.push(Place::new(attr, record.at));
    }
    fn own(&mut self, own: Own) {
        self.places.push(Place::new(OWN, self.own.len()));
        self.own.push(own);
    }
    #[cold]
    fn late(&mut self) -> bool {
        let Some((&late, before)) = self.places.split_last() else { return true };
        let time = self.time(late);
        let later = before.iter().rev().take(NEAR).take_while(|&&place| self.time(place) > time);
        let later = later.count();
        let begin = before.len() - later;
        self.places[begin..].rotate_right(1);
        later < NEAR
    }
    fn sort(&mut self) {
        let mut places = std::mem::take(&mut self.places);
        places.sort_by_cached_key(|&place| self.time(place));
        self.places = places;
    }
}

impl<O: Order> Places<'_, O> {
    fn time(&self, place: Place) -> Option<u64> {
        match place.attr() {
            OWN => Some(self.own.get(place.at())?.time()),
            attr => self.decoding.time(attr, sample(self.bytes, place)?),
        }
    }
}

/// The record at a place.
#[inline(always)]
fn sample(bytes: Bytes<'_>, place: Place) -> Option<Bytes<'_>> {
    let at = place.at();
    bytes.part(at, bytes.u16(at + SIZE)?.into())
}

impl<O: Order> Stream for Places<'_, O> {
    fn fill(&mut self, out: &mut Vec<Raw>) {
        /// How many records ahead memory is prefetched.
        const AHEAD: usize = 16;
        let bytes = Bytes { endian: O::ENDIAN, ..self.bytes };
        let (full, mut touched) = (out.len() + BATCH, 0);
        out.reserve(BATCH);
        while out.len() < full
            && let Some(&place) = self.places.get(self.next)
        {
            if let Some(ahead) = self.places.get(self.next + AHEAD) {
                touched ^= bytes.ahead(ahead.at()) ^ bytes.ahead(ahead.at() + LINE);
            }
            self.next += 1;
            match place.attr() {
                OWN => self.decoding.own(&self.own[place.at()], out),
                attr => {
                    let Some(sample) = sample(bytes, place) else { continue };
                    self.decoding.sample(attr, sample, out);
                }
            }
        }
        black_box(touched);
    }
}
