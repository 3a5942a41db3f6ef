//! Scores by nanoseconds: what was found because of a fault, held against what the fault took.

use std::collections::BTreeMap;

use wastenot_check::causes::is_within;

use super::truth::{ByCause, Case, Found, Grain, Tally, View};

/// A case is positive if the fault took at least this share of all CPU time.
pub(super) const POSITIVE: f64 = 0.01;
/// With the fault off its class may have at most this share of what it has with the fault on.
pub(super) const LEFT: f64 = 0.05;
/// A class is named if it has at least as many positive cases.
pub(super) const ENOUGH: usize = 40;

/// Sums over cases.
#[derive(Clone, Debug, Default)]
pub(super) struct Score {
    pub(super) cases: usize,
    pub(super) positive: usize,
    /// What the faults took.
    pub(super) truth_ns: f64,
    /// What of it was found in their class.
    pub(super) right_ns: f64,
    /// What was found in other classes, or in theirs beyond what they took.
    pub(super) wrong_ns: f64,
    /// What was found in a node above their class, or as unknown.
    pub(super) open_ns: f64,
    /// What was found in their class with the fault on, and with it off for the same CPU time.
    pub(super) on_ns: f64,
    pub(super) off_ns: f64,
    /// Positive cases in which little of that is left.
    pub(super) little_left: usize,
    /// Over positive cases: sums of shares.
    recalls: f64,
    precisions: f64,
}

impl Score {
    /// Adds what was found of a fault of `target`.
    pub(super) fn add(&mut self, target: &str, found: &Found, grain: Grain) {
        let tally = &found.by[grain as usize];
        let extra = extra(tally);
        let mine = extra.get(target).copied().unwrap_or_default();
        let right = mine.min(found.truth_ns);
        let (mut wrong, mut open) = (mine - right, 0.0);
        for (other, ns) in extra.iter().filter(|(other, _)| **other != target) {
            *if is_above(other, target) { &mut open } else { &mut wrong } += ns;
        }
        let on = tally.on.get(target).copied().unwrap_or_default();
        let off = tally.off_per_time.get(target).copied().unwrap_or_default();
        self.cases += 1;
        self.truth_ns += found.truth_ns;
        self.right_ns += right;
        self.wrong_ns += wrong;
        self.open_ns += open;
        if is_positive(found) {
            self.positive += 1;
            self.on_ns += on;
            self.off_ns += off;
            self.little_left += usize::from(off <= LEFT * on);
            self.recalls += share(right, found.truth_ns).unwrap_or_default();
            self.precisions += share(right, right + wrong).unwrap_or_default();
        }
    }

    /// Right of all that got a class.
    pub(super) fn precision(&self) -> Option<f64> {
        share(self.right_ns, self.right_ns + self.wrong_ns)
    }
    /// Right of all that the faults took.
    pub(super) fn recall(&self) -> Option<f64> {
        share(self.right_ns, self.truth_ns)
    }
    /// The mean over positive cases, which count alike.
    pub(super) fn mean_precision(&self) -> Option<f64> {
        share(self.precisions, self.positive as f64)
    }
    /// The same of recall.
    pub(super) fn mean_recall(&self) -> Option<f64> {
        share(self.recalls, self.positive as f64)
    }
    /// What is left in the class with the fault off.
    pub(super) fn left(&self) -> Option<f64> {
        share(self.off_ns, self.on_ns)
    }
}

/// The fault took enough to be seen.
pub(super) fn is_positive(found: &Found) -> bool {
    found.truth_ns >= POSITIVE * found.cpu_ns
}

/// What was found of each cause beyond what is found with the fault off.
pub(super) fn extra(found: &Tally) -> ByCause {
    let more = |(cause, ns): (&&'static str, &f64)| {
        let more = ns - found.off.get(cause).copied().unwrap_or_default();
        (more > 0.0).then_some((*cause, more))
    };
    found.on.iter().filter_map(more).collect()
}

/// Whether `class` is a node above `below`: no wrong answer, and none that helps.
pub(super) fn is_above(class: &str, below: &str) -> bool {
    class == "unknown" || below != class && is_within(below, class)
}

pub(super) fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// Scores of one view. Of leaves, only faults that have one count; `class` is the leaf then.
pub(super) struct Scores {
    pub(super) all: Score,
    pub(super) by_fault: BTreeMap<&'static str, Score>,
    pub(super) by_class: BTreeMap<&'static str, Score>,
    /// Found in a class though it was another that took it: by the class where it was found.
    pub(super) wrong_ns: BTreeMap<&'static str, f64>,
    /// Of positive cases, each of which is one: what was found in a class, right and wrong.
    alike: BTreeMap<&'static str, [f64; 2]>,
    /// By the class of the fault, then by that in which something was found.
    pub(super) confusion: BTreeMap<&'static str, ByCause>,
}

impl Scores {
    pub(super) fn of(cases: &[Case], view: View, grain: Grain) -> Scores {
        let mut scores = Scores {
            all: Score::default(),
            by_fault: BTreeMap::new(),
            by_class: BTreeMap::new(),
            wrong_ns: BTreeMap::new(),
            alike: BTreeMap::new(),
            confusion: BTreeMap::new(),
        };
        for case in cases {
            let Some(class) = case.fault.target(grain) else { continue };
            let found = &case.found[view as usize];
            scores.all.add(class, found, grain);
            scores.by_fault.entry(case.fault.name).or_default().add(class, found, grain);
            scores.by_class.entry(class).or_default().add(class, found, grain);
            let extra = extra(&found.by[grain as usize]);
            let all: f64 = extra.values().sum();
            let row = scores.confusion.entry(class).or_default();
            for (other, ns) in extra {
                *row.entry(other).or_default() += ns;
                if is_above(other, class) {
                    continue;
                }
                let right = if other == class { ns.min(found.truth_ns) } else { 0.0 };
                *scores.wrong_ns.entry(other).or_default() += ns - right;
                if is_positive(found) {
                    let [rights, wrongs] = scores.alike.entry(other).or_default();
                    *rights += right / all;
                    *wrongs += (ns - right) / all;
                }
            }
        }
        scores
    }

    /// Of what was found in `class`, what a fault of it took.
    pub(super) fn precision(&self, class: &str) -> Option<f64> {
        let right = self.by_class.get(class).map_or(0.0, |score| score.right_ns);
        share(right, right + self.wrong_ns.get(class).copied().unwrap_or_default())
    }

    /// The same where every positive case counts alike, as much as any other.
    pub(super) fn precision_alike(&self, class: &str) -> Option<f64> {
        self.alike.get(class).and_then(|[right, wrong]| share(*right, right + wrong))
    }

    /// Precision and recall of the faults of `classes`, and of what was found in these.
    pub(super) fn among(&self, classes: &[&str]) -> [Option<f64>; 2] {
        let mut sum = [0.0; 4];
        for class in classes {
            if let Some(score) = self.by_class.get(class) {
                sum[0] += score.right_ns;
                sum[1] += score.truth_ns;
            }
            sum[2] += self.wrong_ns.get(class).copied().unwrap_or_default();
        }
        [share(sum[0], sum[0] + sum[2]), share(sum[0], sum[1])]
    }
}
