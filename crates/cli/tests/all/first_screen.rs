//! What stands first: a screen of text, the top of a page.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::root;
use crate::shell::{Desk, said};

/// All traces of the repository, by their names in `traces/`.
fn traces() -> Vec<String> {
    let all = ["dat", "data"].map(|ending| wastenot_needs::files(root().join("traces"), ending));
    let name = |file: &PathBuf| file.file_name().expect("a name").to_string_lossy().into_owned();
    let names: Vec<String> = all.concat().iter().map(name).collect();
    assert!(names.len() > 50, "{names:?}");
    names
}

#[test]
fn of_every_trace_what_matters_fits_a_screen() {
    let desk = Desk::laid();
    let mut longest = 0;
    for trace in traces() {
        let text = desk.exits(0, &format!("wastenot check traces/{trace}"));
        // A command is on one line, however long the name of its file: a terminal wraps it. The
        // line of the prompt is on the screen, too.
        let wide = |line: &str| line.chars().count();
        let lines = text.lines().map(|line| wide(line).div_ceil(80).max(1)).sum::<usize>();
        assert!(lines <= 23, "{lines} lines\n{text}");
        let words = |line: &&str| !line.starts_with("Next: ");
        assert!(text.lines().filter(words).all(|line| wide(line) <= 80), "{text}");
        assert!(text.contains("add --text"), "what is left out is said\n{text}");
        longest = longest.max(lines);
    }
    assert!(longest > 15, "it is used: {longest} lines");
}

#[test]
fn the_screen_holds_five_figures_with_bars_the_worst_moment_and_the_next_command() {
    let (text, _) = said(&Desk::laid().bash("wastenot check trace.dat"));
    for line in
        ["Waste, at least", "CPU time busy", "Gain, at most", "Time with waste", "balancing"]
    {
        let line = text.lines().find(|it| it.trim_start().starts_with(line)).expect(line);
        assert!(line.contains('[') && line.contains("] of ") && line.contains(" % "), "{line}");
    }
    assert!(text.contains("5.6 - 10.8 % [#       ] of busy CPU time"), "a range\n{text}");
    assert!(text.contains("Worst moment, @6."), "{text}");
    let next = text.lines().find_map(|line| line.strip_prefix("Next: ")).expect("a command");
    let (drawn, code) = said(&Desk::laid().bash(next));
    assert!(code == 0 && drawn.contains('│'), "{next}\n{drawn}");
}

#[test]
fn what_is_not_on_the_screen_is_in_the_whole_text() {
    let desk = Desk::laid();
    let (screen, _) = said(&desk.bash("wastenot check trace.dat"));
    let (whole, _) = said(&desk.bash("wastenot check trace.dat --text"));
    let (report, _) = said(&desk.bash("wastenot report trace.dat --text"));
    assert_eq!(whole, report);
    let shared = screen.lines().take_while(|line| !line.contains("add --text"));
    assert!(shared.eq(whole.lines().take(screen.lines().count() - 2)), "{screen}\n{whole}");
    for part in ["Kernel", "Assumptions", "Waits by length", "Violations, longest"] {
        assert!(whole.contains(part) && !screen.contains(part), "{part}\n{screen}");
    }
}

#[test]
fn a_page_begins_with_verdict_five_figures_and_the_worst_moment() {
    let desk = Desk::laid();
    for trace in ["trace.dat", "perf.data", "traces/6.12-t4x4-fmt-v7-tscclock.dat"] {
        let line = format!("wastenot report {trace} -o - --force");
        let output = desk.bash(&line);
        let page = String::from_utf8(output.stdout).expect("text");
        let first = page.split("<details>").next().expect("a first screen");
        assert!(first.contains("class=\"verdict\""), "{trace}");
        assert_eq!(first.matches("<dd class=\"bar\">").count(), 5, "{trace}");
        let worst = first.contains("class=\"worst\"");
        assert_eq!(worst, trace == "trace.dat", "{trace} has a worst moment or none");
        assert_eq!(first.contains("<img"), worst, "{trace}: its picture");
        let known = names(&page, " id=\"");
        let linked = names(&page, " href=\"#");
        assert!(linked.is_subset(&known), "{trace}: every link leads somewhere");
        assert_eq!(first.contains("<p data-from=\""), worst, "{trace}: it leads to its time");
    }
}

/// What follows `mark`, up to the next quote.
fn names<'p>(page: &'p str, mark: &str) -> BTreeSet<&'p str> {
    page.split(mark).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}
