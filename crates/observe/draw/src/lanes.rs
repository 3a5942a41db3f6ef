//! Turns runs into bars and pixel columns, which keeps a picture of millions of runs small.
//!
//! Each lane is cut into tiles of 32 pixel columns. A tile with few runs keeps them as bars. If a
//! tile exceeds its budget, it keeps only the time of each paint in each column. The column is then
//! drawn as a stack, and the heights are shares of time. No run vanishes: a bar is at least one
//! column wide, and each paint of a column has at least one pixel.

use std::sync::Arc;

use wastenot_model::{Time, Window};

use crate::{Area, Bar, Colour, Item};

/// Index into the palette of a picture; 0 is white and is never added.
pub(crate) type Paint = u8;

/// Pixel columns in a point: 288 per inch, print resolution.
pub(crate) const COLUMNS_PER_POINT: f64 = 4.0;
const TILE: usize = 32;
/// Bars that a whole picture keeps before lanes turn dense; about 2 MB of PDF at most.
const BARS: usize = 80_000;
/// Shares that a dense tile keeps before equal ones are added up.
const SHARES: usize = 4096;

/// Where time falls on pixel columns.
pub(crate) struct Grid {
    window: Window,
    /// Start of each column, and the end of the last.
    starts: Vec<Time>,
    scale: f64,
}

/// All lanes of a picture.
pub(crate) struct Lanes {
    grid: Grid,
    lanes: Vec<Strip>,
    budget: usize,
    rows: usize,
}

/// One lane while it fills.
struct Strip {
    tile: usize,
    tile_end: Time,
    bars: Vec<Stretch>,
    shares: Vec<Share>,
    out: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Stretch {
    from: Time,
    to: Time,
    paint: Paint,
}

/// How much of a column's time a paint had.
#[derive(Clone, Copy)]
struct Share {
    column: u32,
    paint: Paint,
    ns: u64,
}

enum Piece {
    Bar(Stretch),
    /// Columns from `first`, each `rows` pixels from the bottom.
    Stack {
        first: usize,
        pixels: Vec<Paint>,
    },
}

impl Grid {
    pub(crate) fn new(window: Window, width: f64) -> Grid {
        let columns = ((width * COLUMNS_PER_POINT) as usize).max(1);
        let span = u128::from(window.span().0);
        let start =
            |column: usize| Time(window.from.0 + (span * column as u128 / columns as u128) as u64);
        let starts = (0..=columns).map(start).collect();
        Grid { window, starts, scale: columns as f64 / window.span().0.max(1) as f64 }
    }
    pub(crate) fn columns(&self) -> usize {
        self.starts.len() - 1
    }
    /// Start of a column.
    pub(crate) fn start(&self, column: usize) -> Time {
        self.starts[column.min(self.columns())]
    }
    /// The column that holds `time`, which lies in the window.
    pub(crate) fn column(&self, time: Time) -> usize {
        let guess = ((time - self.window.from).0 as f64 * self.scale) as usize;
        let mut column = guess.min(self.columns() - 1);
        while column > 0 && self.starts[column] > time {
            column -= 1;
        }
        while column + 1 < self.columns() && self.starts[column + 1] <= time {
            column += 1;
        }
        column
    }
}

impl Lanes {
    /// `count` lanes over `window`, `width` points wide and `height` points high each.
    pub(crate) fn new(count: usize, window: Window, width: f64, height: f64) -> Lanes {
        let grid = Grid::new(window, width);
        let tiles = grid.columns().div_ceil(TILE);
        let budget = (BARS / (count * tiles).max(1)).clamp(4, TILE);
        let strip = || Strip {
            tile: 0,
            tile_end: grid.start(TILE),
            bars: Vec::new(),
            shares: Vec::new(),
            out: Vec::new(),
        };
        let lanes = (0..count).map(|_| strip()).collect();
        let rows = if height >= 8.0 { 16 } else { 8 };
        Lanes { grid, lanes, budget, rows }
    }

    /// `lane` had `paint` in `[from, to)`. Calls for one lane come in time order.
    #[inline]
    pub(crate) fn add(&mut self, lane: usize, from: Time, to: Time, paint: Paint) {
        let Some((mut from, to)) = self.grid.window.clip(from, to) else { return };
        let Some(strip) = self.lanes.get_mut(lane) else { return };
        while from < to {
            if from >= strip.tile_end {
                strip.close(&self.grid, self.rows);
                strip.tile = self.grid.column(from) / TILE;
                strip.tile_end = self.grid.start((strip.tile + 1) * TILE);
            }
            let end = to.min(strip.tile_end);
            if end <= from {
                return; // columns shorter than a nanosecond at the end of the window
            }
            strip.put(&self.grid, Stretch { from, to: end, paint }, self.budget);
            from = end;
        }
    }

    /// The lanes as items over `area`. `least` is the least width of a bar of a paint, in points.
    pub(crate) fn finish(
        mut self,
        area: Area,
        palette: &Arc<[Colour]>,
        least: impl Fn(Paint) -> f64,
    ) -> Vec<Item> {
        let mut items = Vec::new();
        let per_ns = area.width / self.grid.window.span().0.max(1) as f64;
        let column_width = area.width / self.grid.columns() as f64;
        for (lane, strip) in self.lanes.iter_mut().enumerate() {
            strip.close(&self.grid, self.rows);
            let mut bars = Vec::new();
            for piece in strip.out.drain(..) {
                match piece {
                    Piece::Bar(Stretch { from, to, paint }) => {
                        let exact = (to - from).0 as f64 * per_ns;
                        let width = exact.max(least(paint));
                        let x = area.x + (from - self.grid.window.from).0 as f64 * per_ns;
                        let x = x.min(area.right() - width).max(area.x);
                        bars.push(Bar { x, width, colour: palette[usize::from(paint)] });
                    }
                    Piece::Stack { first, pixels } => items.push(Item::Stack {
                        lane,
                        x: area.x + first as f64 * column_width,
                        width: (pixels.len() / self.rows) as f64 * column_width,
                        rows: self.rows,
                        pixels: turned(&pixels, self.rows),
                        palette: Arc::clone(palette),
                    }),
                }
            }
            if !bars.is_empty() {
                items.push(Item::Bars { lane, bars });
            }
        }
        items
    }
}

impl Strip {
    #[inline]
    fn put(&mut self, grid: &Grid, stretch: Stretch, budget: usize) {
        if self.shares.is_empty() && self.bars.len() < budget {
            self.bars.push(stretch);
            return;
        }
        for kept in std::mem::take(&mut self.bars) {
            self.share(grid, kept);
        }
        self.share(grid, stretch);
        if self.shares.len() > SHARES {
            self.add_up();
        }
    }

    fn share(&mut self, grid: &Grid, stretch: Stretch) {
        let mut from = stretch.from;
        let mut column = grid.column(from);
        while from < stretch.to {
            let end = stretch.to.min(grid.start(column + 1));
            let ns = (end - from).0;
            self.shares.push(Share { column: column as u32, paint: stretch.paint, ns });
            from = end;
            column += 1;
        }
    }

    fn add_up(&mut self) {
        self.shares.sort_unstable_by_key(|share| (share.column, share.paint));
        self.shares.dedup_by(|next, kept| {
            let same = (next.column, next.paint) == (kept.column, kept.paint);
            if same {
                kept.ns += next.ns;
            }
            same
        });
    }

    /// Ends the tile: its bars, or the stacks of its columns, go out.
    fn close(&mut self, grid: &Grid, rows: usize) {
        for bar in self.bars.drain(..) {
            match self.out.last_mut() {
                Some(Piece::Bar(last)) if last.to == bar.from && last.paint == bar.paint => {
                    last.to = bar.to;
                }
                _ => self.out.push(Piece::Bar(bar)),
            }
        }
        if self.shares.is_empty() {
            return;
        }
        self.add_up();
        let begin = self.tile * TILE;
        let count = TILE.min(grid.columns() - begin);
        let mut stacks = vec![0; count * rows];
        for column in self.shares.chunk_by(|a, b| a.column == b.column) {
            let index = column[0].column as usize;
            let length = grid.start(index + 1) - grid.start(index);
            let at = (index - begin) * rows;
            stack(column, length.0, &mut stacks[at..at + rows]);
        }
        self.shares.clear();
        match self.out.last_mut() {
            Some(Piece::Stack { first, pixels }) if *first + pixels.len() / rows == begin => {
                pixels.extend(stacks);
            }
            _ => self.out.push(Piece::Stack { first: begin, pixels: stacks }),
        }
    }
}

/// Fills one column from the bottom: each paint by its share of `length`, at least one pixel. Where
/// there are more paints than pixels, the smallest shares give way.
fn stack(shares: &[Share], length: u64, pixels: &mut [Paint]) {
    let rows = pixels.len();
    let ideal = |ns: u64| ns as f64 * rows as f64 / length.max(1) as f64;
    let mut heights: Vec<(Paint, u64, usize)> = shares
        .iter()
        .map(|share| (share.paint, share.ns, (ideal(share.ns).round() as usize).max(1)))
        .collect();
    while heights.iter().map(|(.., height)| height).sum::<usize>() > rows {
        match heights.iter_mut().max_by_key(|(_, ns, height)| (*height, *ns)) {
            Some((.., height)) if *height > 1 => *height -= 1,
            _ => {
                let least = heights.iter().enumerate().min_by_key(|(_, (_, ns, _))| *ns);
                let Some((least, _)) = least else { return };
                heights.remove(least);
            }
        }
    }
    let paints = heights.iter().flat_map(|&(paint, _, height)| std::iter::repeat_n(paint, height));
    pixels.iter_mut().zip(paints).for_each(|(pixel, paint)| *pixel = paint);
}

/// Columns from the bottom, one after the other, as rows from the top.
fn turned(columns: &[Paint], rows: usize) -> Vec<Paint> {
    let count = columns.len() / rows;
    let pixel = |n: usize| columns[(n % count) * rows + rows - 1 - n / count];
    (0..count * rows).map(pixel).collect()
}
