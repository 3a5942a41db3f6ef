//! Mutants: policies that are wrong in one place. A prover that proves them proves too much.
//!
//! A fixed list of operators ([`OPERATORS`]) is applied at every site of a policy's IR that it fits
//! (mutation testing: DeMillo, Lipton, Sayward, "Hints on Test Data Selection", Computer 11(4),
//! 1978). Each mutant has to be refuted, shown to be equivalent, shown to do nothing that the
//! original may not do, or excused by an argument ([`argument`]). Mutants of choice and tuning have
//! to be proved like the original: those that differ in nothing that a claim sees (`seen`).

mod argued;
mod balances;
mod contained;
mod equivalent;
// Operators are called through one type: each is given its part, whatever it does with it.
#[allow(clippy::needless_pass_by_value)]
mod expressions;
mod fate;
// The same.
#[allow(clippy::needless_pass_by_value)]
mod kept;
mod operators;
mod page;
mod seen;
mod site;
mod statements;
#[cfg(test)]
mod tests;

use wastenot_rota::ir::{Event, Policy};

pub(crate) use argued::{ARGUMENTS, argument};
pub(crate) use fate::{By, Standing, fates, refuted, standing};
pub(crate) use operators::{OPERATORS, Operator};
pub(crate) use page::write;
pub(crate) use site::Site;

use site::{HANDLERS, walk};

/// A policy that differs from a right one in one place.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    /// What was done: the name of an [`Operator`].
    pub operator: &'static str,
    /// What it is counted with.
    pub family: Family,
    /// Where.
    pub site: Site,
    /// What came of it.
    pub policy: Policy,
}

/// What a mutant is wrong in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    /// Conditions: filters, re-checks, branches.
    Guards,
    /// What is done.
    Steps,
    /// What is done first.
    Order,
    /// Whose state is read.
    Footprint,
    /// How far one looks.
    Levels,
    /// What is done when.
    Handlers,
    /// Choice and tuning: what no claim sees, so that no proof may depend on it.
    Choice,
}

impl Family {
    /// All of them.
    pub(crate) const ALL: [Family; 7] = [
        Family::Guards,
        Family::Steps,
        Family::Order,
        Family::Footprint,
        Family::Levels,
        Family::Handlers,
        Family::Choice,
    ];
    /// Its word.
    pub(crate) fn name(self) -> &'static str {
        ["guards", "steps", "order", "footprint", "levels", "handlers", "choice"][self as usize]
    }
}

/// Every mutant of `policy`, by operator, then in the order of the IR.
pub(crate) fn mutants(policy: &Policy) -> Vec<Mutant> {
    OPERATORS.iter().flat_map(|operator| of(operator, policy)).collect()
}

/// All that an operator makes of a policy. One that changes nothing is none.
fn of(operator: &Operator, policy: &Policy) -> Vec<Mutant> {
    let mut sites = 0;
    walk(&mut policy.clone(), &mut |_, _| sites += 1);
    let mut made = Vec::new();
    let seen_of_it = seen::seen(policy);
    for at in 0..sites {
        for way in 0.. {
            let (mut mutated, mut place, mut n) = (policy.clone(), None, 0);
            walk(&mut mutated, &mut |site, part| {
                if n == at && operator.apply(part, way) {
                    place = Some(site.clone());
                }
                n += 1;
            });
            let Some(mut site) = place else { break };
            if site.text == HANDLERS {
                site.text = changed(policy, &mutated);
            } else if way > 0 {
                site.text += &format!(" ({})", way + 1);
            }
            if mutated != *policy {
                // What means nothing is no choice.
                let means = wastenot_rota::faults(&mutated).is_empty();
                let choice = means && seen::seen(&mutated) == seen_of_it;
                let family = if choice { Family::Choice } else { operator.family };
                made.push(Mutant { operator: operator.name, family, site, policy: mutated });
            }
        }
    }
    made
}

/// `new and preempt`: whose handlers differ.
fn changed(policy: &Policy, mutated: &Policy) -> String {
    let differs = |event: &Event| {
        let event = *event as usize;
        policy.handlers[event] != mutated.handlers[event]
    };
    let names: Vec<&str> = Event::ALL.into_iter().filter(differs).map(Event::name).collect();
    names.join(" and ")
}
