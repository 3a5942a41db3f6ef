//! What the page asks, and what it is answered.
//!
//! | path | answer |
//! |---|---|
//! | `/` | the page |
//! | `/head` | JSON: the machine, tasks, the window, the report |
//! | `/tile/LEVEL/N/GROUP` | cells from [`TILE_CELLS`] `* N` on, each `4^LEVEL` ns wide, of CPUs |
//! | | from the place [`TILE_CPUS`] `* GROUP` on |
//!
//! A tile has 12 bytes a cell, CPU after CPU: the shares of busy, waking, unknown, offline and
//! wanted time in steps of 1/255, tasks waiting on average in steps of 1/16, the most tasks that
//! waited, a zero, and the task as a little-endian number, `2^32 - 1` for none.

use libdeflater::{CompressionLvl, Compressor};
use wastenot_tiles::Cell;

use crate::View;

/// Cells of a tile, for each CPU.
pub const TILE_CELLS: usize = 256;
/// CPUs of a tile.
pub const TILE_CPUS: usize = 16;
/// Levels of widths that exist: 4^31 ns is a century.
const LEVELS: u32 = 31;

const PAGE: &str = include_str!("../page/page.html");

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// The media type.
    pub kind: &'static str,
    /// The content, compressed with gzip.
    pub body: Vec<u8>,
}

impl Answer {
    fn new(kind: &'static str, body: &[u8]) -> Answer {
        Answer { kind, body: gzip(body) }
    }
}

impl View {
    /// Answers what is asked at `path`; `None` where there is no such thing.
    pub fn answer(&self, path: &str) -> Option<Answer> {
        let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        match parts[..] {
            [""] => Some(Answer::new("text/html; charset=utf-8", PAGE.as_bytes())),
            ["head"] => Some(Answer::new("application/json", self.head.to_string().as_bytes())),
            ["tile", level, n, group] => {
                let level = level.parse().ok().filter(|level| *level <= LEVELS)?;
                let tile = self.tile(level, n.parse().ok()?, group.parse().ok()?);
                Some(Answer::new("application/octet-stream", &tile))
            }
            _ => None,
        }
    }

    fn tile(&self, level: u32, n: u64, group: usize) -> Vec<u8> {
        let first = group.saturating_mul(TILE_CPUS).min(self.order.len());
        let last = first.saturating_add(TILE_CPUS).min(self.order.len());
        let mut bytes = Vec::new();
        for cpu in &self.order[first..last] {
            let begin = n.saturating_mul(TILE_CELLS as u64);
            let cells = self.tiles.cells(*cpu, 1 << (2 * level), begin, TILE_CELLS);
            cells.iter().for_each(|cell| put(&mut bytes, cell));
            let missing = TILE_CELLS - cells.len();
            (0..missing).for_each(|_| bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]));
        }
        bytes
    }
}

fn put(bytes: &mut Vec<u8>, cell: &Cell) {
    let Cell { busy, waking, unknown, offline, wanted, waiting, waiting_max, .. } = *cell;
    bytes.extend([busy, waking, unknown, offline, wanted, waiting, waiting_max, 0]);
    bytes.extend(cell.task().map_or(u32::MAX, |task| task.0).to_le_bytes());
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::default());
    let mut packed = vec![0; compressor.gzip_compress_bound(bytes.len())];
    let length = compressor.gzip_compress(bytes, &mut packed).unwrap_or(0);
    packed.truncate(length);
    packed
}

#[cfg(test)]
mod tests {
    use libdeflater::Decompressor;
    use wastenot_check::Options;
    use wastenot_model::{
        Builder, CpuId, Entry, Head, History, Left, Machine, Sink, Task, TaskId, Time,
    };

    use super::*;
    use crate::check;

    /// A task with an unfriendly name runs on CPU 1 up to 10 ns, and from 40 to 80 ns.
    fn history() -> History {
        let mut sink = Builder::new(Head::new(Machine::flat(2)));
        let name = sink.name("</script><b>\u{1}");
        let (idle, task) = (TaskId::idle(CpuId(1)), sink.task(Task::new(7, name)));
        sink.push(Entry::switch(Time(10), CpuId(1), task, idle, Left::Sleeping));
        sink.push(Entry::switch(Time(40), CpuId(1), idle, task, Left::Runnable));
        sink.push(Entry::switch(Time(80), CpuId(1), task, idle, Left::Sleeping));
        sink.finish()
    }

    fn view() -> View {
        let (history, options) = (history(), Options::default());
        let (found, tiles) = check(&history, &options);
        View::new(&history, &found.report(&history, &options), tiles)
    }

    fn unpacked(answer: &Answer) -> Vec<u8> {
        let mut bytes = vec![0; 1 << 20];
        let length = Decompressor::new().gzip_decompress(&answer.body, &mut bytes);
        bytes.truncate(length.expect("gzip"));
        bytes
    }

    #[test]
    fn a_tile_has_each_cell_of_each_cpu_in_its_place() {
        let view = view();
        // Cells of 16 ns from 10 ns on: the task runs for the last 2 ns of the second, and on.
        let bytes = unpacked(&view.answer("/tile/2/0/0").expect("a tile"));
        assert_eq!(bytes.len(), 2 * TILE_CELLS * 12);
        let cell = |cpu: usize, n: usize| &bytes[(cpu * TILE_CELLS + n) * 12..][..12];
        assert_eq!((cell(1, 0)[0], cell(1, 1)[0], cell(1, 2)[0]), (0, 32, 255));
        assert_eq!(cell(1, 2)[8..], TaskId::nth(0).0.to_le_bytes());
        assert_eq!(cell(0, 0)[2], 255, "nothing is known of CPU 0");
        assert_eq!(cell(1, 5), [0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255], "after the end");
    }

    #[test]
    fn what_there_is_not_is_not_answered() {
        let view = view();
        for path in ["/x", "/tile/2/0", "/tile/99/0/0", "/tile/-1/0/0", "/tile/2/0/0/", "tile"] {
            assert_eq!(view.answer(path), None, "{path}");
        }
        let far = format!("/tile/31/{}/{}", u64::MAX, usize::MAX);
        assert_eq!(unpacked(&view.answer(&far).expect("an empty tile")), [0; 0]);
    }

    #[test]
    fn names_from_a_recording_are_text() {
        let view = view();
        let head = unpacked(&view.answer("/head").expect("the head"));
        let head: serde_json::Value = serde_json::from_slice(&head).expect("JSON");
        assert_eq!(head["tasks"][0][2], "</script><b>\u{1}");
        let page = String::from_utf8(unpacked(&view.answer("/").expect("the page")));
        let page = page.expect("text");
        assert!(page.contains("default-src 'none'"));
        assert!(!page.contains("http://") && !page.contains("https://"), "it loads from nowhere");
    }
}
