//! The descriptions at the start of a trace.dat of version 6, which perf.data embeds whole.
//!
//! Version 7 keeps the same parts in sections, so each part has its own function. The order of
//! parts is that of trace-cmd.dat(5), version 6.

use std::collections::HashMap;

use super::event::is_read;
use super::format::PageLayout;
use super::{Cursor, Endian, Format};
use crate::Error;

/// The start of each trace.dat and of the tracing data in each perf.data.
pub(crate) const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// The part before any description.
#[derive(Clone, Debug)]
pub(crate) struct Preamble {
    /// `6`, `7`; `0.6` in a perf.data.
    pub(crate) version: String,
    pub(crate) endian: Endian,
    pub(crate) page_size: u32,
}

/// A version 6 head.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) preamble: Preamble,
    /// The layout of ring-buffer pages; perf.data does not need it.
    pub(crate) page: Option<PageLayout>,
    /// The descriptions that are read, with their systems.
    pub(crate) formats: Vec<(String, Format)>,
    /// Saved command lines: names by tid.
    pub(crate) names: HashMap<i32, String>,
    /// Bytes of the head.
    pub(crate) len: usize,
}

impl Preamble {
    /// Reads from the magic to the page size; the cursor then stands behind it.
    pub(crate) fn parse<'a>(
        bytes: &'a [u8],
        format: &'static str,
    ) -> Result<(Preamble, Cursor<'a>), Error> {
        let damaged = |what: &str, offset| Error::Damaged { format, what: what.into(), offset };
        let mut cursor = Cursor::new(bytes, 0, Endian::Little);
        if !cursor.starts_with(MAGIC) {
            return Err(damaged("the magic number is missing", 0));
        }
        let cut = || damaged("the file ends inside its header", bytes.len());
        let version = cursor.text().ok_or_else(cut)?;
        if version.len() > 16 || !version.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(damaged("the version number is invalid", MAGIC.len()));
        }
        let endian = match cursor.u8().ok_or_else(cut)? {
            0 => Endian::Little,
            1 => Endian::Big,
            other => {
                return Err(damaged(
                    &format!("the header gives the unknown byte order {other}"),
                    cursor.at() - 1,
                ));
            }
        };
        let mut cursor = Cursor::new(bytes, cursor.at(), endian);
        match cursor.u8().ok_or_else(cut)? {
            4 | 8 => {} // `header_page` has all that depends on it
            other => {
                return Err(damaged(
                    &format!(
                        "the header gives a size of {other} bytes for `long`, which is neither 4 \
                         nor 8"
                    ),
                    cursor.at() - 1,
                ));
            }
        }
        let page_size = cursor.u32().ok_or_else(cut)?;
        Ok((Preamble { version, endian, page_size }, cursor))
    }
}

impl Head {
    /// A head that holds nothing but descriptions of events from another recording.
    pub(crate) fn borrowed(endian: Endian, formats: Vec<(String, Format)>) -> Head {
        let preamble = Preamble { version: String::new(), endian, page_size: 0 };
        Head { preamble, page: None, formats, names: HashMap::new(), len: 0 }
    }

    /// Reads the head at the start of `bytes`; `format` names the file in errors.
    pub(crate) fn parse(bytes: &[u8], format: &'static str) -> Result<Head, Error> {
        let (preamble, mut cursor) = Preamble::parse(bytes, format)?;
        let mut at = cursor.at();
        let mut head =
            Head { preamble, page: None, formats: Vec::new(), names: HashMap::new(), len: 0 };
        if head.parts(&mut cursor, &mut at).is_none() {
            let what = "the event descriptions are incomplete or damaged".into();
            return Err(Error::Damaged { format, what, offset: at });
        }
        head.len = cursor.at();
        Ok(head)
    }

    /// All parts in their order; `at` is the start of the part that failed.
    fn parts(&mut self, cursor: &mut Cursor, at: &mut usize) -> Option<()> {
        self.page = header_info(cursor)?;
        *at = cursor.at();
        skip_ftrace_events(cursor)?;
        *at = cursor.at();
        self.formats = event_formats(cursor)?;
        *at = cursor.at();
        for _ in ["kallsyms", "printk"] {
            let len = cursor.u32()?;
            cursor.take_u64(len.into())?;
            *at = cursor.at();
        }
        // perf's version 0.5 ends here.
        if self.preamble.version != "0.5" {
            self.names = command_lines(cursor)?;
        }
        Some(())
    }
}

/// `header_page` and `header_event`. The latter describes the bits of a record's first word,
/// which have never changed.
pub(crate) fn header_info(cursor: &mut Cursor) -> Option<Option<PageLayout>> {
    let mut page = None;
    for name in [&b"header_page\0"[..], b"header_event\0"] {
        if !cursor.starts_with(name) {
            return None;
        }
        let len = cursor.u64()?;
        let text = cursor.take_u64(len)?;
        page = page.or(PageLayout::parse(text));
    }
    Some(page)
}

/// Descriptions of ftrace's own events: function calls, prints, stacks.
pub(crate) fn skip_ftrace_events(cursor: &mut Cursor) -> Option<()> {
    for _ in 0..cursor.u32()? {
        let len = cursor.u64()?;
        cursor.take_u64(len)?;
    }
    Some(())
}

/// Descriptions of events by system; only those that are read are kept.
pub(crate) fn event_formats(cursor: &mut Cursor) -> Option<Vec<(String, Format)>> {
    let mut formats = Vec::new();
    for _ in 0..cursor.u32()? {
        let system = cursor.text()?;
        for _ in 0..cursor.u32()? {
            let len = cursor.u64()?;
            let text = cursor.take_u64(len)?;
            let name = text.strip_prefix(b"name: ").unwrap_or_default();
            let name = name.split(|&byte| byte == b'\n').next().unwrap_or_default();
            if is_read(&system, &String::from_utf8_lossy(name)) {
                formats.extend(Format::parse(text).map(|format| (system.clone(), format)));
            }
        }
    }
    Some(formats)
}

/// Saved command lines: one `123 name` per line.
pub(crate) fn command_lines(cursor: &mut Cursor) -> Option<HashMap<i32, String>> {
    let len = cursor.u64()?;
    let text = String::from_utf8_lossy(cursor.take_u64(len)?);
    let line = |line: &str| {
        let (tid, name) = line.split_once(' ')?;
        // The kernel writes `<...>` for names that it has forgotten.
        let known = !name.is_empty() && name != "<...>";
        known.then_some((tid.trim().parse().ok()?, name.to_owned()))
    };
    Some(text.lines().filter_map(line).collect())
}
