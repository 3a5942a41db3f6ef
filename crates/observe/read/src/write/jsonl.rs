//! Events as JSON Lines: one object per event, without empty cells.

use std::io::{BufWriter, Write};

use wastenot_model::History;

use super::columns::{COLUMNS, Cell, rows};
use crate::Error;

/// Writes one object per line; see [`COLUMNS`](super::COLUMNS) for its keys.
pub fn jsonl(history: &History, out: impl Write) -> Result<(), Error> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let mut write = || -> std::io::Result<()> {
        rows(history, |row| {
            let mut comma = "{";
            for (column, cell) in COLUMNS.iter().zip(row) {
                match cell {
                    Cell::None => continue,
                    Cell::Int(value) => write!(out, "{comma}\"{}\":{value}", column.name)?,
                    Cell::Text(text) => {
                        write!(out, "{comma}\"{}\":", column.name)?;
                        serde_json::to_writer(&mut out, text)?;
                    }
                }
                comma = ",";
            }
            out.write_all(b"}\n")
        })?;
        out.flush()
    };
    write().map_err(Error::Write)
}
