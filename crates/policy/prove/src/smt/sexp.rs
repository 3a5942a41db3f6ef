//! Parenthesised text, as SMT-LIB 2.6 (section 3.1) defines it: read from solvers, whose answers
//! may be garbage, and written so that a person can read it.

use std::fmt;

/// How deep lists may nest in what is read.
const DEPTH_MAX: usize = 1_000;

/// A line of what is written is broken from this length on.
const WIDTH: usize = 96;

/// One piece of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sexp {
    /// A word, a number, or a name between bars.
    Atom(String),
    /// What stood between quotation marks.
    Text(String),
    /// What stood between parentheses.
    List(Vec<Sexp>),
}

impl Sexp {
    /// A list of words and lists.
    pub(crate) fn list(head: &str, rest: impl IntoIterator<Item = Sexp>) -> Sexp {
        Sexp::List([Sexp::atom(head)].into_iter().chain(rest).collect())
    }

    /// A word.
    pub(crate) fn atom(word: impl Into<String>) -> Sexp {
        Sexp::Atom(word.into())
    }

    /// Its word, if it is one.
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Sexp::Atom(word) => Some(word),
            _ => None,
        }
    }

    /// Its members, if it is a list.
    pub(crate) fn members(&self) -> Option<&[Sexp]> {
        match self {
            Sexp::List(members) => Some(members),
            _ => None,
        }
    }

    /// Whether it is a list that begins with this word.
    pub(crate) fn begins(&self, head: &str) -> bool {
        self.members().and_then(|members| members.first()?.word()) == Some(head)
    }

    fn width(&self) -> usize {
        match self {
            Sexp::Atom(word) => word.len(),
            Sexp::Text(text) => text.len() + 2,
            Sexp::List(members) => {
                members.iter().map(|member| member.width() + 1).sum::<usize>() + 1
            }
        }
    }

    /// On one line if it fits after `indent`, else its members each on their own.
    fn pretty(&self, f: &mut fmt::Formatter<'_>, indent: usize) -> fmt::Result {
        let Sexp::List(members) = self else { return self.flat(f) };
        if indent + self.width() <= WIDTH || members.len() < 2 {
            return self.flat(f);
        }
        f.write_str("(")?;
        let binds = self.begins("forall") || self.begins("exists") || self.begins("let");
        let first_line = if binds { 2 } else { 1 };
        for (place, member) in members.iter().enumerate() {
            if place >= first_line {
                write!(f, "\n{:width$}", "", width = indent + 2)?;
                member.pretty(f, indent + 2)?;
            } else {
                f.write_str(if place > 0 { " " } else { "" })?;
                member.flat(f)?;
            }
        }
        f.write_str(")")
    }

    fn flat(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sexp::Atom(word) => f.write_str(word),
            Sexp::Text(text) => write!(f, "\"{}\"", text.replace('"', "\"\"")),
            Sexp::List(members) => {
                f.write_str("(")?;
                for (place, member) in members.iter().enumerate() {
                    f.write_str(if place > 0 { " " } else { "" })?;
                    member.flat(f)?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for Sexp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pretty(f, 0)
    }
}

/// Why a text is not made of these pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// It ends inside a list, a name or a quotation.
    Unfinished,
    /// A list is closed that was not open.
    Unopened,
    /// Lists nest too deeply.
    TooDeep,
}

/// Reads pieces up to the end of the text, or up to the first flaw: what came before it is good.
pub(crate) fn read(text: &str) -> (Vec<Sexp>, Option<Flaw>) {
    let mut open: Vec<Vec<Sexp>> = Vec::new();
    let mut done = Vec::new();
    let mut rest = text;
    loop {
        let (token, after) = match token(rest) {
            Ok(Some(found)) => found,
            Ok(None) => return (done, (!open.is_empty()).then_some(Flaw::Unfinished)),
            Err(flaw) => return (done, Some(flaw)),
        };
        rest = after;
        let piece = match token {
            Token::Open if open.len() == DEPTH_MAX => return (done, Some(Flaw::TooDeep)),
            Token::Open => {
                open.push(Vec::new());
                continue;
            }
            Token::Close => match open.pop() {
                Some(members) => Sexp::List(members),
                None => return (done, Some(Flaw::Unopened)),
            },
            Token::Piece(piece) => piece,
        };
        open.last_mut().unwrap_or(&mut done).push(piece);
    }
}

enum Token {
    Open,
    Close,
    Piece(Sexp),
}

/// The next token and what follows it; `None` at the end.
fn token(text: &str) -> Result<Option<(Token, &str)>, Flaw> {
    let text = after_space(text);
    let Some(first) = text.chars().next() else { return Ok(None) };
    let rest = &text[first.len_utf8()..];
    Ok(Some(match first {
        '(' => (Token::Open, rest),
        ')' => (Token::Close, rest),
        '"' => quotation(rest)?,
        '|' => {
            let end = rest.find('|').ok_or(Flaw::Unfinished)?;
            (Token::Piece(Sexp::atom(&text[..end + 2])), &rest[end + 1..])
        }
        _ => {
            let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | '|' | ';');
            let end = text.find(ends).unwrap_or(text.len());
            (Token::Piece(Sexp::atom(&text[..end])), &text[end..])
        }
    }))
}

/// Past white space and comments.
fn after_space(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        if !text.starts_with(';') {
            return text;
        }
        text = text.find('\n').map_or("", |end| &text[end..]);
    }
}

/// What stands before the next quotation mark that is not doubled.
fn quotation(mut rest: &str) -> Result<(Token, &str), Flaw> {
    let mut text = String::new();
    loop {
        let end = rest.find('"').ok_or(Flaw::Unfinished)?;
        text.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                text.push('"');
                rest = after;
            }
            None => return Ok((Token::Piece(Sexp::Text(text)), rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let text = "(assert (and |a b| (f \"say \"\"so\"\"\" -1) () ))";
        let (pieces, flaw) = read(text);
        assert_eq!((pieces.len(), flaw), (1, None));
        assert_eq!(read(&pieces[0].to_string()), (pieces.clone(), None));
        let long = Sexp::list("and", vec![pieces[0].clone(); 40]);
        assert!(long.to_string().lines().all(|line| line.len() <= WIDTH), "{long}");
        assert_eq!(read(&long.to_string()), (vec![long], None));
    }

    #[test]
    fn comments_are_white_space() {
        assert_eq!(read("; (\na ; )\n;").0, [Sexp::atom("a")]);
    }

    #[test]
    fn garbage_has_a_flaw_and_keeps_what_came_before() {
        for (text, flaw) in [
            ("sat (", Flaw::Unfinished),
            ("sat )", Flaw::Unopened),
            ("sat \"abc", Flaw::Unfinished),
            ("sat |abc", Flaw::Unfinished),
        ] {
            assert_eq!(read(text), (vec![Sexp::atom("sat")], Some(flaw)), "{text}");
        }
        assert_eq!(read(&"(".repeat(1_000_000)), (vec![], Some(Flaw::TooDeep)));
    }
}
