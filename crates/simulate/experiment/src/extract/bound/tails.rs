//! The time that must pass after each step, computed from the end of the run backwards; and the
//! bounds that follow for CPUs and locks.

use std::collections::{BTreeMap, HashMap};

use wastenot_model::CpuSet;
use wastenot_model::workload::AffinityId;

use super::crowd::{Job, least};
use super::plan::Plan;

/// The maximum number of distinct affinities.
const SETS: usize = 64;

/// A step of an awaited task, in the order of the run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    /// It computed or slept.
    Passes {
        task: u32,
        head: u64,
        span: u64,
        work: bool,
    },
    /// It released a lock that it had requested at `head`, after this much time of its own.
    Held {
        task: u32,
        lock: usize,
        head: u64,
        span: u64,
    },
    Forks {
        task: u32,
        child: u32,
    },
    /// Its children from `first` to before `last` had all ended.
    Joins {
        task: u32,
        first: usize,
        last: usize,
    },
    Arrives {
        task: u32,
        barrier: usize,
        nth: u64,
    },
    Leaves {
        task: u32,
        barrier: usize,
        nth: u64,
    },
    /// The nth token went into a pipe, or came out of it.
    Puts {
        task: u32,
        pipe: u32,
        nth: u64,
    },
    Takes {
        task: u32,
        pipe: u32,
        nth: u64,
    },
    /// It may run on other CPUs from now on.
    Moves {
        task: u32,
        set: u32,
    },
}

/// The work, with what must come before and after it.
#[derive(Debug)]
pub(super) struct Done {
    /// The longest path.
    pub(super) path: u64,
    /// Work by the sets of CPUs that may do it.
    work: BTreeMap<Vec<u64>, (CpuSet, Vec<Job>)>,
    /// What is done under each lock.
    locks: BTreeMap<usize, Vec<Job>>,
    /// CPU time that is needed from other tasks.
    needed: u64,
}

/// The phases of barriers and the state of pipes.
#[derive(Debug)]
pub(super) struct Shared {
    /// The time before each meeting at each barrier.
    pub(super) phases: Vec<Vec<u64>>,
    /// Whether all tokens that were in each pipe were taken out.
    pub(super) drained: Vec<bool>,
}

impl Done {
    pub(super) fn of(
        plan: &Plan,
        log: &[Entry],
        shared: &Shared,
        usable: impl Fn(Option<&CpuSet>) -> CpuSet,
    ) -> Done {
        let mut sets = sets_of(plan, log);
        let mut done = Done { path: 0, work: BTreeMap::new(), locks: BTreeMap::new(), needed: 0 };
        let mut back = Back {
            plan,
            shared,
            tails: vec![0; plan.members.len()],
            meetings: HashMap::new(),
            tokens: HashMap::new(),
            last: HashMap::new(),
        };
        for entry in log.iter().rev() {
            match *entry {
                Entry::Passes { task, head, span, work } => {
                    let tail = back.tails[task as usize];
                    if work {
                        let set = usable(sets[task as usize].last().and_then(|it| it.as_ref()));
                        let of = done.work.entry(set.words().to_vec());
                        let (_, jobs) = of.or_insert_with(|| (set, Vec::new()));
                        jobs.push(Job { head, span, tail });
                    }
                    back.tails[task as usize] = tail.saturating_add(span);
                }
                Entry::Held { task, lock, head, span } => {
                    let tail = back.tails[task as usize];
                    done.locks.entry(lock).or_default().push(Job { head, span, tail });
                }
                Entry::Moves { task, .. } => drop(sets[task as usize].pop()),
                entry => back.goes(entry),
            }
        }
        done
    }

    pub(super) fn with(self, path: u64, needed: u64) -> Done {
        Done { path, needed, ..self }
    }

    /// The longest time that one lock takes.
    pub(super) fn lock(&self) -> Option<u64> {
        self.locks.values().map(|jobs| least(jobs, 1)).max()
    }

    /// The time that all work takes on these CPUs.
    pub(super) fn work(&self, online: &CpuSet) -> u64 {
        let jobs = self.work.values().flat_map(|(_, jobs)| jobs);
        let others = Job { head: 0, span: self.needed, tail: 0 };
        least(&jobs.copied().chain([others]).collect::<Vec<_>>(), online.len())
    }

    /// The set of CPUs that takes longest for the work that only it can do.
    pub(super) fn affinity(&self, online: &CpuSet) -> Option<(CpuSet, u64)> {
        let sets = self.work.values().map(|(set, _)| set).filter(|set| *set != online);
        let spans = sets.take(SETS).map(|set| {
            let within = self.work.values().filter(|(other, _)| other.is_subset(set));
            let jobs: Vec<Job> = within.flat_map(|(_, jobs)| jobs).copied().collect();
            (set.clone(), least(&jobs, set.len()))
        });
        spans.max_by_key(|(_, span)| *span)
    }
}

/// The affinities of each task, in order.
fn sets_of(plan: &Plan, log: &[Entry]) -> Vec<Vec<Option<CpuSet>>> {
    let load = &plan.programs.workload;
    let first = |member: &super::plan::Member| {
        vec![load.templates[member.template.index()].affinity.clone()]
    };
    let mut sets: Vec<_> = plan.members.iter().map(first).collect();
    for entry in log {
        if let Entry::Moves { task, set } = *entry {
            let set = load.affinities[AffinityId(set).index()].clone();
            sets[task as usize].push(Some(set));
        }
    }
    sets
}

/// The run, processed backwards.
struct Back<'p> {
    plan: &'p Plan,
    shared: &'p Shared,
    /// The time from now to the end of each task's work and what follows it.
    tails: Vec<u64>,
    /// What must come after each meeting.
    meetings: HashMap<(usize, u64), u64>,
    /// What must come after each token was taken.
    tokens: HashMap<(u32, u64), u64>,
    /// What must come after the last token was taken.
    last: HashMap<u32, u64>,
}

impl Back<'_> {
    fn raise(&mut self, task: u32, tail: u64) {
        let it = &mut self.tails[task as usize];
        *it = tail.max(*it);
    }

    fn goes(&mut self, entry: Entry) {
        match entry {
            Entry::Forks { task, child } => self.raise(task, self.tails[child as usize]),
            Entry::Joins { task, first, last } => {
                let tail = self.tails[task as usize];
                let plan = self.plan;
                for &child in &plan.members[task as usize].children[first..last] {
                    self.raise(child, tail);
                }
            }
            Entry::Leaves { task, barrier, nth } => {
                let tail = self.tails[task as usize];
                let after = self.after(barrier, nth);
                self.meetings.insert((barrier, nth), tail.max(after));
            }
            Entry::Arrives { task, barrier, nth } => self.raise(task, self.after(barrier, nth)),
            Entry::Takes { task, pipe, nth } => {
                let tail = self.tails[task as usize];
                self.last.entry(pipe).or_insert(tail);
                self.tokens.insert((pipe, nth), tail);
            }
            Entry::Puts { task, pipe, nth } => {
                let users = &self.plan.users;
                let at = pipe as usize;
                let tail = match (users.putters[at], users.getters[at]) {
                    (1, 1) => {
                        let tokens = self.plan.programs.workload.pipes[at].tokens;
                        self.tokens.get(&(pipe, nth + u64::from(tokens)))
                    }
                    (_, 1) if self.shared.drained[at] => self.last.get(&pipe),
                    _ => None,
                };
                self.raise(task, tail.copied().unwrap_or(0));
            }
            _ => {}
        }
    }

    /// The time that must pass after a meeting, as far as it is known.
    fn after(&self, barrier: usize, nth: u64) -> u64 {
        if let Some(tail) = self.meetings.get(&(barrier, nth)) {
            return *tail;
        }
        let phase = self.shared.phases[barrier].get(nth as usize);
        let next = self.meetings.get(&(barrier, nth + 1));
        phase.zip(next).map_or(0, |(phase, next)| phase.saturating_add(*next))
    }
}
