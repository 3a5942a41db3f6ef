//! Version 7: sections anywhere in the file, found through chained sections of options.

use std::borrow::Cow;

use wastenot_model::{Loss, LossKind};

use super::codec::{Codec, believable};
use super::contents::{Contents, damaged};
use super::options::{BUFFER, BufferOption, CMDLINES, EVENT_FORMATS, Facts, HEADER_INFO};
use super::salvage;
use crate::Error;
use crate::ftrace::head::{Preamble, command_lines, event_formats, header_info};
use crate::ftrace::{Cursor, Endian};

/// A section's flag: its content is packed.
const COMPRESSED: u16 = 1;
/// There are two or three sections of options; a chain of more is a cycle.
const CHAIN: usize = 64;

struct File<'a> {
    bytes: &'a [u8],
    endian: Endian,
    codec: Codec,
}

/// Reads everything except the events.
pub(super) fn read<'a>(
    bytes: &'a [u8],
    preamble: &Preamble,
    mut cursor: Cursor<'a>,
) -> Result<Contents<'a>, Error> {
    let len = bytes.len();
    let cut = || damaged("the file ends inside its header", len);
    let at = cursor.at();
    let (packer, version) = (cursor.text().ok_or_else(cut)?, cursor.text().ok_or_else(cut)?);
    let codec = Codec::by_name(&packer, at)?;
    let first = cursor.u64().ok_or_else(cut)?;
    let sections = cursor.at();
    let file = File { bytes, endian: preamble.endian, codec };
    let mut facts = Facts::default();
    let whole = file.options(first, &mut facts);

    let header = file.of(&facts, HEADER_INFO)?;
    let page = header_info(&mut file.cursor(&header)).flatten();
    let page = page.ok_or_else(|| damaged("header_page is missing or unusable", 0))?;
    let formats = file.of(&facts, EVENT_FORMATS)?;
    let formats = event_formats(&mut file.cursor(&formats))
        .ok_or_else(|| damaged("the event descriptions are incomplete or damaged", 0))?;
    // Names are helpful, but not required.
    let has_names = facts.sections.iter().any(|section| section.id == CMDLINES);
    let names = file.of(&facts, CMDLINES).ok();
    let names = names.and_then(|section| command_lines(&mut file.cursor(&section)));
    let no_names = has_names && names.is_none();
    let buffers = std::mem::take(&mut facts.buffers);
    let mut contents = Contents {
        bytes,
        version: 7,
        endian: preamble.endian,
        codec,
        packer: format!("{packer} {version}").trim().to_owned(),
        page_size: preamble.page_size,
        page,
        formats,
        names: names.unwrap_or_default(),
        facts,
        buffers,
        losses: Vec::new(),
    };
    // A writer that was killed leaves a chain that seems complete but holds no buffer.
    if !whole || contents.buffers.is_empty() {
        contents.losses = salvage::buffers(&mut contents, sections);
    }
    let cut = |loss: &Loss| loss.kind == LossKind::Cut;
    let told = no_names || contents.losses.iter().any(cut);
    if !told && file.cut_section(sections).is_some_and(|id| id != BUFFER) {
        let note = "the file ends inside its last section, which contains no events";
        contents.losses.push(Loss::new(LossKind::Damaged, note));
    }
    if no_names {
        let note = "the table of command names is incomplete or damaged; some tasks have no name";
        contents.losses.push(Loss::new(LossKind::Damaged, note));
    }
    let empty = |buffer: &BufferOption| buffer.extents.is_empty();
    match whole {
        true if contents.buffers.is_empty() => Err(damaged("the file has no event buffer", len)),
        false if contents.buffers.iter().all(empty) => {
            Err(damaged("the file ends before its buffer index", len))
        }
        _ => Ok(contents),
    }
}

impl<'a> File<'a> {
    fn cursor<'s>(&self, section: &'s [u8]) -> Cursor<'s> {
        Cursor::new(section, 0, self.endian)
    }

    /// Reads the chain of option sections from `offset` on; returns whether it reached its end.
    fn options(&self, offset: u64, facts: &mut Facts) -> bool {
        let mut next = offset;
        for _ in 0..CHAIN {
            let Some((_, section)) = self.section(next) else { return false };
            match self.section_options(&section, facts) {
                Some(0) => return true,
                Some(offset) => next = offset,
                None => return false,
            }
        }
        false
    }

    /// Reads the options of one section; returns the offset of the next section, or 0.
    fn section_options(&self, section: &[u8], facts: &mut Facts) -> Option<u64> {
        let mut cursor = self.cursor(section);
        loop {
            let (id, len) = (cursor.u16()?, cursor.u32()?);
            let data = cursor.take_u64(len.into())?;
            if id == 0 {
                return self.cursor(data).u64();
            }
            facts.option(id, data, self.endian, 7);
        }
    }

    /// The id of the section within which the file ends, if it does; 0 if that is unknown. Sections
    /// follow each other from `at` on.
    fn cut_section(&self, at: usize) -> Option<u16> {
        let mut cursor = Cursor::new(self.bytes, at, self.endian);
        while !cursor.rest().is_empty() {
            let id = cursor.u16().unwrap_or(0);
            let len = cursor.take(6).and_then(|_| cursor.u64());
            if len.and_then(|len| cursor.take_u64(len)).is_none() {
                return Some(id);
            }
        }
        None
    }

    /// The last section of kind `id`, unpacked.
    fn of(&self, facts: &Facts, id: u16) -> Result<Cow<'a, [u8]>, Error> {
        let found = facts.sections.iter().rev().find(|section| section.id == id);
        let at = found.map(|section| section.offset);
        let section = at.and_then(|at| self.section(at)).filter(|(found, _)| *found == id);
        let offset = at.and_then(|at| usize::try_from(at).ok()).unwrap_or(self.bytes.len());
        let missing =
            || damaged(&format!("section {id} is missing, incomplete or damaged"), offset);
        section.map(|(_, section)| section).ok_or_else(missing)
    }

    /// The section whose head is at `offset`: its id and content.
    fn section(&self, offset: u64) -> Option<(u16, Cow<'a, [u8]>)> {
        let mut cursor = Cursor::new(self.bytes, usize::try_from(offset).ok()?, self.endian);
        let (id, flags) = (cursor.u16()?, cursor.u16()?);
        let (_name, len) = (cursor.u32()?, cursor.u64()?);
        let content = match usize::try_from(len).ok().filter(|&len| len <= cursor.rest().len()) {
            Some(len) => cursor.take(len)?,
            None => cursor.rest(), // cut: the rest may still be read
        };
        if flags & COMPRESSED == 0 {
            return Some((id, Cow::Borrowed(content)));
        }
        let mut cursor = self.cursor(content);
        let (packed, size) = (cursor.u32()?, cursor.u32()? as usize);
        let packed = cursor.take_u64(packed.into())?;
        // Descriptions compress tenfold; no part may claim more memory than a small multiple of the
        // file.
        const SMALL: usize = 4 << 20;
        let room = SMALL.max(self.bytes.len().saturating_mul(4)).min(1 << 30);
        if size > room || !believable(size, packed.len(), SMALL) {
            return None;
        }
        let mut content = Vec::new();
        self.codec.unpack(packed, size, &mut content)?;
        Some((id, Cow::Owned(content)))
    }
}
