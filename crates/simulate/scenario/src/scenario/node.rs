//! A TOML document as a tree in which every node has its position. The tree is merged, substituted
//! and then read, so that every error message names its line.

use toml::de::{DeTable, DeValue};

/// An error at this byte of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) at: usize,
    pub(crate) what: String,
    pub(crate) help: String,
}

/// The error `what` at `at`, with what to write instead.
pub(crate) fn wrong(at: usize, what: impl Into<String>, help: impl Into<String>) -> Wrong {
    Wrong { at, what: what.into(), help: help.into() }
}

/// A value and its position.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: usize,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Array(Vec<Node>),
    Table(Table),
}

/// Keys in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// The position of the key.
    pub(crate) at: usize,
    pub(crate) node: Node,
}

/// The maximum number of keys in a table: no scenario has more, and comparing them would take long.
const KEYS: usize = 1000;

/// The tree of a document.
pub(crate) fn parse(text: &str) -> Result<Table, Wrong> {
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        wrong(at, error.message().trim(), "see https://toml.io for the syntax of TOML")
    })?;
    table(document.get_ref(), 0)
}

/// A value on its own, with the position `at`: what is not TOML is a text without its quotes.
pub(crate) fn value(text: &str, at: usize) -> Result<Node, Wrong> {
    let Ok(parsed) = DeValue::parse(text) else {
        return Ok(Node { at, value: Value::Text(text.to_owned()) });
    };
    let read = node(parsed.get_ref(), 0, 0).map_err(|wrong| Wrong { at, ..wrong });
    read.map(|node| node.moved(at))
}

fn table(from: &DeTable, at: usize) -> Result<Table, Wrong> {
    if from.len() > KEYS {
        return Err(wrong(at, format!("the table has more than {KEYS} keys"), "write fewer keys"));
    }
    let mut entries = Vec::with_capacity(from.len());
    for (key, value) in from {
        let at = key.span().start;
        let node = node(value.get_ref(), value.span().start, at)?;
        entries.push(Entry { key: key.get_ref().to_string(), at, node });
    }
    entries.sort_by_key(|entry| entry.at);
    Ok(Table { entries })
}

fn node(from: &DeValue, at: usize, key: usize) -> Result<Node, Wrong> {
    let value = match from {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            let help = "write a number of at most 18 digits";
            Value::Integer(parsed.map_err(|_| wrong(at, "the number is too large", help))?)
        }
        DeValue::Float(number) => {
            let parsed = number.as_str().parse::<f64>().ok().filter(|n| n.is_finite());
            let help = "write a number such as 0.5";
            Value::Float(parsed.ok_or_else(|| wrong(at, "the number is not finite", help))?)
        }
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(_) => {
            return Err(wrong(
                at,
                "the value is a date",
                "write a length of time, such as \"2ms\"",
            ));
        }
        DeValue::Array(values) => {
            let nodes = values.iter().map(|value| {
                let at = value.span().start;
                node(value.get_ref(), at, at)
            });
            Value::Array(nodes.collect::<Result<_, _>>()?)
        }
        // A table begins at its key; a table in a list, at its header or bracket.
        DeValue::Table(from) => {
            return Ok(Node { at: key, value: Value::Table(table(from, key)?) });
        }
    };
    Ok(Node { at, value })
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// Merges `patch` into this one: tables key by key, all other values are replaced.
    pub(crate) fn merge(&mut self, patch: &Table) {
        for entry in &patch.entries {
            let own = self.entries.iter_mut().find(|own| own.key == entry.key);
            match (own, &entry.node.value) {
                (Some(own), Value::Table(new)) if matches!(own.node.value, Value::Table(_)) => {
                    let Value::Table(old) = &mut own.node.value else { continue };
                    old.merge(new);
                }
                (Some(own), _) => own.node = entry.node.clone(),
                (None, _) => self.entries.push(entry.clone()),
            }
        }
    }

    /// A copy without these keys.
    pub(crate) fn without(&self, keys: &[&str]) -> Table {
        let keep = |entry: &&Entry| !keys.contains(&entry.key.as_str());
        Table { entries: self.entries.iter().filter(keep).cloned().collect() }
    }
}

impl Node {
    /// Calls `change` on every text in it.
    pub(crate) fn each_text(
        &mut self,
        change: &mut impl FnMut(usize, &mut String) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        match &mut self.value {
            Value::Text(text) => change(self.at, text),
            Value::Array(nodes) => nodes.iter_mut().try_for_each(|node| node.each_text(change)),
            Value::Table(table) => table.each_text(change),
            Value::Integer(_) | Value::Float(_) | Value::Bool(_) => Ok(()),
        }
    }

    /// The same node, with one position for all its parts.
    fn moved(self, at: usize) -> Node {
        let value = match self.value {
            Value::Array(nodes) => {
                Value::Array(nodes.into_iter().map(|node| node.moved(at)).collect())
            }
            Value::Table(Table { entries }) => {
                let moved = |it: Entry| Entry { at, node: it.node.moved(at), ..it };
                Value::Table(Table { entries: entries.into_iter().map(moved).collect() })
            }
            value => value,
        };
        Node { at, value }
    }

    /// Its type, for error messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) | Value::Float(_) => "a number",
            Value::Bool(_) => "true or false",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The value as it was written, without the quotes of a text; `None` for lists and tables.
    pub(crate) fn word(&self) -> Option<String> {
        match &self.value {
            Value::Text(text) => Some(text.clone()),
            Value::Integer(number) => Some(number.to_string()),
            Value::Float(number) => Some(number.to_string()),
            Value::Bool(value) => Some(value.to_string()),
            Value::Array(_) | Value::Table(_) => None,
        }
    }
}

impl Table {
    /// Calls `change` on every text in it.
    pub(crate) fn each_text(
        &mut self,
        change: &mut impl FnMut(usize, &mut String) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        self.entries.iter_mut().try_for_each(|entry| entry.node.each_text(change))
    }
}
