//! A running policy: reloads it when the CPUs change, and reads its counters.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use wastenot_deploy::{Error, Exit, Running, Scheduler, Seen};
use wastenot_host::metrics::{self, Source};
use wastenot_host::sched_ext::events;
use wastenot_host::serve::Server;
use wastenot_rota::step_log::Log;

use crate::fail::Stop;
use crate::out;
use crate::progress::Live;
use crate::verbs::length::{self, TURN};

/// The interval at which new cgroups are placed, and figures are shown.
const SECOND: Duration = Duration::from_secs(1);
/// The time for which the kernel bypassed the scheduler (`enum scx_event`), from 6.15 on.
const BYPASSED: &str = "SCX_EV_BYPASS_DURATION";

/// The result of a policy.
pub(super) struct Scheduled {
    pub(super) seen: Seen,
    /// The reason if the kernel ended the policy early.
    pub(super) exit: Option<Exit>,
    /// The log of its steps.
    pub(super) log: Log,
}

/// Runs a policy until its time is over, or until the kernel ends it for good.
pub(super) fn schedule(
    scheduler: &Scheduler,
    mut running: Running,
    length: &mut length::Running,
    mut shown: Shown,
) -> Result<Scheduled, Error> {
    let mut before = shown.since.clone();
    let (mut begun, mut placed) = (Instant::now(), None);
    // The policy is loaded already, but it receives tasks only from now on.
    let mut log = Log { whole: true, ..Log::default() };
    let (mut bypassed, mut is_over_bypass) = (None, false);
    loop {
        let (mut seen, now) = (before.clone(), look(&running, begun));
        seen.add(&now);
        // Check this before the last drain, so that the log contains all steps until then.
        let (exit, over) = (running.exit(), length.is_over());
        running.drain(&mut log)?;
        match exit {
            // During a reload, tasks change queues, and no step records this.
            Some(exit) if exit.restarts() && !over && !running.has_log() => {
                out::note(&format!("{exit}: loading the policy again"));
                before = Seen { reloads: seen.reloads + 1, ..seen };
                running.unload();
                (running, begun) = (scheduler.load_again()?, Instant::now());
                placed = None;
                continue;
            }
            None if !over => {}
            exit => {
                let exit = exit.filter(|it| !(over && it.restarts()));
                return Ok(Scheduled { seen, exit, log });
            }
        }
        // The kernel also bypasses the policy while the machine is suspended. It counts the bypass
        // just before it returns the last CPU, so idle CPUs look again one turn later.
        if std::mem::take(&mut is_over_bypass) {
            running.look_again()?;
        }
        let duration = now.events.get(BYPASSED).copied();
        is_over_bypass = std::mem::replace(&mut bypassed, duration) != duration;
        if placed.is_none_or(|at: Instant| at.elapsed() >= SECOND) {
            running.place(&scheduler.program)?;
            placed = Some(Instant::now());
        }
        shown.show(seen);
        sleep(TURN);
    }
}

/// The counters of a policy since it was loaded.
fn look(running: &Running, begun: Instant) -> Seen {
    let (ran, steps) = (begun.elapsed(), running.steps());
    Seen { ran, steps, events: events(), ..Seen::default() }
}

/// The outputs for the state of the policy: a line on the terminal, and metrics.
pub(super) struct Shown {
    live: Live,
    /// The line shows the change since this state.
    since: Seen,
    scraped: Arc<Mutex<(Seen, Instant)>>,
    _server: Option<Server>,
}

impl Shown {
    pub(super) fn new(name: &str, listen: Option<SocketAddr>, line: bool) -> Result<Shown, Stop> {
        let seen = Seen { name: name.to_owned(), ..Seen::default() };
        let scraped = Arc::new(Mutex::new((seen.clone(), Instant::now())));
        let serve = |address| metrics::serve(address, Scraped(Arc::clone(&scraped)));
        let server = listen.map(serve).transpose()?;
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

/// `my.rota has scheduled tasks for 12 s: 4812 tasks queued per second, 3 % of them stolen, 2
/// waiting`.
fn line(before: &Seen, now: &Seen) -> String {
    let since = |step| now.step(step).saturating_sub(before.step(step));
    let seconds = now.ran.saturating_sub(before.ran).as_secs_f64();
    let (put, stolen) = (since("put"), since("steal_ok"));
    let rate = put as f64 / seconds.max(f64::MIN_POSITIVE);
    let share = 100.0 * stolen as f64 / put.max(1) as f64;
    let (name, ran, waiting) = (&now.name, now.ran.as_secs(), now.waiting());
    format!(
        "{name} has scheduled tasks for {ran} s: {rate:.0} tasks queued per second, {share:.0} % \
         of them stolen, {waiting} waiting"
    )
}

struct Scraped(Arc<Mutex<(Seen, Instant)>>);

/// The policy counts as stuck if its counters were not read for this long.
const LATE: Duration = Duration::from_secs(10);

impl Source for Scraped {
    fn metrics(&self) -> Result<String, String> {
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
            "my.rota has scheduled tasks for 12 s: 1000 tasks queued per second, 3 % of them \
             stolen, 2 waiting"
        );
    }
}
