//! The font of every picture: Noto Sans (SIL Open Font License 1.1), with its metrics and outlines.

use ttf_parser::{Face, GlyphId};

/// The file, of which a PDF embeds only the glyphs that it uses.
pub(crate) const DATA: &[u8] = notosans::REGULAR_TTF;

/// The font, parsed.
pub(crate) struct Font {
    /// Its tables.
    pub(crate) face: Face<'static>,
}

impl Font {
    pub(crate) fn new() -> Font {
        Font { face: Face::parse(DATA, 0).expect("the font in the binary is whole") }
    }
    /// The glyph of a character; a question mark for one that the font lacks.
    pub(crate) fn glyph(&self, c: char) -> GlyphId {
        let glyph = self.face.glyph_index(c).or_else(|| self.face.glyph_index('?'));
        glyph.unwrap_or(GlyphId(0))
    }
    /// How far a glyph moves the pen, in units of the font.
    pub(crate) fn advance(&self, glyph: GlyphId) -> f64 {
        f64::from(self.face.glyph_hor_advance(glyph).unwrap_or(0))
    }
    /// Units of the font in one em.
    pub(crate) fn em(&self) -> f64 {
        f64::from(self.face.units_per_em())
    }
    /// The glyphs of a text, each with where it begins, in units of the font.
    pub(crate) fn letters(&self, text: &str) -> impl Iterator<Item = (f64, GlyphId)> {
        text.chars().scan(0.0, |pen, letter| {
            let (x, glyph) = (*pen, self.glyph(letter));
            *pen += self.advance(glyph);
            Some((x, glyph))
        })
    }
    /// The width of a text at a size.
    pub(crate) fn width(&self, text: &str, size: f64) -> f64 {
        let units: f64 = text.chars().map(|c| self.advance(self.glyph(c))).sum();
        units * size / self.em()
    }
    /// Where a text begins.
    pub(crate) fn start(&self, x: f64, size: f64, anchor: crate::Anchor, text: &str) -> f64 {
        match anchor {
            crate::Anchor::Start => x,
            crate::Anchor::Middle => x - self.width(text, size) / 2.0,
            crate::Anchor::End => x - self.width(text, size),
        }
    }
}
