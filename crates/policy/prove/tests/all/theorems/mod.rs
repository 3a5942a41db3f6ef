//! Theorems 1 to 3 of docs/explain/proofs.md: where their premises are shown, their conclusions
//! hold, in every interleaving of all CPUs on small machines; where they are not, most conclusions
//! fail.
//!
//! Nothing of `explore`'s attempts, handlers and moves is used here, nor of `wakeup`: steps are
//! written anew, smaller ones, and of all CPUs at once. What both have in common are situations,
//! the meaning of expressions, and where tasks can come to wait.

mod attempt;
mod handlers;
mod outrun;
mod premises;
mod rounds;
mod scenes;
mod situations;
mod trial;
mod wakeups;
mod walk;

use std::fmt;

use wastenot_model::workload::Random;
use wastenot_needs::effort;
use wastenot_prove::engine::search;
use wastenot_prove::explore::Bounds;
use wastenot_prove::wakeup;
use wastenot_rota::ir::{Bool, ClaimKind, Policy};

use crate::gallery::texts;
use crate::solvers::solvers;
use premises::Premises;
use trial::{Theorem, Tried, tried};

/// About so many states are looked at for each theorem and policy that comes along.
const STATES: usize = 150_000;
/// The same, for random policies.
const STATES_RANDOM: usize = 25_000;
/// Situations that the explorer looks at to refute one.
const LOOKED: u64 = 5_000;
/// Random policies.
const POLICIES: u64 = 60;

fn policies(folder: &str) -> Vec<(String, Policy)> {
    let mut all = Vec::new();
    for (path, text) in texts(folder) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let program = wastenot_rota::compile(&text).expect("it compiles");
        all.extend(program.policies.into_iter().map(|policy| (name.clone(), policy)));
    }
    all
}

#[test]
fn of_right_policies_all_theorems_hold() {
    for theorem in 0..3 {
        let mut all = Tried::default();
        for (name, policy) in policies("") {
            let theorem = Theorem::of(&policy)[theorem];
            let found = tried(&policy, theorem, STATES);
            assert_eq!(found.broken, None, "{name} {theorem:?}");
            all.add(&found);
        }
        println!("theorem {}: {all}", theorem + 1);
    }
}

/// Beside what each is about: a filter that is not complete, and a re-check that says no, let a CPU
/// sleep beside a task, too.
#[test]
fn wrong_policies_break_the_theorems_that_they_are_wrong_about() {
    let broken = |(name, policy): (String, Policy)| {
        let broken = Theorem::of(&policy).map(|theorem| tried(&policy, theorem, STATES).broken);
        let numbers = [1, 2, 3].into_iter().zip(broken).filter(|(_, broken)| broken.is_some());
        (name, numbers.map(|(number, _)| number).collect())
    };
    let found: Vec<(String, Vec<u32>)> = policies("wrong").into_iter().map(broken).collect();
    let expected: [(&str, &[u32]); 13] = [
        ("endless-leader", &[]),
        ("group-average", &[1, 2, 3]),
        ("groups-from-cpu0", &[1, 2]),
        ("kick-first", &[3]),
        ("minimum-for-all", &[1, 2, 3]),
        ("no-chain", &[3]),
        ("no-rescan", &[3]),
        ("nobody-takes", &[1, 2]),
        ("one-try", &[1, 2]),
        ("ping-pong", &[3]),
        ("unchecked-steal", &[1, 2]),
        ("version-check", &[2, 3]),
        ("wake-in-cache", &[3]),
    ];
    assert_eq!(found, expected.map(|(name, broken)| (name.to_owned(), broken.to_vec())));
}

/// A re-check that refuses a task that it could take: the CPU that was woken sleeps again, and no
/// CPU wakes it. A filter that fails after its CPU was given a task: the CPU runs that task and
/// forgets the one for which it was woken.
#[test]
fn a_scan_that_overlooks_a_task_loses_wakeups_and_is_not_proved() {
    let test = "a_scan_that_overlooks_a_task_loses_wakeups_and_is_not_proved";
    let compiled =
        |text: &str| wastenot_rota::compile(text).expect("it compiles").policies.remove(0);
    let right = include_str!("../../../../../../policies/work-stealing.rota");
    let asks = "me in allowed(t) and queued(v.ready) = seen(queued(v.ready))";
    let rechecks = compiled(&right.replace("me in allowed(t)\n", &format!("{asks}\n")));
    let shuts = compiled(&right.replace(") >= 1", ") > running(me)"));
    for wrong in [&rechecks, &shuts] {
        assert!(tried(wrong, Theorem::RoundsHappen, STATES).broken.is_some());
    }
    for solver in solvers(test) {
        let premises = Premises::new(solver);
        let proved = |policy: &Policy| premises.hold(policy, Theorem::RoundsHappen);
        assert!(proved(&compiled(right)) && !proved(&rechecks) && !proved(&shuts));
        assert!(premises.hold(&shuts, Theorem::WorkConservation));
    }
}

/// How random policies fared with one theorem.
#[derive(Clone, Debug, Default)]
struct Fared {
    /// Those whose premises hold, and what was looked at of them.
    shown: u64,
    looked: Tried,
    /// Of those: such with two queues, with a re-check, with periodic balancing.
    kinds: [u64; 3],
    /// Those that the explorer refutes; of those, whose conclusion fails.
    refuted: u64,
    broken: u64,
}

#[test]
fn what_is_proved_of_random_policies_holds_of_all_cpus_at_once() {
    let test = "what_is_proved_of_random_policies_holds_of_all_cpus_at_once";
    let Some(solver) = solvers(test).into_iter().next() else { return };
    let premises = Premises::new(solver);
    let count = effort(POLICIES);
    let mut fared = [Fared::default(), Fared::default(), Fared::default()];
    let (mut judged, mut seed) = (0, 0);
    while judged < count {
        seed += 1;
        let text = wastenot_chance::policy(&mut Random::stream(seed, 2, 0));
        let Ok(program) = wastenot_rota::compile(&text) else { continue };
        judged += 1;
        let policy = &program.policies[0];
        for (theorem, fared) in Theorem::of(policy).into_iter().zip(&mut fared) {
            fared.one(&premises, policy, theorem, &format!("seed {seed}: {text}"));
        }
    }
    println!("{seed} texts, {} % mean something", 100 * judged / seed);
    for (n, fared) in fared.iter().enumerate() {
        println!("theorem {}: {fared}", n + 1);
        assert!(100 * fared.shown / judged >= 10, "hardly any is right");
        assert!(fared.kinds.iter().all(|kind| *kind > 0), "some kind is missing");
        assert!(100 * fared.refuted / judged >= 10, "hardly any is wrong");
        assert!(2 * fared.broken > fared.refuted, "the conclusion holds whatever the premises");
    }
}

impl Fared {
    fn one(&mut self, premises: &Premises, policy: &Policy, theorem: Theorem, text: &str) {
        if premises.hold(policy, theorem) {
            let found = tried(policy, theorem, STATES_RANDOM);
            assert_eq!(found.broken, None, "{theorem:?} does not hold of {text}");
            self.looked.add(&found);
            self.shown += 1;
            let checks = policy.idle.as_ref().is_some_and(|it| it.recheck != Bool::Const(true));
            let kinds = [policy.queues.len() > 1, checks, !policy.periodic.is_empty()];
            (0..3).for_each(|kind| self.kinds[kind] += u64::from(kinds[kind]));
        } else if refuted(policy, theorem) {
            self.refuted += 1;
            self.broken += u64::from(tried(policy, theorem, STATES_RANDOM).broken.is_some());
        }
    }
}

impl fmt::Display for Fared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fared { shown, looked, kinds: [two, checks, regular], refuted, broken } = self;
        write!(
            f,
            "shown of {shown} ({two} with two queues, {checks} with a re-check, {regular} with \
             regular balancing), holds: {looked}; {refuted} refuted, {broken} of them break it"
        )
    }
}

/// Whether the explorer finds what breaks the claim.
fn refuted(policy: &Policy, theorem: Theorem) -> bool {
    let bounds = Bounds { cpus: 3, tasks: 3, events: 1 };
    let breaks = |claim: &ClaimKind| {
        search(policy, claim, bounds, LOOKED).is_some_and(|searched| searched.found.is_some())
    };
    match theorem {
        Theorem::Rounds { .. } => {
            let mut rounds = policy.claims.iter().map(|claim| &claim.kind);
            rounds.any(|claim| matches!(claim, ClaimKind::Rounds(_)) && breaks(claim))
        }
        Theorem::WorkConservation => breaks(&ClaimKind::WorkConservation),
        Theorem::RoundsHappen => {
            let bounds = wakeup::Bounds { cpus: 2, tasks: 1, states: 20_000 };
            breaks(&ClaimKind::NoLostWakeup) || wakeup::search(policy, bounds).lost.is_some()
        }
    }
}
