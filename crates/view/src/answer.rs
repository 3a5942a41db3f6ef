//! What the page asks, and what it is answered.
//!
//! | path | answer |
//! |---|---|
//! | `/` | the page |
//! | `/head` | JSON: the machine, tasks, the window, the report |
//! | `/tile/LEVEL/N/GROUP` | cells from [`TILE_CELLS`] `* N` on, each `4^LEVEL` ns wide, of CPUs |
//! | | from the place [`TILE_CPUS`] `* GROUP` on |
//! | `/at/CPU/TIME` | JSON: what a CPU did then, who waited on it, which CPUs were idle |
//! | `/way/TASK/FROM/TO/LEAST` | JSON: where a task ran and waited; what is closer together than |
//! | | `LEAST` is one |
//!
//! Times are ns from the begin of the recording; tasks are numbered as in the head. A tile has the
//! 12 bytes of each cell ([`Cell::bytes`]), CPU after CPU.

use libdeflater::{CompressionLvl, Compressor};
use serde_json::{Value, json};
use wastenot_model::{Activity, CpuId, TaskId, Time, Window};
use wastenot_tiles::{Cell, Stretch, Was};

use crate::View;

/// Cells of a tile, for each CPU.
pub const TILE_CELLS: usize = 256;
/// CPUs of a tile.
pub const TILE_CPUS: usize = 16;
/// Tasks that are listed of those that wait on a CPU; their number is told.
const LISTED: usize = 100;
/// Stretches of a task's way that are listed.
const STRETCHES: usize = 20_000;
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

    fn json(value: &Value) -> Answer {
        Answer::new("application/json", value.to_string().as_bytes())
    }
}

impl View {
    /// Answers what is asked at `path`; `None` where there is no such thing.
    pub fn answer(&self, path: &str) -> Option<Answer> {
        let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        match parts[..] {
            [""] => Some(Answer::new("text/html; charset=utf-8", PAGE.as_bytes())),
            ["head"] => Some(Answer::json(&self.head)),
            ["tile", level, n, group] => {
                let level = level.parse().ok().filter(|level| *level <= LEVELS)?;
                let tile = self.tile(level, n.parse().ok()?, group.parse().ok()?);
                Some(Answer::new("application/octet-stream", &tile))
            }
            ["at", cpu, time] => self.at(cpu.parse().ok()?, time.parse().ok()?),
            ["way", task, from, to, least] => {
                let (from, to) = (self.time(from.parse().ok()?), self.time(to.parse().ok()?));
                self.way(task.parse().ok()?, Window { from, to }, least.parse().ok()?)
            }
            _ => None,
        }
    }

    fn time(&self, since_begin: u64) -> Time {
        Time(self.tiles.window().from.0.saturating_add(since_begin))
    }

    fn at(&self, cpu: u16, since_begin: u64) -> Option<Answer> {
        let (time, begin) = (self.time(since_begin), self.tiles.window().from);
        // Those that wait since before the recording have been seen at its begin.
        let since = |time: Time| time.since(begin).0;
        let (is, active_since, queue) = self.tiles.at(CpuId(cpu), time)?;
        let task = if let Activity::Run(task) = is.activity { task.index() } else { None };
        let waiting =
            queue.iter().map(|it| json!([it.task.index(), since(it.since), it.origin.name()]));
        let idle = self.order.iter().filter(|cpu| {
            self.tiles.at(**cpu, time).is_some_and(|(is, ..)| is.activity == Activity::Idle)
        });
        let answer = json!({
            "is": is.activity.name(),
            "since": since(active_since),
            "task": task,
            "waiting": waiting.take(LISTED).collect::<Vec<_>>(),
            "count": is.waiting,
            "idle": idle.map(|cpu| cpu.0).collect::<Vec<_>>(),
        });
        Some(Answer::json(&answer))
    }

    fn way(&self, task: u32, window: Window, least: u64) -> Option<Answer> {
        let begin = self.tiles.window().from;
        let mut joined: Vec<Stretch> = Vec::new();
        for next in self.tiles.way(TaskId::nth(task as usize), window) {
            match joined.last_mut() {
                Some(last)
                    if last.cpu == next.cpu
                        && matches!(last.was, Was::Running) == matches!(next.was, Was::Running)
                        && next.window.from.since(last.window.to).0 < least =>
                {
                    last.window.to = next.window.to;
                }
                _ => joined.push(next),
            }
        }
        let is_cut = joined.len() > STRETCHES;
        let stretches = joined.iter().take(STRETCHES).map(|it| {
            let origin = match it.was {
                Was::Running => None,
                Was::Waiting(origin) => Some(origin.name()),
            };
            json!([it.cpu.0, (it.window.from - begin).0, (it.window.to - begin).0, origin])
        });
        Some(Answer::json(&json!({ "stretches": stretches.collect::<Vec<_>>(), "cut": is_cut })))
    }

    fn tile(&self, level: u32, n: u64, group: usize) -> Vec<u8> {
        let first = group.saturating_mul(TILE_CPUS).min(self.order.len());
        let last = first.saturating_add(TILE_CPUS).min(self.order.len());
        let mut bytes = Vec::new();
        for cpu in &self.order[first..last] {
            let begin = n.saturating_mul(TILE_CELLS as u64);
            let cells = self.tiles.cells(*cpu, 1 << (2 * level), begin, TILE_CELLS);
            let all = cells.iter().chain(std::iter::repeat(&Cell::NOTHING));
            all.take(TILE_CELLS).for_each(|cell| bytes.extend(cell.bytes()));
        }
        bytes
    }
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
        assert_eq!(cell(1, 2)[9..], [0, 0, 0], "the first task");
        assert_eq!(cell(0, 0)[2], 255, "nothing is known of CPU 0");
        assert_eq!(cell(1, 5), Cell::NOTHING.bytes(), "after the end");
    }

    fn json(view: &View, path: &str) -> Value {
        let answer = view.answer(path).expect("an answer");
        serde_json::from_slice(&unpacked(&answer)).expect("JSON")
    }

    #[test]
    fn a_moment_and_a_way_are_told() {
        let view = view();
        let at = json(&view, "/at/1/29");
        assert_eq!(
            (&at["is"], &at["task"], &at["since"]),
            (&"idle".into(), &Value::Null, &0.into())
        );
        let at = json(&view, "/at/1/31");
        assert_eq!((&at["is"], &at["task"], &at["since"]), (&"run".into(), &0.into(), &30.into()));
        let way = json(&view, "/way/0/0/100/0");
        assert_eq!(way["stretches"], json!([[1, 30, 70, null]]));
        assert_eq!(json(&view, "/way/9/0/100/0")["stretches"], json!([]));
    }

    #[test]
    fn what_there_is_not_is_not_answered() {
        let view = view();
        for path in [
            "/x",
            "/tile/2/0",
            "/tile/99/0/0",
            "/tile/-1/0/0",
            "/tile/2/0/0/",
            "tile",
            "/at/9/1",
            "/at/1/99",
        ] {
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
        assert_eq!(head["tasks"][0][1], "</script><b>\u{1}");
        let page = String::from_utf8(unpacked(&view.answer("/").expect("the page")));
        let page = page.expect("text");
        assert!(page.contains("default-src 'none'"));
        assert!(!page.contains("http://") && !page.contains("https://"), "it loads from nowhere");
    }
}
