//! The requests of the page, and their answers.
//!
//! | path | answer |
//! |---|---|
//! | `/` | the page |
//! | `/head` | JSON: for each trace the machine, names, causes and its time; and if it is a |
//! | | glance: then [`Server`](crate::Server) reports when the whole trace is ready |
//! | `/R/tasks` | tids, names and cgroups of the tasks: `tasks` |
//! | `/R/tile/FOLD/LEVEL/N/GROUP` | cells of some lanes in a stretch of time: [`tile`] |
//! | `/R/frequency/FOLD/LEVEL/N/GROUP` | mean frequencies of these cells: `Frequencies::tile` |
//! | `/R/totals/LEVEL/N` | the total activity of all CPUs: `Recording::totals` |
//! | `/R/rows/LIST/N` | HTML: [`ROWS_AT_ONCE`] rows of a table, from row `N` on; for tables of |
//! | | differences, `R` is `both` |
//! | `/R/violations` | JSON: the times of the violations, in the order of their table |
//! | `/R/at/CPU/TIME` | JSON: the activity of a CPU at a time, its waiting tasks, the idle CPUs |
//! | `/R/way/TASK/FROM/TO/LEAST` | JSON: the runs and waits of a task. Stretches less than |
//! | | `LEAST` apart are joined. For few waits, also the waker of the task and its CPU |
//! | `/R/next/TASK/TIME` | JSON: the run of a task that begins after a time |
//! | `/R/previous/TASK/TIME` | JSON: the last run of a task that begins before a time |
//! | `/R/sums/FROM/TO` | JSON: the sums of the activity of each CPU |
//! | `/R/decisions/FROM/TO` | JSON: the decisions of the scheduler: how many, and the first |
//! | | [`ROWS_AT_ONCE`] as HTML |
//! | `/R/account/TASK/FROM/TO` | JSON: the account of a task: `Recording::account` |
//!
//! `R` is the index of a trace, `FOLD` the index of an arrangement of CPUs on lanes. Times are in
//! ns since the start of the trace. The numbers of tasks are those of the head.

use crate::html::{ROWS_AT_ONCE, Words};
use crate::tiles::LEVELS;
use libdeflater::{CompressionLvl, Compressor};
use serde_json::{Value, json};
use wastenot_model::Window;

use crate::recording::tile;
use crate::{Recording, View};

const HTML: &str = "text/html; charset=utf-8";

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
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

    pub(crate) fn bytes(bytes: &[u8]) -> Answer {
        Answer::new("application/octet-stream", bytes)
    }

    pub(crate) fn json(value: &Value) -> Answer {
        Answer::new("application/json", value.to_string().as_bytes())
    }
}

impl View {
    /// Answers what is asked at `path`; `None` where there is no such thing.
    pub fn answer(&self, path: &str) -> Option<Answer> {
        let parts: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        let (recording, parts) = match parts[..] {
            [""] => {
                let page = || Answer::new(HTML, self.page("", "").as_bytes());
                return Some(self.made[0].get_or_init(page).clone());
            }
            ["head"] => {
                return Some(self.made[1].get_or_init(|| Answer::json(&self.head())).clone());
            }
            ["both", "rows", list, n] => return rows(&self.differences.as_ref()?.1, list, n),
            [recording, ref parts @ ..] => (recording.parse::<usize>().ok()?, parts),
            [] => return None,
        };
        let of = self.recordings.get(recording)?;
        let bytes = |bytes: Vec<u8>| Some(Answer::bytes(&bytes));
        let level = |level: &str| level.parse().ok().filter(|level| *level < LEVELS);
        match *parts {
            ["tile", fold, width, n, group] => {
                let fold = of.folds.get(fold.parse::<usize>().ok()?)?;
                let lanes = Recording::lanes(fold, group.parse().ok()?);
                bytes(tile(lanes, &of.cells(lanes, level(width)?, n.parse().ok()?)))
            }
            ["frequency", fold, width, n, group] => {
                let fold = of.folds.get(fold.parse::<usize>().ok()?)?;
                let lanes = Recording::lanes(fold, group.parse().ok()?);
                let all = of.tiles.window();
                bytes(of.frequencies.tile(lanes, level(width)?, n.parse().ok()?, all))
            }
            ["totals", width, n] => bytes(of.totals(level(width)?, n.parse().ok()?)),
            ["tasks"] => Some(Answer::bytes(&of.tasks)),
            ["rows", list, n] => rows(&of.rest, list, n),
            ["violations"] => Some(Answer::json(&of.violations())),
            ["at", cpu, time] => Some(Answer::json(&of.at(cpu.parse().ok()?, time.parse().ok()?)?)),
            ["way", task, from, to, least] => {
                let (from, to) = (of.time(from.parse().ok()?), of.time(to.parse().ok()?));
                let window = Window { from, to };
                Some(Answer::json(&of.way(task.parse().ok()?, window, least.parse().ok()?)))
            }
            [which @ ("next" | "previous"), task, time] => {
                let (task, time) = (task.parse().ok()?, time.parse().ok()?);
                Some(Answer::json(&of.run(task, time, which == "next")))
            }
            ["sums", from, to] => {
                Some(Answer::json(&of.sums(from.parse().ok()?, to.parse().ok()?)))
            }
            ["decisions", from, to] => {
                let (from, to) = (of.time(from.parse().ok()?), of.time(to.parse().ok()?));
                Some(Answer::json(&of.decisions.told(Window { from, to }, of.time(0))))
            }
            ["account", task, from, to] => {
                let (from, to) = (from.parse().ok()?, to.parse().ok()?);
                Some(Answer::json(&of.account(task.parse().ok()?, from, to)))
            }
            _ => None,
        }
    }

    pub(crate) fn head(&self) -> Value {
        let heads: Vec<&Value> = self.recordings.iter().map(|it| &it.head).collect();
        let is_glance = self.recordings.iter().any(|it| it.is_glance);
        json!({ "recordings": heads, "glance": is_glance })
    }
}

fn rows(words: &Words, list: &str, from: &str) -> Option<Answer> {
    let rows = words.rows(list, from.parse().ok()?, ROWS_AT_ONCE)?;
    Some(Answer::new(HTML, rows.as_bytes()))
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
    use crate::tiles::{Bytes, Cell};
    use libdeflater::Decompressor;
    use wastenot_check::Options;
    use wastenot_model::decisions::{self, Decision};
    use wastenot_model::{
        Annex, Builder, By, CpuId, CpuSet, Entry, Event, Head, History, How, Left, Machine, Prio,
        Sink, Span, Task, TaskId, Time,
    };

    use super::*;
    use crate::tiles::TILE_CELLS;
    use crate::{FIRST_ROWS, check};

    /// A task with an unfriendly name runs on CPU 1 up to 10 ns, and from 40 to 80 ns. At 41 ns
    /// something is decided.
    fn history() -> History {
        let mut sink = Builder::new(Head::new(Machine::flat(2)));
        let name = sink.name("</script><b>\u{1}");
        let (idle, task) = (TaskId::idle(CpuId(1)), sink.task(Task::new(7, name)));
        sink.push(Entry::switch(Time(10), CpuId(1), task, idle, Left::Sleeping));
        sink.push(Entry::switch(Time(40), CpuId(1), idle, task, Left::Runnable));
        sink.push(Entry::switch(Time(80), CpuId(1), task, idle, Left::Sleeping));
        let event = Event::Freq { cpu: CpuId(1), khz: 5 };
        sink.push(Entry { time: Time(80), cpu: CpuId(1), by: By::UNKNOWN, event });
        let considered = CpuSet::first(2);
        let [local, busiest] = [CpuSet::default(), CpuSet::default()];
        let (time, cpu, what, outcome) = (Time(41), CpuId(0), "<i>", "none");
        let task = Some(task);
        let decision = Decision { time, cpu, what, task, considered, local, busiest, outcome };
        sink.annex(Annex { table: decisions::table([decision]) });
        sink.finish()
    }

    fn view() -> View {
        of(&history())
    }

    fn of(history: &History) -> View {
        let options = Options::default();
        let spilled = &mut Vec::new();
        let (found, content) = check(history, &options, spilled).expect("memory does not fail");
        let report = found.report(history, &options);
        View::new(Recording::new(history, &options, &found, &report, content))
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
        let bytes = unpacked(&view.answer("/0/tile/0/2/0/0").expect("a tile"));
        assert_eq!(bytes.len(), 2 * TILE_CELLS * 12);
        let cell = |cpu: usize, n: usize| {
            let of = |field| bytes[(cpu * 12 + field) * TILE_CELLS + n];
            (0..12).map(of).collect::<Vec<u8>>()
        };
        assert_eq!((cell(1, 0)[0], cell(1, 1)[0], cell(1, 2)[0]), (0, 32, 255));
        assert_eq!(cell(1, 2)[9..], [0, 0, 0], "the first task");
        assert_eq!(cell(0, 0)[2], 255, "nothing is known of CPU 0");
        assert_eq!(cell(1, 5), Cell::NOTHING.bytes(), "after the end");
    }

    #[test]
    fn tasks_of_a_tile_are_told_by_how_much_they_differ() {
        let mut sink = Builder::new(Head::new(Machine::flat(1)));
        let name = sink.name("x");
        let tasks: Vec<TaskId> = (0..300).map(|n| sink.task(Task::new(n, name))).collect();
        let order = [5, 280, 3, 3, 299, 0];
        let mut last = TaskId::idle(CpuId(0));
        for (n, task) in order.iter().map(|n| tasks[*n as usize]).enumerate() {
            sink.push(Entry::switch(Time(n as u64 * 4), CpuId(0), last, task, Left::Sleeping));
            last = task;
        }
        let end = TaskId::idle(CpuId(0));
        sink.push(Entry::switch(Time(24), CpuId(0), last, end, Left::Sleeping));
        sink.push(Entry::switch(Time(40), CpuId(0), end, last, Left::Sleeping));
        let view = of(&sink.finish());
        let bytes = unpacked(&view.answer("/0/tile/0/1/0/0").expect("a tile"));
        let of = |cell: usize| [9, 10, 11].map(|field| bytes[field * TILE_CELLS + cell]);
        let mut last = 0;
        let told = (0..7).map(|cell| {
            let [a, b, c] = of(cell);
            let number = u32::from_le_bytes([a, b, c, 0]);
            let known = (number != 0xff_ffff).then(|| (last + number) % 0xff_ffff);
            last = known.unwrap_or(last);
            known
        });
        let expected = order.iter().map(|n| Some(*n)).chain([None]);
        assert_eq!(told.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }

    fn json(view: &View, path: &str) -> Value {
        let answer = view.answer(path).expect("an answer");
        serde_json::from_slice(&unpacked(&answer)).expect("JSON")
    }

    #[test]
    fn a_moment_and_a_way_are_told() {
        let view = view();
        let at = json(&view, "/0/at/1/29");
        assert_eq!(
            (&at["is"], &at["task"], &at["since"]),
            (&"idle".into(), &Value::Null, &0.into())
        );
        let at = json(&view, "/0/at/1/31");
        assert_eq!((&at["is"], &at["task"], &at["since"]), (&"run".into(), &0.into(), &30.into()));
        let way = json(&view, "/0/way/0/0/100/0");
        assert_eq!(way["stretches"], json!([[1, 30, 70, null]]));
        assert_eq!(json(&view, "/0/way/9/0/100/0")["stretches"], json!([]));
    }

    #[test]
    fn a_page_has_the_first_rows_of_tables_and_the_others_are_asked_for() {
        // Tasks that each wait once while CPU 1 is idle.
        let mut sink = Builder::new(Head::new(Machine::flat(2)));
        let idle = TaskId::idle(CpuId(0));
        sink.push(Entry::switch(
            Time(0),
            CpuId(1),
            TaskId::idle(CpuId(1)),
            TaskId::idle(CpuId(1)),
            Left::Sleeping,
        ));
        let count = FIRST_ROWS + ROWS_AT_ONCE + 10;
        for n in 0..count as u32 {
            let name = sink.name(&format!("<b>{n}"));
            let task = sink.task(Task::new(100 + n as i32, name));
            let begin = Time(u64::from(n) * 1000);
            sink.push(Entry::switch(begin, CpuId(0), idle, task, Left::Sleeping));
            sink.push(Entry::switch(begin + Span(500), CpuId(0), task, idle, Left::Sleeping));
        }
        let view = of(&sink.finish());
        let html = |path: &str| String::from_utf8(unpacked(&view.answer(path)?)).ok();
        let rows = |html: &str| html.matches("&lt;b&gt;").count();
        let all = rows(&view.file(1 << 22).0);
        assert!(all >= count, "a file has all rows: {all}");
        let of = |n| html(&format!("/0/rows/tasks/{n}")).map(|html| rows(&html));
        assert_eq!(of(FIRST_ROWS), Some(ROWS_AT_ONCE));
        assert_eq!(of(FIRST_ROWS + ROWS_AT_ONCE), Some(10));
        assert_eq!(
            (of(5000), html("/0/rows/x/0"), html("/both/rows/tasks/0")),
            (Some(0), None, None)
        );
        let page = html("/").expect("a page");
        assert_eq!(all - rows(&page), count - FIRST_ROWS);
        assert!(page.contains(&format!("data-name=\"tasks\" data-rows=\"{count}\"")), "{page}");
    }

    #[test]
    fn the_runs_of_a_task_follow_each_other() {
        let view = view();
        // It runs from the begin, for all that is known, and from 30 ns on.
        for (path, run) in [
            ("next/0/0", json!([1, 30, 70])),
            ("next/0/29", json!([1, 30, 70])),
            ("next/0/30", Value::Null),
            ("previous/0/70", json!([1, 30, 70])),
            ("previous/0/31", json!([1, 30, 70])),
            ("previous/9/31", Value::Null),
        ] {
            assert_eq!(json(&view, &format!("/0/{path}")), run, "{path}");
        }
        for path in ["/0/next/0", "/0/next/x/1", "/0/after/0/1"] {
            assert_eq!(view.answer(path), None, "{path}");
        }
    }

    #[test]
    fn a_way_tells_who_woke_the_task_and_where_it_ran() {
        let mut sink = Builder::new(Head::new(Machine::flat(2)));
        let name = sink.name("x");
        let [woken, waker, other] = [1, 2, 3].map(|tid| sink.task(Task::new(tid, name)));
        let [idle, idle1] = [0, 1].map(|cpu| TaskId::idle(CpuId(cpu)));
        sink.push(Entry::switch(Time(0), CpuId(0), idle, waker, Left::Sleeping));
        sink.push(Entry::switch(Time(1), CpuId(1), idle1, other, Left::Sleeping));
        let (on, how, prio) = (Some(CpuId(1)), How::Wakeup, Prio::UNKNOWN);
        let event = Event::Queued { task: woken, on, how, prio };
        let by = By::task(waker);
        sink.push(Entry { time: Time(10), cpu: CpuId(0), by, event });
        sink.push(Entry::switch(Time(30), CpuId(1), other, woken, Left::Runnable));
        sink.push(Entry::switch(Time(50), CpuId(1), woken, idle1, Left::Sleeping));
        let view = of(&sink.finish());
        let way = json(&view, "/0/way/0/0/50/0");
        assert_eq!(way["stretches"], json!([[1, 10, 30, "wakeup", 1, 0], [1, 30, 50, null]]));
        // The wait began before.
        let way = json(&view, "/0/way/0/20/50/0");
        assert_eq!(way["stretches"][0], json!([1, 20, 30, "wakeup", null, null]));
    }

    #[test]
    fn sums_are_of_the_stretch_that_was_asked_for() {
        let view = view();
        // CPU 0 is unknown; CPU 1 ran up to 0 ns, idle up to 30 ns, ran up to 70 ns.
        assert_eq!(
            json(&view, "/0/sums/3/37"),
            json!([[0, 0, 0, 0, 34, 0, 0, 0, 0], [1, 7, 27, 0, 0, 0, 0, 0, 0]])
        );
        let [none, all] = ["/0/sums/9/3", "/0/sums/0/999999"].map(|path| json(&view, path));
        assert_eq!(
            (&none[1], &all[1][1], &all[0][4]),
            (&json!([1, 0, 0, 0, 0, 0, 0, 0, 0]), &json!(40), &json!(70))
        );
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
        let far = format!("/0/tile/0/31/{}/{}", u64::MAX, usize::MAX);
        assert_eq!(unpacked(&view.answer(&far).expect("an empty tile")), [0; 0]);
    }

    #[test]
    fn whatever_numbers_are_asked_for_answers_are_small_and_come() {
        let view = view();
        let numbers = [
            "0",
            "1",
            "31",
            "32",
            "255",
            "4294967295",
            "18446744073709551615",
            "-1",
            "",
            "x",
            "9e9",
        ];
        let known = [
            ("tile", 4),
            ("totals", 2),
            ("rows", 2),
            ("at", 2),
            ("way", 4),
            ("next", 2),
            ("previous", 2),
            ("sums", 2),
        ];
        let mut answered = 0;
        for (word, arity) in known {
            for mut n in 0..numbers.len().pow(arity) {
                let mut path = format!("/0/{word}");
                for _ in 0..arity {
                    path = format!("{path}/{}", numbers[n % numbers.len()]);
                    n /= numbers.len();
                }
                if let Some(answer) = view.answer(&path) {
                    answered += 1;
                    assert!(answer.body.len() < 1000, "{path}: {}", answer.body.len());
                }
            }
        }
        assert!(answered > 1000, "{answered}");
    }

    #[test]
    fn what_is_kept_answers_as_before_and_what_is_damaged_is_not_taken() {
        let view = view();
        let recording = &view.recordings[0];
        let bytes = [&recording.tiles.spilled()[..], &recording.tail()].concat();
        let kept = |bytes: &[u8]| Recording::from_bytes(&Bytes::new(bytes.to_vec()));
        let again = View::new(kept(&bytes).expect("what was kept"));
        for path in [
            "/",
            "/head",
            "/0/tile/0/2/0/0",
            "/0/totals/3/0",
            "/0/at/1/31",
            "/0/way/0/0/99/0",
            "/0/rows/tasks/0",
            "/0/violations",
            "/0/decisions/31/32",
            "/0/frequency/0/2/0/0",
        ] {
            assert_eq!(again.answer(path), view.answer(path), "{path}");
        }
        assert_eq!(json(&again, "/0/decisions/31/32")["count"], 1);
        assert_eq!(again.file(1 << 20), view.file(1 << 20));
        for length in 0..bytes.len() {
            assert!(kept(&bytes[..length]).is_none(), "{length} bytes");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x81;
            // Whatever it says then, it ends.
            if let Some(recording) = kept(&damaged) {
                let view = View::new(recording);
                for path in ["/0/tile/0/2/0/0", "/0/totals/3/0", "/0/at/1/31", "/0/way/0/0/99/0"] {
                    let _ = view.answer(path);
                }
            }
        }
    }

    #[test]
    fn names_from_a_recording_are_text() {
        let view = view();
        let head = unpacked(&view.answer("/head").expect("the head"));
        let head: serde_json::Value = serde_json::from_slice(&head).expect("JSON");
        assert_eq!(head["recordings"][0]["names"][0], "</script><b>\u{1}");
        let tasks = unpacked(&view.answer("/0/tasks").expect("tasks"));
        assert_eq!(tasks, [7, 0, 0, 0, 0, 0, 0, 0], "the tid, and the place of the name");
        let page = String::from_utf8(unpacked(&view.answer("/").expect("the page")));
        let page = page.expect("text");
        assert!(page.contains("default-src 'none'"));
        assert!(!page.contains("http://") && !page.contains("https://"), "it loads from nowhere");
        assert!(!page.contains("</script><b>") && !page.contains('\u{1}'), "{page}");
    }

    #[test]
    fn a_file_has_the_answers_and_asks_nobody() {
        let (page, narrowest_ns) = view().file(1 << 20);
        assert!(page.contains("default-src 'none'; img-src") && !page.contains("connect-src"));
        assert_eq!(narrowest_ns, 1, "a short recording is there as a whole");
        let saved = page.split_once("id=\"saved\">").expect("answers").1;
        let saved = saved.split_once("</script>").expect("their end").0;
        let saved: Value = serde_json::from_str(saved).expect("JSON");
        assert!(saved["head"].is_string() && saved["0/tile/0/0/0/0"].is_string(), "{saved}");
        let (small, narrowest_ns) = view().file(0);
        assert!(
            small.len() < page.len() && narrowest_ns >= 70,
            "the widest cells are always there"
        );
    }
}
