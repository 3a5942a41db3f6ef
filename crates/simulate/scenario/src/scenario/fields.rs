//! Reads a table: each key once, with its type. A key that no reader asked for is an error.

use wastenot_model::{Span, shortened};

use super::node::{Node, Table, Value, Wrong, wrong};
use super::schema::Section;
use wastenot_model::suggest_of;

/// The longest time that may be written: a longer one is probably a wrong unit.
pub(crate) const LONGEST: Span = Span::s(1_000_000);

/// A table that is being read.
pub(crate) struct Fields<'a> {
    section: &'static Section,
    at: usize,
    table: &'a Table,
    /// Keys besides those of the section.
    also: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(section: &'static Section, at: usize, table: &'a Table) -> Fields<'a> {
        Fields { section, at, table, also: Vec::new() }
    }
    /// The fields of a value that must be a table.
    pub(crate) fn of(section: &'static Section, node: &'a Node) -> Result<Fields<'a>, Wrong> {
        let (at, table) = table(node, section.title)?;
        Ok(Fields::new(section, at, table))
    }
    /// Allows these keys besides.
    pub(crate) fn and(self, also: impl IntoIterator<Item = &'static str>) -> Fields<'a> {
        Fields { also: also.into_iter().collect(), ..self }
    }

    /// Where the table begins.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    fn keys(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.section.keys.iter().map(|key| key.name).chain(self.also.iter().copied())
    }
    /// The value of a key.
    pub(crate) fn get(&self, key: &'static str) -> Option<&'a Node> {
        debug_assert!(self.keys().any(|known| known == key), "{}: {key}", self.section.title);
        self.table.get(key)
    }
    /// The value of a required key; `example` shows its form.
    pub(crate) fn need(&self, key: &'static str, example: &str) -> Result<&'a Node, Wrong> {
        let missing = || {
            let what = format!("{} has no `{key}`", self.section.title);
            wrong(self.at, what, format!("add `{key} = {example}`"))
        };
        self.get(key).ok_or_else(missing)
    }
    /// Refuses a file of another kind, or one with another schema than `version`.
    pub(crate) fn version(&self, kind: &str, version: &str) -> Result<(), Wrong> {
        let node = self.need("schema", &format!("\"{version}\""))?;
        if text(node, "schema")? == version {
            return Ok(());
        }
        let what = format!("the file is not a {kind}, or it has another schema");
        Err(wrong(node.at, what, format!("write \"{version}\", the schema of this version")))
    }
    /// A text.
    pub(crate) fn text(&self, key: &'static str) -> Result<Option<&'a str>, Wrong> {
        self.get(key).map(|node| text(node, key)).transpose()
    }
    /// A length of time.
    pub(crate) fn span(&self, key: &'static str) -> Result<Option<Span>, Wrong> {
        self.get(key).map(|node| span(node, key)).transpose()
    }
    /// A whole number within bounds.
    pub(crate) fn integer(
        &self,
        key: &'static str,
        within: std::ops::RangeInclusive<i64>,
    ) -> Result<Option<i64>, Wrong> {
        self.get(key).map(|node| integer(node, key, within)).transpose()
    }
    /// Any number.
    pub(crate) fn number(&self, key: &'static str) -> Result<Option<f64>, Wrong> {
        self.get(key).map(|node| number(node, key)).transpose()
    }
    /// true or false; false if the key is absent.
    pub(crate) fn flag(&self, key: &'static str) -> Result<bool, Wrong> {
        self.get(key).map_or(Ok(false), |node| match &node.value {
            Value::Bool(value) => Ok(*value),
            Value::Text(text) if text == "true" => Ok(true),
            Value::Text(text) if text == "false" => Ok(false),
            _ => Err(expected(node, key, "true or false")),
        })
    }
    /// A table; `None` if the key is absent.
    pub(crate) fn table(&self, key: &'static str) -> Result<Option<(usize, &'a Table)>, Wrong> {
        self.get(key).map(|node| table(node, key)).transpose()
    }
    /// A list; empty if the key is absent.
    pub(crate) fn list(&self, key: &'static str) -> Result<&'a [Node], Wrong> {
        self.get(key).map_or(Ok(&[]), |node| list(node, key))
    }

    /// Reports a key that the section does not have.
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        let unknown = |key: &str| !self.keys().any(|known| known == key);
        let Some(entry) = self.table.entries.iter().find(|entry| unknown(&entry.key)) else {
            return Ok(());
        };
        let help = suggest_of(&entry.key, self.keys(), "use one of its keys:");
        let what = format!("{} has no key `{}`", self.section.title, shortened(&entry.key));
        Err(wrong(entry.at, what, help))
    }
}

/// The error that `key` should be something else.
pub(crate) fn expected(node: &Node, key: &str, what: &str) -> Wrong {
    let written =
        node.word().map_or_else(|| node.kind().to_owned(), |w| format!("`{}`", shortened(&w)));
    wrong(node.at, format!("`{key}` cannot be {written}"), format!("set `{key}` to {what}"))
}

pub(crate) fn text<'a>(node: &'a Node, key: &str) -> Result<&'a str, Wrong> {
    match &node.value {
        Value::Text(text) => Ok(text),
        _ => Err(expected(node, key, "a text in quotes")),
    }
}

pub(crate) fn list<'a>(node: &'a Node, key: &str) -> Result<&'a [Node], Wrong> {
    match &node.value {
        Value::Array(nodes) => Ok(nodes),
        _ => Err(expected(node, key, "a list in square brackets")),
    }
}

pub(crate) fn table<'a>(node: &'a Node, key: &str) -> Result<(usize, &'a Table), Wrong> {
    match &node.value {
        Value::Table(table) => Ok((node.at, table)),
        _ => Err(expected(node, key, "a table")),
    }
}

pub(crate) fn span(node: &Node, key: &str) -> Result<Span, Wrong> {
    let written = node.word().unwrap_or_default();
    read_span(&written).map_err(|help| wrong(node.at, expected(node, key, "").what, help))
}

pub(crate) fn integer(
    node: &Node,
    key: &str,
    within: std::ops::RangeInclusive<i64>,
) -> Result<i64, Wrong> {
    let parsed = match &node.value {
        Value::Integer(number) => Some(*number),
        Value::Text(text) => text.trim().parse().ok(),
        _ => None,
    };
    let what = format!("a whole number from {} to {}", within.start(), within.end());
    parsed.filter(|number| within.contains(number)).ok_or_else(|| expected(node, key, &what))
}

pub(crate) fn number(node: &Node, key: &str) -> Result<f64, Wrong> {
    let parsed = match &node.value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Text(text) => text.trim().parse().ok(),
        _ => None,
    };
    parsed.filter(|n: &f64| n.is_finite()).ok_or_else(|| expected(node, key, "a number"))
}

/// A length of time, or what to write instead.
pub(crate) fn read_span(text: &str) -> Result<Span, String> {
    let text = text.trim();
    match Span::parse(text) {
        Some(span) if span <= LONGEST => Ok(span),
        Some(_) => Err(format!("write at most {}s", LONGEST.0 / 1_000_000_000)),
        None if !text.is_empty() && text.parse::<f64>().is_ok_and(|n| n >= 0.0) => {
            Err(format!("add a unit: `{text}ns`, `{text}us`, `{text}ms` or `{text}s`"))
        }
        None => Err("write a time such as `2ms`, with the unit ns, us, ms, s or m".into()),
    }
}

/// A default value, as if it were written here.
pub(crate) fn default_of(at: usize, text: &str) -> Node {
    Node { at, value: Value::Text(text.into()) }
}
