//! The common contents of both versions of a trace.dat.

use std::collections::HashMap;

use wastenot_model::{CpuId, Loss, LossKind};

use super::codec::Codec;
use super::options::{BufferOption, Extent, Facts};
use super::pages::{Pages, Region};
use crate::Error;
use crate::ftrace::format::PageLayout;
use crate::ftrace::{Endian, Format};

/// Everything but the events.
pub(super) struct Contents<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) version: u32,
    pub(super) endian: Endian,
    pub(super) codec: Codec,
    /// Name and version of the compression.
    pub(super) packer: String,
    pub(super) page_size: u32,
    pub(super) page: PageLayout,
    pub(super) formats: Vec<(String, Format)>,
    pub(super) names: HashMap<i32, String>,
    pub(super) facts: Facts,
    pub(super) buffers: Vec<BufferOption>,
    pub(super) losses: Vec<Loss>,
}

/// A damaged file.
pub(super) fn damaged(what: &str, offset: usize) -> Error {
    Error::Damaged { format: super::NAME, what: what.to_owned(), offset }
}

/// Largest page that a ring buffer can have: its write index has 20 bits.
const PAGE_MAX: usize = 1 << 20;
/// The memory that any file may take for unpacked chunks, and for events, in addition to a multiple
/// of its size.
const SMALL: usize = 24 << 20;

impl<'a> Contents<'a> {
    /// The pages of each CPU of `buffer`, how many events may come from them, and the damage found
    /// in them.
    pub(super) fn pages(
        &self,
        buffer: &BufferOption,
        losses: &mut Vec<Loss>,
    ) -> Vec<(u16, Pages<'a>, usize)> {
        let mut lose = |kind, cpu: u32, note: &str| {
            let mut loss = Loss::new(kind, note);
            loss.cpu = u16::try_from(cpu).ok().map(CpuId);
            losses.push(loss);
        };
        let mut pages = Vec::new();
        // Extents never overlap, and one unpacked chunk per CPU is held: a file that claims more is
        // damaged, and would need a multiple of its size in memory.
        let (mut taken, mut held) = (0usize, 0usize);
        let share = SMALL / buffer.extents.len().max(1);
        for extent in buffer.extents.iter().filter(|extent| extent.len > 0) {
            let Some(region) = self.region(buffer, extent) else {
                lose(
                    LossKind::Damaged,
                    extent.cpu,
                    "the file gives an invalid position for the data of this CPU",
                );
                continue;
            };
            taken = taken.saturating_add(region.bytes.len());
            let len = region.bytes.len();
            if len == 0 {
                lose(LossKind::Cut, extent.cpu, "the file ends before the data of this CPU");
                continue;
            }
            let cpu = extent.cpu as u16;
            let of_cpu = Pages::new(region, self.endian);
            held = held.saturating_add(of_cpu.claims().largest);
            let limit = SMALL + self.bytes.len().saturating_mul(4);
            if taken > self.bytes.len() || held > limit {
                lose(
                    LossKind::Damaged,
                    extent.cpu,
                    "the data of this CPU overlaps the data of another CPU",
                );
                continue;
            }
            // A row counts as what it takes before it is packed.
            let room = match self.codec {
                Codec::None => usize::MAX,
                _ => (share + len.saturating_mul(7)) / 24,
            };
            pages.push((cpu, of_cpu, room));
        }
        pages
    }

    fn region(&self, buffer: &BufferOption, extent: &Extent) -> Option<Region<'a>> {
        let start = usize::try_from(extent.offset).ok()?.min(self.bytes.len());
        // The length of packed pages does not include the number of chunks before them.
        let count = if self.codec == Codec::None { 0 } else { 4 };
        let end = start.checked_add(usize::try_from(extent.len).ok()?)?.checked_add(count)?;
        let page_size = match buffer.page_size {
            0 => self.page_size,
            size => size,
        } as usize;
        let sound = page_size > self.page.data && page_size <= PAGE_MAX;
        if !sound || extent.cpu as usize >= CpuId::LIMIT {
            return None;
        }
        let bytes = &self.bytes[start..end.min(self.bytes.len())];
        let (codec, cut) = (self.codec, end > self.bytes.len());
        Some(Region { bytes, codec, page_size, cut, late: extent.late })
    }
}
