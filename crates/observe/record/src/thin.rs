//! A flight recorder runs for weeks: rows of long ago are merged, so that they stay within bounds.

use std::collections::HashMap;
use std::hash::Hash;

use wastenot_model::Time;

/// A row on a stretch of time.
pub(crate) trait Stretch: Sized {
    /// Rows of one of them can be merged.
    type Source: Copy + Eq + Hash;

    fn source(&self) -> Self::Source;
    fn until(&self) -> Time;
    /// Takes the next row of the same source in.
    fn absorb(&mut self, next: Self);
}

/// Merges pairs of rows of the older half that are of one source: the older, the coarser. The sums
/// stay exact, and the most recent rows, the only ones that a flight recorder keeps, stay as they
/// are.
pub(crate) fn thin<R: Stretch>(rows: &mut Vec<R>) {
    let newer = rows.split_off(rows.len() / 2);
    let mut single: HashMap<R::Source, usize> = HashMap::new();
    let mut merged: Vec<R> = Vec::with_capacity(rows.len());
    for row in rows.drain(..) {
        match single.remove(&row.source()) {
            Some(place) => merged[place].absorb(row),
            None => {
                single.insert(row.source(), merged.len());
                merged.push(row);
            }
        }
    }
    merged.sort_by_key(R::until);
    rows.append(&mut merged);
    rows.extend(newer);
}
