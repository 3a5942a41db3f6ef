//! Why a task waited for a CPU: a wait in pieces.

use std::collections::BTreeMap;

use wastenot_model::{CpuId, Span, TaskId, Time, Window};

use super::walk::Ground;
use super::watch::{Is, Look, Place};
use super::{Kind, Reason, reason};
use crate::causes::Loss;
use crate::waste::Figures;

/// Which lost time has which cause; in order, without overlap.
#[derive(Debug, Default)]
pub(super) struct Charges {
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

impl Charges {
    /// Those that were found with waste.
    pub(super) fn of(figures: &Figures) -> Charges {
        let mut charges = Charges::default();
        for (cause, loss, stretch) in figures.causes.iter().flat_map(|causes| &causes.stretches) {
            let is_waste = *loss == Loss::Waste;
            let reason = Reason { name: cause.path, about: cause.about, is_waste };
            match loss {
                Loss::Waste => charges.waits.entry(stretch.task).or_default(),
                Loss::WakeDelay => charges.delays.entry(stretch.cpu).or_default(),
                Loss::Affinity | Loss::Quota => continue,
            }
            .push((stretch.window, reason));
        }
        charges.waits.values_mut().chain(charges.delays.values_mut()).for_each(set_apart);
        charges
    }
}

/// Sorts them by time. Where two have the same time it belongs to the first.
fn set_apart(reasons: &mut Vec<(Window, Reason)>) {
    reasons.sort_by_key(|(window, _)| window.from);
    let mut known = Time(0);
    for (window, _) in reasons.iter_mut() {
        window.from = window.from.max(known).min(window.to);
        known = known.max(window.to);
    }
    reasons.retain(|(window, _)| window.span() > Span::ZERO);
}

impl Ground {
    /// Splits a wait of `task` into pieces by why it waited, in order.
    pub(super) fn wait(&self, task: TaskId, is: Is, window: Window, kind: Kind) -> Vec<Piece> {
        let Is::Waiting { cpu, sure } = is else { return Vec::new() };
        let mut pieces = Vec::new();
        let mut from = window.from;
        for (it, place) in within(cpu.and_then(|cpu| self.sight.places.get(&cpu)), window) {
            let (kind_of, reason) = match place {
                Place::Unsure => (Kind::Unknown, reason::NOT_RECORDED),
                Place::Waking(head) if head == task => {
                    let delays = cpu.and_then(|cpu| self.charges.delays.get(&cpu));
                    let cause = within(delays, it).next().map(|(_, reason)| reason);
                    (Kind::WakeDelay, cause.unwrap_or(reason::STARTING))
                }
                Place::Waking(_) => continue,
            };
            self.by_charge(task, sure, Window { from, to: it.from }, kind, &mut pieces);
            pieces.push((it, kind_of, reason));
            from = it.to;
        }
        self.by_charge(task, sure, Window { from, to: window.to }, kind, &mut pieces);
        pieces
    }

    /// A part of a wait behind another task.
    fn by_charge(
        &self,
        task: TaskId,
        sure: bool,
        window: Window,
        kind: Kind,
        pieces: &mut Vec<Piece>,
    ) {
        let mut from = window.from;
        for (it, reason) in within(self.charges.waits.get(&task), window) {
            self.by_look(sure, Window { from, to: it.from }, kind, pieces);
            pieces.push((it, kind, reason));
            from = it.to;
        }
        self.by_look(sure, Window { from, to: window.to }, kind, pieces);
    }

    fn by_look(&self, sure: bool, window: Window, kind: Kind, pieces: &mut Vec<Piece>) {
        let looks = &self.sight.looks;
        // The first is from the time 0.
        let mut next = looks.partition_point(|(time, _)| *time <= window.from);
        let mut from = window.from;
        while from < window.to {
            let to = looks.get(next).map_or(window.to, |(time, _)| *time).min(window.to);
            let look = looks[next - 1].1;
            let reason = match look {
                _ if !sure => reason::NOT_KNOWN,
                Look { idle: true, .. } => reason::NONE_LEFT,
                Look { unknown: true, .. } => reason::NOT_KNOWN,
                Look { .. } => reason::BUSY,
            };
            pieces.push((Window { from, to }, kind, reason));
            (from, next) = (to, next + 1);
        }
    }
}
