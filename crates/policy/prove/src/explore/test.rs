//! What can break a claim: tests of one situation each.

use wastenot_rota::ir::{Bound, ClaimKind, Policy};

use super::bounds::Bounds;
use super::situation::{Place, Situation, Task};
use crate::text::is_plain;

/// A test of situations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// What is wrong with a situation.
    pub wrong: Wrong,
    /// How many tasks are woken meanwhile: so many are away.
    pub wakes: usize,
    /// How many are moved by periodic balancing meanwhile.
    pub moves: usize,
}

/// What can be wrong with a situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// An attempt of an idle CPU fails though a task waits.
    Fails,
    /// The attempts of all idle CPUs fail though a task waits that one of them may run.
    AllFail,
    /// No task runs, tasks wait, and no CPU ever takes one.
    Lost,
    /// No CPU that may run the task takes from its queue before all else.
    NobodyBeginsThere,
    /// A CPU that would find a task sleeps on, since no put looks for this CPU.
    NotWoken,
    /// A steal that is not checked takes a task that may not run there.
    StealsForbidden,
    /// Periodic balancing moves tasks for ever though nothing happens.
    RunsInACircle,
}

impl Wrong {
    /// All of them.
    pub const ALL: [Wrong; 7] = [
        Wrong::Fails,
        Wrong::AllFail,
        Wrong::Lost,
        Wrong::NobodyBeginsThere,
        Wrong::NotWoken,
        Wrong::StealsForbidden,
        Wrong::RunsInACircle,
    ];
    /// Its name, in tables.
    pub fn name(self) -> &'static str {
        match self {
            Wrong::Fails => "fails",
            Wrong::AllFail => "all-fail",
            Wrong::Lost => "lost",
            Wrong::NobodyBeginsThere => "not-first",
            Wrong::NotWoken => "not-woken",
            Wrong::StealsForbidden => "stolen",
            Wrong::RunsInACircle => "circle",
        }
    }
    /// What is wrong, in words.
    pub fn words(self) -> &'static str {
        match self {
            Wrong::Fails => "an idle CPU finds no task although a task waits",
            Wrong::AllFail => "no idle CPU finds a task although a task waits",
            Wrong::Lost => "tasks wait, and no CPU ever takes one of them",
            Wrong::NobodyBeginsThere => "no CPU that may run the task takes from its queue first",
            Wrong::NotWoken => "a CPU that would find the task is not woken",
            Wrong::StealsForbidden => "a CPU takes a task that may not run there",
            Wrong::RunsInACircle => "moves end in the state where they began",
        }
    }
}

impl Test {
    /// A test without events.
    pub fn plain(wrong: Wrong) -> Test {
        Test { wrong, wakes: 0, moves: 0 }
    }
    /// How many events happen meanwhile.
    pub fn size(&self) -> usize {
        self.wakes + self.moves
    }
    /// Whether situations with one task are enough: other tasks matter only to a filter or re-check
    /// that reads more than whether a task waits.
    pub fn alone(&self, policy: &Policy) -> bool {
        match self.wrong {
            Wrong::NobodyBeginsThere => true,
            Wrong::Lost => policy.idle.as_ref().is_none_or(is_plain),
            _ => false,
        }
    }
    /// Whether it is worth a look with so many tasks.
    pub(super) fn fits(&self, policy: &Policy, tasks: usize, bounds: Bounds) -> bool {
        let alone = self.alone(policy) && tasks > 1;
        self.size() <= bounds.events && tasks > self.wakes && !alone
    }
    /// Whether it matters that idle CPUs have taken what is theirs; else situations at rest are all
    /// there is to look at.
    pub(super) fn rests_matter(&self) -> bool {
        !matches!(self.wrong, Wrong::Lost | Wrong::NobodyBeginsThere)
    }
    /// Whether it is about situations in which CPUs run tasks.
    pub(crate) fn lets_run(&self) -> bool {
        self.wrong != Wrong::Lost
    }
}

/// The tests of a claim, the plainest first. None: it is a claim about numbers or words, which no
/// situation breaks.
pub fn tests(policy: &Policy, claim: &ClaimKind) -> Vec<Test> {
    match claim {
        ClaimKind::NoLostTask => vec![Test::plain(Wrong::Lost)],
        ClaimKind::NoLostWakeup => vec![Test::plain(Wrong::NotWoken)],
        ClaimKind::WorkConservation => {
            let mut tests = conserving(policy, Wrong::Fails);
            tests.push(Test { wakes: 1, ..Test::plain(Wrong::Fails) });
            tests
        }
        // A round is one without events of the kernel.
        ClaimKind::Rounds(bound) => {
            let mut tests = conserving(policy, Wrong::AllFail);
            if *bound == Bound::IdleCpus && !policy.periodic.is_empty() {
                tests.push(Test { moves: 1, ..Test::plain(Wrong::AllFail) });
            }
            tests
        }
        ClaimKind::Wait => vec![Test::plain(Wrong::NobodyBeginsThere)],
        ClaimKind::Settles if !policy.periodic.is_empty() => {
            vec![Test::plain(Wrong::RunsInACircle)]
        }
        _ => Vec::new(),
    }
}

/// The tests of a claim that say something of a situation.
pub(crate) fn fitting(policy: &Policy, situation: &Situation, claim: &ClaimKind) -> Vec<Test> {
    let (away, tasks) = (|task: &&Task| task.place == Place::Away, situation.tasks.len());
    let away = situation.tasks.iter().filter(away).count();
    let few = |test: &Test| tasks == 1 || tasks > 1 && !test.alone(policy);
    tests(policy, claim).into_iter().filter(few).filter(|test| test.wakes == away).collect()
}

fn conserving(policy: &Policy, fails: Wrong) -> Vec<Test> {
    let mut tests = vec![Test::plain(fails)];
    if policy.protocol.unchecked {
        tests.push(Test::plain(Wrong::StealsForbidden));
    }
    tests
}
