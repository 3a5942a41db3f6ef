//! The length of each CPU's run queue as a heat map, as in the wasted-cores plots (EuroSys 2016),
//! with the decisions that led to it.
//!
//! A run queue contains the running task and the waiting tasks. White means an empty queue.

use std::collections::BTreeSet;
use std::sync::Arc;

use wastenot_model::{
    Carries, CpuId, CpuMode, CpuReceiver, CpuSet, CpuSpans, CpuState, Decision, Entry, Event,
    History, Observer, Origin, Phase, State, TaskId, TaskState, Window, replay,
};

use crate::lanes::{COLUMNS_PER_POINT, Grid, Lanes, Paint};
use crate::page::{Page, View};
use crate::{Area, Cell, Colour, Item, Marks, Scene};

/// How to draw [`queues`].
#[derive(Clone, Debug)]
pub struct Queues<'a> {
    /// What part to show.
    pub view: View,
    /// Mark wakeups onto a busy CPU while an allowed one was idle.
    pub bad_wakeups: bool,
    /// Mark moves of waiting tasks by the load balancer.
    pub moves: bool,
    /// Mark the CPUs that the decisions of this CPU considered, where the source tells (annex
    /// `decisions`): figure 5 of the paper.
    pub considered: Option<CpuId>,
    /// What else to mark.
    pub marks: &'a Marks,
}

impl Default for Queues<'_> {
    fn default() -> Self {
        let view = View::default();
        Queues {
            view,
            bad_wakeups: true,
            moves: true,
            considered: None,
            marks: <&Marks>::default(),
        }
    }
}

const UNKNOWN: Paint = 6;
const OFFLINE: Paint = 7;
/// Moves drawn as arrows; more become ticks at their destinations.
const ARROWS: usize = 400;
/// Points of lanes together on which decisions are marked, four places each.
const PLACES: f64 = 50_000.0;

/// Draws the size of each CPU's run queue.
pub fn queues(history: &History, options: &Queues) -> Scene {
    let page = Page::with_lanes(history, &options.view, options.marks);
    let height = page.lanes.first().map_or(1.0, |lane| lane.height);
    let lanes = Lanes::new(page.lanes.len(), page.window, page.area.width, height);
    let mut lengths = Lengths { rows: page.rows(), lanes };
    let mut watch = Watch {
        history,
        chosen: options.view.chosen(history),
        rows: page.rows(),
        idle: CpuSet::new(),
        // Two columns a point: marks nearer than that hide each other. Fewer on a large machine.
        places: Grid::new(
            page.window,
            (page.area.width / 2.0).min(PLACES / page.rows().len() as f64),
        ),
        bad: Overlay::default(),
        moves: Overlay::default(),
        window: page.window,
    };
    replay(history, options.view.silent, &mut (CpuSpans::new(&mut lengths), &mut watch));

    let title = page.title(false);
    let mut scene = page.scene(title, Vec::new());
    let levels = options.view.palette.queue();
    let fixed = [Colour::UNKNOWN, Colour::OFFLINE];
    let palette: Arc<[Colour]> = [Colour::WHITE].into_iter().chain(levels).chain(fixed).collect();
    for (index, &colour) in levels.iter().enumerate() {
        let digit = char::from(b'1' + index as u8);
        scene.plot.cells.push((colour, Cell::Any(digit)));
        let more = if index == 4 { " or more" } else { "" };
        scene.legend.push((colour, format!("{}{more}", index + 1)));
    }
    scene.legend.insert(0, (Colour::WHITE, "run queue: 0".to_owned()));
    let items = lengths.lanes.finish(page.area, &palette, |_| 1.0 / COLUMNS_PER_POINT);
    scene.items.extend(items);
    scene.legend.push((Colour::UNKNOWN, "unknown".to_owned()));
    let mut notes = Vec::new();
    if let Some(cpu) = options.considered {
        let count = considered(history, cpu, &page, &mut scene, &watch.places);
        notes.push(format!("Blue bars mark CPUs that CPU {cpu} considered in {count} decisions."));
    }
    if options.moves && watch.moves.count > 0 {
        watch.moves.draw_moves(&page, &mut scene, &watch.places);
        let count = watch.moves.count;
        notes.push(format!("Blue marks: {count} moves of waiting tasks by the load balancer."));
    }
    if options.bad_wakeups && watch.bad.count > 0 {
        watch.bad.draw_wakeups(&page, &mut scene, &watch.places);
        let known = history.head.carries.has(Carries::AFFINITY);
        let may = if known { "a CPU that the task may use" } else { "some CPU" };
        let count = watch.bad.count;
        notes.push(format!("Black squares: {count} wakeups onto a busy CPU while {may} was idle."));
    }
    page.finish(scene, &notes)
}

/// A bar over each CPU that a decision of `cpu` looked at; how many decisions there were.
fn considered(history: &History, cpu: CpuId, page: &Page, scene: &mut Scene, grid: &Grid) -> usize {
    let colour = Colour::rgb(0x0000ff);
    let (rows, mut count, mut places) = (page.rows(), 0, BTreeSet::new());
    let of_cpu = |it: &Decision| it.cpu == cpu && it.considers() && page.window.holds(it.time);
    for decision in history.decisions().into_iter().flatten().filter(of_cpu) {
        count += 1;
        let column = grid.column(decision.time);
        for looked_at in decision.considered.iter() {
            if let Some(&Some(row)) = rows.get(looked_at.index())
                && places.insert((column, row))
            {
                let lane = &page.lanes[row];
                let x = page.x(grid.start(column));
                let bar = Area { x: x - 0.25, y: lane.y, width: 0.5, height: lane.height };
                scene.rect(bar, colour);
            }
        }
    }
    count
}

/// Run queues as they are drawn.
struct Lengths {
    rows: Vec<Option<usize>>,
    lanes: Lanes,
}

impl CpuReceiver for Lengths {
    type Seen = Paint;

    #[inline]
    fn see(&self, is: &CpuState) -> Paint {
        match (is.mode, is.length()) {
            (CpuMode::Offline, _) => OFFLINE,
            (_, None) => UNKNOWN,
            (_, Some(length)) => length.min(5) as Paint,
        }
    }

    #[inline]
    fn span(&mut self, cpu: CpuId, paint: Paint, window: Window) {
        if let (Some(&Some(row)), true) = (self.rows.get(cpu.index()), paint != 0) {
            self.lanes.add(row, window.from, window.to, paint);
        }
    }
}

/// The decisions.
struct Watch<'a> {
    history: &'a History,
    /// Of each task whether its decisions are marked; `None` where all are.
    chosen: Option<Vec<bool>>,
    rows: Vec<Option<usize>>,
    idle: CpuSet,
    places: Grid,
    bad: Overlay,
    moves: Overlay,
    window: Window,
}

/// Decisions, thinned to one per place on the picture; the count is of all.
#[derive(Default)]
struct Overlay {
    count: u64,
    /// Column, lane where it landed, lane where it came from.
    places: BTreeSet<(u32, u32, u32)>,
}

impl Observer for Watch<'_> {
    #[inline]
    fn cpu(&mut self, _: &State, cpu: CpuId, _: &CpuState, is: &CpuState) {
        if !matches!(self.rows.get(cpu.index()), Some(Some(_))) {
            return;
        }
        match is.is_idle() {
            true => self.idle.insert(cpu),
            false => self.idle.remove(cpu),
        }
    }

    #[inline]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, is: &TaskState) {
        if was.phase != Phase::Waiting {
            return;
        }
        let (Some(from), Some(to)) = (was.cpu, is.cpu) else { return };
        let Some(row) = self.row(to).filter(|_| self.is_chosen(task)) else { return };
        if is.phase != Phase::Waiting || from == to || !self.window.holds(state.now()) {
            return;
        }
        // Without wakeup events the first move of a wait is the wakeup's own choice of a CPU.
        if (is.moves, is.origin) != (1, Origin::Waking) {
            let from = self.row(from).unwrap_or(row);
            self.moves.note(self.places.column(state.now()), row, from);
        }
    }

    #[inline]
    fn event(&mut self, state: &State, entry: &Entry) {
        let (Event::Queued { task, .. } | Event::Waking { task, .. }) = entry.event else { return };
        let is = state.task(task);
        let fresh = is.phase == Phase::Waiting && is.since == entry.time;
        let (true, Origin::Wakeup | Origin::Waking | Origin::Fork, Some(cpu)) =
            (fresh, is.origin, is.cpu)
        else {
            return;
        };
        let Some(row) = self.row(cpu).filter(|_| self.is_chosen(task)) else { return };
        let there = state.cpu(cpu);
        let busy = matches!(there.mode, CpuMode::Busy(_)) || there.waiting > 1;
        if busy && self.window.holds(entry.time) && self.allows(&is) {
            self.bad.note(self.places.column(entry.time), row, row);
        }
    }
}

impl Watch<'_> {
    fn row(&self, cpu: CpuId) -> Option<u32> {
        self.rows.get(cpu.index()).copied().flatten().map(|row| row as u32)
    }

    fn is_chosen(&self, task: TaskId) -> bool {
        let chosen = self.chosen.as_ref();
        chosen.is_none_or(|chosen| task.index().is_some_and(|index| chosen[index]))
    }

    /// Whether some CPU is idle that the task may use; every CPU where affinities are not known.
    fn allows(&self, task: &TaskState) -> bool {
        match task.mask.and_then(|mask| self.history.mask(mask)) {
            None => !self.idle.is_empty(),
            Some(mask) => self.idle.words().iter().zip(mask.words()).any(|(a, b)| a & b != 0),
        }
    }
}

impl Overlay {
    fn note(&mut self, column: usize, to: u32, from: u32) {
        self.count += 1;
        // Too many for arrows: where they came from is no longer drawn.
        let from = if self.places.len() > ARROWS { to } else { from };
        self.places.insert((column as u32, to, from));
    }

    /// A black square with a magenta heart on the lane where the task was put.
    fn draw_wakeups(&self, page: &Page, scene: &mut Scene, grid: &Grid) {
        for &(column, row, _) in &self.places {
            let (x, y, size) = place(page, grid, column, row);
            let square = |half: f64| Area {
                x: x - half,
                y: y - half,
                width: 2.0 * half,
                height: 2.0 * half,
            };
            scene.rect(square(size), Colour::BLACK);
            if size >= 1.2 {
                scene.rect(square(size * 0.5), Colour::rgb(0xff00ff));
            }
        }
    }

    /// An arrow from the lane that gave to the lane that took; ticks where there are too many.
    fn draw_moves(&self, page: &Page, scene: &mut Scene, grid: &Grid) {
        let colour = Colour::rgb(0x0050d0);
        for &(column, to, from) in &self.places {
            let (x, y, size) = place(page, grid, column, to);
            if self.places.len() <= ARROWS {
                let (_, start, _) = place(page, grid, column, from);
                let back = if start < y { -2.2 * size } else { 2.2 * size };
                scene.line(vec![(x, start), (x, y + back)], colour.alpha(150), 0.35);
                let head = vec![(x, y), (x - size, y + back), (x + size, y + back)];
                scene.items.push(Item::Fill { points: head, colour });
            } else {
                let tick = Area { x: x - 0.2, y: y - size, width: 0.4, height: 2.0 * size };
                scene.rect(tick, colour);
            }
        }
    }
}

/// Where a decision is on the page, and half the size of its sign.
fn place(page: &Page, grid: &Grid, column: u32, row: u32) -> (f64, f64, f64) {
    let lane = &page.lanes[row as usize];
    let half = (lane.height * 0.28).clamp(0.5, 2.2);
    (page.x(grid.start(column as usize)), lane.y + lane.height / 2.0, half)
}
