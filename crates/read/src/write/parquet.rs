//! Events as Parquet, for DuckDB, polars and pandas.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use wastenot_model::History;

use super::columns::{COLUMNS, Cell, Kind, rows};
use crate::Error;

/// How many rows are collected before they are written.
const BATCH: usize = 65_536;

/// Writes one event per row; see [`COLUMNS`](super::COLUMNS).
pub fn parquet(history: &History, out: impl Write + Send) -> Result<(), Error> {
    write(history, out).map_err(|error| match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(io) => Error::Write(*io),
            Err(other) => Error::Write(std::io::Error::other(other)),
        },
        other => Error::Write(std::io::Error::other(other)),
    })
}

fn write(history: &History, out: impl Write + Send) -> Result<(), ParquetError> {
    let schema = Arc::new(Schema::new(COLUMNS.iter().map(field).collect::<Vec<_>>()));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .build();
    let mut writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties))?;
    let mut batch: Vec<Builder> = COLUMNS.iter().map(|column| Builder::of(column.kind)).collect();
    rows(history, |row| {
        batch.iter_mut().zip(row).for_each(|(builder, cell)| builder.push(cell));
        match batch[0].len() >= BATCH {
            true => writer.write(&take(&mut batch, &schema)?),
            false => Ok(()),
        }
    })?;
    writer.write(&take(&mut batch, &schema)?)?;
    writer.close().map(drop)
}

fn field(column: &super::Column) -> Field {
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

fn take(batch: &mut [Builder], schema: &Arc<Schema>) -> Result<RecordBatch, ParquetError> {
    let columns = batch.iter_mut().map(Builder::take).collect();
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}
