//! The compared runs, and the reasons why their figures may not be comparable.
//!
//! A *note* is a difference that is often the purpose of the comparison, such as another kernel or
//! file. A *bar* is a difference that changes the figures even if the schedulers are equal: another
//! machine, clock or length, other kinds of events, or much lost or unknown data.

use std::collections::BTreeSet;

use wastenot_model::{LossKind, Report, Severity, Span, Value};

use super::{Difference, compare, per_cpu_second};

/// Totals are not comparable if the lengths differ by a larger factor.
const LENGTHS: f64 = 1.1;
/// If a trace lost a larger share of its events, its figures are only loose bounds.
const LOST: f64 = 0.001;
/// The known shares of CPU time may differ by this much.
const KNOWN: f64 = 0.05;
/// Kinds of data that both sides must contain, or both must lack: they decide when waits begin and
/// which tasks are movable.
const CARRIED: &[&str] =
    &["wakeups", "wakeups_new", "migrations", "placement", "affinity", "throttling"];

/// The facts about one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The file of the run.
    pub name: String,
    /// The kernel release and machine, if the file contains them.
    pub kernel: Option<String>,
    /// The number of CPUs in the file.
    pub cpus: i64,
    /// The topology, if it is known.
    pub topology: Option<String>,
    /// The counted length; `None` if the clock counts cycles.
    pub length_ns: Option<i64>,
    /// The number of lost events, as far as they were counted.
    pub lost: i64,
    /// The known share of the CPU time.
    pub(crate) known_share: Option<f64>,
    /// The share of events that were lost; `None` if it is unknown.
    lost_share: Option<f64>,
    carries: BTreeSet<String>,
}

/// Two sets of runs, and the limits of their comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The runs of the first set.
    pub before: Vec<Run>,
    /// The runs of the second set.
    pub after: Vec<Run>,
    /// The reasons why the figures are not comparable, one clause each.
    pub bars: Vec<String>,
    /// Other differences, one sentence each.
    pub notes: Vec<String>,
    /// The differences of all numbers that all runs contain.
    pub differences: Vec<Difference>,
    /// The differences of totals, each divided by the counted CPU time of its run.
    pub rates: Vec<Difference>,
}

impl Run {
    fn of(report: &Report) -> Run {
        let int = |name: &str| report.get(name)?.int::<i64>();
        let text = |name: &str| Some(report.get(name)?.text()?.to_owned());
        let (lost, events) = (int("trace.lost_events").unwrap_or(0), int("trace.events"));
        let uncounted = report.losses.iter().any(|loss| {
            loss.kind.severity() == Severity::Lost
                && (loss.count.is_none() || loss.kind != LossKind::LostEvents)
        });
        let share = |events: i64| lost as f64 / (events + lost).max(1) as f64;
        let carries = match report.get("trace.carries") {
            Some(Value::List(words)) => words.iter().filter_map(word).collect(),
            _ => BTreeSet::new(),
        };
        let length = int("selection.to_ns").zip(int("selection.from_ns"));
        Run {
            name: text("trace.name").unwrap_or_default(),
            kernel: text("trace.kernel"),
            cpus: int("trace.cpus").unwrap_or(0),
            topology: text("trace.topology"),
            length_ns: length.map(|(to, from)| to - from),
            lost,
            known_share: match report.get("waste.known_share") {
                Some(Value::Num(share)) => Some(*share),
                _ => None,
            },
            lost_share: events.filter(|_| !uncounted).map(share),
            carries,
        }
    }

    /// The kernel release: the third word in the output of `uname -a`, or the first word in the
    /// output of `uname -rm`.
    pub(crate) fn release(&self) -> Option<&str> {
        let kernel = self.kernel.as_deref()?;
        let release = kernel.strip_prefix("Linux ").and_then(|rest| rest.split(' ').nth(1));
        release.or_else(|| kernel.split(' ').next())
    }

    pub(super) fn file(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::Text(word) => Some(word.clone()),
        _ => None,
    }
}

impl Comparison {
    /// Compares the runs of these reports of `check`.
    pub fn of(before: &[Report], after: &[Report]) -> Comparison {
        let runs = |reports: &[Report]| reports.iter().map(Run::of).collect();
        let mut found = Comparison {
            before: runs(before),
            after: runs(after),
            differences: compare(before, after),
            rates: per_cpu_second(before, after),
            ..Comparison::default()
        };
        found.machines();
        found.lengths();
        found.losses();
        found.known();
        found.carried();
        if let Some(kernels) = found.differ(|run| run.release().map(str::to_owned)) {
            found.notes.push(format!("The kernels differ: {kernels}."));
        }
        found
    }

    fn machines(&mut self) {
        let cpus = |run: &Run| Some(format!("{} CPUs", run.cpus));
        let bar = self.differ(cpus).or_else(|| self.differ(|run| run.topology.clone()));
        self.bars.extend(bar.map(|they| format!("the machines differ: {they}")));
        let known = |run: &Run| run.topology.is_some();
        let all = || self.before.iter().chain(&self.after);
        if all().any(known) && !all().all(known) {
            let note = "The topology is known for only some of the runs, so the machines may \
                        differ.";
            self.notes.push(note.to_owned());
        }
    }

    fn lengths(&mut self) {
        if self.differ(|run| Some(run.length_ns.is_some().to_string())).is_some() {
            self.bars.push("only some clocks count nanoseconds".to_owned());
        }
        let median = |runs: &[Run]| {
            let lengths: Option<Vec<f64>> =
                runs.iter().map(|run| run.length_ns.map(|ns| ns as f64)).collect();
            lengths.filter(|lengths| !lengths.is_empty()).map(|lengths| super::median(&lengths))
        };
        let Some((a, b)) = median(&self.before).zip(median(&self.after)) else { return };
        if a.max(b) > LENGTHS * a.min(b) {
            let show = |ns: f64| Span(ns as u64);
            self.bars.push(format!(
                "the counted time is {} before the change, {} after it",
                show(a),
                show(b)
            ));
        }
    }

    fn losses(&mut self) {
        let is_lost = |run: &&Run| run.lost_share.is_none_or(|share| share > LOST);
        for (side, runs) in [("before", &self.before), ("after", &self.after)] {
            let much: Vec<&str> = runs.iter().filter(is_lost).map(Run::file).collect();
            if !much.is_empty() {
                let files = much.join(", ");
                self.bars.push(format!("part of the data {side} the change is lost ({files})"));
            }
        }
        let all = self.before.iter().chain(&self.after);
        let few: i64 = all.filter(|run| !is_lost(run)).map(|run| run.lost).sum();
        if few > 0 {
            self.notes.push(format!(
                "Only a few events were lost ({few} in total), so the figures are comparable."
            ));
        }
    }

    fn known(&mut self) {
        let least = |runs: &[Run]| runs.iter().filter_map(|run| run.known_share).reduce(f64::min);
        let most = |runs: &[Run]| runs.iter().filter_map(|run| run.known_share).reduce(f64::max);
        let [(Some(low), Some(high)), (Some(least_after), Some(most_after))] =
            [&self.before, &self.after].map(|runs| (least(runs), most(runs)))
        else {
            return;
        };
        if (high - least_after).max(most_after - low) > KNOWN {
            let show = |low: f64, high: f64| match high - low < 0.0005 {
                true => format!("{:.1} %", low * 100.0),
                false => format!("{:.1} to {:.1} %", low * 100.0, high * 100.0),
            };
            self.bars.push(format!(
                "CPU activity is known for {} of the time before the change, {} after it",
                show(low, high),
                show(least_after, most_after)
            ));
        }
    }

    fn carried(&mut self) {
        for word in CARRIED {
            let tells = |run: &Run| Some(run.carries.contains(*word).to_string());
            if self.differ(tells).is_some() {
                self.bars.push(format!("only some of the traces contain {word}"));
            }
        }
    }

    /// `x before, y after`, if the known values of the runs differ.
    fn differ(&self, of: impl Fn(&Run) -> Option<String>) -> Option<String> {
        let words = |runs: &[Run]| runs.iter().filter_map(&of).collect::<BTreeSet<_>>();
        let (before, after) = (words(&self.before), words(&self.after));
        let differ = before.union(&after).count() > 1 && !before.is_empty() && !after.is_empty();
        let told = |words: BTreeSet<String>| words.into_iter().collect::<Vec<_>>().join(" and ");
        differ.then(|| format!("{} before, {} after", told(before), told(after)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wastenot_model::{Loss, Unit};

    /// A report of a check with facts about the run; `changed` replaces one figure.
    fn run(changed: Option<(&str, &Value)>) -> Report {
        let mut report = Report::new("check/1", "");
        let carries = ["wakeups", "placement", "names"].map(Value::from);
        for (name, value) in [
            ("trace.name", "traces/a.dat".into()),
            ("trace.kernel", "Linux (none) 6.1.0-56-amd64 x86_64".into()),
            ("trace.cpus", 4u64.into()),
            ("trace.topology", Value::Unknown),
            ("trace.events", 1_000_000u64.into()),
            ("trace.lost_events", 0u64.into()),
            ("trace.carries", Value::List(carries.into())),
            ("selection.from_ns", 5u64.into()),
            ("selection.to_ns", 1_000_005u64.into()),
            ("waste.known_share", 1.0.into()),
        ] {
            let changed = changed.filter(|(other, _)| *other == name);
            let value = changed.map_or(value, |(_, value)| value.clone());
            report.measure(name, "", value, Unit::None);
        }
        report
    }

    #[test]
    fn what_changes_figures_bars_and_what_was_to_be_compared_is_noted() {
        let against = |name: &str, value: Value| {
            let after = [run(None), run(Some((name, &value)))];
            Comparison::of(&[run(None)], &after)
        };
        let same = Comparison::of(&[run(None)], &[run(None)]);
        assert_eq!((same.bars.len(), same.notes.len()), (0, 0), "{same:?}");
        let carries =
            Value::List(["wakeups", "placement", "names", "affinity"].map(Value::from).into());
        for (name, value, says) in [
            ("trace.cpus", 8u64.into(), "4 CPUs before, 4 CPUs and 8 CPUs after"),
            ("trace.carries", carries, "contain affinity"),
            ("trace.lost_events", 1_100u64.into(), "data after the change is lost (a.dat)"),
            (
                "waste.known_share",
                0.94.into(),
                "100.0 % of the time before the change, 94.0 to 100.0 % after it",
            ),
            ("selection.to_ns", Value::Unknown, "only some clocks"),
        ] {
            let found = against(name, value);
            assert!(found.bars.len() == 1 && found.bars[0].contains(says), "{name}: {found:?}");
        }
        for (name, value, says) in [
            ("trace.kernel", "Linux (none) 6.12.1 x86_64".into(), "6.1.0-56-amd64 before"),
            ("trace.lost_events", 900u64.into(), "900 in total"),
            ("trace.topology", "2 nodes".into(), "only some of the runs"),
        ] {
            let found = against(name, value);
            assert!(found.bars.is_empty() && found.notes[0].contains(says), "{name}: {found:?}");
        }
    }

    #[test]
    fn lengths_are_compared_by_their_medians_and_topologies_where_they_are_known() {
        let length = |ns: u64| run(Some(("selection.to_ns", &(5 + ns).into())));
        let bars = |a: &[Report], b: &[Report]| Comparison::of(a, b).bars;
        assert!(bars(&[length(100), length(900), length(110)], &[length(105)]).is_empty());
        let barred = bars(&[length(100)], &[length(111)]);
        assert_eq!(barred, ["the counted time is 100 ns before the change, 111 ns after it"]);
        let on = |machine: &str| [run(Some(("trace.topology", &machine.into())))];
        assert!(bars(&on("2 nodes"), &on("2 nodes")).is_empty());
        let differ = ["the machines differ: 2 nodes before, 4 nodes after"];
        assert_eq!(bars(&on("2 nodes"), &on("4 nodes")), differ);
    }

    #[test]
    fn what_is_lost_without_a_count_may_be_anything() {
        let mut cut = run(None);
        cut.losses.push(Loss::new(LossKind::Cut, "the file ends"));
        assert_eq!(Comparison::of(&[cut], &[run(None)]).bars.len(), 1);
    }
}
