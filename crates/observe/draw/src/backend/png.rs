//! A Scene as PNG: tiny-skia draws the shapes, letters are outlines.

use tiny_skia::{
    FillRule, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Rect, Stroke, StrokeDash,
    Transform,
};
use ttf_parser::OutlineBuilder;
use wastenot_model::Help;

use super::by_colour;
use crate::font::Font;
use crate::{Area, Colour, Item, Scene};

/// Why a picture cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// More pixels than a picture may have.
    #[error(
        "the picture is too large: {width} x {height} pixels; the maximum is {LIMIT} on a side and \
         256 million in all"
    )]
    TooLarge {
        /// Its width.
        width: u64,
        /// Its height.
        height: u64,
    },
    /// The encoder refused.
    #[error("the picture cannot be encoded as PNG: {0}")]
    Encode(String),
}

/// Longest side of a PNG.
const LIMIT: u64 = 32_767;

impl Help for Error {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Error::TooLarge { .. } => "draw at a smaller scale, or write a .pdf or .svg file",
            Error::Encode(_) => "write a .pdf or .svg file instead",
        }
        .into()
    }
}

impl Scene {
    /// The page as a PNG file of `scale` pixels a point; 2 suits a screen, 4 print.
    pub fn png(&self, scale: f64) -> Result<Vec<u8>, Error> {
        let side = |points: f64| (points * scale).ceil().max(1.0) as u64;
        let (width, height) = (side(self.width), side(self.height));
        let large = width > LIMIT || height > LIMIT || width * height > 256 << 20;
        let map = (!large).then(|| Pixmap::new(width as u32, height as u32)).flatten();
        let mut canvas = Canvas {
            map: map.ok_or(Error::TooLarge { width, height })?,
            scale,
            to_pixels: Transform::from_scale(scale as f32, scale as f32),
            font: Font::new(),
        };
        self.items.iter().for_each(|item| canvas.item(self, item));
        canvas.map.encode_png().map_err(|error| Error::Encode(error.to_string()))
    }
}

/// The pixels of a dense stretch alone, for an SVG to hold.
pub(crate) fn stack(item: &Item) -> Vec<u8> {
    let Item::Stack { rows, pixels, palette, .. } = item else { return Vec::new() };
    let Some(mut map) = Pixmap::new((pixels.len() / rows) as u32, *rows as u32) else {
        return Vec::new();
    };
    for (to, &paint) in map.pixels_mut().iter_mut().zip(pixels) {
        let Colour { r, g, b, .. } = palette[usize::from(paint)];
        *to = PremultipliedColorU8::from_rgba(r, g, b, 255).unwrap_or(*to);
    }
    map.encode_png().unwrap_or_default()
}

struct Canvas {
    map: Pixmap,
    scale: f64,
    to_pixels: Transform,
    font: Font,
}

impl Canvas {
    fn item(&mut self, scene: &Scene, item: &Item) {
        match item {
            Item::Rect { area, colour } => self.rect(area, *colour),
            Item::Bars { lane, bars } => {
                for (colour, bars) in by_colour(bars) {
                    for bar in bars {
                        self.rect(&scene.stretch(*lane, bar.x, bar.width), colour);
                    }
                }
            }
            Item::Stack { lane, x, width, rows, pixels, palette } => {
                let area = scene.stretch(*lane, *x, *width);
                self.image(&area, *rows, pixels, palette);
            }
            Item::Line { points, colour, width, dotted } => {
                let dash = dotted.then(|| StrokeDash::new(vec![2.0, 2.0], 0.0)).flatten();
                let stroke = Stroke { width: *width as f32, dash, ..Stroke::default() };
                self.stroke(path([points.as_slice()]), *colour, &stroke);
            }
            Item::Fill { points, colour } => self.fill(path([points.as_slice()]), *colour),
            Item::Hatch { area, colour } => {
                let lines = area.diagonals();
                let stroke = Stroke { width: 0.5, ..Stroke::default() };
                self.stroke(path(lines.iter().map(|line| &line[..])), *colour, &stroke);
            }
            Item::Text { x, y, size, anchor, colour, text } => {
                let start = self.font.start(*x, *size, *anchor, text);
                let scale = size / self.font.em();
                let mut pen = Pen { builder: PathBuilder::new(), x: start, y: *y, scale };
                for (x, glyph) in self.font.letters(text) {
                    pen.x = start + x * scale;
                    self.font.face.outline_glyph(glyph, &mut pen);
                }
                self.fill(pen.builder.finish(), *colour);
            }
        }
    }

    fn rect(&mut self, area: &Area, colour: Colour) {
        let (x, y, width, height) =
            (area.x as f32, area.y as f32, area.width as f32, area.height as f32);
        if let Some(rect) = Rect::from_xywh(x, y, width, height) {
            self.map.fill_rect(rect, &ink(colour), self.to_pixels, None);
        }
    }

    fn fill(&mut self, path: Option<Path>, colour: Colour) {
        if let Some(path) = path {
            self.map.fill_path(&path, &ink(colour), FillRule::Winding, self.to_pixels, None);
        }
    }

    fn stroke(&mut self, path: Option<Path>, colour: Colour, stroke: &Stroke) {
        if let Some(path) = path {
            self.map.stroke_path(&path, &ink(colour), stroke, self.to_pixels, None);
        }
    }

    /// Each pixel of the canvas gets the mean of what it covers: sampling could miss a short run.
    fn image(&mut self, area: &Area, rows: usize, pixels: &[u8], palette: &[Colour]) {
        let columns = pixels.len() / rows;
        let bound = |from: f64, length: f64, most: u32| {
            let first = (from * self.scale).round().max(0.0) as usize;
            let end = ((from + length) * self.scale).round() as usize;
            (first, end.max(first + 1).min(most as usize))
        };
        let (left, right) = bound(area.x, area.width, self.map.width());
        let (top, bottom) = bound(area.y, area.height, self.map.height());
        let (wide, stride) = (right.saturating_sub(left), self.map.width() as usize);
        let span = |n: usize, of: usize, all: usize| {
            let from = n * all / of;
            from..((n + 1) * all).div_ceil(of).max(from + 1).min(all)
        };
        for y in top..bottom {
            for x in left..right {
                let mut sum = [0u32; 4];
                for row in span(y - top, bottom - top, rows) {
                    for column in span(x - left, wide, columns) {
                        let colour = palette[usize::from(pixels[row * columns + column])];
                        let parts = [colour.r, colour.g, colour.b].map(u32::from);
                        sum.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
                        sum[3] += 1;
                    }
                }
                let [r, g, b] = [0, 1, 2].map(|part| (sum[part] / sum[3].max(1)) as u8);
                let to = &mut self.map.pixels_mut()[y * stride + x];
                *to = PremultipliedColorU8::from_rgba(r, g, b, 255).unwrap_or(*to);
            }
        }
    }
}

fn ink(colour: Colour) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(colour.r, colour.g, colour.b, colour.a);
    paint
}

fn path<'a>(lines: impl IntoIterator<Item = &'a [(f64, f64)]>) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for line in lines {
        for (index, &(x, y)) in line.iter().enumerate() {
            let (x, y) = (x as f32, y as f32);
            match index {
                0 => builder.move_to(x, y),
                _ => builder.line_to(x, y),
            }
        }
    }
    builder.finish()
}

/// Draws glyphs where the pen is; a font's y axis points up.
struct Pen {
    builder: PathBuilder,
    x: f64,
    y: f64,
    scale: f64,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        let (x, y) = (f64::from(x) * self.scale, f64::from(y) * self.scale);
        ((self.x + x) as f32, (self.y - y) as f32)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.move_to(x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.line_to(x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.builder.cubic_to(x1, y1, x2, y2, x, y);
    }
    fn close(&mut self) {
        self.builder.close();
    }
}
