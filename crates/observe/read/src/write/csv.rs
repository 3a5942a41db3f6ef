//! Events as comma-separated values (RFC 4180), with the names of the columns in the first line.

use std::io::{BufWriter, Write};

use wastenot_model::History;

use super::columns::{COLUMNS, Cell, rows};
use crate::Error;

/// Writes one event per line; see [`COLUMNS`](super::COLUMNS).
pub fn csv(history: &History, out: impl Write) -> Result<(), Error> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let mut write = || -> std::io::Result<()> {
        let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
        writeln!(out, "{}", names.join(","))?;
        rows(history, |row| {
            for (index, cell) in row.iter().enumerate() {
                if index > 0 {
                    out.write_all(b",")?;
                }
                match cell {
                    Cell::None => {}
                    Cell::Int(value) => write!(out, "{value}")?,
                    Cell::Text(text) => quoted(&mut out, text)?,
                }
            }
            out.write_all(b"\n")
        })?;
        out.flush()
    };
    write().map_err(Error::Write)
}

/// A text with a comma, a quote or a line end is put in quotes, and its quotes are doubled.
fn quoted(out: &mut impl Write, text: &str) -> std::io::Result<()> {
    match text.contains(['"', ',', '\n', '\r']) {
        false => out.write_all(text.as_bytes()),
        true => write!(out, "\"{}\"", text.replace('"', "\"\"")),
    }
}
