//! The checks of a text that need only [`crate::ir`]: that every name exists, the paths of
//! handlers, how many tasks a balance takes, and that it names the receiving queue. For tools that
//! change a policy without writing a text.

use std::collections::BTreeSet;

use super::statements::{Branches, Spanned};
use super::{balance, paths};
use crate::Diagnostic;
use crate::ir::{Bool, Event, Num, Place, Policy, Stmt, Visitor, visit_block, visit_bool};
use crate::syntax::Span;

/// The errors that the text of `policy` would have, as far as these checks go. A policy that was
/// compiled has none.
pub fn faults(policy: &Policy) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for event in Event::ALL {
        let handler = &policy.handlers[event as usize];
        let known = Slots { ran: event == Event::Stop, ..Slots::default() };
        if !named(handler, &known) {
            let message = format!("`{}` uses a name that is not known here", event.name());
            let help = "declare the name with `let` before you use it; only the handler of `stop` \
                        has `ran`";
            found.push(Diagnostic::new("R101", policy.span, message, "not known here", help));
        }
        let statements = spanned(handler, policy.span);
        paths::check(&statements, event, policy.span, &mut found);
    }
    if let Some(idle) = &policy.idle {
        found.extend(balance::not_one(&idle.count, idle.spans.steal));
    }
    let onto_cpus = policy.periodic.iter().filter(|periodic| periodic.balance.into.is_none());
    found.extend(onto_cpus.map(|periodic| balance::nowhere(periodic.balance.spans.steal)));
    found
}

/// Statements with their own positions if they have them, otherwise with the position `whole`.
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

/// The slots that are filled or used.
#[derive(Clone, Default)]
struct Slots {
    cpus: BTreeSet<usize>,
    nums: BTreeSet<usize>,
    /// Whether `ran` is known: only in `stop`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Bool;

    const WS: &str = include_str!("../../../../../policies/work-stealing.rota");

    /// The codes of the errors after `change` was applied to a correct policy.
    fn codes(change: impl Fn(&mut Policy)) -> Vec<&'static str> {
        let mut policy = crate::compile(WS).expect("it compiles").policies.remove(0);
        assert_eq!(faults(&policy), []);
        change(&mut policy);
        faults(&policy).iter().map(|fault| fault.code).collect()
    }

    /// The condition of the first branch of `wake`.
    fn condition(policy: &mut Policy) -> &mut Bool {
        match &mut policy.handlers[Event::Wake as usize][1] {
            Stmt::If { condition, .. } => condition,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_claimed_cpu_is_used_where_it_was_found_only() {
        for always in [true, false] {
            let asked = codes(|it| *condition(it) = Bool::Const(always));
            assert_eq!(asked, ["R301", "R308"]);
        }
    }

    #[test]
    fn tasks_are_lost_or_placed_twice() {
        let wake = Event::Wake as usize;
        assert_eq!(codes(|it| it.handlers[wake].clear()), ["R307"]);
        let preempt = Event::Preempt as usize;
        let twice = |it: &mut Policy| it.handlers[preempt].extend_from_within(..);
        assert_eq!(codes(twice), ["R307"]);
        let block = Event::Block as usize;
        let moved = |it: &mut Policy| it.handlers[block] = it.handlers[preempt].clone();
        assert_eq!(codes(moved), ["R310"]);
    }

    #[test]
    fn names_are_there_before_they_are_used() {
        let wake = Event::Wake as usize;
        let codes_of_drop = codes(|it| {
            it.handlers[wake].remove(0);
        });
        assert!(codes_of_drop.contains(&"R101"), "{codes_of_drop:?}");
        assert_eq!(codes(|it| it.handlers[wake].insert(0, Stmt::Let(0, Num::Ran))), ["R101"]);
        let stop = Event::Stop as usize;
        assert!(codes(|it| it.handlers[stop].push(Stmt::Let(0, Num::Ran))).is_empty());
    }

    #[test]
    fn who_is_idle_takes_one() {
        let two = |it: &mut Policy| {
            if let Some(idle) = &mut it.idle {
                idle.count = Num::Const(2);
            }
        };
        assert_eq!(codes(two), ["R411"]);
    }
}
