//! The findings of the watch, as OpenMetrics text.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use wastenot_check::causes::{self, CLASSES};
use wastenot_model::Span;

use super::shelf::Fate;
use super::violation::Kind;
use super::{Figures, Violation};

/// Figures of the watch, to be scraped. They begin at zero with the process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    /// Waste of violations that ended, and the look figures at the start of the one that goes on.
    wasted_before_ns: AtomicU64,
    wasting_from: AtomicU64,
    /// The bits of a float.
    share: AtomicU64,
    wasted: Seconds,
    suspected: Seconds,
    own: Seconds,
    looking: Seconds,
    looks: Counter,
    suspicions: Split<3>,
    violations: Split<{ Kind::ALL.len() }>,
    causes: Split<{ CLASSES.len() }>,
    open: Gauge,
    length: Histogram,
    wait: Histogram,
    lost: Counter,
    recordings: Split<{ Fate::ALL.len() }>,
    kept: Gauge,
}

/// No violation goes on: looks never find this much.
const NOTHING: u64 = u64::MAX;

type Seconds = Counter<f64, AtomicU64>;

/// Upper bounds in seconds: a millisecond to an hour.
const BOUNDS: [f64; 12] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 60.0, 600.0, 3600.0];

impl Metrics {
    /// All metrics at zero, for a watch over this kernel: with looks, or `exact` with events.
    pub fn new(kernel: &str, exact: bool) -> Metrics {
        let mut metrics = Metrics {
            registry: Registry::with_prefix("wastenot"),
            wasted_before_ns: AtomicU64::new(0),
            wasting_from: AtomicU64::new(NOTHING),
            share: AtomicU64::new(1f64.to_bits()),
            wasted: Seconds::default(),
            suspected: Seconds::default(),
            own: Seconds::default(),
            looking: Seconds::default(),
            looks: Counter::default(),
            suspicions: Split::new("verdict", ["confirmed", "cleared", "failed"]),
            violations: Split::new("kind", Kind::ALL.map(Kind::name)),
            causes: Split::new("cause", CLASSES.map(|(word, _)| word)),
            open: Gauge::default(),
            length: Histogram::new(BOUNDS),
            wait: Histogram::new(BOUNDS),
            lost: Counter::default(),
            recordings: Split::new("fate", Fate::ALL.map(Fate::name)),
            kept: Gauge::default(),
        };
        metrics.register(kernel, exact);
        metrics
    }

    fn register(&mut self, kernel: &str, exact: bool) {
        let by_mode = |looks: &'static str, events| if exact { events } else { looks };
        let all = &mut self.registry;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let build = vec![("version", version), ("kernel", kernel.to_owned())];
        all.register(
            "build",
            "Version of wastenot and of the kernel that it watches",
            Info::new(build),
        );
        let mut seconds = |name: &str, help: &str, metric: &Seconds| {
            all.register_with_unit(name, help, Unit::Seconds, metric.clone());
        };
        let help = by_mode(
            "Idle CPU time while tasks waited elsewhere, in confirmed violations",
            "Idle CPU time that waiting tasks could have used",
        );
        seconds("wasted_cpu", help, &self.wasted);
        let help = by_mode(
            "Idle CPU time while tasks waited, including pinned and throttled tasks",
            "Idle CPU time while tasks waited, if unknown CPUs count as idle",
        );
        seconds("suspected_cpu", help, &self.suspected);
        seconds("own_cpu", "CPU time of the wastenot process", &self.own);
        seconds(
            "looking",
            "CPU time that the kernel spent on scans of the run queues",
            &self.looking,
        );
        all.register("looks", "Scans of all run queues", self.looks.clone());
        let help = "Suspected violations that were checked with a recording";
        all.register("suspicions", help, self.suspicions.clone());
        all.register("violations", "Confirmed violations", self.violations.clone());
        let help = "Reported violations by the class of their main cause";
        all.register("violation_causes", help, self.causes.clone());
        let help = "1 while a CPU is idle and a task that could use this CPU waits, otherwise 0";
        all.register("violation_open", help, self.open.clone());
        let help = "Durations of violations that have ended";
        all.register_with_unit("violation", help, Unit::Seconds, self.length.clone());
        let help = by_mode(
            "Waiting times of the tasks in reported violations",
            "Waiting times of tasks until they ran",
        );
        all.register_with_unit("wait", help, Unit::Seconds, self.wait.clone());
        all.register(
            "lost_events",
            "Events dropped because the ring buffer was full",
            self.lost.clone(),
        );
        all.register("recordings", "Traces of violations", self.recordings.clone());
        let help = "Disk space that the saved traces use";
        all.register_with_unit("kept", help, Unit::Bytes, self.kept.clone());
    }

    /// A suspicion was a violation, new or already known.
    pub(super) fn confirmed(&self) {
        self.suspicions.add(0, 1);
    }
    /// A suspicion was no violation.
    pub(super) fn cleared(&self) {
        self.suspicions.add(1, 1);
    }
    /// A suspicion could not be checked.
    pub(super) fn failed(&self) {
        self.suspicions.add(2, 1);
    }
    /// Adds confirmed and cleared suspicions.
    pub(super) fn judged(&self, confirmed: u64, cleared: u64) {
        self.suspicions.add(0, confirmed);
        self.suspicions.add(1, cleared);
    }
    /// Adds violations of a kind.
    pub(super) fn violated(&self, kind: Kind, count: u64) {
        self.violations.add(kind as usize, count);
    }
    /// A task waited.
    pub(super) fn waited(&self, wait: Span) {
        self.wait.observe(wait.as_secs());
    }
    /// A violation was found.
    pub(crate) fn found(&self, violation: &Violation) {
        self.violated(violation.kind, 1);
        let class = violation.cause.and_then(causes::class_of);
        class.into_iter().for_each(|class| self.causes.add(class, 1));
        self.waited(Span(violation.wait_ns));
    }
    /// A violation goes on. The looks' findings count from `suspect_cpu_ns` on.
    pub(super) fn wasting_from(&self, suspect_cpu_ns: u64) {
        self.goes_on(true);
        self.wasting_from.store(suspect_cpu_ns, Relaxed);
    }
    /// It goes on, and looks have found `suspect_cpu_ns`. The share of that, and of what they find
    /// next, that is waste is `share`, 0 to 1.
    pub(super) fn wasted_until(&self, suspect_cpu_ns: u64, share: f64) {
        self.share.store(share.to_bits(), Relaxed);
        let from = self.wasting_from.swap(suspect_cpu_ns, Relaxed);
        self.wasted(self.waste_in(from, suspect_cpu_ns));
    }
    /// The waste in what looks found between two of their figures.
    fn waste_in(&self, from: u64, to: u64) -> u64 {
        (to.saturating_sub(from) as f64 * f64::from_bits(self.share.load(Relaxed))) as u64
    }
    /// Whether a violation goes on.
    pub(super) fn goes_on(&self, open: bool) {
        self.open.set(open.into());
    }
    /// Adds the waste of a violation that has ended.
    pub(super) fn wasted(&self, cpu_ns: u64) {
        self.wasted_before_ns.fetch_add(cpu_ns, Relaxed);
    }
    /// A violation lasted for `length`.
    pub(super) fn lasted(&self, length: Span) {
        self.length.observe(length.as_secs());
    }
    /// The violation that went on lasted for `length`, and looks have found `suspect_cpu_ns` so
    /// far.
    pub(super) fn ended(&self, length: Span, suspect_cpu_ns: u64) {
        self.lasted(length);
        let from = self.wasting_from.swap(NOTHING, Relaxed);
        self.wasted(self.waste_in(from, suspect_cpu_ns));
        self.goes_on(false);
    }
    /// Adds the events that were lost while a suspicion was checked.
    pub(crate) fn lost(&self, events: u64) {
        self.lost.inc_by(events);
    }
    /// Counts a recording by its fate.
    pub fn recording(&self, fate: Fate) {
        self.recordings.add(fate as usize, 1);
    }
    /// Sets the bytes of kept recordings.
    pub fn kept(&self, bytes: u64) {
        self.kept.set(bytes as i64);
    }

    /// Updates the timer's figures and this process's CPU time.
    pub(super) fn look(&self, figures: &Figures, own: Span) {
        let going_on = self.waste_in(self.wasting_from.load(Relaxed), figures.suspect_cpu_ns);
        let wasted_ns = self.wasted_before_ns.load(Relaxed) + going_on;
        raise(&self.wasted, Span(wasted_ns));
        raise(&self.suspected, Span(figures.suspect_cpu_ns));
        raise(&self.own, own);
        raise(&self.looking, Span(figures.looking_ns));
        self.looks.inner().fetch_max(figures.looks, Relaxed);
    }

    /// What the watch found in `span`, in words: `no violation in 5.000 s on 16 CPUs`.
    pub fn summary(&self, span: Span) -> String {
        let found = match self.violations.total() {
            0 => "no violation".to_owned(),
            1 => "1 violation".to_owned(),
            more => format!("{more} violations"),
        };
        let cpus = wastenot_host::Host::this().cpus().map(|cpus| cpus.len());
        let cpus = match cpus {
            None => String::new(),
            Some(1) => " on 1 CPU".to_owned(),
            Some(more) => format!(" on {more} CPUs"),
        };
        format!("{found} in {span}{cpus}")
    }

    /// The text that a scrape gets.
    pub fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a String takes everything");
        text
    }
}

/// A counter never decreases, though figures of two sources may differ by a look. Floats above zero
/// are in the order of their bits.
fn raise(counter: &Seconds, to: Span) {
    counter.inner().fetch_max(to.as_secs().to_bits(), Relaxed);
}

/// Counters with a label, in a fixed order, each present from the start: an alert needs the series
/// to exist.
#[derive(Clone)]
struct Split<const N: usize> {
    label: &'static str,
    parts: [(&'static str, Counter); N],
}

impl<const N: usize> Split<N> {
    fn new(label: &'static str, names: [&'static str; N]) -> Split<N> {
        Split { label, parts: names.map(|name| (name, Counter::default())) }
    }
    fn add(&self, part: usize, count: u64) {
        self.parts[part].1.inc_by(count);
    }
    fn total(&self) -> u64 {
        self.parts.iter().map(|(_, counter)| counter.get()).sum()
    }
}

impl<const N: usize> fmt::Debug for Split<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.label).finish_non_exhaustive()
    }
}

impl<const N: usize> EncodeMetric for Split<N> {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        for (name, counter) in &self.parts {
            counter.encode(encoder.encode_family(&[(self.label, *name)])?)?;
        }
        Ok(())
    }
    fn metric_type(&self) -> MetricType {
        MetricType::Counter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_openmetrics_to_the_letter() {
        let metrics = Metrics::new("6.18 \"x\"", false);
        metrics.cleared();
        metrics.confirmed();
        metrics.found(&crate::watch::violation::tests::sample());
        metrics.wasting_from(500_000_000);
        metrics.ended(Span::s(2), 2_000_000_000);
        metrics.recording(Fate::Saved);
        metrics.kept(4096);
        let figures = Figures { looks: 12, looking_ns: 9_000, ..Figures::default() };
        metrics.look(&figures, Span::ms(250));
        let golden = include_str!("metrics.txt");
        assert_eq!(metrics.text(), golden, "{}", metrics.text());
        let quiet = Metrics::new("", false).summary(Span::s(5));
        assert!(quiet.starts_with("no violation in 5.000 s on "), "{quiet}");
        assert!(metrics.summary(Span::s(5)).starts_with("1 violation in "));
    }

    #[test]
    fn a_counter_never_falls_while_a_violation_ends() {
        let metrics = Metrics::new("", false);
        let seen = |cpu_ms: u64| {
            let suspect_cpu_ns = cpu_ms * 1_000_000;
            metrics.look(&Figures { suspect_cpu_ns, ..Figures::default() }, Span::ZERO);
            metrics.wasted.get()
        };
        assert_eq!(seen(9_000), 0.0, "nothing is confirmed");
        metrics.wasting_from(8_500_000_000);
        assert_eq!(seen(10_000), 1.5);
        metrics.ended(Span::s(1), 10_250_000_000);
        assert_eq!(seen(10_250), 1.75);
        assert_eq!(seen(20_000), 1.75);
        metrics.wasting_from(20_000_000_000);
        assert_eq!(seen(20_500), 2.25);
    }
}
