//! From text to tokens. Blanks, line ends and comments are no tokens: a token knows whether it
//! begins a line, and comments are kept apart for the formatter.

use super::Span;
use super::ast::Unit;
use super::number::{self, Digits};
use crate::Diagnostic;

/// A piece of text that the grammar speaks of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: Kind,
    /// Where it stands.
    pub(crate) span: Span,
    /// Whether it is the first of its line.
    pub(crate) first: bool,
}

/// The kinds of tokens. What names and symbols say is in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Letters, digits and `_`.
    Name,
    /// Digits, and a unit.
    Number(u64, Option<Unit>),
    /// Between quotes.
    Quoted,
    /// One of [`SYMBOLS`].
    Symbol,
    /// After the last.
    End,
}

/// What a text is made of.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    /// The last is [`Kind::End`].
    pub(crate) tokens: Vec<Token>,
    /// From `//` to before the end of its line.
    pub(crate) comments: Vec<Span>,
    /// Characters that mean nothing, numbers without sense.
    pub(crate) faults: Vec<Diagnostic>,
}

/// Everything that is neither letter nor digit, the longer before what it begins with.
const SYMBOLS: [&str; 22] = [
    ":=", "+=", "<=", ">=", "!=", "{", "}", "(", ")", "[", "]", ",", ";", ":", ".", "=", "<", ">",
    "+", "-", "*", "/",
];

/// What other languages write, and what is written here.
const FOREIGN: [(&str, &str); 13] = [
    ("==", "="),
    ("&&", "and"),
    ("||", "or"),
    ("<>", "!="),
    ("-=", "x := x - ..."),
    ("*=", "x := x * ..."),
    ("/=", "x := x / ..."),
    ("->", "{ ... }"),
    ("≤", "<="),
    ("≥", ">="),
    ("≠", "!="),
    ("!", "not"),
    ("&", "and"),
];

/// Cuts a text into tokens.
pub(crate) fn tokens(text: &str) -> Tokens {
    let mut lexer = Lexer { text, at: 0, first: true, found: Tokens::default() };
    while lexer.at < text.len() {
        lexer.next();
    }
    let end = Span { start: text.len() as u32, end: text.len() as u32 };
    lexer.found.tokens.push(Token { kind: Kind::End, span: end, first: true });
    lexer.found
}

/// Where the cutting has come to.
struct Lexer<'a> {
    text: &'a str,
    at: usize,
    first: bool,
    found: Tokens,
}

impl Lexer<'_> {
    /// One token, comment, blank or fault.
    fn next(&mut self) {
        let rest = &self.text[self.at..];
        let Some(letter) = rest.chars().next() else { return };
        match letter {
            '\n' => {
                self.first = true;
                self.at += 1;
            }
            ' ' | '\t' | '\r' => self.at += 1,
            '_' => self.word(),
            letter if letter.is_alphabetic() => self.word(),
            '0'..='9' => self.number(),
            '"' => self.quoted(),
            '/' if rest.starts_with("//") => self.comment(),
            '#' => self.foreign_comment("#"),
            '/' if rest.starts_with("/*") => self.foreign_comment("/*"),
            _ => self.symbol(),
        }
    }

    fn token(&mut self, kind: Kind, length: usize) {
        let span = self.span(length);
        self.found.tokens.push(Token { kind, span, first: self.first });
        self.first = false;
        self.at += length;
    }

    /// A name; its letters may be none that names have.
    fn word(&mut self) {
        let rest = &self.text[self.at..];
        let length = length(rest, |letter| is_of_name(letter) || letter.is_alphabetic());
        if let Some(strange) = rest[..length].chars().find(|letter| !is_of_name(*letter)) {
            let message = format!("names have no `{strange}`");
            let help = "write names with a to z, A to Z, digits and `_`".to_string();
            self.fault("R002", length, message, help);
        }
        self.token(Kind::Name, length);
    }

    fn span(&self, length: usize) -> Span {
        Span { start: self.at as u32, end: (self.at + length) as u32 }
    }

    fn fault(&mut self, code: &'static str, length: usize, message: String, help: String) {
        let span = self.span(length);
        self.found.faults.push(Diagnostic::new(code, span, message, "here", help));
    }

    fn comment(&mut self) {
        let rest = &self.text[self.at..];
        let length = rest.find('\n').unwrap_or(rest.len());
        let length = rest[..length].trim_end().len();
        let span = self.span(length);
        self.found.comments.push(span);
        self.at += length;
    }

    /// A comment as other languages write it: its line (or up to `*/`) is skipped.
    fn foreign_comment(&mut self, begin: &str) {
        let rest = &self.text[self.at..];
        let line = rest.find('\n').unwrap_or(rest.len());
        let message = format!("`{begin}` does not begin a comment");
        self.fault(
            "R006",
            begin.len(),
            message,
            "write `//`: it goes to the end of the line".into(),
        );
        self.at += match begin {
            "/*" => rest.find("*/").map_or(line, |at| at + 2),
            _ => line,
        };
    }

    fn number(&mut self) {
        let rest = &self.text[self.at..];
        let Digits { length, value } = number::read(rest);
        match value {
            Ok((value, unit)) => self.token(Kind::Number(value, unit), length),
            Err(fault) => {
                let span = self.span(length);
                let diagnostic =
                    Diagnostic::new(fault.code, span, fault.message, fault.label, fault.help);
                self.found.faults.push(diagnostic);
                // Goes on as if a number stood there: what follows may be right.
                self.token(Kind::Number(0, fault.unit), length);
            }
        }
    }

    fn quoted(&mut self) {
        let rest = &self.text[self.at..];
        let line = rest.find('\n').unwrap_or(rest.len());
        match rest[1..line].find('"') {
            Some(end) => self.token(Kind::Quoted, end + 2),
            None => {
                let line = rest[..line].trim_end().len();
                let help = "end it with `\"` on the same line".to_string();
                self.fault("R005", line, "a quoted text without end".into(), help);
                self.token(Kind::Quoted, line);
            }
        }
    }

    fn symbol(&mut self) {
        let rest = &self.text[self.at..];
        let foreign = FOREIGN.iter().find(|(written, _)| rest.starts_with(written));
        if let Some((written, right)) = foreign.filter(|_| !rest.starts_with("!=")) {
            let help = format!("write `{right}`");
            self.fault("R003", written.len(), format!("`{written}` means nothing here"), help);
            // Where one symbol or word is meant, it is taken for that: no second fault follows.
            return self.token(Kind::Symbol, written.len());
        }
        match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            Some(symbol) => self.token(Kind::Symbol, symbol.len()),
            None => self.stranger(),
        }
    }

    /// A character that means nothing, with those like it that follow.
    fn stranger(&mut self) {
        let rest = &self.text[self.at..];
        let length = length(rest, is_strange);
        let word: String = rest[..length].chars().take(20).collect();
        let message = format!("`{word}` means nothing here");
        self.fault("R002", length, message, "leave it out".to_string());
        self.at += length;
    }
}

/// How many bytes of the beginning are such characters; at least the first.
fn length(text: &str, such: fn(char) -> bool) -> usize {
    let rest = text.char_indices().skip(1).find(|(_, letter)| !such(*letter));
    rest.map_or(text.len(), |(at, _)| at)
}

/// Whether a name can go on with this.
pub(crate) fn is_of_name(letter: char) -> bool {
    letter == '_' || letter.is_ascii_alphanumeric()
}

/// Whether no token can begin with this.
fn is_strange(letter: char) -> bool {
    !(letter.is_alphanumeric() || letter.is_whitespace() || letter.is_ascii_punctuation())
}
