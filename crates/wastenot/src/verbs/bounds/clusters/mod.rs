//! Tasks divided among clusters of CPUs: whether each cluster meets all deadlines, a machine of its
//! own.

mod report;

use wastenot_bounds::overheads::{Beyond, TooMuch};
use wastenot_bounds::partitioned::first_fit_by;
use wastenot_bounds::verdict::{Judgement, Test, Verdict, judge};
use wastenot_bounds::{Answer, Budget};
use wastenot_model::sporadic::{Sporadic, TaskSet};
use wastenot_sim::edf::Missed;

pub(super) use self::report::report;
use super::outcome::{Asked, TEST, TOLD, responses};

/// What either way to divide may spend on all clusters that it tries: some seconds.
const SEARCH: Budget = Budget(200_000_000);
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

/// What is shown of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// No job is late, by this test.
    By(Test),
    /// No test accepts.
    Nothing,
    /// None does, and one was out of its budget.
    Spent,
}

/// Tasks that stay together, and what is known of them.
pub(super) struct Cluster {
    /// As they are.
    pub(super) tasks: TaskSet,
    /// Once they pay for overheads, if there are any.
    pub(super) counted: Result<TaskSet, TooMuch>,
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
    /// Of all tasks on all CPUs: only what refutes every scheduler is a witness here.
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
        let with = |by, cluster_of: Vec<usize>, whole| {
            let parts = tasks.divided(&cluster_of, count).into_iter();
            let mut left = SEARCH;
            let clusters = parts.map(|tasks| Cluster::of(tasks, asked, &mut left)).collect();
            Division { by, cluster_of, clusters, refused, spent: false, whole }
        };
        let worst_fit = tasks.worst_fit(&vec![cpus; count]);
        let worst_fit = with(By::WorstFit, worst_fit, verdict);
        let is_open = refused.is_none() && matches!(worst_fit.whole, Verdict::Unknown);
        if !is_open || worst_fit.is_shown() {
            return worst_fit;
        }
        let mut left = SEARCH;
        let found = first_fit_by(tasks, clusters, |part| {
            left.0 = left.0.saturating_sub(COUNTING * part.len() as u64);
            if left.0 == 0 {
                return Answer::Unknown;
            }
            let tasks = TaskSet::new(part.to_vec()).expect("they are of a set");
            let is_measured = extrapolate || asked.beyond(&tasks).is_none();
            match Cluster::of(tasks, asked, &mut left).shown {
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

    /// Where an overhead is asked for that was not measured.
    pub(super) fn beyond(&self, asked: &Asked) -> Option<Beyond> {
        self.clusters.iter().find_map(|cluster| asked.beyond(&cluster.tasks))
    }

    /// Of global EDF in each cluster; a job that is late in one refutes this division only, and so
    /// is no witness.
    pub(super) fn verdict(&self) -> Verdict<Missed> {
        let first = self.clusters.iter().find_map(|cluster| match cluster.shown {
            Shown::By(test) => Some(test),
            _ => None,
        });
        match (&self.whole, first) {
            (Verdict::Unschedulable(witness), _) => Verdict::Unschedulable(witness.clone()),
            (_, Some(test)) if self.refused.is_none() && self.is_shown() => {
                Verdict::Schedulable(test)
            }
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
    fn by_task<T: Clone>(&self, of: impl Fn(&Cluster) -> Option<Vec<T>>) -> Vec<Option<T>> {
        let mut parts: Vec<_> = self
            .clusters
            .iter()
            .map(|cluster| of(cluster).unwrap_or_default().into_iter())
            .collect();
        self.cluster_of.iter().map(|&cluster| parts[cluster].next()).collect()
    }

    /// The longest response time of each task, where its cluster is shown to be in time.
    pub(super) fn responses_us(&self, asked: &Asked) -> Vec<Option<u64>> {
        let is_told = self.cluster_of.len() <= TOLD;
        self.by_task(|cluster| {
            let counted = cluster.counted.as_ref().ok().filter(|_| is_told)?;
            match cluster.shown {
                Shown::By(_) => responses(&cluster.tasks, counted, asked.for_tasks()),
                _ => None,
            }
        })
    }

    /// What each job takes once overheads count.
    pub(super) fn counted_us(&self) -> Vec<Option<u64>> {
        let wcet = |task: &Sporadic| task.wcet_us;
        self.by_task(|cluster| Some(cluster.counted.as_ref().ok()?.iter().map(wcet).collect()))
    }
}

impl Cluster {
    fn of(tasks: TaskSet, asked: &Asked, left: &mut Budget) -> Cluster {
        let counted = asked.counted(&tasks, asked.for_tasks());
        let shown = match &counted {
            Ok(counted) => shown(counted, asked, left),
            Err(TooMuch::Close) => Shown::Spent,
            Err(_) => Shown::Nothing,
        };
        Cluster { tasks, counted, shown }
    }
}

/// The first test that accepts; each may spend what any may, if there is as much left.
fn shown(tasks: &TaskSet, asked: &Asked, left: &mut Budget) -> Shown {
    let mut shown = Shown::Nothing;
    for &test in asked.tests.iter().filter(|test| test.is_of_global_edf()) {
        let given = Budget(TEST.0.min(left.0));
        let mut own = given;
        let answer = test.ask(tasks, asked.for_tasks(), &mut own);
        left.0 -= given.0 - own.0;
        match answer {
            Answer::Accept => return Shown::By(test),
            Answer::Unknown => shown = Shown::Spent,
            Answer::Reject | Answer::NotApplicable(_) => {}
        }
    }
    shown
}
