//! What a scheduler did so far, as OpenMetrics text.

use std::collections::BTreeMap;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::STEPS;

/// What was seen of a scheduler so far, over all times that it was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The name of its file.
    pub name: String,
    /// For how long it scheduled.
    pub ran: Duration,
    /// How often each step of the protocol was taken: [`STEPS`].
    pub steps: [u64; STEPS.len()],
    /// What sched_ext counted, by name.
    pub events: BTreeMap<String, u64>,
    /// How often it was loaded again, because a CPU came or went.
    pub reloads: u64,
}

impl Seen {
    /// How often a step was taken.
    ///
    /// # Panics
    /// There is no such step.
    pub fn step(&self, name: &str) -> u64 {
        let at = STEPS.iter().position(|it| *it == name).expect("a step of the protocol");
        self.steps[at]
    }

    /// How many tasks wait in queues of the policy: put = take + steal_ok + again + waiting. The
    /// counters are read one after the other, so it may be off by what happened meanwhile.
    pub fn waiting(&self) -> u64 {
        let gone = ["take", "steal_ok", "again"].map(|step| self.step(step));
        gone.into_iter().fold(self.step("put"), u64::saturating_sub)
    }

    /// Adds what was seen after it was loaded again.
    pub fn add(&mut self, more: &Seen) {
        self.ran += more.ran;
        for (sum, more) in self.steps.iter_mut().zip(more.steps) {
            *sum = sum.wrapping_add(more);
        }
        for (name, more) in &more.events {
            *self.events.entry(name.clone()).or_default() += more;
        }
        self.reloads += more.reloads;
    }

    /// The text that a scrape gets.
    pub fn metrics(&self) -> String {
        let mut all = Registry::with_prefix("wastenot_deploy");
        let kernel = wastenot_host::kernel();
        let build = vec![("policy", self.name.clone()), ("kernel", kernel)];
        all.register("scheduler", "The policy and the kernel on which it runs", Info::new(build));
        let ran = ConstCounter::new(self.ran.as_secs_f64());
        all.register_with_unit(
            "ran",
            "Time during which the policy scheduled tasks",
            Unit::Seconds,
            ran,
        );
        let help = "Number of times that each step of the protocol was taken";
        let steps = STEPS.iter().zip(self.steps).map(|(name, count)| (*name, count));
        all.register("steps", help, family("step", steps));
        let waiting = i64::try_from(self.waiting()).unwrap_or(i64::MAX);
        all.register("waiting", "Tasks in the queues of the policy", ConstGauge::new(waiting));
        let events = self.events.iter().map(|(name, count)| (name.as_str(), *count));
        all.register("events", "Event counters of sched_ext", family("event", events));
        let help = "Number of reloads because a CPU went online or offline";
        all.register("reloads", help, ConstCounter::new(self.reloads));
        let mut text = String::new();
        encode(&mut text, &all).expect("a String takes everything");
        text
    }
}

type Labels = Vec<(&'static str, String)>;

fn family<'n>(
    label: &'static str,
    counts: impl Iterator<Item = (&'n str, u64)>,
) -> Family<Labels, Counter> {
    let family = Family::<Labels, Counter>::default();
    for (name, count) in counts {
        family.get_or_create(&vec![(label, name.to_owned())]).inc_by(count);
    }
    family
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(put: u64) -> Seen {
        let event = ("SCX_EV_ENQ_SKIP_EXITING".to_owned(), 3);
        Seen {
            name: "a.rota".into(),
            ran: Duration::from_millis(1500),
            steps: [put, 0, 4, 0, 2, 0, 0, 0, 1],
            events: BTreeMap::from([event]),
            reloads: 0,
        }
    }

    #[test]
    fn what_was_put_and_neither_taken_nor_stolen_waits() {
        assert_eq!((seen(10).waiting(), seen(0).waiting()), (3, 0));
        let mut all = seen(10);
        all.add(&Seen { reloads: 1, ..seen(8) });
        assert_eq!((all.step("put"), all.waiting(), all.reloads), (18, 4, 1));
        assert_eq!((all.ran.as_millis(), all.events["SCX_EV_ENQ_SKIP_EXITING"]), (3000, 6));
    }

    #[test]
    fn a_scrape_gets_openmetrics() {
        let text = seen(10).metrics();
        let lines = [
            "wastenot_deploy_ran_seconds_total 1.5",
            "wastenot_deploy_steps_total{step=\"put\"} 10",
            "wastenot_deploy_waiting 3",
            "wastenot_deploy_events_total{event=\"SCX_EV_ENQ_SKIP_EXITING\"} 3",
            "wastenot_deploy_reloads_total 0",
            "# EOF",
        ];
        for line in lines {
            assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
        }
    }
}
