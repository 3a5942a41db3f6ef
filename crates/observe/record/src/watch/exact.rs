//! Events hooked all the time: every part of the events is judged as it arrives.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use wastenot_check::sanity::{Checker, Verdicts};
use wastenot_check::{Movable, Scope, waste};
use wastenot_model::{
    CpuId, Entry, Event, History, Observer, Silent, Span, State, TaskId, TaskState, Time, Window,
    replay,
};

use super::follow::Beside;
use super::violation::{Kind, Violation};
use super::{Events, Figures, Found, Metrics, Options, confirm, is_readable};
use crate::begin;
use crate::flight::Flight;
use crate::recording::Recording;
use crate::trigger::wait_that_ended;
use crate::{Error, Way, clock};

/// The approximate length of a part.
const PART: Duration = Duration::from_millis(100);
/// Per CPU, where events wait to be drained.
const RING_BYTES: u32 = 4 << 20;

/// A watch with events.
pub(super) struct Exact {
    recording: Box<dyn Recording>,
    flight: Flight,
    judge: Judge,
}

impl Exact {
    pub(super) fn begin(
        options: &Options,
        events: Events,
        metrics: Arc<Metrics>,
    ) -> Result<Exact, Error> {
        let how = crate::Options { ring_bytes: RING_BYTES, way: Way::Bpf, ..Default::default() };
        let mut recording = begin::load(&how)?;
        let head = recording.begin()?;
        let judge = Judge::new(options, events, metrics, head.window.from);
        let flight = Flight::new(head, events.last, events.memory).in_parts();
        Ok(Exact { recording, flight, judge })
    }

    /// The figures so far.
    pub(super) fn figures(&self) -> Arc<Mutex<Figures>> {
        Arc::clone(&self.judge.figures)
    }

    /// Waits for the next violation. `None` if `interrupt` becomes readable or at `until`.
    pub(super) fn next(
        &mut self,
        interrupt: BorrowedFd<'_>,
        until: Time,
    ) -> Result<Option<Found>, Error> {
        loop {
            if let Some(violation) = self.judge.found.pop_front() {
                let history = Arc::new(self.flight.history());
                return Ok(Some(Found { violation, history }));
            }
            let left = until.since(clock::now());
            if left == Span::ZERO || is_readable(interrupt)? {
                return Ok(None);
            }
            self.recording.wait(PART.min(Duration::from_nanos(left.0)));
            self.recording.drain(&mut self.flight);
            if let Some(part) = self.flight.part() {
                self.judge.look(&part, || self.flight.history());
            }
        }
    }
}

/// Judges consecutive parts.
struct Judge {
    options: Options,
    events: Events,
    checker: Checker,
    metrics: Arc<Metrics>,
    figures: Arc<Mutex<Figures>>,
    /// The violation that goes on.
    open: Option<Open>,
    beside: Beside,
    /// Violations not returned yet.
    found: VecDeque<Violation>,
    /// By kind: before this time violations are only counted, not reported.
    quiet_until: [Time; Kind::ALL.len()],
}

/// A violation that goes on, as far as is known.
#[derive(Clone, Copy, Debug)]
struct Open {
    since: Time,
    /// It was confirmed to go on until then.
    until: Time,
}

impl Judge {
    fn new(options: &Options, events: Events, metrics: Arc<Metrics>, from: Time) -> Judge {
        let figures = Figures { now: from, ..Figures::default() };
        Judge {
            options: *options,
            events,
            checker: Checker::new(options.rules(), from),
            metrics,
            figures: Arc::new(Mutex::new(figures)),
            open: None,
            beside: Beside::new(options.memory()),
            found: VecDeque::new(),
            quiet_until: [Time(0); Kind::ALL.len()],
        }
    }

    /// Judges the next part. `history` also holds what is still known of the time before.
    fn look(&mut self, part: &History, history: impl Fn() -> History) {
        let asked = wastenot_check::Options::default();
        let (movable, scope) = (Movable::survey(part), Scope::new(part, &asked));
        let mut waste = waste::Waste::new(part, &scope, &movable, &asked);
        let mut sanity = self.checker.over(part, &scope, &movable);
        let mut waits = Waits { metrics: &self.metrics };
        replay(part, Silent::Unknown, &mut ((&mut waste, &mut sanity), &mut waits));
        let (waste, verdicts) = (waste.finish(), self.checker.take());
        self.metrics.wasted(waste.cpu_ns);
        self.metrics.judged(verdicts.confirmed, verdicts.transient);
        let mut figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
        figures.now = clock::now();
        figures.looks += verdicts.looks;
        figures.suspect_looks += verdicts.suspected;
        figures.suspect_cpu_ns += waste.cpu_ns_max;
        drop(figures);
        self.idle_while_overloaded(&verdicts, part.window().to, &history);
        self.others(&verdicts, part.window().to, &history);
    }

    /// A violation that goes on beside the same CPUs is confirmed again and again, but reported
    /// once.
    fn idle_while_overloaded(
        &mut self,
        verdicts: &Verdicts,
        now: Time,
        history: &impl Fn() -> History,
    ) {
        let rules = self.options.rules();
        let lasts = |(since, _): &(Time, CpuId)| *since + rules.confirm;
        if let Some(until) = verdicts.reports.iter().map(lasts).max() {
            let since = verdicts.reports[0].0;
            let open = self.open.get_or_insert(Open { since, until });
            open.until = open.until.max(until);
            self.metrics.goes_on(true);
        } else if let Some(Open { since, until }) = self.open
            && now.since(until) > Span(2 * (rules.confirm.0 + rules.period.0))
        {
            self.metrics.lasted(until.since(since));
            self.metrics.goes_on(false);
            (self.open, self.beside) = (None, Beside::new(self.options.memory()));
        }
        for &(since, cpu) in &verdicts.reports {
            if self.beside.knows(cpu.0, now) {
                continue;
            }
            self.metrics.violated(Kind::IdleWhileOverloaded, 1);
            let found = describe((since, cpu), now, &history());
            let idle = found.as_ref().map_or(vec![cpu.0], |found| found.idle_cpus.clone());
            self.beside.is_news(&idle, now);
            if self.may_tell(Kind::IdleWhileOverloaded, now) {
                self.found.extend(found);
            }
        }
    }

    /// Violations of the other kinds are counted if requested, and the first is reported.
    fn others(&mut self, verdicts: &Verdicts, now: Time, history: &impl Fn() -> History) {
        if self.events.deficits {
            self.metrics.violated(Kind::RunTimeDeficit, verdicts.deficits);
            if let Some(first) = verdicts.deficit_reports.first()
                && self.may_tell(Kind::RunTimeDeficit, now)
            {
                let period = self.options.rules().fairness;
                self.found.push_back(Violation::of_deficit(&history(), first, period));
            }
        }
        if self.events.migrations {
            self.metrics.violated(Kind::UselessMigration, verdicts.useless);
            if let Some(first) = verdicts.useless_reports.first()
                && self.may_tell(Kind::UselessMigration, now)
            {
                self.found.push_back(Violation::of_move(&history(), first));
            }
        }
    }

    /// At most one of a kind is reported in a period.
    fn may_tell(&mut self, kind: Kind, now: Time) -> bool {
        let quiet_until = &mut self.quiet_until[kind as usize];
        let may = now >= *quiet_until;
        if may {
            *quiet_until = now + self.options.period;
        }
        may
    }
}

/// The task that waited, and the waste, from the report on.
fn describe(report: (Time, CpuId), now: Time, history: &History) -> Option<Violation> {
    let window = Window { from: report.0, to: now };
    let asked = wastenot_check::Options { window, ..Default::default() };
    let check = wastenot_check::check(history, &asked);
    confirm::describe(report.0, report, history, &check, now)
}

/// Adds the length of waits, and losses, to the metrics.
struct Waits<'m> {
    metrics: &'m Metrics,
}

impl Observer for Waits<'_> {
    fn task(&mut self, state: &State, _: TaskId, was: &TaskState, now: &TaskState) {
        if let Some(wait) = wait_that_ended(state, was, now) {
            self.metrics.waited(wait);
        }
    }
    fn event(&mut self, _: &State, entry: &Entry) {
        if let Event::Lost { count } = entry.event {
            self.metrics.lost(count.unwrap_or(1).into());
        }
    }
}
