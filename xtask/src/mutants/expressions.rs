//! Operators on conditions and what they read: guards and footprint.

use wastenot_rota::ir::{Balance, Bool, Comparison, Num, Place, QueueAt};

use super::site::Part;
use super::site::When;

pub(super) fn negate(part: Part<'_>, way: usize) -> bool {
    guard(part, way, |guard| match guard {
        Bool::Const(_) => None,
        other => Some(Bool::Not(Box::new(other.clone()))),
    })
}

pub(super) fn always(part: Part<'_>, way: usize) -> bool {
    guard(part, way, |_| Some(Bool::Const(true)))
}

pub(super) fn never(part: Part<'_>, way: usize) -> bool {
    guard(part, way, |_| Some(Bool::Const(false)))
}

/// Every other way to compare.
pub(super) fn compare(part: Part<'_>, way: usize) -> bool {
    use Comparison::{Equal, Less, LessOrEqual, NotEqual};
    let Part::Condition(Bool::Compare(_, how, _)) = part else { return false };
    let others = [Less, LessOrEqual, Equal, NotEqual].into_iter().filter(|other| other != how);
    let Some(other) = others.clone().nth(way) else { return false };
    *how = other;
    true
}

pub(super) fn turn(part: Part<'_>, way: usize) -> bool {
    let Part::Condition(Bool::Compare(a, _, b)) = part else { return false };
    std::mem::swap(a, b);
    way == 0
}

/// One for the other, and each side by itself.
pub(super) fn connective(part: Part<'_>, way: usize) -> bool {
    let Part::Condition(condition) = part else { return false };
    let (a, b, and) = match condition.clone() {
        Bool::And(a, b) => (a, b, true),
        Bool::Or(a, b) => (a, b, false),
        _ => return false,
    };
    *condition = match (way, and) {
        (0, true) => Bool::Or(a, b),
        (0, false) => Bool::And(a, b),
        (1, _) => *a,
        (2, _) => *b,
        _ => return false,
    };
    true
}

pub(super) fn off_by_one(part: Part<'_>, way: usize) -> bool {
    let Part::Number(Num::Const(value)) = part else { return false };
    let Some(more) = [1, -1].get(way) else { return false };
    *value += more;
    true
}

pub(super) fn other_place(part: Part<'_>, way: usize) -> bool {
    let Part::Read(place, instead) = part else { return false };
    *place = instead;
    way == 0
}

/// The re-check asks for more than that the task may run here.
pub(super) fn asks_again(part: Part<'_>, way: usize) -> bool {
    let Part::Balance(balance, When::Idle) = part else { return false };
    let queued = theirs(balance);
    let seen = Num::Seen(0, Box::new(queued.clone()));
    let more = match way {
        0 => Bool::Compare(queued, Comparison::Equal, seen),
        1 => Bool::Compare(queued, Comparison::LessOrEqual, seen),
        2 => Bool::Compare(seen, Comparison::LessOrEqual, queued),
        3 => Bool::Compare(Num::Const(2), Comparison::LessOrEqual, queued),
        4 => Bool::Compare(Num::Const(1), Comparison::LessOrEqual, queued),
        5 => Bool::Idle(Place::Me),
        _ => return false,
    };
    balance.recheck = more;
    true
}

/// The filter asks for more than that somebody waits there.
pub(super) fn asks_more(part: Part<'_>, way: usize) -> bool {
    let Part::Balance(balance, When::Idle) = part else { return false };
    let more = match way {
        0 => Bool::Idle(Place::Me),
        1 => Bool::Compare(Num::Now, Comparison::NotEqual, Num::Const(0)),
        2 => Bool::Compare(theirs(balance), Comparison::LessOrEqual, Num::Const(2)),
        _ => return false,
    };
    balance.filter = Bool::And(Box::new(balance.filter.clone()), Box::new(more));
    true
}

fn theirs(balance: &Balance) -> Num {
    Num::Queued(QueueAt { queue: balance.from, at: Place::Other })
}

fn guard(part: Part<'_>, way: usize, instead: impl Fn(&Bool) -> Option<Bool>) -> bool {
    let Part::Guard(guard) = part else { return false };
    match instead(guard).filter(|_| way == 0) {
        Some(other) => {
            *guard = other;
            true
        }
        None => false,
    }
}
