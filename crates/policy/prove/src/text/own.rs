//! Whether a policy names nothing but what is its own: CPUs that it is told of, and its own queues
//! and variables of CPUs.
//!
//! A text has no words for anything else. So this finds nothing unless what a text means was made
//! wrong; it is read off the meaning, which is what runs.

use std::collections::BTreeSet;

use wastenot_rota::ir::{
    Attempt, Balance, Bool, Num, Place, Policy, QueueAt, Stmt, Visitor, visit_balance, visit_block,
    visit_queue,
};

/// Whether every CPU that a policy names is one that it is told of, is found among those on which
/// the task may run, or is in a group of such.
pub(crate) fn places_are_own(policy: &Policy) -> bool {
    parts(policy).iter().all(|(told, named)| {
        named.places.iter().all(|place| match place {
            // What it is of is named, too.
            Place::Of(..) | Place::Machine => true,
            Place::Slot(slot) => named.filled.contains(slot),
            Place::Item(item) => named.bound.contains(item),
            place => told.contains(place),
        })
    })
}

/// Whether every queue, and every variable of a CPU, that a policy names is declared by it.
pub(crate) fn queues_are_own(policy: &Policy) -> bool {
    let declared = |of: &BTreeSet<usize>, count: usize| of.iter().all(|&index| index < count);
    parts(policy).iter().all(|(_, named)| {
        declared(&named.queues, policy.queues.len()) && declared(&named.vars, policy.cpu_vars.len())
    })
}

/// What a part of a policy names.
#[derive(Default)]
struct Named {
    places: Vec<Place>,
    /// Slots of CPUs that something is found for.
    filled: BTreeSet<usize>,
    /// Depths of members of sets.
    bound: BTreeSet<usize>,
    queues: BTreeSet<usize>,
    /// Variables of CPUs.
    vars: BTreeSet<usize>,
}

/// Handlers, dispatch and balances: which CPUs each is told of, and what it names.
fn parts(policy: &Policy) -> Vec<(&'static [Place], Named)> {
    let mut parts: Vec<(&'static [Place], Named)> = Vec::new();
    for handler in &policy.handlers {
        let mut named = Named::default();
        visit_block(handler, &mut named);
        parts.push((&[Place::Prev, Place::Home, Place::Here], named));
    }
    let mut dispatch = Named::default();
    for attempt in &policy.dispatch {
        if let Attempt::Take(queue, _) = attempt {
            visit_queue(queue, &mut dispatch);
        }
    }
    parts.push((&[Place::Me], dispatch));
    let periodic = policy.periodic.iter().map(|periodic| &periodic.balance);
    for balance in policy.idle.iter().chain(periodic) {
        parts.push((&[Place::Me, Place::Other], Named::in_balance(balance)));
    }
    parts
}

impl Named {
    fn in_balance(balance: &Balance) -> Named {
        let mut named = Named::default();
        visit_balance(balance, &mut named);
        named.queues.insert(balance.from);
        named.queues.extend(balance.into);
        named
    }
}

impl Visitor for Named {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Claim { slot, .. } => _ = self.filled.insert(*slot),
            Stmt::Pick { slot, item, .. } => {
                self.filled.insert(*slot);
                self.bound.insert(*item);
            }
            Stmt::Run { slot, .. } => self.places.push(Place::Slot(*slot)),
            Stmt::SetCpu { var, .. } => _ = self.vars.insert(*var),
            _ => {}
        }
    }
    fn num(&mut self, num: &Num) {
        match num {
            Num::CpuVar(var, _) => _ = self.vars.insert(*var),
            Num::Fold { item, .. } | Num::Count { item, .. } => _ = self.bound.insert(*item),
            _ => {}
        }
    }
    fn bool(&mut self, condition: &Bool) {
        if let Bool::Quantified { item, .. } = condition {
            self.bound.insert(*item);
        }
    }
    fn place(&mut self, place: &Place) {
        self.places.push(place.clone());
    }
    fn queue(&mut self, queue: &QueueAt) {
        self.queues.insert(queue.queue);
    }
}
