//! A Scene as SVG 1.1 without external resources. Letters are outlines, because a reader may lack
//! the font. The `aria-label` of each group of letters contains the text.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ttf_parser::{GlyphId, OutlineBuilder};
use wastenot_model::{escape_markup, printable};

use super::{by_colour, png, round};
use crate::font::Font;
use crate::{Area, Item, Scene};

impl Scene {
    /// The page as an SVG document.
    pub fn svg(&self) -> String {
        let (width, height) = (round(self.width), round(self.height));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" \
             xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{width}pt\" \
             height=\"{height}pt\" viewBox=\"0 0 {width} {height}\">\n<title>{}</title>\n",
            escape_markup(&printable(&self.title))
        );
        let font = Font::new();
        out += &self.outlines(&font);
        // Rectangles of one colour in a row are one path: marks come in tens of thousands.
        let alike = |a: &Item, b: &Item| {
            matches!((a, b),
            (Item::Rect { colour: a, .. }, Item::Rect { colour: b, .. }) if a == b)
        };
        for items in self.items.chunk_by(alike) {
            match &items[0] {
                Item::Rect { colour, .. } => rects(&mut out, items, *colour),
                item => self.item(&mut out, item, &font),
            }
        }
        out += "</svg>\n";
        out
    }

    /// The outline of each glyph in use, once.
    fn outlines(&self, font: &Font) -> String {
        let mut glyphs = BTreeSet::new();
        for item in &self.items {
            if let Item::Text { text, .. } = item {
                glyphs.extend(font.letters(text).map(|(_, glyph)| glyph));
            }
        }
        let mut out = String::from("<defs>\n");
        for glyph in glyphs {
            if let Some(outline) = outline(font, glyph) {
                out += &format!("<path id=\"g{}\" d=\"{outline}\"/>\n", glyph.0);
            }
        }
        out + "</defs>\n"
    }

    fn item(&self, out: &mut String, item: &Item, font: &Font) {
        let written = match item {
            Item::Rect { .. } => Ok(()), // drawn in groups
            Item::Bars { lane, bars } => {
                let lane = &self.plot.lanes[*lane];
                let (y, height) = (round(lane.y), round(lane.height));
                for (colour, bars) in by_colour(bars) {
                    *out += "<path d=\"";
                    for bar in bars {
                        let (x, width) = (round(bar.x), round(bar.width));
                        // Writing to a String cannot fail.
                        let _ = write!(out, "M{x} {y}h{width}v{height}h-{width}z");
                    }
                    let _ = writeln!(out, "\"{}/>", paint("fill", colour));
                }
                Ok(())
            }
            Item::Stack { lane, x, width, .. } => {
                let Area { x, y, width, height } = rounded(&self.stretch(*lane, *x, *width));
                let image = STANDARD.encode(png::stack(item));
                writeln!(
                    out,
                    "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
                     preserveAspectRatio=\"none\" xlink:href=\"data:image/png;base64,{image}\"/>"
                )
            }
            Item::Line { points, colour, width, dotted } => {
                let dash = if *dotted { " stroke-dasharray=\"2 2\"" } else { "" };
                let stroke = paint("stroke", *colour);
                let path = path(points);
                writeln!(
                    out,
                    "<path d=\"{path}\" fill=\"none\"{stroke} stroke-width=\"{width}\"{dash}/>"
                )
            }
            Item::Fill { points, colour } => {
                writeln!(out, "<path d=\"{}z\"{}/>", path(points), paint("fill", *colour))
            }
            Item::Hatch { area, colour } => {
                let lines: String = area.diagonals().iter().map(|line| path(line)).collect();
                let stroke = paint("stroke", *colour);
                writeln!(out, "<path d=\"{lines}\" fill=\"none\"{stroke} stroke-width=\"0.5\"/>")
            }
            Item::Text { .. } => letters(out, item, font),
        };
        written.expect("writing to a String cannot fail");
    }
}

/// One line of text: a group in units of the font, whose y axis points up.
fn letters(out: &mut String, item: &Item, font: &Font) -> fmt::Result {
    let Item::Text { x, y, size, anchor, colour, text } = item else { return Ok(()) };
    let (x, y) = (round(font.start(*x, *size, *anchor, text)), round(*y));
    let scale = size / font.em();
    write!(
        out,
        "<g role=\"img\" aria-label=\"{}\" \
         transform=\"translate({x} {y}) scale({scale} -{scale})\"{}>",
        escape_markup(text),
        paint("fill", *colour)
    )?;
    for (x, glyph) in font.letters(text) {
        // A blank has nothing to show, and no outline to refer to.
        if font.face.glyph_bounding_box(glyph).is_some() {
            write!(out, "<use xlink:href=\"#g{}\" x=\"{x}\"/>", glyph.0)?;
        }
    }
    writeln!(out, "</g>")
}

fn rects(out: &mut String, items: &[Item], colour: crate::Colour) {
    *out += "<path d=\"";
    for item in items {
        if let Item::Rect { area, .. } = item {
            let Area { x, y, width, height } = rounded(area);
            *out += &format!("M{x} {y}h{width}v{height}h-{width}z");
        }
    }
    *out += &format!("\"{}/>\n", paint("fill", colour));
}

fn paint(what: &str, colour: crate::Colour) -> String {
    let hex = colour.hex();
    match colour.a {
        255 => format!(" {what}=\"{hex}\""),
        a => format!(" {what}=\"{hex}\" {what}-opacity=\"{}\"", round(f64::from(a) / 255.0)),
    }
}

fn rounded(area: &Area) -> Area {
    Area {
        x: round(area.x),
        y: round(area.y),
        width: round(area.width),
        height: round(area.height),
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        out += if index == 0 { "M" } else { "L" };
        out += &format!("{} {}", round(x), round(y));
    }
    out
}

/// A glyph as path data in units of the font; nothing for a blank.
fn outline(font: &Font, glyph: GlyphId) -> Option<String> {
    let mut data = PathData(String::new());
    font.face.outline_glyph(glyph, &mut data)?;
    Some(data.0)
}

/// Path data as a font tells it.
struct PathData(String);

impl OutlineBuilder for PathData {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0 += &format!("M{x} {y}");
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.0 += &format!("L{x} {y}");
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0 += &format!("Q{x1} {y1} {x} {y}");
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0 += &format!("C{x1} {y1} {x2} {y2} {x} {y}");
    }
    fn close(&mut self) {
        self.0.push('z');
    }
}
