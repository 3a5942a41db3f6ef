//! From a suspicion to a verdict: events are recorded for the confirmation time; from them State
//! derives what a look cannot see.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use wastenot_check::Check;
use wastenot_model::{Builder, CpuId, History, Span, Time};

use super::violation::Violation;
use super::{Options, is_readable};
use crate::begin::load;
use crate::recording::Anew;
use crate::{Error, Way, clock};

/// The longest that an interruption has to wait.
const PATIENCE: Duration = Duration::from_millis(50);

/// Records on request. The programs are loaded all the time and attached only while it records:
/// loading them takes more CPU time than confirming a suspicion.
pub(super) struct Confirm {
    recording: Box<dyn Anew>,
    options: Options,
}

/// The result of a confirmation.
#[derive(Debug)]
pub(super) struct Verdict {
    /// Dropped events.
    pub(super) lost: u64,
    /// Whether there is at least one violation.
    pub(super) confirmed: bool,
    /// The violations that can be described, one for each group of idle CPUs.
    pub(super) violations: Vec<Violation>,
    /// CPU time wasted while events were recorded.
    pub(super) wasted: Span,
    /// The events recorded meanwhile.
    pub(super) history: History,
}

impl Confirm {
    pub(super) fn load(options: &Options) -> Result<Confirm, Error> {
        let how =
            crate::Options { ring_bytes: options.ring_bytes, way: Way::Bpf, ..Default::default() };
        Ok(Confirm { recording: load(&how)?, options: *options })
    }

    /// Records for as long as the rules require and judges whether there is a violation. If `since`
    /// is known, the violation has lasted since then. `None` if `interrupt` becomes readable first.
    pub(super) fn look_into(
        &mut self,
        since: Option<Time>,
        interrupt: BorrowedFd<'_>,
    ) -> Result<Option<Verdict>, Error> {
        let recorded = self.record(interrupt)?;
        Ok(recorded.map(|(history, lost)| judge(since, history, lost, &self.options)))
    }

    fn record(&mut self, interrupt: BorrowedFd<'_>) -> Result<Option<(History, u64)>, Error> {
        let mut sink = Builder::new(self.recording.begin()?);
        let end = clock::now() + length(&self.options);
        let mut interrupted = false;
        while !interrupted {
            let left = end.since(clock::now());
            if left == Span::ZERO {
                break;
            }
            self.recording.wait(Duration::from_nanos(left.0).min(PATIENCE));
            self.recording.drain(&mut sink);
            interrupted = is_readable(interrupt)?;
        }
        let summary = self.recording.finish(&mut sink);
        Ok((!interrupted).then(|| (sink.finish(), summary.lost)))
    }
}

/// The rules check first after one of their periods, and an episode that ends on the last event is
/// still open.
fn length(options: &Options) -> Span {
    let rules = options.rules();
    Span(rules.confirm.0 + 2 * rules.period.0)
}

/// Applies the rules to what was recorded.
fn judge(since: Option<Time>, history: History, lost: u64, options: &Options) -> Verdict {
    let asked = wastenot_check::Options { sanity: options.rules(), ..Default::default() };
    let check = wastenot_check::check(&history, &asked);
    let mut violations: Vec<Violation> = Vec::new();
    for &report in &check.sanity.reports {
        if !violations.iter().any(|known| known.idle_cpus.contains(&report.1.0)) {
            let since = since.unwrap_or(report.0);
            violations.extend(describe(since, report, &history, &check, history.window().to));
        }
    }
    let (confirmed, wasted) = (!check.sanity.reports.is_empty(), Span(check.waste.cpu_ns));
    Verdict { lost, confirmed, violations, wasted, history }
}

/// The rules return when a CPU idled, and which; the task that waited longest meanwhile is
/// described.
pub(super) fn describe(
    since: Time,
    (seen, idle): (Time, CpuId),
    history: &History,
    check: &Check,
    until: Time,
) -> Option<Violation> {
    let wait = check
        .violations
        .worst
        .iter()
        .find(|it| it.window.to > seen && it.idle.iter().any(|other| other.cpu == idle))?;
    Some(Violation::new(since, history, check, wait, until))
}
