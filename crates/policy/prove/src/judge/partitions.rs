//! Claims of a program with partitions: the partitions are isolated, and a claim of all policies
//! holds for the whole machine.
//!
//! No text writes these claims: every program with partitions makes them. docs/explain/proofs.md,
//! "Partitions", explains why they hold.

use std::time::Duration;

use wastenot_rota::ir::{Claim, ClaimKind, Cpus, Partition, Policy, Program, Tasks};
use wastenot_rota::syntax::Span;

use super::{Outcome, Verdict};
use crate::engine::{Finding, Judged, Scope};
use crate::obligations::{Obligation, Question};
use crate::text::{places_are_own, queues_are_own};

/// The verdicts for the machine that follow from the verdicts on the policies, which are in the
/// order of the program. Empty if the program has no partitions.
pub fn judge_partitions(program: &Program, policies: &[Vec<Verdict>]) -> Vec<Verdict> {
    let Some(first) = program.partitions.first() else { return Vec::new() };
    let isolation = isolation(program, first.span);
    let composition = composition(program, policies, &isolation);
    std::iter::once(isolation).chain(composition).collect()
}

fn isolation(program: &Program, span: Span) -> Verdict {
    let parts = &program.partitions;
    let apart = |(n, one): (usize, &Partition)| {
        parts[..n].iter().all(|other| other.cpus.meets(&one.cpus).is_none())
    };
    let rest = parts.iter().filter(|it| it.cpus == Cpus::Rest).count();
    let others = parts.iter().filter(|it| it.tasks == Tasks::Rest).count();
    let obligations = vec![
        settled(
            "parted",
            "every CPU is in one partition".to_owned(),
            span,
            rest == 1 && parts.iter().enumerate().all(apart),
        ),
        settled(
            "owned",
            "every task is in one partition: the first partition that names its cgroup or command"
                .to_owned(),
            span,
            others == 1,
        ),
        settled(
            "own_places",
            "a policy names only CPUs of its own partition: t.prev, home(t), here, me, v, a CPU \
             found in allowed(t), and groups of these CPUs within the partition"
                .to_owned(),
            span,
            run(program, places_are_own),
        ),
        settled(
            "own_queues",
            "every partition has its own copy of each queue and of each CPU variable that its \
             policy names"
                .to_owned(),
            span,
            run(program, queues_are_own),
        ),
    ];
    let fails = obligations.iter().find(|it| it.finding == Finding::Fails);
    let outcome = match fails {
        Some(judged) => Outcome::Contradicted(judged.obligation.what.clone()),
        None => Outcome::Proved(Scope::Any),
    };
    verdict(ClaimKind::Isolation, span, outcome, obligations)
}

/// Whether a condition holds for every policy that a partition runs.
fn run(program: &Program, holds: impl Fn(&Policy) -> bool) -> bool {
    let mut parts = program.partitions.iter();
    parts.all(|partition| program.policies.get(partition.policy).is_some_and(&holds))
}

/// The verdict on the claims that all policies have. `None`: there is no such claim.
fn composition(
    program: &Program,
    policies: &[Vec<Verdict>],
    isolation: &Verdict,
) -> Option<Verdict> {
    let span = program.partitions.first()?.span;
    let common: Vec<&str> = policies
        .first()?
        .iter()
        .map(|verdict| verdict.claim.kind.name())
        .filter(|name| policies.iter().all(|all| find(all, name).is_some()))
        .collect();
    if common.is_empty() {
        return None;
    }
    let mut scope = Scope::Any;
    let mut outcome = isolation.outcome.clone();
    let mut obligations = Vec::new();
    for partition in &program.partitions {
        let policy = &program.policies[partition.policy].name;
        let (proved, not): (Vec<&str>, Vec<&str>) = common.iter().partition(|name| {
            let verdict = find(&policies[partition.policy], name);
            verdict.is_some_and(|it| matches!(it.outcome, Outcome::Proved(_)))
        });
        let names = match (proved.as_slice(), not.as_slice()) {
            (proved, []) => format!("proved: {}", proved.join(", ")),
            ([], not) => format!("not proved: {}", not.join(", ")),
            (proved, not) => {
                format!("proved: {}; not proved: {}", proved.join(", "), not.join(", "))
            }
        };
        let what = format!("`{}` runs `{policy}`; {names}", partition.name);
        let mut finding = Finding::Holds;
        for name in &common {
            match find(&policies[partition.policy], name).map(|it| &it.outcome) {
                Some(Outcome::Proved(of)) => scope = narrower(scope, *of),
                Some(Outcome::Unknown(_)) | None if finding == Finding::Holds => {
                    finding = Finding::Open(format!("it is unknown whether the policy has {name}"));
                }
                Some(Outcome::Unknown(_)) | None => {}
                Some(Outcome::Refuted(_) | Outcome::Contradicted(_)) => finding = Finding::Fails,
            }
        }
        match (&finding, &outcome) {
            (Finding::Fails, _) => outcome = Outcome::Contradicted(what.clone()),
            (Finding::Open(why), Outcome::Proved(_)) => outcome = Outcome::Unknown(why.clone()),
            _ => {}
        }
        let verdicts = common.iter().filter_map(|name| find(&policies[partition.policy], name));
        let model_only = verdicts.flat_map(|it| &it.obligations).any(|it| it.obligation.model_only);
        let (span, question) = (partition.span, Question::Holds);
        let obligation = Obligation { name: "part", what, span, question, model_only };
        obligations.push(Judged {
            obligation,
            finding,
            took: Duration::ZERO,
            as_given: Vec::new(),
        });
    }
    if let Outcome::Proved(_) = outcome {
        outcome = Outcome::Proved(scope);
    }
    Some(verdict(ClaimKind::Composition, span, outcome, obligations))
}

fn find<'v>(verdicts: &'v [Verdict], name: &str) -> Option<&'v Verdict> {
    verdicts.iter().find(|verdict| verdict.claim.kind.name() == name)
}

fn narrower(a: Scope, b: Scope) -> Scope {
    match (a, b) {
        (Scope::UpTo(a), Scope::UpTo(b)) => Scope::UpTo(a.narrower(b)),
        (Scope::Any, other) | (other, Scope::Any) => other,
    }
}

fn settled(name: &'static str, what: String, span: Span, holds: bool) -> Judged {
    let question = Question::settled(holds);
    let finding = if holds { Finding::Holds } else { Finding::Fails };
    let obligation = Obligation { name, what, span, question, model_only: false };
    Judged { obligation, finding, took: Duration::ZERO, as_given: Vec::new() }
}

fn verdict(kind: ClaimKind, span: Span, outcome: Outcome, obligations: Vec<Judged>) -> Verdict {
    let claim = Claim { kind, span };
    let (remarks, took) = (Vec::new(), Duration::ZERO);
    Verdict { claim, outcome, obligations, remarks, looked: 0, explored: None, took }
}
