//! The numbers of running and waiting tasks over time: `running_waiting` of the schedgraph tools.
//!
//! There is waste if tasks wait while fewer tasks run than the dotted line of CPUs.

use wastenot_model::{
    CpuId, CpuMode, CpuState, History, Observer, Phase, State, TaskId, TaskState, Time, replay,
};

use crate::lanes::Grid;
use crate::page::{Page, View, value_ticks};
use crate::{Colour, Item, Marks, Scene};

/// How to draw [`waiting`].
#[derive(Clone, Debug, Default)]
pub struct Waiting<'a> {
    /// What part to show.
    pub view: View,
    /// What to mark; only what has no lane shows here.
    pub marks: &'a Marks,
}

/// Steps of one curve that are drawn one by one; beyond that, columns.
const STEPS: usize = 1_500;
const HEIGHT: f64 = 300.0;

/// Draws how many tasks run and wait.
pub fn waiting(history: &History, options: &Waiting) -> Scene {
    let page = Page::new(history, &options.view, options.marks, HEIGHT);
    let grid = || Grid::new(page.window, page.area.width / 2.0);
    let mut watch = Watch {
        view: &options.view,
        chosen: options.view.chosen(history),
        cpus: vec![Seen::default(); history.cpu_count()],
        count: Seen::default(),
        running: Curve::new(grid()),
        waiting: Curve::new(grid()),
        unknown: Curve::new(grid()),
        window: page.window,
    };
    replay(history, options.view.silent, &mut watch);

    let online = history.head.machine.online();
    let cpus = online.iter().filter(|cpu| options.view.shows(*cpu)).count() as u32;
    let most = watch.running.most.max(watch.waiting.most).max(cpus).max(1);
    let most = u64::from(most) + u64::from(most).div_ceil(12); // room above the highest
    let palette = options.view.palette;
    let title = page.title(false);
    let mut scene = page.scene(title, value_ticks(page.area, most));
    let y = |count: f64| page.area.bottom() - count / most as f64 * page.area.height;
    let mut dense = false;
    let tasks = if options.view.tasks.is_some() { "selected tasks" } else { "tasks" };
    let (waiting, running) =
        (format!("filled: {tasks} waiting on a run queue"), format!("line: {tasks} running"));
    let curves = [
        (&watch.unknown, Colour::OFFLINE, false, "unknown CPUs"),
        // Filled, so that the two curves differ in more than colour.
        (&watch.waiting, palette.waiting(), true, waiting.as_str()),
        (&watch.running, palette.running(), false, running.as_str()),
    ];
    for (curve, colour, filled, label) in curves {
        if curve.most == 0 && std::ptr::eq(curve, &watch.unknown) {
            continue;
        }
        dense |= curve.draw(&page, &mut scene, colour, filled, y);
        scene.legend.push((colour, format!("{label} (max {})", curve.most)));
    }
    let line = vec![(page.area.x, y(f64::from(cpus))), (page.area.right(), y(f64::from(cpus)))];
    scene.items.push(Item::Line { points: line, colour: Colour::BLACK, width: 0.8, dotted: true });
    scene.legend.push((Colour::BLACK, format!("dotted: {cpus} CPUs")));
    let mut notes = Vec::new();
    if dense {
        let note = "In a pixel column, a band shows the least and most tasks, a line the mean.";
        notes.push(note.to_owned());
    }
    page.finish(scene, &notes)
}

#[derive(Clone, Copy, Default)]
struct Seen {
    running: u32,
    waiting: u32,
    unknown: u32,
}

struct Watch<'a> {
    view: &'a View,
    /// Of each task whether it counts; `None` where all do.
    chosen: Option<Vec<bool>>,
    cpus: Vec<Seen>,
    /// Sums over `cpus`.
    count: Seen,
    running: Curve,
    waiting: Curve,
    unknown: Curve,
    window: wastenot_model::Window,
}

impl Watch<'_> {
    /// What a task counts for that was chosen.
    fn seen(&self, is: &TaskState) -> Seen {
        let mut seen = Seen::default();
        match is.cpu {
            Some(cpu) if !self.view.shows(cpu) => return seen,
            None if self.view.cpus.is_some() => return seen,
            _ => {}
        }
        match is.phase {
            Phase::Running => seen.running = 1,
            Phase::Waiting => seen.waiting = 1,
            _ => {}
        }
        seen
    }

    fn turn(&mut self, was: Seen, new: Seen) {
        self.count.running = self.count.running + new.running - was.running;
        self.count.waiting = self.count.waiting + new.waiting - was.waiting;
        self.count.unknown = self.count.unknown + new.unknown - was.unknown;
    }
}

impl Observer for Watch<'_> {
    #[inline]
    fn task(&mut self, _: &State, task: TaskId, was: &TaskState, is: &TaskState) {
        let Some(chosen) = &self.chosen else { return };
        if task.index().is_some_and(|index| chosen.get(index) == Some(&true)) {
            self.turn(self.seen(was), self.seen(is));
        }
    }

    #[inline]
    fn cpu(&mut self, _: &State, cpu: CpuId, _: &CpuState, is: &CpuState) {
        let all = self.chosen.is_none();
        let Some(seen) = self.cpus.get_mut(cpu.index()).filter(|_| self.view.shows(cpu)) else {
            return;
        };
        let new = Seen {
            running: u32::from(all && matches!(is.mode, CpuMode::Busy(_))),
            waiting: if all { is.waiting } else { 0 },
            unknown: u32::from(is.mode == CpuMode::Unknown),
        };
        let was = std::mem::replace(seen, new);
        self.turn(was, new);
    }

    #[inline]
    fn held(&mut self, state: &State, from: Time, to: Time) {
        let Some((from, to)) = self.window.clip(from, to) else { return };
        self.running.add(from, to, self.count.running);
        let everywhere = self.chosen.is_none() && self.view.cpus.is_none();
        let unplaced = if everywhere { state.unplaced_count() } else { 0 };
        self.waiting.add(from, to, self.count.waiting + unplaced);
        self.unknown.add(from, to, self.count.unknown);
    }
}

/// A count over time: exact while it has few steps, and always the extremes of each column.
struct Curve {
    grid: Grid,
    columns: Vec<Column>,
    column: usize,
    column_end: Time,
    steps: Vec<(Time, u32)>,
    most: u32,
    end: Time,
}

#[derive(Clone, Copy)]
struct Column {
    least: u32,
    most: u32,
    /// Count times nanoseconds.
    sum: u128,
    ns: u64,
}

impl Curve {
    fn new(grid: Grid) -> Curve {
        let empty = Column { least: u32::MAX, most: 0, sum: 0, ns: 0 };
        let (columns, column_end) = (vec![empty; grid.columns()], grid.start(1));
        let (steps, end) = (Vec::new(), Time(0));
        Curve { grid, columns, column: 0, column_end, steps, most: 0, end }
    }

    #[inline]
    fn add(&mut self, from: Time, to: Time, count: u32) {
        self.most = self.most.max(count);
        self.end = to;
        if self.steps.len() <= STEPS && self.steps.last().is_none_or(|step| step.1 != count) {
            self.steps.push((from, count));
        }
        let mut from = from;
        while from < to {
            if from >= self.column_end {
                self.column = self.grid.column(from);
                self.column_end = self.grid.start(self.column + 1);
            }
            let end = to.min(self.column_end).max(Time(from.0 + 1));
            let column = &mut self.columns[self.column];
            column.least = column.least.min(count);
            column.most = column.most.max(count);
            column.sum += u128::from(count) * u128::from((end - from).0);
            column.ns += (end - from).0;
            from = end;
        }
    }

    /// Draws it; true when it had too many steps to draw them one by one.
    fn draw(
        &self,
        page: &Page,
        scene: &mut Scene,
        colour: Colour,
        filled: bool,
        y: impl Fn(f64) -> f64,
    ) -> bool {
        let dense = self.steps.len() > STEPS;
        let mut points = Vec::new();
        if dense {
            let (mut upper, mut lower) = (Vec::new(), Vec::new());
            for (index, column) in self.columns.iter().enumerate().filter(|(_, c)| c.ns > 0) {
                let (from, to) = (self.grid.start(index), self.grid.start(index + 1));
                let (left, right) = (page.x(from), page.x(to));
                let (most, least) = (y(f64::from(column.most)), y(f64::from(column.least)));
                upper.extend([(left, most), (right, most)]);
                lower.extend([(left, least), (right, least)]);
                let mean = column.sum as f64 / column.ns as f64;
                points.push(((left + right) / 2.0, y(mean)));
            }
            upper.extend(lower.into_iter().rev());
            scene.items.push(Item::Fill { points: upper, colour: colour.alpha(90) });
        } else {
            let ends = self.steps.iter().skip(1).map(|step| step.0).chain([self.end]);
            for (&(from, count), to) in self.steps.iter().zip(ends) {
                let y = y(f64::from(count));
                points.extend([(page.x(from), y), (page.x(to), y)]);
            }
        }
        if let (true, Some(first), Some(last)) = (filled, points.first(), points.last()) {
            let ends = [(last.0, y(0.0)), (first.0, y(0.0))];
            let points = points.iter().copied().chain(ends).collect();
            scene.items.push(Item::Fill { points, colour: colour.alpha(60) });
        }
        scene.line(points, colour, if dense { 0.8 } else { 1.0 });
        dense
    }
}
