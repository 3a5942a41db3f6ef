//! The pages of one CPU, in order: borrowed from the file, or unpacked chunk by chunk.

use wastenot_model::{Loss, LossKind};

use super::codec::{Codec, believable};
use crate::ftrace::Cursor;

/// The place of one CPU's data in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) codec: Codec,
    pub(super) page_size: usize,
    /// The file ends before the region does.
    pub(super) cut: bool,
    /// Pages before it are missing.
    pub(super) late: bool,
}

/// Returns one page after the other.
pub(super) struct Pages<'a> {
    rest: Cursor<'a>,
    codec: Codec,
    page_size: usize,
    /// Remaining chunks; unused without compression.
    chunks: u32,
    /// What is read after that, with pages missing before each; the next is the last.
    later: Vec<Stretch<'a>>,
    /// The current unpacked chunk, and how much of it was returned.
    chunk: Vec<u8>,
    given: usize,
    cut: bool,
    late: bool,
    damaged: u64,
}

/// A part of a region: whole pages, or so many whole chunks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch<'a> {
    pub(super) bytes: Cursor<'a>,
    pub(super) chunks: u32,
}

/// The result of [`Pages::next`].
pub(super) enum Found<'p> {
    /// A page; the last one of a cut file may be short.
    Page(&'p [u8]),
    /// Pages are missing here.
    Gap,
    End,
}

/// The memory that the chunks of a region claim: the largest, and all together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Claims {
    pub(super) largest: usize,
    pub(super) total: usize,
}

impl<'a> Pages<'a> {
    pub(super) fn new(region: Region<'a>, endian: crate::ftrace::Endian) -> Pages<'a> {
        let mut rest = Cursor::new(region.bytes, 0, endian);
        let chunks = match region.codec {
            Codec::None => 0,
            _ => rest.u32().unwrap_or(0),
        };
        Pages {
            rest,
            codec: region.codec,
            page_size: region.page_size,
            chunks,
            later: Vec::new(),
            chunk: Vec::new(),
            given: 0,
            cut: region.cut,
            late: region.late,
            damaged: 0,
        }
    }

    /// The claims of all chunks, from their heads alone.
    pub(super) fn claims(&self) -> Claims {
        let mut claims = Claims::default();
        let mut ahead = self.rest;
        for _ in 0..self.chunks {
            let Some((packed, size)) = chunk_head(&mut ahead) else { break };
            if believable(size, packed.len(), floor(self.page_size)) {
                claims.largest = claims.largest.max(size);
                claims.total = claims.total.saturating_add(size);
            }
        }
        claims
    }

    pub(super) fn page_size(&self) -> usize {
        self.page_size
    }
    pub(super) fn codec(&self) -> Codec {
        self.codec
    }
    /// What is left to read.
    pub(super) fn left(&self) -> Stretch<'a> {
        Stretch { bytes: self.rest, chunks: self.chunks }
    }
    /// From now on it returns these parts of what is left, in order.
    pub(super) fn only(&mut self, stretches: Vec<Stretch<'a>>) {
        self.later = stretches;
        self.later.reverse();
        match self.later.pop() {
            Some(first) => (self.rest, self.chunks) = (first.bytes, first.chunks),
            None => {
                let _ = self.rest.take(self.rest.rest().len());
                self.chunks = 0;
            }
        }
    }
    /// Goes on behind what is left out.
    fn next_stretch(&mut self) -> Found<'_> {
        let Some(next) = self.later.pop() else { return Found::End };
        (self.rest, self.chunks) = (next.bytes, next.chunks);
        Found::Gap
    }

    #[inline]
    pub(super) fn next(&mut self) -> Found<'_> {
        if std::mem::take(&mut self.late) {
            return Found::Gap;
        }
        if self.codec == Codec::None {
            let len = self.rest.rest().len().min(self.page_size);
            return match self.rest.take(len) {
                Some(page) if len > 0 => Found::Page(page),
                _ => self.next_stretch(),
            };
        }
        if self.given >= self.chunk.len() {
            self.given = 0;
            self.chunk.clear();
            if self.chunks == 0 {
                return self.next_stretch();
            }
            if self.unpack().is_none() {
                self.chunk.clear();
                self.damaged += 1;
                return Found::Gap;
            }
        }
        let end = (self.given + self.page_size).min(self.chunk.len());
        let page = &self.chunk[self.given..end];
        self.given = end;
        Found::Page(page)
    }

    fn unpack(&mut self) -> Option<()> {
        self.chunks -= 1;
        let before = self.rest.at();
        let Some((packed, size)) = chunk_head(&mut self.rest) else {
            // The file ends within this chunk; without its head the next cannot be found either.
            self.cut |= before <= self.rest.at();
            self.chunks = 0;
            return None;
        };
        if !believable(size, packed.len(), floor(self.page_size)) {
            return None;
        }
        self.codec.unpack(packed, size, &mut self.chunk)
    }

    /// The loss or damage, once all pages were returned.
    pub(super) fn losses(&self) -> Vec<Loss> {
        let mut losses = Vec::new();
        if self.cut {
            losses.push(Loss::new(LossKind::Cut, "the file ends inside the data of this CPU"));
        }
        if self.damaged > 0 && !self.cut {
            let mut loss = Loss::new(LossKind::Damaged, "compressed pages could not be unpacked");
            loss.count = Some(self.damaged);
            losses.push(loss);
        }
        losses
    }
}

/// What any chunk may unpack to: trace-cmd packs ten pages per chunk.
pub(super) fn floor(page_size: usize) -> usize {
    16 * page_size
}

/// A chunk's packed bytes and the size that it claims.
pub(super) fn chunk_head<'a>(cursor: &mut Cursor<'a>) -> Option<(&'a [u8], usize)> {
    let (packed, size) = (cursor.u32()?, cursor.u32()?);
    Some((cursor.take_u64(packed.into())?, size as usize))
}
