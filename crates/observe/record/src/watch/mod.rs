//! Watches a live kernel for CPUs that idle while tasks wait.
//!
//! Two stages. A timer in the kernel looks at every run queue every few milliseconds ([`Figures`]);
//! no scheduler event is hooked. What several consecutive looks find is a *suspicion*: the tasks
//! may be pinned or throttled, which a look cannot see. Then events are recorded for the
//! confirmation time, and the same [`sanity`](wastenot_check::sanity) rules decide that `check`
//! applies to files.
//!
//! Alternatively events are hooked all the time ([`Events`]): then nothing is sampled, and the same
//! rules judge all events.

mod confirm;
mod exact;
mod follow;
#[cfg(bpf)]
mod looks;
#[cfg(not(bpf))]
#[path = "unbuilt.rs"]
mod looks;
mod metrics;
mod pulse;
mod sampled;
mod shelf;
mod sight;
mod violation;

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use wastenot_check::sanity::Rules;
use wastenot_host::metrics::serve;
use wastenot_host::serve::Server;
use wastenot_model::{History, Span, Time};

use self::exact::Exact;
use self::looks::Looks;
pub use self::metrics::Metrics;
use self::pulse::{Pulse, Scraped};
use self::sampled::Sampled;
pub use self::shelf::{Fate, Limits, Shelf};
use self::sight::Rhythm;
pub use self::sight::{Figures, Run};
pub use self::violation::{Actor, Kind, Violation};
use crate::Error;

/// How to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The interval between two looks.
    pub look: Span,
    /// The rules that confirm a suspicion.
    pub mode: Mode,
    /// At most one suspicion is checked in this time.
    pub period: Span,
    /// How long a violation must last.
    pub confirm: Span,
    /// Bytes of each CPU's ring that holds events while a suspicion is confirmed.
    pub ring_bytes: u32,
    /// Events all the time instead of looks.
    pub exact: Option<Events>,
}

/// How to watch with events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Events {
    /// The span that is kept, to be saved with a violation.
    pub last: Span,
    /// The memory for it, in bytes.
    pub memory: u64,
    /// Also report run-time deficits.
    pub deficits: bool,
    /// Also report useless migrations.
    pub migrations: bool,
}

impl Default for Events {
    fn default() -> Events {
        Events { last: Span::s(10), memory: 32 << 20, deficits: false, migrations: false }
    }
}

/// The rules that confirm a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The paper's: it lasts for the confirmation time.
    Lasting,
    /// The released module's: this many consecutive looks, a period apart, find it.
    Consecutive(u32),
}

impl Default for Options {
    fn default() -> Options {
        let Rules { period, confirm, .. } = Rules::default();
        let mode = Mode::Lasting;
        Options { look: Span::ms(10), mode, period, confirm, ring_bytes: 256 << 10, exact: None }
    }
}

/// A CPU that runs a task for less than this counts as still idle: kernel threads do that, and so
/// do we when events are hooked.
const BLIP: Span = Span::ms(1);

impl Options {
    fn rhythm(&self) -> Rhythm {
        let Options { look, mode, period, .. } = *self;
        match mode {
            // A single look may see a wakeup in progress.
            Mode::Lasting => {
                Rhythm { look, period, idle_looks: 2, wait_looks: 1, tell_looks: 3, blind: false }
            }
            Mode::Consecutive(looks) => Rhythm {
                look: period,
                period,
                idle_looks: looks,
                wait_looks: looks,
                tell_looks: 1,
                blind: false,
            },
        }
    }

    /// The rules that judge the recording.
    fn rules(&self) -> Rules {
        let (period, confirm) = match self.mode {
            Mode::Lasting => (self.look, self.confirm),
            // It has lasted long enough; State decides whether the tasks could have moved.
            Mode::Consecutive(_) => (Span::ms(1), Span::ms(1)),
        };
        Rules { period, confirm, grace: BLIP, ..Rules::default() }
    }
}

/// Whether this machine allows looking at its run queues. Starts the timer for a moment to find
/// out.
pub fn probe() -> Result<(), Error> {
    Looks::begin(&Options::default().rhythm()).map(drop)
}

/// The cost of looks on this machine, in nanoseconds per look: a look at no CPU, and a look at all
/// CPUs. For benchmarks; takes a second.
pub fn look_ns() -> Result<[u64; 2], Error> {
    let look = Span::ms(1);
    let cost = |blind| -> Result<u64, Error> {
        let options = Options { look, period: look, ..Options::default() };
        let rhythm = Rhythm { blind, ..options.rhythm() };
        let looks = Looks::begin(&rhythm)?;
        std::thread::sleep(std::time::Duration::from_millis(500));
        let figures = looks.gauge()?.read()?;
        Ok(figures.looking_ns / figures.looks.max(1))
    };
    Ok([cost(true)?, cost(false)?])
}

/// A confirmed violation, and the recording that shows it.
#[derive(Debug)]
pub struct Found {
    /// The violation.
    pub violation: Violation,
    /// The events during the confirmation; shared by all violations that were confirmed together.
    pub history: Arc<History>,
}

/// The watch.
pub struct Watch {
    by: By,
    metrics: Arc<Metrics>,
}

/// The way of watching.
enum By {
    Looks(Box<Sampled>),
    Events(Box<Exact>),
}

impl Watch {
    /// Begins to watch.
    pub fn begin(options: &Options) -> Result<Watch, Error> {
        let metrics = Arc::new(Metrics::new(&wastenot_host::kernel(), options.exact.is_some()));
        let by = match options.exact {
            Some(events) => By::Events(Exact::begin(options, events, Arc::clone(&metrics))?.into()),
            None => By::Looks(Sampled::begin(options, Arc::clone(&metrics))?.into()),
        };
        Ok(Watch { by, metrics })
    }

    /// The metrics for scrapes; a caller that saves recordings updates them.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Serves the metrics at `address` until the returned server is dropped.
    pub fn serve(&self, address: SocketAddr) -> Result<Server, Error> {
        let pulse = match &self.by {
            By::Looks(sampled) => Pulse::Looks(sampled.gauge()?),
            By::Events(exact) => Pulse::Events(exact.figures()),
        };
        Ok(serve(address, Scraped { metrics: Arc::clone(&self.metrics), pulse })?)
    }

    /// Waits for the next violation. `None` if `interrupt` becomes readable or at `until`.
    pub fn next(&mut self, interrupt: BorrowedFd<'_>, until: Time) -> Result<Option<Found>, Error> {
        match &mut self.by {
            By::Looks(sampled) => sampled.next(interrupt, until),
            By::Events(exact) => exact.next(interrupt, until),
        }
    }
}

fn is_readable(file: BorrowedFd<'_>) -> Result<bool, Error> {
    let mut asked = [PollFd::from_borrowed_fd(file, PollFlags::IN)];
    match poll(&mut asked, Some(&Timespec::default())) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(Error::Io(error.into())),
    }
}
