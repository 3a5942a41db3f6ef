//! Version 6: descriptions, options and the table of data extents follow one another.

use wastenot_model::{Loss, LossKind};

use super::codec::Codec;
use super::contents::{Contents, damaged};
use super::options::{BufferOption, Extent, Facts};
use crate::Error;
use crate::ftrace::head::Head;
use crate::ftrace::{Cursor, Endian};

/// Reads everything except the events.
pub(super) fn read(bytes: &[u8]) -> Result<Contents<'_>, Error> {
    let head = Head::parse(bytes, super::NAME)?;
    let endian = head.preamble.endian;
    let mut cursor = Cursor::new(bytes, head.len, endian);
    let cut = || damaged("the file ends before its buffer index", bytes.len());
    let cpus = cursor.u32().ok_or_else(cut)?;
    let mut facts = Facts::default();
    let mut losses = Vec::new();
    loop {
        let at = cursor.at();
        let tag = cursor.take(10).ok_or_else(cut)?;
        match tag {
            b"options  \0" => options(&mut cursor, &mut facts, endian).ok_or_else(cut)?,
            b"flyrecord\0" => break,
            b"latency  \0" => {
                let what = "only the text of a latency tracer".to_owned();
                return Err(Error::NoEvents { format: super::NAME, what });
            }
            _ => return Err(damaged("the buffer index is missing", at)),
        }
    }
    facts.cpus = facts.cpus.or(Some(cpus));
    let top = index(&mut cursor, BufferOption::default(), cpus).ok_or_else(cut)?;
    let mut buffers = vec![top];
    for buffer in std::mem::take(&mut facts.buffers) {
        let offset = usize::try_from(buffer.offset).unwrap_or(usize::MAX);
        let mut cursor = Cursor::new(bytes, offset, endian);
        let count = buffer.cpus.unwrap_or(cpus);
        let name = buffer.name.clone();
        let found = cursor.starts_with(b"flyrecord\0");
        match found.then(|| index(&mut cursor, buffer, count)).flatten() {
            Some(buffer) => buffers.push(buffer),
            None => losses.push(Loss::new(
                LossKind::Damaged,
                format!("the index of the buffer {name:?} is missing"),
            )),
        }
    }
    let page = head.page.ok_or_else(|| damaged("header_page is missing or unusable", 0))?;
    Ok(Contents {
        bytes,
        version: 6,
        endian,
        codec: Codec::None,
        packer: String::new(),
        page_size: head.preamble.page_size,
        page,
        formats: head.formats,
        names: head.names,
        facts,
        buffers,
        losses,
    })
}

fn options(cursor: &mut Cursor, facts: &mut Facts, endian: Endian) -> Option<()> {
    loop {
        let id = cursor.u16()?;
        if id == 0 {
            return Some(());
        }
        let len = cursor.u32()?;
        facts.option(id, cursor.take_u64(len.into())?, endian, 6);
    }
}

/// Offset and length of the data of each CPU, then (since 2.9) the clock's name.
fn index(cursor: &mut Cursor, mut buffer: BufferOption, cpus: u32) -> Option<BufferOption> {
    for cpu in 0..cpus {
        let (offset, len) = (cursor.u64()?, cursor.u64()?);
        buffer.extents.push(Extent { cpu, offset, len, late: false });
    }
    let clock = cursor.u64().and_then(|len| cursor.take_u64(len.min(64)));
    buffer.clock = clock.map(|text| super::clock::selected(&String::from_utf8_lossy(text)))?;
    Some(buffer)
}
