//! The part of trace.dat v7 that is needed to count and repeat its records.
//!
//! It reads only what `bench/run` makes on the machine it runs on: little-endian, 64-bit, 16 bytes
//! of page head. It shares no code with `wastenot-read`, so that its count is a second opinion.
//! Layout: trace-cmd's document `trace-cmd.dat.v7.5`, the kernel's `ring_buffer.h`.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::Error;

/// A trace.dat and the places of its records.
pub(crate) struct Dat {
    /// The whole file.
    pub(crate) bytes: Vec<u8>,
    /// Bytes of a ring-buffer page; the first 16 are its head.
    pub(crate) page_size: usize,
    /// The CPUs of the buffer with the most data.
    pub(crate) lanes: Vec<Lane>,
    packed: bool,
}

/// One CPU's pages.
pub(crate) struct Lane {
    /// Where the file has their offset and size, each as u64; `None` in a compressed index.
    pub(crate) stated_at: Option<usize>,
    /// Their range in the file.
    pub(crate) data: Range<usize>,
}

/// A record in a page.
pub(crate) struct Record {
    /// Nanoseconds on the trace's clock.
    pub(crate) time: u64,
}

const PAGE_HEAD: usize = 16;
const HEAD: &[u8] = b"\x17\x08\x44tracing7\0\x00\x08";
const COMPRESSED: u16 = 1;
const DONE: u16 = 0;
const BUFFER: u16 = 3;

impl Dat {
    /// Finds the pages.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Dat, Error> {
        if !bytes.starts_with(HEAD) {
            return Err(Error::Unfit("a little-endian 64-bit trace.dat of version 7"));
        }
        let mut fields = Fields { bytes: &bytes, at: HEAD.len() };
        let page_size = fields.u32()? as usize;
        let packed = fields.text()? != b"none";
        fields.text()?;
        let mut next = fields.u64()? as usize;
        let mut lanes = Vec::new();
        while next != 0 {
            let section = Section::at(&bytes, next)?;
            let mut options = Fields { bytes: &section.content, at: 0 };
            next = loop {
                let (id, size) = (options.u16()?, options.u32()? as usize);
                let end = options.at + size;
                match id {
                    DONE => break options.u64()? as usize,
                    BUFFER => {
                        let found = buffer(&mut options, section.begin)?;
                        let held = |lanes: &[Lane]| lanes.iter().map(|l| l.data.len()).sum();
                        let (new, old): (usize, usize) = (held(&found), held(&lanes));
                        lanes = if new > old { found } else { lanes };
                    }
                    _ => {}
                }
                options.at = end;
            };
        }
        let whole = |lane: &Lane| lane.data.end <= bytes.len();
        if page_size <= PAGE_HEAD || !lanes.iter().all(whole) {
            return Err(Error::Damaged(bytes.len()));
        }
        Ok(Dat { bytes, page_size, lanes, packed })
    }

    /// Whether its pages are compressed.
    pub(crate) fn is_packed(&self) -> bool {
        self.packed
    }

    /// The pages of one CPU, unpacked.
    pub(crate) fn pages(&self, lane: &Lane) -> Result<Cow<'_, [u8]>, Error> {
        if !self.packed || lane.data.is_empty() {
            return Ok(Cow::Borrowed(&self.bytes[lane.data.clone()]));
        }
        let mut pages = Vec::new();
        // The size that trace-cmd 3.1 states does not include the count of chunks in front: it is
        // unreliable.
        let mut fields = Fields { bytes: &self.bytes, at: lane.data.start };
        for _ in 0..fields.u32()? {
            let (packed, size) = (fields.u32()? as usize, fields.u32()? as usize);
            pages.extend(zstd::bulk::decompress(fields.take(packed)?, size)?);
        }
        Ok(Cow::Owned(pages))
    }
}

/// The index of a buffer: name, clock, page size, then (cpu, offset, size) of each CPU.
fn buffer(option: &mut Fields<'_>, begin: Option<usize>) -> Result<Vec<Lane>, Error> {
    option.u64()?;
    option.text()?;
    option.text()?;
    option.u32()?;
    let mut lanes = Vec::new();
    for _ in 0..option.u32()? {
        option.u32()?;
        let stated_at = begin.map(|begin| begin + option.at);
        let (offset, size) = (option.u64()? as usize, option.u64()? as usize);
        let end = offset.checked_add(size).ok_or(Error::Damaged(option.at))?;
        lanes.push(Lane { stated_at, data: offset..end });
    }
    Ok(lanes)
}

/// A section's content, and its start in the file if it is not compressed.
struct Section<'a> {
    content: Cow<'a, [u8]>,
    begin: Option<usize>,
}

impl<'a> Section<'a> {
    fn at(bytes: &'a [u8], offset: usize) -> Result<Section<'a>, Error> {
        let mut fields = Fields { bytes, at: offset };
        let (_id, flags, _name) = (fields.u16()?, fields.u16()?, fields.u32()?);
        let size = fields.u64()? as usize;
        if flags & COMPRESSED == 0 {
            let begin = Some(fields.at);
            return Ok(Section { content: Cow::Borrowed(fields.take(size)?), begin });
        }
        let (packed, size) = (fields.u32()? as usize, fields.u32()? as usize);
        let content = zstd::bulk::decompress(fields.take(packed)?, size)?;
        Ok(Section { content: Cow::Owned(content), begin: None })
    }
}

/// Calls `each` with every record of one CPU's pages.
pub(crate) fn each_record(
    pages: &[u8],
    page_size: usize,
    mut each: impl FnMut(Record),
) -> Result<(), Error> {
    walk(pages, page_size, |stop| {
        if let Stop::Record(record) = stop {
            each(record);
        }
    })
}

/// The stamps that hold an absolute time, not a difference.
pub(crate) fn stamps(pages: &[u8], page_size: usize) -> Result<Vec<Stamp>, Error> {
    let mut stamps: Vec<Stamp> = (0..pages.len()).step_by(page_size).map(Stamp::Page).collect();
    walk(pages, page_size, |stop| {
        if let Stop::Absolute(at) = stop {
            stamps.push(Stamp::Absolute(at));
        }
    })?;
    Ok(stamps)
}

/// A time in the pages.
pub(crate) enum Stamp {
    /// A u64 at the start of a page.
    Page(usize),
    /// The low 59 bits: 27 in a record's head, 32 in the word behind it.
    Absolute(usize),
}

impl Stamp {
    /// Adds to the time.
    pub(crate) fn shift(&self, pages: &mut [u8], by: u64) {
        let (Stamp::Page(at) | Stamp::Absolute(at)) = *self;
        let word = Fields { bytes: pages, at }.u64().expect("found in these pages");
        let word = match self {
            Stamp::Page(_) => word.wrapping_add(by),
            // The 27 bits of the head come first in the file, above its 5 bits of kind.
            Stamp::Absolute(_) => word & 31 | (word >> 5).wrapping_add(by) << 5,
        };
        pages[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }
}

enum Stop {
    Record(Record),
    Absolute(usize),
}

fn walk(pages: &[u8], page_size: usize, mut each: impl FnMut(Stop)) -> Result<(), Error> {
    const USED: u64 = 0xf_ffff;
    for (index, page) in pages.chunks_exact(page_size).enumerate() {
        let page_at = index * page_size;
        let mut fields = Fields { bytes: page, at: 0 };
        let (mut time, used) = (fields.u64()?, (fields.u64()? & USED) as usize);
        let end = PAGE_HEAD + used;
        while fields.at < end {
            let at = fields.at;
            let head = fields.u32()?;
            let (kind, delta) = (head & 31, u64::from(head >> 5));
            match kind {
                29 if delta == 0 => break,
                29 => fields.at += fields.u32()? as usize,
                30 => time += delta | u64::from(fields.u32()?) << 27,
                31 => {
                    let low = delta | u64::from(fields.u32()?) << 27;
                    time = time >> 59 << 59 | low;
                    each(Stop::Absolute(page_at + at));
                }
                _ => {
                    time += delta;
                    let words = kind as usize;
                    // The length word of a long record counts itself.
                    let len = if words == 0 { fields.u32()? as usize - 4 } else { words * 4 };
                    fields.at += len;
                    each(Stop::Record(Record { time }));
                }
            }
        }
    }
    Ok(())
}

/// Little-endian fields, one after the other.
pub(crate) struct Fields<'a> {
    /// All bytes.
    pub(crate) bytes: &'a [u8],
    /// Where the next field begins.
    pub(crate) at: usize,
}

impl<'a> Fields<'a> {
    /// The next `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let taken = self.at.checked_add(len).and_then(|end| self.bytes.get(self.at..end));
        self.at += len;
        taken.ok_or(Error::Damaged(self.at))
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        Ok(self.take(N)?.try_into().expect("as many as were taken"))
    }
    pub(crate) fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_le_bytes)
    }
    pub(crate) fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_le_bytes)
    }
    pub(crate) fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_le_bytes)
    }
    /// Bytes up to a NUL; the NUL is skipped.
    fn text(&mut self) -> Result<&'a [u8], Error> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let len = rest.iter().position(|&byte| byte == 0).ok_or(Error::Damaged(self.at))?;
        self.at += len + 1;
        Ok(&rest[..len])
    }
}
