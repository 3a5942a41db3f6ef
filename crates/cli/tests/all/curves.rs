//! `wastenot draw curves`, as those who ask it meet it.

use std::fs;

use crate::root;
use crate::shell::Desk;

fn result() -> String {
    fs::read_to_string(root().join("scenarios/sweeps/small.csv")).expect("the result of small.toml")
}

/// A desk with a result, of which `edit` makes what is on the desk.
fn desk(edit: impl Fn(&str) -> Option<String>) -> Desk {
    let desk = Desk::laid();
    let lines: Vec<String> = result().lines().filter_map(edit).collect();
    desk.put("small.csv", lines.join("\n") + "\n");
    desk
}

fn same(line: &str) -> Option<String> {
    Some(line.to_owned())
}

/// What the picture of a line says in its texts.
fn texts(desk: &Desk, words: &str) -> String {
    desk.exits(0, &format!("wastenot draw curves {words} -o it.svg --force"));
    let svg = desk.read("it.svg");
    let texts = svg.split("aria-label=\"").skip(1).filter_map(|rest| rest.split('"').next());
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_result_that_comes_along_is_that_of_its_sweep() {
    let output = Desk::laid().bash("wastenot bounds sweep scenarios/sweeps/small.toml -o -");
    let new = String::from_utf8(output.stdout).expect("CSV");
    wastenot_golden::holds(root().join("scenarios/sweeps/small.csv"), &new);
}

#[test]
fn a_panel_says_what_it_is_of_and_what_is_no_guarantee() {
    let desk = desk(same);
    let all = texts(&desk, "small.csv");
    for words in [
        "small: share of task sets accepted over total utilization",
        "randfixedsum, periods log-uniform 10-100 ms, implicit deadlines, working sets 4-256 KiB",
        "4 CPUs, 16 tasks",
        "hard, cache delay \u{d7} 1 (no guarantee: observed maxima)",
        "soft, cache delay \u{d7} 0 (no guarantee: averages)",
        "without overheads, a guarantee (hard: deadlines; soft: bounded tardiness)",
        "with overheads, no guarantee (hard: observed maxima; soft: averages)",
        "message passing",
        "Wilson",
    ] {
        assert!(all.contains(words), "{words}\n{all}");
    }
    assert_eq!(all.matches("4 CPUs, 8 tasks").count(), 4, "{all}");
    let one = texts(
        &desk,
        "small.csv --only cpus=4 --only tasks=8 --only tasks=16.0 --only curve='one lock'",
    );
    assert!(one.contains("4 CPUs, randfixedsum") && !one.contains("message passing"), "{one}");
    let over = texts(&desk, "small.csv --over cpus --only cache_delay=1 --only criterion=hard");
    assert!(over.contains("weighted schedulability over CPUs"), "{over}");
    assert!(over.contains("4 tasks per CPU") && over.contains("no overheads"), "{over}");
}

#[test]
fn every_format_and_the_terminal_have_it() {
    let desk = desk(same);
    for (ending, begin) in [("pdf", "%PDF"), ("svg", "<svg"), ("png", "\u{89}PNG")] {
        let line = format!("cat small.csv | wastenot draw curves - --only cpus=2 -o it.{ending}");
        desk.exits(0, &line);
        let bytes = fs::read(desk.path().join(format!("it.{ending}"))).expect("a picture");
        let begins: Vec<u8> = begin.chars().map(|c| c as u8).collect();
        assert!(bytes.starts_with(&begins), "{ending}");
    }
    let text = desk.exits(0, "wastenot draw curves small.csv --only cpus=2");
    assert_eq!(text.matches("total utilization\n").count(), 9, "{text}");
    assert!(text.contains("a no overheads  b one lock  c message passing"), "{text}");
    assert!(text.contains("hard, cache delay \u{d7} 1 (no guarantee: observed maxima)"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 160), "{text}");
}

#[test]
fn what_is_not_known_is_a_gap_and_told() {
    let only = "small.csv --only cpus=4 --only tasks=16 --only criterion=hard --only cache_delay=1";
    assert!(!texts(&desk(same), only).contains("Gaps"));
    let cell = "4,16,2,randfixedsum,log-uniform 10-100 ms,implicit,4-256 KiB,one lock,hard,1,100,";
    let desk = desk(|line| {
        let Some(rest) = line.strip_prefix(cell) else {
            let lost = line.contains(",16,2.5,") && line.contains("message passing,hard,1,");
            return (!lost).then(|| line.to_owned());
        };
        let cells: Vec<&str> = rest.split(',').collect();
        let accepted: u32 = cells[0].parse().expect("accepted");
        assert!(accepted <= 97 && cells[1] == "0", "{line}");
        Some(format!("{cell}{accepted},3,{}", cells[2..].join(",")))
    });
    let told = texts(&desk, only);
    let note = "Gaps: at 1 place, tests exceeded their budget; at 1 place, the file has no \
                line for a curve.";
    assert!(told.contains(note), "{told}");
}

#[test]
fn what_is_wrong_is_told_with_what_to_do() {
    let desk = desk(same);
    let first = result().lines().next().expect("a header").to_owned();
    desk.put("empty.csv", "");
    desk.put("header.csv", format!("{first}\n"));
    desk.put("twice.csv", result() + &result().lines().skip(1).collect::<Vec<_>>().join("\n"));
    let cap = result().replace(",0.5,randfixedsum", ",,exp-light");
    desk.put("cap.csv", cap);
    let wide: Vec<String> =
        (0..20).map(|n| result().replace("implicit", &format!("d{n}"))).collect();
    let rows = wide.iter().flat_map(|text| text.lines().skip(1));
    desk.put(
        "wide.csv",
        std::iter::once(first.as_str()).chain(rows).collect::<Vec<_>>().join("\n"),
    );
    desk.refuses(
        "wastenot draw curves",
        &[
            ("", "`draw curves` needs the result of a sweep", "bounds sweep"),
            ("no.csv", "cannot open no.csv: no such file", "path"),
            (
                "tasks.csv",
                "tasks.csv:2: the file is not a result of a sweep: unknown column `wcet_us`",
                "docs/reference/sweep.md",
            ),
            ("empty.csv", "not a result of a sweep: the file is empty", "bounds sweep"),
            ("header.csv", "the file has a header but no point", "bounds sweep"),
            ("twice.csv", "the file has two lines for `no overheads`, hard", "draw one"),
            ("cap.csv", "some sets have no total", "--over tasks"),
            ("wide.csv", "the picture has 320 panels", "`--only deadlines=d0` (1 of 20)"),
            (
                "small.csv --only cpus=3",
                "no line of the file has cpus=3",
                "use one of the values 2, 4",
            ),
            ("small.csv --only cpu=3", "did you mean `cpus`?", "draw"),
            ("small.csv --only cpus", "write COLUMN=VALUE", "draw"),
            ("small.csv --over periods", "columns total, tasks, cpus, cache_delay", "draw"),
            ("small.csv -o it.csv", "cannot draw it.csv", ".pdf"),
            ("small.csv -o tasks.pdf/x.pdf", "tasks.pdf", "writable directory"),
        ],
    );
    desk.says(2, "wastenot draw small.csv", &["`wastenot draw curves small.csv`"]);
    desk.says(2, "wastenot draw", &["wastenot draw cores trace.dat"]);
}
