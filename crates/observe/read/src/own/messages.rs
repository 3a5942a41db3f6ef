//! Finds the messages of an Arrow stream that are whole and safe to hand to the Arrow library.
//!
//! The library allocates what a buffer's length prefix states, and panics if a buffer is shorter
//! than its rows need. So first every length is checked against the number of rows, and that number
//! against what compression can yield.

use arrow_ipc::{MessageHeader, RecordBatch, Schema, Type, root_as_message};

/// What precedes each message: four bytes of ones, then the size of its metadata.
const MARK: [u8; 4] = [0xff; 4];
/// The most bytes of a cell: 8 for a number; texts have a bound of their own.
const WIDEST: u64 = 8;
/// The most text in a batch. A reader must bound it; a writer stays far below.
const TEXT_LIMIT: u64 = 16 << 20;
/// The most rows in a batch that this version reads.
const ROWS_LIMIT: u64 = 1 << 17;

/// How far the stream can be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Its end mark is there.
    Whole,
    /// The last bytes are the beginning of a message.
    Cut,
    /// A message does not have the form of the format; at this offset.
    Damaged(usize),
}

/// The length of the part of `bytes` that can be handed on, and what comes after it.
pub(super) fn whole(bytes: &[u8]) -> (usize, End) {
    let mut at = 0;
    let mut columns = Vec::new();
    loop {
        let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) else {
            return (at, End::Cut);
        };
        let Some(prefix) = rest.first_chunk::<8>() else { return (at, End::Cut) };
        if prefix[..4] != MARK {
            return (at, End::Damaged(at));
        }
        let size = u32::from_le_bytes([prefix[4], prefix[5], prefix[6], prefix[7]]) as usize;
        if size == 0 {
            return (at + 8, End::Whole);
        }
        let Some(metadata) = rest.get(8..8 + size) else { return (at, End::Cut) };
        let Ok(message) = root_as_message(metadata) else { return (at, End::Damaged(at)) };
        let Ok(body) = usize::try_from(message.bodyLength()) else {
            return (at, End::Damaged(at));
        };
        let Some(body) = rest[8 + size..].get(..body) else { return (at, End::Cut) };
        let fine = match message.header_type() {
            MessageHeader::Schema if at == 0 => {
                let told = message.header_as_schema().and_then(|schema| Column::all(&schema));
                told.is_some_and(|told| {
                    columns = told;
                    true
                })
            }
            MessageHeader::RecordBatch if at > 0 => {
                message.header_as_record_batch().is_some_and(|batch| sane(&batch, &columns, body))
            }
            _ => false,
        };
        if !fine {
            return (at, End::Damaged(at));
        }
        at += 8 + size + body.len();
    }
}

/// The layout of the cells of a column. The schema is flat: there are no other layouts.
#[derive(Clone, Copy, Debug)]
enum Column {
    /// A fixed number of bytes each.
    Fixed(u64),
    /// One bit each.
    Bits,
    /// 32-bit offsets into a buffer of text.
    Text,
}

impl Column {
    /// The columns of a schema; `None` if it is not flat.
    fn all(schema: &Schema<'_>) -> Option<Vec<Column>> {
        let fields = schema.fields()?;
        let column = |field: arrow_ipc::Field<'_>| {
            if field.dictionary().is_some() {
                return None;
            }
            match field.type_type() {
                Type::Int => match field.type_as_int()?.bitWidth() {
                    bits @ (8 | 16 | 32 | 64) => Some(Column::Fixed(bits as u64 / 8)),
                    _ => None,
                },
                Type::Bool => Some(Column::Bits),
                Type::Utf8 => Some(Column::Text),
                _ => None,
            }
        };
        fields.iter().map(column).collect()
    }

    /// The minimum lengths of its buffers for `rows` rows, of which `nulls` are empty, and the
    /// number that each length must be a multiple of.
    fn least(self, rows: u64, nulls: i64) -> Vec<(u64, u64)> {
        let bits = rows.div_ceil(8);
        let validity = if nulls > 0 { bits } else { 0 };
        match self {
            Column::Fixed(width) => vec![(validity, 1), (rows * width, width)],
            Column::Bits => vec![(validity, 1), (bits, 1)],
            // Without rows even the first offset may be left out.
            Column::Text if rows == 0 => vec![(validity, 1), (0, 4), (0, 1)],
            Column::Text => vec![(validity, 1), ((rows + 1) * 4, 4), (0, 1)],
        }
    }
}

/// Whether the buffers of a batch are within its body, and each unpacks to what its rows need.
fn sane(batch: &RecordBatch<'_>, columns: &[Column], body: &[u8]) -> bool {
    let Some(rows) = u64::try_from(batch.length()).ok().filter(|&rows| rows <= ROWS_LIMIT) else {
        return false;
    };
    let (Some(nodes), Some(buffers)) = (batch.nodes(), batch.buffers()) else { return false };
    let counts = |n: i64| u64::try_from(n).is_ok_and(|n| n <= rows);
    if nodes.iter().any(|node| node.length() as u64 != rows || !counts(node.null_count())) {
        return false;
    }
    if nodes.len() != columns.len() {
        return false;
    }
    let least = columns.iter().zip(nodes.iter());
    let least: Vec<(u64, u64)> =
        least.flat_map(|(column, node)| column.least(rows, node.null_count())).collect();
    least.len() == buffers.len()
        && buffers.iter().zip(least).all(|(buffer, (least, unit))| {
            let place =
                usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
            let place = place.and_then(|(offset, len)| body.get(offset..offset.checked_add(len)?));
            let Some(bytes) = place else { return false };
            if bytes.is_empty() || batch.compression().is_none() {
                let len = bytes.len() as u64;
                return len >= least && len.is_multiple_of(unit);
            }
            let Some((prefix, packed)) = bytes.split_first_chunk::<8>() else { return false };
            let unpacked = match i64::from_le_bytes(*prefix) {
                // The buffer is not compressed after all.
                -1 => packed.len() as u64,
                unpacked => u64::try_from(unpacked).unwrap_or(u64::MAX),
            };
            (least..=unpacked_limit(rows)).contains(&unpacked) && unpacked.is_multiple_of(unit)
        })
}

/// All texts of a batch are in one buffer, so the bound on a buffer is the bound on texts.
fn unpacked_limit(rows: u64) -> u64 {
    (rows.saturating_add(8) * WIDEST).max(TEXT_LIMIT)
}
