//! Looks by a timer; events only while a suspicion is confirmed.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use wastenot_model::{Span, Time};

use super::confirm::Confirm;
use super::follow::Follow;
use super::looks::{Gauge, Looks};
use super::{Found, Metrics, Options, Run, is_readable};
use crate::{Error, clock};

/// How many consecutive confirmations may fail: the system may be short of memory for a while.
const FAILURES: u32 = 10;

/// A watch with looks.
pub(super) struct Sampled {
    options: Options,
    looks: Looks,
    confirm: Confirm,
    metrics: Arc<Metrics>,
    gauge: Gauge,
    follow: Follow,
    /// Violations not returned yet.
    found: VecDeque<Found>,
    /// Consecutive confirmations that failed.
    failures: u32,
}

impl Sampled {
    pub(super) fn begin(options: &Options, metrics: Arc<Metrics>) -> Result<Sampled, Error> {
        // It needs the newer kernel, and its error reports that.
        let looks = Looks::begin(&options.rhythm())?;
        let confirm = Confirm::load(options)?;
        let gauge = looks.gauge()?;
        let follow = Follow::new(Arc::clone(&metrics), options.memory());
        let (options, found, failures) = (*options, VecDeque::new(), 0);
        Ok(Sampled { options, looks, confirm, metrics, gauge, follow, found, failures })
    }

    pub(super) fn gauge(&self) -> Result<Gauge, Error> {
        self.looks.gauge()
    }

    /// Waits for the next violation. `None` if `interrupt` becomes readable or at `until`.
    pub(super) fn next(
        &mut self,
        interrupt: BorrowedFd<'_>,
        until: Time,
    ) -> Result<Option<Found>, Error> {
        loop {
            if let Some(found) = self.found.pop_front() {
                return Ok(Some(found));
            }
            let wake = self.follow.expires().min(until);
            // Suspicions that arrived while the caller was busy come first: a violation may go on.
            if let Some(run) = self.looks.wait(interrupt, wake.since(clock::now()))? {
                self.look_into(run, interrupt)?;
                continue;
            }
            let now = clock::now();
            if self.follow.expires() <= now {
                self.follow.end(&self.gauge.read()?);
            }
            if now >= until || is_readable(interrupt)? {
                return Ok(None);
            }
        }
    }

    fn look_into(&mut self, run: Run, interrupt: BorrowedFd<'_>) -> Result<(), Error> {
        let before = self.gauge.read()?;
        let onset = self.follow.is_fresh(&run).then(|| self.options.onset(&run));
        let verdict = match self.confirm.look_into(onset, interrupt) {
            Ok(Some(verdict)) => verdict,
            Ok(None) => return Ok(()),
            Err(error) => {
                self.metrics.failed();
                self.failures += 1;
                self.follow.hold(clock::now() + self.options.patience());
                return if self.failures < FAILURES { Ok(()) } else { Err(error) };
            }
        };
        self.failures = 0;
        self.metrics.lost(verdict.lost);
        let after = self.gauge.read()?;
        if !verdict.confirmed {
            self.follow.cleared(&run, &after);
            return Ok(());
        }
        let expires = clock::now() + self.options.patience();
        let news = self.follow.confirmed(run, [&before, &after], &verdict, expires);
        let history = Arc::new(verdict.history);
        let found = |violation| Found { violation, history: Arc::clone(&history) };
        self.found.extend(news.into_iter().map(found));
        Ok(())
    }
}

impl Options {
    /// When the violation that `run` found began.
    fn onset(&self, run: &Run) -> Time {
        let before = u64::from(self.rhythm().wait_looks - 1);
        Time(run.since.0.saturating_sub(before * self.rhythm().look.0))
    }

    /// When a CPU that did not idle for this long idles again, it is beside another violation.
    pub(super) fn memory(&self) -> Span {
        Span(self.period.0.saturating_mul(10))
    }

    /// A violation that goes on is suspected again within this time.
    fn patience(&self) -> Span {
        Span(self.period.0.saturating_add(4 * self.rhythm().look.0))
    }
}
