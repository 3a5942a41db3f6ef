//! The overheads of a run, in the kinds that Feather-Trace records.

use wastenot_model::{Annex, CpuId, Span, Table, Time};

/// What a sample brackets: Feather-Trace's points of LITMUS^RT. Two of its kinds are missing: a
/// switch (CXS) always takes what the profile gives, and there is no tick (TICK).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overhead {
    /// From when a CPU starts to pick its next task until it switches, waiting for locks included:
    /// SCHED and SCHED2.
    Schedule,
    /// The interrupt that releases jobs: RELEASE.
    Release,
    /// From an interrupt of another CPU until that CPU acts on it: SEND_RESCHED.
    SendResched,
    /// From when a job is due until the interrupt that releases it: RELEASE_LATENCY.
    ReleaseLatency,
    /// From when a message is written until its reader takes it: CLIENT_REQUEST_LATENCY.
    RequestLatency,
    /// What the dedicated processor does for one message: DSP_HANDLER.
    Handler,
}

impl Overhead {
    /// All kinds.
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

/// The samples of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: Span,
    /// The longest.
    pub max: Span,
}

impl Seen {
    /// The mean; 0 if there was none.
    pub fn mean(&self) -> Span {
        Span(self.sum.0.checked_div(self.count).unwrap_or(0))
    }
    /// Adds a sample.
    pub fn add(&mut self, span: Span) {
        self.merge(Seen { count: 1, sum: span, max: span });
    }
    /// Adds the samples of another run or CPU.
    pub fn merge(&mut self, other: Seen) {
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }
}

/// A summary of each kind, and each sample if a caller wants them.
#[derive(Debug, Default)]
pub struct Samples {
    seen: [Seen; Overhead::ALL.len()],
    /// Each sample: when it ended, on which CPU, its kind, its length.
    rows: Option<Vec<(Time, CpuId, Overhead, Span)>>,
}

impl Samples {
    pub(crate) fn new(rows: bool) -> Samples {
        Samples { rows: rows.then(Vec::new), ..Samples::default() }
    }
    /// The summary of one kind.
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
        let table = Table::of("overheads", "Overheads", rows, |row, &(time, cpu, kind, span)| {
            row.at("time_ns", "time", time)
                .cell("cpu", "CPU", cpu)
                .cell("kind", "overhead", kind.name())
                .ns("length_ns", "length", span)
        });
        Some(Annex { table })
    }
}
