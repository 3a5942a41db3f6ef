//! What a real-time scheduler showed: whose jobs were late, and what scheduling took.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wastenot_model::Workload;
use wastenot_sim::Overhead;
use wastenot_sim::edf::{Done, Pending, Ran};

/// The jobs of the tasks of one name, together: those that were complete, and those that should
/// have been at the end. Times in ns, to the microsecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlines {
    /// How many.
    pub jobs: u64,
    /// How many of them were late.
    pub missed: u64,
    /// How many of those were not complete at the end.
    pub overdue: u64,
    /// How late the latest was; of one that was not complete, as late as it was at the end.
    pub tardiness_ns_max: u64,
    /// The longest from a job's release until it was complete.
    pub response_ns_max: u64,
}

impl Deadlines {
    /// How late the latest was, if there was any.
    pub(crate) fn tardiness_ns(&self) -> Option<u64> {
        (self.jobs > 0).then_some(self.tardiness_ns_max)
    }
    /// The longest from a release until the job was complete, if any was.
    pub(crate) fn response_ns(&self) -> Option<u64> {
        (self.jobs > self.overdue).then_some(self.response_ns_max)
    }
    fn done(&mut self, job: &Done) {
        self.jobs += 1;
        self.missed += u64::from(job.at_us > job.deadline_us);
        let tardiness_us = job.at_us.saturating_sub(job.deadline_us);
        self.tardiness_ns_max = self.tardiness_ns_max.max(tardiness_us * 1_000);
        let response_us = job.at_us - job.released_us;
        self.response_ns_max = self.response_ns_max.max(response_us * 1_000);
    }
    fn pending(&mut self, job: &Pending, end_ns: u64) {
        self.jobs += job.overdue;
        self.missed += job.overdue;
        self.overdue += job.overdue;
        let tardiness_ns = end_ns.saturating_sub(job.deadline_us * 1_000);
        self.tardiness_ns_max = self.tardiness_ns_max.max(tardiness_ns);
    }
    /// With those of another run.
    pub(crate) fn and(self, other: Deadlines) -> Deadlines {
        Deadlines {
            jobs: self.jobs + other.jobs,
            missed: self.missed + other.missed,
            overdue: self.overdue + other.overdue,
            tardiness_ns_max: self.tardiness_ns_max.max(other.tardiness_ns_max),
            response_ns_max: self.response_ns_max.max(other.response_ns_max),
        }
    }
}

/// What a real-time scheduler showed in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealTime {
    /// Of tasks by name, in the order in which they come.
    pub deadlines: Vec<(String, Deadlines)>,
    /// What its paths took, by Feather-Trace's names.
    pub overheads: Vec<(String, Sampled)>,
    /// What was seen of its locks.
    pub locks: Waited,
}

/// Samples of one kind of overhead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// How many.
    pub samples: u64,
    /// All together, in ns.
    pub sum_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// What was seen of all locks of a scheduler, and of cache lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waited {
    /// How many locks there are.
    pub locks: u64,
    /// How often they were taken.
    pub taken: u64,
    /// How often a CPU had to wait.
    pub waited: u64,
    /// By power of two in ns from which on: how many of the waits were shorter than the next.
    pub octaves: BTreeMap<u64, u64>,
    /// How long all of them did, in ns.
    pub wait_ns: u64,
    /// The longest wait.
    pub wait_ns_max: u64,
    /// Most CPUs that had or wanted one of them at a time.
    pub contenders_max: u64,
    /// Cache lines that went from one CPU to another, also others than those of locks.
    pub transfers: u64,
}

impl RealTime {
    pub(crate) fn of(ran: &Ran, workload: &Workload) -> RealTime {
        let mut deadlines: Vec<(String, Deadlines)> = Vec::new();
        let name = |task: u32| {
            let launch = workload.launches[task as usize];
            workload.templates[launch.template.index()].name.as_str()
        };
        let mut of_task = Vec::new();
        for task in 0..workload.launches.len() as u32 {
            let known = deadlines.iter().position(|(known, _)| known == name(task));
            of_task.push(known.unwrap_or(deadlines.len()));
            if known.is_none() {
                deadlines.push((name(task).to_owned(), Deadlines::default()));
            }
        }
        for job in &ran.done {
            deadlines[of_task[job.task as usize]].1.done(job);
        }
        for job in &ran.pending {
            deadlines[of_task[job.task as usize]].1.pending(job, ran.outcome.time.0);
        }
        let sampled = |kind: Overhead| {
            let seen = ran.overheads.seen(kind);
            let of = Sampled { samples: seen.count, sum_ns: seen.sum.0, max_ns: seen.max.0 };
            (kind.name().to_owned(), of)
        };
        let overheads = Overhead::ALL.map(sampled).into_iter().filter(|(_, it)| it.samples > 0);
        RealTime { deadlines, overheads: overheads.collect(), locks: Waited::of(ran) }
    }
}

impl Waited {
    fn of(ran: &Ran) -> Waited {
        let transfers = ran.overheads.transfers;
        let mut all = Waited { transfers, ..Waited::default() };
        for lock in &ran.overheads.locks {
            all.locks += 1;
            all.taken += lock.taken;
            all.waited += lock.waits.count;
            all.wait_ns += lock.waits.sum;
            all.wait_ns_max = all.wait_ns_max.max(lock.waits.max);
            all.contenders_max = all.contenders_max.max(lock.contenders_max as u64);
            for (from, _, count) in lock.waits.octaves() {
                *all.octaves.entry(from).or_default() += count;
            }
        }
        all
    }
    /// With those of another run.
    pub(crate) fn and(mut self, other: &Waited) -> Waited {
        for (from, count) in &other.octaves {
            *self.octaves.entry(*from).or_default() += count;
        }
        Waited {
            locks: other.locks,
            taken: self.taken + other.taken,
            waited: self.waited + other.waited,
            octaves: self.octaves,
            wait_ns: self.wait_ns + other.wait_ns,
            wait_ns_max: self.wait_ns_max.max(other.wait_ns_max),
            contenders_max: self.contenders_max.max(other.contenders_max),
            transfers: self.transfers + other.transfers,
        }
    }
    /// The histogram: from where, to where, how many. Each octave between the shortest wait and the
    /// longest, and none beyond.
    pub(crate) fn histogram(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let mut some = self.octaves.iter().filter(|(_, waits)| **waits > 0).map(|(from, _)| *from);
        let first = some.next();
        let last = some.next_back().or(first).unwrap_or(0);
        let end = |from: u64| from.saturating_mul(2).max(1);
        let octaves = std::iter::successors(first, move |from| (*from < last).then(|| end(*from)));
        octaves.map(move |from| (from, end(from), self.octaves.get(&from).copied().unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::Waited;

    #[test]
    fn a_histogram_begins_and_ends_where_there_are_waits_and_leaves_nothing_out_between() {
        let of = |octaves: &[(u64, u64)]| {
            let waited = Waited { octaves: octaves.iter().copied().collect(), ..Waited::default() };
            waited.histogram().collect::<Vec<_>>()
        };
        assert_eq!(of(&[(0, 0), (8, 0)]), []);
        assert_eq!(of(&[(0, 2), (1, 0)]), [(0, 1, 2)]);
        // Of two locks, one of which was waited for shortly and one long.
        let all = of(&[(1, 0), (2, 5), (16, 1), (32, 0)]);
        assert_eq!(all, [(2, 4, 5), (4, 8, 0), (8, 16, 0), (16, 32, 1)]);
        assert_eq!(of(&[(1 << 63, 1)]), [(1 << 63, u64::MAX, 1)]);
    }
}
