//! Data that a source lost or recorded wrongly. This is neither a failure nor a finding, and every
//! report contains it.

use crate::{CpuId, Time};

/// What was lost, or is suspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossKind {
    /// The recorder dropped events (buffer overrun, lost records).
    LostEvents,
    /// The file ends in the middle; what comes before was read.
    Cut,
    /// A CPU's events are not in the file although it acted.
    Missing,
    /// Part of the file cannot be decoded and was skipped.
    Damaged,
    /// Time went backwards within one CPU's stream; the stamp was held at the last one.
    ClockStep,
    /// CPU clocks disagree: effects are stamped before their causes.
    ClockSkew,
    /// Events contradict each other although none is reported lost.
    Contradiction,
    /// The clock counts something other than nanoseconds and no rate is known.
    UnknownUnit,
    /// Part of the source is not understood and was left out (an event, a record type).
    Unread,
}

/// How serious a loss is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; the figures hold.
    Info,
    /// The figures may be wrong.
    Suspect,
    /// Something is missing; the figures are bounds.
    Lost,
}

impl LossKind {
    /// A stable name for JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            LossKind::LostEvents => "lost_events",
            LossKind::Cut => "cut",
            LossKind::Missing => "missing",
            LossKind::Damaged => "damaged",
            LossKind::ClockStep => "clock_step",
            LossKind::ClockSkew => "clock_skew",
            LossKind::Contradiction => "contradiction",
            LossKind::UnknownUnit => "unknown_unit",
            LossKind::Unread => "unread",
        }
    }
    /// How serious it is.
    pub fn severity(self) -> Severity {
        match self {
            LossKind::LostEvents | LossKind::Cut | LossKind::Missing | LossKind::Damaged => {
                Severity::Lost
            }
            LossKind::ClockStep | LossKind::ClockSkew | LossKind::Contradiction => {
                Severity::Suspect
            }
            LossKind::UnknownUnit => Severity::Suspect,
            LossKind::Unread => Severity::Info,
        }
    }
}

/// One loss, summed per kind and CPU so that a broken file cannot make a long list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// What happened.
    pub kind: LossKind,
    /// The CPU whose stream it is in, if known.
    pub cpu: Option<CpuId>,
    /// When it first happened.
    pub time: Option<Time>,
    /// How many events or places; `None` if the source does not give a number.
    pub count: Option<u64>,
    /// One sentence: what was found.
    pub note: String,
}

impl Loss {
    /// A loss without CPU, time or count.
    pub fn new(kind: LossKind, note: impl Into<String>) -> Loss {
        Loss { kind, cpu: None, time: None, count: None, note: note.into() }
    }
    /// The recorder of `cpu` dropped `count` events after `time`.
    pub fn dropped(cpu: CpuId, time: Time, count: Option<u32>) -> Loss {
        let note = "the recorder dropped events".to_owned();
        let count = count.map(u64::from);
        Loss { kind: LossKind::LostEvents, cpu: Some(cpu), time: Some(time), count, note }
    }
    /// Adds this to the entry in `losses` of the same kind on the same CPU.
    pub fn add_to(self, losses: &mut Vec<Loss>) {
        let mut known = losses.iter_mut();
        match known.find(|known| known.kind == self.kind && known.cpu == self.cpu) {
            None => losses.push(self),
            Some(known) => {
                known.time = match (known.time, self.time) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                known.count = match (known.count, self.count) {
                    (Some(a), Some(b)) => Some(a.saturating_add(b)),
                    _ => None,
                };
            }
        }
    }
}
