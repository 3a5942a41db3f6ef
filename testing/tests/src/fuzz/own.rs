//! Damages the own format inside its columns, which are compressed in the file.

use std::sync::Arc;

use arrow_array::types::{Int16Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch, StringArray};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;

use crate::Rng;
use crate::encode::ODD;

/// A past that is impossible.
const ODD_PAST: &str = r#"{"phase":"waiting","since_ns":18446744073709551615,"cpu":8191,"prev_cpu":
8191,"origin":"fork","moves":65535,"waking_ns":0,"waker_context":"hardirq","waker_cpu":8191,
"last_cpu":8191,"seen_on":8191}"#;

/// The same stream with some cells changed, uncompressed; `None` if it cannot be read.
pub fn tampered_wn(rng: &mut Rng, bytes: &[u8]) -> Option<Vec<u8>> {
    let reader = StreamReader::try_new(bytes, None).ok()?;
    let schema = reader.schema();
    let mut out = Vec::new();
    let mut writer = StreamWriter::try_new(&mut out, &schema).ok()?;
    for batch in reader {
        let batch = batch.ok()?;
        let columns = batch.columns().iter().map(|column| match rng.one_in(4) {
            true => damaged(rng, column),
            false => Arc::clone(column),
        });
        let columns = columns.collect();
        // An empty cell in a column without nulls makes no batch: then the batch stays.
        let changed = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap_or(batch);
        for _ in 0..rng.pick(&[1, 1, 1, 0, 2]) {
            writer.write(&changed).ok()?;
        }
    }
    writer.finish().ok()?;
    drop(writer);
    Some(out)
}

fn damaged(rng: &mut Rng, column: &ArrayRef) -> ArrayRef {
    macro_rules! numbers {
        ($($kind:ident $native:ty),*) => {
            $(if let Some(array) = column.as_any().downcast_ref::<PrimitiveArray<$kind>>() {
                let mut cells: Vec<Option<$native>> = array.iter().collect();
                for _ in 0..1 + rng.below(3) {
                    let (at, from) = (rng.below(cells.len()), rng.below(cells.len()));
                    let new = match rng.below(4) {
                        0 => None,
                        1 => cells.get(from).copied().flatten(),
                        2 => Some(rng.below(9000) as $native),
                        _ => Some(rng.pick(&ODD) as $native),
                    };
                    if let Some(cell) = cells.get_mut(at) {
                        *cell = new;
                    }
                }
                return Arc::new(cells.into_iter().collect::<PrimitiveArray<$kind>>());
            })*
        };
    }
    numbers!(
        UInt64Type u64, UInt32Type u32, UInt16Type u16, UInt8Type u8, Int64Type i64, Int16Type i16
    );
    let Some(array) = column.as_any().downcast_ref::<StringArray>() else {
        return Arc::clone(column);
    };
    let mut cells: Vec<Option<&str>> = array.iter().collect();
    let at = rng.below(cells.len());
    let text = rng.pick(&["", "{}", "0-9000", "[1,2", "\u{0}", "{\"cpus\":[1e99]}", ODD_PAST]);
    if let Some(cell) = cells.get_mut(at) {
        *cell = (!rng.one_in(3)).then_some(text);
    }
    Arc::new(cells.into_iter().collect::<StringArray>())
}
