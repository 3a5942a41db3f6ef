//! The parts that all pictures share: the window, the order of lanes, axes, the legend.

use wastenot_model::{
    Cpu, CpuId, CpuSet, History, Machine, Silent, Span, TaskId, Time, Window, printable,
};

use crate::axis::{STEPS, TimeAxis, nice, seconds};
use crate::font::Font;
use crate::{Anchor, Area, Cell, Colour, Item, Lane, Marks, Palette, Plot, Scene};

/// What part of a History to show, and how.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Begin here, counted from the start of the recording.
    pub min: Option<Span>,
    /// End here, counted from the start of the recording.
    pub max: Option<Span>,
    /// Lanes by package, node, cache and core rather than by number.
    pub socket_order: bool,
    /// Which colours.
    pub palette: Palette,
    /// What a CPU without any event is taken for.
    pub silent: Silent,
    /// The CPUs to draw; `None` for all.
    pub cpus: Option<CpuSet>,
    /// Only these tasks, and others in grey where they share a lane with them; all if there is
    /// none.
    pub tasks: Option<Vec<TaskId>>,
}

impl View {
    /// Whether `cpu` is shown.
    pub(crate) fn shows(&self, cpu: CpuId) -> bool {
        self.cpus.as_ref().is_none_or(|cpus| cpus.contains(cpu))
    }
    /// Of each task whether it was chosen; `None` where all are.
    pub(crate) fn chosen(&self, history: &History) -> Option<Vec<bool>> {
        let chosen = self.tasks.as_ref()?;
        let mut tasks = vec![false; history.task_count()];
        for index in chosen.iter().filter_map(|task| task.index()) {
            if let Some(task) = tasks.get_mut(index) {
                *task = true;
            }
        }
        Some(tasks)
    }
}

/// Width of a page: A4 on its side.
pub(crate) const PAGE_WIDTH: f64 = 842.0;
pub(crate) const LEFT: f64 = 44.0;
pub(crate) const RIGHT: f64 = 26.0;
/// Top of the plot; the title and the strip of episodes stand above, and rows of classes push it
/// down.
const TOP: f64 = 44.0;
pub(crate) const SMALL: f64 = 7.5;

/// What marks waste in a terminal.
pub(crate) const WASTE: char = '!';

/// A page while it is made.
pub(crate) struct Page<'a> {
    pub(crate) history: &'a History,
    pub(crate) view: &'a View,
    /// The window, inside the recording and not empty.
    pub(crate) window: Window,
    /// The plot.
    pub(crate) area: Area,
    /// CPUs from the top; empty in pictures of curves.
    pub(crate) order: Vec<CpuId>,
    pub(crate) lanes: Vec<Lane>,
    /// What is marked in it.
    pub(crate) marks: &'a Marks,
}

impl<'a> Page<'a> {
    /// A page with a lane for each CPU.
    pub(crate) fn with_lanes(history: &'a History, view: &'a View, marks: &'a Marks) -> Page<'a> {
        let machine = &history.head.machine;
        let mut order =
            if view.socket_order { machine.socket_order() } else { history.cpus().collect() };
        order.retain(|cpu| view.shows(*cpu));
        let pitch = (500.0 / order.len().max(1) as f64).clamp(1.5, 22.0);
        let mut page = Page::new(history, view, marks, pitch * order.len().max(1) as f64);
        let gap = if pitch >= 3.0 { (pitch * 0.16).min(2.0) } else { 0.0 };
        let lane = |(row, cpu): (usize, &CpuId)| Lane {
            label: cpu.to_string(),
            y: page.area.y + row as f64 * pitch + gap / 2.0,
            height: pitch - gap,
        };
        page.lanes = order.iter().enumerate().map(lane).collect();
        page.order = order;
        page
    }

    /// More lanes below, as high as the others.
    pub(crate) fn add_lanes(&mut self, labels: Vec<String>) {
        let Some(last) = self.lanes.last() else { return };
        let (y, height) = (last.y, last.height);
        let pitch = self.area.height / self.lanes.len() as f64;
        self.area.height += pitch * labels.len() as f64;
        let lane = |(n, label)| Lane { label, y: y + pitch * (n as f64 + 1.0), height };
        self.lanes.extend(labels.into_iter().enumerate().map(lane));
    }

    /// A page without lanes.
    pub(crate) fn new(
        history: &'a History,
        view: &'a View,
        marks: &'a Marks,
        height: f64,
    ) -> Page<'a> {
        let whole = history.window();
        let from = view.min.map_or(whole.from, |min| whole.from + min).min(whole.to);
        let to = view.max.map_or(whole.to, |max| whole.from + max).min(whole.to);
        // An empty History and a window outside of it still make a picture, of one nanosecond.
        let to = to.max(from + Span(1));
        let window = Window { from: from.min(Time(to.0 - 1)), to };
        let y = TOP + marks.room(window);
        let area = Area { x: LEFT, y, width: PAGE_WIDTH - LEFT - RIGHT, height };
        Page { history, view, window, area, order: Vec::new(), lanes: Vec::new(), marks }
    }

    /// For each CPU its lane.
    pub(crate) fn rows(&self) -> Vec<Option<usize>> {
        let mut rows = vec![None; self.history.cpu_count()];
        for (row, cpu) in self.order.iter().enumerate() {
            rows[cpu.index()] = Some(row);
        }
        rows
    }

    pub(crate) fn x(&self, time: Time) -> f64 {
        let share = (time - self.window.from).0 as f64 / self.window.span().0 as f64;
        self.area.x + share.min(1.0) * self.area.width
    }

    /// `<file> [from_MIN] [socketorder] [upto_MAX] [color], duration: X seconds`, and `cpus_LIST`
    /// where only these are shown: words of
    /// `dat2graph` (talk "Graphing Tools for Scheduler Tracing"); X is the length of the window.
    pub(crate) fn title(&self, colour: bool) -> String {
        let name = self.history.head.source.name.as_str();
        let name = name.rsplit('/').next().unwrap_or(name);
        let mut title = if name.is_empty() { "history" } else { name }.to_owned();
        title = title.strip_suffix(".dat").unwrap_or(&title).to_owned();
        if let Some(min) = self.view.min {
            title += &format!(" from_{}", seconds(min.0));
        }
        if self.view.socket_order && !self.lanes.is_empty() {
            title += " socketorder";
        }
        if let Some(max) = self.view.max {
            title += &format!(" upto_{}", seconds(max.0));
        }
        if let Some(cpus) = &self.view.cpus {
            title += &format!(" cpus_{cpus}");
        }
        if colour {
            title += " color";
        }
        if self.history.head.clock.name == STEPS {
            return printable(&title).into_owned(); // how long steps take means nothing
        }
        let duration = self.window.span();
        let duration = match self.history.head.clock.nanoseconds {
            true => format!("{:.6} seconds", duration.as_secs()),
            false => format!("{} clock units", duration.0),
        };
        printable(&format!("{title}, duration: {duration}")).into_owned()
    }

    /// The scene with what lies below the data: page, marks of idleness, grid, axes.
    pub(crate) fn scene(&self, title: String, values: Vec<(f64, String)>) -> Scene {
        let axis = TimeAxis::new(self.history, self.window, 10);
        let ticks = axis.ticks.into_iter().map(|(time, label)| (self.x(time), label)).collect();
        let plot = Plot {
            area: self.area,
            window: self.window,
            lanes: self.lanes.clone(),
            ticks,
            values,
            unit: axis.unit,
            cells: vec![(Colour::UNKNOWN, Cell::Mostly('/')), (Colour::OFFLINE, Cell::Mostly('x'))],
            signs: Vec::new(),
        };
        let height = self.area.bottom() + 34.0;
        let (items, legend, story) = (Vec::new(), Vec::new(), Vec::new());
        let mut scene = Scene { width: PAGE_WIDTH, height, title, items, plot, legend, story };
        let page = Area { x: 0.0, y: 0.0, width: PAGE_WIDTH, height };
        scene.rect(page, Colour::WHITE);
        let title = scene.title.clone();
        scene.text((LEFT, 22.0), fitting(&title), Anchor::Start, Colour::TEXT, &title);
        self.tint_idle(&mut scene);
        self.axes(&mut scene);
        scene
    }

    /// What lies above the data: marks, separators, the frame, the legend; and the page's height.
    pub(crate) fn finish(&self, mut scene: Scene, notes: &[String]) -> Scene {
        self.separators(&mut scene);
        self.mark(&mut scene);
        let a = self.area;
        let frame = vec![(a.x, a.y), (a.right(), a.y), (a.right(), a.bottom()), (a.x, a.bottom())];
        scene.line([frame, vec![(a.x, a.y)]].concat(), Colour::FAINT, 0.5);
        let bottom = legend(&mut scene, a.bottom() + 36.0, notes);
        let bottom = story(&mut scene, bottom);
        scene.height = bottom + 8.0;
        if let Some(Item::Rect { area, .. }) = scene.items.first_mut() {
            area.height = scene.height;
        }
        scene
    }

    fn axes(&self, scene: &mut Scene) {
        let a = self.area;
        for (x, label) in scene.plot.ticks.clone() {
            scene.line(vec![(x, a.y), (x, a.bottom())], Colour::GRID, 0.3);
            scene.line(vec![(x, a.bottom()), (x, a.bottom() + 3.0)], Colour::FAINT, 0.5);
            let at = (x, a.bottom() + 11.0);
            scene.text(at, SMALL, Anchor::Middle, Colour::TEXT, &label);
        }
        let unit = scene.plot.unit.clone();
        let at = (a.x + a.width / 2.0, a.bottom() + 22.0);
        scene.text(at, SMALL, Anchor::Middle, Colour::FAINT, &unit);
        for (y, label) in scene.plot.values.clone() {
            scene.line(vec![(a.x, y), (a.right(), y)], Colour::GRID, 0.3);
            scene.text((a.x - 5.0, y + 2.6), SMALL, Anchor::End, Colour::TEXT, &label);
        }
        let Some(pitch) = self.lanes.first().map(|_| a.height / self.lanes.len() as f64) else {
            return;
        };
        scene.text((a.x - 5.0, a.y - 4.0), SMALL, Anchor::End, Colour::FAINT, "CPU");
        let step = (8.5 / pitch).ceil().max(1.0) as usize;
        let step = if step == 1 { 1 } else { step.next_power_of_two() };
        for lane in self.lanes.iter().step_by(step) {
            let y = lane.y + (lane.height / 2.0).min(4.0) + 2.6;
            let y = if step == 1 { lane.y + lane.height / 2.0 + 2.6 } else { y };
            scene.text((a.x - 5.0, y), SMALL, Anchor::End, Colour::TEXT, &lane.label);
        }
    }

    /// Lines between nodes, or packages or caches where there is one node, and their names.
    fn separators(&self, scene: &mut Scene) {
        let machine = &self.history.head.machine;
        let Some((letter, key)) = grouping(machine) else { return };
        let key = |cpu: CpuId| machine.cpu(cpu).and_then(key);
        let groups: Vec<_> = self.order.chunk_by(|a, b| key(*a) == key(*b)).collect();
        if groups.len() < 2 || groups.len() * 2 > self.order.len() {
            return; // CPUs numbered in turn over sockets: a line at each lane would say nothing
        }
        let pitch = self.area.height / self.lanes.len().max(1) as f64;
        let mut row = 0;
        for group in groups {
            let top = self.area.y + row as f64 * pitch;
            let height = group.len() as f64 * pitch;
            row += group.len();
            if top > self.area.y {
                let line = vec![(self.area.x, top), (self.area.right() + 6.0, top)];
                scene.line(line, Colour::BLACK, 0.5);
            }
            if let (Some(number), true) = (key(group[0]), height >= 8.0) {
                let at = (self.area.right() + 3.0, top + height / 2.0 + 2.5);
                scene.text(at, 6.5, Anchor::Start, Colour::FAINT, &format!("{letter}{number}"));
            }
        }
    }
}

/// What several CPUs share, and its letter.
type Grouping = (char, fn(&Cpu) -> Option<u32>);

/// Nodes, or packages, or caches: the first of which the machine has several.
fn grouping(machine: &Machine) -> Option<Grouping> {
    let all: [Grouping; 3] =
        [('N', |cpu| cpu.node), ('S', |cpu| cpu.package), ('L', |cpu| cpu.llc)];
    all.into_iter().find(|(_, key)| machine.count(key) > 1)
}

/// The font size at which a title fits the page.
pub(crate) fn fitting(title: &str) -> f64 {
    let wide = Font::new().width(title, 11.0);
    11.0 * ((PAGE_WIDTH - LEFT - RIGHT) / wide.max(1.0)).min(1.0)
}

/// Squares with names, in as many rows as they need, then notes. Returns the lower edge.
fn legend(scene: &mut Scene, top: f64, notes: &[String]) -> f64 {
    let font = Font::new();
    let (mut x, mut y) = (LEFT, top);
    for (colour, label) in scene.legend.clone() {
        let label = shorten(&printable(&label), 60);
        let wide = 10.0 + font.width(&label, SMALL) + 12.0;
        if x > LEFT && x + wide > PAGE_WIDTH - RIGHT {
            (x, y) = (LEFT, y + 11.0);
        }
        let square = Area { x, y: y - 6.0, width: 7.0, height: 7.0 };
        scene.rect(square, colour);
        let (right, bottom) = (square.right(), square.bottom());
        let edge = [(x, square.y), (right, square.y), (right, bottom), (x, bottom), (x, square.y)];
        scene.line(edge.to_vec(), Colour::FAINT, 0.3);
        scene.text((x + 10.0, y), SMALL, Anchor::Start, Colour::TEXT, &label);
        x += wide;
    }
    if x > LEFT {
        y += 11.0;
    }
    for note in notes {
        scene.text((LEFT, y), SMALL, Anchor::Start, Colour::FAINT, note);
        y += 10.0;
    }
    y - 8.0
}

/// What happens, line by line, below all else. Returns the lower edge.
fn story(scene: &mut Scene, top: f64) -> f64 {
    const SIZE: f64 = 9.0;
    const WORDS: f64 = 44.0;
    let mut y = top + 20.0;
    if scene.story.is_empty() {
        return top;
    }
    for (when, words) in scene.story.clone() {
        let fits = Font::new().width(&words, SIZE) / (PAGE_WIDTH - LEFT - WORDS - RIGHT);
        let size = SIZE / fits.max(1.0);
        scene.text((LEFT + WORDS - 8.0, y), SIZE, Anchor::End, Colour::FAINT, &when);
        scene.text((LEFT + WORDS, y), size, Anchor::Start, Colour::TEXT, &words);
        y += 13.0;
    }
    y - 8.0
}

pub(crate) fn shorten(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(2)).chain("..".chars()).collect()
}

/// Ticks of whole numbers from 0 to `most`, at most about eight.
pub(crate) fn value_ticks(area: Area, most: u64) -> Vec<(f64, String)> {
    let step = nice(most.div_ceil(8).max(1));
    let tick = |n: u64| {
        let y = area.bottom() - (n * step) as f64 / most.max(1) as f64 * area.height;
        (y, (n * step).to_string())
    };
    (0..=most / step).map(tick).collect()
}
