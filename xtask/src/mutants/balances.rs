//! Operators on balances and parameters: steps, levels, choice and tuning.

use wastenot_rota::ir::{Choose, Level, Num, Queue};

use super::site::{Part, When};

pub(super) fn retry_less(part: Part<'_>, way: usize) -> bool {
    let Part::Balance(balance, When::Idle) = part else { return false };
    let Some(retries) = [0, 1].get(way) else { return false };
    balance.retry = Some(*retries);
    true
}

pub(super) fn count_other(part: Part<'_>, way: usize) -> bool {
    let Part::Balance(balance, _) = part else { return false };
    let Some(count) = [0, 1, 2].get(way) else { return false };
    balance.count = Num::Const(*count);
    true
}

pub(super) fn no_rebase(part: Part<'_>, way: usize) -> bool {
    let Part::Balance(balance, _) = part else { return false };
    balance.rebase.take().is_some() && way == 0
}

pub(super) fn drop_level(part: Part<'_>, way: usize) -> bool {
    let Part::Balance(balance, _) = part else { return false };
    let fits = way < balance.levels.len() && balance.levels.len() > 1;
    if fits {
        balance.levels.remove(way);
    }
    fits
}

/// The last level that there is, and each that is narrower, for the last one.
pub(super) fn narrow_last(part: Part<'_>, way: usize) -> bool {
    let Part::Balance(balance, _) = part else { return false };
    let Some(last) = balance.levels.pop() else { return false };
    let Some(narrower) = (last as usize).checked_sub(way + 1) else { return false };
    let narrower = Level::ALL[narrower];
    if narrower == Level::Cpu {
        return false;
    }
    balance.levels.retain(|level| *level < narrower);
    balance.levels.push(narrower);
    true
}

/// Onto the CPU that balances; into each other queue; into a queue of each level that is no
/// narrower, which is there for nothing else.
pub(super) fn into_other(part: Part<'_>, way: usize) -> bool {
    let Part::Into(queues, balance) = part else { return false };
    let others: Vec<usize> =
        (0..queues.len()).filter(|&queue| Some(queue) != balance.into).collect();
    let wide = Level::ALL.into_iter().filter(|level| *level >= queues[balance.from].per);
    let place = match way.checked_sub(1) {
        None => None,
        Some(way) if way < others.len() => Some(others[way]),
        Some(way) => {
            let Some(per) = wide.clone().nth(way - others.len()) else { return false };
            let Queue { span, .. } = queues[balance.from];
            queues.push(Queue { name: "elsewhere".into(), key: None, per, span });
            Some(queues.len() - 1)
        }
    };
    balance.into = place;
    true
}

pub(super) fn no_leader(part: Part<'_>, way: usize) -> bool {
    let Part::Balance(_, When::Every { leader, .. }) = part else { return false };
    leader.take().is_some() && way == 0
}

pub(super) fn other_leader(part: Part<'_>, way: usize) -> bool {
    let Part::Balance(_, When::Every { leader, .. }) = part else { return false };
    *leader = Level::ALL.get(way).copied();
    leader.is_some()
}

pub(super) fn choose_any(part: Part<'_>, way: usize) -> bool {
    let Part::Balance(balance, _) = part else { return false };
    balance.choose = Choose::Any;
    way == 0
}

pub(super) fn choose_other(part: Part<'_>, way: usize) -> bool {
    let Part::Balance(balance, _) = part else { return false };
    let Choose::Best { greatest, .. } = &mut balance.choose else { return false };
    *greatest = !*greatest;
    way == 0
}

pub(super) fn tie_other(part: Part<'_>, way: usize) -> bool {
    let Part::Balance(balance, _) = part else { return false };
    let Choose::Best { near, .. } = &mut balance.choose else { return false };
    *near = !*near;
    way == 0
}

pub(super) fn half_period(part: Part<'_>, way: usize) -> bool {
    let Part::Balance(_, When::Every { period, .. }) = part else { return false };
    *period = Num::Over(Box::new(period.clone()), 2);
    way == 0
}

pub(super) fn double_period(part: Part<'_>, way: usize) -> bool {
    let Part::Balance(_, When::Every { period, .. }) = part else { return false };
    *period = Num::Times(Box::new(period.clone()), 2);
    way == 0
}

pub(super) fn half_parameter(part: Part<'_>, way: usize) -> bool {
    let Part::Param(param) = part else { return false };
    param.value /= 2;
    way == 0
}

pub(super) fn double_parameter(part: Part<'_>, way: usize) -> bool {
    let Part::Param(param) = part else { return false };
    param.value *= 2;
    way == 0
}
