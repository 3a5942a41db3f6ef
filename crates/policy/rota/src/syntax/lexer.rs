//! From text to tokens. Blanks, line ends and comments are not tokens: each token records whether
//! it begins a line, and comments are kept separately for the formatter.

use super::ast::Unit;
use super::number::{self, Digits, is_of_name};
use super::text::MARK;
use super::{FAULTS, Span};
use crate::Diagnostic;

/// A token of the grammar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token {
    /// Its kind.
    pub(crate) kind: Kind,
    /// Its position.
    pub(crate) span: Span,
    /// Whether it is the first of its line.
    pub(crate) first: bool,
}

/// The kinds of tokens. The spelling of names and symbols is in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Letters, digits and `_`.
    Name,
    /// Digits, and a unit.
    Number(u64, Option<Unit>),
    /// A text between quotes.
    Quoted,
    /// One of [`SYMBOLS`].
    Symbol,
    /// The end of the text.
    End,
}

/// The tokens and comments of a text.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    /// The tokens; the last one is [`Kind::End`].
    pub(crate) tokens: Vec<Token>,
    /// The comments, from `//` to before the end of the line.
    pub(crate) comments: Vec<Span>,
    /// Characters and numbers that no token allows, up to the number of errors that are reported.
    pub(crate) faults: Vec<Diagnostic>,
}

/// The symbols; a longer one comes before any prefix of it.
const SYMBOLS: [&str; 22] = [
    ":=", "+=", "<=", ">=", "!=", "{", "}", "(", ")", "[", "]", ",", ";", ":", ".", "=", "<", ">",
    "+", "-", "*", "/",
];

/// Symbols and words of other languages, and what Rota has instead.
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
    let at = if text.starts_with(MARK) { MARK.len_utf8() } else { 0 };
    let (first, closes, found) = (true, true, Tokens::default());
    let mut lexer = Lexer { text, at, first, closes, found };
    while lexer.at < text.len() {
        lexer.next();
    }
    let end = Span { start: text.len() as u32, end: text.len() as u32 };
    lexer.found.tokens.push(Token { kind: Kind::End, span: end, first: true });
    lexer.found
}

/// The position of the lexer. Each token consumes what it looked at, so every part of a text is
/// read once, for any input.
struct Lexer<'a> {
    text: &'a str,
    at: usize,
    first: bool,
    /// Whether a `*/` may still follow.
    closes: bool,
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

    /// A name, or letters that names cannot have.
    fn word(&mut self) {
        let rest = &self.text[self.at..];
        let length = length(rest, |letter| is_of_name(letter) || letter.is_alphabetic());
        if let Some(strange) = rest[..length].chars().find(|letter| !is_of_name(*letter)) {
            let message = format!("a name cannot contain `{strange}`");
            let help = "use a to z, A to Z, digits and `_`".to_string();
            self.fault("R002", length, message, help);
        }
        self.token(Kind::Name, length);
    }

    fn span(&self, length: usize) -> Span {
        Span { start: self.at as u32, end: (self.at + length) as u32 }
    }

    fn fault(&mut self, code: &'static str, length: usize, message: String, help: String) {
        self.tell(Diagnostic::new(code, self.span(length), message, "here", help));
    }

    fn tell(&mut self, fault: Diagnostic) {
        if self.found.faults.len() < FAULTS {
            self.found.faults.push(fault);
        }
    }

    fn comment(&mut self) {
        let rest = &self.text[self.at..];
        let length = rest.find('\n').unwrap_or(rest.len());
        let length = rest[..length].trim_end().len();
        let span = self.span(length);
        self.found.comments.push(span);
        self.at += length;
    }

    /// A comment in the syntax of other languages: the line (or the part up to `*/`) is skipped.
    fn foreign_comment(&mut self, begin: &str) {
        let message = format!("comments do not begin with `{begin}`");
        let help = "write `//`, which begins a comment up to the end of the line".into();
        self.fault("R006", begin.len(), message, help);
        let rest = &self.text[self.at..];
        let end = if begin == "/*" && self.closes { rest.find("*/") } else { None };
        self.closes &= begin != "/*" || end.is_some();
        let line = || rest.find('\n').unwrap_or(rest.len());
        self.at += end.map_or_else(line, |end| end + 2);
    }

    fn number(&mut self) {
        let rest = &self.text[self.at..];
        let Digits { length, value } = number::read(rest);
        match value {
            Ok((value, unit)) => self.token(Kind::Number(value, unit), length),
            Err(fault) => {
                let span = self.span(length);
                self.tell(Diagnostic::new(
                    fault.code,
                    span,
                    fault.message,
                    fault.label,
                    fault.help,
                ));
                // Continues as if this were a number: the rest may be correct.
                self.token(Kind::Number(0, fault.unit), length);
            }
        }
    }

    fn quoted(&mut self) {
        let rest = &self.text[self.at..];
        let end = rest[1..].find(['"', '\n']).map_or(rest.len(), |end| end + 1);
        match rest[end..].starts_with('"') {
            true => self.token(Kind::Quoted, end + 1),
            false => {
                let line = rest[..end].trim_end().len();
                let help = "add `\"` on the same line".to_string();
                self.fault("R005", line, "the closing quote is missing".into(), help);
                self.token(Kind::Quoted, line);
            }
        }
    }

    fn symbol(&mut self) {
        let rest = &self.text[self.at..];
        let foreign = FOREIGN.iter().find(|(written, _)| rest.starts_with(written));
        if let Some((written, right)) = foreign.filter(|_| !rest.starts_with("!=")) {
            let help = format!("write `{right}`");
            self.fault("R003", written.len(), format!("Rota has no symbol `{written}`"), help);
            // If it stands for one symbol or word, that one is used, so that no second error
            // follows.
            return self.token(Kind::Symbol, written.len());
        }
        match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            Some(symbol) => self.token(Kind::Symbol, symbol.len()),
            None => self.stranger(),
        }
    }

    /// A character that begins no token, together with the similar ones that follow.
    fn stranger(&mut self) {
        let rest = &self.text[self.at..];
        let unseen = rest.chars().next().filter(|letter| is_unseen(*letter));
        let (length, word, help) = match unseen {
            Some(letter) => {
                let help = if letter.is_whitespace() { "write a space" } else { "remove it" };
                (letter.len_utf8(), format!("U+{:04X}", letter as u32), help)
            }
            None => {
                let length = length(rest, is_strange);
                let word: String = rest[..length].chars().take(20).collect();
                (length, format!("`{word}`"), "remove it")
            }
        };
        self.fault("R002", length, format!("{word} is not allowed here"), help.to_string());
        self.at += length;
    }
}

/// The length in bytes of the prefix of such characters; at least the first.
fn length(text: &str, such: fn(char) -> bool) -> usize {
    let rest = text.char_indices().skip(1).find(|(_, letter)| !such(*letter));
    rest.map_or(text.len(), |(at, _)| at)
}

/// Whether no token can begin with this character.
fn is_strange(letter: char) -> bool {
    !(letter.is_alphanumeric() || letter.is_ascii_punctuation() || is_unseen(letter))
}

/// Whether the character is invisible: blanks, and the Unicode marks that only control layout.
fn is_unseen(letter: char) -> bool {
    let sets = matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | MARK);
    let sets = sets || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}');
    sets || matches!(letter, '\u{2060}'..='\u{206f}') || letter.is_whitespace()
}
