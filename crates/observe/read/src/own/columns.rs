//! The flat schema: one declaration that serves both to build and to read batches.

use std::sync::Arc;

use arrow_array::builder::{PrimitiveBuilder, StringBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Int16Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};

/// One row, whatever its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Record<'a> {
    pub(super) time: u64,
    pub(super) kind: u8,
    pub(super) context: u8,
    pub(super) what: u8,
    pub(super) cpu: Option<u16>,
    pub(super) by: Option<u32>,
    pub(super) task: Option<u32>,
    pub(super) other: Option<u32>,
    pub(super) on: Option<u16>,
    pub(super) from: Option<u16>,
    pub(super) prio: Option<i16>,
    pub(super) other_prio: Option<i16>,
    pub(super) value: Option<i64>,
    pub(super) text: Option<&'a str>,
}

macro_rules! columns {
    ($($required:ident: $required_type:ident,)* | $($optional:ident: $optional_type:ident,)*) => {
        /// Rows that wait to become a batch.
        #[derive(Default)]
        pub(super) struct Rows {
            len: usize,
            $($required: PrimitiveBuilder<$required_type>,)*
            $($optional: PrimitiveBuilder<$optional_type>,)*
            text: StringBuilder,
        }

        impl Rows {
            pub(super) fn len(&self) -> usize {
                self.len
            }
            #[inline]
            pub(super) fn push(&mut self, record: &Record<'_>) {
                self.len += 1;
                $(self.$required.append_value(record.$required);)*
                $(self.$optional.append_option(record.$optional);)*
                self.text.append_option(record.text);
            }
            /// The batch of all rows pushed so far; the rows are then removed.
            pub(super) fn take(&mut self, schema: &Arc<Schema>) -> RecordBatch {
                self.len = 0;
                let columns: Vec<ArrayRef> = vec![
                    $(Arc::new(self.$required.finish()),)*
                    $(Arc::new(self.$optional.finish()),)*
                    Arc::new(self.text.finish()),
                ];
                RecordBatch::try_new(Arc::clone(schema), columns).expect("columns are the schema's")
            }
        }

        /// The fields of the schema.
        pub(super) fn fields() -> Vec<Field> {
            vec![
                $(Field::new(stringify!($required), $required_type::DATA_TYPE, false),)*
                $(Field::new(stringify!($optional), $optional_type::DATA_TYPE, true),)*
                Field::new("text", DataType::Utf8, true),
            ]
        }

        /// The columns of a batch that was read.
        pub(super) struct Batch<'a> {
            len: usize,
            $($required: &'a [<$required_type as ArrowPrimitiveType>::Native],)*
            $($optional: &'a PrimitiveArray<$optional_type>,)*
            text: &'a StringArray,
        }

        impl<'a> Batch<'a> {
            /// `None` if a column is missing or has another type.
            pub(super) fn of(batch: &'a RecordBatch) -> Option<Batch<'a>> {
                Some(Batch {
                    len: batch.num_rows(),
                    $($required: column::<$required_type>(batch, stringify!($required))?.values(),)*
                    $($optional: column(batch, stringify!($optional))?,)*
                    text: batch.column_by_name("text")?.as_any().downcast_ref()?,
                })
            }
            pub(super) fn rows(&self) -> impl Iterator<Item = Record<'a>> + '_ {
                (0..self.len).map(|row| Record {
                    $($required: self.$required[row],)*
                    $($optional: cell(self.$optional, row),)*
                    text: self.text.is_valid(row).then(|| self.text.value(row)),
                })
            }
        }
    };
}

columns! {
    time: UInt64Type,
    kind: UInt8Type,
    context: UInt8Type,
    what: UInt8Type,
    |
    cpu: UInt16Type,
    by: UInt32Type,
    task: UInt32Type,
    other: UInt32Type,
    on: UInt16Type,
    from: UInt16Type,
    prio: Int16Type,
    other_prio: Int16Type,
    value: Int64Type,
}

fn column<'a, T: ArrowPrimitiveType>(
    batch: &'a RecordBatch,
    name: &str,
) -> Option<&'a PrimitiveArray<T>> {
    batch.column_by_name(name)?.as_any().downcast_ref()
}

#[inline]
fn cell<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>, row: usize) -> Option<T::Native> {
    column.is_valid(row).then(|| column.value(row))
}
