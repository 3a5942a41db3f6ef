//! A Scene as PDF: one page, compressed, with the used glyphs embedded. Source: ISO 32000-1.

use std::collections::BTreeMap;

use libdeflater::{CompressionLvl, Compressor};
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

use super::{by_colour, round};
use crate::font::{DATA, Font};
use crate::{Colour, Item, Scene};

const FONT: Name = Name(b"F");
/// A subset's name begins with six letters of its own.
const FONT_NAME: Name = Name(b"WNDRAW+NotoSans-Regular");
const SYSTEM: SystemInfo =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

impl Scene {
    /// The page as a PDF file.
    pub fn pdf(&self) -> Vec<u8> {
        let mut file = File {
            scene: self,
            font: Font::new(),
            glyphs: subsetter::GlyphRemapper::new(),
            letters: BTreeMap::new(),
            alphas: BTreeMap::new(),
            images: Vec::new(),
            filled: None,
        };
        let content = file.content();
        file.write(&content)
    }
}

struct File<'a> {
    scene: &'a Scene,
    font: Font,
    glyphs: subsetter::GlyphRemapper,
    /// New glyph number to character and width in thousandths of an em.
    letters: BTreeMap<u16, (char, f32)>,
    /// Opacity to the name of its graphics state.
    alphas: BTreeMap<u8, String>,
    images: Vec<&'a Item>,
    /// The colour that is set to fill with.
    filled: Option<Colour>,
}

impl<'a> File<'a> {
    fn content(&mut self) -> Vec<u8> {
        let mut out = Content::new();
        // Points from the top left corner, as in a Scene.
        out.transform([1.0, 0.0, 0.0, -1.0, 0.0, self.scene.height as f32]);
        for item in &self.scene.items {
            self.item(&mut out, item);
        }
        out.finish().into_vec()
    }

    fn item(&mut self, out: &mut Content, item: &'a Item) {
        match item {
            Item::Rect { area, colour } => {
                self.fill(out, *colour);
                rect(out, area.x, area.y, area.width, area.height);
                out.fill_nonzero();
            }
            Item::Bars { lane, bars } => {
                let lane = &self.scene.plot.lanes[*lane];
                for (colour, bars) in by_colour(bars) {
                    self.fill(out, colour);
                    bars.iter().for_each(|bar| rect(out, bar.x, lane.y, bar.width, lane.height));
                    out.fill_nonzero();
                }
            }
            Item::Stack { lane, x, width, .. } => {
                let area = self.scene.stretch(*lane, *x, *width);
                self.images.push(item);
                let name = format!("I{}", self.images.len() - 1);
                out.save_state();
                let (w, h) = (area.width as f32, area.height as f32);
                out.transform([w, 0.0, 0.0, -h, area.x as f32, area.bottom() as f32]);
                out.x_object(Name(name.as_bytes()));
                out.restore_state();
            }
            Item::Line { points, colour, width, dotted } => {
                out.save_state();
                self.stroke(out, *colour);
                out.set_line_width(*width as f32);
                if *dotted {
                    out.set_dash_pattern([2.0, 2.0], 0.0);
                }
                path(out, points);
                out.stroke();
                out.restore_state();
            }
            Item::Fill { points, colour } => {
                self.fill(out, *colour);
                path(out, points);
                out.fill_nonzero();
            }
            Item::Hatch { area, colour } => {
                out.save_state();
                self.stroke(out, *colour);
                out.set_line_width(0.5);
                area.diagonals().iter().for_each(|line| path(out, line));
                out.stroke();
                out.restore_state();
            }
            Item::Text { x, y, size, anchor, colour, text } => {
                self.fill(out, *colour);
                let start = self.font.start(*x, *size, *anchor, text);
                out.begin_text();
                out.set_font(FONT, round(*size) as f32);
                let (x, y) = (round(start) as f32, round(*y) as f32);
                out.set_text_matrix([1.0, 0.0, 0.0, -1.0, x, y]);
                let codes = self.codes(text);
                out.show(Str(&codes));
                out.end_text();
            }
        }
    }

    /// Sets the colour to fill with, and its opacity.
    fn fill(&mut self, out: &mut Content, colour: Colour) {
        if self.filled == Some(colour) {
            return;
        }
        self.filled = Some(colour);
        let name = self.alphas.entry(colour.a).or_insert_with(|| format!("A{}", colour.a));
        out.set_parameters(Name(name.as_bytes()));
        out.set_fill_rgb(unit(colour.r), unit(colour.g), unit(colour.b));
    }

    /// Sets the colour of lines; the caller restores the state.
    fn stroke(&mut self, out: &mut Content, colour: Colour) {
        let name = self.alphas.entry(colour.a).or_insert_with(|| format!("A{}", colour.a));
        out.set_parameters(Name(name.as_bytes()));
        out.set_stroke_rgb(unit(colour.r), unit(colour.g), unit(colour.b));
    }

    /// The glyph numbers of a text in the embedded subset, two bytes each.
    fn codes(&mut self, text: &str) -> Vec<u8> {
        let mut codes = Vec::new();
        for letter in text.chars() {
            let glyph = self.font.glyph(letter);
            let code = self.glyphs.remap(glyph.0);
            let width = self.font.advance(glyph) * 1000.0 / self.font.em();
            self.letters.entry(code).or_insert((letter, width as f32));
            codes.extend(code.to_be_bytes());
        }
        codes
    }

    fn write(&self, content: &[u8]) -> Vec<u8> {
        let [catalog, pages, page, info, stream] = [1, 2, 3, 4, 5].map(Ref::new);
        let [font, cid, descriptor, program, unicode] = [6, 7, 8, 9, 10].map(Ref::new);
        let first_image = 11;
        let first_alpha = first_image + self.images.len() as i32;
        let mut pdf = Pdf::new();
        pdf.catalog(catalog).pages(pages);
        pdf.pages(pages).kids([page]).count(1);
        pdf.document_info(info).title(TextStr(&self.scene.title)).creator(TextStr("wastenot"));
        let mut sheet = pdf.page(page);
        sheet.parent(pages).contents(stream);
        let (width, height) = (self.scene.width as f32, self.scene.height as f32);
        sheet.media_box(Rect::new(0.0, 0.0, width, height));
        let mut resources = sheet.resources();
        resources.fonts().pair(FONT, font);
        let mut objects = resources.x_objects();
        for index in 0..self.images.len() {
            let name = format!("I{index}");
            objects.pair(Name(name.as_bytes()), Ref::new(first_image + index as i32));
        }
        objects.finish();
        let mut states = resources.ext_g_states();
        for (index, name) in self.alphas.values().enumerate() {
            states.pair(Name(name.as_bytes()), Ref::new(first_alpha + index as i32));
        }
        states.finish();
        resources.finish();
        sheet.finish();
        pdf.stream(stream, &deflate(content)).filter(Filter::FlateDecode);
        for (index, item) in self.images.iter().enumerate() {
            image(&mut pdf, Ref::new(first_image + index as i32), item);
        }
        for (index, &alpha) in self.alphas.keys().enumerate() {
            let id = Ref::new(first_alpha + index as i32);
            pdf.ext_graphics(id).non_stroking_alpha(unit(alpha)).stroking_alpha(unit(alpha));
        }
        self.write_font(&mut pdf, [font, cid, descriptor, program, unicode]);
        pdf.finish()
    }

    fn write_font(&self, pdf: &mut Pdf, ids: [Ref; 5]) {
        let [font, cid, descriptor, program, unicode] = ids;
        let mut outer = pdf.type0_font(font);
        outer.base_font(FONT_NAME).encoding_predefined(Name(b"Identity-H"));
        outer.descendant_font(cid).to_unicode(unicode);
        outer.finish();
        let mut inner = pdf.cid_font(cid);
        inner.subtype(CidFontType::Type2).base_font(FONT_NAME).system_info(SYSTEM);
        inner.font_descriptor(descriptor).cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = inner.widths();
        for (&code, &(_, width)) in &self.letters {
            widths.consecutive(code, [width]);
        }
        widths.finish();
        inner.finish();
        let face = &self.font.face;
        let scale = 1000.0 / self.font.em() as f32;
        let bounds = face.global_bounding_box();
        let [x0, y0, x1, y1] =
            [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(|v| f32::from(v) * scale);
        pdf.font_descriptor(descriptor)
            .name(FONT_NAME)
            .flags(FontFlags::SYMBOLIC)
            .bbox(Rect::new(x0, y0, x1, y1))
            .italic_angle(0.0)
            .ascent(f32::from(face.ascender()) * scale)
            .descent(f32::from(face.descender()) * scale)
            .cap_height(f32::from(face.capital_height().unwrap_or(1462)) * scale)
            .stem_v(80.0)
            .font_file2(program);
        let subset = subsetter::subset(DATA, 0, &self.glyphs);
        let subset = subset.expect("the glyphs come from this font");
        let mut stream = deflate(&subset);
        pdf.stream(program, &stream)
            .filter(Filter::FlateDecode)
            .pair(Name(b"Length1"), subset.len() as i32);
        let mut map = UnicodeCmap::new(Name(b"Custom"), SYSTEM);
        self.letters.iter().for_each(|(&code, &(letter, _))| map.pair(code, letter));
        stream = deflate(&map.finish());
        pdf.cmap(unicode, &stream).filter(Filter::FlateDecode);
    }
}

fn image(pdf: &mut Pdf, id: Ref, item: &Item) {
    let Item::Stack { rows, pixels, palette, .. } = item else { return };
    let data = deflate(pixels);
    let mut image = pdf.image_xobject(id, &data);
    image.filter(Filter::FlateDecode);
    image.width((pixels.len() / rows) as i32).height(*rows as i32).bits_per_component(8);
    let lookup: Vec<u8> =
        palette.iter().flat_map(|colour| [colour.r, colour.g, colour.b]).collect();
    image.color_space().indexed(Name(b"DeviceRGB"), palette.len() as i32 - 1, &lookup);
    image.interpolate(false);
}

fn deflate(data: &[u8]) -> Vec<u8> {
    let mut packer = Compressor::new(CompressionLvl::new(6).expect("6 is a level"));
    let mut packed = vec![0; packer.zlib_compress_bound(data.len())];
    let length = packer.zlib_compress(data, &mut packed).expect("the bound is enough");
    packed.truncate(length);
    packed
}

fn rect(out: &mut Content, x: f64, y: f64, width: f64, height: f64) {
    out.rect(round(x) as f32, round(y) as f32, round(width) as f32, round(height) as f32);
}

fn path(out: &mut Content, points: &[(f64, f64)]) {
    for (index, &(x, y)) in points.iter().enumerate() {
        let (x, y) = (round(x) as f32, round(y) as f32);
        if index == 0 {
            out.move_to(x, y)
        } else {
            out.line_to(x, y)
        };
    }
}

/// A byte as a share of one, to the three decimals that matter.
fn unit(byte: u8) -> f32 {
    (f32::from(byte) / 255.0 * 1000.0).round() / 1000.0
}
