//! From text to syntax tree and back: lexer, parser, formatter, and the grammar.

pub mod ast;
mod format;
pub mod grammar;
mod lexer;
mod number;
mod parser;
mod sample;
mod text;
pub mod vocabulary;
pub mod words;

pub use format::format;
pub use parser::{FAULTS, parse};
pub use sample::sample;
pub use text::{BYTES, text};

/// A part of a text: bytes from `start` up to `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

impl Span {
    /// From the start of this span to the end of another.
    pub fn to(self, end: Span) -> Span {
        Span { start: self.start, end: end.end }
    }
}
