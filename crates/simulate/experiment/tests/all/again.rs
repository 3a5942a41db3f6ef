//! A run, taken apart and run again under the same scheduler: it must take as long.

use std::path::PathBuf;

use wastenot_experiment::{Bench as _, Question, Run, Sim, WhatIf, what_if};
use wastenot_model::{Time, Window};
use wastenot_needs::{stem, texts};
use wastenot_read::write::edit;
use wastenot_scenario::Scenario;
use wastenot_scenario::scenario::Variant;
use wastenot_sim::Options;

/// How far off is within what must hold.
const WITHIN: f64 = 0.01;

fn scenario(name: &str, text: &str) -> Scenario {
    wastenot_scenario::scenario(name, text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn first_run(scenario: &Scenario) -> (&Variant, Run) {
    let variant = &scenario.variants[0];
    let options = Options {
        name: scenario.name.clone(),
        seed: 1,
        limit: Time(scenario.limit.0),
        notes: false,
    };
    (variant, Sim.run(variant, &options).expect("it runs"))
}

fn again(variant: &Variant, ran: &Run) -> WhatIf {
    let scheduler = Some(variant.scheduler.clone());
    let question = Question { scheduler, seed: 1, ..Question::default() };
    what_if(&ran.history, &question).expect("work")
}

/// The same, waiting for the tasks of whose name `a` is the beginning.
fn again_for_a(variant: &Variant, ran: &Run) -> WhatIf {
    let history = &ran.history;
    let named = history.tasks().map(|(task, _)| task);
    let named = named.filter(|&task| history.task_name(task).starts_with('a')).collect();
    let scheduler = Some(variant.scheduler.clone());
    let question = Question { scheduler, seed: 1, awaited: Some(named), ..Question::default() };
    what_if(history, &question).expect("work")
}

/// How much longer it takes, as a share.
fn off(answer: &WhatIf) -> f64 {
    let again = answer.asked.makespan.expect("it ends");
    again.0 as f64 / answer.extracted.recorded.0 as f64 - 1.0
}

fn seeds() -> Vec<(String, Scenario)> {
    let all = texts(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scenarios/seeds"), "toml");
    let read = |(file, text): (PathBuf, String)| (stem(&file), scenario(&stem(&file), &text));
    all.into_iter().map(read).collect()
}

/// Scenarios that take seconds in the profile of the tests. They are looked at by the ignored test;
/// others of the same family are looked at always.
const LONG: &[&str] = &[
    "group-imbalance-lu",
    "missing-domains-bt",
    "missing-domains-cg",
    "missing-domains-ft",
    "missing-domains-is",
    "missing-domains-lu",
    "missing-domains-mg",
    "missing-domains-sp",
    "missing-domains-ua",
    "overload-on-wakeup-full",
    "overload-on-wakeup-q18",
    "scheduling-groups-bt",
    "scheduling-groups-cg",
    "scheduling-groups-is",
    "scheduling-groups-lu",
    "scheduling-groups-ua",
    "wake-affine-volrend",
];

fn hold(scenarios: impl Iterator<Item = (String, Scenario)>) {
    let mut wrong = Vec::new();
    for (name, scenario) in scenarios {
        let (variant, ran) = first_run(&scenario);
        let off = off(&again(variant, &ran));
        if off.abs() > WITHIN {
            wrong.push(format!("{name} {}: {:+.2} %", variant.name, off * 100.0));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_scenarios_of_the_seeds_take_as_long_again() {
    hold(seeds().into_iter().filter(|(name, _)| !LONG.contains(&name.as_str())));
}

#[test]
#[ignore = "takes minutes in the profile of the tests"]
fn the_long_scenarios_of_the_seeds_take_as_long_again() {
    hold(seeds().into_iter().filter(|(name, _)| LONG.contains(&name.as_str())));
}

/// What only a simulated History tells, each in a run whose length depends on it.
const TOLD: &[(&str, &str)] = &[
    (
        "shares",
        r#"
machine = "flat(1,1)"
scheduler = { name = "cfs-4.1" }
groups = { much = { shares = 4096 }, little = { shares = 512, parent = "much" } }
tasks = [
    { name = "a", group = "little", program = ["loop 20", "compute 5ms", "sleep 1ms", "end"] },
    { name = "b", group = "much", background = true, program = ["compute 10s"] },
    { name = "c", background = true, program = ["compute 10s"] },
]"#,
    ),
    (
        "sessions",
        r#"
machine = "flat(1,1)"
scheduler = { name = "cfs-4.1", autogroup = "off" }
groups = { a = { session = true }, b = { session = true } }
tasks = [
    { name = "a", group = "a", program = ["compute 100ms"] },
    { name = "b", group = "b", count = 8, program = ["compute 200ms"] },
]"#,
    ),
    (
        "priorities of OSv",
        r#"
machine = "flat(1,1)"
scheduler = { name = "osv" }
tasks = [
    { name = "a", priority = 0.25, program = ["compute 500ms"] },
    { name = "b", program = ["compute 2s"] },
]"#,
    ),
    (
        "jobs",
        r#"
machine = "flat(1,4)"
scheduler = { name = "gang" }
tasks = [
    { name = "a", job = 1, count = 2, program = ["compute 400ms"] },
    { name = "b", job = 2, count = 4, background = true, program = ["compute 10s"] },
]"#,
    ),
    (
        "who is about to sleep",
        r#"
machine = "numa:2 l3:1 core:2 pu:1"
scheduler = { name = "cfs-4.1" }
pipes = { p = { capacity = 1 }, q = {} }
tasks = [
    { name = "a", count = 4, program = [
        "loop 100", "compute 0.2ms +-50%", "put p", "get q", "end",
    ] },
    { name = "a2", count = 3, background = true, program = [
        "loop forever", "get p", "compute 0.1ms +-50%", "put q", "end",
    ] },
]"#,
    ),
    (
        "how late kicked CPUs look up",
        r#"
machine = "flat(1,4)"
scheduler = { name = "global-fifo" }
costs = { ipi = "200us" }
barriers = { b = { parties = 4 } }
tasks = [{ name = "a", count = 4, program = [
    "loop 50", "compute 1ms +-30%", "barrier b", "end",
] }]"#,
    ),
];

fn small(name: &str, text: &str) -> Scenario {
    let head = "schema = \"wastenot.scenario/1\"\nlimit = \"10s\"";
    scenario(name, &format!("{head}\n{text}"))
}

#[test]
fn what_no_event_tells_is_told_beside_them() {
    let mut wrong = Vec::new();
    for (name, text) in TOLD {
        let scenario = small(name, text);
        let (variant, mut ran) = first_run(&scenario);
        let told = off(&again_for_a(variant, &ran));
        ran.history.annexes.clear();
        let untold = off(&again_for_a(variant, &ran));
        if told.abs() > WITHIN || untold.abs() <= WITHIN {
            let (told, untold) = (told * 100.0, untold * 100.0);
            wrong.push(format!("{name}: {told:+.2} %, untold {untold:+.2} %"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_run_of_a_scenario_waits_for_whom_the_scenario_waits() {
    let text = r#"
machine = "flat(1,2)"
scheduler = { name = "global-fifo" }
tasks = [
    { name = "a", program = ["loop 10", "compute 5ms", "sleep 5ms", "end"] },
    { name = "late", at = "50ms", background = true, program = ["compute 20ms"] },
    { name = "hog", background = true, program = ["compute 10s"] },
]"#;
    let scenario = small("whom", text);
    let (variant, ran) = first_run(&scenario);
    let answer = again(variant, &ran);
    assert_eq!((answer.extracted.awaited, answer.extracted.tasks), (1, 3));
    let ends: Vec<&str> = answer.as_recorded.ends.iter().map(|end| end.name.as_str()).collect();
    assert_eq!(ends, ["a"]);
    let said = &answer.extracted.assumptions;
    assert!(said.iter().any(|it| it.contains("that the scenario waits for")), "{said:?}");
}

#[test]
fn a_part_of_such_a_run_waits_for_those_of_them_whose_job_it_is() {
    let text = r#"
machine = "flat(1,2)"
scheduler = { name = "pinned" }
tasks = [
    { name = "a", at = "20ms", program = ["loop 10", "compute 2ms", "sleep 1ms", "end"] },
    { name = "hog", program = ["compute 100ms"] },
    { name = "noise", at = "30ms", background = true, program = ["compute 10ms"] },
]"#;
    let scenario = small("whom", text);
    let (variant, mut ran) = first_run(&scenario);
    let window = Window { from: Time(10_000_000), to: Time(90_000_000) };
    ran.history = edit::window(&ran.history, window);
    let ends = again(variant, &ran).as_recorded.ends;
    let ends: Vec<&str> = ends.iter().map(|end| end.name.as_str()).collect();
    assert_eq!(ends, ["a"]);
}

/// What events tell: it must come back without anything beside them.
const SEEN: &[(&str, &str)] = &[
    (
        "a quota",
        r#"
machine = "flat(1,1)"
scheduler = { name = "cfs-4.1" }
groups = { g = { quota = "10ms/100ms" } }
tasks = [{ name = "a", group = "g", program = ["compute 100ms"] }]"#,
    ),
    (
        "a quota of several",
        r#"
machine = "flat(1,4)"
scheduler = { name = "cfs-4.1" }
groups = { g = { quota = "40ms/100ms" } }
tasks = [
    { use = "omp_barrier", name = "a", group = "g", threads = 4, rounds = 50, grain = "1ms +-30%" },
    { name = "b", background = true, program = ["compute 10s"] },
]"#,
    ),
    (
        "costs",
        r#"
machine = "numa:2 l3:1 core:2 pu:2"
scheduler = { name = "cfs-4.1" }
tasks = [
    { use = "omp_barrier", name = "a", threads = 12, rounds = 100, grain = "1ms +-30%" },
    { name = "b", count = 2, background = true, program = ["compute 10s"] },
]
[costs]
switch = "2us"
ipi = "3us"
migration = ["1us", "5us", "20us", "50us"]
cold = "10us"
smt = 0.6"#,
    ),
    (
        "CPUs that go off and come back",
        r#"
machine = "flat(1,4)"
scheduler = { name = "cfs-4.1" }
hotplug = [{ cpu = 2, off = "20ms", on = "60ms" }, { cpu = 3, off = "30ms" }]
tasks = [{ use = "omp_barrier", name = "a", threads = 4, rounds = 100, grain = "1ms +-30%" }]"#,
    ),
    (
        "affinities and nice values that change",
        r#"
machine = "flat(1,4)"
scheduler = { name = "eevdf-6.12" }
tasks = [
    { name = "a", count = 3, program = [
        "compute 20ms", "cpus 0-1", "compute 40ms", "nice 5", "compute 40ms",
    ] },
    { name = "b", nice = -5, background = true, program = ["compute 10s"] },
]"#,
    ),
];

#[test]
fn what_events_tell_comes_back() {
    let mut wrong = Vec::new();
    for (name, text) in SEEN {
        let scenario = small(name, text);
        let (variant, ran) = first_run(&scenario);
        let off = off(&again(variant, &ran));
        if off.abs() > WITHIN {
            wrong.push(format!("{name}: {:+.2} %", off * 100.0));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
