//! What each format can tell, asked of real files: the tables in README and `docs/reference`.

use serde_json::Value;
use wastenot_model::Carries;

use crate::reference::page;
use crate::root;
use crate::shell::{Desk, said};

/// A format, and a file of it on the desk.
const FORMATS: &[(&str, &str)] = &[
    ("trace.dat 6 and 7 (trace-cmd)", "traces/7.2-t4x4-make.dat"),
    ("perf.data (`perf sched record`)", "perf.data"),
    ("Perfetto (full events, as `convert` writes them)", "all.pftrace"),
    ("`trace-cmd report` text", "traces/7.2-t4x4-make.report-N-t.txt"),
    ("`trace-cmd report -R` text", "traces/5.10-t4x4-tpch.report-R.txt"),
];

/// What the short table in README tells: heading, and the abilities that it takes.
const QUESTIONS: &[(&str, &[&str])] = &[
    ("waste, waits", &["placement"]),
    ("latency from wakeup", &["wakeups"]),
    ("who woke whom", &["wakers", "wakings"]),
    ("irq or task", &["irq_context"]),
    ("moves", &["migrations"]),
    ("forks", &["forks"]),
    ("topology", &["topology"]),
    ("affinity", &["affinity"]),
];

fn carried() -> Vec<(&'static str, Vec<String>)> {
    let desk = Desk::laid();
    let (text, code) = said(&desk.bash("wastenot convert trace.dat -o all.pftrace"));
    assert_eq!(code, 0, "{text}");
    let words = |file: &str| -> Vec<String> {
        let output = desk.bash(&format!("wastenot check {file} --json"));
        let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{file}: {error}\n{}", said(&output).0);
        });
        let carries = json["trace"]["carries"].as_array().expect("a list");
        carries.iter().map(|word| word.as_str().expect("a word").to_owned()).collect()
    };
    FORMATS.iter().map(|(format, file)| (*format, words(file))).collect()
}

fn table(formats: &[(&str, Vec<String>)], columns: &[(&str, &[&str])]) -> String {
    let mut text = String::from("| format |");
    columns.iter().for_each(|(heading, _)| text += &format!(" {heading} |"));
    text += &format!("\n|---|{}\n", "---|".repeat(columns.len()));
    for (format, words) in formats {
        text += &format!("| {format} |");
        for (_, needs) in columns {
            let all = needs.iter().all(|need| words.iter().any(|word| word == need));
            text += if all { " yes |" } else { " – |" };
        }
        text += "\n";
    }
    text
}

#[test]
fn the_format_tables_say_what_the_readers_say() {
    let formats = carried();
    let mut short = table(&formats, QUESTIONS);
    short += "| `.wn` (our own) |";
    short += &" as its source |".repeat(QUESTIONS.len());
    short += "\n";
    wastenot_golden::page_holds(root().join("README.md"), [("formats", short)]);

    let mut whole = String::from(
        "# Contents of each format\n\nGenerated from the readers, with one file for each format. A \
         file may contain less than its format\nallows: `trace.carries` of `wastenot check --json` \
         lists its contents. A `.wn` file contains what its source\ncontained.\n\n| ability | \
         meaning |",
    );
    formats.iter().for_each(|(format, _)| whole += &format!(" {format} |"));
    whole += &format!("\n|---|---|{}\n", "---|".repeat(formats.len()));
    for (_, word, means) in Carries::ALL {
        whole += &format!("| `{word}` | {means} |");
        for (_, words) in &formats {
            whole += if words.iter().any(|known| known == word) { " yes |" } else { " – |" };
        }
        whole += "\n";
    }
    page("formats.md", &whole);
}
