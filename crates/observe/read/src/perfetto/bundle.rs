//! The bundles of one CPU as a stream of records in time order.

use wastenot_model::{Context, Left, Prio};

use super::clock::Conversion;
use super::compact::{Compact, Switch, Waking};
use super::event;
use super::fields::bundle;
use super::packets::Bundle;
use super::states::States;
use super::wire::Fields;
use crate::merge::Stream;
use crate::raw::{Comm, Raw, RawEvent};

/// Records of a batch.
const BATCH: usize = 2048;
/// The tid of the unknown task that left a CPU, where the compact form does not give it.
pub(super) const NOBODY: i32 = -1;
const NOBODY_COMM: &[u8] = b"<unknown>";

/// Decodes the bundles of one CPU.
pub(super) struct Bundles<'a> {
    cpu: u16,
    bundles: std::vec::IntoIter<Bundle<'a>>,
    clocks: Conversion,
    states: States,
    open: Option<Open<'a>>,
    /// The running task, once a switch of this CPU has shown it.
    running: Option<(i32, Comm)>,
    /// Stamp of the previous record.
    last: Option<u64>,
}

/// A bundle that is being read: three sources, each in time order, of which the earliest record
/// comes next.
struct Open<'a> {
    cpu_offset: i64,
    lost: bool,
    events: Fields<'a>,
    event: Option<Raw>,
    compact: Compact<'a>,
    switch: Option<Switch>,
    waking: Option<Waking>,
}

impl<'a> Bundles<'a> {
    pub(super) fn new(
        cpu: u16,
        bundles: Vec<Bundle<'a>>,
        clocks: &Conversion,
        states: States,
    ) -> Self {
        let (bundles, clocks) = (bundles.into_iter(), clocks.clone());
        Bundles { cpu, bundles, clocks, states, open: None, running: None, last: None }
    }

    /// The next record of the open bundle.
    #[inline]
    fn record(&mut self) -> Option<Raw> {
        let open = self.open.as_mut()?;
        let times = [
            open.waking.as_ref().map_or(u64::MAX, |waking| waking.time),
            open.event.as_ref().map_or(u64::MAX, |event| event.time),
            open.switch.as_ref().map_or(u64::MAX, |switch| switch.time),
        ];
        let mut raw = if times[0] <= times[1] && times[0] <= times[2] && open.waking.is_some() {
            let waking = open.waking.take()?;
            open.waking = open.compact.waking();
            self.waking(&waking)
        } else if times[1] <= times[2] && open.event.is_some() {
            let raw = open.event.take()?;
            open.event = next_event(self.cpu, &mut open.events, self.states);
            self.full(raw)
        } else {
            let switch = open.switch.take()?;
            open.switch = open.compact.switch();
            self.switch(&switch)
        };
        let open = self.open.as_ref()?;
        raw.time = raw.time.saturating_add_signed(open.cpu_offset);
        Some(raw)
    }

    fn full(&mut self, raw: Raw) -> Raw {
        if let RawEvent::Switch { next, next_comm, .. } = raw.event {
            self.running = Some((next, next_comm));
        }
        raw
    }

    fn switch(&mut self, switch: &Switch) -> Raw {
        let known = self.running.replace((switch.next, switch.comm));
        let left = switch.state.map_or(Left::Unknown, |bits| self.states.left(bits));
        // A name comes with the task that is switched to; its name when it leaves, only with the
        // next event.
        let (prev, prev_comm) = known.unwrap_or((NOBODY, Comm::new(NOBODY_COMM)));
        let event = RawEvent::Switch {
            prev,
            next: switch.next,
            left: if known.is_some() { left } else { Left::Unknown },
            prev_prio: Prio::UNKNOWN,
            next_prio: switch.prio,
            prev_comm,
            next_comm: switch.comm,
        };
        Raw { time: switch.time, current: prev, context: Context::Unknown, event }
    }

    fn waking(&mut self, waking: &Waking) -> Raw {
        let current = self.running.map_or(-1, |(tid, _)| tid);
        let (tid, prev) = (waking.tid, waking.target);
        let event = RawEvent::Waking { tid, prev, prio: waking.prio, comm: waking.comm };
        Raw { time: waking.time, current, context: waking.context, event }
    }

    fn open(&mut self, found: &Bundle<'a>) -> Open<'a> {
        let mut events = Fields::of(found.bytes);
        let mut compact = Compact::of(found.compact.unwrap_or_default());
        Open {
            cpu_offset: self.clocks.offset(found.clock),
            lost: found.lost,
            event: next_event(self.cpu, &mut events, self.states),
            events,
            switch: compact.switch(),
            waking: compact.waking(),
            compact,
        }
    }
}

fn next_event(cpu: u16, events: &mut Fields<'_>, states: States) -> Option<Raw> {
    let mut messages = events.filter(|(number, _)| *number == bundle::EVENT);
    messages.find_map(|(_, wire)| event::decode(cpu, wire.bytes(), states))
}

impl Stream for Bundles<'_> {
    fn fill(&mut self, out: &mut Vec<Raw>) {
        let enough = out.len() + BATCH;
        while out.len() < enough {
            if self.open.is_none() {
                let Some(next) = self.bundles.next() else { return };
                self.open = Some(self.open(&next));
            }
            // A gap begins at the record before it; without one, at the first after it.
            let lost = self.open.as_mut().is_some_and(|open| std::mem::take(&mut open.lost));
            let before = self.last;
            if lost {
                self.running = None;
            }
            let record = self.record();
            if lost && let Some(time) = before.or(record.map(|raw| raw.time)) {
                let event = RawEvent::Lost { count: None };
                out.push(Raw { time, current: -1, context: Context::Unknown, event });
            }
            match record {
                None => self.open = None,
                Some(raw) => {
                    self.last = Some(raw.time);
                    out.push(raw);
                }
            }
        }
    }
}
