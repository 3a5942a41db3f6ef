//! The content of a page, in points from its top left corner, for any backend.

use std::sync::Arc;

use wastenot_model::{Window, printable};

use crate::Colour;

/// A page: items drawn in order, and where the plot on it is.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Width in points (1/72 inch).
    pub width: f64,
    /// Height in points.
    pub height: f64,
    /// The line over the picture.
    pub title: String,
    /// Everything to draw, bottom first.
    pub items: Vec<Item>,
    /// The part that shows data.
    pub plot: Plot,
    /// What colours mean.
    pub legend: Vec<(Colour, String)>,
    /// What happens, step by step, where the History tells: when, and the words.
    pub story: Vec<(String, String)>,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// The part of the page that shows data.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Where it is.
    pub area: Area,
    /// The time that its width stands for; empty where it stands for something else.
    pub window: Window,
    /// One lane a CPU, top first; none in a picture of curves. In a story, tasks that wait have
    /// lanes below.
    pub lanes: Vec<Lane>,
    /// Ticks of the axis below: x and label.
    pub ticks: Vec<(f64, String)>,
    /// Ticks of the value axis of a picture of curves: y and label.
    pub values: Vec<(f64, String)>,
    /// What the axis below counts.
    pub unit: String,
    /// How a terminal without colours shows a colour; a later one wins where several are in a cell.
    /// Colours that are not here show as bars.
    pub cells: Vec<(Colour, Cell)>,
    /// What a terminal writes into lanes.
    pub signs: Vec<Sign>,
}

/// A word in a lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Sign {
    /// Index into the plot's lanes.
    pub lane: usize,
    /// Its middle.
    pub x: f64,
    /// The word.
    pub text: String,
}

/// How a terminal shows a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// As this character where most of the cell has that colour.
    Mostly(char),
    /// As this character wherever some of the cell has that colour; of a curve, here and there.
    Any(char),
    /// As this character in a line above the plot, where bars above it have that colour most.
    Above(char),
}

/// One line of the plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// The CPU's number, or the task's name.
    pub label: String,
    /// Its top.
    pub y: f64,
    /// Its height.
    pub height: f64,
}

/// A stretch of one colour in a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Left.
    pub x: f64,
    /// Width.
    pub width: f64,
    /// Colour.
    pub colour: Colour,
}

/// Which point of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// Something to draw.
#[derive(Clone, Debug)]
pub enum Item {
    /// A filled rectangle.
    Rect {
        /// Where.
        area: Area,
        /// Its colour.
        colour: Colour,
    },
    /// Stretches of a lane, as high as the lane.
    Bars {
        /// Index into the plot's lanes.
        lane: usize,
        /// From left to right.
        bars: Vec<Bar>,
    },
    /// A dense stretch of a lane: in each pixel column the height of a colour is its share of time.
    Stack {
        /// Index into the plot's lanes.
        lane: usize,
        /// Left.
        x: f64,
        /// Width.
        width: f64,
        /// Pixels in a column.
        rows: usize,
        /// Indices into the palette, row after row from the top; 0 is white.
        pixels: Vec<u8>,
        /// The colours.
        palette: Arc<[Colour]>,
    },
    /// An open line.
    Line {
        /// Its corners.
        points: Vec<(f64, f64)>,
        /// Its colour.
        colour: Colour,
        /// Its width.
        width: f64,
        /// Dotted rather than drawn through.
        dotted: bool,
    },
    /// A filled polygon.
    Fill {
        /// Its corners.
        points: Vec<(f64, f64)>,
        /// Its colour.
        colour: Colour,
    },
    /// Diagonal lines over what is not known.
    Hatch {
        /// Where.
        area: Area,
        /// The colour of the lines.
        colour: Colour,
    },
    /// One line of text.
    Text {
        /// Where its anchor is.
        x: f64,
        /// Its base line.
        y: f64,
        /// Font size.
        size: f64,
        /// Which point of it is at `x`.
        anchor: Anchor,
        /// Its colour.
        colour: Colour,
        /// The text, without control characters.
        text: String,
    },
}

impl Area {
    /// Its right edge.
    pub fn right(&self) -> f64 {
        self.x + self.width
    }
    /// Its lower edge.
    pub fn bottom(&self) -> f64 {
        self.y + self.height
    }
    /// The diagonals of a hatch over it, `step` apart; they run on over the page, so that
    /// neighbouring areas join.
    pub(crate) fn diagonals(&self) -> Vec<[(f64, f64); 2]> {
        const STEP: f64 = 5.0;
        let first = ((self.x + self.y) / STEP).ceil() as i64;
        let last = ((self.right() + self.bottom()) / STEP).floor() as i64;
        let line = |n: i64| {
            let sum = n as f64 * STEP; // the line x + y = sum
            let (left, right) = (self.x.max(sum - self.bottom()), self.right().min(sum - self.y));
            (right > left).then_some([(left, sum - left), (right, sum - right)])
        };
        (first..=last).filter_map(line).collect()
    }
}

impl Scene {
    pub(crate) fn text(
        &mut self,
        at: (f64, f64),
        size: f64,
        anchor: Anchor,
        colour: Colour,
        text: &str,
    ) {
        let (x, y) = at;
        let text = printable(text).into_owned();
        self.items.push(Item::Text { x, y, size, anchor, colour, text });
    }
    pub(crate) fn line(&mut self, points: Vec<(f64, f64)>, colour: Colour, width: f64) {
        self.items.push(Item::Line { points, colour, width, dotted: false });
    }
    pub(crate) fn rect(&mut self, area: Area, colour: Colour) {
        self.items.push(Item::Rect { area, colour });
    }
    /// The rectangle of a stretch of a lane.
    pub(crate) fn stretch(&self, lane: usize, x: f64, width: f64) -> Area {
        let lane = &self.plot.lanes[lane];
        Area { x, y: lane.y, width, height: lane.height }
    }
}
