//! Which names mean what, where.

use crate::ir::{Dimension, Level, Num, Place, Variable};

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// A number.
    Num(Num, Dimension),
    /// A CPU or a group.
    Place(Place, Level),
    /// A CPU that may not have been found; the slot that it is in.
    Maybe(usize),
    /// The task that the handler is about.
    Task,
}

/// Names, the innermost last.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    names: Vec<(String, Meaning)>,
    /// How many sets are open: the depth of [`Place::Item`].
    pub(super) depth: usize,
    /// Whether there is a task, though it may have no name here (`where`).
    pub(super) task: bool,
    /// Whether tasks were last somewhere: in handlers, not where one is stolen.
    pub(super) prev: bool,
    /// Whether there is a CPU on which this happens.
    pub(super) here: bool,
    /// Whether something was read before: where one is stolen.
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
    /// What it means.
    pub(super) fn get(&self, name: &str) -> Option<&Meaning> {
        self.names.iter().rev().find(|(known, _)| known == name).map(|(_, meaning)| meaning)
    }
    /// All names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.as_str())
    }
    /// The same with a CPU found in a slot.
    pub(super) fn found(&self, name: &str, slot: usize) -> Scope {
        let mut scope = self.clone();
        scope.bind(name, Meaning::Place(Place::Slot(slot), Level::Cpu));
        scope
    }
}
