//! The compact form of a bundle: arrays with one entry per switch or waking; stamps are deltas.

use wastenot_model::{Context, CpuId, Prio};

use super::event::{context, prio};
use super::fields::compact;
use super::wire::{Fields, Packed};
use crate::raw::Comm;

/// A switch in compact form: the next task, and how the previous one left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switch {
    pub(super) time: u64,
    pub(super) next: i32,
    pub(super) prio: Prio,
    pub(super) comm: Comm,
    pub(super) state: Option<u64>,
}

/// A waking in compact form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waking {
    pub(super) time: u64,
    pub(super) tid: i32,
    /// The CPU where the task was last: it is woken before a CPU is selected.
    pub(super) target: Option<CpuId>,
    pub(super) prio: Prio,
    pub(super) comm: Comm,
    pub(super) context: Context,
}

/// Reads both kinds of arrays in parallel.
#[derive(Default)]
pub(super) struct Compact<'a> {
    /// Names that the entries of this bundle point to.
    names: Vec<Comm>,
    switch_time: u64,
    switch_times: Packed<'a>,
    prev_states: Packed<'a>,
    next_pids: Packed<'a>,
    next_prios: Packed<'a>,
    next_comms: Packed<'a>,
    waking_time: u64,
    waking_times: Packed<'a>,
    waking_pids: Packed<'a>,
    targets: Packed<'a>,
    waking_prios: Packed<'a>,
    waking_comms: Packed<'a>,
    flags: Packed<'a>,
}

impl<'a> Compact<'a> {
    pub(super) fn of(message: &'a [u8]) -> Compact<'a> {
        let mut arrays = Compact::default();
        for (number, wire) in Fields::of(message) {
            let array = match number {
                compact::INTERN_TABLE => {
                    arrays.names.push(Comm::new(wire.bytes()));
                    continue;
                }
                compact::SWITCH_TIMESTAMP => &mut arrays.switch_times,
                compact::SWITCH_PREV_STATE => &mut arrays.prev_states,
                compact::SWITCH_NEXT_PID => &mut arrays.next_pids,
                compact::SWITCH_NEXT_PRIO => &mut arrays.next_prios,
                compact::SWITCH_NEXT_COMM => &mut arrays.next_comms,
                compact::WAKING_TIMESTAMP => &mut arrays.waking_times,
                compact::WAKING_PID => &mut arrays.waking_pids,
                compact::WAKING_TARGET_CPU => &mut arrays.targets,
                compact::WAKING_PRIO => &mut arrays.waking_prios,
                compact::WAKING_COMM => &mut arrays.waking_comms,
                compact::WAKING_FLAGS => &mut arrays.flags,
                _ => continue,
            };
            *array = Packed::of(wire.bytes());
        }
        arrays
    }

    fn name(&self, index: Option<u64>) -> Comm {
        let index = index.and_then(|index| usize::try_from(index).ok());
        index.and_then(|index| self.names.get(index)).copied().unwrap_or_default()
    }

    /// The next switch; `None` if its array or that of its tasks has ended.
    #[inline]
    pub(super) fn switch(&mut self) -> Option<Switch> {
        self.switch_time = self.switch_time.saturating_add(self.switch_times.next()?);
        let next = self.next_pids.next()? as i32;
        let comm = self.next_comms.next();
        Some(Switch {
            time: self.switch_time,
            next,
            prio: prio(self.next_prios.next()),
            comm: self.name(comm),
            state: self.prev_states.next(),
        })
    }

    /// The next waking; `None` if its array or that of its tasks has ended.
    #[inline]
    pub(super) fn waking(&mut self) -> Option<Waking> {
        self.waking_time = self.waking_time.saturating_add(self.waking_times.next()?);
        let tid = self.waking_pids.next()? as i32;
        let comm = self.waking_comms.next();
        Some(Waking {
            time: self.waking_time,
            tid,
            target: self.targets.next().and_then(super::cpu_id),
            prio: prio(self.waking_prios.next()),
            comm: self.name(comm),
            context: context(self.flags.next()),
        })
    }
}
