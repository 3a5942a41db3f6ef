//! One violation from its first confirmation to its end: confirmed anew each period, told once.

use std::sync::Arc;

use wastenot_model::Time;

use super::{Figures, Metrics, Run, Violation};

/// Follows what is confirmed.
#[derive(Debug)]
pub(super) struct Follow {
    metrics: Arc<Metrics>,
    open: Option<Open>,
    /// The looks in a row that were looked into and cleared: what they found so far is none of a
    /// violation that they find later.
    cleared: Time,
}

/// A violation that goes on, as far as is known.
#[derive(Debug)]
struct Open {
    since: Time,
    /// The latest looks that found it.
    run: Run,
    /// It is over if it is not confirmed anew until then.
    expires: Time,
    /// Who idled beside it.
    idle: Vec<u16>,
}

impl Follow {
    pub(super) fn new(metrics: Arc<Metrics>) -> Follow {
        Follow { metrics, open: None, cleared: Time(0) }
    }

    /// Whether all that `run` found may be of a violation that is confirmed now.
    pub(super) fn is_fresh(&self, run: &Run) -> bool {
        self.open.is_none() && run.since != self.cleared
    }

    /// When the violation that goes on is over, unless it is confirmed anew.
    pub(super) fn expires(&self) -> Time {
        self.open.as_ref().map_or(Time::MAX, |open| open.expires)
    }

    /// What `run` found is `violation`; `before` it was looked into, looks had found so much.
    /// Whether that is news: it goes on beside other CPUs than before.
    pub(super) fn confirmed(
        &mut self,
        run: Run,
        before: &Figures,
        violation: &Violation,
        expires: Time,
    ) -> bool {
        self.metrics.confirmed();
        let fresh = self.is_fresh(&run);
        let open = self.open.get_or_insert_with(|| {
            let its = if fresh && before.run.since == run.since { before.run.cpu_ns } else { 0 };
            self.metrics.wasting_from(before.suspect_cpu_ns.saturating_sub(its));
            Open { since: Time(violation.since_ns), run, expires, idle: Vec::new() }
        });
        (open.run, open.expires) = (run, expires);
        let news = !violation.idle_cpus.iter().any(|cpu| open.idle.contains(cpu));
        open.idle.extend(&violation.idle_cpus);
        open.idle.sort_unstable();
        open.idle.dedup();
        if news {
            self.metrics.found(violation);
        }
        news
    }

    /// What `run` found is no violation, and none goes on. Looks have found so much until `now`.
    pub(super) fn cleared(&mut self, run: &Run, now: &Figures) {
        self.metrics.cleared();
        self.cleared = run.since;
        self.end(now);
    }

    /// The violation that went on does no longer. Looks have found so much until `now`.
    pub(super) fn end(&mut self, now: &Figures) {
        let Some(open) = self.open.take() else { return };
        let known = [now.run, now.last].into_iter().find(|run| run.since == open.run.since);
        let until = known.unwrap_or(open.run).until;
        self.metrics.ended(until.since(open.since), now.suspect_cpu_ns);
    }
}

#[cfg(test)]
mod tests {
    use wastenot_model::Span;

    use super::super::violation::tests::sample;
    use super::*;

    const MS: u64 = 1_000_000;

    fn run(since_ms: u64, until_ms: u64) -> Run {
        let (since, until) = (Time(since_ms * MS), Time(until_ms * MS));
        Run { since, until, looks: 3, cpu_ns: (until_ms - since_ms) * MS }
    }

    /// Looks have found `ms`, the last of it in `run`.
    fn figures(ms: u64, run: Run) -> Figures {
        Figures { suspect_cpu_ns: ms * MS, run, ..Figures::default() }
    }

    fn beside(cpus: &[u16]) -> Violation {
        Violation { since_ns: 100 * MS, idle_cpus: cpus.to_vec(), ..sample() }
    }

    fn line(metrics: &Metrics, name: &str) -> String {
        let text = metrics.text();
        text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned()
    }

    fn wasted(metrics: &Metrics, now: &Figures) -> String {
        metrics.look(now, Span::ZERO);
        line(metrics, "wastenot_wasted_cpu_seconds_total")
    }

    #[test]
    fn what_goes_on_beside_the_same_cpus_is_told_once_and_beside_others_anew() {
        let metrics = Arc::new(Metrics::new("", false));
        let mut follow = Follow::new(Arc::clone(&metrics));
        let goes_on = run(100, 130);
        for (idle, news) in [(&[1, 2][..], true), (&[2, 3], false), (&[3], false), (&[7], true)] {
            let seen = figures(30, goes_on);
            assert_eq!(follow.confirmed(goes_on, &seen, &beside(idle), Time(1)), news, "{idle:?}");
        }
        let kind = "wastenot_violations_total{kind=\"idle-while-overloaded\"}";
        assert_eq!(line(&metrics, kind), format!("{kind} 2"));
    }

    #[test]
    fn waste_counts_from_the_first_look_until_the_end() {
        let metrics = Arc::new(Metrics::new("", false));
        let mut follow = Follow::new(Arc::clone(&metrics));
        follow.confirmed(run(100, 130), &figures(1_030, run(100, 130)), &beside(&[1]), Time(1));
        let ended = Figures { last: run(100, 600), ..figures(1_500, Run::default()) };
        assert_eq!(wasted(&metrics, &ended), "wastenot_wasted_cpu_seconds_total 0.5");
        follow.end(&ended);
        assert_eq!(follow.expires(), Time::MAX);
        let sum = "wastenot_violation_seconds_sum";
        assert_eq!(line(&metrics, sum), format!("{sum} 0.5"));
        let later = figures(9_000, Run::default());
        assert_eq!(wasted(&metrics, &later), "wastenot_wasted_cpu_seconds_total 0.5");
    }

    #[test]
    fn what_was_found_before_it_was_cleared_is_no_waste() {
        let metrics = Arc::new(Metrics::new("", false));
        let mut follow = Follow::new(Arc::clone(&metrics));
        follow.cleared(&run(0, 60_000), &figures(60_000, run(0, 60_000)));
        let on = run(0, 61_000);
        assert!(!follow.is_fresh(&on));
        follow.confirmed(on, &figures(61_000, on), &beside(&[1]), Time(1));
        let now = figures(61_250, run(0, 61_250));
        assert_eq!(wasted(&metrics, &now), "wastenot_wasted_cpu_seconds_total 0.25");
        // It ends, and what looks like it goes on.
        follow.cleared(&run(0, 61_500), &figures(61_500, run(0, 61_500)));
        let later = figures(99_000, run(0, 99_000));
        assert_eq!(wasted(&metrics, &later), "wastenot_wasted_cpu_seconds_total 0.5");
    }
}
