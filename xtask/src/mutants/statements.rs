//! Operators on handlers, dispatch and protocol: steps, order and handlers.

use wastenot_rota::ir::{Event, Level, Num, Place, Protocol, Put, Stmt};

use super::site::Part;

pub(super) fn drop_statement(part: Part<'_>, way: usize) -> bool {
    let Part::Stmt(block, index) = part else { return false };
    block.remove(index);
    way == 0
}

pub(super) fn drop_attempt(part: Part<'_>, way: usize) -> bool {
    let Part::Dispatch(attempts) = part else { return false };
    if way < attempts.len() {
        attempts.remove(way);
        return true;
    }
    false
}

/// Puts and runs, once more right after.
pub(super) fn twice(part: Part<'_>, way: usize) -> bool {
    let Part::Stmt(block, index) = part else { return false };
    let places = matches!(block[index], Stmt::Put(_) | Stmt::Run { .. });
    if places {
        block.insert(index, block[index].clone());
    }
    places && way == 0
}

pub(super) fn put_elsewhere(part: Part<'_>, way: usize) -> bool {
    let (Some(put), Some(to)) = (put(part), [Place::Prev, Place::Here].get(way).cloned()) else {
        return false;
    };
    fn within(place: &mut Place, to: Place) {
        match place {
            Place::Of(_, inner) => within(inner, to),
            Place::Machine => {}
            other => *other = to,
        }
    }
    within(&mut put.queue.at, to);
    true
}

pub(super) fn swap_statements(part: Part<'_>, way: usize) -> bool {
    let Part::Stmt(block, index) = part else { return false };
    let fits = way == 0 && index + 1 < block.len();
    if fits {
        block.swap(index, index + 1);
    }
    fits
}

pub(super) fn swap_attempts(part: Part<'_>, way: usize) -> bool {
    let Part::Dispatch(attempts) = part else { return false };
    let fits = way + 1 < attempts.len();
    if fits {
        attempts.swap(way, way + 1);
    }
    fits
}

pub(super) fn kick_first(part: Part<'_>, way: usize) -> bool {
    protocol(part, way, |protocol| protocol.kick_first = true)
}

pub(super) fn no_rescan(part: Part<'_>, way: usize) -> bool {
    protocol(part, way, |protocol| protocol.no_rescan = true)
}

pub(super) fn no_chain(part: Part<'_>, way: usize) -> bool {
    protocol(part, way, |protocol| protocol.no_chain = true)
}

pub(super) fn unchecked(part: Part<'_>, way: usize) -> bool {
    protocol(part, way, |protocol| protocol.unchecked = true)
}

pub(super) fn groups_from_cpu0(part: Part<'_>, way: usize) -> bool {
    protocol(part, way, |protocol| protocol.groups_from_cpu0 = true)
}

/// Only who balances steals, and looks at groups.
fn protocol(part: Part<'_>, way: usize, change: impl Fn(&mut Protocol)) -> bool {
    let Part::Protocol(protocol, balances) = part else { return false };
    change(protocol);
    way == 0 && (balances || !(protocol.unchecked || protocol.groups_from_cpu0))
}

pub(super) fn empty(part: Part<'_>, way: usize) -> bool {
    let Part::Handlers(handlers) = part else { return false };
    match handlers.get_mut(way) {
        Some(handler) => {
            handler.clear();
            true
        }
        None => false,
    }
}

/// Every two.
pub(super) fn exchange(part: Part<'_>, way: usize) -> bool {
    let Part::Handlers(handlers) = part else { return false };
    let pairs = (0..Event::COUNT).flat_map(|a| (0..a).map(move |b| (a, b)));
    let Some((a, b)) = pairs.into_iter().nth(way) else { return false };
    handlers.swap(a, b);
    true
}

pub(super) fn for_ever(part: Part<'_>, way: usize) -> bool {
    slice(part, way, |_| None)
}

pub(super) fn half_slice(part: Part<'_>, way: usize) -> bool {
    slice(part, way, |slice| Some(Num::Over(Box::new(slice), 2)))
}

pub(super) fn double_slice(part: Part<'_>, way: usize) -> bool {
    slice(part, way, |slice| Some(Num::Times(Box::new(slice), 2)))
}

fn slice(part: Part<'_>, way: usize, change: impl Fn(Num) -> Option<Num>) -> bool {
    let Part::Stmt(block, index) = part else { return false };
    let (Stmt::Put(Put { slice, .. }) | Stmt::Run { slice, .. }) = &mut block[index] else {
        return false;
    };
    let fits = way == 0 && slice.is_some();
    *slice = slice.take().and_then(change);
    fits
}

pub(super) fn wake_within(part: Part<'_>, way: usize) -> bool {
    let (Some(put), Some(level)) = (put(part), NARROW.get(way)) else { return false };
    put.wake = *level;
    true
}

pub(super) fn claim_within(part: Part<'_>, way: usize) -> bool {
    let Part::Stmt(block, index) = part else { return false };
    let Stmt::Claim { within, .. } = &mut block[index] else { return false };
    *within = NARROW.get(way).copied();
    within.is_some()
}

/// Levels that are not all.
const NARROW: [Level; 3] = [Level::Smt, Level::Llc, Level::Node];

pub(super) fn claim_near(part: Part<'_>, way: usize) -> bool {
    let Part::Stmt(block, index) = part else { return false };
    let Stmt::Claim { near, .. } = &mut block[index] else { return false };
    let Some(place) = [Place::Here, Place::Home].get(way) else { return false };
    *near = place.clone();
    true
}

/// Each level left out, and all.
pub(super) fn claim_by(part: Part<'_>, way: usize) -> bool {
    let Part::Stmt(block, index) = part else { return false };
    let Stmt::Claim { by, .. } = &mut block[index] else { return false };
    let levels = by.len();
    if way < levels {
        by.remove(way);
    } else {
        by.clear();
    }
    way <= levels
}

pub(super) fn pick_other(part: Part<'_>, way: usize) -> bool {
    let Part::Stmt(block, index) = part else { return false };
    let Stmt::Pick { greatest, .. } = &mut block[index] else { return false };
    *greatest = !*greatest;
    way == 0
}

fn put(part: Part<'_>) -> Option<&mut Put> {
    match part {
        Part::Stmt(block, index) => match &mut block[index] {
            Stmt::Put(put) => Some(put),
            _ => None,
        },
        _ => None,
    }
}
