//! Shows diagnostics with rustc's own renderer, within its limits. A line may be a megabyte long;
//! of such a line, only the part around the error is shown.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use wastenot_model::is_printable;

use crate::Diagnostic;
use crate::syntax::Span;

/// Lines longer than this are cut.
const LINE_BYTES: usize = 400;
/// How much of a cut line is shown before and after the start of an error.
const BEFORE: usize = 60;
const AFTER: usize = 120;

/// Renders diagnostics for the text of a file. Without colour the result is plain text; lines fit
/// into this many columns.
pub fn render(
    diagnostics: &[Diagnostic],
    name: &str,
    text: &str,
    colour: bool,
    width: usize,
) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(width.max(40));
    let mut shown = String::new();
    for diagnostic in diagnostics {
        shown += &renderer.render(&[group(diagnostic, name, text)]);
        shown += "\n\n";
    }
    shown
}

/// The line and column of a position, both counted from 1, the column in characters.
pub fn line_and_column(text: &str, at: u32) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at as usize)];
    let line = before.matches('\n').count();
    let begins = before.rfind('\n').map_or(0, |end| end + 1);
    (line + 1, before[begins..].chars().count() + 1)
}

fn group<'a>(diagnostic: &'a Diagnostic, name: &'a str, text: &str) -> Group<'a> {
    let title = Level::ERROR.primary_title(&diagnostic.message).id(diagnostic.code);
    let mut group = if diagnostic.label.is_empty() {
        title.element(Origin::path(name))
    } else {
        let excerpt = Excerpt::of(diagnostic, text);
        let (line, column) = line_and_column(text, diagnostic.span.start);
        let origin = Origin::path(name).line(line).char_column(column);
        let is_cut = excerpt.is_cut;
        let snippet = snippet(diagnostic, excerpt);
        match is_cut {
            // The renderer would count columns from the cut.
            true => title.element(origin).element(snippet),
            false => title.element(snippet.path(name)),
        }
    };
    if !diagnostic.help.is_empty() {
        group = group.element(Level::HELP.message(&diagnostic.help));
    }
    group
}

fn snippet<'a>(
    diagnostic: &'a Diagnostic,
    excerpt: Excerpt,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let mut annotations =
        vec![AnnotationKind::Primary.span(excerpt.place(diagnostic.span)).label(&diagnostic.label)];
    for (span, label) in &diagnostic.others {
        annotations.push(AnnotationKind::Context.span(excerpt.place(*span)).label(label));
    }
    Snippet::source(excerpt.text).line_start(excerpt.first_line).annotations(annotations)
}

/// The lines of a text that belong to an error, with long ones cut.
struct Excerpt {
    text: String,
    /// The number of the first line.
    first_line: usize,
    pieces: Vec<Piece>,
    /// Whether a part of a line is missing.
    is_cut: bool,
}

/// A part of a line: bytes `from..to` of the text, which begin at `at` in the excerpt.
struct Piece {
    from: usize,
    to: usize,
    at: usize,
}

impl Excerpt {
    /// The lines from the first to the last position of an error.
    fn of(diagnostic: &Diagnostic, text: &str) -> Excerpt {
        let others = diagnostic.others.iter().map(|(span, _)| span);
        let spans: Vec<&Span> = std::iter::once(&diagnostic.span).chain(others).collect();
        let starts = spans.iter().map(|span| span.start as usize);
        let first = text.floor_char_boundary(starts.clone().min().unwrap_or(0));
        let last = spans.iter().map(|span| span.end as usize).max().unwrap_or(0);
        let last = text.floor_char_boundary(last);
        let begin = text[..first].rfind('\n').map_or(0, |end| end + 1);
        let end = text[last..].find('\n').map_or(text.len(), |end| last + end);
        let first_line = text[..begin].matches('\n').count() + 1;
        let (shown, pieces, is_cut) = (String::new(), Vec::new(), false);
        let mut excerpt = Excerpt { text: shown, first_line, pieces, is_cut };
        let mut at = begin;
        for line in text[begin..end.max(begin)].split('\n') {
            let inside = |place: &usize| (at..=at + line.len()).contains(place);
            excerpt.push(text, at, at + line.len(), starts.clone().find(inside));
            at += line.len() + 1;
        }
        excerpt
    }

    /// Adds a line, in which `place` must stay visible.
    fn push(&mut self, text: &str, from: usize, to: usize, place: Option<usize>) {
        if !self.pieces.is_empty() {
            self.text.push('\n');
        }
        if to - from <= LINE_BYTES {
            return self.push_piece(text, from, to);
        }
        self.is_cut = true;
        // If no error begins in the line, its beginning is shown.
        let place = place.unwrap_or(from);
        let cut = text.floor_char_boundary(place.saturating_sub(BEFORE)).max(from);
        let end = text.floor_char_boundary(place + AFTER).min(to);
        if cut > from {
            self.text.push_str("...");
        }
        self.push_piece(text, cut, end);
        if end < to {
            self.text.push_str("...");
        }
    }

    fn push_piece(&mut self, text: &str, from: usize, to: usize) {
        self.pieces.push(Piece { from, to, at: self.text.len() });
        for letter in text[from..to].chars() {
            // The renderer handles ASCII control characters. Other control characters are replaced
            // by as many bytes, so that positions stay valid.
            match letter.len_utf8() {
                1 => self.text.push(letter),
                _ if is_printable(letter) => self.text.push(letter),
                3 => self.text.push('\u{fffd}'),
                bytes => self.text.push_str(&"?".repeat(bytes)),
            }
        }
    }

    /// The position of a span in the excerpt; what was cut maps to the cut.
    fn place(&self, span: Span) -> std::ops::Range<usize> {
        let place = |at: u32| {
            let at = at as usize;
            let next = self.pieces.partition_point(|piece| piece.from <= at);
            let piece = &self.pieces[next.saturating_sub(1)];
            piece.at + at.clamp(piece.from, piece.to) - piece.from
        };
        let (start, end) = (place(span.start), place(span.end));
        start..end.max(start)
    }
}
