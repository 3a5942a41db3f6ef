//! The facts that each trace format records, read from real files: `docs/reference/formats.md`.

use wastenot_model::Carries;

use crate::reference::page;
use crate::shell::Desk;

/// A format, and a file of it on the desk.
const FORMATS: &[(&str, &str)] = &[
    ("trace.dat 6 and 7 (trace-cmd)", "traces/7.2-t4x4-make.dat"),
    ("perf.data (`perf sched record`)", "perf.data"),
    ("Perfetto (full events, as `convert` writes them)", "all.pftrace"),
    ("`trace-cmd report` text", "traces/7.2-t4x4-make.report-N-t.txt"),
    ("`trace-cmd report -R` text", "traces/5.10-t4x4-tpch.report-R.txt"),
];

/// The text above the table.
const HEAD: &str = "\
# What each format records

This table is generated: the readers read one file of each format. Another file may contain fewer
facts; the field `trace.carries` of `wastenot check --json` lists the facts of a file. A `.wn` file
contains the facts of its source.

No tracepoint records the affinity of a task, so a report on a trace without affinities states its
assumption. Three options add facts that a file lacks: `--machine` sets the topology, `--clock-hz`
sets the rate of a clock that counts cycles, and `--shared-queue` declares that all CPUs take tasks
from one queue. Perfetto's compact form does not record where a woken task waits, so its placement
is unknown until it runs. Wastenot also reads the text of ftrace and `perf script`.

";

fn carried() -> Vec<(&'static str, Vec<String>)> {
    let desk = Desk::laid();
    desk.exits(0, "wastenot convert trace.dat -o all.pftrace");
    let words = |file: &str| -> Vec<String> {
        let (json, _) = desk.json(&format!("wastenot check {file} --json"));
        let carries = json["trace"]["carries"].as_array().expect("a list");
        carries.iter().map(|word| word.as_str().expect("a word").to_owned()).collect()
    };
    FORMATS.iter().map(|(format, file)| (*format, words(file))).collect()
}

#[test]
fn the_page_on_formats_is_up_to_date() {
    let formats = carried();
    let mut whole = format!("{HEAD}| ability | meaning |");
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
