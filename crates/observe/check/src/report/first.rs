//! The first screen: figures as shares of a whole, and the worst moment.

use wastenot_model::{CpuSet, History, Moment, Proportion, Span, Unit, Window};

use super::is_cut;
use super::words::{kept_sentence, sentence};
use crate::causes::LostTime;
use crate::recorder::is_recorders;
use crate::violations::Violation;
use crate::{Check, Options};

impl Check {
    /// The violation to look at first: the longest idle stretch while a task of the work waited.
    pub fn worst(&self, history: &History) -> Option<&Violation> {
        self.violations.worst.iter().find(|it| !is_recorders(history, it.task))
    }

    /// What to draw first, and at most `most` CPUs of it (two or more), none where all are of
    /// interest: what ended the recording, or else the worst.
    pub fn to_draw(&self, history: &History, most: usize) -> Option<(Window, CpuSet)> {
        if let Some(trigger) = &self.trigger {
            let cpus = trigger.places(history, &self.violations.worst, most);
            return Some((trigger.window, cpus));
        }
        let worst = self.worst(history)?;
        Some((worst.window, worst.places(most)))
    }

    /// The moment to look at first: where affinities took more than was wasted, the longest wait
    /// because of one.
    pub(super) fn moment(&self, history: &History) -> Option<Moment> {
        if let Some(kept) = self.kept_most() {
            let message = kept_sentence(history, kept);
            return Some(Moment { window: kept.window, message, picture: None });
        }
        let worst = self.worst(history)?;
        Some(Moment { window: worst.window, message: sentence(history, worst), picture: None })
    }

    /// Whether figures are no bounds: rows are missing, or contradict each other.
    pub(super) fn is_doubtful(&self, history: &History) -> bool {
        is_cut(history) || self.contradictions.counted > 0
    }

    /// Five figures that together say how bad it is, and why. Nothing is gained but what was
    /// wasted: whether work that comes earlier would have made other tasks runnable, no trace
    /// shows.
    pub(super) fn proportions(&self, history: &History, options: &Options) -> Vec<Proportion> {
        let waste = &self.waste;
        if waste.known_ns == 0 {
            return Vec::new();
        }
        let elapsed = options.counted(history).span();
        let bounded = waste.cpu_ns_max > waste.cpu_ns;
        let (wasted, gain) = match (self.is_doubtful(history), bounded) {
            (true, _) => ("Waste, about", "Gain, about"),
            (false, true) => ("Waste, at least", "Gain, at most"),
            (false, false) => ("CPU time wasted", "Gain, at most"),
        };
        let mut all = vec![
            (wasted, [waste.cpu_ns; 2], waste.known_ns, "known CPU time"),
            ("CPU time busy", [waste.busy_ns; 2], waste.known_ns, "known CPU time"),
            (gain, [waste.cpu_ns, waste.cpu_ns_max], waste.busy_ns, "busy CPU time"),
            ("Time with waste", [waste.wasteful_ns; 2], elapsed.0, "elapsed time"),
        ];
        all.push(self.largest_loss());
        // A share of nothing says nothing.
        all.retain(|(_, _, whole, _)| *whole > 0);
        let one = |(label, [ns, most], whole, of): (&str, [u64; 2], u64, &str)| Proportion {
            label: label.to_owned(),
            value: Span(most).into(),
            unit: Unit::Ns,
            share: ns as f64 / whole as f64,
            share_max: most as f64 / whole as f64,
            of: of.to_owned(),
        };
        all.into_iter().map(one).collect()
    }

    /// What most time was lost by, as a figure of that loss: a class of causes of waste, an
    /// affinity, a quota, or late starts.
    fn largest_loss(&self) -> (&'static str, [u64; 2], u64, &'static str) {
        let waste = &self.waste;
        let mut all = Vec::new();
        if let Some((cause, ns)) = self.classes().first() {
            all.push((*ns, cause.label(), waste.cpu_ns, "CPU time wasted"));
        }
        if let Some(causes) = &self.causes {
            let lost =
                |loss: LostTime| causes.iter().map(move |(it, part)| (it, part.ns[loss as usize]));
            for (cause, ns) in lost(LostTime::Affinity).chain(lost(LostTime::WakeDelay)) {
                all.push((ns, cause.label(), waste.known_ns, "known CPU time"));
            }
            for (cause, ns) in lost(LostTime::Quota) {
                let wanted = [ns, waste.busy_ns, waste.wait_ns];
                let wanted = wanted.into_iter().fold(0, u64::saturating_add);
                all.push((ns, cause.label(), wanted, "requested CPU time"));
            }
        }
        let largest =
            all.into_iter().filter(|it| it.0 > 0).reduce(|a, b| if b.0 > a.0 { b } else { a });
        let within = self.violations.total.idle_ns;
        largest.map_or(("Violations", [within; 2], waste.wait_ns, "all wait time"), |it| {
            (it.1, [it.0; 2], it.2, it.3)
        })
    }
}
