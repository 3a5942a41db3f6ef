//! Looks by a timer, and events only while a suspicion is confirmed.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use wastenot_model::{Span, Time};

use super::confirm::{self, Verdict};
use super::looks::{Gauge, Looks};
use super::sight::Telling;
use super::{Found, Metrics, Options, Run};
use crate::{Error, clock};

/// Suspicions that are cleared one after another are looked into ever more seldom, down to once in
/// so many periods: pinned tasks can look like a violation for days.
const PATIENCE: u64 = 16;

/// A watch by looks.
pub(super) struct Sampled {
    options: Options,
    looks: Looks,
    metrics: Arc<Metrics>,
    gauge: Gauge,
    /// When the violation began whose end is awaited.
    since: Option<Time>,
    /// Periods until the next suspicion is looked into, if this one is cleared too.
    pause: u64,
}

impl Sampled {
    pub(super) fn begin(options: &Options, metrics: Arc<Metrics>) -> Result<Sampled, Error> {
        let looks = Looks::begin(&options.rhythm())?;
        let gauge = looks.gauge()?;
        Ok(Sampled { options: *options, looks, metrics, gauge, since: None, pause: 1 })
    }

    pub(super) fn gauge(&self) -> Result<Gauge, Error> {
        self.looks.gauge()
    }

    /// Waits for the next violation. `None` when `interrupt` can be read or it is `until`.
    pub(super) fn next(
        &mut self,
        interrupt: BorrowedFd<'_>,
        until: Time,
    ) -> Result<Option<Found>, Error> {
        loop {
            let left = until.since(clock::now());
            match self.looks.wait(interrupt, left)? {
                None => return Ok(None),
                Some(Telling::Ended(run)) => {
                    let since = self.since.take().unwrap_or(run.since);
                    self.metrics.ended(&run, since);
                }
                Some(Telling::Suspicion(run)) => {
                    if let Some(found) = self.look_into(&run)? {
                        return Ok(Some(found));
                    }
                }
            }
        }
    }

    fn look_into(&mut self, run: &Run) -> Result<Option<Found>, Error> {
        let Verdict { lost, found } = confirm::confirm(run, &self.options)?;
        self.metrics.lost(lost);
        match found {
            Some(found) => {
                self.metrics.found(&found.violation);
                self.follow(run)?;
                self.pause = 1;
                Ok(Some(found))
            }
            None => {
                self.metrics.cleared();
                let pause = Span(self.options.period.0.saturating_mul(self.pause));
                self.looks.be_quiet_until(clock::now() + pause)?;
                self.pause = (self.pause * 2).min(PATIENCE);
                Ok(None)
            }
        }
    }

    /// Waits for the end of a violation. To hook events takes CPU time, on the idle CPU often
    /// enough: then the run that raised the suspicion was interrupted, and another one goes on.
    fn follow(&mut self, run: &Run) -> Result<(), Error> {
        let on = self.gauge.read()?.run;
        if on.since == Time(0) {
            self.metrics.ended(run, run.since);
            return Ok(());
        }
        if on.since != run.since {
            self.metrics.wasted(run.cpu_ns);
        }
        self.metrics.follow(&on);
        self.since = Some(run.since);
        self.looks.follow(&on)
    }
}
