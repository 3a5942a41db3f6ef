//! Watches a live kernel for CPUs that idle while tasks wait.
//!
//! Two stages. A timer in the kernel looks at every run queue each few milliseconds ([`Figures`]);
//! no event of the scheduler is hooked. What several looks in a row find is a *suspicion*: the
//! tasks may be pinned or throttled, which a look cannot see. Then events are recorded for the
//! confirmation time, and the same [`sanity`](wastenot_check::sanity) rules that `check` applies
//! to files decide.

mod confirm;
#[cfg(bpf)]
mod looks;
#[cfg(not(bpf))]
#[path = "unbuilt.rs"]
mod looks;
mod metrics;
mod server;
mod shelf;
mod sight;
mod violation;

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use wastenot_check::sanity::Rules;
use wastenot_model::{History, Span, Time};

use self::confirm::Verdict;
use self::looks::{Gauge, Looks};
pub use self::metrics::Metrics;
pub use self::server::Server;
pub use self::shelf::{Fate, Limits, Shelf};
pub use self::sight::{Figures, Run};
use self::sight::{Rhythm, Telling};
pub use self::violation::{Actor, Kind, Violation};
use crate::{Error, clock, host};

/// How to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Between two looks.
    pub look: Span,
    /// By which rules what is suspected is confirmed.
    pub mode: Mode,
    /// At most one suspicion is looked into in this time.
    pub period: Span,
    /// How long a violation must last.
    pub confirm: Span,
    /// Bytes of each CPU's ring while events are recorded.
    pub ring_bytes: u32,
}

/// By which rules a violation is confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The paper's: it lasts for the confirmation time.
    Lasting,
    /// The released module's: so many looks in a row, a period apart, find it.
    Consecutive(u32),
}

impl Default for Options {
    fn default() -> Options {
        let Rules { period, confirm, .. } = Rules::default();
        let mode = Mode::Lasting;
        Options { look: Span::ms(10), mode, period, confirm, ring_bytes: 1 << 20 }
    }
}

/// A CPU that runs something for less than this did not stop being idle: kernel threads do, and
/// so do we when events are hooked.
const BLIP: Span = Span::ms(1);

impl Options {
    fn rhythm(&self) -> Rhythm {
        let Options { look, mode, period, .. } = *self;
        match mode {
            // Seen once may be a wakeup on its way.
            Mode::Lasting => Rhythm { look, period, idle_looks: 2, tell_looks: 3, blind: false },
            Mode::Consecutive(looks) => {
                Rhythm { look: period, period, idle_looks: looks, tell_looks: 1, blind: false }
            }
        }
    }

    /// The rules by which what was recorded is judged.
    fn rules(&self) -> Rules {
        let (period, confirm) = match self.mode {
            Mode::Lasting => (self.look, self.confirm),
            // It has lasted long enough; State says whether the tasks could have moved.
            Mode::Consecutive(_) => (Span::ms(1), Span::ms(1)),
        };
        Rules { period, confirm, grace: BLIP, ..Rules::default() }
    }
}

/// What looks cost on this machine, in nanoseconds a look: one that looks at no CPU, and one that
/// looks at all. For benchmarks; takes a second.
pub fn look_ns() -> Result<[u64; 2], Error> {
    let look = Span::ms(1);
    let cost = |blind| -> Result<u64, Error> {
        let rhythm = Rhythm { look, period: look, idle_looks: 2, tell_looks: 3, blind };
        let looks = Looks::begin(&rhythm)?;
        std::thread::sleep(std::time::Duration::from_millis(500));
        let figures = looks.gauge()?.read()?;
        Ok(figures.looking_ns / figures.looks.max(1))
    };
    Ok([cost(true)?, cost(false)?])
}

/// What was confirmed, and the recording that shows it.
#[derive(Debug)]
pub struct Found {
    /// The violation.
    pub violation: Violation,
    /// What happened while it was confirmed.
    pub history: History,
}

/// Suspicions that are cleared one after another are looked into ever more seldom, down to once in
/// so many periods: pinned tasks can look like a violation for days.
const PATIENCE: u64 = 16;

/// The watch.
pub struct Watch {
    options: Options,
    looks: Looks,
    metrics: Arc<Metrics>,
    gauge: Gauge,
    /// When the violation began whose end is awaited.
    since: Option<Time>,
    /// Periods until the next suspicion is looked into, if this one is cleared too.
    pause: u64,
}

impl Watch {
    /// Begins to watch.
    pub fn begin(options: &Options) -> Result<Watch, Error> {
        let metrics = Arc::new(Metrics::new(&host::kernel()));
        let looks = Looks::begin(&options.rhythm())?;
        let gauge = looks.gauge()?;
        Ok(Watch { options: *options, looks, metrics, gauge, since: None, pause: 1 })
    }

    /// The figures for scrapes; whoever saves recordings tells them so.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Serves the figures at `address` for as long as what it gives lives.
    pub fn serve(&self, address: SocketAddr) -> Result<Server, Error> {
        Server::begin(address, Arc::clone(&self.metrics), self.looks.gauge()?)
    }

    /// Waits for the next violation. `None` when `interrupt` can be read or it is `until`.
    pub fn next(&mut self, interrupt: BorrowedFd<'_>, until: Time) -> Result<Option<Found>, Error> {
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
