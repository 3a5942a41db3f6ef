//! What people read of a verdict: steps that say what was found, numbers with their units, how far
//! each claim was explored, what to write instead.

use std::time::Duration;

use wastenot_model::report::Value;
use wastenot_model::{Event, How, Report, TaskId};
use wastenot_prove::explore::Bounds;
use wastenot_prove::{
    Counterexample, Judgement, Options, Outcome, Verdict, judge, report, warnings,
};
use wastenot_rota::ir::Policy;

use crate::gallery::texts;
use crate::solvers::solvers;

const WS: &str = include_str!("../../../../../policies/work-stealing.rota");
const VRT: &str = include_str!("../../../../../policies/fair-vtime.rota");

fn options() -> Options {
    let bounds = Bounds { cpus: 3, ..Bounds::default() };
    Options { solvers: Vec::new(), cache: None, patience: Duration::from_secs(1), bounds }
}

/// A text with this instead of that, and other claims.
fn policy(text: &str, change: (&str, &str), claims: &str) -> Policy {
    assert!(text.contains(change.0), "{}", change.0);
    let at = text.find("    prove ").expect("it claims something");
    let text = format!("{}    prove {claims}\n}}\n", text[..at].replace(change.0, change.1));
    wastenot_rota::compile(&text).expect("it compiles").policies.remove(0)
}

fn found(policy: &Policy) -> Counterexample {
    let verdicts = judge(policy, &options()).expect("no solver runs");
    let found = verdicts.into_iter().find_map(|verdict| match verdict.outcome {
        Outcome::Refuted(found) => Some(found),
        _ => None,
    });
    found.expect("a counterexample")
}

/// A policy of the gallery that is wrong.
fn wrong(name: &str) -> Policy {
    let file = |path: &std::path::Path| path.file_stem().is_some_and(|stem| stem == name);
    let (_, text) = texts("wrong").into_iter().find(|(path, _)| file(path)).expect("it is there");
    wastenot_rota::compile(&text).expect("it compiles").policies.remove(0)
}

#[test]
fn an_empty_queue_is_called_empty_and_one_with_others_tasks_is_not() {
    let policy = wrong("one-try");
    let steps = found(&policy).steps_in_words(&policy);
    assert_eq!(steps[0], "CPU 2 looks into `ready` of CPU 2: empty");
    assert_eq!(steps[3], "CPU 2 locks `ready` of CPU 1: no task in it may run here");
}

/// A task that a step puts is not there before the step: neither in words nor in the History.
#[test]
fn a_task_that_comes_in_a_step_does_not_wait_before() {
    let last = ("take c.ready else balance idle", "balance idle else take c.ready");
    for (policy, told, how) in [
        (wrong("wake-in-cache"), "task 0 does not exist yet", How::New),
        (
            policy(WS, last, "wait(dispatches <= position + direct_runs)"),
            "task 0 (only on 0) sleeps",
            How::Wakeup,
        ),
    ] {
        let found = found(&policy);
        let at_first = found.situation_in_words(&policy);
        assert!(at_first.iter().any(|line| line == told), "{at_first:?}");
        let waits = |line: &String| line.starts_with("task 0") && line.contains("waits");
        assert!(!at_first.iter().any(waits), "{at_first:?}");
        let history = found.history(&policy, "a claim", "");
        let start = history.head.start.clone().expect("it begins with something");
        let asleep = usize::from(how == How::Wakeup);
        assert_eq!((start.waiting.len(), start.sleeping.len()), (asleep, asleep));
        let queued = history.entries().find_map(|entry| match entry.event {
            Event::Queued { task, how, .. } => Some((task, how)),
            _ => None,
        });
        assert_eq!(queued, Some((TaskId::nth(0), how)));
    }
}

#[test]
fn numbers_of_keys_have_units() {
    let lag = policy(VRT, ("- lag)", "- lag - lag)"), "lag(<= lag)");
    let steps = found(&lag).steps_in_words(&lag);
    let words = "CPU 0 sets `vt` of task 0 to 460.0 ms in `new`; the least key of its queue is \
                 500.0 ms, which is 40.00 ms more";
    assert_eq!(steps, [words]);
    let from = "t.vt := max(t.vt, min_vt(home(t).q) - lag)";
    let falls = policy(VRT, (from, "t.vt := min_vt(home(t).q)"), "vt_monotone");
    let steps = found(&falls).steps_in_words(&falls);
    assert_eq!(steps, ["CPU 0 sets `vt` of task 0 in `wake` from 1 ns to 0 ns"]);
    let stands = policy(VRT, ("t.vt += scaled(ran, t.weight)", ""), "vt_monotone");
    let steps = found(&stands).steps_in_words(&stands);
    let words = "CPU 0 sets `vt` of task 0, which ran for 1 ns with weight 1, in `stop` from 0 ns \
                 to 0 ns";
    assert_eq!(steps, [words]);
}

/// The report on one policy.
fn told(policy: &Policy, options: &Options) -> Report {
    let verdicts: Vec<Verdict> = judge(policy, options).expect("an answer");
    let warnings = warnings(policy, options).expect("an answer");
    report("my.rota", &[Judgement { policy: Some(policy), verdicts, warnings }], options, |_| 1)
}

fn cell(report: &Report, table: &str, row: usize, column: &str) -> Value {
    let table = report.tables.iter().find(|it| it.name == table).expect("the table");
    let at = table.columns.iter().position(|it| it.key == column).expect("the column");
    table.rows[row][at].clone()
}

/// A bound on how far behind a task is put is easily taken for a bound on waits.
#[test]
fn beside_lag_stands_what_it_does_not_say() {
    let said = |claims| {
        let assumptions = told(&policy(VRT, ("", ""), claims), &options()).assumptions;
        assumptions
            .iter()
            .any(|it| it.starts_with("lag: ") && it.contains("does not bound how long"))
    };
    assert!(said("lag(<= lag)") && said("hierarchy, lag(<= lag)"));
    assert!(!said("hierarchy, vt_monotone"));
}

#[test]
fn each_claim_tells_how_far_it_was_explored() {
    let policy = policy(WS, ("", ""), "no_lost_task, no_lost_wakeup");
    let report = told(&policy, &options());
    let bounds =
        |row| ["explored_cpus", "explored_tasks"].map(|it| cell(&report, "claims", row, it));
    assert_eq!(bounds(0), [Value::Int(3), Value::Int(3)]);
    assert_eq!(bounds(1), [Value::Int(2), Value::Int(2)], "the protocol is explored less far");
    let text = report.text();
    assert!(text.contains("3 CPUs, 3 tasks") && text.contains("- explored: "), "{text}");
}

#[test]
fn what_fails_is_told_with_what_to_write_instead() {
    let solvers = solvers("what_fails_is_told_with_what_to_write_instead");
    if solvers.is_empty() {
        return;
    }
    let options = Options { solvers, ..options() };
    let more = "where me in allowed(t) and queued(v.ready) >= seen(queued(v.ready))";
    let policy = policy(WS, ("where me in allowed(t)", more), "work_conservation");
    let report = told(&policy, &options);
    assert!(report.verdict.starts_with("Unknown: "), "{}", report.verdict);
    assert!(report.text().contains("write only `where me in allowed(t)`"), "{}", report.text());
    for (path, text) in texts("wrong") {
        let program = wastenot_rota::compile(&text).expect("it compiles");
        let report = told(&program.policies[0], &options);
        let fails = |row: &usize| cell(&report, "obligations", *row, "holds") == Value::Bool(false);
        let rows = report.tables.iter().find(|it| it.name == "obligations").map(|it| it.rows.len());
        for row in (0..rows.unwrap_or_default()).filter(fails) {
            let (name, help) = (
                cell(&report, "obligations", row, "obligation"),
                cell(&report, "obligations", row, "help"),
            );
            assert!(matches!(help, Value::Text(_)), "{}: {name:?}", path.display());
        }
    }
}
