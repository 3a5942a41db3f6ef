//! The one format of a text: four blanks a level, and one item, statement, variable or clause a
//! line. Comments stay where they are; so do blank lines (one in a row) and line breaks inside a
//! piece. A block of one statement that was written on one line stays there if it fits. `;` and `,`
//! between pieces are removed, since line ends separate pieces. The meaning of the text never
//! changes.

mod blocks;
mod lines;

use std::collections::BTreeSet;

use super::Span;
use super::lexer::{Kind, Token};
use super::parser::{self, Layout};
use crate::Diagnostic;
use blocks::Blocks;
use lines::Lines;

/// Joining lines never makes a line longer than this.
const WIDTH: usize = 100;

/// The formatted text; or the errors of a text that cannot be parsed.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = parser::read(text);
    if !parsed.faults.is_empty() {
        return Err(parsed.faults);
    }
    let source = Source { text, tokens: &parsed.tokens, layout: &parsed.layout };
    let blocks = Blocks::of(&source, &parsed.comments);
    let begins = parsed.layout.begins.iter().copied().collect();
    let lines = Lines::default();
    let mut writer = Writer { source, blocks, begins, lines, comments: &parsed.comments, end: 0 };
    for token in 0..parsed.tokens.len() {
        writer.comments_before(token);
        writer.token(token);
    }
    Ok(writer.lines.finish())
}

/// A parsed text.
#[derive(Clone, Copy)]
struct Source<'a> {
    text: &'a str,
    tokens: &'a [Token],
    layout: &'a Layout,
}

impl<'a> Source<'a> {
    fn says(&self, token: usize) -> &'a str {
        self.slice(self.tokens[token].span)
    }

    fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Whether a token only separates pieces, and so is not written.
    fn parts(&self, token: usize) -> bool {
        self.layout.separators.binary_search(&token).is_ok()
    }

    /// Whether a line break before this token, inside of a piece, is kept.
    fn breaks(&self, token: usize) -> bool {
        let joins = match self.says(token) {
            "{" | "}" | ")" | "]" | "," | ":" | "." => true,
            "else" => self.says(token - 1) == "}",
            _ => self.parts(token),
        };
        self.tokens[token].first && !joins
    }

    /// Whether a blank stands between these two tokens in a line.
    fn blank_between(&self, before: usize, token: usize) -> bool {
        let tight = |token: usize| self.layout.tight.binary_search(&token).is_ok();
        if tight(before) || tight(token) || matches!(self.says(before), "(" | "[" | ".") {
            return false;
        }
        match self.says(token) {
            ")" | "]" | "," | "." => false,
            ":" => self.layout.wide.binary_search(&token).is_ok(),
            "(" => self.layout.groups.binary_search(&token).is_ok(),
            _ => true,
        }
    }
}

/// Writes tokens and comments into lines.
struct Writer<'a> {
    source: Source<'a>,
    blocks: Blocks,
    begins: BTreeSet<usize>,
    lines: Lines,
    /// The comments that are not yet written.
    comments: &'a [Span],
    /// The end of the last written token or comment.
    end: u32,
}

impl Writer<'_> {
    /// Writes the comments that stand before a token.
    fn comments_before(&mut self, token: usize) {
        let start = self.source.tokens[token].span.start;
        while let Some((comment, rest)) = self.comments.split_first()
            && comment.start < start
        {
            let text = self.source.slice(*comment);
            match self.line_ends(comment.start) {
                // The token between two comments of one line may have been removed.
                0 if self.end > 0 && !self.lines.is_ended() => self.lines.comment(text),
                ends => {
                    let inside = self.is_inside(token);
                    self.lines.begin(inside, ends > 1 && !inside);
                    self.lines.comment(text);
                }
            }
            self.end = comment.end;
            self.comments = rest;
        }
    }

    /// Whether a token continues a piece.
    fn is_inside(&self, token: usize) -> bool {
        let closes = self.source.says(token) == "}";
        !closes && !self.begins.contains(&token) && self.source.tokens[token].kind != Kind::End
    }

    fn token(&mut self, token: usize) {
        let source = self.source;
        let span = source.tokens[token].span;
        if source.tokens[token].kind == Kind::End {
            return;
        }
        if source.parts(token) {
            self.end = span.end;
            return;
        }
        let blank = self.line_ends(span.start) > 1;
        if self.blocks.closes(token) {
            self.lines.dedent();
            self.lines.begin(false, false);
        } else if self.begins.contains(&token) && !self.blocks.is_inline(token) {
            self.lines.begin(false, blank);
        } else if token > 0 && (source.breaks(token) || self.lines.is_ended()) {
            let other_branch = source.says(token) == "else" && source.says(token - 1) == "}";
            self.lines.begin(!other_branch, false);
        } else if token > 0 && source.blank_between(self.before(token), token) {
            self.lines.push(" ");
        }
        self.lines.push(source.says(token));
        if self.blocks.opens(token) {
            self.lines.indent();
        }
        self.end = span.end;
    }

    /// The token written before this one.
    fn before(&self, token: usize) -> usize {
        (0..token).rev().find(|before| !self.source.parts(*before)).unwrap_or(0)
    }

    /// How many line ends are between the last written token and this position.
    fn line_ends(&self, start: u32) -> usize {
        self.source.slice(Span { start: self.end, end: start }).matches('\n').count()
    }
}
