//! Which blocks stay on the line of their head, and which get lines of their own.

use std::collections::BTreeSet;

use super::{Source, WIDTH};
use crate::syntax::Span;

/// The blocks with lines of their own, by the index of their `{`, and where pieces begin.
pub(super) struct Blocks {
    open: BTreeSet<usize>,
    close: BTreeSet<usize>,
    /// The first tokens of pieces that stay inside a line.
    inline: BTreeSet<usize>,
}

impl Blocks {
    pub(super) fn of(source: &Source<'_>, comments: &[Span]) -> Blocks {
        let mut blocks: Vec<Block> = source.layout.blocks.iter().map(Block::from).collect();
        blocks.sort_by_key(|block| block.open);
        let (open, close, inline) = Default::default();
        let found = Blocks { open, close, inline };
        let mut search = Search { source, comments, blocks: &blocks, found };
        search.pieces(0, source.tokens.len() - 1, 0);
        search.found
    }

    /// Whether the lines of a block begin after this token.
    pub(super) fn opens(&self, token: usize) -> bool {
        self.open.contains(&token)
    }

    /// Whether the lines of a block end before this token.
    pub(super) fn closes(&self, token: usize) -> bool {
        self.close.contains(&token)
    }

    /// Whether the piece that begins here continues a line.
    pub(super) fn is_inline(&self, token: usize) -> bool {
        self.inline.contains(&token)
    }
}

/// `{`, `}`, and how many pieces are between them.
struct Block {
    open: usize,
    close: usize,
    count: usize,
}

impl From<&(usize, usize, usize)> for Block {
    fn from((open, close, count): &(usize, usize, usize)) -> Block {
        Block { open: *open, close: *close, count: *count }
    }
}

struct Search<'a> {
    source: &'a Source<'a>,
    comments: &'a [Span],
    blocks: &'a [Block],
    found: Blocks,
}

impl<'a> Search<'a> {
    /// Handles the pieces between two tokens.
    fn pieces(&mut self, from: usize, to: usize, depth: usize) {
        let mut begin = from;
        while begin < to {
            let end = self.end(begin, to);
            let one_line = depth > 0 && self.is_one_line(begin, end);
            match one_line && 4 * depth + self.width(begin, end) <= WIDTH {
                true => self.keep(begin, end),
                false => self.blocks_of(begin, end, depth, one_line),
            }
            begin = end;
        }
    }

    /// Gives the blocks of a piece lines of their own, except blocks that were written on one line.
    /// If all were on one line and the line is too long, all get lines of their own.
    fn blocks_of(&mut self, begin: usize, end: usize, depth: usize, one_line: bool) {
        let (mut line, mut next) = (begin, begin);
        for block in self.within(begin, end) {
            let nested = block.open < next;
            if nested || block.count == 0 && !self.has_comment(block.open, block.close) {
                continue;
            }
            next = block.close;
            // ` else {` may follow.
            let width = 4 * depth + self.width(line, block.close + 1) + 7;
            let kept = depth > 0 && !one_line && self.is_one_line(block.open, block.close + 1);
            if kept && width <= WIDTH {
                self.keep(block.open, block.close);
            } else {
                self.found.open.insert(block.open);
                self.found.close.insert(block.close);
                self.pieces(block.open + 1, block.close, depth + 1);
                line = block.close;
            }
        }
    }

    /// Keeps pieces that begin after a token on its line.
    fn keep(&mut self, begin: usize, end: usize) {
        let begins = &self.source.layout.begins;
        let first = begins.partition_point(|piece| *piece <= begin);
        let inside = begins[first..].iter().take_while(|piece| **piece < end);
        self.found.inline.extend(inside);
    }

    /// The token after the piece that begins here.
    fn end(&self, begin: usize, to: usize) -> usize {
        let mut at = begin + 1;
        while at < to {
            let block = self.within(at, at + 1).first();
            match block {
                Some(block) => at = block.close + 1,
                None if self.source.layout.begins.binary_search(&at).is_ok() => return at,
                None => at += 1,
            }
        }
        to
    }

    /// The blocks whose `{` is among these tokens.
    fn within(&self, from: usize, to: usize) -> &'a [Block] {
        let first = self.blocks.partition_point(|block| block.open < from);
        let last = self.blocks.partition_point(|block| block.open < to);
        &self.blocks[first..last]
    }

    /// Whether these tokens were written on one line, with blocks of one piece each.
    fn is_one_line(&self, begin: usize, end: usize) -> bool {
        let source = self.source;
        let last = (begin..end).rev().find(|token| !source.parts(*token)).unwrap_or(begin);
        self.within(begin, end).iter().all(|block| block.count <= 1 && !self.spans_lines(block))
            && !(begin + 1..end).any(|token| source.breaks(token))
            && !self.has_comment(begin, last)
    }

    /// Whether a written token begins a line inside a block that is not empty.
    fn spans_lines(&self, block: &Block) -> bool {
        let mut inside = block.open + 1..=block.close;
        block.count > 0 && inside.any(|token| self.source.tokens[token].first)
    }

    fn has_comment(&self, from: usize, to: usize) -> bool {
        let (from, to) = (self.source.tokens[from].span, self.source.tokens[to].span);
        let first = self.comments.partition_point(|comment| comment.start < from.start);
        self.comments.get(first).is_some_and(|comment| comment.start < to.start)
    }

    /// How wide these tokens are on one line.
    fn width(&self, begin: usize, end: usize) -> usize {
        let mut written = (begin..end).filter(|token| !self.source.parts(*token));
        let Some(mut before) = written.next() else { return 0 };
        let mut width = self.source.says(before).chars().count();
        for token in written {
            width += usize::from(self.source.blank_between(before, token));
            width += self.source.says(token).chars().count();
            before = token;
        }
        width
    }
}
