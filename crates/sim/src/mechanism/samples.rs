//! What overheads a run showed, in the kinds that Feather-Trace records.

use wastenot_model::report::Unit;
use wastenot_model::{Annex, Column, CpuId, Span, Table, Time};

/// What a sample brackets: Feather-Trace's points of LITMUS^RT. Of its kinds a switch (CXS) takes
/// what the profile says, always the same, and there is no tick (TICK).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overhead {
    /// From when a CPU looks for its next task until it switches, waiting for locks included: SCHED
    /// and SCHED2.
    Schedule,
    /// The interrupt that releases jobs: RELEASE.
    Release,
    /// From an interrupt of another CPU until that one acts on it: SEND_RESCHED.
    SendResched,
    /// From when a job is due until the interrupt that releases it: RELEASE_LATENCY.
    ReleaseLatency,
    /// From when a message is written until its reader takes it: CLIENT_REQUEST_LATENCY.
    RequestLatency,
    /// What the dedicated processor does of one message: DSP_HANDLER.
    Handler,
}

impl Overhead {
    /// All of them.
    pub const ALL: [Overhead; 6] = [
        Overhead::Schedule,
        Overhead::Release,
        Overhead::SendResched,
        Overhead::ReleaseLatency,
        Overhead::RequestLatency,
        Overhead::Handler,
    ];
    /// Its name in Feather-Trace's tables.
    pub fn name(self) -> &'static str {
        match self {
            Overhead::Schedule => "SCHED",
            Overhead::Release => "RELEASE",
            Overhead::SendResched => "SEND-RESCHED",
            Overhead::ReleaseLatency => "RELEASE-LATENCY",
            Overhead::RequestLatency => "CPU-REQUEST",
            Overhead::Handler => "MASTER-HANDLER",
        }
    }
}

/// What was seen of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// How often.
    pub count: u64,
    /// All together.
    pub sum: Span,
    /// The longest.
    pub max: Span,
}

impl Seen {
    /// The mean; 0 if there was none.
    pub fn mean(&self) -> Span {
        Span(self.sum.0.checked_div(self.count).unwrap_or(0))
    }
    /// One more was seen.
    pub fn add(&mut self, span: Span) {
        self.merge(Seen { count: 1, sum: span, max: span });
    }
    /// What others saw, too.
    pub fn merge(&mut self, other: Seen) {
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }
}

/// What was seen of all kinds, and each sample if somebody wants them.
#[derive(Debug, Default)]
pub struct Samples {
    seen: [Seen; Overhead::ALL.len()],
    /// Each: when it ended, on which CPU, what, how long.
    rows: Option<Vec<(Time, CpuId, Overhead, Span)>>,
}

impl Samples {
    pub(crate) fn new(rows: bool) -> Samples {
        Samples { rows: rows.then(Vec::new), ..Samples::default() }
    }
    /// What was seen of one kind.
    pub fn of(&self, kind: Overhead) -> Seen {
        self.seen[kind as usize]
    }
    pub(crate) fn add(&mut self, now: Time, cpu: CpuId, kind: Overhead, span: Span) {
        self.seen[kind as usize].add(span);
        if let Some(rows) = &mut self.rows {
            rows.push((now, cpu, kind, span));
        }
    }
    /// All samples as a table.
    pub(crate) fn annex(&self) -> Option<Annex> {
        let rows = self.rows.as_ref().filter(|rows| !rows.is_empty())?;
        let columns = [
            Column::new("time_ns", "time", Unit::At),
            Column::new("cpu", "CPU", Unit::None),
            Column::new("kind", "overhead", Unit::None),
            Column::new("length_ns", "length", Unit::Ns),
        ];
        let mut table = Table::new("overheads", "Overheads", columns);
        for &(time, cpu, kind, span) in rows {
            table.push(vec![time.into(), cpu.into(), kind.name().into(), span.into()]);
        }
        Some(Annex { table })
    }
}
