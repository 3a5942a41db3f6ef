//! Settings of the command line that replace those of a scenario's file, in all variants.

use std::fmt;

use wastenot_model::{Machine, shortened, suggest};

use super::node::{self, Entry, Node, Table, Value, Wrong, wrong};
use super::schema::{HEAD, SCENARIO};

/// The keys of the head that can be set.
const OF_HEAD: &[&str] = &["seeds", "limit"];

/// What replaces the contents of a scenario's file, in all its variants.
#[derive(Clone, Debug, Default)]
pub struct Instead {
    /// Keys, or parameters, with their values.
    pub set: Vec<Setting>,
    /// The machine.
    pub machine: Option<Machine>,
}

/// One key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key, with dots between it and its tables; or the name of a parameter.
    pub name: String,
    /// As in TOML, except that a text needs no quotes.
    pub value: String,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", shortened(&self.name), shortened(&self.value))
    }
}

/// The settings as tables, to be merged over those of the file.
pub(super) struct Patch {
    /// Over the head of the file.
    pub(super) head: Table,
    /// Over each variant.
    pub(super) variant: Table,
}

impl Instead {
    /// The tables. A setting has a position after the `end` of the file: the first one byte after
    /// it, the second two, so that error messages can find it again ([`Instead::at`]).
    pub(super) fn patch(&self, file: &Table, end: usize) -> Result<Patch, Wrong> {
        let mut patch = Patch { head: Table::default(), variant: Table::default() };
        for (n, setting) in self.set.iter().enumerate() {
            let at = end + 1 + n;
            let mut path: Vec<&str> = setting.name.split('.').map(str::trim).collect();
            let is_head = OF_HEAD.contains(&path[0]);
            let own = |key: &str| is_head || !HEAD.contains(&key);
            if !SCENARIO.keys.iter().any(|key| key.name == path[0] && own(key.name)) {
                known_parameter(&setting.name, file, at)?;
                path = vec!["parameters", &setting.name];
            }
            let mut node = node::value(&setting.value, at)?;
            for key in path[1..].iter().rev() {
                let entry = Entry { key: (*key).to_owned(), at, node };
                node = Node { at, value: Value::Table(Table { entries: vec![entry] }) };
            }
            let entry = Entry { key: path[0].to_owned(), at, node };
            let table = if is_head { &mut patch.head } else { &mut patch.variant };
            table.merge(&Table { entries: vec![entry] });
        }
        Ok(patch)
    }

    /// The setting with this position, in a file of length `end`.
    pub(super) fn at(&self, at: usize, end: usize) -> Option<&Setting> {
        self.set.get(at.checked_sub(end + 1)?)
    }

    /// The changes from the file, in words.
    pub(super) fn words(&self) -> Vec<String> {
        let changes = self.set.iter().filter(|setting| setting.name != "seeds");
        let machine = self.machine.as_ref().map(|machine| match machine.name.as_str() {
            "" => format!("a machine of {} CPUs", machine.len()),
            name => format!("machine {}", shortened(name)),
        });
        machine.into_iter().chain(changes.map(ToString::to_string)).collect()
    }
}

fn known_parameter(name: &str, file: &Table, at: usize) -> Result<(), Wrong> {
    let parameters = match file.get("parameters").map(|node| &node.value) {
        Some(Value::Table(table)) => table.entries.as_slice(),
        _ => &[],
    };
    if parameters.iter().any(|entry| entry.key == name) {
        return Ok(());
    }
    let keys = SCENARIO.keys.iter().map(|key| key.name);
    let keys: Vec<&str> = keys.filter(|key| OF_HEAD.contains(key) || !HEAD.contains(key)).collect();
    let names = keys.iter().copied().chain(parameters.iter().map(|entry| entry.key.as_str()));
    let own: Vec<&str> = parameters.iter().map(|entry| entry.key.as_str()).collect();
    let own = if own.is_empty() { "none".to_owned() } else { own.join(", ") };
    let otherwise =
        format!("use a parameter of this scenario ({own}) or one of the keys {}", keys.join(", "));
    let help = suggest(name, names, &otherwise);
    let what = format!("there is no key or parameter `{}`", shortened(name));
    Err(wrong(at, what, help))
}
