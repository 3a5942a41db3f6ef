//! JSON as rt-app's files use it: with comments, superfluous or missing commas, repeated keys, and
//! missing values.

use crate::scenario::node::{Entry, Node, Table, Value, Wrong, wrong};

/// The maximum nesting depth of objects.
const DEPTH: usize = 32;

/// Reads one object.
pub(super) fn read(text: &str) -> Result<Table, Wrong> {
    let mut reader = Reader { text, at: 0 };
    match reader.value(0)?.value {
        Value::Table(table) => {
            reader.space()?;
            match reader.peek() {
                None => Ok(table),
                Some(_) => Err(reader.wrong("there is text after the last `}`")),
            }
        }
        _ => Err(wrong(0, "the file does not contain a JSON object", "begin the file with `{`")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }
    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }
    fn wrong(&self, what: &str) -> Wrong {
        wrong(self.at, what, "see doc/tutorial.txt of rt-app for the file format")
    }

    /// Skips blanks and comments.
    fn space(&mut self) -> Result<(), Wrong> {
        loop {
            let rest = self.rest();
            let blank =
                rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']).len();
            self.at += blank;
            let rest = self.rest();
            if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/").ok_or_else(|| self.wrong("the comment has no end"))?;
                self.at += end + 4;
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if blank == 0 {
                return Ok(());
            }
        }
    }

    /// Skips this character, if it is next.
    fn take(&mut self, char: char) -> Result<bool, Wrong> {
        self.space()?;
        let is = self.peek() == Some(char);
        self.at += if is { char.len_utf8() } else { 0 };
        Ok(is)
    }

    fn value(&mut self, depth: usize) -> Result<Node, Wrong> {
        self.space()?;
        if depth == DEPTH {
            return Err(self.wrong("the objects are nested too deep"));
        }
        let at = self.at;
        let value = match self.peek() {
            Some('{') => Value::Table(self.object(depth)?),
            Some('[') => {
                self.at += 1;
                let mut values = Vec::new();
                while !self.take(']')? {
                    values.push(self.value(depth + 1)?);
                    self.take(',')?;
                }
                Value::Array(values)
            }
            Some('"') => Value::Text(self.string()?),
            _ => self.word()?,
        };
        Ok(Node { at, value })
    }

    fn object(&mut self, depth: usize) -> Result<Table, Wrong> {
        self.at += 1;
        let mut entries = Vec::new();
        while !self.take('}')? {
            let at = self.at;
            if self.peek() != Some('"') {
                return Err(self.wrong("a key in quotes is missing"));
            }
            let key = self.string()?;
            let node = match self.take(':')? {
                true => self.value(depth + 1)?,
                false => Node { at, value: Value::Text(String::new()) },
            };
            entries.push(Entry { key, at, node });
            self.take(',')?;
        }
        Ok(Table { entries })
    }

    /// Escaped characters stand for themselves: names need no other escapes.
    fn string(&mut self) -> Result<String, Wrong> {
        self.at += 1;
        let mut text = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((offset, char)) = chars.next() {
            match char {
                '"' => {
                    self.at += offset + 1;
                    return Ok(text);
                }
                '\n' => break,
                '\\' => text.extend(chars.next().map(|(_, char)| char)),
                char => text.push(char),
            }
        }
        Err(self.wrong("the closing quote of the text is missing"))
    }

    /// A number, true or false.
    fn word(&mut self) -> Result<Value, Wrong> {
        let end = |c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c);
        let rest = self.rest();
        let word = &rest[..rest.find(end).unwrap_or(rest.len())];
        let value = match word.to_ascii_lowercase().as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            number => match (number.parse(), number.parse::<f64>()) {
                (Ok(integer), _) => Value::Integer(integer),
                (Err(_), Ok(float)) if float.is_finite() => Value::Float(float),
                _ => return Err(self.wrong("the value is missing")),
            },
        };
        self.at += word.len();
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<(String, Option<String>)> {
        let table = read(text).expect("an object");
        table.entries.iter().map(|entry| (entry.key.clone(), entry.node.word())).collect()
    }

    #[test]
    fn keys_may_come_twice_and_keep_their_order() {
        let text = "{ /* a comment */ \"run\": 1, \"sleep\": 2 // another\n \"run\": 3, }";
        let written = [("run", "1"), ("sleep", "2"), ("run", "3")];
        let written = written.map(|(key, value)| (key.to_owned(), Some(value.to_owned())));
        assert_eq!(keys(text), written);
    }

    #[test]
    fn values_may_be_left_out() {
        let named = keys("{\"suspend\", \"run\": -5}");
        assert_eq!(named, [("suspend".into(), Some("".into())), ("run".into(), Some("-5".into()))]);
    }

    #[test]
    fn what_is_no_json_is_refused_where_it_stands() {
        for (text, at) in [
            ("[]", 0),
            ("{\"a\": }", 6),
            ("{\"a\": 1} x", 9),
            ("{\"a\": 1 /* ", 8),
            ("{\"a", 2),
            ("{a: 1}", 1),
            ("{\"a\": 1", 7),
        ] {
            assert_eq!(read(text).map_err(|wrong| wrong.at).err(), Some(at), "{text}");
        }
        let deep = "{\"a\":".repeat(DEPTH + 1);
        assert!(read(&deep).is_err());
    }
}
