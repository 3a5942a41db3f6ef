//! The part of perf.data that is needed to count its samples and unpack its records.
//!
//! Layout: perf's `perf.data-file-format.txt`, the kernel's `perf_event.h`. Little-endian files.

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use crate::dat::Fields;
use crate::error::Error;

const SAMPLE: u32 = 9;
/// Bytes of type, misc and size.
const HEAD: usize = 8;
/// `PERF_RECORD_COMPRESSED`: its content continues one zstd stream over all such records.
const COMPRESSED: u32 = 81;
/// `PERF_RECORD_COMPRESSED2` (6.15): the same with its true length in front.
const COMPRESSED2: u32 = 83;

/// Whether this is a perf.data file.
pub(crate) fn is_perf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PERFILE2")
}

/// How many samples it holds.
pub(crate) fn count(bytes: &[u8]) -> Result<u64, Error> {
    let mut count = 0;
    each(records(bytes)?, |kind, _| count += u64::from(kind == SAMPLE))?;
    let unpacked = unpack(bytes)?;
    each(&unpacked, |kind, _| count += u64::from(kind == SAMPLE))?;
    Ok(count)
}

/// The compressed records, unpacked.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut unpacked = Vec::new();
    let mut decoder = Decoder::new()?;
    let mut failed = None;
    let mut block = vec![0; 1 << 17];
    each(records(bytes)?, |kind, content| {
        let packed = match kind {
            COMPRESSED => content,
            COMPRESSED2 => content.get(8..).unwrap_or_default(),
            _ => return,
        };
        let mut input = InBuffer::around(packed);
        loop {
            let mut output = OutBuffer::around(&mut block[..]);
            let status = decoder.run(&mut input, &mut output);
            unpacked.extend_from_slice(output.as_slice());
            let full = output.pos() == output.capacity();
            match status {
                Ok(_) if input.pos() < packed.len() || full => {}
                Ok(_) => break,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
    })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    // perf 6.1 does not write the end of its stream when a block is full: the last record is cut.
    let mut whole = 0;
    let walked = each(&unpacked, |_, content| whole += HEAD + content.len());
    unpacked.truncate(if walked.is_err() { whole } else { unpacked.len() });
    Ok(unpacked)
}

/// The data section.
pub(crate) fn records(bytes: &[u8]) -> Result<&[u8], Error> {
    let mut fields = Fields { bytes, at: 40 };
    let (offset, size) = (fields.u64()? as usize, fields.u64()? as usize);
    Fields { bytes, at: offset }.take(size)
}

/// Calls `each` with the type and content of every record.
pub(crate) fn each(records: &[u8], mut each: impl FnMut(u32, &[u8])) -> Result<(), Error> {
    let mut fields = Fields { bytes: records, at: 0 };
    while fields.at < records.len() {
        let (kind, _misc, size) = (fields.u32()?, fields.u16()?, fields.u16()?);
        let len = usize::from(size).checked_sub(HEAD).ok_or(Error::Damaged(fields.at))?;
        each(kind, fields.take(len)?);
    }
    Ok(())
}
