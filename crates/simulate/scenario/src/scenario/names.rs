//! The names of shared objects in a workload, and their numbers.

use std::collections::BTreeMap;

use super::node::{Wrong, wrong};
use wastenot_model::{shortened, suggest};

/// The kinds of objects with names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Task,
    Group,
    Lock,
    Barrier,
    Pipe,
    Condition,
}

impl Kind {
    fn word(self) -> &'static str {
        ["task", "group", "lock", "barrier", "pipe", "condition"][self as usize]
    }
    fn declared(self) -> &'static str {
        [
            "[[tasks]] with this name",
            "[groups.NAME]",
            "[locks.NAME]",
            "[barriers.NAME] with its parties",
            "[pipes.NAME]",
            "the name to the list `conditions`",
        ][self as usize]
    }
}

/// The names of a workload.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    numbers: BTreeMap<(Kind, String), u32>,
}

impl Names {
    /// Gives `name` a number.
    pub(crate) fn add(
        &mut self,
        kind: Kind,
        name: &str,
        number: u32,
        at: usize,
    ) -> Result<(), Wrong> {
        if !is_name(name) {
            let what = format!("`{}` is not a valid name", shortened(name));
            return Err(wrong(at, what, "use letters, digits and any of - _ . / :"));
        }
        match self.numbers.insert((kind, name.into()), number) {
            None => Ok(()),
            Some(_) => {
                let what = format!("there is already a {} `{name}`", kind.word());
                Err(wrong(at, what, "give each name only once"))
            }
        }
    }

    /// The number of `name`, if it has one.
    pub(crate) fn known(&self, kind: Kind, name: &str) -> Option<u32> {
        self.numbers.get(&(kind, name.to_owned())).copied()
    }

    /// The number of `name`, or an error.
    pub(crate) fn find(&self, kind: Kind, name: &str, at: usize) -> Result<u32, Wrong> {
        self.known(kind, name).ok_or_else(|| {
            let known =
                || self.numbers.keys().filter(|(of, _)| *of == kind).map(|(_, n)| n.as_str());
            let what = format!("there is no {} `{}`", kind.word(), shortened(name));
            let help = suggest(name, known(), &format!("add {}", kind.declared()));
            wrong(at, what, help)
        })
    }
}

/// Whether a text is a name: a single word, so that a step fits on one line.
pub(crate) fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || "-_./:".contains(c);
    (1..=64).contains(&text.len()) && text.chars().all(fits)
}
