//! A Scene in a terminal, for example over ssh.
//!
//! If each CPU has a row, a cell is a block as high as the CPU's share of busy time. With fewer
//! rows, four CPUs (or groups of CPUs) share a row of braille dots. Each cell has two dots of time.
//! A dot means that at least a quarter of its time was busy. Curves are braille lines. Letters in a
//! line above the plot stand for bars: each letter is the colour with the largest part of the cell.

use std::fmt::Write;

use wastenot_model::printable;

use crate::page::{WASTE, shorten};
use crate::{Area, Cell, Colour, Item, Scene};

/// From nothing to full.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Bits of the dots of a braille cell, from the top; left and right.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
const BRAILLE: u32 = 0x2800;
/// The share of time from which a dot stands.
const DOT_SHARE: f64 = 0.25;
/// The share of a cell from which idle time of a CPU while a task waited is marked.
const WASTE_SHARE: f64 = 0.25;
/// Lines beside the plot: title, axis, labels, unit and two of legend.
const AROUND: usize = 6;
/// Rows of a picture of curves, at most.
const CURVE_ROWS: usize = 20;

impl Scene {
    /// The picture as text of at most `columns` columns and about `rows` rows, with the 256 colours
    /// of common terminals or without.
    pub fn terminal(&self, columns: usize, rows: usize, colour: bool) -> String {
        let columns = columns.clamp(20, 2000);
        let room = rows.saturating_sub(AROUND + 2 * usize::from(has_above(self))).clamp(4, 4000);
        let mut screen =
            Screen { out: String::new(), columns, colour, dotted: false, rows: Vec::new() };
        match self.plot.lanes.len() {
            0 => screen.curves(self, room.min(CURVE_ROWS)),
            lanes if lanes <= room => screen.blocks(self),
            lanes => screen.dots(self, lanes.div_ceil(4 * room)),
        }
        screen.print(self)
    }
}

/// What stands for a share of an eighth more each, where there are only characters of ASCII.
const RAMP: [char; 9] = [' ', '.', ':', '-', '=', '+', '*', '#', '@'];

/// What [`Scene::terminal`] gave in ASCII, for terminals that have no other characters: names in
/// other scripts are not to be read there.
pub fn ascii(drawn: &str) -> String {
    let plain = |c: char| match c {
        '│' => '|',
        '─' => '-',
        '└' | '┴' => '+',
        '░' => '%',
        '×' => 'x',
        '\u{2800}'..='\u{28ff}' => RAMP[(u32::from(c) - BRAILLE).count_ones() as usize],
        c if c.is_ascii() => c,
        c => BLOCKS.iter().position(|block| *block == c).map_or('?', |eighths| RAMP[eighths]),
    };
    drawn.chars().map(plain).collect()
}

/// A character and its colour.
type Glyph = (char, Option<Colour>);

struct Screen {
    out: String,
    columns: usize,
    colour: bool,
    /// Whether cells are dots of several lanes, which tell no sign.
    dotted: bool,
    /// Label and cells of each row of the plot.
    rows: Vec<(String, Vec<Glyph>)>,
}

/// How much of each cell of a lane has which colour; shares of 1.
type Shares = Vec<Vec<(Colour, f64)>>;

impl Screen {
    /// Room for cells beside labels of `label` characters and the axis.
    fn cells(&self, label: usize) -> usize {
        self.columns.saturating_sub(label + 2).max(8)
    }

    /// One row a lane.
    fn blocks(&mut self, scene: &Scene) {
        let label = widest(scene);
        let count = self.cells(label);
        let mut shares = coverage(scene, count);
        cover_waste(scene, &mut shares);
        for (shares, lane) in shares.iter().zip(&scene.plot.lanes) {
            let row = shares.iter().map(|cell| block(scene, cell)).collect();
            self.rows.push((lane.label.clone(), row));
        }
        let (left, wide) = (scene.plot.area.x, scene.plot.area.width);
        for sign in &scene.plot.signs {
            let Some((_, row)) = self.rows.get_mut(sign.lane) else { continue };
            let at = ((sign.x - left) / wide * count as f64).max(0.0) as usize;
            let first = at.saturating_sub(sign.text.chars().count() / 2);
            let cells = row.iter_mut().skip(first);
            cells.zip(sign.text.chars()).for_each(|(cell, letter)| *cell = (letter, None));
        }
    }

    /// Four rows of dots a line, `group` lanes a row of dots.
    fn dots(&mut self, scene: &Scene, group: usize) {
        self.dotted = true;
        let lanes = &scene.plot.lanes;
        let label = widest(scene) * 2 + 1;
        let count = self.cells(label);
        let shares = coverage(scene, count * 2);
        let grouped: Vec<Shares> = shares.chunks(group).map(mean).collect();
        for (line, four) in grouped.chunks(4).enumerate() {
            let first = line * 4 * group;
            let last = (first + 4 * group).min(lanes.len()) - 1;
            let row = (0..count).map(|cell| braille(scene, four, cell)).collect();
            self.rows.push((format!("{}-{}", lanes[first].label, lanes[last].label), row));
        }
    }

    /// Lines and bands as dots, with the value axis.
    fn curves(&mut self, scene: &Scene, rows: usize) {
        let label = scene.plot.values.iter().map(|(_, label)| label.len()).max().unwrap_or(0);
        let count = self.cells(label);
        let area = scene.plot.area;
        let mut bits = vec![vec![(0u8, None); count]; rows];
        for item in &scene.items {
            let (points, colour) = match item {
                Item::Line { points, colour, .. } if is_data(scene, *colour) => (points, *colour),
                Item::Fill { points, colour } => (points, colour.alpha(255)),
                _ => continue,
            };
            if !points.iter().any(|&(x, y)| holds(area, x, y)) {
                continue; // of the legend, or of another panel
            }
            let dotted = matches!(item, Item::Line { dotted: true, .. });
            for (x, extent) in extents(points, area, count * 2).iter().enumerate() {
                let Some((top, bottom)) = *extent else { continue };
                let dot = |y: f64| {
                    let share = (y - area.y) / area.height;
                    ((share * (rows * 4) as f64) as usize).min(rows * 4 - 1)
                };
                if dotted && x % 4 >= 2 {
                    continue;
                }
                for y in dot(top)..=dot(bottom) {
                    let cell = &mut bits[y / 4][x / 2];
                    cell.0 |= DOTS[y % 4][x % 2];
                    cell.1 = Some(colour);
                }
            }
        }
        let at = |y: f64| (((y - area.y) / area.height * rows as f64) as usize).min(rows - 1);
        for (row, cells) in bits.into_iter().enumerate() {
            let tick = scene.plot.values.iter().find(|(y, _)| at(*y) == row);
            let label = tick.map_or(String::new(), |(_, label)| label.clone());
            let glyph = |(column, (bits, colour)): (usize, (u8, Option<Colour>))| match bits {
                0 => (' ', None),
                bits => (letter(scene, colour, column).unwrap_or_else(|| dots(bits)), colour),
            };
            self.rows.push((label, cells.into_iter().enumerate().map(glyph).collect()));
        }
    }

    fn print(mut self, scene: &Scene) -> String {
        self.out += &shorten(&scene.title, self.columns);
        self.out.push('\n');
        let label = self.rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        let count = self.rows.first().map_or(0, |(_, cells)| cells.len());
        if let Some(cells) = above(scene, count) {
            let _ = write!(self.out, "{:label$}  ", ""); // writing to a String cannot fail
            self.glyphs(&cells);
            self.end_line();
        }
        for (name, cells) in std::mem::take(&mut self.rows) {
            let _ = write!(self.out, "{name:>label$} │");
            self.glyphs(&cells);
            self.end_line();
        }
        let (ticks, labels) = axis(scene, count);
        for (mark, line) in [("└", ticks), (" ", labels)] {
            let line = format!("{:label$} {mark}{line}", "");
            self.out += line.trim_end();
            self.out.push('\n');
        }
        let unit = shorten(&scene.plot.unit, self.columns.saturating_sub(label + 2));
        let _ = writeln!(self.out, "{:label$}  {unit}", "");
        self.legend(scene);
        self.story(scene);
        self.out
    }

    /// What happens, line by line; what is too long goes on in the next one.
    fn story(&mut self, scene: &Scene) {
        let when = scene.story.iter().map(|(when, _)| when.chars().count()).max().unwrap_or(0);
        let room = self.columns.saturating_sub(when + 2).max(8);
        for (at, words) in &scene.story {
            let mut at = printable(at).into_owned();
            let mut line = String::new();
            for word in printable(words).split(' ') {
                if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
                    let _ = writeln!(self.out, "{:>when$}  {line}", std::mem::take(&mut at));
                    line.clear();
                }
                line += if line.is_empty() { "" } else { " " };
                line += word;
            }
            let _ = writeln!(self.out, "{at:>when$}  {line}");
        }
    }

    /// What colours and characters mean, in two lines at most, behind those of bars above the plot.
    fn legend(&mut self, scene: &Scene) {
        let (mut used, mut lines) = (0, 1);
        let cell = |colour: &Colour| scene.plot.cells.iter().find(|(known, _)| known == colour);
        let is_waste = |(colour, _): &&(Colour, String)| {
            matches!(cell(colour), Some((_, Cell::Mostly(WASTE) | Cell::Above(_))))
        };
        // What marks waste is never left out for want of room.
        let (waste, others): (Vec<_>, Vec<_>) = scene.legend.iter().partition(is_waste);
        let (first, mut most) = (waste.len(), 2);
        for (n, (colour, label)) in waste.into_iter().chain(others).enumerate() {
            if has_above(scene) && n <= first {
                most = lines + 2;
            }
            let label = printable(label);
            let glyph = match cell(colour) {
                // Dots of several lanes have no room for it.
                Some((_, Cell::Mostly(WASTE))) if self.dotted || scene.plot.lanes.is_empty() => {
                    continue;
                }
                Some((_, Cell::Any(_))) if self.dotted && !self.colour => continue,
                Some((_, Cell::Any(_))) if self.dotted => '⣿',
                Some((_, Cell::Any(c) | Cell::Mostly(c) | Cell::Above(c))) => *c,
                None if *colour == Colour::WHITE => ' ',
                None if scene.plot.lanes.is_empty() && !self.colour => '-',
                None if !self.colour => continue, // bars of all colours look alike
                None => '█',
            };
            let wide = label.chars().count() + 4;
            if used > 0 && used + wide > self.columns {
                if lines == most {
                    break;
                }
                self.end_line();
                (used, lines) = (0, lines + 1);
            }
            if used + wide > self.columns {
                continue;
            }
            self.glyphs(&[(glyph, Some(*colour))]);
            let _ = write!(self.out, " {label}  ");
            used += wide;
        }
        if used > 0 {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
    }

    /// Cells with as few changes of colour as there are.
    fn glyphs(&mut self, cells: &[Glyph]) {
        let mut now = None;
        for &(c, colour) in cells {
            let colour = colour.filter(|_| self.colour && c != ' ').map(Colour::ansi);
            if colour != now {
                match colour {
                    Some(index) => _ = write!(self.out, "\x1b[38;5;{index}m"),
                    None => self.out += "\x1b[0m",
                }
                now = colour;
            }
            self.out.push(c);
        }
        if now.is_some() {
            self.out += "\x1b[0m";
        }
    }
}

fn widest(scene: &Scene) -> usize {
    scene.plot.lanes.iter().map(|lane| lane.label.len()).max().unwrap_or(0)
}

/// Grid and frame are not data.
fn is_data(scene: &Scene, colour: Colour) -> bool {
    scene.legend.iter().any(|(known, _)| *known == colour)
}

fn holds(area: Area, x: f64, y: f64) -> bool {
    (area.x..=area.right()).contains(&x) && (area.y..=area.bottom()).contains(&y)
}

/// The letter of a curve, now and then: so curves can be told apart without colours.
fn letter(scene: &Scene, colour: Option<Colour>, column: usize) -> Option<char> {
    const EVERY: usize = 9;
    let cells = scene.plot.cells.iter().enumerate();
    let mut own = cells.filter(|(_, (known, _))| Some(*known) == colour);
    match own.next()? {
        (n, (_, Cell::Any(c))) if (column + 2 * n) % EVERY == 4 => Some(*c),
        _ => None,
    }
}

/// The shares of colours in each of `count` cells of each lane.
fn coverage(scene: &Scene, count: usize) -> Vec<Shares> {
    let area = scene.plot.area;
    let mut lanes = vec![vec![Vec::new(); count]; scene.plot.lanes.len()];
    let cell = area.width / count as f64;
    let mut add = |lane: usize, x: f64, width: f64, colour: Colour, weight: f64| {
        let Some(lane) = lanes.get_mut(lane) else { return };
        let first = ((x - area.x) / cell).max(0.0) as usize;
        let last = (((x + width - area.x) / cell).ceil().max(0.0) as usize).min(count);
        for (index, shares) in lane.iter_mut().enumerate().take(last).skip(first) {
            let left = area.x + index as f64 * cell;
            let part = (x + width).min(left + cell) - x.max(left);
            let share = (part / cell).max(0.0) * weight;
            match shares.iter_mut().find(|(known, _): &&mut (Colour, f64)| *known == colour) {
                Some((_, sum)) => *sum += share,
                None => shares.push((colour, share)),
            }
        }
    };
    for item in &scene.items {
        match item {
            Item::Bars { lane, bars } => {
                bars.iter().for_each(|bar| add(*lane, bar.x, bar.width, bar.colour, 1.0));
            }
            Item::Stack { lane, x, width, rows, pixels, palette } => {
                let columns = pixels.len() / rows;
                let step = width / columns as f64;
                for (index, &paint) in pixels.iter().enumerate().filter(|(_, paint)| **paint != 0) {
                    let at = x + (index % columns) as f64 * step;
                    add(*lane, at, step, palette[usize::from(paint)], 1.0 / *rows as f64);
                }
            }
            _ => {}
        }
    }
    lanes
}

/// Adds the marks of waste to the shares of lanes: so much that a cell shows it where they cover
/// enough of it.
fn cover_waste(scene: &Scene, lanes: &mut [Shares]) {
    let Some(&(waste, _)) = scene.plot.cells.iter().find(|(_, it)| *it == Cell::Mostly(WASTE))
    else {
        return;
    };
    for item in &scene.items {
        let Item::Rect { area: mark, colour } = item else { continue };
        let is_lane = |lane: &crate::Lane| (lane.y, lane.height) == (mark.y, mark.height);
        let lane = scene.plot.lanes.iter().position(is_lane);
        let Some(lane) = lane.filter(|_| colour.alpha(255) == waste.alpha(255)) else { continue };
        let cell = scene.plot.area.width / lanes[lane].len() as f64;
        let first = ((mark.x - scene.plot.area.x) / cell).max(0.0) as usize;
        for (index, shares) in lanes[lane].iter_mut().enumerate().skip(first) {
            let left = scene.plot.area.x + index as f64 * cell;
            if left >= mark.right() {
                break;
            }
            let part = mark.right().min(left + cell) - mark.x.max(left);
            // A sign stands from a half on.
            let share = part.max(0.0) / cell * (0.5 / WASTE_SHARE);
            match shares.iter_mut().find(|(known, _)| *known == waste) {
                Some((_, sum)) => *sum += share,
                None => shares.push((waste, share)),
            }
        }
    }
}

/// Whether there are bars above the plot that have letters.
fn has_above(scene: &Scene) -> bool {
    scene.plot.cells.iter().any(|(_, cell)| matches!(cell, Cell::Above(_)))
}

/// The letters of the bars above the plot in each of `count` cells, if there are any.
fn above(scene: &Scene, count: usize) -> Option<Vec<Glyph>> {
    let letter = |colour: Colour| {
        scene.plot.cells.iter().find_map(|(known, cell)| match cell {
            Cell::Above(c) if *known == colour => Some(*c),
            _ => None,
        })
    };
    let area = scene.plot.area;
    let cell = area.width / count.max(1) as f64;
    let mut most: Vec<Vec<(Glyph, f64)>> = vec![Vec::new(); count];
    let mut any = false;
    for item in &scene.items {
        let Item::Rect { area: bar, colour } = item else { continue };
        let Some(letter) = letter(*colour).filter(|_| bar.y < area.y) else { continue };
        any = true;
        let first = ((bar.x - area.x) / cell).max(0.0) as usize;
        for (index, shares) in most.iter_mut().enumerate().skip(first) {
            let left = area.x + index as f64 * cell;
            let share = bar.right().min(left + cell) - bar.x.max(left);
            if share <= 0.0 {
                break;
            }
            let glyph = (letter, Some(*colour));
            match shares.iter_mut().find(|(known, _)| *known == glyph) {
                Some((_, sum)) => *sum += share,
                None => shares.push((glyph, share)),
            }
        }
    }
    let largest = |shares: Vec<(Glyph, f64)>| {
        let most = shares.into_iter().reduce(|most, it| if it.1 > most.1 { it } else { most });
        most.map_or((' ', None), |(glyph, _)| glyph)
    };
    any.then(|| most.into_iter().map(largest).collect())
}

/// The mean over the lanes of a group.
fn mean(lanes: &[Shares]) -> Shares {
    let mut sum = lanes[0].clone();
    for lane in &lanes[1..] {
        for (cell, more) in sum.iter_mut().zip(lane) {
            for &(colour, share) in more {
                match cell.iter_mut().find(|(known, _)| *known == colour) {
                    Some((_, sum)) => *sum += share,
                    None => cell.push((colour, share)),
                }
            }
        }
    }
    sum.iter_mut().flatten().for_each(|(_, share)| *share /= lanes.len() as f64);
    sum
}

/// The character that a cell's shares ask for, if they ask for one.
fn sign(scene: &Scene, shares: &[(Colour, f64)]) -> Option<Glyph> {
    let mut sign = None;
    for &(colour, cell) in &scene.plot.cells {
        let share = shares.iter().find(|(known, _)| *known == colour).map_or(0.0, |(_, s)| *s);
        match cell {
            Cell::Mostly(c) if share > 0.5 => return Some((c, Some(colour))),
            Cell::Any(c) if share > 0.0 => sign = Some((c, Some(colour))),
            _ => {}
        }
    }
    sign
}

/// Busy time and the colour that has most of it.
fn busy(scene: &Scene, shares: &[(Colour, f64)]) -> (f64, Option<Colour>) {
    let known = |colour: Colour| scene.plot.cells.iter().any(|(cell, _)| *cell == colour);
    let busy = || shares.iter().filter(|(colour, _)| !known(*colour));
    let most = busy().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    (busy().map(|(_, share)| share).sum(), most.map(|(colour, _)| *colour))
}

fn block(scene: &Scene, shares: &[(Colour, f64)]) -> Glyph {
    if let Some(sign) = sign(scene, shares) {
        return sign;
    }
    let (share, colour) = busy(scene, shares);
    let eighths = (share.min(1.0) * 8.0).round() as usize;
    (BLOCKS[eighths.max(usize::from(share > 0.0))], colour)
}

fn braille(scene: &Scene, four: &[Shares], cell: usize) -> Glyph {
    let mut bits = 0;
    let mut colours: Vec<(Colour, f64)> = Vec::new();
    for (row, shares) in four.iter().enumerate() {
        for half in 0..2 {
            let shares = &shares[cell * 2 + half];
            let all: f64 = shares.iter().map(|(_, share)| share).sum();
            if all >= DOT_SHARE {
                bits |= DOTS[row][half];
            }
            for &(colour, share) in shares {
                match colours.iter_mut().find(|(known, _)| *known == colour) {
                    Some((_, sum)) => *sum += share / (2.0 * four.len() as f64),
                    None => colours.push((colour, share / (2.0 * four.len() as f64))),
                }
            }
        }
    }
    if bits == 0 {
        return (' ', None);
    }
    match sign(scene, &colours) {
        // Dots say where, so only the colour of the sign is used; what is unknown stays a sign.
        Some((c @ ('/' | 'x'), colour)) => (c, colour),
        Some((_, colour)) => (dots(bits), colour),
        None => {
            let most = colours.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            (dots(bits), most.map(|(colour, _)| *colour))
        }
    }
}

fn dots(bits: u8) -> char {
    char::from_u32(BRAILLE + u32::from(bits)).unwrap_or(' ')
}

/// The least and greatest y of a line in each of `count` columns.
fn extents(points: &[(f64, f64)], area: Area, count: usize) -> Vec<Option<(f64, f64)>> {
    let mut extents: Vec<Option<(f64, f64)>> = vec![None; count];
    let cell = area.width / count as f64;
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) =
            if pair[0].0 <= pair[1].0 { (pair[0], pair[1]) } else { (pair[1], pair[0]) };
        let column = |x: f64| (((x - area.x) / cell).max(0.0) as usize).min(count - 1);
        let end = if x1 > x0 { x1 - 1e-9 } else { x1 };
        let (first, last) = (column(x0), column(end));
        for (index, extent) in extents.iter_mut().enumerate().take(last + 1).skip(first) {
            let left = (area.x + index as f64 * cell).clamp(x0, x1);
            let right = (area.x + (index + 1) as f64 * cell).clamp(x0, x1);
            let y = |x: f64| if x1 > x0 { y0 + (y1 - y0) * (x - x0) / (x1 - x0) } else { y0 };
            let (a, b) = if x1 > x0 { (y(left), y(right)) } else { (y0, y1) };
            let (low, high) = extent.unwrap_or((f64::MAX, f64::MIN));
            *extent = Some((low.min(a).min(b), high.max(a).max(b)));
        }
    }
    extents
}

/// The axis with its ticks, and their labels.
fn axis(scene: &Scene, count: usize) -> (String, String) {
    let mut line = vec!['─'; count];
    let mut labels = vec![' '; count];
    let mut free = 0;
    for (x, label) in &scene.plot.ticks {
        let share = (x - scene.plot.area.x) / scene.plot.area.width;
        let at = ((share * count as f64) as usize).min(count.saturating_sub(1));
        let Some(tick) = line.get_mut(at) else { continue };
        *tick = '┴';
        let start = at.saturating_sub(label.len() / 2).min(count.saturating_sub(label.len()));
        if start >= free && start + label.len() <= count {
            label.chars().enumerate().for_each(|(n, c)| labels[start + n] = c);
            free = start + label.len() + 1;
        }
    }
    (line.into_iter().collect(), labels.into_iter().collect())
}
