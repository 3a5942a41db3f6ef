//! The activity of each CPU in a stretch of time, as sums.

use crate::tiles::{LEVELS, Sum, width_ns};
use rayon::prelude::*;
use serde_json::{Value, json};
use wastenot_model::CpuId;

use crate::Recording;

impl Recording {
    /// What each CPU that has a lane did from one time to another: its number, and in ns how long
    /// it was busy, idle, about to start a task, unknown and offline, how long it was idle while a
    /// task waited elsewhere, how long tasks waited there, summed over them, and in vain.
    pub(crate) fn sums(&self, from: u64, to: u64) -> Value {
        let span = self.tiles.window().span().0;
        let pieces = pieces(from.min(span), to.min(span));
        let cpus = self.folds.first().into_iter().flat_map(|fold| &fold.lanes);
        let cpus: Vec<&CpuId> = cpus.flat_map(|lane| &lane.cpus).collect();
        let sums = cpus.into_par_iter().map(|cpu| {
            let mut all = Sum::default();
            for (width, first, count) in &pieces {
                self.tiles.sums(*cpu, *width, *first, *count).into_iter().for_each(|it| all += it);
            }
            let Sum { busy_ns, idle_ns, waking_ns, unknown_ns, offline_ns, .. } = all;
            let Sum { wanted_ns, waiting_ns, in_vain_ns, .. } = all;
            json!([
                cpu.0, busy_ns, idle_ns, waking_ns, unknown_ns, offline_ns, wanted_ns, waiting_ns,
                in_vain_ns
            ])
        });
        Value::Array(sums.collect())
    }
}

/// Cells that are a stretch of time together: their width, the first, and how many. There are few,
/// however long it is.
fn pieces(mut from: u64, to: u64) -> Vec<(u64, u64, usize)> {
    let mut pieces = Vec::new();
    while from < to {
        // The widest cells that begin here and end in it, as many as there are up to a wider one.
        let fits = |width: &u64| from.is_multiple_of(*width) && to - from >= *width;
        let width = (0..LEVELS).map(width_ns).take_while(fits).last().unwrap_or(1);
        let first = from / width;
        let count = (4 - first % 4).min((to - from) / width);
        pieces.push((width, first, count as usize));
        from += count * width;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_a_few_cells_that_do_not_overlap() {
        for (from, to) in
            [(0, 1), (3, 3), (5, 1), (0, 1 << 40), (1, (1 << 40) - 1), (7, 12_345_678)]
        {
            let mut at = from;
            let pieces = pieces(from, to);
            assert!(pieces.len() < 64, "{from} to {to}: {}", pieces.len());
            for (width, first, count) in pieces {
                assert_eq!(first * width, at);
                at += width * count as u64;
            }
            assert_eq!(at, to.max(from));
        }
    }
}
