//! What is asked: which of many figures are of one lock, and what the machine did meanwhile.

use wastenot_measure::Benchmark;
use wastenot_model::machine::{Profile, Spin};
use wastenot_model::{Help, Span};
use wastenot_scenario::measured::{By, Figure};
use wastenot_sim::Overhead;

use super::{Fit, Pair, Point, Setting, Statistic};

/// What is to be fitted, and how well.
#[derive(Clone, Debug)]
pub struct Question {
    /// What everything else takes.
    pub base: Profile,
    /// What `base` is called.
    pub base_name: String,
    /// Only figures of machines whose name has this in it, or that tell none.
    pub machine: Option<String>,
    /// Only figures of these designs; of all unless there is one.
    pub designs: Vec<String>,
    /// What of a figure counts: unless said the median of threads, of which each may be
    /// interrupted, and the maximum of a kernel.
    pub of: Option<Statistic>,
    /// How many CPUs a socket has where that is not told.
    pub socket: u32,
    /// How far off a figure may be, as a share of it.
    pub within: f64,
}

/// Why nothing can be fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unusable {
    /// None of the figures is of a coarse lock.
    #[error("no figure describes a single lock for all CPUs; the figures describe {}", list(there))]
    Other {
        /// Designs and kinds that there are.
        there: Vec<String>,
    },
    /// Figures are of several machines.
    #[error("the figures come from {} machines: {}", machines.len(), list(machines))]
    Machines {
        /// Which.
        machines: Vec<String>,
    },
    /// Figures are of threads and of a kernel.
    #[error(
        "the figures are of two kinds: some come from threads that only make scheduling decisions, \
         and some come from a kernel"
    )]
    Mixed,
    /// A figure is of more CPUs than are simulated, or there are too many.
    #[error("{0}")]
    Large(String),
}

fn list(words: &[String]) -> String {
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

impl Help for Unusable {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Unusable::Other { .. } => {
                "give a file with figures of SCHED for coarse-ticket and coarse-queued (from \
                 `wastenot bounds measure`), or for GSN-EDF (from Feather-Trace)"
            }
            Unusable::Machines { .. } => {
                "choose one machine: write a part of its name after `--machine`"
            }
            Unusable::Mixed => "fit the two kinds of figures separately",
            Unusable::Large(_) => "give fewer figures",
        }
        .into()
    }
}

/// More figures than these are not fitted at once, since each is simulated for every pair tried.
const MOST: usize = 256;
/// Nor figures of more CPUs.
const CPUS: u32 = 1_024;
/// More fetches are not tried.
pub(super) const FETCHES: u32 = 16;

/// What a figure is of, if that is a lock for all: how CPUs spin for it.
fn coarse(figure: &Figure) -> Option<Option<Spin>> {
    if figure.kind != Overhead::Schedule.name() || figure.samples == 0 {
        return None;
    }
    match figure.by {
        By::Threads => match figure.design.parse().ok()? {
            Benchmark::CoarseTicket => Some(Some(Spin::Ticket)),
            Benchmark::CoarseQueued => Some(Some(Spin::Own)),
            Benchmark::PerCpu | Benchmark::Messages | Benchmark::Line => None,
        },
        By::FeatherTrace => (figure.design == PLUGIN).then_some(None),
    }
}

/// The plugin of LITMUS^RT that decides under one lock.
const PLUGIN: &str = "GSN-EDF";

/// The longest decision of a kernel on so many CPUs, as publications state it.
pub fn published(cpus: u32, longest: Span) -> Figure {
    Figure {
        by: By::FeatherTrace,
        machine: String::new(),
        design: PLUGIN.into(),
        kind: Overhead::Schedule.name().into(),
        cpus,
        sockets: None,
        samples: 1,
        mean_ns: 0,
        median_ns: 0,
        max_ns: longest.0,
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Calibrated {
    pub(super) question: Question,
    pub(super) fit: Fit,
    pub(super) by: By,
    /// Figures that are of something else.
    pub(super) left_out: usize,
    pub(super) machine: String,
    /// For each number of fetches the nearest lines, and those that fit.
    pub(super) pairs: Vec<(Pair, Option<std::ops::RangeInclusive<u32>>)>,
}

impl Calibrated {
    /// The pair that comes nearest.
    pub fn nearest(&self) -> &Pair {
        let all = self.pairs.iter().map(|(pair, _)| pair);
        let nearest = all.min_by(|one, other| one.off().total_cmp(&other.off()));
        nearest.expect("the search tries at least one number of fetches")
    }
    /// Whether a pair fits.
    pub fn fits(&self) -> bool {
        self.pairs.iter().any(|(_, range)| range.is_some())
    }
    /// Where the numbers of the nearest pair's profile are from, in a sentence.
    pub fn about(&self) -> String {
        let nearest = self.nearest();
        let (count, base) = (self.fit.points.len(), &self.question.base_name);
        let s = if count == 1 { "" } else { "s" };
        let of = if self.machine.is_empty() { "" } else { " of " };
        let within = match self.by {
            By::Threads => "`heap_step` and `hand_off` are 0, because `coarse` includes them; ",
            By::FeatherTrace => "",
        };
        format!(
            "`fetches` and `coarse` are fitted to {count} figure{s}{of}{}, with an error of at \
             most {:.1} %; {within}all other values are from {base}",
            self.machine,
            nearest.off() * 100.0,
        )
    }
}

impl Question {
    /// Fits the lock's parameters to those of the figures that are of one.
    ///
    /// # Errors
    /// None is, or they do not belong together.
    pub fn ask(self, figures: &[Figure]) -> Result<Calibrated, Unusable> {
        let of_machine = |figure: &&Figure| {
            let is_it = |part: &String| figure.machine.contains(part.as_str());
            figure.machine.is_empty() || self.machine.as_ref().is_none_or(is_it)
        };
        let is_asked = |figure: &Figure| {
            let asked = self.designs.is_empty() || self.designs.contains(&figure.design);
            asked && coarse(figure).is_some()
        };
        let (used, others): (Vec<&Figure>, Vec<&Figure>) =
            figures.iter().filter(of_machine).partition(|figure| is_asked(figure));
        let machine = belong_together(&used, &others)?;
        let by = used[0].by;
        let points: Vec<Point> =
            used.iter().filter_map(|it| self.point(it)).filter(|it| it.ns > 0.0).collect();
        if points.is_empty() {
            return Err(Unusable::Other { there: vec!["some figures are 0 ns".to_owned()] });
        }
        let mut base = self.base;
        if by == By::Threads {
            // Heaps and handing on are part of what is measured, and would count twice.
            (base.heap_step, base.hardware.hand_off) = (Span::ZERO, Span::ZERO);
        }
        let fit = Fit { base, points };
        let pairs = fit.pairs(0..=FETCHES, self.within);
        Ok(Calibrated { question: self, fit, by, left_out: others.len(), machine, pairs })
    }

    fn point(&self, figure: &Figure) -> Option<Point> {
        let spin = coarse(figure)?;
        let (usual, setting) = match figure.by {
            By::Threads => (Statistic::Median, Setting::Threads),
            By::FeatherTrace => (Statistic::Max, Setting::Together),
        };
        let of = self.of.unwrap_or(usual);
        let apart = setting == Setting::Together && of != Statistic::Max;
        let ns = match of {
            Statistic::Mean => figure.mean_ns,
            Statistic::Median => figure.median_ns,
            Statistic::Max => figure.max_ns,
        };
        let (cpus, socket) = (figure.cpus, self.socket.max(1));
        Some(Point {
            setting: if apart { Setting::Apart } else { setting },
            spin,
            cpus,
            sockets: figure.sockets.unwrap_or(cpus.div_ceil(socket)),
            of,
            ns: ns as f64,
        })
    }
}

/// The machine whose they are.
fn belong_together(used: &[&Figure], others: &[&Figure]) -> Result<String, Unusable> {
    let Some(first) = used.first() else {
        let mut there: Vec<String> =
            others.iter().map(|it| format!("{} of {}", it.kind, it.design)).collect();
        there.sort();
        there.dedup();
        there.truncate(8);
        return Err(Unusable::Other { there });
    };
    if used.iter().any(|it| it.by != first.by) {
        return Err(Unusable::Mixed);
    }
    let mut machines: Vec<String> = used.iter().map(|it| it.machine.clone()).collect();
    machines.retain(|machine| !machine.is_empty());
    machines.sort();
    machines.dedup();
    if machines.len() > 1 {
        return Err(Unusable::Machines { machines });
    }
    if used.len() > MOST {
        return Err(Unusable::Large(format!(
            "there are {} figures; the maximum is {MOST}",
            used.len()
        )));
    }
    if let Some(large) = used.iter().find(|it| it.cpus > CPUS) {
        let what =
            format!("a figure has {} CPUs; at most {CPUS} CPUs can be simulated", large.cpus);
        return Err(Unusable::Large(what));
    }
    Ok(machines.pop().unwrap_or_default())
}
