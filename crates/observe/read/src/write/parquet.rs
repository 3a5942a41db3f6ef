//! Events and other tables as Parquet, for DuckDB, polars and pandas.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use wastenot_model::History;

use super::columns::{COLUMNS, Cell, Column, Kind, rows};
use crate::Error;

/// How many rows are collected before they are written.
const BATCH: usize = 65_536;

/// Writes one event per row; see [`COLUMNS`](super::COLUMNS).
pub fn parquet(history: &History, out: impl Write + Send) -> Result<(), Error> {
    events(history, Table::new(COLUMNS, Vec::new(), out)?)
}

/// Writes one event a row into a table of [`COLUMNS`](super::COLUMNS).
pub fn events<W: Write + Send>(history: &History, mut table: Table<W>) -> Result<(), Error> {
    rows(history, |row| table.row(row))?;
    table.finish()
}

/// What is known of a whole recording, as metadata of its tables: `wastenot` (JSON: machine, clock,
/// source, what is carried, start), `wastenot.losses` (JSON) and `wastenot.to_ns`, the end.
pub fn metadata(history: &History) -> Vec<(String, String)> {
    crate::own::metadata(history)
}

/// A table while it is written, row by row.
pub struct Table<W: Write + Send> {
    schema: Arc<Schema>,
    batch: Vec<Builder>,
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> Table<W> {
    /// A table of these columns, with pairs of its metadata.
    pub fn new(
        columns: &[Column],
        metadata: Vec<(String, String)>,
        out: W,
    ) -> Result<Table<W>, Error> {
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let pairs = metadata.into_iter().map(|(key, value)| KeyValue::new(key, value));
        let new = || {
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
                .set_key_value_metadata(Some(pairs.collect()))
                .build();
            ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties))
        };
        let writer = new().map_err(failed)?;
        let batch = columns.iter().map(|column| Builder::of(column.kind)).collect();
        Ok(Table { schema, batch, writer })
    }

    /// Adds a row: a cell for each column.
    pub fn row(&mut self, row: &[Cell<'_>]) -> Result<(), Error> {
        self.batch.iter_mut().zip(row).for_each(|(builder, cell)| builder.push(cell));
        match self.batch[0].len() >= BATCH {
            true => self.hand_on(),
            false => Ok(()),
        }
    }

    /// Writes what is left.
    pub fn finish(mut self) -> Result<(), Error> {
        self.hand_on()?;
        self.writer.close().map(drop).map_err(failed)
    }

    fn hand_on(&mut self) -> Result<(), Error> {
        let columns = self.batch.iter_mut().map(Builder::take).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        batch.map_err(Into::into).and_then(|batch| self.writer.write(&batch)).map_err(failed)
    }
}

fn failed(error: ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(io) => Error::Write(*io),
            Err(other) => Error::Write(std::io::Error::other(other)),
        },
        other => Error::Write(std::io::Error::other(other)),
    }
}

fn field(column: &Column) -> Field {
    let kind = match column.kind {
        Kind::Int => DataType::Int64,
        Kind::Text => DataType::Utf8,
    };
    let about = HashMap::from([("description".to_owned(), column.about.to_owned())]);
    Field::new(column.name, kind, true).with_metadata(about)
}

enum Builder {
    Int(Int64Builder),
    Text(StringBuilder),
}

impl Builder {
    fn of(kind: Kind) -> Builder {
        match kind {
            Kind::Int => Builder::Int(Int64Builder::new()),
            Kind::Text => Builder::Text(StringBuilder::new()),
        }
    }
    fn len(&self) -> usize {
        match self {
            Builder::Int(builder) => builder.len(),
            Builder::Text(builder) => builder.len(),
        }
    }
    fn push(&mut self, cell: &Cell<'_>) {
        match (self, cell) {
            (Builder::Int(builder), Cell::Int(value)) => builder.append_value(*value),
            (Builder::Text(builder), Cell::Text(text)) => builder.append_value(text),
            (Builder::Int(builder), _) => builder.append_null(),
            (Builder::Text(builder), _) => builder.append_null(),
        }
    }
    fn take(&mut self) -> ArrayRef {
        match self {
            Builder::Int(builder) => Arc::new(builder.finish()),
            Builder::Text(builder) => Arc::new(builder.finish()),
        }
    }
}
