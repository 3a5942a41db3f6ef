//! How the question is answered: partition, charge, ask tests, look for a refutation.

use wastenot_model::sporadic::{Criterion, TaskSet};

use super::witness::impossible;
use super::{Cluster, Proof, Question, Reason, Spend, Test, Verdict, Witness};
use crate::Answer;
use crate::overheads::Beyond;
use crate::partitioned::first_fit_by;

/// Charging overheads to a task costs about so many steps of a test.
const CHARGING: u64 = 16;

/// How tasks are partitioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partitioning {
    /// By decreasing utilization, each to where most is left.
    WorstFit,
    /// By decreasing density, each to the first cluster that is accepted with it.
    FirstFit,
}

impl Partitioning {
    /// In JSON.
    pub fn word(self) -> &'static str {
        match self {
            Partitioning::WorstFit => "worst_fit",
            Partitioning::FirstFit => "first_fit",
        }
    }
}

/// The answer. `M` is a miss that was simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement<M> {
    /// Whether deadlines hold. Only what also holds without overheads refutes a set: the accounting
    /// is pessimistic.
    pub verdict: Verdict<M>,
    /// Why the set is not schedulable, or not known to be.
    pub reason: Option<Reason>,
    /// How tasks are partitioned.
    pub partitioning: Partitioning,
    /// The cluster of each task.
    pub cluster_of: Vec<usize>,
    /// At least one.
    pub clusters: Vec<Cluster>,
    /// Whether first fit exceeded its budget.
    pub spent: bool,
    /// The first task that the scheduler does not take, counted from 0.
    pub refused: Option<usize>,
    /// The same without overheads, if these count and all tests were asked.
    pub plain: Option<Box<Judgement<M>>>,
}

impl<M> Judgement<M> {
    /// The first cluster that is not accepted.
    pub fn open(&self) -> Option<usize> {
        self.clusters.iter().position(|cluster| cluster.found.is_err())
    }
    /// What each test says, if something is left to ask about: of all CPUs together.
    pub fn answers(&self) -> Option<&[(Test, Answer)]> {
        self.clusters[0].set().ok().map(|_| self.clusters[0].answers.as_slice())
    }
    /// What `test` says, if it was asked.
    pub fn answer(&self, test: Test) -> Option<Answer> {
        self.answers()?.iter().find(|(it, _)| *it == test).map(|(_, answer)| *answer)
    }
    /// The first cluster that needs an overhead that was not measured, and where.
    pub fn beyond(&self) -> Option<(usize, Beyond)> {
        let mut all = self.clusters.iter().enumerate();
        all.find_map(|(n, cluster)| Some((n, cluster.beyond?)))
    }
    /// Of each task what `of` has of its cluster, by the order of the cluster.
    pub fn by_task<T>(&self, of: impl FnMut(&Cluster) -> Option<Vec<T>>) -> Vec<Option<T>> {
        let parts = self.clusters.iter().map(of);
        let mut parts: Vec<_> = parts.map(|it| it.unwrap_or_default().into_iter()).collect();
        self.cluster_of.iter().map(|&cluster| parts[cluster].next()).collect()
    }
    /// Whether tardiness is bounded, of a question about that; `None` if it is too close to tell.
    pub fn is_bounded(&self) -> Option<bool> {
        match self.reason {
            None => Some(true),
            Some(Reason::Budget) => None,
            Some(_) => Some(false),
        }
    }
    fn witness(&self) -> Option<&Witness<M>> {
        match &self.verdict {
            Verdict::Unschedulable(witness) => Some(witness),
            Verdict::Schedulable(_) | Verdict::Unknown => None,
        }
    }
}

impl Question {
    /// The answer for `tasks`. Where all CPUs are scheduled together and nothing else shows or
    /// refutes that deadlines hold, `simulate` may find a job that is late.
    pub fn judge<M: Clone>(
        &self,
        tasks: &TaskSet,
        simulate: impl FnOnce() -> Option<M>,
    ) -> Judgement<M> {
        let is_beside = self.every && self.overheads.is_some();
        let refused = self.refused(tasks);
        let count = self.clusters as usize;
        let with = |partitioning, cluster_of: Vec<usize>| {
            let mut left = self.budgets.tests;
            let parts = tasks.divided(&cluster_of, count).into_iter();
            let clusters =
                parts.map(|part| self.cluster(part, refused.is_some(), &mut left)).collect();
            Judgement {
                verdict: Verdict::Unknown,
                reason: None,
                partitioning,
                cluster_of,
                clusters,
                spent: false,
                refused,
                plain: None,
            }
        };
        let worst_fit = match count {
            1 => vec![0; tasks.len()],
            _ => tasks.worst_fit(&vec![self.cpus; count]),
        };
        let mut judged = with(Partitioning::WorstFit, worst_fit);
        let witness = if is_beside {
            let plain = Question { overheads: None, ..self.clone() }.judge(tasks, simulate);
            let witness = plain.witness().cloned();
            judged.plain = Some(Box::new(plain));
            witness
        } else if judged.open().is_some() {
            self.refutation(tasks, simulate)
        } else {
            None
        };
        if judged.open().is_some() && witness.is_none() && refused.is_none() && count > 1 {
            match self.first_fit(tasks) {
                Some(Ok(cluster_of)) => {
                    let plain = judged.plain.take();
                    judged = Judgement { plain, ..with(Partitioning::FirstFit, cluster_of) };
                }
                Some(Err(spent)) => judged.spent = spent,
                None => {}
            }
        }
        self.conclude(judged, witness)
    }

    /// The first task that the scheduler does not take, counted from 0.
    fn refused(&self, tasks: &TaskSet) -> Option<usize> {
        if self.takes_late_deadlines {
            return None;
        }
        tasks.iter().position(|task| task.deadline_us > task.period_us)
    }

    /// What shows that a deadline is missed without overheads.
    fn refutation<M>(
        &self,
        tasks: &TaskSet,
        simulate: impl FnOnce() -> Option<M>,
    ) -> Option<Witness<M>> {
        if self.criterion == Criterion::Soft {
            return None;
        }
        let mut budget = self.budgets.witness?;
        // A job that is late in one cluster refutes one way to partition only.
        let is_simulated = self.clusters == 1 && self.refused(tasks).is_none();
        let missed = || is_simulated.then(simulate).flatten().map(Witness::Missed);
        impossible(tasks, self.clusters * self.cpus, &mut budget).or_else(missed)
    }

    /// The cluster of each task by first fit; else whether that exceeded its budget. `None`: it is
    /// not tried.
    fn first_fit(&self, tasks: &TaskSet) -> Option<Result<Vec<usize>, bool>> {
        if !self.first_fit {
            return None;
        }
        let mut left = self.budgets.tests;
        let extrapolate = self.overheads.as_ref().is_none_or(|it| it.extrapolate);
        let found = first_fit_by(tasks, self.clusters, |part| {
            if let Spend::Together(left) = &mut left {
                left.0 = left.0.saturating_sub(CHARGING * part.len() as u64);
                if left.0 == 0 {
                    return Answer::Unknown;
                }
            }
            let part = TaskSet::new(part.to_vec()).expect("they are of a set");
            let cluster = self.cluster(part, false, &mut left);
            // As long as it has few tasks more may come.
            let is_too_much = |beyond: Beyond| beyond.at > beyond.last;
            match cluster.found {
                Ok(_) if extrapolate || !cluster.beyond.is_some_and(is_too_much) => Answer::Accept,
                Err(Reason::Budget) => Answer::Unknown,
                Ok(_) | Err(_) => Answer::Reject,
            }
        });
        Some(match found.answer {
            Answer::Accept => Ok(found.cpu_of.into_iter().map(|it| it as usize).collect()),
            answer => Err(answer == Answer::Unknown),
        })
    }

    fn conclude<M>(&self, mut it: Judgement<M>, witness: Option<Witness<M>>) -> Judgement<M> {
        let Some(open) = it.open() else {
            it.verdict = Verdict::Schedulable(it.clusters[0].found.unwrap_or(Proof::Utilization));
            return it;
        };
        it.reason = Some(match &witness {
            Some(witness) => Reason::of_witness(witness),
            None if it.spent => Reason::Budget,
            None => self.reason(&it.clusters[open]),
        });
        it.verdict = witness.map_or(Verdict::Unknown, Verdict::Unschedulable);
        it
    }

    /// Why a cluster is not accepted. What no test says a window may.
    fn reason(&self, cluster: &Cluster) -> Reason {
        let reason = cluster.found.err().unwrap_or(Reason::Test);
        let is_open = matches!(reason, Reason::Test | Reason::Budget);
        // Without overheads and clusters windows were looked at before.
        let is_new = self.overheads.is_some() || self.clusters > 1;
        let (Ok(set), Some(mut budget)) = (cluster.set(), self.budgets.witness) else {
            return reason;
        };
        if !is_open || !is_new || self.criterion == Criterion::Soft {
            return reason;
        }
        let found: Option<Witness<()>> = impossible(set, self.cpus, &mut budget);
        found.map_or(reason, |witness| Reason::of_witness(&witness))
    }
}
