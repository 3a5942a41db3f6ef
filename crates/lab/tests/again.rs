//! A run, taken apart and run again under the same scheduler: it must take as long.

use std::path::Path;

use wastenot_lab::{Question, Run, WhatIf, run, what_if};
use wastenot_model::{Span, Time};
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
    (variant, run(variant, &options).expect("it runs"))
}

fn again(variant: &Variant, ran: &Run) -> WhatIf {
    let scheduler = Some(variant.scheduler.clone());
    let question = Question { scheduler, seed: 1, ..Question::default() };
    what_if(&ran.history, &question).expect("work")
}

/// How much longer it takes, as a share.
fn off(answer: &WhatIf) -> f64 {
    let again = answer.asked.makespan.expect("it ends");
    again.0 as f64 / answer.extracted.recorded.0 as f64 - 1.0
}

fn seeds() -> Vec<(String, Scenario)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/seeds");
    let files = std::fs::read_dir(folder).expect("scenarios").map(|entry| entry.expect("a file"));
    let mut all: Vec<(String, Scenario)> = files
        .filter(|file| file.path().extension().is_some_and(|ending| ending == "toml"))
        .map(|file| {
            let text = std::fs::read_to_string(file.path()).expect("text");
            let name = file.file_name().to_string_lossy().replace(".toml", "");
            (name.clone(), scenario(&name, &text))
        })
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[test]
#[ignore]
fn explore() {
    let only = std::env::var("ONLY").unwrap_or_default();
    for (name, scenario) in seeds().into_iter().filter(|(name, _)| name.contains(&only)) {
        let start = std::time::Instant::now();
        let (variant, ran) = first_run(&scenario);
        let simulated = start.elapsed();
        let start = std::time::Instant::now();
        let answer = again(variant, &ran);
        eprintln!(
            "{name} {} {}: rows {} sim {:.1}s replay {:.1}s recorded {} off {:+.4}% at most {:.3} bound {}",
            variant.name,
            variant.scheduler.name,
            ran.history.len(),
            simulated.as_secs_f64(),
            start.elapsed().as_secs_f64(),
            answer.extracted.recorded,
            off(&answer) * 100.0,
            answer.at_most().unwrap_or(-1.0),
            answer.bound.span(),
        );
    }
    let _ = (WITHIN, Span::ZERO);
}
