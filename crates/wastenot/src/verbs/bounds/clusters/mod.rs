//! Tasks divided among clusters of CPUs: whether each cluster meets all deadlines, a machine of its
//! own.

mod report;

use wastenot_bounds::overheads::{Beyond, TooMuch};
use wastenot_bounds::partitioned::first_fit_by;
use wastenot_bounds::verdict::{Judgement, Shown, Test, Verdict, Witness, judge, shown};
use wastenot_bounds::{Answer, Budget, tardiness};
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_sim::edf::{Missed, falsify};

pub(super) use self::report::{place, report};
use super::outcome::{Asked, JOBS, TEST, responses};

/// What either way to divide may spend on all clusters that it tries, and what may be spent on the
/// response times of all: some seconds.
const SEARCH: Budget = Budget(200_000_000);
/// No test of a cluster may spend more of what is left of it.
const SHARE: u64 = 64;
/// What it takes to count overheads, for each task, in steps of a test.
const COUNTING: u64 = 16;

/// How tasks were divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// By decreasing utilization, each to where most is left: as sweeps do.
    WorstFit,
    /// By decreasing density, each to the first that is accepted with it.
    FirstFit,
}

/// Tasks that stay together, and what is known of them.
pub(super) struct Cluster {
    /// As they are.
    pub(super) tasks: TaskSet,
    /// Once they pay for overheads, if there are any.
    pub(super) counted: Result<TaskSet, TooMuch>,
    /// Whether it meets all deadlines.
    pub(super) shown: Shown,
}

/// All tasks, divided.
pub(super) struct Division {
    pub(super) by: By,
    /// The cluster of each task.
    pub(super) cluster_of: Vec<usize>,
    pub(super) clusters: Vec<Cluster>,
    /// The first task that the implementation does not take, counted from 0.
    pub(super) refused: Option<usize>,
    /// Whether first fit was out of its budget.
    pub(super) spent: bool,
    /// Of all tasks on all CPUs: only what refutes every scheduler is a witness here, and a
    /// simulated miss if there is one cluster.
    pub(super) whole: Verdict<Missed>,
}

impl Division {
    /// Divides tasks among so many clusters, each as `asked`. With `extrapolate` overheads may be
    /// asked for where they were not measured.
    pub(super) fn of(tasks: &TaskSet, clusters: u32, asked: &Asked, extrapolate: bool) -> Division {
        let cpus = asked.for_tasks();
        let Judgement { verdict, .. } = judge(tasks, clusters * cpus, &[], TEST, || None);
        let refused = asked.implementation.refused(tasks);
        let count = clusters as usize;
        // Of tasks that the implementation does not take no test tells.
        let tests = if refused.is_none() { tests(asked) } else { Vec::new() };
        let with = |by, cluster_of: Vec<usize>, whole| {
            let parts = tasks.divided(&cluster_of, count).into_iter();
            let mut left = SEARCH;
            let clusters = parts.map(|part| Cluster::of(part, asked, &tests, &mut left)).collect();
            Division { by, cluster_of, clusters, refused, spent: false, whole }
        };
        let worst_fit = tasks.worst_fit(&vec![cpus; count]);
        let mut worst_fit = with(By::WorstFit, worst_fit, verdict);
        let is_open = refused.is_none() && matches!(worst_fit.whole, Verdict::Unknown);
        if !is_open || worst_fit.is_shown() {
            return worst_fit;
        }
        if clusters == 1 {
            // There is nothing to divide, and who is late is late.
            if let Some(missed) = falsify(tasks, cpus, JOBS).missed {
                worst_fit.whole = Verdict::Unschedulable(Witness::Missed(missed));
            }
            return worst_fit;
        }
        let mut left = SEARCH;
        let found = first_fit_by(tasks, clusters, |part| {
            left.0 = left.0.saturating_sub(COUNTING * part.len() as u64);
            if left.0 == 0 {
                return Answer::Unknown;
            }
            let tasks = TaskSet::new(part.to_vec()).expect("they are of a set");
            // As long as it has few tasks more may come.
            let is_too_much = |beyond: Beyond| beyond.at > beyond.last;
            let is_measured = extrapolate || !asked.beyond(&tasks).is_some_and(is_too_much);
            match Cluster::of(tasks, asked, &tests, &mut left).shown {
                Shown::By(_) if is_measured => Answer::Accept,
                Shown::Spent => Answer::Unknown,
                _ => Answer::Reject,
            }
        });
        match found.answer {
            Answer::Accept => {
                let cluster_of = found.cpu_of.into_iter().map(|cluster| cluster as usize);
                with(By::FirstFit, cluster_of.collect(), worst_fit.whole)
            }
            answer => Division { spent: answer == Answer::Unknown, ..worst_fit },
        }
    }

    /// The first cluster of which an overhead is asked for that was not measured, and where.
    pub(super) fn beyond(&self, asked: &Asked) -> Option<(usize, Beyond)> {
        let mut all = self.clusters.iter().enumerate();
        all.find_map(|(n, cluster)| Some((n, asked.beyond(&cluster.tasks)?)))
    }

    /// Of global EDF in each cluster; a job that is late in one refutes this division only, and so
    /// is no witness.
    pub(super) fn verdict(&self) -> Verdict<Missed> {
        match (&self.whole, self.clusters.first().map(|cluster| cluster.shown)) {
            (Verdict::Unschedulable(witness), _) => Verdict::Unschedulable(witness.clone()),
            (_, Some(Shown::By(test))) if self.is_shown() => Verdict::Schedulable(test),
            _ => Verdict::Unknown,
        }
    }

    /// The first cluster of which nothing is shown.
    pub(super) fn unshown(&self) -> Option<usize> {
        self.clusters.iter().position(|cluster| !matches!(cluster.shown, Shown::By(_)))
    }

    fn is_shown(&self) -> bool {
        self.unshown().is_none()
    }

    /// Of each task what `of` has of its cluster, by the order of the cluster.
    fn by_task<T>(&self, of: impl FnMut(&Cluster) -> Option<Vec<T>>) -> Vec<Option<T>> {
        let parts = self.clusters.iter().map(of);
        let mut parts: Vec<_> = parts.map(|it| it.unwrap_or_default().into_iter()).collect();
        self.cluster_of.iter().map(|&cluster| parts[cluster].next()).collect()
    }

    /// The longest response time of each task, where its cluster is shown to be in time.
    pub(super) fn responses_us(&self, asked: &Asked) -> Vec<Option<u64>> {
        let mut left = SEARCH;
        self.by_task(|cluster| match (&cluster.counted, cluster.shown) {
            (Ok(counted), Shown::By(_)) => {
                responses(&cluster.tasks, counted, asked.for_tasks(), &mut left)
            }
            _ => None,
        })
    }

    /// What each job takes once overheads count.
    pub(super) fn counted_us(&self) -> Vec<Option<u64>> {
        let wcet = |task: &Sporadic| task.wcet_us;
        self.by_task(|cluster| Some(cluster.counted.as_ref().ok()?.iter().map(wcet).collect()))
    }
}

impl Cluster {
    fn of(tasks: TaskSet, asked: &Asked, tests: &[Test], left: &mut Budget) -> Cluster {
        let cpus = asked.for_tasks();
        let counted = asked.counted(&tasks, cpus);
        let shown = match &counted {
            Ok(counted) => told(counted, cpus, tests, left),
            Err(TooMuch::Close) => Shown::Spent,
            Err(_) => Shown::Nothing,
        };
        Cluster { tasks, counted, shown }
    }
}

/// What `tests` show of a cluster. On one CPU what the exact one rejects nobody accepts.
fn told(tasks: &TaskSet, cpus: u32, tests: &[Test], left: &mut Budget) -> Shown {
    if tardiness::is_bounded(tasks, cpus) == Some(false) {
        return Shown::Nothing;
    }
    let mut ask = |tests: &[Test]| shown(tasks, cpus, tests, left, SHARE);
    let Some((Test::Qpa, others)) = tests.split_first() else { return ask(tests) };
    match ask(&[Test::Qpa]) {
        Shown::Spent => match ask(others) {
            Shown::By(test) => Shown::By(test),
            Shown::Nothing | Shown::Spent => Shown::Spent,
        },
        known => known,
    }
}

/// The tests that a cluster is asked. Of one CPU the exact one comes first, which partitioned EDF
/// is, too.
fn tests(asked: &Asked) -> Vec<Test> {
    let is_exact = |test: &Test| matches!(test, Test::Qpa | Test::Partitioned);
    let (exact, others): (Vec<Test>, Vec<Test>) = asked.tests.iter().partition(|it| is_exact(it));
    let first = (asked.for_tasks() == 1 && !exact.is_empty()).then_some(Test::Qpa);
    first.into_iter().chain(others).collect()
}
