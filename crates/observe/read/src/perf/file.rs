//! The head of a perf.data: file mode has tables of the places of all parts, pipe mode has records.

use super::attr::Attr;
use super::bytes::Bytes;
use super::features::Features;
use super::records::{HEAD, Record, Records, Stop, kind};
use crate::Error;
use crate::ftrace::Endian;

const FORMAT: &str = "perf.data";
/// Size of the head in pipe mode: magic and this size.
const PIPE_HEAD: u64 = 16;
const ATTR_SIZE_MIN: u64 = 64;

/// What a perf.data contains before its samples.
pub(super) struct PerfFile<'a> {
    /// The bytes from the first record on to where the records should end.
    pub(super) records: Bytes<'a>,
    pub(super) attrs: Vec<Attr>,
    pub(super) features: Features<'a>,
    /// The head gives more bytes than there are.
    pub(super) cut: bool,
    /// perf did not get to write the size of the data.
    pub(super) unfinished: bool,
    pub(super) pipe: bool,
}

impl<'a> PerfFile<'a> {
    pub(super) fn read(data: &'a [u8]) -> Result<PerfFile<'a>, Error> {
        // A magic number, stored as an integer: its byte order is that of the whole file.
        let endian = match data.first() {
            Some(b'P') => Endian::Little,
            _ => Endian::Big,
        };
        let bytes = Bytes { data, endian };
        let size =
            bytes.u64(8).ok_or_else(|| damaged("the file ends inside its header", data.len()))?;
        let mut file = PerfFile {
            records: bytes,
            attrs: Vec::new(),
            features: Features::default(),
            cut: false,
            unfinished: false,
            pipe: size == PIPE_HEAD,
        };
        match file.pipe {
            true => file.records = bytes.part(16, data.len() - 16).unwrap_or(bytes),
            false => file.tables(bytes).ok_or_else(|| {
                damaged("the header describes a table that does not fit into the file", 16)
            })?,
        }
        // In file mode, too: `perf inject` passes on what came through a pipe.
        if !file.is_known() {
            file.header_records();
        }
        Ok(file)
    }

    /// The head of file mode: sizes, then (offset, size) of attrs and data, then a bitmap of
    /// features, whose places follow the data in the order of their bits.
    fn tables(&mut self, bytes: Bytes<'a>) -> Option<()> {
        let attr_size = bytes.u64(16)?;
        let (attrs_at, attrs_len) = (bytes.u64(24)?, bytes.u64(32)?);
        let (data_at, data_len) = (bytes.u64(40)?, bytes.u64(48)?);
        let data_at_index = usize::try_from(data_at).ok()?;
        let rest = bytes.part(data_at_index, bytes.len().checked_sub(data_at_index)?)?;
        self.attr_table(bytes, attr_size, attrs_at, attrs_len)?;
        let words: Option<Vec<u64>> = (0..4).map(|word| bytes.u64(72 + word * 8)).collect();
        let words = words?;
        let has = |number: &u32| words[*number as usize / 64] >> (number % 64) & 1 == 1;
        let numbers: Vec<u32> = (0..256).filter(has).collect();
        self.unfinished = data_len == 0;
        let data_len = match self.unfinished {
            true => find_end(rest, data_at, numbers.len()).unwrap_or(rest.len()) as u64,
            false => data_len,
        };
        self.records = rest.section(0, data_len).unwrap_or(rest);
        self.cut = (self.records.len() as u64) < data_len;
        let place = data_at.checked_add(data_len)?;
        if !self.cut {
            self.sections(bytes, place, &numbers);
        }
        Some(())
    }

    /// The features: a table of (offset, size), at `place` in the order of their numbers.
    fn sections(&mut self, bytes: Bytes<'a>, place: u64, numbers: &[u32]) {
        for (number, index) in numbers.iter().zip(0u64..) {
            let table = place.checked_add(index * 16).and_then(|place| bytes.section(place, 16));
            let section = table.and_then(|table| bytes.section(table.u64(0)?, table.u64(8)?));
            match section {
                Some(section) => self.features.read(*number, section),
                None => self.features.cut += 1,
            }
        }
    }

    fn attr_table(&mut self, bytes: Bytes<'a>, size: u64, at: u64, len: u64) -> Option<()> {
        // Each entry is an attr and then the place of its ids.
        let attr_size = size.checked_sub(16).filter(|&size| size >= ATTR_SIZE_MIN)? as usize;
        let table = bytes.section(at, len)?;
        // Entries may refer to the same bytes; all ids together are no more than the file can hold.
        let mut room = bytes.len() as u64;
        for index in 0..table.len() / size as usize {
            let entry = table.part(index * size as usize, size as usize)?;
            let (ids_at, ids_len) = (entry.u64(attr_size)?, entry.u64(attr_size + 8)?);
            room = room.checked_sub(ids_len)?;
            let ids = bytes.section(ids_at, ids_len).map(ids).unwrap_or_default();
            self.attrs.extend(Attr::read(entry.part(0, attr_size)?, ids));
        }
        Some(())
    }

    /// Reads the parts that pipe mode puts into records.
    fn header_records(&mut self) {
        let mut records = Records::new(self.records);
        let attrs_known = !self.attrs.is_empty();
        loop {
            let record = match records.next() {
                Ok(record) => record,
                Err(stop) => {
                    self.cut |= matches!(stop, Stop::Cut(_));
                    return;
                }
            };
            match record.kind {
                // They come before all samples, so the samples need not be walked.
                kind::SAMPLE | kind::COMPRESSED | kind::COMPRESSED2 if self.is_known() => return,
                kind::HEADER_ATTR if !attrs_known => self.attrs.extend(attr_record(&record)),
                kind::HEADER_TRACING_DATA => self.features.tracing_data = Some(record.trailing),
                kind::HEADER_FEATURE => {
                    let size = record.bytes.len().checked_sub(HEAD + 8);
                    let body = size.and_then(|size| record.bytes.part(HEAD + 8, size));
                    if let (Some(number), Some(body)) = (record.bytes.u64(HEAD), body) {
                        self.features.read(number.min(u64::from(u32::MAX)) as u32, body);
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether the head describes the samples.
    fn is_known(&self) -> bool {
        self.features.tracing_data.is_some() && !self.attrs.is_empty()
    }
}

/// The end of the records if the head does not give it: the start of the table of `features`, whose
/// first entry refers to a section directly behind the table.
fn find_end(rest: Bytes<'_>, data_at: u64, features: usize) -> Option<usize> {
    let mut records = Records::new(rest);
    loop {
        let table_end = data_at.checked_add(records.at as u64)? + 16 * features as u64;
        if features > 0 && rest.u64(records.at) == Some(table_end) {
            return Some(records.at);
        }
        records.next().ok()?;
    }
}

fn attr_record(record: &Record<'_>) -> Option<Attr> {
    let body = record.bytes.part(HEAD, record.bytes.len() - HEAD)?;
    let size = body.u32(4)? as usize;
    let rest = body.part(size, body.len().checked_sub(size)?)?;
    Attr::read(body.part(0, size)?, ids(rest))
}

fn ids(bytes: Bytes<'_>) -> Vec<u64> {
    (0..bytes.len() / 8).filter_map(|index| bytes.u64(index * 8)).collect()
}

pub(super) fn damaged(what: &str, offset: usize) -> Error {
    Error::Damaged { format: FORMAT, what: what.to_owned(), offset }
}
