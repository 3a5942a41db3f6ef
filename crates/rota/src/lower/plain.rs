//! What is asked of a text and can be asked of [`crate::ir`] alone: that what is named is there,
//! paths of handlers, and how many tasks a balance takes. For whoever changes a policy without
//! writing a text.

use std::collections::BTreeSet;

use super::statements::{Branches, Spanned};
use super::{balance, paths};
use crate::Diagnostic;
use crate::ir::{Bool, Event, Num, Place, Policy, Stmt, Visitor, visit_block, visit_bool};
use crate::syntax::Span;

/// What would be wrong with the text of `policy`, as far as that goes. Nothing is, of a policy that was compiled.
pub fn faults(policy: &Policy) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for event in Event::ALL {
        let handler = &policy.handlers[event as usize];
        let known = Slots { ran: event == Event::Stop, ..Slots::default() };
        if !named(handler, &known) {
            let message = format!("`{}` uses a name that is not there", event.name());
            let help = "write its `let` first; `ran` is told to `stop`";
            found.push(Diagnostic::new("R101", policy.span, message, "not known here", help));
        }
        let statements = spanned(handler, policy.span);
        paths::check(&statements, event, policy.span, &mut found);
    }
    if let Some(idle) = &policy.idle {
        found.extend(balance::not_one(&idle.count, idle.spans.steal));
    }
    found
}

/// Statements that say where they stand if they know, else that they are in `whole`.
fn spanned(block: &[Stmt], whole: Span) -> Vec<Spanned> {
    let one = |stmt: &Stmt| {
        let (span, branches) = match stmt {
            Stmt::Put(put) => (put.span, None),
            Stmt::Run { span, .. } => (*span, None),
            Stmt::If { condition, then, otherwise } => {
                let (then, otherwise) = (spanned(then, whole), spanned(otherwise, whole));
                (whole, Some(Branches { condition: condition.clone(), then, otherwise }))
            }
            _ => (whole, None),
        };
        Spanned { stmt: stmt.clone(), span, branches }
    };
    block.iter().map(one).collect()
}

/// What is known, or used.
#[derive(Clone, Default)]
struct Slots {
    cpus: BTreeSet<usize>,
    nums: BTreeSet<usize>,
    /// For how long the task ran: told when it stops.
    ran: bool,
}

impl Visitor for Slots {
    fn place(&mut self, place: &Place) {
        if let Place::Slot(slot) = place {
            self.cpus.insert(*slot);
        }
    }
    fn num(&mut self, num: &Num) {
        match num {
            Num::Local(slot) => {
                self.nums.insert(*slot);
            }
            Num::Ran => self.ran = true,
            _ => {}
        }
    }
    fn bool(&mut self, condition: &Bool) {
        if let Bool::Found(slot) = condition {
            self.cpus.insert(*slot);
        }
    }
}

/// Whether each slot is filled before it is used.
fn named(block: &[Stmt], filled: &Slots) -> bool {
    let mut filled = filled.clone();
    block.iter().all(|stmt| {
        let mut used = Slots::default();
        let inside = match stmt {
            Stmt::If { condition, then, otherwise } => {
                visit_bool(condition, &mut used);
                named(then, &filled) && named(otherwise, &filled)
            }
            one => {
                visit_block(std::slice::from_ref(one), &mut used);
                true
            }
        };
        let slots = used.cpus.is_subset(&filled.cpus) && used.nums.is_subset(&filled.nums);
        let known = slots && (filled.ran || !used.ran);
        match stmt {
            Stmt::Claim { slot, .. } | Stmt::Pick { slot, .. } => {
                filled.cpus.insert(*slot);
            }
            Stmt::Let(slot, _) => {
                filled.nums.insert(*slot);
            }
            _ => {}
        }
        inside && known
    })
}
