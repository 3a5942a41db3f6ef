//! A policy while it schedules: loaded again when the CPUs change, looked at all the time.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use wastenot_deploy::{Error, Exit, Loaded, Object, Running, Seen, tables};
use wastenot_host::sched_ext::{events, hotplugs, loaded};
use wastenot_model::Machine;
use wastenot_record::{Server, Source};
use wastenot_rota::ir::Program;

use super::failed;
use crate::fail::Stop;
use crate::out;
use crate::progress::Live;
use crate::verbs::length::{self, TURN};

/// What is loaded, perhaps several times.
pub(super) struct Scheduler<'p> {
    pub(super) name: String,
    /// How its object is called in messages.
    pub(super) object: PathBuf,
    pub(super) elf: Vec<u8>,
    pub(super) program: &'p Program,
    /// Another machine than this one.
    pub(super) machine: Option<Machine>,
    /// It gets the tasks of SCHED_EXT only.
    pub(super) partial: bool,
}

/// How often new cgroups are placed, and figures are shown.
const SECOND: Duration = Duration::from_secs(1);
/// The kernel needs a moment to unload a scheduler.
const UNLOADS: Duration = Duration::from_secs(10);

impl Scheduler<'_> {
    /// Lets the kernel verify it for the CPUs that are there now.
    pub(super) fn load(&self) -> Result<Loaded, Error> {
        // Before the CPUs: what changes in between, the kernel notices.
        let changes = hotplugs();
        let machine = self.machine.clone().unwrap_or_else(wastenot_record::machine);
        let mut object = Object::of(&self.object, &self.elf)?;
        object.fill(&tables(self.program, &machine)?)?;
        if self.partial {
            object.partial()?;
        }
        if let Some(changes) = changes {
            object.expects(changes)?;
        }
        object.load()
    }

    /// Lets it schedule until its time is over, or until the kernel ends it for good.
    pub(super) fn schedule(
        &self,
        mut running: Running,
        length: &mut length::Running,
        mut shown: Shown,
    ) -> Result<(Seen, Option<Exit>), Stop> {
        let mut before = Seen { name: self.name.clone(), ..Seen::default() };
        let (mut begun, mut placed) = (Instant::now(), None);
        loop {
            let mut seen = before.clone();
            seen.add(&look(&running, begun));
            let over = length.is_over();
            match running.exit() {
                Some(exit) if exit.restarts() && !over => {
                    out::note(&format!("{exit}: loading it again"));
                    before = Seen { reloads: seen.reloads + 1, ..seen };
                    running.stop();
                    (running, begun) = (self.load_again()?, Instant::now());
                    placed = None;
                    continue;
                }
                None if !over => {}
                _ => return Ok((seen, running.stop())),
            }
            if placed.is_none_or(|at: Instant| at.elapsed() >= SECOND) {
                running.place(self.program).map_err(failed)?;
                placed = Some(Instant::now());
            }
            shown.show(seen);
            sleep(TURN);
        }
    }

    fn load_again(&self) -> Result<Running, Stop> {
        let until = Instant::now() + UNLOADS;
        loop {
            while loaded().is_some() && Instant::now() < until {
                sleep(TURN);
            }
            let changes = hotplugs();
            match self.load().and_then(Loaded::start) {
                // Another CPU came or went meanwhile.
                Err(_) if hotplugs() != changes && Instant::now() < until => {}
                other => return other.map_err(failed),
            }
        }
    }
}

/// What a scheduler did since it was loaded.
fn look(running: &Running, begun: Instant) -> Seen {
    let (ran, steps) = (begun.elapsed(), running.steps());
    Seen { ran, steps, events: events(), ..Seen::default() }
}

/// Where it is shown what the scheduler does: a line on the terminal, metrics.
pub(super) struct Shown {
    live: Live,
    /// What the line shows is counted since then.
    since: Seen,
    scraped: Arc<Mutex<(Seen, Instant)>>,
    _server: Option<Server>,
}

impl Shown {
    pub(super) fn new(name: &str, listen: Option<SocketAddr>, line: bool) -> Result<Shown, Stop> {
        let seen = Seen { name: name.to_owned(), ..Seen::default() };
        let scraped = Arc::new(Mutex::new((seen.clone(), Instant::now())));
        let serve = |address| Server::begin(address, Scraped(Arc::clone(&scraped)));
        let server = listen.map(serve).transpose();
        let server = server.map_err(|error| Stop::new(&error, error.help()))?;
        if let Some(server) = &server {
            out::note(&format!("serving http://{}/metrics", server.address()));
        }
        Ok(Shown { live: Live::new(line), since: seen, scraped, _server: server })
    }

    fn show(&mut self, seen: Seen) {
        if seen.ran.saturating_sub(self.since.ran) >= SECOND {
            self.live.say(|| line(&self.since, &seen));
            self.since = seen.clone();
        }
        *lock(&self.scraped) = (seen, Instant::now());
    }
}

/// `my.rota has scheduled for 12 s: 4812 tasks queued a second, 3 % of them stolen, 2 wait`.
fn line(before: &Seen, now: &Seen) -> String {
    let since = |step| now.step(step).saturating_sub(before.step(step));
    let seconds = now.ran.saturating_sub(before.ran).as_secs_f64();
    let (put, stolen) = (since("put"), since("steal_ok"));
    let rate = put as f64 / seconds.max(f64::MIN_POSITIVE);
    let share = 100.0 * stolen as f64 / put.max(1) as f64;
    let (name, ran, waiting) = (&now.name, now.ran.as_secs(), now.waiting());
    format!(
        "{name} has scheduled for {ran} s: {rate:.0} tasks queued a second, \
         {share:.0} % of them stolen, {waiting} wait"
    )
}

struct Scraped(Arc<Mutex<(Seen, Instant)>>);

/// A loop that has not looked for this long is stuck.
const LATE: Duration = Duration::from_secs(10);

impl Source for Scraped {
    fn metrics(&self) -> Result<String, wastenot_record::Error> {
        Ok(lock(&self.0).0.metrics())
    }

    fn is_well(&self) -> bool {
        lock(&self.0).1.elapsed() < LATE
    }
}

fn lock(of: &Mutex<(Seen, Instant)>) -> MutexGuard<'_, (Seen, Instant)> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_counts_since_the_last_one() {
        let seen = |seconds, put, stolen| Seen {
            name: "my.rota".into(),
            ran: Duration::from_secs(seconds),
            steps: [put, 0, put - stolen - 2, 0, stolen, 0, 0, 0, 0],
            ..Seen::default()
        };
        assert_eq!(
            line(&seen(10, 1000, 0), &seen(12, 3000, 60)),
            "my.rota has scheduled for 12 s: 1000 tasks queued a second, 3 % of them stolen, 2 wait"
        );
    }
}
