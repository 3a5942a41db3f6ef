//! Records from compressed ones: decoded at once, since their bytes do not stay in memory.

use super::bytes::Bytes;
use super::events::Events;
use super::keep::{Decoding, Keep, NEAR};
use super::own::Own;
use super::records::Record;
use crate::ftrace::{Endian, Order};
use crate::merge::Stream;
use crate::raw::Raw;

/// One CPU's records.
pub(super) struct Unpacked<'a, O> {
    decoding: Decoding<'a, O>,
    /// In pieces, so that memory is freed while they are merged. The last piece grows.
    pieces: Vec<Vec<Raw>>,
    /// How many of them were handed out.
    next: usize,
}

const PIECE: usize = 4096;

impl<O: Order> Unpacked<'_, O> {
    /// The piece that has room.
    #[inline(always)]
    fn room(pieces: &mut Vec<Vec<Raw>>) -> &mut Vec<Raw> {
        // A record may push two events: the loss before it, and itself.
        if pieces.last().is_none_or(|piece| piece.len() + 2 > PIECE) {
            pieces.push(Vec::with_capacity(PIECE));
        }
        pieces.last_mut().expect("one was pushed")
    }
}

impl<'a, O: Order> Keep<'a> for Unpacked<'a, O> {
    const ENDIAN: Endian = O::ENDIAN;

    fn new(events: &'a Events, _: Bytes<'a>, cpu: u16) -> Self {
        Unpacked { decoding: Decoding::new(events, cpu), pieces: Vec::new(), next: 0 }
    }
    #[inline(always)]
    fn sample(&mut self, attr: u16, record: &Record<'_>) {
        self.decoding.sample(attr, record.bytes, Self::room(&mut self.pieces));
    }
    fn own(&mut self, own: Own) {
        self.decoding.own(&own, Self::room(&mut self.pieces));
    }
    #[cold]
    fn late(&mut self) -> bool {
        if self.pieces.last().is_some_and(|piece| piece.len() <= NEAR) {
            // Its place may be in the previous piece, which then grows once.
            let last = self.pieces.pop().unwrap_or_default();
            match self.pieces.last_mut() {
                Some(before) => before.extend(last),
                None => self.pieces.push(last),
            }
        }
        let Some(piece) = self.pieces.last_mut() else { return true };
        let Some((late, before)) = piece.split_last() else { return true };
        let later = before.iter().rev().take(NEAR).take_while(|raw| raw.time > late.time).count();
        let begin = before.len() - later;
        piece[begin..].rotate_right(1);
        later < NEAR
    }
    fn sort(&mut self) {
        let mut all: Vec<Raw> = std::mem::take(&mut self.pieces).into_iter().flatten().collect();
        all.sort_by_key(|raw| raw.time);
        self.pieces = all.chunks(PIECE).map(<[Raw]>::to_vec).collect();
    }
}

impl<O: Order> Stream for Unpacked<'_, O> {
    fn fill(&mut self, out: &mut Vec<Raw>) {
        let Some(piece) = self.pieces.get_mut(self.next) else { return };
        out.append(piece);
        *piece = Vec::new();
        self.next += 1;
    }
}
