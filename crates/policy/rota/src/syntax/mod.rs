//! From text to syntax tree and back: lexer, parser, formatter, and the grammar.

pub mod ast;
mod format;
mod lexer;
mod number;
mod parser;
mod text;
pub mod vocabulary;
pub mod words;

pub use crate::diagnostic::{FAULTS, Span};
pub use format::format;
pub use parser::parse;
pub use text::{BYTES, text};
