//! The output file for a History that several verbs write.

use std::io::{self, Write};
use std::path::Path;

use wastenot_model::History;
use wastenot_read::write;

use crate::args::convert::Format;
use crate::export::tables;
use crate::fail::Stop;
use crate::out::Target;
use crate::progress;

/// A trace file that is to be written.
pub(in crate::verbs) struct TraceFile(Format, Target);

impl TraceFile {
    /// The output file of an option.
    pub(in crate::verbs) fn named(
        option: &'static str,
        file: &Path,
        force: bool,
    ) -> Result<TraceFile, Stop> {
        let target = Target::named(option, file, force)?;
        Ok(TraceFile(by_ending(file, "use .wn, .pftrace, .parquet, .csv or .jsonl")?, target))
    }
    pub(in crate::verbs) fn write(self, history: &History) -> Result<(), Stop> {
        progress::during("writing", || self.1.write(|out| fill(history, self.0, out)))
    }
}

/// The format for the extension of `file`. `help` is the help line of the error.
pub(in crate::verbs) fn by_ending(file: &Path, help: &'static str) -> Result<Format, Stop> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    if let Some(format) = ending.and_then(Format::by_ending) {
        return Ok(format);
    }
    let why = ending.map_or("the name has no extension".to_owned(), |ending| {
        format!("the extension `.{ending}` is unknown")
    });
    let what = format!("cannot select a format for {}: {why}", file.display());
    Err(Stop::new(what, help))
}

/// Writes `history` to `out`.
pub(in crate::verbs) fn fill(
    history: &History,
    format: Format,
    out: &mut (dyn Write + Send),
) -> io::Result<()> {
    let result = match format {
        Format::Wn => write::wn(history, out),
        Format::Perfetto => write::perfetto(history, out),
        Format::Parquet => write::parquet(history, out),
        Format::Csv => write::csv(history, out),
        Format::Jsonl => write::jsonl(history, out),
    };
    result.map_err(tables::plain)
}
