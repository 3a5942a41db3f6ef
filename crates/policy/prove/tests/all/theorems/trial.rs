//! One policy, one theorem: its conclusion held against one machine after the other.

use std::fmt::{self, Debug};

use wastenot_model::workload::Random;
use wastenot_prove::explore::{Situation, Task, World};
use wastenot_prove::{Small, machines};
use wastenot_rota::ir::{Bound, ClaimKind, Policy};

use super::attempt::Attempts;
use super::outrun::Outrun;
use super::rounds::{Counts, Rounds};
use super::scenes::Scenes;
use super::situations::{casts, situations};
use super::wakeups::Wakeups;
use super::walk::{Walked, walk};

/// A theorem of docs/explain/proofs.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theorem {
    /// 1. Whether a move of periodic balancing makes up for a round.
    Rounds { moves_count: bool },
    /// 2.
    WorkConservation,
    /// 3.
    RoundsHappen,
}

/// CPUs, and tasks that wait or come.
type Size = (usize, usize);

impl Theorem {
    /// All of them, the first as the policy claims it.
    pub(super) fn of(policy: &Policy) -> [Theorem; 3] {
        let strict = ClaimKind::Rounds(Bound::IdleCpus);
        let moves_count = policy.claims.iter().all(|claim| claim.kind != strict);
        [Theorem::Rounds { moves_count }, Theorem::WorkConservation, Theorem::RoundsHappen]
    }

    /// What is looked at, as long as there are states left.
    fn sizes(self) -> &'static [Size] {
        match self {
            Theorem::Rounds { .. } => &[(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (2, 3)],
            Theorem::WorkConservation => &[(1, 1), (2, 1), (2, 2), (3, 1), (4, 1), (2, 3)],
            Theorem::RoundsHappen => &[(1, 1), (2, 1), (1, 2), (2, 2), (3, 1), (3, 2)],
        }
    }
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Tried {
    pub(super) states: usize,
    /// Machines with tasks of which all states were seen, and those of which some were not.
    pub(super) whole: usize,
    pub(super) cut: usize,
    /// How the conclusion fails, if it does.
    pub(super) broken: Option<String>,
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tried { states, whole, cut, .. } = self;
        write!(f, "{states} states, {whole} systems to the end, {cut} in part or not at all")
    }
}

/// Looks at one machine with some tasks after the other, until about so many states were seen or
/// the conclusion fails. What comes first among equals in size is drawn.
pub(super) fn tried(policy: &Policy, theorem: Theorem, most: usize) -> Tried {
    let mut tried = Tried::default();
    let mut random = Random::stream(1, 0, 0);
    for &(cpus, tasks) in theorem.sizes() {
        let machines = machines(policy, cpus);
        let of = |small| {
            let casts = casts(&World::new(policy, small), tasks);
            casts.into_iter().map(move |cast| (small, cast))
        };
        let mut all: Vec<(&Small, Vec<Task>)> = machines.iter().flat_map(of).collect();
        while !all.is_empty() {
            if tried.states >= most {
                tried.cut += all.len();
                break;
            }
            let (small, cast) = all.swap_remove(random.below(all.len() as u64) as usize);
            tried.one(&World::new(policy, small), theorem, &cast, most);
            if tried.broken.is_some() {
                return tried;
            }
        }
    }
    tried
}

impl Tried {
    /// Adds what another policy came to.
    pub(super) fn add(&mut self, other: &Tried) {
        self.states += other.states;
        self.whole += other.whole;
        self.cut += other.cut;
    }

    fn one(&mut self, world: &World<'_>, theorem: Theorem, cast: &[Task], most: usize) {
        let scenes = &Scenes::new(world, theorem != Theorem::RoundsHappen);
        let attempts = &Attempts::new(scenes);
        let left = most.saturating_sub(self.states).max(1);
        let numbers = |all: Vec<Situation>| all.into_iter().map(|it| scenes.number(it));
        match theorem {
            Theorem::Rounds { moves_count } => {
                for counts in [Counts::Successes, Counts::Rounds] {
                    let system = Rounds { attempts, counts, moves_count };
                    let starts = numbers(situations(world, cast, false));
                    let walked = walk(&system, starts.map(|scene| system.starts(scene)), left);
                    self.walked(scenes, &walked, |round| round.scene);
                }
            }
            Theorem::WorkConservation => {
                let system = Outrun { attempts, events: 1, moves: 1 };
                let starts = numbers(situations(world, cast, true));
                let walked = walk(&system, starts.map(|scene| system.starts(scene)), left);
                self.walked(scenes, &walked, |instant| instant.scene);
            }
            Theorem::RoundsHappen => {
                for mut start in situations(world, &[], true) {
                    let (residents, events) = (start.tasks.len(), cast.len().max(2) as u8);
                    start.tasks.extend(cast);
                    let system = Wakeups { attempts, residents, events };
                    let walked = walk(&system, [system.starts(scenes.number(start))], left);
                    self.walked(scenes, &walked, |instant| instant.scene);
                    if walked.endless && self.broken.is_none() {
                        let machine = &world.small.machine.name;
                        self.broken = Some(format!("{machine}, {cast:?}: steps without end"));
                    }
                }
            }
        }
    }

    fn walked<State: Debug>(
        &mut self,
        scenes: &Scenes<'_, '_>,
        walked: &Walked<State>,
        scene: impl Fn(&State) -> u32,
    ) {
        self.states += walked.states;
        match walked.complete {
            true => self.whole += 1,
            false => self.cut += 1,
        }
        if let Some(way) = walked.broken.as_ref().filter(|_| self.broken.is_none()) {
            let told = |state: &State| format!("{state:?}\n  {:?}", scenes.situation(scene(state)));
            let steps: Vec<String> = way.iter().map(told).collect();
            let machine = &scenes.world.small.machine.name;
            self.broken = Some(format!("{machine}:\n{}", steps.join("\n")));
        }
    }
}
