//! Scopes: which names have which meaning.

use crate::ir::{Dimension, Level, Num, Place, Variable};

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// A number.
    Num(Num, Dimension),
    /// A CPU or a group.
    Place(Place, Level),
    /// A claimed CPU that may not have been found, by its slot.
    Maybe(usize),
    /// The task that the handler is about.
    Task,
}

/// Names, innermost last.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    names: Vec<(String, Meaning)>,
    /// How many sets are open: the nesting depth of [`Place::Item`].
    pub(super) depth: usize,
    /// Whether there is a task, even if it has no name here (`where`).
    pub(super) task: bool,
    /// Whether the task has a previous CPU: in handlers, but not in a steal.
    pub(super) prev: bool,
    /// Whether there is a CPU where the event happens.
    pub(super) here: bool,
    /// Whether an earlier value was read: in a steal.
    pub(super) seen: bool,
}

impl Scope {
    /// Parameters only.
    pub(super) fn of(params: &[Variable]) -> Scope {
        let mut scope = Scope::default();
        for (n, param) in params.iter().enumerate() {
            scope.bind(&param.name, Meaning::Num(Num::Param(n), param.dimension));
        }
        scope
    }
    /// Gives a name a meaning from here on.
    pub(super) fn bind(&mut self, name: &str, meaning: Meaning) {
        self.names.push((name.to_owned(), meaning));
    }
    /// The meaning of a name.
    pub(super) fn get(&self, name: &str) -> Option<&Meaning> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|(_, meaning)| meaning)
    }
    /// All names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.as_str())
    }
    /// The same scope, with a CPU found in a slot.
    pub(super) fn found(&self, name: &str, slot: usize) -> Scope {
        let mut scope = self.clone();
        scope.bind(name, Meaning::Place(Place::Slot(slot), Level::Cpu));
        scope
    }
}
