//! Causes: the reasons for lost time, as paths in a tree.
//!
//! # Four kinds of loss
//! Waste and wake delay are CPU time (see [`crate::waste`]). So is the idle CPU time that
//! affinities kept from waiting tasks. The time for which quotas held tasks back is task time.
//! Every nanosecond of each loss gets one [`Cause`], so the parts sum to the whole.
//!
//! # Method
//! 1. A unit of waste belongs to a waiting task: the tasks that wait longest are *charged*
//!    (`charge`). A unit of wake delay belongs to the CPU that is about to start a task.
//! 2. The [`Evidence`] contains the known facts about the stretch. The *onset* is how the wait
//!    began. The *persistence* tells if a CPU was idle for so long that it must have balanced.
//! 3. The first cause of [`TREE`] with matching evidence gets the stretch. Leaves come before the
//!    nodes above them, and `unknown` comes last.
//!
//! Precision has priority over recall: if the evidence fits several leaves, the node above them
//! gets the time.

mod charge;
mod evidence;
mod idle;
mod passes;
mod table;
mod watch;

use std::collections::BTreeMap;

use wastenot_model::{CpuId, Report, Table, TaskId, Value, Window, nearest};

pub use self::evidence::LostTime;
pub(crate) use self::evidence::{Ahead, Balancing, Evidence, Onset, Rules};
pub use self::table::{CLASSES, TREE};
pub use self::watch::Watch;

/// A cause of lost time.
#[derive(Debug)]
pub struct Cause {
    /// The path in the tree: `scheduler/placement/previous-idle`. The nodes above are causes, too.
    pub path: &'static str,
    /// The cause in words, as a clause that can follow "because".
    pub about: &'static str,
    /// The evidence that establishes the cause.
    pub evidence: &'static str,
    /// The evidence that refutes the cause.
    pub refuted_by: &'static str,
    /// The advice to the user.
    pub advice: &'static str,
    /// The source of this knowledge: a paper, a file or commit of the kernel, a document.
    pub source: &'static str,
    /// The data that would allow a more precise answer.
    pub missing: &'static str,
    /// True if the precision of the cause is known: the cause has at least 40 cases in which a
    /// planted fault took time (docs/results/causes.md), or real kernels were made to lose a known
    /// time by it. Other causes are only suspected.
    pub named: bool,
    /// The test of the evidence.
    pub(crate) holds: fn(&Evidence) -> bool,
}

impl Cause {
    /// The first two levels of the path: `scheduler/placement`.
    pub fn class(&self) -> &'static str {
        let second = self.path.match_indices('/').nth(1);
        second.map_or(self.path, |(at, _)| &self.path[..at])
    }
    /// The path below the root, or the root itself for a root: `placement`.
    pub fn label(&self) -> &'static str {
        self.path.split_once('/').map_or(self.path, |(_, below)| below)
    }
    /// The next step: the advice, or the data that would decide between the causes below this
    /// node.
    pub(crate) fn next_step(&self) -> String {
        let above = TREE.iter().any(|it| *it != self && it.is_within(self.path));
        match (above, self.named) {
            (true, _) => format!("Missing data: {}", self.missing),
            (false, false) => {
                format!("The cause is only suspected. If it is right: {}", self.advice)
            }
            (false, true) => self.advice.to_owned(),
        }
    }
    /// Whether this is the cause `unknown`.
    pub(crate) fn is_unknown(&self) -> bool {
        self.path == "unknown"
    }
    /// Whether this cause is the node `path` or below it.
    pub fn is_within(&self, path: &str) -> bool {
        is_within(self.path, path)
    }
}

/// Whether the path `below` is `above` or leads on from it.
pub fn is_within(below: &str, above: &str) -> bool {
    below.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Paths are unique.
impl PartialEq for Cause {
    fn eq(&self, other: &Cause) -> bool {
        self.path == other.path
    }
}

/// The node `path` of the tree: a cause, or a node above causes.
///
/// # Errors
/// The tree has no such node. The message names the nearest node.
pub fn node(path: &str) -> Result<&'static str, String> {
    let path = path.trim_matches('/');
    if let Some(cause) = TREE.iter().find(|cause| !path.is_empty() && cause.is_within(path)) {
        return Ok(&cause.path[..path.len()]);
    }
    let nodes = || TREE.iter().flat_map(|cause| nodes(cause.path));
    let last = |node: &&str| node.rsplit('/').next() == Some(path);
    let near = nodes().find(last).or_else(|| nearest(path, nodes()));
    let meant = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    Err(format!("there is no such cause; {meant}`wastenot list causes` lists all causes"))
}

/// A cause and the nodes above it, from the root.
fn nodes(path: &str) -> impl Iterator<Item = &str> {
    let above = path.match_indices('/').map(|(end, _)| &path[..end]);
    above.chain([path])
}

/// The tree as a Report.
pub fn listing() -> Report {
    let mut report = Report::new("list.causes/1", "Causes of lost time");
    report.verdict = "Each nanosecond of lost time has one of these causes. Lost time has four \
                      parts: waste, wake delay, idle time that affinities kept from waiting tasks, \
                      and time for which quotas held tasks back. If the evidence does not decide \
                      between several causes, the time belongs to the node above them in the tree. \
                      `check --cause PATH` lists the periods that were lost by one cause. A report \
                      marks a cause as suspected if too few test cases exist to measure how often \
                      this cause is right."
        .into();
    let columns = [
        ("cause", "cause"),
        ("about", "time was lost because"),
        ("evidence", ""),
        ("refuted_by", ""),
        ("advice", ""),
        ("missing", ""),
        ("source", ""),
        ("named", ""),
    ];
    let mut all = Table::listing("causes", "Causes", &columns);
    for cause in TREE {
        let texts = [cause.path, cause.about, cause.evidence, cause.refuted_by, cause.advice];
        let texts = texts.into_iter().chain([cause.missing, cause.source]);
        all.push(texts.map(Value::from).chain([cause.named.into()]).collect());
    }
    report.tables = vec![all];
    report
}

/// The cause of a stretch with this evidence.
fn cause_of(evidence: &Evidence) -> &'static Cause {
    TREE.iter().find(|cause| (cause.holds)(evidence)).expect("the last one always holds")
}

/// The narrowest of [`CLASSES`] that contains the cause `path`.
pub fn class_of(path: &str) -> Option<usize> {
    let all = CLASSES.iter().enumerate().filter(|(_, (_, node))| is_within(path, node));
    all.max_by_key(|(_, (_, node))| node.len()).map(|(class, _)| class)
}

/// The time that was lost by a cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The lost time in ns, in the order of [`LostTime`].
    pub ns: [u64; LostTime::ALL.len()],
    /// The stretch of a task or a CPU with the largest loss, in the same order.
    pub worst: [Option<Stretch>; LostTime::ALL.len()],
}

/// A stretch of lost time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The window of the stretch.
    pub window: Window,
    /// The task that waited, if there was one.
    pub task: TaskId,
    /// The CPU where the task waited.
    pub cpu: CpuId,
    /// The part of the stretch that was lost by the cause, in ns.
    pub ns: u64,
}

impl Stretch {
    /// A stretch that was lost as a whole.
    fn new(window: Window, task: TaskId, cpu: CpuId) -> Stretch {
        Stretch { window, task, cpu, ns: window.span().0 }
    }
}

/// Lost time by cause.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Causes {
    parts: BTreeMap<&'static str, Part>,
    /// All stretches of waste and wake delay in the order of their ends, if
    /// [`Options::marks`](crate::Options::marks) or `of_cause` is set.
    pub stretches: Vec<(&'static Cause, LostTime, Stretch)>,
}

impl Causes {
    fn add(&mut self, cause: &'static Cause, loss: LostTime, ns: u64, stretch: Option<Stretch>) {
        if ns == 0 {
            return;
        }
        let none = Part { ns: [0; LostTime::ALL.len()], worst: [None; LostTime::ALL.len()] };
        let part = self.parts.entry(cause.path).or_insert(none);
        let sum = &mut part.ns[loss as usize];
        *sum = sum.saturating_add(ns);
        let worst = &mut part.worst[loss as usize];
        let is_worse = |it: &Stretch| worst.is_none_or(|known| it.ns > known.ns);
        if let Some(stretch) = stretch.filter(is_worse) {
            *worst = Some(stretch);
        }
    }

    /// Adds a loss that can have only one cause.
    pub(crate) fn with(mut self, loss: LostTime, ns: u64) -> Causes {
        self.add(cause_of(&Evidence::of(loss)), loss, ns, None);
        self
    }

    /// The time of `loss` that was lost by `path` and all causes below it.
    pub fn ns(&self, loss: LostTime, path: &str) -> u64 {
        let within = self.iter().filter(|(cause, _)| cause.is_within(path));
        within.fold(0, |sum, (_, part)| sum.saturating_add(part.ns[loss as usize]))
    }

    /// The waste of each of [`CLASSES`]. Waste counts in the narrowest class only.
    pub fn waste_by_class(&self) -> [u64; CLASSES.len()] {
        let mut took = [0u64; CLASSES.len()];
        for (cause, part) in self.iter() {
            if let Some(class) = class_of(cause.path) {
                took[class] = took[class].saturating_add(part.ns[LostTime::Waste as usize]);
            }
        }
        took
    }

    /// All causes with lost time, in the order of [`TREE`].
    pub fn iter(&self) -> impl Iterator<Item = (&'static Cause, &Part)> {
        TREE.iter().filter_map(|cause| Some((*cause, self.parts.get(cause.path)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All possible evidence of a stretch.
    fn every() -> impl Iterator<Item = Evidence> {
        let flags = |n: usize| [1, 2, 4, 8, 16, 32].map(|bit| n & bit > 0);
        (0..64 * Balancing::ALL.len()).flat_map(move |n| {
            let [over_grace, stolen, possibly_throttled, interrupted, held, in_idle_state] =
                flags(n);
            let balancing = Balancing::ALL[n / 64];
            let all =
                LostTime::ALL.iter().flat_map(|&loss| Onset::ALL.iter().map(move |&o| (loss, o)));
            let all = all.flat_map(|(loss, onset)| Ahead::ALL.map(|ahead| (loss, onset, ahead)));
            all.flat_map(move |(loss, onset, ahead)| {
                Rules::ALL.map(|rules| Evidence {
                    loss,
                    onset,
                    ahead,
                    rules,
                    balancing,
                    over_grace,
                    stolen,
                    interrupted,
                    held,
                    in_idle_state,
                    possibly_throttled,
                })
            })
        })
    }

    #[test]
    fn every_cause_can_be_found_and_stands_behind_no_node_above_it() {
        let found: Vec<&str> = every().map(|evidence| cause_of(&evidence).path).collect();
        for (place, cause) in TREE.iter().enumerate() {
            assert!(found.contains(&cause.path), "{} is never found", cause.path);
            let above = TREE[..place].iter().find(|it| cause.is_within(it.path));
            assert!(above.is_none(), "{} hides behind {}", cause.path, above.expect("some").path);
        }
    }

    #[test]
    fn each_node_above_a_cause_is_a_cause_or_a_root() {
        let paths: Vec<&str> = TREE.iter().map(|cause| cause.path).collect();
        for path in &paths {
            if let Some((above, _)) = path.rsplit_once('/') {
                let root = !above.contains('/');
                assert!(root || paths.contains(&above), "{path} has no {above}");
            }
        }
    }
}
