//! Whether one change removes what was lost: the faults of the seeds, end to end.

use std::path::Path;

use wastenot_experiment::confirm::{Confirmation, Plan, Question, Verdict};
use wastenot_experiment::extract;
use wastenot_experiment::{Bench as _, Run, Sim};
use wastenot_model::{History, Time, Value};
use wastenot_scenario::scenario::Choice;
use wastenot_sim::Options;

fn ran(name: &str, text: &str) -> Run {
    let scenario = wastenot_experiment::scenario(name, text).expect("a scenario");
    let limit = Time(scenario.limit.0);
    let options = Options { name: name.into(), seed: 1, limit, notes: false };
    Sim.run(&scenario.variants[0], &options).expect("it runs")
}

fn seed(name: &str, less: &[(&str, &str)]) -> Run {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scenarios/seeds");
    let mut text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).expect("a file");
    for (from, to) in less {
        assert!(text.contains(from), "{name}: {from}");
        text = text.replace(from, to);
    }
    ran(name, &text)
}

fn confirm(run: &Run) -> Confirmation {
    answered(run, &Question { scheduler: None, cause: None, seeds: 6 })
}

fn answered(run: &Run, question: &Question) -> Confirmation {
    Plan::new(&Sim, &run.history, question).expect("work").run(|_| ()).expect("runs")
}

/// Tasks that are bound to one of four CPUs.
const BOUND: &str = r#"
machine = "flat(1,4)"
scheduler = { name = "cfs-6.1" }
tasks = [
    { name = "a", count = 3, cpus = "0", program = ["loop 20", "compute 3ms", "sleep 1ms", "end"] },
]"#;

/// A job with a quota of a tenth of a CPU.
const HELD: &str = r#"
machine = "flat(1,2)"
scheduler = { name = "eevdf-6.12" }
groups = { g = { quota = "10ms/100ms" } }
tasks = [{ name = "a", group = "g", program = ["compute 50ms"] }]"#;

/// The same quota, of a task that the run does not wait for.
const BESIDE: &str = r#"
machine = "flat(1,2)"
scheduler = { name = "eevdf-6.12" }
groups = { g = { quota = "10ms/100ms" } }
tasks = [
    { name = "a", program = ["compute 450ms"] },
    { name = "b", group = "g", background = true, program = ["compute 10s"] },
]"#;

fn small(name: &str, text: &str) -> Run {
    ran(name, &format!("schema = \"wastenot.scenario/1\"\nabout = \"{name}\"\n{text}"))
}

/// What a text of 72 columns says, in one line.
fn said(answer: &Confirmation) -> String {
    let text = answer.report("x.wn").text();
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 72).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_faults_of_the_seeds_are_confirmed_each_with_its_change() {
    let q18 = [("stages = 10000", "stages = 300")];
    let lu = [("steps = 80000", "steps = 1000")];
    let domains = [("steps = 50000", "steps = 300")];
    let make = [("jobs = 800", "jobs = 200"), ("2.5s", "0.6s")];
    for (run, cause, change) in [
        (seed("overload-on-wakeup-q18", &q18), "scheduler/placement", "wakeup=longest-idle"),
        (
            seed("scheduling-groups-lu", &lu),
            "scheduler/balancing/beyond-one-hop",
            "groups=own-balanced",
        ),
        (
            seed("missing-domains-lu", &domains),
            "scheduler/balancing/after-hotplug",
            "numa-levels=keep",
        ),
        (
            seed("group-imbalance-make", &make),
            "scheduler/balancing/beside-group",
            "imbalance=minimum",
        ),
        (small("bound", BOUND), "configuration/affinity", "no affinities"),
        (small("held", HELD), "configuration/quota", "no quotas"),
    ] {
        let answer = confirm(&run);
        let text = said(&answer);
        let trial = answer.trial.as_ref().expect("a known change");
        assert_eq!((trial.lost.cause, trial.change.label().as_str()), (cause, change), "{text}");
        assert_eq!(answer.verdict(), Verdict::Confirmed, "{text}");
        assert!(
            text.contains("Confirmed in the simulator: with ") && text.contains(change),
            "{text}"
        );
        assert!(text.contains("wastenot explain x.wn --confirm"), "{text}");
        // With the seed of the run, the model loses the same to the nanosecond.
        assert_eq!(trial.tried[0].sample, trial.recorded);
        let [before, after] = [&trial.before, &trial.after].map(|arm| arm.cause().expect("six"));
        assert!(after.is_below(&before), "{text}");
    }
}

#[test]
fn a_quota_that_the_run_does_not_wait_for_is_refuted() {
    let answer = confirm(&small("beside", BESIDE));
    let text = said(&answer);
    assert_eq!(answer.verdict(), Verdict::Refuted, "{text}");
    assert!(
        text.contains("with no quotas, the run does not get shorter, so the loss did not delay it"),
        "{text}"
    );
}

#[test]
fn nothing_is_claimed_where_the_model_does_not_lose_what_was_lost() {
    let run = seed("scheduling-groups-lu", &[("steps = 80000", "steps = 500")]);
    let model =
        Choice { tunables: vec![("groups".into(), "own".into())], ..Choice::named("cfs-4.1") };
    let question = Question { scheduler: Some(model), cause: None, seeds: 6 };
    let answer = answered(&run, &question);
    let text = said(&answer);
    assert_eq!(answer.verdict(), Verdict::NotReproduced, "{text}");
    assert!(
        text.contains("This report makes no claim: the model does not reproduce the loss"),
        "{text}"
    );
    assert!(text.contains("cfs-4.1 groups=own"), "{text}");
}

#[test]
fn where_nothing_was_lost_or_no_change_is_known_this_is_the_answer() {
    let text = BOUND.replace(", cpus = \"0\"", "").replace("cfs-6.1", "work-conserving");
    let answer = confirm(&small("free", &text));
    assert_eq!(answer.verdict(), Verdict::NothingLost, "{}", said(&answer));
    assert!(said(&answer).contains("No time was lost"), "{}", said(&answer));
    let answer = confirm(&small("late", &format!("{text}\n[costs]\nipi = \"50us\"")));
    let text = said(&answer);
    assert_eq!(answer.verdict(), Verdict::NoChange, "{text}");
    assert!(
        text.contains("wake delay because starting a task on an idle CPU takes time"),
        "{text}"
    );
}

#[test]
fn a_cause_can_be_named_and_the_same_question_has_the_same_answer() {
    let run = seed("overload-on-wakeup-q18", &[("stages = 10000", "stages = 100")]);
    let cause = Some("scheduler/placement/behind-waker");
    let question = Question { scheduler: None, cause, seeds: 6 };
    let [one, other] = [(); 2].map(|()| answered(&run, &question));
    assert_eq!(one.report("x.wn"), other.report("x.wn"));
    let trial = one.trial.as_ref().expect("a known change");
    assert_eq!(trial.lost.cause, "scheduler/placement/behind-waker");
    let [before, control] = [&trial.before, &trial.control].map(|arm| arm.loss());
    assert_ne!(before, control, "seeds vary the runs");
    let none = Question { cause: Some("configuration"), ..question };
    let answer = answered(&run, &none);
    assert_eq!(answer.verdict(), Verdict::NothingLost);
    assert!(said(&answer).contains("No time was lost to configuration"), "{}", said(&answer));
}

#[test]
fn programs_that_make_no_sense_are_not_run() {
    let run = seed("overload-on-wakeup-q18", &[("stages = 10000", "stages = 20")]);
    let work = |history: &History| {
        let work = extract::extract(history, &extract::Options::default()).expect("work");
        work.as_programs(history).map(|(work, seed)| (work.workload.templates.len(), seed))
    };
    let (_, seed) = work(&run.history).expect("programs");
    assert_eq!(seed, 1);
    let mut alone = run.history.clone();
    alone.annexes.retain(|annex| annex.table.name != "programs");
    assert_eq!(work(&alone), None);
    // A loop that takes no time and does not end, a lock that its task keeps, a mark whose number
    // is too large.
    let bad = [("loop", None), ("lock", Some(0)), ("mark", Some(u32::MAX))];
    for (step, of) in bad.into_iter().chain([("yield", None)]) {
        let mut damaged = run.history.clone();
        for annex in &mut damaged.annexes {
            let rows = &mut annex.table.rows;
            match annex.table.name.as_str() {
                "programs" => {
                    let end = |row: &Vec<Value>| row[1] == "end".into();
                    let at = rows.iter().rposition(end).expect("a loop");
                    let mut cells = vec![Value::Unknown; rows[at].len()];
                    cells[..3].clone_from_slice(&[rows[at][0].clone(), step.into(), of.into()]);
                    rows.insert(at + 1, cells.clone());
                    if step == "loop" {
                        cells[1] = "end".into();
                        rows.insert(at + 2, cells);
                    }
                }
                "shared" => {
                    let mut cells = vec![Value::Unknown; rows[0].len()];
                    (cells[0], cells[3], cells[2]) = ("lock".into(), "block".into(), 0_u32.into());
                    rows.push(cells);
                }
                _ => {}
            }
        }
        assert_eq!(work(&damaged).is_some(), step == "yield", "{step}");
    }
}
