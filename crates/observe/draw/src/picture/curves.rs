//! Curves of an experiment in panels: a share as a function of a number, with its confidence
//! interval. Unknown values are not drawn.

use wastenot_model::{Time, Window, printable};

use crate::axis::nice;
use crate::font::Font;
use crate::page::{LEFT, PAGE_WIDTH, RIGHT, SMALL, fitting, shorten};
use crate::{Anchor, Area, Cell, Colour, Item, Plot, Scene};

/// Curves in panels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// The line over all.
    pub title: String,
    /// The line below it: what holds in all panels.
    pub subtitle: String,
    /// What the axes below the panels count.
    pub over: String,
    /// The curves, by what is common to some of them.
    pub series: Vec<Series>,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// How many panels are in a row; at least 1.
    pub columns: usize,
    /// What else is to be known, a line each.
    pub notes: Vec<String>,
}

/// A curve, in each panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What it is called.
    pub name: String,
    /// Under which words the legend has it.
    pub group: String,
}

/// One panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// What it is of.
    pub heading: String,
    /// What is to be known of it, in a second line.
    pub remark: String,
    /// By series, from left to right. A series without a place is not in this panel.
    pub curves: Vec<Vec<Place>>,
}

/// Where a curve is, if that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// On the axis below.
    pub x: f64,
    /// On the other; `None` is a gap.
    pub share: Option<Share>,
}

/// A share: numbers from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The share.
    pub value: f64,
    /// The interval in which it is, if one is known.
    pub band: Option<(f64, f64)>,
}

/// Between two panels: room for the ticks of the right one.
const GAP: f64 = 34.0;
/// Over a panel: its two lines.
const HEAD: f64 = 26.0;
/// Below a panel: the labels of ticks.
const FOOT: f64 = 14.0;
/// Below the last panel of a column: what the axis counts.
const UNIT: f64 = 10.0;
/// Over the first row: the title and what is below it.
const TOP: f64 = 38.0;
/// Between a panel's frame and what is farthest out in it.
const PAD: f64 = 7.0;
/// Half of a mark of the last curve, and its line.
const MARK: f64 = 2.0;
const LINE: f64 = 1.0;
/// How much wider those of the first one are, so that where curves meet all can be seen.
const WIDER: f64 = 0.55;
/// Marks of a curve in one panel, about; all where there are no more places.
const MARKS: usize = 16;
/// The smallest letters, in points.
const SMALLEST: f64 = 5.0;

/// Draws curves in panels.
pub fn curves(chart: &Chart) -> Scene {
    let grid = Grid::new(chart);
    let mut scene = Scene {
        width: PAGE_WIDTH,
        height: grid.bottom(),
        title: printable(&chart.title).into_owned(),
        items: Vec::new(),
        plot: plot(chart, &grid),
        legend: Vec::new(),
        story: chart.notes.iter().map(|note| (String::new(), note.clone())).collect(),
    };
    let page = Area { x: 0.0, y: 0.0, width: PAGE_WIDTH, height: 0.0 };
    scene.rect(page, Colour::WHITE);
    let title = scene.title.clone();
    scene.text((LEFT, 22.0), fitting(&title), Anchor::Start, Colour::TEXT, &title);
    let wide = PAGE_WIDTH - LEFT - RIGHT;
    line(&mut scene, (LEFT, 34.0), SMALL, wide, Colour::FAINT, &chart.subtitle);
    for (n, panel) in chart.panels.iter().enumerate() {
        let frame = Frame::new(grid.area(n), panel);
        frame.axes(&mut scene, panel, grid.is_last(n).then_some(chart.over.as_str()));
        panel.curves.iter().enumerate().for_each(|it| frame.band(&mut scene, it.0, it.1));
        panel.curves.iter().enumerate().for_each(|it| frame.line(&mut scene, it.0, it.1));
        panel.curves.iter().enumerate().for_each(|it| frame.marks(&mut scene, it.0, it.1));
        frame.edge(&mut scene);
    }
    let bottom = legend(&mut scene, &chart.series, grid.bottom() + 12.0);
    let bottom = notes(&mut scene, &chart.notes, bottom + 2.0);
    scene.height = bottom + 4.0;
    if let Some(Item::Rect { area, .. }) = scene.items.first_mut() {
        area.height = scene.height;
    }
    scene
}

/// What a terminal shows: the first panel.
fn plot(chart: &Chart, grid: &Grid) -> Plot {
    let none = Panel::default();
    let frame = Frame::new(grid.area(0), chart.panels.first().unwrap_or(&none));
    let letter = |n: usize| Cell::Any(char::from(b'a' + (n % 26) as u8));
    Plot {
        area: frame.area,
        window: Window { from: Time(0), to: Time(0) },
        lanes: Vec::new(),
        ticks: frame.ticks(),
        values: frame.values(),
        unit: printable(&chart.over).into_owned(),
        cells: (0..chart.series.len()).map(|n| (Colour::curve(n), letter(n))).collect(),
        signs: Vec::new(),
    }
}

/// Where panels are.
struct Grid {
    columns: usize,
    count: usize,
    width: f64,
    height: f64,
}

impl Grid {
    fn new(chart: &Chart) -> Grid {
        let count = chart.panels.len().max(1);
        let columns = chart.columns.clamp(1, count);
        let gaps = (columns - 1) as f64 * GAP;
        let width = (PAGE_WIDTH - LEFT - RIGHT - gaps) / columns as f64;
        Grid { columns, count, width, height: (width * 0.58).clamp(100.0, 300.0) }
    }

    fn area(&self, panel: usize) -> Area {
        let (row, column) = ((panel / self.columns) as f64, (panel % self.columns) as f64);
        Area {
            x: LEFT + column * (self.width + GAP),
            y: TOP + HEAD + row * (HEAD + self.height + FOOT),
            width: self.width,
            height: self.height,
        }
    }

    /// Whether there is no panel below.
    fn is_last(&self, panel: usize) -> bool {
        panel + self.columns >= self.count
    }

    fn bottom(&self) -> f64 {
        self.area(self.count - 1).bottom() + FOOT + UNIT
    }
}

/// A panel's axes.
struct Frame {
    area: Area,
    from: f64,
    to: f64,
    /// Whether all places are whole numbers, so that ticks should be.
    whole: bool,
    /// How many curves there are.
    count: usize,
}

impl Frame {
    fn new(area: Area, panel: &Panel) -> Frame {
        let places = || panel.curves.iter().flatten().map(|place| place.x);
        let (from, to) = (places().reduce(f64::min), places().reduce(f64::max));
        let (from, to) = (from.unwrap_or(0.0), to.unwrap_or(1.0));
        // One place is in the middle.
        let half = if to > from { 0.0 } else { 0.5 };
        let whole = places().all(|x| x.fract() == 0.0);
        Frame { area, from: from - half, to: to + half, whole, count: panel.curves.len() }
    }

    fn x(&self, x: f64) -> f64 {
        let share = (x - self.from) / (self.to - self.from);
        self.area.x + PAD + share * (self.area.width - 2.0 * PAD)
    }

    fn y(&self, share: f64) -> f64 {
        self.area.bottom() - PAD - share * (self.area.height - 2.0 * PAD)
    }

    /// Ticks of the axis below, in steps that people can read.
    fn ticks(&self) -> Vec<(f64, String)> {
        let thousandths = |x: f64| (x.max(0.0) * 1000.0).round() as u64;
        let (from, to) = (thousandths(self.from), thousandths(self.to));
        let count = (self.area.width / 40.0).clamp(2.0, 12.0) as u64;
        let least = if self.whole { 1000 } else { 1 };
        let step = nice((to - from).div_ceil(count).max(least));
        let decimals =
            [1000, 100, 10].iter().position(|unit| step.is_multiple_of(*unit)).unwrap_or(3);
        let tick = |n: u64| {
            let x = (n * step) as f64 / 1000.0;
            (self.x(x), format!("{x:.decimals$}"))
        };
        (from.div_ceil(step)..=to / step).map(tick).collect()
    }

    fn values(&self) -> Vec<(f64, String)> {
        let steps = if self.area.height < 160.0 { 2 } else { 5 };
        let tick = |n: u32| {
            let share = f64::from(n) / f64::from(steps);
            (self.y(share), share.to_string())
        };
        (0..=steps).map(tick).collect()
    }

    fn axes(&self, scene: &mut Scene, panel: &Panel, unit: Option<&str>) {
        let a = self.area;
        line(scene, (a.x, a.y - 14.0), 8.5, a.width, Colour::TEXT, &panel.heading);
        line(scene, (a.x, a.y - 5.0), 7.0, a.width, Colour::FAINT, &panel.remark);
        for (x, label) in self.ticks() {
            scene.line(vec![(x, a.y), (x, a.bottom())], Colour::GRID, 0.3);
            scene.line(vec![(x, a.bottom()), (x, a.bottom() + 3.0)], Colour::FAINT, 0.5);
            let at = (x, a.bottom() + 11.0);
            scene.text(at, SMALL, Anchor::Middle, Colour::TEXT, &label);
        }
        for (y, label) in self.values() {
            scene.line(vec![(a.x, y), (a.right(), y)], Colour::GRID, 0.3);
            scene.line(vec![(a.x - 3.0, y), (a.x, y)], Colour::FAINT, 0.5);
            scene.text((a.x - 5.0, y + 2.6), SMALL, Anchor::End, Colour::TEXT, &label);
        }
        if let Some(unit) = unit {
            let at = (a.x + a.width / 2.0, a.bottom() + FOOT + 7.0);
            scene.text(at, SMALL, Anchor::Middle, Colour::FAINT, unit);
        }
    }

    fn edge(&self, scene: &mut Scene) {
        let a = self.area;
        let frame = vec![(a.x, a.y), (a.right(), a.y), (a.right(), a.bottom()), (a.x, a.bottom())];
        scene.line([frame, vec![(a.x, a.y)]].concat(), Colour::FAINT, 0.5);
    }

    /// The intervals of a curve: a band, or a bar at a place without neighbours.
    fn band(&self, scene: &mut Scene, series: usize, curve: &[Place]) {
        let colour = Colour::curve(series);
        for stretch in stretches(curve) {
            let band = |&(x, share): &(f64, Share)| share.band.map(|band| (self.x(x), band));
            let bands: Vec<_> = stretch.iter().filter_map(band).collect();
            let upper = bands.iter().map(|(x, (_, high))| (*x, self.y(*high)));
            let lower = bands.iter().rev().map(|(x, (low, _))| (*x, self.y(*low)));
            let points: Vec<_> = upper.chain(lower).collect();
            match bands.len() {
                0 => {}
                1 => scene.line(points, colour.alpha(140), 1.0),
                _ => scene.items.push(Item::Fill { points, colour: colour.alpha(34) }),
            }
        }
    }

    fn line(&self, scene: &mut Scene, series: usize, curve: &[Place]) {
        for stretch in stretches(curve).filter(|stretch| stretch.len() > 1) {
            let points = stretch.iter().map(|(x, share)| (self.x(*x), self.y(share.value)));
            scene.line(points.collect(), Colour::curve(series), LINE * self.wider(series));
        }
    }

    fn marks(&self, scene: &mut Scene, series: usize, curve: &[Place]) {
        let every = curve.len().div_ceil(MARKS).max(1);
        // Each curve has its turn, so that one does not hide behind another.
        let turn = |n: usize| n % every == (series * every.div_ceil(3)) % every;
        let known = |n: usize| curve.get(n).is_some_and(|place| place.share.is_some());
        for (n, place) in curve.iter().enumerate() {
            let alone = !known(n + 1) && (n == 0 || !known(n - 1));
            if let Some(share) = place.share.filter(|_| alone || turn(n)) {
                let at = (self.x(place.x), self.y(share.value));
                mark(scene, series, at, MARK * self.wider(series));
            }
        }
    }

    /// How wide a curve is beside the last one.
    fn wider(&self, series: usize) -> f64 {
        let below = self.count.saturating_sub(series + 1) as f64;
        1.0 + WIDER * below / self.count.max(2).saturating_sub(1) as f64
    }
}

/// The parts of a curve between its gaps.
fn stretches(curve: &[Place]) -> impl Iterator<Item = Vec<(f64, Share)>> {
    let parts = curve.chunk_by(|a, b| a.share.is_some() == b.share.is_some());
    let known = |part: &[Place]| {
        let known = part.iter().filter_map(|place| Some((place.x, place.share?)));
        Some(known.collect::<Vec<_>>()).filter(|known| !known.is_empty())
    };
    parts.filter_map(known)
}

/// A series' own shape: with its colour it tells more series apart than there are colours.
fn mark(scene: &mut Scene, series: usize, at: (f64, f64), half: f64) {
    const SHAPES: [&[(f64, f64)]; 6] = [
        &[
            (-1.0, -0.4),
            (-0.4, -1.0),
            (0.4, -1.0),
            (1.0, -0.4),
            (1.0, 0.4),
            (0.4, 1.0),
            (-0.4, 1.0),
            (-1.0, 0.4),
        ],
        &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        &[(0.0, -1.2), (1.2, 0.9), (-1.2, 0.9)],
        &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
        &[(0.0, 1.2), (1.2, -0.9), (-1.2, -0.9)],
        &[(-0.5, -1.2), (0.5, -1.2), (0.5, 1.2), (-0.5, 1.2)],
    ];
    let corner = |&(x, y): &(f64, f64)| (at.0 + x * half, at.1 + y * half);
    let points = SHAPES[series % SHAPES.len()].iter().map(corner).collect();
    scene.items.push(Item::Fill { points, colour: Colour::curve(series) });
}

/// What curves are called: groups, each on lines of its own. Returns the lower edge.
fn legend(scene: &mut Scene, series: &[Series], top: f64) -> f64 {
    const KEY: f64 = 18.0;
    const STEP: f64 = 11.5;
    let font = Font::new();
    let (mut x, mut y, mut group) = (LEFT, top, "");
    for (n, series) in series.iter().enumerate() {
        let name = shorten(&printable(&series.name), 60);
        let wide = KEY + 4.0 + font.width(&name, SMALL) + 14.0;
        if n > 0 && (group != series.group || x + wide > PAGE_WIDTH - RIGHT) {
            (x, y) = (LEFT, y + STEP);
        }
        if group != series.group {
            group = &series.group;
            let words = shorten(&printable(group), 120);
            scene.text((x, y), SMALL, Anchor::Start, Colour::FAINT, &words);
            x += font.width(&words, SMALL) + 10.0;
            if x + wide > PAGE_WIDTH - RIGHT {
                (x, y) = (LEFT, y + STEP);
            }
        }
        let middle = y - 2.6;
        let stroke = Area { x, y: middle - 0.55, width: KEY, height: 1.1 };
        scene.rect(stroke, Colour::curve(n));
        mark(scene, n, (x + KEY / 2.0, middle), 1.2 * MARK);
        scene.text((x + KEY + 4.0, y), SMALL, Anchor::Start, Colour::TEXT, &name);
        scene.legend.push((Colour::curve(n), series.name.clone()));
        x += wide;
    }
    y + STEP
}

fn notes(scene: &mut Scene, notes: &[String], top: f64) -> f64 {
    let mut y = top;
    for note in notes {
        line(scene, (LEFT, y), 7.0, PAGE_WIDTH - LEFT - RIGHT, Colour::FAINT, note);
        y += 9.5;
    }
    y
}

/// A line of text, made to fit: in smaller letters, and if that is not enough cut short.
fn line(scene: &mut Scene, at: (f64, f64), size: f64, room: f64, colour: Colour, text: &str) {
    let mut text = printable(text).into_owned();
    let wide = Font::new().width(&text, size);
    let fits = (size * room / wide.max(1.0)).min(size);
    let size = fits.max(SMALLEST);
    if fits < size {
        let letters = text.chars().count() as f64 * fits / size;
        text = shorten(&text, letters as usize);
    }
    if !text.is_empty() {
        scene.text(at, size, Anchor::Start, colour, &text);
    }
}
