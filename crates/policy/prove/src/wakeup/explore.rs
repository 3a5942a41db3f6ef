//! Every interleaving of a few CPUs and tasks, nearest first.

use rustc_hash::FxHashSet;

use super::state::State;
use super::symmetry::{Renaming, automorphisms, canonical};
use super::trace::{Step, Trace};
use super::{QUEUES_MAX, SIZE_MAX, System};

/// The result of an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// How many states were seen. States that differ only in names count once.
    pub states: usize,
    /// The shortest trace that loses a wakeup, if there is one.
    pub lost: Option<Trace>,
    /// Whether all states were seen, or a trace was found.
    pub complete: bool,
}

/// Explores until a wakeup is lost, or until all states or `states_max` states were seen.
///
/// # Panics
/// If the system has more than [`SIZE_MAX`] CPUs or tasks, or a task without a queue.
pub fn explore(system: &System, states_max: usize) -> Explored {
    assert!(system.cpus <= SIZE_MAX && system.tasks.len() <= SIZE_MAX, "a system is small");
    assert!(system.queues.len() <= QUEUES_MAX, "a system is small");
    explore_but_for(system, &automorphisms(system), states_max)
}

/// Explores `system`. States that these renamings make equal count as one.
fn explore_but_for(system: &System, renamings: &[Renaming], states_max: usize) -> Explored {
    let mut seen =
        Seen { states: vec![State::start()], from: vec![None], index: FxHashSet::default() };
    seen.index.insert(State::start());
    let mut at = 0;
    while at < seen.states.len() {
        let state = seen.states[at];
        if state.lost(system).is_some() {
            let lost = Some(seen.trace(system, renamings, at));
            return Explored { states: seen.states.len(), lost, complete: true };
        }
        if seen.states.len() >= states_max {
            return Explored { states: seen.states.len(), lost: None, complete: false };
        }
        state.next(system, |_, next| seen.add(canonical(&next, system, renamings), at));
        at += 1;
    }
    Explored { states: seen.states.len(), lost: None, complete: true }
}

struct Seen {
    states: Vec<State>,
    /// The state from which each was reached first.
    from: Vec<Option<usize>>,
    index: FxHashSet<State>,
}

impl Seen {
    fn add(&mut self, state: State, from: usize) {
        if self.index.insert(state) {
            self.states.push(state);
            self.from.push(Some(from));
        }
    }

    /// The steps to a state. States were renamed on the way, so the steps are taken again: each to
    /// a state that equals the next one except for names.
    fn trace(&self, system: &System, renamings: &[Renaming], end: usize) -> Trace {
        let mut path = vec![end];
        while let Some(from) = self.from[path[path.len() - 1]] {
            path.push(from);
        }
        let mut state = State::start();
        let mut steps: Vec<Step> = Vec::new();
        for place in path.iter().rev().skip(1) {
            let wanted = &self.states[*place];
            let mut found = None;
            state.next(system, |step, next| {
                if found.is_none() && canonical(&next, system, renamings) == *wanted {
                    found = Some((step, next));
                }
            });
            let (step, next) =
                found.expect("a state and its renamed copy have the same steps, up to the names");
            steps.push(step);
            state = next;
        }
        let (cpu, task) = state.lost(system).expect("renaming CPUs and tasks keeps a lost wakeup");
        Trace { steps, cpu, task }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Chain, Queue, Task, Variant};
    use super::*;

    prop_compose! {
        fn task()(
            allowed in 1u8..4,
            woken in 0u8..4,
            direct in 0u8..4,
            queue in 0usize..2,
        ) -> Task {
            Task { allowed, woken, direct, queue }
        }
    }

    prop_compose! {
        fn system()(
            tasks in proptest::collection::vec(task(), 1..=2),
            readers in [0u8..4, 0u8..4],
            (fifo, kick_first, no_rescan) in any::<(bool, bool, bool)>(),
            chain in 0usize..5,
        ) -> System {
            let chains =
                [Chain::Owed, Chain::Each, Chain::One, Chain::OneAnywhere, Chain::Not];
            System {
                cpus: 2,
                again: tasks.len() == 1,
                tasks,
                moves: Vec::new(),
                queues: readers.map(|readers| Queue { readers, fifo }).to_vec(),
                enqueuers: 2,
                variant: Variant { kick_first, no_rescan, chain: chains[chain] },
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn names_change_nothing(system in system()) {
            let reduced = explore(&system, 1_000_000);
            let whole = explore_but_for(&system, &[], 1_000_000);
            prop_assert!(reduced.complete && whole.complete);
            let length = |found: &Explored| found.lost.as_ref().map(|lost| lost.steps.len());
            prop_assert_eq!(length(&reduced), length(&whole));
            prop_assert!(length(&reduced).is_some() || reduced.states <= whole.states);
        }

        /// The explorer confirms on small systems what the invariant shows for any number.
        #[test]
        fn the_protocol_loses_nothing_where_puts_look_for_all_takers(system in system()) {
            let chain = match system.variant.chain {
                Chain::Each => Chain::Each,
                _ => Chain::Owed,
            };
            let variant = Variant { kick_first: false, no_rescan: false, chain };
            let system = System { variant, ..system };
            let lost = explore(&system, 1_000_000).lost;
            match system.blind_spots().is_empty() {
                true => prop_assert_eq!(lost, None),
                // The explorer finds the wakeup that a blind spot loses.
                false => prop_assert!(lost.is_some(), "{system:?}"),
            }
        }
    }
}
