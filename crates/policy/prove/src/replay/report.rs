//! The result of forcing a counterexample, as a Report.

use wastenot_model::report::Unit;
use wastenot_model::{Report, Table};

use super::Replay;

/// The assumptions of a replay.
const ASSUMPTIONS: [&str; 3] = [
    "the replay repeats the recorded order of reads, attempts, enqueues and moves; the policy \
     determines the result of each step",
    "times and the keys of ordered queues keep their initial values, because claims of this kind \
     do not depend on these values",
    "a replay without a fault proves nothing about the policy: run `wastenot prove` for a proof",
];

/// The Report of a replay. `file` is the counterexample.
pub fn report(file: &str, replay: &Replay) -> Report {
    let title =
        format!("{file}: counterexample to {} of {}, replayed", replay.claim, replay.policy);
    let mut report = Report::new("prove.replay/1", title);
    report.verdict = verdict(replay);
    report.measure("reached", "Reaches the recorded fault", replay.is_reached(), Unit::None);
    report.measure("steps", "Steps", replay.steps.len(), Unit::None);
    report.measure("same", "  same as recorded", replay.same, Unit::None);
    report.measure("still", "", replay.still.clone(), Unit::None);
    report.tables = vec![steps(replay), otherwise(replay)];
    let left = replay.left_out.iter();
    let left = left.map(|name| {
        format!("CPUs of this policy have no variable `{name}`, so the replay left it out")
    });
    report.assumptions = left.chain(ASSUMPTIONS.map(str::to_owned)).collect();
    report
}

fn verdict(replay: &Replay) -> String {
    if replay.is_reached() {
        return format!("The policy fails as recorded: {}.", replay.why);
    }
    let mut sentence = match replay.same < replay.steps.len() {
        true => format!("Step {} differs", replay.same + 1),
        false => "All steps are the same as recorded, but the final state differs".to_owned(),
    };
    if let Some(first) = replay.otherwise.first() {
        sentence += &format!(": {first}");
    }
    if let [_, .., last] = replay.otherwise.as_slice() {
        sentence += &format!("; at the end, {last}");
    }
    match &replay.still {
        None => format!("{sentence}."),
        Some(why) => {
            format!("{sentence}. But other steps from the same start still break the claim: {why}.")
        }
    }
}

fn steps(replay: &Replay) -> Table {
    let first = replay.at_first.iter().map(|words| ("at first".to_owned(), "", words));
    let steps = replay.steps.iter().enumerate().map(|(n, words)| {
        let now = match n.cmp(&replay.same) {
            std::cmp::Ordering::Less => "same",
            std::cmp::Ordering::Equal => "not so",
            std::cmp::Ordering::Greater => "",
        };
        ((n + 1).to_string(), now, words)
    });
    let end = replay.is_reached().then(|| ("so".to_owned(), "same", &replay.why));
    let rows = first.chain(steps).chain(end);
    Table::of("recorded", "Steps", rows, |row, (step, now, words)| {
        let row = row.cell("step", "step", step).cell("now", "now", now);
        row.cell("what", "recorded step", words.clone())
    })
    .shown(usize::MAX)
}

fn otherwise(replay: &Replay) -> Table {
    Table::of("otherwise", "Instead", &replay.otherwise, |row, words| {
        row.cell("what", "what happens", words.clone())
    })
    .shown(usize::MAX)
}
