//! Repeats a recording in time, if no machine of that size is available or recording is refused.
//!
//! The pages of each CPU are written again and again, each copy one span later. At a seam a CPU
//! seems to run another task than it was switched to: as many contradictions as CPUs, which every
//! reader must tolerate anyway.

use std::fs::{self, File};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use crate::dat::{Dat, each_record, stamps};
use crate::error::Error;

/// Between the last event of a copy and the first of the next, ns.
const GAP_NS: u64 = 1000;
const UNPACKED: &str = "uncompressed: `trace-cmd convert --compression none` makes it so";

/// Writes `to`: repeats of `from`, until there are at least `events` records. Returns a summary.
pub(crate) fn repeat(from: &Path, to: &Path, events: u64) -> Result<String, Error> {
    let dat = Dat::parse(fs::read(from)?)?;
    if dat.is_packed() {
        return Err(Error::Unfit(UNPACKED));
    }
    let (mut first, mut last, mut count) = (u64::MAX, 0, 0u64);
    for lane in &dat.lanes {
        each_record(&dat.pages(lane)?, dat.page_size, |record| {
            (first, last, count) = (first.min(record.time), last.max(record.time), count + 1);
        })?;
    }
    let copies = events.div_ceil(count.max(1)).max(1);
    let period = last.saturating_sub(first) + GAP_NS;

    // Existing data stays in place; pages are appended, and the index is changed to point to them.
    let mut file = BufWriter::new(File::create(to)?);
    file.write_all(&dat.bytes)?;
    let padding = dat.bytes.len().next_multiple_of(dat.page_size) - dat.bytes.len();
    file.write_all(&vec![0; padding])?;
    let mut end = (dat.bytes.len() + padding) as u64;
    for lane in &dat.lanes {
        let Some(stated_at) = lane.stated_at else {
            return Err(Error::Unfit(UNPACKED));
        };
        let mut pages = dat.pages(lane)?.into_owned();
        let stamps = stamps(&pages, dat.page_size)?;
        for _ in 0..copies {
            file.write_all(&pages)?;
            stamps.iter().for_each(|stamp| stamp.shift(&mut pages, period));
        }
        let size = pages.len() as u64 * copies;
        file.seek(SeekFrom::Start(stated_at as u64))?;
        file.write_all(&end.to_le_bytes())?;
        file.write_all(&size.to_le_bytes())?;
        end += size;
        file.seek(SeekFrom::Start(end))?;
    }
    file.flush()?;
    let events = count * copies;
    Ok(format!("{events} events: {count} repeated {copies} times, every {period} ns"))
}
