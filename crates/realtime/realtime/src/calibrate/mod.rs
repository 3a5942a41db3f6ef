//! Which parameters of the simulated machine fit what was measured of a real one.
//!
//! Of a kernel that decides under one lock nobody tells how many cache lines are written under it,
//! nor how often a CPU that waits for a ticket lock fetches its line: a pair of numbers. For each
//! number of fetches the lines are searched with which the simulated machine is nearest to all
//! figures at once. Everything else is as in a profile, but for the work under the lock, which
//! figures of one CPU tell.

mod question;
mod report;
mod setting;

use std::ops::RangeInclusive;

use rayon::prelude::*;
use wastenot_model::Span;
use wastenot_model::machine::{Profile, Spin};
use wastenot_sim::edf::Design;

pub use question::{Calibrated, Question, Unusable, published};
pub use setting::{Setting, Statistic, machine, overheads};

/// No more lines are tried.
pub(crate) const LINES: u32 = 8_192;

const COARSE: Design = Design::Coarse { master: false };

/// A figure that the simulated machine should show, too: how long it takes to choose whom to run,
/// under one lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// What was going on.
    pub setting: Setting,
    /// How CPUs spin; as in the profile unless told.
    pub spin: Option<Spin>,
    /// On so many CPUs.
    pub cpus: u32,
    /// Of so many sockets.
    pub sockets: u32,
    /// What was taken of all samples.
    pub of: Statistic,
    /// It, in ns; above 0.
    pub ns: f64,
}

impl Point {
    fn simulated(&self, profile: Profile) -> f64 {
        let profile = Profile { spin: self.spin.unwrap_or(profile.spin), ..profile };
        setting::schedule_ns(self.setting, &COARSE, (self.cpus, self.sockets), profile, self.of)
    }
}

/// How near the simulated machine comes with one number of fetches.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The number.
    pub fetches: u32,
    /// The lines with which it comes nearest.
    pub lines: u32,
    /// The profile with both.
    pub profile: Profile,
    /// By figure: what is simulated, in ns.
    pub(crate) simulated_ns: Vec<f64>,
    /// By figure: how much longer that is than what was measured, as a share of it.
    pub residuals: Vec<f64>,
}

impl Pair {
    /// The largest residual, whatever its sign.
    pub fn off(&self) -> f64 {
        self.residuals.iter().fold(0.0, |most, residual| residual.abs().max(most))
    }
    /// Above 0: the simulated machine takes too long rather than too short.
    fn balance(&self) -> f64 {
        let low = self.residuals.iter().copied().fold(f64::INFINITY, f64::min);
        self.residuals.iter().copied().fold(f64::NEG_INFINITY, f64::max) + low
    }
}

/// What is fitted to what.
#[derive(Clone, Debug)]
pub struct Fit {
    /// What everything else takes.
    pub base: Profile,
    /// The figures; at least one.
    pub points: Vec<Point>,
}

impl Fit {
    /// The lines that come nearest with that number of fetches.
    pub fn nearest(&self, fetches: u32) -> Pair {
        let lines = least(0..=LINES, |lines| self.at(fetches, lines).balance() >= 0.0);
        let above = self.at(fetches, lines);
        match lines.checked_sub(1).map(|lines| self.at(fetches, lines)) {
            Some(below) if below.off() < above.off() => below,
            _ => above,
        }
    }

    /// The same for each number of fetches, and between which numbers of lines no figure is off by
    /// more than `within`, if there are any.
    pub(crate) fn pairs(
        &self,
        fetches: RangeInclusive<u32>,
        within: f64,
    ) -> Vec<(Pair, Option<RangeInclusive<u32>>)> {
        let one = |fetches| {
            let nearest = self.nearest(fetches);
            let range = (nearest.off() <= within).then(|| self.range(&nearest, within));
            (nearest, range)
        };
        fetches.into_par_iter().map(one).collect()
    }

    /// Between which lines nothing is off by more than `within`, if it is not with those of `fits`:
    /// more lines never take less.
    fn range(&self, fits: &Pair, within: f64) -> RangeInclusive<u32> {
        let at = |lines| self.at(fits.fetches, lines).off() <= within;
        let first = least(0..=fits.lines, at);
        let beyond = least(fits.lines..=LINES, |lines| !at(lines));
        let last = if at(beyond) { beyond } else { beyond - 1 };
        first..=last
    }

    /// What these parameters give.
    fn at(&self, fetches: u32, lines: u32) -> Pair {
        let mut profile = self.base.with_lines(lines, fetches);
        if let Some(work) = self.work(profile) {
            profile.coarse.work = work;
        }
        let simulated_ns: Vec<f64> =
            self.points.iter().map(|point| point.simulated(profile)).collect();
        let residuals = self.points.iter().zip(&simulated_ns);
        let residuals = residuals.map(|(point, ns)| ns / point.ns - 1.0).collect();
        Pair { fetches, lines, profile, simulated_ns, residuals }
    }

    /// Its own work of whoever decides: what is left of what that takes on one CPU, where nobody
    /// waits and no line travels, if that was measured.
    fn work(&self, mut profile: Profile) -> Option<Span> {
        let alone = self.points.iter().filter(|point| point.cpus == 1);
        profile.coarse.work = Span::ZERO;
        let left: Vec<f64> = alone.map(|point| point.ns - point.simulated(profile)).collect();
        let mean = left.iter().sum::<f64>() / left.len() as f64;
        (!left.is_empty()).then(|| Span(mean.max(0.0).round() as u64))
    }
}

/// The first number for which `is_so` holds, as it does for all above; the last if for none.
fn least(range: RangeInclusive<u32>, is_so: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = range.into_inner();
    while low < high {
        let middle = low.midpoint(high);
        if is_so(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    high
}
