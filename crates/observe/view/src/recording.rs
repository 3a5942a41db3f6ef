//! The content of the page for one History.

use std::sync::Mutex;
use std::{fmt, io};

use crate::html::{self, ROWS_AT_ONCE, Words};
use crate::tiles::{Builder, Cell, Spill, TILE_CELLS, TILE_LANES, Tiles, Total, width_ns};
use serde_json::{Value, json};
use wastenot_check::causes::{Cause, Causes, LostTime, TREE};
use wastenot_check::{Check, Options, check_beside};
use wastenot_model::{Activity, CpuId, History, Report, TaskId, Time, Window};

use crate::annexes;
use crate::decisions::Decisions;
use crate::folds::{Fold, Lane, folds};
use crate::frequency::Frequencies;
use crate::tasks::{self, Tasks};

/// Numbers of a total.
const TOTALS: usize = Total::NUMBERS;
/// Bytes of a cell.
const CELL: usize = Cell::NOTHING.bytes().len();
/// The number of no task: all ones in three bytes.
const NO_TASK: u32 = (1 << 24) - 1;
/// Tasks that are listed of those that wait on a CPU; their number is told.
const LISTED: usize = 100;

/// What a page shows of one History.
#[derive(Debug)]
pub struct Recording {
    pub(crate) tiles: Tiles,
    pub(crate) frequencies: Frequencies,
    /// As [`tasks::of`] gives them.
    pub(crate) tasks: Vec<u8>,
    pub(crate) folds: Vec<Fold>,
    pub(crate) head: Value,
    pub(crate) title: String,
    /// What its report says first, as HTML.
    pub(crate) first: String,
    /// The rest of it.
    pub(crate) rest: Words,
    /// The times to which its violations lead, worst first.
    pub(crate) worst: Vec<Window>,
    /// The number of its events.
    pub(crate) events: usize,
    /// What the scheduler decided, where that is told.
    pub(crate) decisions: Decisions,
    /// Gives the events again, where that is possible.
    pub(crate) source: Option<Events>,
    /// Whether only short stretches were read: then cells that are known in part show that part.
    pub(crate) is_glance: bool,
}

/// Reads the History of a recording again, with what its check takes for granted; else gives the
/// reason why that cannot be done, as a sentence.
pub type Read = Box<dyn Fn() -> Result<(History, Options), String> + Send + Sync>;

/// The events of a recording, for answers that its tiles do not hold.
pub struct Events {
    pub(crate) read: Read,
    /// The command that explains the recording, without its tasks and window.
    pub(crate) explain: String,
    /// Once they were read.
    pub(crate) kept: Mutex<Option<(History, Options)>>,
}

impl Events {
    /// `read` is called when they are needed first; `explain` is the command that does in a
    /// terminal what the page cannot do.
    pub fn new(read: Read, explain: String) -> Events {
        Events { read, explain, kept: Mutex::new(None) }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").field("explain", &self.explain).finish_non_exhaustive()
    }
}

/// What a page asks for beside words.
#[derive(Debug)]
pub struct Content {
    tiles: Tiles,
    frequencies: Frequencies,
    tasks: Tasks,
}

/// Checks `history`, and makes tiles in the same replay. Most of their bytes go to `spill`.
///
/// # Errors
/// Those of `spill`.
pub fn check(
    history: &History,
    options: &Options,
    spill: &mut dyn Spill,
) -> io::Result<(Check, Content)> {
    let mut beside = (Builder::new(history, spill), Frequencies::default());
    let options = Options { waits_in_vain: true, ..options.clone() };
    let found = check_beside(history, &options, &mut beside);
    let (tiles, frequencies) = beside;
    let tiles = tiles.finish(in_vain(&found))?;
    Ok((found, Content { tiles, frequencies, tasks: tasks::of(history) }))
}

/// Why a task waited in vain where none of the waste is charged to it: more tasks waited than CPUs
/// were idle. Causes have numbers from 1 on, in the order of the tree.
const NOT_CHARGED: u8 = u8::MAX;

/// When tasks waited in vain, where, and why.
fn in_vain(found: &Check) -> impl Iterator<Item = (CpuId, Window, u8)> + '_ {
    let causes = found.causes.iter().flat_map(|causes| &causes.stretches);
    let causes = causes.filter(|(_, loss, _)| *loss == LostTime::Waste).map(|(cause, _, it)| {
        let place = TREE.iter().position(|other| other == cause).unwrap_or(TREE.len() - 1);
        (it.cpu, it.window, place as u8 + 1)
    });
    let waited = found.violations.marks.waited.iter();
    causes.chain(waited.map(|it| (it.cpu, it.window, NOT_CHARGED)))
}

impl Recording {
    /// Of what [`check`] found, with its `report`. The page shows the time that counts at first,
    /// lanes of the CPUs that count, and dims tasks that do not.
    pub fn new(
        history: &History,
        options: &Options,
        found: &Check,
        report: &Report,
        content: Content,
    ) -> Recording {
        let Content { tiles, frequencies, tasks } = content;
        let (tasks, names, cgroups) = tasks;
        let folds = folds(&history.head.machine, options.cpus.as_ref());
        let seen = options.counted(history);
        let chosen = options
            .tasks
            .as_ref()
            .map(|tasks| tasks.iter().filter_map(|task| task.index()).collect::<Vec<_>>());
        let lanes = |fold: &Fold| {
            let lanes = fold.lanes.iter().map(|lane| {
                json!([lane.label, lane.cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>()])
            });
            json!({ "name": fold.name, "lanes": lanes.collect::<Vec<_>>() })
        };
        let lost = |cause: &Cause| {
            let part =
                found.causes.iter().flat_map(Causes::iter).find(|it| it.0.path == cause.path);
            part.map_or(0, |(_, part)| part.ns[LostTime::Waste as usize])
        };
        let causes = TREE.iter().map(|cause| json!([cause.label(), cause.about, lost(cause)]));
        let window = tiles.window();
        let head = json!({
            // Times are numbers of JavaScript, exact up to 2^53 ns from the begin: 104 days.
            "from": window.from.0.to_string(),
            "span": window.span().0,
            "seen": [seen.from.since(window.from).0, seen.to.since(window.from).0],
            "chosen": chosen,
            "folds": folds.iter().map(lanes).collect::<Vec<_>>(),
            "tasks": history.task_count(),
            "names": names,
            "cgroups": cgroups,
            "causes": causes.collect::<Vec<_>>(),
            "khz": frequencies.range(),
            "tile": { "cells": TILE_CELLS, "lanes": TILE_LANES },
            "rows": ROWS_AT_ONCE,
        });
        let (first, rest) = (html::first(report), html::rest(report, Some(window.from)));
        let [before, after] = annexes::words(history, window.from);
        let rest = Words([before.0, rest.0, after.0].concat());
        let worst = found.violations.worst.iter().map(|it| it.window).collect();
        let title = report.title.clone();
        let events = history.len();
        Recording {
            tiles,
            frequencies,
            tasks,
            folds,
            head,
            title,
            first,
            rest,
            worst,
            events,
            decisions: Decisions::of(history),
            source: None,
            is_glance: false,
        }
    }

    /// The same of a glance at a trace: of each cell it shows what was read of its time.
    #[must_use]
    pub fn glance(self) -> Recording {
        Recording { is_glance: true, ..self }
    }

    /// The time that is so long after the begin.
    pub(crate) fn time(&self, since_begin: u64) -> Time {
        Time(self.tiles.window().from.0.saturating_add(since_begin))
    }

    /// How long after the begin it is; nothing is seen before.
    pub(crate) fn since_begin(&self, time: Time) -> u64 {
        time.since(self.tiles.window().from).0
    }

    /// The same of both ends.
    pub(crate) fn ends(&self, window: Window) -> [u64; 2] {
        [window.from, window.to].map(|time| self.since_begin(time))
    }

    /// The lanes of a tile.
    pub(crate) fn lanes(fold: &Fold, group: usize) -> &[Lane] {
        let first = group.saturating_mul(TILE_LANES).min(fold.lanes.len());
        let last = first.saturating_add(TILE_LANES).min(fold.lanes.len());
        &fold.lanes[first..last]
    }

    /// Cells `n * TILE_CELLS` on of some CPUs, `4^level` ns wide: by the CPU's number.
    pub(crate) fn cells<'l>(
        &self,
        lanes: impl IntoIterator<Item = &'l Lane>,
        level: u32,
        n: u64,
    ) -> Vec<Vec<Cell>> {
        let begin = n.saturating_mul(TILE_CELLS as u64);
        let mut cells = vec![Vec::new(); self.tiles.cpus()];
        for cpu in lanes.into_iter().flat_map(|lane| &lane.cpus) {
            if let Some(of_cpu) = cells.get_mut(cpu.index()) {
                let (tiles, width) = (&self.tiles, width_ns(level));
                *of_cpu = if self.is_glance {
                    let sums = tiles.sums(*cpu, width, begin, TILE_CELLS);
                    sums.iter().map(|sum| Cell::from(&sum.known())).collect()
                } else {
                    tiles.cells(*cpu, width, begin, TILE_CELLS)
                };
            }
        }
        cells
    }

    /// What all CPUs did together in cells `n * TILE_CELLS` on, as averages of each cell's time:
    /// of all cells how many CPUs were busy, then of how many nothing is known, how many were
    /// wanted, how many tasks waited, on how many CPUs one waited in vain. Each number has four
    /// bytes, the lowest first.
    pub(crate) fn totals(&self, level: u32, n: u64) -> Vec<u8> {
        let begin = n.saturating_mul(TILE_CELLS as u64);
        let width = width_ns(level);
        let means = if self.is_glance {
            self.means_of_known(width, begin)
        } else {
            let span = self.tiles.window().span().0;
            let totals = self.tiles.totals(width, begin, TILE_CELLS).into_iter().zip(begin..);
            let mean = |(total, cell): (Total, u64)| {
                let from = cell.saturating_mul(width);
                let ns = from.saturating_add(width).min(span).saturating_sub(from).max(1);
                total.numbers().map(|sum| sum as f64 / ns as f64)
            };
            totals.map(mean).collect()
        };
        let mut bytes = vec![0; TOTALS * TILE_CELLS * 4];
        for (place, means) in means.iter().enumerate() {
            for (field, mean) in means.iter().enumerate() {
                let at = (field * TILE_CELLS + place) * 4;
                bytes[at..at + 4].copy_from_slice(&(*mean as f32).to_le_bytes());
            }
        }
        bytes
    }

    /// The same of a glance: each CPU counts with what is known of its time, as it does on its
    /// lane.
    fn means_of_known(&self, width: u64, begin: u64) -> Vec<[f64; TOTALS]> {
        let mut means: Vec<[f64; TOTALS]> = Vec::new();
        for cpu in (0..self.tiles.cpus()).map(|cpu| CpuId(cpu as u16)) {
            let sums = self.tiles.sums(cpu, width, begin, TILE_CELLS);
            means.resize(sums.len(), [0.0; TOTALS]);
            for (means, sum) in means.iter_mut().zip(&sums) {
                let known = sum.known();
                let numbers = Total::from(&known).numbers();
                means.iter_mut().zip(numbers).for_each(|(mean, number)| {
                    *mean += number as f64 / known.ns().max(1) as f64;
                });
            }
        }
        means
    }

    /// When each violation of the table of violations was: from and to, in its order.
    pub(crate) fn violations(&self) -> Value {
        let when = |it: &Window| json!(self.ends(*it));
        self.worst.iter().take(html::ROWS).map(when).collect()
    }

    /// What `cpu` did at a moment, who waited on it, and which CPUs were idle.
    pub(crate) fn at(&self, cpu: u16, since_begin: u64) -> Option<Value> {
        let time = self.time(since_begin);
        let (is, active_since, queue) = self.tiles.at(CpuId(cpu), time)?;
        let task = if let Activity::Run(task) = is.activity { task.index() } else { None };
        let waiting = queue.iter().map(|it| {
            let waker = it.waker.and_then(TaskId::index);
            json!([it.task.index(), self.since_begin(it.since), it.origin.name(), waker])
        });
        let cpus = self.folds.first()?.lanes.iter().flat_map(|lane| &lane.cpus);
        let of = |cpu: &CpuId| self.tiles.doing(*cpu, time).map(|is| (cpu.0, is.activity));
        let did: Vec<(u16, Activity)> = cpus.filter_map(of).collect();
        let idle = did.iter().filter(|(_, is)| *is == Activity::Idle).map(|(cpu, _)| *cpu);
        let unknown = did.iter().filter(|(_, is)| *is == Activity::Unknown);
        Some(json!({
            "is": is.activity.name(),
            "since": self.since_begin(active_since),
            "task": task,
            "waiting": waiting.take(LISTED).collect::<Vec<_>>(),
            "count": is.waiting,
            "idle": idle.collect::<Vec<_>>(),
            "unknown": unknown.count(),
        }))
    }
}

/// A tile of lanes: lane after lane, and of each the first byte of all cells, then the second, and
/// so on. Of a task a cell says how much greater its number is than that of the last task before
/// it on the lane, at first than 0, modulo [`NO_TASK`]: tasks beside each other are often alike,
/// and a tile takes a third less.
pub(crate) fn tile(lanes: &[Lane], cells: &[Vec<Cell>]) -> Vec<u8> {
    let mut bytes = vec![0; lanes.len() * TILE_CELLS * CELL];
    let mut together = Vec::new();
    for (lane, bytes) in lanes.iter().zip(bytes.chunks_exact_mut(TILE_CELLS * CELL)) {
        let of = |cpu: &CpuId| cells.get(cpu.index()).map_or(&[][..], Vec::as_slice);
        let mut last = 0;
        for n in 0..TILE_CELLS {
            let cell = match &lane.cpus[..] {
                [cpu] => of(cpu).get(n).copied(),
                cpus => {
                    together.clear();
                    together.extend(cpus.iter().filter_map(|cpu| of(cpu).get(n)).copied());
                    (!together.is_empty()).then(|| Cell::over(&together))
                }
            };
            let mut cell = cell.unwrap_or(Cell::NOTHING).bytes();
            let [.., a, b, c] = &mut cell;
            let task = u32::from_le_bytes([*a, *b, *c, 0]);
            if task != NO_TASK {
                [*a, *b, *c, _] = ((task + NO_TASK - last) % NO_TASK).to_le_bytes();
                last = task;
            }
            for (field, byte) in cell.into_iter().enumerate() {
                bytes[field * TILE_CELLS + n] = byte;
            }
        }
    }
    bytes
}
