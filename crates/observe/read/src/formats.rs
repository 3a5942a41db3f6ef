//! Descriptions of a kernel's events, taken from one recording for another that lost them.
//!
//! perf writes the descriptions of events at the very end of a file. So a perf.data whose perf was
//! killed, or that was copied in part, holds events that cannot be decoded. Any other recording of
//! the same kernel has their descriptions.

use crate::ftrace::format::Formats;
use crate::{Error, Format, detect, perf, tracedat};

impl Formats {
    /// The descriptions in the perf.data or trace.dat in `bytes`, which is called `name`.
    pub fn of(bytes: &[u8], name: &str) -> Result<Formats, Error> {
        let (endian, events) = match detect(bytes)? {
            Format::PerfData => perf::formats(bytes)?,
            Format::TraceDat => tracedat::formats(bytes)?,
            _ => {
                return Err(Error::Unusable {
                    format: "--formats-from",
                    what: "only perf.data and trace.dat files contain event descriptions".into(),
                    help: "give a perf.data or trace.dat file that was recorded on the same kernel",
                });
            }
        };
        Ok(Formats { name: name.to_owned(), endian, events })
    }
}
