//! The protocol between CPUs that sleep and tasks that wait: explored, and proved.

use std::path::PathBuf;
use std::time::Duration;

use wastenot_needs::stem;
use wastenot_prove::solver::{Answer, Seek};
use wastenot_prove::wakeup::invariant::{obligations, premises};
use wastenot_prove::wakeup::{
    Bounds, Chain, Explored, Move, Queue, System, Task, Variant, explore, search,
};
use wastenot_rota::ir::{Policy, Protocol};

use crate::gallery::texts;
use crate::solvers::solvers;

const TIMEOUT: Duration = Duration::from_secs(60);
const STATES_MAX: usize = 2_000_000;

const SAFE: Variant = Variant { kick_first: false, no_rescan: false, chain: Chain::Each };

/// All variants of the protocol that a text can ask for.
fn variants() -> impl Iterator<Item = Variant> {
    (0..8).map(|bits| Variant {
        kick_first: bits & 1 != 0,
        no_rescan: bits & 2 != 0,
        chain: if bits & 4 != 0 { Chain::Not } else { Chain::Each },
    })
}

/// One queue that all read, tasks that may run everywhere.
fn shared(cpus: usize, tasks: usize, again: bool, variant: Variant) -> System {
    System {
        cpus,
        tasks: vec![anywhere(0xff, 0); tasks],
        again,
        moves: Vec::new(),
        queues: vec![Queue { readers: 0xff, fifo: true }],
        enqueuers: tasks,
        variant,
    }
}

/// A task in this queue whose put looks for all that it may use.
fn anywhere(allowed: u8, queue: usize) -> Task {
    Task { allowed, woken: 0xff, direct: 0, queue }
}

/// Task 0 may use cpu 0; task 1 cpus 0 and 1; task 2 cpus 0 and 2.
fn affine(chain: Chain) -> System {
    System {
        cpus: 3,
        tasks: vec![anywhere(0b001, 0), anywhere(0b011, 1), anywhere(0b101, 1)],
        again: false,
        moves: Vec::new(),
        queues: vec![Queue { readers: 0xff, fifo: true }; 2],
        enqueuers: 3,
        variant: Variant { chain, ..SAFE },
    }
}

fn all(system: &System) -> Explored {
    let found = explore(system, STATES_MAX);
    assert!(found.complete, "more than {STATES_MAX} states: {system:?}");
    found
}

#[test]
fn the_protocol_loses_no_wakeup() {
    let sizes = [(1, 1, true), (1, 3, true), (2, 1, true), (2, 2, true), (3, 1, true)];
    for (cpus, tasks, again) in sizes.into_iter().chain([(2, 3, false), (3, 2, false)]) {
        assert_eq!(all(&shared(cpus, tasks, again, SAFE)).lost, None, "{cpus} cpus {tasks} tasks");
    }
    let owed = Variant { chain: Chain::Owed, ..SAFE };
    assert_eq!(all(&shared(3, 3, false, owed)).lost, None);
    assert_eq!(all(&affine(Chain::Owed)).lost, None);
}

#[test]
fn a_cpu_that_was_given_a_task_directly_misses_nothing() {
    let mut system = shared(2, 3, false, SAFE);
    for task in &mut system.tasks[..2] {
        task.direct = 0xff;
    }
    assert_eq!(all(&system).lost, None);
    system.variant.chain = Chain::Not;
    assert!(all(&system).lost.is_some());
}

#[test]
fn every_broken_variant_loses_a_wakeup_and_breaks_the_invariant() {
    let solvers = solvers("every_broken_variant_loses_a_wakeup_and_breaks_the_invariant");
    for variant in variants() {
        let lost = [(1, 1), (2, 2)]
            .into_iter()
            .find_map(|(cpus, tasks)| all(&shared(cpus, tasks, true, variant)).lost);
        assert_eq!(lost.is_none(), variant == SAFE, "{variant:?}");
        for solver in &solvers {
            let seek = if variant == SAFE { Seek::Refutation } else { Seek::Model };
            let broken = obligations(variant).into_iter().find_map(|obligation| {
                let reply = solver.ask(&obligation.script, seek, TIMEOUT).unwrap();
                match reply.answer {
                    Answer::Unsat => None,
                    Answer::Sat(_) => Some(obligation.name),
                    Answer::Unknown(why) => panic!("{solver} {}: {why}", obligation.name),
                }
            });
            assert_eq!(broken.is_none(), variant == SAFE, "{solver} {variant:?} {broken:?}");
        }
    }
}

#[test]
fn every_step_of_the_proof_can_be_taken() {
    for solver in solvers("every_step_of_the_proof_can_be_taken") {
        for premise in premises(SAFE) {
            let reply = solver.ask(&premise.script, Seek::Model, TIMEOUT).unwrap();
            assert_eq!(reply.answer.word(), "sat", "{solver} {}", premise.name);
        }
    }
}

#[test]
fn passing_on_what_one_was_claimed_for_is_proved_too() {
    for solver in solvers("passing_on_what_one_was_claimed_for_is_proved_too") {
        for obligation in obligations(Variant { chain: Chain::Owed, ..SAFE }) {
            let reply = solver.ask(&obligation.script, Seek::Refutation, TIMEOUT).unwrap();
            assert_eq!(reply.answer, Answer::Unsat, "{solver} {}", obligation.name);
        }
    }
}

/// The shortest ways, step by step: what a reader is shown.
#[test]
fn the_shortest_ways_to_lose_a_wakeup_are_these() {
    let way = |kick_first, no_rescan, chain, cpus, tasks| {
        let variant = Variant { kick_first, no_rescan, chain };
        all(&shared(cpus, tasks, true, variant)).lost.unwrap().to_string()
    };
    assert_eq!(
        way(true, false, Chain::Owed, 1, 1),
        "  1. the enqueuer of task 0 sees that cpu 0 is not idle\n\
         \x20 2. cpu 0 ends its run and dispatches\n\
         \x20 3. cpu 0 finds nothing in queue 0\n\
         \x20 4. task 0 is put into queue 0\n\
         \x20 5. cpu 0 sleeps\n\
         \x20    task 0 waits, cpu 0 sleeps, and no wakeup is pending"
    );
    let no_rescan = way(false, true, Chain::Owed, 1, 1);
    assert!(no_rescan.contains("task 0 is put into queue 0\n"), "{no_rescan}");
    let no_chain = way(false, false, Chain::Not, 2, 2);
    assert!(no_chain.contains("cpu 0 marks itself busy\n"), "{no_chain}");
}

/// A CPU that took a task and wakes one CPU for the first task that is left is enough only where
/// all tasks may run everywhere.
#[test]
fn with_affinities_one_wakeup_for_some_task_is_not_enough() {
    let lost = all(&affine(Chain::One)).lost.unwrap();
    assert_eq!((lost.steps.len(), lost.task, lost.cpu), (18, 2, 2), "{lost}");
    let one = Variant { chain: Chain::One, ..SAFE };
    assert_eq!(all(&shared(2, 2, true, one)).lost, None);
    assert_eq!(all(&shared(2, 3, false, one)).lost, None);
}

/// Both CPUs read the queue, but a put looks only for those near cpu 0.
#[test]
fn a_put_that_does_not_look_for_all_who_would_take_the_task_loses_wakeups() {
    let mut system = shared(2, 1, true, SAFE);
    system.tasks[0].woken = 0b01;
    assert_eq!(system.blind_spots(), [(0, 0b10)]);
    let lost = all(&system).lost.unwrap();
    assert_eq!((lost.cpu, lost.task), (1, 0), "{lost}");
    system.queues[0].readers = 0b01;
    assert_eq!(system.blind_spots(), []);
    assert_eq!(all(&system).lost, None);
}

/// Both CPUs read both queues, but one after the other, and a task goes the other way meanwhile.
#[test]
fn a_task_that_is_moved_is_put_anew() {
    let mut system = shared(2, 1, true, SAFE);
    system.queues = vec![Queue { readers: 0xff, fifo: true }; 2];
    let moved = |wakes| Move { from: 0, into: 1, by: 0xff, wakes };
    system.moves = vec![moved(false)];
    let lost = all(&system).lost.unwrap().to_string();
    assert!(lost.contains("task 0 is moved from queue 0 to queue 1\n"), "{lost}");
    system.moves = vec![moved(true)];
    assert_eq!(all(&system).lost, None);
}

fn policy(name: &str) -> String {
    let file = format!("{}/../../../policies/{name}.rota", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(file).unwrap()
}

fn compiled(text: &str) -> Policy {
    wastenot_rota::compile(text).unwrap().policies.remove(0)
}

#[test]
fn policies_lose_no_wakeup_and_their_broken_variants_do() {
    let bounds = Bounds { cpus: 2, tasks: 2, states: STATES_MAX };
    for name in ["work-stealing", "fair-vtime"] {
        let text = policy(name);
        let safe = compiled(&text);
        let found = search(&safe, bounds);
        assert!(found.lost.is_none() && found.complete > 0, "{name}: {found:?}");
        assert!(found.systems > 20, "{name}: {} systems", found.systems);

        let smallest = |break_it: fn(&mut Protocol)| {
            let mut broken = safe.clone();
            break_it(&mut broken.protocol);
            let (small, system, trace) = search(&broken, bounds).lost.unwrap();
            (small.machine.cpus.len(), system.tasks.len(), trace.steps.len())
        };
        assert_eq!(smallest(|protocol| protocol.kick_first = true), (1, 1, 5), "{name}");
        assert_eq!(smallest(|protocol| protocol.no_rescan = true), (1, 1, 5), "{name}");
        let no_chain = smallest(|protocol| protocol.no_chain = true);
        assert_eq!((no_chain.0, no_chain.1), (2, 2), "{name}");
    }
}

/// The gallery's: a put looks within the cache, CPUs steal from anywhere.
#[test]
fn a_policy_that_wakes_within_the_cache_only_loses_a_wakeup() {
    let text = policy("fair-vtime");
    let near = text.replace("put t in home(t).q slice slice", "$0 wake within llc");
    let near = near.replace("$0", "put t in home(t).q slice slice");
    let bounds = Bounds { cpus: 2, tasks: 2, states: STATES_MAX };
    let (small, system, trace) = search(&compiled(&near), bounds).lost.unwrap();
    assert_eq!((small.machine.cpus.len(), system.tasks.len()), (2, 1), "{trace}");
    assert!(!system.blind_spots().is_empty());
}

/// The policies of a folder, by the name of their file.
fn folder(name: &str) -> Vec<(String, Policy)> {
    let policies = |(path, text): (PathBuf, String)| {
        let policies = wastenot_rota::compile(&text).map_or_else(|_| Vec::new(), |it| it.policies);
        policies.into_iter().map(move |policy| (stem(&path), policy))
    };
    texts(name).into_iter().flat_map(policies).collect()
}

#[test]
fn of_all_policies_just_those_lose_wakeups_that_say_so() {
    let bounds = Bounds { cpus: 2, tasks: 1, states: STATES_MAX };
    let right = folder("");
    assert!(right.len() > 10, "{}", right.len());
    for (name, policy) in right {
        let found = search(&policy, bounds);
        assert!(found.lost.is_none() && found.complete > 0, "{name}: {found:?}");
    }
    let smallest = |(name, policy): (String, Policy)| {
        // A chain needs a CPU that took a task, and another task.
        let tasks = if policy.protocol.no_chain { 2 } else { 1 };
        let (small, system, _) = search(&policy, Bounds { tasks, ..bounds }).lost?;
        Some((name, small.machine.cpus.len(), system.tasks.len()))
    };
    let lost: Vec<_> = folder("wrong").into_iter().filter_map(smallest).collect();
    let expected =
        [("kick-first", 1, 1), ("no-chain", 2, 2), ("no-rescan", 1, 1), ("wake-in-cache", 2, 1)];
    assert_eq!(lost, expected.map(|(name, cpus, tasks)| (name.to_owned(), cpus, tasks)));
}

/// A CPU that passes one wakeup on for some waiting task relies on that task being taken: the CPU
/// that takes it passes the next wakeup on. If the task leaves its queue otherwise, other waiting
/// tasks are forgotten.
#[test]
fn one_wakeup_for_whatever_waits_is_lost_with_a_task_that_changes_its_affinity() {
    let mut system = affine(Chain::OneAnywhere);
    system.enqueuers = 1;
    system.queues[0].readers = 0b001;
    // Task 1 goes to where only cpu 0 looks, which is busy.
    system.queues.push(Queue { readers: 0b001, fifo: true });
    system.moves = vec![Move { from: 1, into: 2, by: 0b010, wakes: true }];
    let lost = all(&system).lost.unwrap();
    assert_eq!((lost.task, lost.cpu), (2, 2), "{lost}");
    system.variant.chain = Chain::Owed;
    assert_eq!(all(&system).lost, None);
}
