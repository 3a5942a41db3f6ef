//! Programs with partitions: what is said of the whole.

use wastenot_prove::{Finding, Outcome, Scope, Verdict, judge, judge_partitions};
use wastenot_rota::ir::{
    Attempt, Bool, Cpus, Event, Level, Num, Place, Program, QueueAt, Stmt, Tasks,
};

use crate::texts::{TWO, options};

fn parted(change: impl Fn(&str) -> String) -> Program {
    let text = include_str!("../../../../../policies/partitions.rota");
    wastenot_rota::compile(&change(text)).expect("it means something")
}

/// What small machines say of its policies, and of it as a whole.
fn judged(program: &Program) -> (Vec<Vec<Verdict>>, Vec<Verdict>) {
    let options = options(Vec::new(), TWO);
    let policies = program.policies.iter().map(|policy| judge(policy, &options));
    let policies: Vec<Vec<Verdict>> = policies.map(|it| it.expect("no solver is asked")).collect();
    let whole = judge_partitions(program, &policies);
    (policies, whole)
}

fn outcomes(verdicts: &[Verdict]) -> Vec<(&'static str, &Outcome)> {
    verdicts.iter().map(|verdict| (verdict.claim.kind.name(), &verdict.outcome)).collect()
}

#[test]
fn what_all_partitions_have_the_machine_has_as_far_as_it_was_shown() {
    // One of them claims less.
    let less = |text: &str| {
        let (services, batch) = text.split_once("policy batch").expect("two policies");
        let batch = batch.replace(",\n        wait(dispatches <= position + direct_runs)", "");
        format!("{services}policy batch{batch}")
    };
    let (policies, whole) = judged(&parted(less));
    assert!(policies.iter().flatten().all(|it| matches!(it.outcome, Outcome::Proved(_))));
    let [("isolation", isolation), ("composition", composition)] = outcomes(&whole)[..] else {
        panic!("{whole:?}");
    };
    assert!(matches!(isolation, Outcome::Proved(Scope::Any)), "{isolation:?}");
    assert!(matches!(composition, Outcome::Proved(Scope::UpTo(TWO))), "{composition:?}");
    let parts: Vec<&str> =
        whole[1].obligations.iter().map(|it| it.obligation.what.as_str()).collect();
    let has = "proved: no_lost_task, no_lost_wakeup, work_conservation, rounds";
    let each = [("front", "services"), ("back", "batch")];
    let expected = each.map(|(part, policy)| format!("`{part}` runs `{policy}`; {has}"));
    assert_eq!(parts, expected, "only services claims `wait`");
}

#[test]
fn one_partition_that_has_it_not_is_enough() {
    let program = parted(|text| text.replace("queued(v.ready) >= 1", "queued(v.ready) >= 2"));
    let (policies, whole) = judged(&program);
    let refuted = |of: usize| {
        policies[of].iter().any(|verdict| matches!(verdict.outcome, Outcome::Refuted(_)))
    };
    assert_eq!([refuted(0), refuted(1)], [false, true]);
    assert!(matches!(whole[0].outcome, Outcome::Proved(_)));
    let Outcome::Contradicted(what) = &whole[1].outcome else { panic!("{whole:?}") };
    assert!(what.starts_with("`back` runs `batch`"), "{what}");
    let (proved, not) = what.split_once("; not proved: ").expect("what is not proved");
    for (of, verdict) in policies[1].iter().map(|it| (it.claim.kind.name(), &it.outcome)) {
        let is_proved = matches!(verdict, Outcome::Proved(_));
        assert_eq!((proved.contains(of), not.contains(of)), (is_proved, !is_proved), "{what}");
    }
}

#[test]
fn a_claim_that_no_policy_has_is_not_composed() {
    let program = parted(|text| {
        let waits = ",\n        wait(dispatches <= position + direct_runs)";
        let all = "prove no_lost_task, no_lost_wakeup, work_conservation, rounds(<= idle_cpus)";
        let (services, batch) = text.split_once("policy batch").expect("two policies");
        let services = services.replace(&format!("{all}{waits}"), "prove no_lost_task");
        let batch = batch.replace(&format!("{all}{waits}"), "prove work_conservation");
        format!("{services}policy batch{batch}")
    });
    let (_, whole) = judged(&program);
    assert_eq!(outcomes(&whole).iter().map(|it| it.0).collect::<Vec<_>>(), ["isolation"]);
}

#[test]
fn partitions_that_meet_are_not_isolated() {
    let mut program = parted(str::to_owned);
    program.partitions.push(program.partitions[0].clone());
    program.partitions[2].cpus = Cpus::Group(Level::Llc, 3);
    let (_, whole) = judged(&program);
    for (_, outcome) in outcomes(&whole) {
        assert!(matches!(outcome, Outcome::Contradicted(_)), "{outcome:?}");
    }
    let mut program = parted(str::to_owned);
    program.partitions[1].tasks = Tasks::Cgroup("web*".into());
    assert!(matches!(judged(&program).1[0].outcome, Outcome::Contradicted(_)));
}

/// No text compiles to such a program, but the claim is about any program.
#[test]
fn a_policy_that_names_foreign_queues_or_cpus_is_not_isolated() {
    let right = parted(str::to_owned);
    let (policies, _) = judged(&right);
    let fails = |change: &dyn Fn(&mut Program)| {
        let mut program = right.clone();
        change(&mut program);
        let isolation = judge_partitions(&program, &policies).remove(0);
        let fails = isolation.obligations.iter().filter(|it| it.finding == Finding::Fails);
        fails.map(|it| it.obligation.name).collect::<Vec<_>>()
    };
    let puts = |queue: usize, at: Place| {
        fails(&|program: &mut Program| {
            let body = &mut program.policies[0].handlers[Event::Preempt as usize];
            let [Stmt::Put(put)] = body.as_mut_slice() else { panic!("{body:?}") };
            put.queue = QueueAt { queue, at: at.clone() };
        })
    };
    assert!(puts(0, Place::Home).is_empty());
    assert!(puts(0, Place::Of(Level::Llc, Box::new(Place::Here))).is_empty());
    assert_eq!(puts(1, Place::Home), ["own_queues"]);
    for place in [Place::Other, Place::Slot(7), Place::Item(0)] {
        assert_eq!(puts(0, Place::Of(Level::Node, Box::new(place))), ["own_places"]);
    }
    let takes = |program: &mut Program| {
        program.policies[1].dispatch[0] =
            Attempt::Take(QueueAt { queue: 3, at: Place::Prev }, program.policies[1].span);
    };
    assert_eq!(fails(&takes), ["own_places", "own_queues"]);
    let filters = |program: &mut Program| {
        let balance = program.policies[1].idle.as_mut().expect("it balances");
        let reads = Num::CpuVar(0, Place::Other);
        balance.filter = Bool::Compare(reads, wastenot_rota::ir::Comparison::Less, Num::Const(1));
        balance.into = Some(2);
    };
    assert_eq!(fails(&filters), ["own_queues"]);
}

#[test]
fn a_machine_that_is_not_parted_claims_nothing_of_parts() {
    let text = include_str!("../../../../../policies/global-fifo.rota");
    let program = wastenot_rota::compile(text).expect("it means something");
    assert_eq!(judged(&program).1.len(), 0);
}
