//! One violation from its first confirmation to its end: confirmed again each period, reported
//! once.

use std::collections::BTreeMap;
use std::sync::Arc;

use wastenot_model::{Span, Time};

use super::confirm::Verdict;
use super::{Figures, Metrics, Run, Violation};

/// The CPUs beside which violations go on. Beside other CPUs there is another violation.
#[derive(Debug)]
pub(super) struct Beside {
    /// When each CPU idled last.
    idled: BTreeMap<u16, Time>,
    /// A CPU that did not idle for this long is dropped.
    memory: Span,
}

impl Beside {
    pub(super) fn new(memory: Span) -> Beside {
        Beside { idled: BTreeMap::new(), memory }
    }

    /// Records the CPUs that idled until `now`; returns whether none of them did before.
    pub(super) fn is_news(&mut self, idle: &[u16], now: Time) -> bool {
        self.idled.retain(|_, last| now.since(*last) < self.memory);
        let news = !idle.iter().any(|cpu| self.idled.contains_key(cpu));
        self.idled.extend(idle.iter().map(|&cpu| (cpu, now)));
        news
    }

    /// Whether this CPU is known to idle; if so, records that it idles until `now`.
    pub(super) fn knows(&mut self, cpu: u16, now: Time) -> bool {
        let memory = self.memory;
        let last = self.idled.get_mut(&cpu).filter(|last| now.since(**last) < memory);
        last.map(|last| *last = now).is_some()
    }
}

/// Follows confirmed violations.
#[derive(Debug)]
pub(super) struct Follow {
    metrics: Arc<Metrics>,
    open: Option<Open>,
    beside: Beside,
    /// The end of the consecutive looks that were judged already: they are not part of a violation
    /// that is found later.
    done: Time,
}

/// A violation that goes on, as far as is known.
#[derive(Debug)]
struct Open {
    since: Time,
    /// The latest looks that found it.
    run: Run,
    /// It is over unless it is confirmed again until then.
    expires: Time,
}

impl Follow {
    /// A violation confirmed beside CPUs that did not idle for `memory` is a new one.
    pub(super) fn new(metrics: Arc<Metrics>, memory: Span) -> Follow {
        Follow { metrics, open: None, beside: Beside::new(memory), done: Time(0) }
    }

    /// Whether all that `run` found may belong to a violation that is confirmed now.
    pub(super) fn is_fresh(&self, run: &Run) -> bool {
        self.open.is_none() && run.since != self.done
    }

    /// When the violation that goes on is over, unless it is confirmed again.
    pub(super) fn expires(&self) -> Time {
        self.open.as_ref().map_or(Time::MAX, |open| open.expires)
    }

    /// It could not be checked whether the violation goes on.
    pub(super) fn hold(&mut self, expires: Time) {
        if let Some(open) = &mut self.open {
            open.expires = expires;
        }
    }

    /// What `run` found was confirmed. `before` and `after` are the figures of the looks at these
    /// times. Returns what is new.
    pub(super) fn confirmed(
        &mut self,
        run: Run,
        [before, after]: [&Figures; 2],
        verdict: &Verdict,
        expires: Time,
    ) -> Vec<Violation> {
        self.metrics.confirmed();
        // Looks count pinned tasks as well: this share of what they found was waste.
        let found = after.suspect_cpu_ns.saturating_sub(before.suspect_cpu_ns);
        let share = verdict.wasted.0 as f64 / found.max(1) as f64;
        let fresh = self.is_fresh(&run);
        if self.open.is_none() {
            let its = if fresh && before.run.since == run.since { before.run.cpu_ns } else { 0 };
            self.metrics.wasting_from(before.suspect_cpu_ns.saturating_sub(its));
        }
        self.metrics.wasted_until(after.suspect_cpu_ns, share.min(1.0));
        let first = verdict.violations.iter().map(|violation| violation.since_ns).min();
        let since = Time(first.unwrap_or(run.since.0));
        let open = self.open.get_or_insert(Open { since, run, expires });
        (open.run, open.expires) = (run, expires);
        let mut news = verdict.violations.clone();
        news.retain(|violation| self.beside.is_news(&violation.idle_cpus, after.now));
        news.iter().for_each(|violation| self.metrics.found(violation));
        news
    }

    /// What `run` found is no violation, and none goes on. `now` holds the figures so far.
    pub(super) fn cleared(&mut self, run: &Run, now: &Figures) {
        self.metrics.cleared();
        self.end(now);
        self.done = run.since;
    }

    /// The violation that went on has ended. `now` holds the figures so far.
    pub(super) fn end(&mut self, now: &Figures) {
        let Some(open) = self.open.take() else { return };
        let known = [now.run, now.last].into_iter().find(|run| run.since == open.run.since);
        let until = known.unwrap_or(open.run).until;
        self.metrics.ended(until.since(open.since), now.suspect_cpu_ns);
        self.beside.idled.clear();
        self.done = open.run.since;
    }
}

#[cfg(test)]
mod tests {
    use wastenot_model::{Builder, Head, Machine};

    use super::super::violation::tests::sample;
    use super::*;

    const MS: u64 = 1_000_000;

    fn run(since_ms: u64, until_ms: u64) -> Run {
        let (since, until) = (Time(since_ms * MS), Time(until_ms * MS));
        Run { since, until, looks: 3, cpu_ns: (until_ms - since_ms) * MS }
    }

    /// Looks have found `ms`, the last of it in `run`.
    fn figures(ms: u64, run: Run) -> Figures {
        Figures { now: run.until, suspect_cpu_ns: ms * MS, run, ..Figures::default() }
    }

    /// Confirmed beside each of these groups of CPUs, with `wasted_ms` of waste meanwhile.
    fn beside(groups: &[&[u16]], wasted_ms: u64) -> Verdict {
        let violation =
            |cpus: &&[u16]| Violation { since_ns: 100 * MS, idle_cpus: cpus.to_vec(), ..sample() };
        Verdict {
            lost: 0,
            confirmed: true,
            violations: groups.iter().map(violation).collect(),
            wasted: Span::ms(wasted_ms),
            history: Builder::new(Head::new(Machine::flat(8))).finish(),
        }
    }

    fn follow() -> (Arc<Metrics>, Follow) {
        let metrics = Arc::new(Metrics::new("", false));
        (Arc::clone(&metrics), Follow::new(metrics, Span::s(10)))
    }

    fn sample_of(metrics: &Metrics, name: &str) -> f64 {
        let text = metrics.text();
        let line = text.lines().find(|line| line.starts_with(name)).expect("a metric");
        line.rsplit_once(' ').expect("a value").1.parse().expect("a number")
    }

    fn wasted(metrics: &Metrics, now: &Figures) -> f64 {
        metrics.look(now, Span::ZERO);
        sample_of(metrics, "wastenot_wasted_cpu_seconds_total")
    }

    #[test]
    fn what_goes_on_beside_the_same_cpus_is_told_once_and_beside_others_anew() {
        let (metrics, mut follow) = follow();
        let mut at_s = |second: u64, groups: &[&[u16]]| -> Vec<Vec<u16>> {
            let on = run(100, second * 1000);
            let seen = figures(30, on);
            let news = follow.confirmed(on, [&seen, &seen], &beside(groups, 1), Time::MAX);
            news.into_iter().map(|violation| violation.idle_cpus).collect()
        };
        assert_eq!(at_s(1, &[&[1, 2], &[5]]), [vec![1, 2], vec![5]]);
        assert!(at_s(2, &[&[2, 3], &[5]]).is_empty());
        assert_eq!(at_s(3, &[&[3], &[7]]), [vec![7]]);
        // CPU 5 was not seen idle for ten seconds.
        assert_eq!(at_s(12, &[&[5]]), [vec![5]]);
        assert_eq!(sample_of(&metrics, "wastenot_violations_total{kind=\"idle-while"), 4.0);
    }

    #[test]
    fn waste_counts_from_the_first_look_until_the_end() {
        let (metrics, mut follow) = follow();
        let on = run(100, 130);
        let (before, after) = (figures(1_030, on), figures(1_130, run(100, 230)));
        follow.confirmed(on, [&before, &after], &beside(&[&[1]], 100), Time(1));
        assert_eq!(sample_of(&metrics, "wastenot_violation_open"), 1.0);
        let ended = Figures { last: run(100, 600), ..figures(1_500, Run::default()) };
        assert_eq!(wasted(&metrics, &ended), 0.5);
        follow.end(&ended);
        assert_eq!(follow.expires(), Time::MAX);
        assert_eq!(sample_of(&metrics, "wastenot_violation_seconds_sum"), 0.5);
        assert_eq!(sample_of(&metrics, "wastenot_violation_open"), 0.0);
        assert_eq!(wasted(&metrics, &figures(9_000, Run::default())), 0.5);
    }

    #[test]
    fn what_was_found_before_it_was_cleared_is_no_waste() {
        let (metrics, mut follow) = follow();
        follow.cleared(&run(0, 60_000), &figures(60_000, run(0, 60_000)));
        let on = run(0, 61_000);
        assert!(!follow.is_fresh(&on));
        let (before, after) = (figures(61_000, on), figures(61_100, run(0, 61_100)));
        follow.confirmed(on, [&before, &after], &beside(&[&[1]], 100), Time(1));
        assert_eq!(wasted(&metrics, &figures(61_250, run(0, 61_250))), 0.25);
        // It ends, and similar looks follow.
        follow.cleared(&run(0, 61_500), &figures(61_500, run(0, 61_500)));
        assert_eq!(wasted(&metrics, &figures(99_000, run(0, 99_000))), 0.5);
    }

    #[test]
    fn of_what_looks_find_only_the_share_counts_that_is_waste() {
        let (metrics, mut follow) = follow();
        // Three CPUs idle beside pinned tasks, and one beside a task that could use it.
        let on = run(1_000, 1_030);
        let (before, after) = (figures(0, on), figures(400, on));
        follow.confirmed(on, [&before, &after], &beside(&[&[1]], 100), Time(1));
        assert_eq!(wasted(&metrics, &figures(4_000, run(1_000, 2_000))), 1.0);
    }

    #[test]
    fn the_same_looks_are_no_second_violation_with_the_same_waste() {
        let (metrics, mut follow) = follow();
        let on = run(100, 200);
        let seen = figures(100, on);
        follow.confirmed(on, [&seen, &figures(200, on)], &beside(&[&[1]], 100), Time(1));
        let now = figures(1_000, run(100, 1_100));
        follow.end(&now);
        assert!(!follow.is_fresh(&on), "it was the caller that was late");
        follow.confirmed(run(100, 1_100), [&now, &now], &beside(&[&[1]], 100), Time(1));
        assert_eq!(wasted(&metrics, &now), 1.0);
    }
}
