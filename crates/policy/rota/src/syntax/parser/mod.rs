//! From tokens to the syntax tree: recursive descent, with one function for each rule of the
//! grammar.
//!
//! An error is reported where it occurs; then the parser continues with the next statement, clause,
//! item or policy. So one run finds several errors, and none twice.

mod balance;
mod expr;
mod file;
mod handler;
mod item;

use wastenot_model::{nearest, shortened};

use super::ast::{File, Name};
use super::lexer::{self, Kind, Token};
use super::words;
use super::{FAULTS, Span};
use crate::Diagnostic;

/// How deep blocks and expressions may nest.
const DEPTH: u32 = 64;

/// Parses a text. Without diagnostics the tree is complete; otherwise it holds the parts that
/// parsed.
pub fn parse(text: &str) -> (File, Vec<Diagnostic>) {
    let parsed = read(text);
    (parsed.file, parsed.faults)
}

/// A parsed text.
pub(crate) struct Parsed {
    pub(crate) file: File,
    pub(crate) faults: Vec<Diagnostic>,
    pub(crate) tokens: Vec<Token>,
    pub(crate) comments: Vec<Span>,
    pub(crate) layout: Layout,
}

/// Layout of the tree that the formatter keeps. Positions are indexes of tokens.
#[derive(Default)]
pub(crate) struct Layout {
    /// The first token of each partition, policy, item, variable, statement or clause.
    pub(crate) begins: Vec<usize>,
    /// `{`, its `}`, and how many pieces are between them.
    pub(crate) blocks: Vec<(usize, usize, usize)>,
    /// `;` and `,` between pieces.
    pub(crate) separators: Vec<usize>,
    /// `(` of expressions, not of calls.
    pub(crate) groups: Vec<usize>,
    /// `-` in ranges.
    pub(crate) tight: Vec<usize>,
    /// `:` with a blank before it: in queues, metrics and folds, not in parameters.
    pub(crate) wide: Vec<usize>,
}

/// Parses a text, and keeps what the formatter needs.
pub(crate) fn read(text: &str) -> Parsed {
    if let Err(fault) = super::text::check(text) {
        let (file, faults) = (File::default(), vec![fault]);
        let (tokens, comments, layout) = Default::default();
        return Parsed { file, faults, tokens, comments, layout };
    }
    let lexer::Tokens { tokens, comments, mut faults } = lexer::tokens(text);
    let (layout, found) = (Layout::default(), Vec::new());
    let (at, depth, dispatches, lost) = (0, 0, false, None);
    let mut parser = Parser { text, tokens: &tokens, at, depth, dispatches, lost, found, layout };
    let file = parser.file();
    let Parser { found, layout, .. } = parser;
    // What the lexer refused is reported once, and not again as an error of the grammar.
    let told = |fault: &Diagnostic| faults.iter().any(|known| touch(known.span, fault.span));
    let found: Vec<Diagnostic> = found.into_iter().filter(|fault| !told(fault)).collect();
    faults.extend(found);
    faults.sort_by_key(|fault| fault.span);
    faults.truncate(FAULTS);
    Parsed { file, faults, tokens, comments, layout }
}

/// Whether two spans share a byte or are adjacent.
fn touch(a: Span, b: Span) -> bool {
    a.start <= b.end && b.start <= a.end
}

/// An error was reported; the caller continues elsewhere.
#[derive(Debug)]
struct Told;

type Read<T> = Result<T, Told>;

/// How to parse the pieces between `{` and `}`.
#[derive(Clone, Copy)]
struct Braces {
    /// Symbols that may follow a piece.
    between: &'static [&'static str],
    /// Whether parsing can resume here after a piece that failed.
    resumes: fn(&Parser<'_>) -> bool,
    /// Whether something begins here that cannot be inside: the `}` is missing.
    outer: fn(&Parser<'_>) -> bool,
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    depth: u32,
    /// Whether the current handler is that of `dispatch`.
    dispatches: bool,
    /// The position of a reported `{` without `}`: the blocks around it end there too, without
    /// another error.
    lost: Option<usize>,
    found: Vec<Diagnostic>,
    layout: Layout,
}

/// Reading and consuming tokens.
impl<'a> Parser<'a> {
    fn now(&self) -> Token {
        self.tokens[self.at]
    }

    /// The next token; at the end, the end token.
    fn next(&self) -> Token {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    fn says(&self, token: Token) -> &'a str {
        &self.text[token.span.start as usize..token.span.end as usize]
    }

    /// The text of the current token; empty at the end.
    fn word(&self) -> &'a str {
        self.says(self.now())
    }

    fn is(&self, word: &str) -> bool {
        self.word() == word
    }

    fn next_is(&self, word: &str) -> bool {
        self.says(self.next()) == word
    }

    /// The text of the token this many tokens further on.
    fn word_after(&self, tokens: usize) -> &'a str {
        self.tokens.get(self.at + tokens).map_or("", |token| self.says(*token))
    }

    fn at_end(&self) -> bool {
        self.now().kind == Kind::End
    }

    /// Moves to the next token, but never beyond the end.
    fn step(&mut self) -> Token {
        let token = self.now();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Consumes this word or symbol if it is the current token.
    fn eat(&mut self, word: &str) -> bool {
        let here = self.is(word);
        if here {
            self.step();
        }
        here
    }

    /// Consumes the keyword of an option, such as `slice`. A name that is assigned, or that a field
    /// is read from, is not a keyword: it begins the next statement.
    fn option(&mut self, word: &str) -> bool {
        !self.names_variable() && self.eat(word)
    }

    /// Whether the current name is assigned, or a field is read from it.
    fn names_variable(&self) -> bool {
        [".", ":=", "+=", "-=", "*=", "/="].contains(&self.says(self.next()))
    }

    /// The span from a token to the last consumed token.
    fn since(&self, from: Token) -> Span {
        from.span.to(self.last().span)
    }

    /// The last consumed token.
    fn last(&self) -> Token {
        self.tokens[self.at.saturating_sub(1)]
    }
}

/// Required tokens.
impl Parser<'_> {
    /// This word or symbol.
    fn need(&mut self, word: &str) -> Read<Token> {
        if self.is(word) { Ok(self.step()) } else { self.expected(&format!("`{word}`"), "") }
    }

    /// `:` between a declared name and its type.
    fn colon(&mut self) -> Read<Token> {
        self.layout.wide.push(self.at);
        self.need(":")
    }

    /// A name that the user chooses.
    fn name(&mut self, what: &str) -> Read<Name> {
        let token = self.now();
        if token.kind != Kind::Name {
            return self.expected(what, &format!("write {what}: letters, digits and `_`"));
        }
        let word = self.word();
        if words::is_reserved(word) {
            let message = format!("`{word}` is a reserved word, not a name");
            let help = format!("choose another name, for example `{word}_1`");
            return self.fault("R012", token.span, message, format!("expected {what}"), help);
        }
        Ok(self.take())
    }

    /// One of these words. Another word is reported, and replaced by the one that was probably
    /// meant.
    fn one_of(&mut self, known: &[&'static str], what: &str) -> Read<Name> {
        let word = self.word();
        if known.contains(&word) {
            return Ok(self.take());
        }
        if self.now().kind != Kind::Name || self.now().first {
            return self.expected(what, &format!("write one of {}", known.join(", ")));
        }
        let _: Read<()> = self.unknown(known, what);
        Ok(self.take())
    }

    /// Reports that this name is none of these words.
    fn unknown<T>(&mut self, known: &[&'static str], what: &str) -> Read<T> {
        let (token, word) = (self.now(), self.word());
        if word == "core" && known.contains(&"cpu") {
            let message = "a task runs on a `cpu`, not on a `core`";
            let help = "write `cpu`, or `smt` for the set of SMT siblings";
            return self.fault("R009", token.span, message, "here", help);
        }
        let help = match nearest(word, known.iter().copied()) {
            Some(near) => format!("write `{near}`"),
            None => format!("write one of {}", known.join(", ")),
        };
        let message = format!("unknown word `{}`", shortened(word));
        self.fault("R008", token.span, message, format!("expected {what}"), help)
    }

    /// The name at hand.
    fn take(&mut self) -> Name {
        let token = self.step();
        Name { text: self.says(token).to_string(), span: token.span }
    }

    /// One element, and more after commas.
    fn list<T>(&mut self, one: impl Fn(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut all = vec![one(self)?];
        while self.eat(",") {
            all.push(one(self)?);
        }
        Ok(all)
    }

    /// A whole number without a unit.
    fn whole(&mut self, what: &str) -> Read<u64> {
        match self.now().kind {
            Kind::Number(value, None) => {
                self.step();
                Ok(value)
            }
            _ => self.expected(what, "write a whole number"),
        }
    }

    /// The head of a block. After an error in it, parsing continues with the block.
    fn head<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<Option<T>> {
        let head = read(self);
        if head.is_err() {
            while !self.is("{") {
                if self.at_end() || self.is("}") || self.begins_outer() {
                    return Err(Told);
                }
                self.step();
            }
        }
        Ok(head.ok())
    }
}

/// Reporting errors and continuing after them.
impl<'a> Parser<'a> {
    /// Reports a token that the grammar does not allow here.
    fn expected<T>(&mut self, what: &str, help: &str) -> Read<T> {
        let (token, word) = (self.now(), shortened(self.word()));
        let found = match token.kind {
            Kind::End => "the file ends".to_string(),
            _ if token.first => "the line ends".to_string(),
            _ => format!("found `{word}`"),
        };
        let after = token.kind == Kind::End || token.first;
        let (span, label) = match after && self.at > 0 {
            true => (self.last().span, "after this"),
            false => (token.span, "here"),
        };
        let help = if help.is_empty() { format!("write {what}") } else { help.to_string() };
        self.fault("R007", span, format!("expected {what}, but {found}"), label, help)
    }

    /// The same, for a piece that should begin here, and so could begin a line.
    fn no_piece<T>(&mut self, what: &str, help: &str) -> Read<T> {
        if self.at_end() {
            return self.expected(what, help);
        }
        let (span, word) = (self.now().span, shortened(self.word()));
        let message = format!("expected {what}, but found `{word}`");
        self.fault("R007", span, message, "here", help)
    }

    /// Reports an error.
    fn fault<T>(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) -> Read<T> {
        self.tell(Diagnostic::new(code, span, message, label, help))
    }

    fn tell<T>(&mut self, fault: Diagnostic) -> Read<T> {
        if self.found.last().is_none_or(|last| last.span != fault.span) {
            self.found.push(fault);
        }
        Err(Told)
    }

    /// Whether the maximum number of errors was reported.
    fn is_full(&self) -> bool {
        self.found.len() >= FAULTS
    }

    /// Parses something one level deeper.
    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == DEPTH {
            return self.too_deep();
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn too_deep<T>(&mut self) -> Read<T> {
        let message = format!("blocks or expressions are nested deeper than {DEPTH} levels");
        let help = "use `let` or `metric` to name parts of the expression";
        self.fault("R013", self.now().span, message, "here", help)
    }

    /// The pieces between `{` and `}`. A piece that fails is skipped.
    fn braces<T>(
        &mut self,
        rules: Braces,
        mut piece: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        let Braces { between, resumes, outer } = rules;
        let (open, opened) = (self.at, self.need("{")?);
        let mut pieces = Vec::new();
        let mut count = 0;
        while !self.is("}") {
            if self.at_end() || outer(self) {
                return self.unclosed(opened);
            }
            let from = self.at;
            self.layout.begins.push(from);
            match self.deeper(&mut piece) {
                Ok(piece) => pieces.push(piece),
                Err(Told) if self.is_full() => return Err(Told),
                Err(Told) => self.skip(from, resumes),
            }
            count += 1;
            while between.contains(&self.word()) {
                self.layout.separators.push(self.at);
                self.step();
            }
        }
        self.layout.blocks.push((open, self.at, count));
        self.step();
        Ok(pieces)
    }

    /// Whether a policy or partition begins here: all open blocks lack their `}`.
    fn begins_part(&self) -> bool {
        let word = self.now().first && words::PARTS.contains(&self.word());
        word && self.next().kind == Kind::Name
    }

    fn unclosed<T>(&mut self, opened: Token) -> Read<T> {
        if self.lost.replace(self.at) == Some(self.at) {
            return Err(Told);
        }
        let help = "write `}` where the block ends";
        self.fault("R010", opened.span, "this `{` has no `}`", "opened here", help)
    }

    /// Skips to where parsing can resume, at least one token.
    fn skip(&mut self, from: usize, resumes: fn(&Self) -> bool) {
        let mut open = 0_u32;
        if self.at == from && !self.is("}") && !self.is("{") {
            self.step();
        }
        while !self.at_end() && !self.begins_part() {
            match self.word() {
                "{" => open += 1,
                "}" if open == 0 => return,
                "}" => open -= 1,
                _ if open == 0 && resumes(self) => return,
                _ => {}
            }
            self.step();
        }
    }
}
