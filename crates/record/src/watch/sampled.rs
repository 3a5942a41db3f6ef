//! Looks by a timer, and events only while a suspicion is confirmed.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use wastenot_model::{Span, Time};

use super::confirm::Confirm;
use super::follow::Follow;
use super::looks::{Gauge, Looks};
use super::{Found, Metrics, Options, Run, is_readable};
use crate::{Error, clock};

/// So many confirmations may fail one after another: the system may be short of memory for a
/// while.
const FAILURES: u32 = 10;

/// A watch by looks.
pub(super) struct Sampled {
    options: Options,
    looks: Looks,
    confirm: Confirm,
    metrics: Arc<Metrics>,
    gauge: Gauge,
    follow: Follow,
    /// Confirmations that failed one after another.
    failures: u32,
}

impl Sampled {
    pub(super) fn begin(options: &Options, metrics: Arc<Metrics>) -> Result<Sampled, Error> {
        // It needs the newer kernel, and says so.
        let looks = Looks::begin(&options.rhythm())?;
        let confirm = Confirm::load(options)?;
        let gauge = looks.gauge()?;
        let (options, follow) = (*options, Follow::new(Arc::clone(&metrics)));
        Ok(Sampled { options, looks, confirm, metrics, gauge, follow, failures: 0 })
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
            let now = clock::now();
            if self.follow.expires() <= now {
                self.follow.end(&self.gauge.read()?);
            }
            if now >= until || is_readable(interrupt)? {
                return Ok(None);
            }
            let until = self.follow.expires().min(until);
            if let Some(run) = self.looks.wait(interrupt, until.since(now))?
                && let Some(found) = self.look_into(run)?
            {
                return Ok(Some(found));
            }
        }
    }

    /// A violation, unless it is one that was told and goes on.
    fn look_into(&mut self, run: Run) -> Result<Option<Found>, Error> {
        let before = self.gauge.read()?;
        let onset = self.follow.is_fresh(&run).then(|| self.options.onset(&run));
        let verdict = match self.confirm.look_into(onset) {
            Ok(verdict) => verdict,
            Err(error) => {
                self.metrics.failed();
                self.failures += 1;
                return if self.failures < FAILURES { Ok(None) } else { Err(error) };
            }
        };
        self.failures = 0;
        self.metrics.lost(verdict.lost);
        let Some(found) = verdict.found else {
            self.follow.cleared(&run, &self.gauge.read()?);
            return Ok(None);
        };
        let expires = clock::now() + self.options.patience();
        let news = self.follow.confirmed(run, &before, &found.violation, expires);
        Ok(news.then_some(found))
    }
}

impl Options {
    /// When what `run` found began.
    fn onset(&self, run: &Run) -> Time {
        let before = u64::from(self.rhythm().wait_looks - 1);
        Time(run.since.0.saturating_sub(before * self.rhythm().look.0))
    }

    /// A violation that goes on is suspected anew within this time.
    fn patience(&self) -> Span {
        Span(self.period.0.saturating_add(4 * self.rhythm().look.0))
    }
}
