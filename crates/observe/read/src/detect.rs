//! Detects the format of bytes by their content.

use crate::{Error, own, perfetto, text};

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// trace-cmd's trace.dat, version 6 or 7.
    TraceDat,
    /// perf.data, file or pipe mode.
    PerfData,
    /// A Perfetto protobuf trace.
    Perfetto,
    /// The own format, `.wn`.
    Own,
    /// ftrace's own text, `trace-cmd report`, or `perf script`.
    Text,
}

/// Recognises a format.
pub fn detect(bytes: &[u8]) -> Result<Format, Error> {
    if bytes.is_empty() {
        return Err(Error::Empty);
    }
    if bytes.starts_with(b"\x17\x08\x44tracing") {
        return Ok(Format::TraceDat);
    }
    if bytes.starts_with(b"PERFILE2") || bytes.starts_with(b"2ELIFREP") {
        return Ok(Format::PerfData);
    }
    if own::is_own(bytes) {
        return Ok(Format::Own);
    }
    if perfetto::is_trace(bytes) {
        return Ok(Format::Perfetto);
    }
    if text::is_text(bytes) {
        return Ok(Format::Text);
    }
    Err(Error::Unrecognised { looks: looks_like(bytes) })
}

/// Names other kinds of files that users pass by mistake.
fn looks_like(bytes: &[u8]) -> Option<&'static str> {
    const KNOWN: &[(&[u8], &str)] = &[
        (b"\xff\xd8\xff", "a JPEG picture"),
        (b"\x89PNG", "a PNG picture"),
        (b"%PDF", "a PDF document"),
        (b"\x7fELF", "an ELF program"),
        (b"PK\x03\x04", "a zip archive"),
        (b"\xfd7zXZ", "an xz archive; unpack it first"),
        (b"PAR1", "a Parquet table"),
        (b"\x28\xb5\x2f\xfd", "a zstd archive; unpack it first"),
        (b"\x1f\x8b", "a gzip archive; unpack it first"),
        (b"PERFFILE", "a perf.data file of a kernel before 3.2"),
    ];
    KNOWN.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, name)| *name)
}
