//! Counterexamples forced on the policies that they were found with, on mended ones, and on texts
//! that do not fit; and files that were changed.

use wastenot_model::report::Value;
use wastenot_model::workload::Random;
use wastenot_model::{CpuId, Help, History, Machine};
use wastenot_needs::effort;
use wastenot_prove::explore::Bounds;
use wastenot_prove::replay::{Recorded, Replay, is_counterexample, report};
use wastenot_prove::{Error, Outcome, judge};
use wastenot_rota::ir::Policy;

use crate::gallery::texts;
use crate::random::drawn;
use crate::texts::{options, policy};

const WS: &str = include_str!("../../../../../policies/work-stealing.rota");
const VRT: &str = include_str!("../../../../../policies/fair-vtime.rota");

/// The counterexamples against a text, each with the claim that it breaks.
fn found(text: &str, cpus: usize) -> Vec<(&'static str, History)> {
    found_of(&policy(text), text, cpus)
}

/// The same of what `text` means, or of some of what it claims.
fn found_of(policy: &Policy, text: &str, cpus: usize) -> Vec<(&'static str, History)> {
    let bounds = Bounds { cpus, ..Bounds::default() };
    let verdicts = judge(policy, &options(Vec::new(), bounds)).expect("no solver runs").into_iter();
    let histories = verdicts.filter_map(|verdict| match verdict.outcome {
        Outcome::Refuted(found) => {
            let claim = verdict.claim.kind.name();
            Some((claim, found.history(policy, claim, text)))
        }
        _ => None,
    });
    histories.collect()
}

fn force(history: &History, text: &str) -> Result<Replay, Error> {
    Recorded::read(history)?.force(&policy(text))
}

/// The same policy of the gallery, and its counterexample.
fn wrong(name: &str) -> (String, History) {
    let file = |path: &std::path::Path| path.file_stem().is_some_and(|stem| stem == name);
    let mut all = texts("wrong").into_iter();
    let (_, text) = all.find(|(path, _)| file(path)).expect("it is there");
    let history = found(&text, 4).remove(0).1;
    (text, history)
}

#[test]
fn forced_on_its_own_policy_every_counterexample_of_the_gallery_goes_wrong() {
    let mut forced = 0;
    for (path, text) in texts("wrong") {
        for (claim, history) in found(&text, 4) {
            assert!(is_counterexample(&history));
            let recorded = Recorded::read(&history).expect("it is whole");
            assert_eq!(recorded.text(), Some(text.as_str()));
            let replay = recorded.force(&policy(&text)).expect("it fits");
            assert!(replay.is_reached(), "{} {claim}: {:?}", path.display(), replay.otherwise);
            assert_eq!((replay.same, replay.claim.as_str()), (replay.steps.len(), claim));
            assert!(!replay.at_first.is_empty() && !replay.steps.is_empty());
            forced += 1;
        }
    }
    assert_eq!(forced, 12, "all of the gallery but the one that the text itself contradicts");
}

/// Which step goes otherwise on work stealing, and what happens in the end.
#[test]
fn forced_on_a_mended_policy_it_goes_otherwise_and_says_where() {
    let cases = [
        ("group-average", 3, "CPU 1 takes task 0 from `ready` of CPU 2"),
        ("groups-from-cpu0", 4, "CPU 3 takes task 0 from `ready` of CPU 1"),
        ("minimum-for-all", 2, "CPU 2 takes task 0 from `ready` of CPU 0"),
        ("one-try", 5, "CPU 2 takes task 0 from `ready` of CPU 0"),
        ("version-check", 4, "CPU 1 takes task 0 from `ready` of CPU 0"),
        ("unchecked-steal", 2, "CPU 1 locks `ready` of CPU 0: no task in it may run here"),
        ("wake-in-cache", 1, "task 0 waits in `ready` of CPU 0, and CPU 1 is woken"),
        ("ping-pong", 1, "CPU 1 moves no task from `ready` of CPU 0 to `ready` of CPU 1"),
        ("kick-first", 1, "no sleeping CPU would take a waiting task"),
        ("no-rescan", 4, "no sleeping CPU would take a waiting task"),
        ("no-chain", 11, "no sleeping CPU would take a waiting task"),
    ];
    for (name, step, end) in cases {
        let (_, history) = wrong(name);
        let replay = force(&history, WS).expect("it fits");
        let last = replay.otherwise.last().map(String::as_str);
        assert_eq!((replay.same + 1, last), (step, Some(end)), "{name}: {:?}", replay.otherwise);
        assert_eq!(replay.still, None, "{name}");
    }
}

#[test]
fn a_mend_that_only_moves_the_fault_is_told() {
    let (text, history) = wrong("one-try");
    assert!(text.contains("retry 0"));
    let other = text.replace("queued(v.ready) >= 1", "queued(v.ready) >= 2");
    let replay = force(&history, &other).expect("it fits");
    assert_eq!((replay.is_reached(), replay.same), (false, 1));
    assert!(replay.still.as_ref().is_some_and(|why| why.contains("goes to sleep")));
    let told = report("cex.wn", &replay).verdict;
    assert!(told.contains("Step 2 differs: ") && told.contains("still break the claim"));
}

/// Claims and ways in which the gallery breaks none.
#[test]
fn every_way_to_break_a_claim_can_be_forced() {
    let claims = "prove no_lost_task, no_lost_wakeup, work_conservation, rounds(<= idle_cpus),
        wait(dispatches <= position + direct_runs)";
    assert!(WS.contains(claims));
    let ws = |from: &str, to: &str, claim: &str| {
        let text = WS.replace(claims, &format!("prove {claim}"));
        assert!(text.contains(from));
        (text.replace(from, to), text)
    };
    let reset = "t.vt := min_vt(home(t).q)";
    let vt = |to: &str, claim: &str| {
        let text = VRT.to_owned();
        let at = text.find("    prove ").expect("it claims something");
        let text = format!("{}    prove {claim}\n}}\n", &text[..at]);
        let from = "t.vt := max(t.vt, min_vt(home(t).q) - lag)";
        assert!(text.contains(from));
        (text.replace(from, to), text)
    };
    let cases = [
        ws("queued(v.ready) >= 1", "queued(v.ready) >= 2", "rounds(<= idle_cpus)"),
        ws("take c.ready else balance idle", "balance idle else take c.ready", WAIT),
        vt(reset, "vt_monotone"),
        vt("t.vt := max(t.vt, 0ns)", "lag(<= lag)"),
    ];
    for (text, mended) in cases {
        let (claim, history) = found(&text, 3).pop().unwrap_or_else(|| panic!("holds:\n{text}"));
        let replay = force(&history, &text).expect("it fits");
        assert!(replay.is_reached(), "{claim}: {replay:?}");
        let replay = force(&history, &mended).expect("it fits");
        assert!(!replay.is_reached() && replay.still.is_none(), "{claim}: {replay:?}");
    }
}

const WAIT: &str = "wait(dispatches <= position + direct_runs)";

/// Counterexamples that are replayed.
const FORCED: u64 = 30;

/// The explorer's counterexamples happen in the interpreter, whatever the policy.
#[test]
fn counterexamples_of_random_policies_can_be_forced() {
    let (mut forced, mut seed) = (0, 0);
    while forced < effort(FORCED) {
        seed += 1;
        let Some((text, policy)) = drawn(&mut Random::stream(seed, 2, 0)) else { continue };
        for (claim, history) in found_of(&policy, &text, 3) {
            let replay = force(&history, &text).expect("it fits");
            assert!(replay.is_reached(), "seed {seed}, {claim}: {replay:?}\n{text}");
            forced += 1;
        }
    }
}

#[test]
fn a_policy_with_other_queues_does_not_fit() {
    let (_, history) = wrong("minimum-for-all");
    let fit = |text: &str| force(&history, text).map(|_| ()).map_err(|error| error.to_string());
    let renamed = WS.replace("ready", "later");
    let what = "the policy `ws` does not match the counterexample: it has no queue `ready`, but \
                later";
    assert_eq!(fit(&renamed), Err(what.to_owned()));
    let wide = WS.replace("fifo per cpu", "fifo per llc");
    let what = "the policy `ws` does not match the counterexample: each llc has its own queue \
                `ready`, but in the counterexample each cpu has its own";
    assert_eq!(fit(&wide), Err(what.to_owned()));
}

#[test]
fn a_variable_that_a_mended_policy_does_without_is_left_out() {
    let (text, history) = wrong("version-check");
    let replay = force(&history, WS).expect("it fits");
    assert_eq!(replay.left_out, ["version"]);
    assert!(force(&history, &text).expect("it fits").left_out.is_empty());
}

/// Values that are written into each cell, of all.
const CHANGES: u64 = 3;

/// Whatever is written into any cell, something is said of it.
#[test]
fn changed_files_are_told_or_forced_and_nothing_panics() {
    let nasty = [
        Value::Unknown,
        Value::Bool(true),
        Value::Int(-1),
        Value::Int(1),
        Value::Int(3),
        Value::Int(65_536),
        Value::Int(i64::MAX),
        Value::Int(i64::MIN),
        Value::Num(f64::NAN),
        Value::Text(String::new()),
        Value::Text("moves".into()),
        Value::Text("all-fail".into()),
        Value::List(vec![Value::Int(0), Value::Int(40_000)]),
        Value::List(vec![Value::Text("x".into())]),
        Value::List(vec![Value::Int(1)]),
        Value::Map(Vec::new()),
    ];
    let (mut failed, mut forced) = (0, 0);
    let mut random = Random::stream(11, 0, 0);
    for (_, text) in texts("wrong") {
        let Some((_, history)) = found(&text, 4).pop() else { continue };
        let texts = [text.as_str(), WS, VRT];
        let mut tried = |history: &History| {
            for text in texts {
                match force(history, text) {
                    Ok(replay) => {
                        forced += 1;
                        assert!(!report("cex.wn", &replay).verdict.is_empty());
                    }
                    Err(error) => {
                        failed += 1;
                        assert!(!error.to_string().is_empty() && !error.help().is_empty());
                    }
                }
            }
        };
        for table in 0..history.annexes.len() {
            for row in 0..history.annexes[table].table.rows.len() {
                for column in 0..history.annexes[table].table.columns.len() {
                    for _ in 0..CHANGES {
                        let value = &nasty[random.below(nasty.len() as u64) as usize];
                        let mut changed = history.clone();
                        changed.annexes[table].table.rows[row][column] = value.clone();
                        tried(&changed);
                    }
                }
            }
            let mut changed = history.clone();
            changed.annexes.remove(table);
            tried(&changed);
            let mut changed = history.clone();
            changed.annexes[table].table.rows.clear();
            tried(&changed);
            let mut changed = history.clone();
            changed.annexes[table].table.columns.clear();
            tried(&changed);
            let mut changed = history.clone();
            let rows = changed.annexes[table].table.rows.clone();
            changed.annexes[table].table.rows = rows.into_iter().cycle().take(5_000).collect();
            tried(&changed);
        }
    }
    assert!(failed > 1_000 && forced > 1_000, "{failed} {forced}");
}

#[test]
fn machines_that_no_counterexample_has_are_refused() {
    let (text, history) = wrong("groups-from-cpu0");
    let on = |machine: Machine| {
        let mut changed = history.clone();
        changed.head.machine = machine;
        force(&changed, &text).map(|_| ()).map_err(|error| error.to_string())
    };
    assert!(on(Machine::flat(5_000)).is_err_and(|what| what.contains("5000 CPUs")));
    assert!(on(Machine::flat(1)).is_err_and(|what| what.contains("which does not exist")));
    let mut machine = history.head.machine.clone();
    machine.cpus[CpuId(1).index()].node = Some(u32::MAX);
    assert!(on(machine).is_err());
    let mut machine = history.head.machine.clone();
    machine.distances = Some(vec![vec![10]; 4]);
    assert!(on(machine).is_err());
}
