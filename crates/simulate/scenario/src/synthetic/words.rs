//! The words of a description: types, numbers, attributes.

use wastenot_model::shortened;

use super::indexes::Indexes;
use super::links::Links;
use super::{Fault, wrong};

/// Attributes that have an effect.
#[derive(Default)]
pub(super) struct Attributes<'t> {
    pub(super) indexes: Option<Indexes<'t>>,
    pub(super) links: Option<Links<'t>>,
}

/// A position in the text.
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    /// In bytes.
    pub(super) at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }
    fn take(&mut self, while_: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let taken = rest.find(|c| !while_(c)).map_or(rest, |end| &rest[..end]);
        self.at += taken.len();
        taken
    }
    pub(super) fn skip_space(&mut self) {
        self.take(char::is_whitespace);
    }
    pub(super) fn eat(&mut self, c: char) -> bool {
        let found = self.rest().starts_with(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }
    /// A word that begins with a letter, or nothing.
    pub(super) fn word(&mut self) -> &'t str {
        match self.rest().starts_with(|c: char| c.is_ascii_alphabetic()) {
            true => self.take(|c| c.is_ascii_alphanumeric()),
            false => "",
        }
    }
    /// A number from 1.
    pub(super) fn number(&mut self) -> Result<usize, Fault> {
        self.skip_space();
        let at = self.at;
        match self.take(|c| c.is_ascii_digit()) {
            "" => wrong(at, "a number is missing"),
            digits => match digits.parse() {
                Ok(0) => wrong(at, "the number must be at least 1"),
                Ok(number) => Ok(number),
                Err(_) => Err(Fault::TooLarge("CPUs")),
            },
        }
    }
    /// `(key=value ...)` if it follows.
    pub(super) fn attributes(&mut self) -> Result<Attributes<'t>, Fault> {
        let mut found = Attributes::default();
        if self.eat('(') {
            let inside = self.take(|c| c != ')');
            let start = self.at - inside.len();
            if !self.eat(')') {
                return wrong(self.at, "the closing ) is missing");
            }
            for attribute in inside.split_whitespace() {
                let at = start + (attribute.as_ptr() as usize - inside.as_ptr() as usize);
                match attribute.split_once('=') {
                    Some(("indexes", text)) => found.indexes = Some(Indexes { text, at }),
                    Some(("links", text)) => found.links = Some(Links { text, at }),
                    Some(("memory" | "size" | "memorysidecachesize", _)) => {}
                    _ => {
                        return wrong(
                            at,
                            format!("`{}` is not an attribute", shortened(attribute)),
                        );
                    }
                }
            }
        }
        self.skip_space();
        Ok(found)
    }
}
