//! The result of forcing a counterexample, as a Report.

use wastenot_model::report::Unit;
use wastenot_model::{Column, Report, Table, Value};

use super::Replay;

/// The assumptions of a replay.
const ASSUMPTIONS: [&str; 3] = [
    "the replay repeats the recorded order of reads, tries, puts and moves; the policy determines \
     the result of each step",
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
        false => "All steps are the same as recorded, but the end differs".to_owned(),
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
    let columns = [
        Column::new("step", "step", Unit::None),
        Column::new("now", "now", Unit::None),
        Column::new("what", "recorded step", Unit::None),
    ];
    let mut table = Table::new("recorded", "Steps", columns);
    table.shown = usize::MAX;
    for words in &replay.at_first {
        table.push(vec!["at first".into(), "".into(), words.clone().into()]);
    }
    for (n, words) in replay.steps.iter().enumerate() {
        let now: Value = match n.cmp(&replay.same) {
            std::cmp::Ordering::Less => "same".into(),
            std::cmp::Ordering::Equal => "not so".into(),
            std::cmp::Ordering::Greater => "".into(),
        };
        table.push(vec![(n + 1).to_string().into(), now, words.clone().into()]);
    }
    if replay.is_reached() {
        table.push(vec!["so".into(), "same".into(), replay.why.clone().into()]);
    }
    table
}

fn otherwise(replay: &Replay) -> Table {
    let columns = [Column::new("what", "what happens", Unit::None)];
    let mut table = Table::new("otherwise", "Instead", columns);
    table.shown = usize::MAX;
    for words in &replay.otherwise {
        table.push(vec![words.clone().into()]);
    }
    table
}
