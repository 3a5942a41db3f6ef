//! Every example in help, README and the pages of `docs` runs, and does what stands there.

use std::fs;
use std::path::Path;

use snapbox::Assert;
use wastenot_needs::skipped;

use crate::links::pages;
use crate::root;
use crate::shell::{Desk, said};

/// All verbs, as the overview lists them, each followed by its own verbs.
pub(crate) fn verbs(desk: &Desk) -> Vec<String> {
    let overview = desk.exits(0, "wastenot --help");
    // Ten columns for the group, then a verb a line, up to the next empty line.
    let lines = overview
        .lines()
        .skip_while(|line| !line.starts_with("Start "))
        .take_while(|line| !line.is_empty());
    let verb = |line: &str| line.get(10..)?.split_whitespace().next().map(str::to_owned);
    let verbs: Vec<String> = lines.filter_map(verb).collect();
    assert!(verbs.len() == 21 && verbs.iter().any(|verb| verb == "what-if"), "{verbs:?}");
    verbs.into_iter().flat_map(|verb| with_own(desk, verb)).collect()
}

/// A verb, and those that its help lists: `rota`, `rota check`.
fn with_own(desk: &Desk, verb: String) -> Vec<String> {
    let (help, _) = said(&desk.bash(&format!("wastenot {verb} --help")));
    let own = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let own = own.lines().take_while(|line| !line.is_empty());
    let own = own.filter_map(|line| line.split_whitespace().next());
    let own: Vec<String> =
        own.filter(|own| *own != "help").map(|own| format!("{verb} {own}")).collect();
    std::iter::once(verb).chain(own).collect()
}

#[test]
fn every_example_in_help_works() {
    let desk = Desk::laid();
    for verb in verbs(&desk) {
        let help = desk.exits(0, &format!("wastenot {verb} --help"));
        let (_, examples) = help.split_once("Examples:\n").unwrap_or_else(|| {
            panic!("`wastenot {verb} --help` shows no examples");
        });
        let lines = examples.lines().map(str::trim).filter(|line| !line.is_empty());
        // What records this machine is tried in `record`, and what needs kernels in `lab`, where
        // that is allowed.
        let elsewhere = |line: &&str| {
            let kernels = ["--on 7.2", "--conforms"].iter().any(|it| line.contains(it));
            let needs_kernels = kernels || line.starts_with("wastenot lab");
            line.starts_with("sudo ") || needs_kernels
        };
        for line in lines.filter(|line| !elsewhere(line)) {
            // Each begins at a fresh desk: two examples may write the same file.
            let line = &match verb.as_str() {
                "view" => format!("timeout --preserve-status --signal=INT 3 {line}"),
                _ => line.to_owned(),
            };
            let (text, code) = said(&Desk::laid().bash(line));
            if verb == "watch" && code == 2 && text.contains("help: run the command as root") {
                skipped(line, "it may not", "run as root");
                continue;
            }
            // 1 is an answer: a budget in an example may well be exceeded by our trace.
            assert!(code == 0 || code == 1, "{line}\nexit code {code}\n{text}");
        }
    }
}

#[test]
fn every_help_page_fits_80_columns_and_breaks_no_command() {
    let desk = Desk::new();
    for verb in verbs(&desk) {
        let (help, _) = said(&desk.bash(&format!("wastenot {verb} --help")));
        let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{verb}: {wide:#?}");
        let broken = |line: &&str| line.matches('`').count() % 2 == 1;
        let broken: Vec<&str> = help.lines().filter(broken).collect();
        assert!(broken.is_empty(), "{verb}: a command goes on in the next line: {broken:#?}");
    }
}

/// Puts the files on the desk that a page has its reader write: blocks whose first line is a
/// language and a name, as in "```toml first.toml".
fn put_files(desk: &Desk, page: &str) {
    for block in page.split("\n```").skip(1) {
        let Some((info, text)) = block.split_once('\n') else { continue };
        if let Some((_, name)) = info.split_once(' ') {
            assert!(!desk.path().join(name).exists(), "{name} is on the desk already");
            desk.put(name, format!("{text}\n"));
        }
    }
}

/// Runs the `console` blocks of a page and holds their output against what stands there; `[..]`
/// stands for anything on a line and `...` for any lines.
fn runs_as_written(page: &str) {
    let path = root().join(page);
    let old = fs::read_to_string(&path).expect(page);
    let desk = Desk::laid();
    put_files(&desk, &old);
    let solvers = wastenot_needs::has("z3");
    let mut new = String::new();
    let mut blocks = old.split("```console\n");
    new += blocks.next().unwrap_or_default();
    for block in blocks {
        let (session, rest) = block.split_once("```").expect("a closed block");
        new += "```console\n";
        for step in session.split_inclusive('\n').collect::<String>().split("$ ").skip(1) {
            let (line, expected) = step.split_once('\n').unwrap_or((step, ""));
            // As on a terminal: what goes to stderr stands where it was said.
            let (actual, _) = said(&desk.bash(&format!("exec 2>&1; {line}")));
            let same = Assert::new().try_eq(None, actual.clone().into(), expected.into()).is_ok();
            let other = !solvers && line.starts_with("wastenot prove");
            if other && !same {
                skipped(&format!("what `{line}` says"), "no solver", "apt install z3");
            }
            new += &format!("$ {line}\n{}", if same || other { expected } else { &actual });
        }
        new += "```";
        new += rest;
    }
    if new != old && std::env::var("SNAPSHOTS").is_ok_and(|action| action == "overwrite") {
        fs::write(&path, &new).expect(page);
    } else {
        snapbox::assert_data_eq!(new, snapbox::Data::text(old).raw());
    }
}

/// A test for each page with sessions, and the list of these pages.
macro_rules! pages_run_as_written {
    ($($test:ident: $page:literal,)+) => {
        const PAGES: &[&str] = &[$($page),+];
        $(
            #[test]
            fn $test() {
                runs_as_written($page);
            }
        )+
    };
}

pages_run_as_written! {
    the_readme_runs_as_written: "README.md",
    the_page_on_bounds_runs_as_written: "docs/explain/bounds.md",
    the_page_on_the_simulator_runs_as_written: "docs/explain/simulate.md",
    the_page_on_what_if_runs_as_written: "docs/explain/what-if.md",
    the_guide_to_ci_runs_as_written: "docs/how-to/ci.md",
    the_guide_to_sharing_runs_as_written: "docs/how-to/share.md",
    the_tutorial_on_deadlines_runs_as_written: "docs/tutorials/deadlines.md",
    the_tutorial_on_a_first_trace_runs_as_written: "docs/tutorials/first-trace.md",
    the_tutorial_on_policies_runs_as_written: "docs/tutorials/proved-policy.md",
    the_tutorial_on_simulating_runs_as_written: "docs/tutorials/simulate.md",
}

#[test]
fn every_page_with_sessions_is_run() {
    let mut sessions = pages().into_iter().filter(|page| {
        let text = fs::read_to_string(page).expect("a page");
        text.contains("```console\n")
    });
    let run = |page: &Path| PAGES.iter().any(|name| page == root().join(name));
    let other = sessions.find(|page| !run(page));
    assert_eq!(other, None, "its `console` blocks are not run");
}

#[test]
fn the_machines_named_beside_the_recordings_fit_them() {
    let text = fs::read_to_string(root().join("traces/README.md")).expect("traces/README.md");
    let desk = Desk::laid();
    let mut found = 0;
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('`').collect();
        let (name, machine) = (cells[1], cells[cells.len() - 2]);
        let trace = format!("$(ls traces/*-{name}-barrier.dat | tail -1)");
        let one = format!("wastenot check {trace} --machine '{machine}' --json");
        desk.says(0, &one, &["\"topology_known\": true"]);
        found += 1;
    }
    assert_eq!(found, 5);
}
