//! Splits a wait for a CPU into pieces by reason.

use std::collections::BTreeMap;

use wastenot_model::{CpuId, MaskId, TaskId, Time, Window};

use super::watch::{Is, Look, Place};
use super::{Ground, Kind, Reason, reason};
use crate::causes::LostTime;
use crate::waste::Figures;

/// Which lost time has which cause; in order, without overlap.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    /// Waste, by the task that waited.
    pub waits: BTreeMap<TaskId, Vec<(Window, Reason)>>,
    /// Wake delay, by the CPU.
    pub delays: BTreeMap<CpuId, Vec<(Window, Reason)>>,
}

/// A part of a wait: what it was, and why.
type Piece = (Window, Kind, Reason);

/// Those that overlap `window`, of some in order without overlap.
fn within<T: Copy>(
    all: Option<&Vec<(Window, T)>>,
    window: Window,
) -> impl Iterator<Item = (Window, T)> {
    let all = all.map_or(&[][..], Vec::as_slice);
    let first = all.partition_point(|(it, _)| it.to <= window.from);
    let clip = move |&(it, what): &(Window, T)| {
        let (from, to) = window.clip(it.from, it.to)?;
        Some((Window { from, to }, what))
    };
    all[first..].iter().map_while(clip)
}

impl Reasons {
    /// Those that were found with waste.
    pub(super) fn of(figures: &Figures) -> Reasons {
        let mut found = figures.causes.as_ref().map_or(Vec::new(), |it| it.stretches.clone());
        found.sort_by_key(|(_, _, stretch)| stretch.window.from);
        let mut reasons = Reasons::default();
        for (cause, loss, stretch) in found {
            let is_waste = loss == LostTime::Waste;
            let reason = Reason { name: cause.path, about: cause.about, is_waste };
            let all = match loss {
                LostTime::Waste => reasons.waits.entry(stretch.task).or_default(),
                LostTime::WakeDelay => reasons.delays.entry(stretch.cpu).or_default(),
                LostTime::Affinity | LostTime::Quota => continue,
            };
            // Of causes that share a window each has its part of it, one after the other.
            let free = all.last().map_or(Time(0), |(last, _)| last.to);
            let from = stretch.window.from.max(free);
            let to = stretch.window.to.min(Time(from.0.saturating_add(stretch.ns)));
            if from < to {
                all.push((Window { from, to }, reason));
            }
        }
        reasons
    }
}

/// Adds what a CPU took to start the task, unless it is empty.
fn starting(window: Window, why: Reason, pieces: &mut Vec<Piece>) {
    if window.from < window.to {
        pieces.push((window, Kind::WakeDelay, why));
    }
}

impl Ground {
    /// Splits a wait of `task` into pieces by why it waited, in order.
    pub(super) fn wait(&self, task: TaskId, is: Is, window: Window, kind: Kind) -> Vec<Piece> {
        let Is::Waiting { cpu, sure, mask } = is else { return Vec::new() };
        let mut pieces = Vec::new();
        let mut from = window.from;
        for (it, place) in within(cpu.and_then(|cpu| self.sight.places.get(&cpu)), window) {
            let is_starting = match place {
                Place::Unsure => false,
                Place::Waking(head) if head == task => true,
                Place::Waking(_) => continue,
            };
            self.by_charge(task, (sure, mask), Window { from, to: it.from }, kind, &mut pieces);
            if is_starting {
                let delays = cpu.and_then(|cpu| self.reasons.delays.get(&cpu));
                let mut known = it.from;
                for (part, reason) in within(delays, it) {
                    starting(Window { from: known, to: part.from }, reason::STARTING, &mut pieces);
                    starting(part, reason, &mut pieces);
                    known = part.to;
                }
                starting(Window { from: known, to: it.to }, reason::STARTING, &mut pieces);
            } else {
                pieces.push((it, Kind::Unknown, reason::NOT_RECORDED));
            }
            from = it.to;
        }
        self.by_charge(task, (sure, mask), Window { from, to: window.to }, kind, &mut pieces);
        pieces
    }

    /// A part of a wait behind another task.
    fn by_charge(
        &self,
        task: TaskId,
        known: (bool, Option<MaskId>),
        window: Window,
        kind: Kind,
        pieces: &mut Vec<Piece>,
    ) {
        let mut from = window.from;
        for (it, reason) in within(self.reasons.waits.get(&task), window) {
            self.by_look(known, Window { from, to: it.from }, kind, pieces);
            pieces.push((it, kind, reason));
            from = it.to;
        }
        self.by_look(known, Window { from, to: window.to }, kind, pieces);
    }

    /// A part of which no waste is: whether the task `sure`ly waited, and its affinity.
    fn by_look(
        &self,
        (sure, mask): (bool, Option<MaskId>),
        window: Window,
        kind: Kind,
        pieces: &mut Vec<Piece>,
    ) {
        let looks = &self.sight.looks;
        // The first is from the time 0.
        let mut next = looks.partition_point(|(time, _)| *time <= window.from);
        let mut from = window.from;
        while from < window.to {
            let to = looks.get(next).map_or(window.to, |(time, _)| *time).min(window.to);
            let look = looks[next - 1].1;
            let reason = match look {
                _ if !sure => reason::NOT_KNOWN,
                Look { idle: true, unknown: false, .. } if look.is_closed_to(mask) => {
                    reason::AFFINITY
                }
                Look { idle: true, .. } => reason::NONE_LEFT,
                Look { unknown: true, .. } => reason::NOT_KNOWN,
                Look { .. } => reason::BUSY,
            };
            pieces.push((Window { from, to }, kind, reason));
            (from, next) = (to, next + 1);
        }
    }
}
