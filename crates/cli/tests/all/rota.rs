//! `wastenot rota`: texts of the language of schedulers, as those who write them meet it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;

use crate::shell::{Desk, said};

const UNTIDY: &str = "policy p {\n queue q:fifo per cpu }\n";
const TIDY: &str = "policy p {\n    queue q : fifo per cpu\n}\n";
const WRONG: &str = "policy p {\n\tqeue größe : fifo per core\n}\n";

#[test]
fn faults_are_shown_with_their_place_and_what_to_write() {
    let desk = Desk::new();
    desk.put("wrong.rota", "policy p {\n    queue ready : fifo per core\n}\n");
    let expected = "\
error[R009]: a task runs on a `cpu`, not on a `core`
 --> wrong.rota:2:28
  |
2 |     queue ready : fifo per core
  |                            ^^^^ here
  |
  = help: write `cpu`, or `smt` for the set of SMT siblings

explanation: `wastenot rota error R009`
wrong.rota: 1 fault
";
    assert_eq!(desk.exits(1, "wastenot rota check wrong.rota"), expected);
}

#[test]
fn a_parameter_that_is_set_twice_is_told() {
    let desk = Desk::laid();
    let run = "exec 2>&1; wastenot run scenarios/seeds/workpile.toml --seed 1";
    for name in ["policies/work-stealing.rota", "cfs-4.1"] {
        let line = format!("{run} --scheduler {name},slice=5ms,slice=6ms");
        desk.says(2, &line, &["`slice` is set twice: remove one of the two settings"]);
    }
}

#[test]
fn a_program_of_several_policies_is_called_as_its_file() {
    let desk = Desk::laid();
    let line = "wastenot run scenarios/seeds/workpile.toml --seed 1 --json --scheduler";
    for (name, called) in [
        ("policies/partitions.rota", "partitions"),
        ("policies/work-stealing.rota", "ws"),
        ("policies/work-stealing.rota,slice=5ms", "ws slice=5ms"),
    ] {
        desk.says(0, &format!("{line} {name}"), &[&format!("\"scheduler\": \"{called}\"")]);
    }
}

#[test]
fn json_tells_the_same_to_programs() {
    let desk = Desk::laid();
    desk.put("wrong.rota", WRONG);
    let (json, code) = desk.json("wastenot rota check my.rota wrong.rota --json");
    assert_eq!(code, 1);
    assert_eq!(json["schema"], "wastenot.rota/1");
    assert_eq!(json["files"][0]["policies"][0], "turns");
    assert_eq!(json["files"][0]["diagnostics"], Value::Array(Vec::new()));
    let fault = &json["files"][1]["diagnostics"][0];
    assert_eq!((fault["code"].as_str(), fault["line"].as_u64()), (Some("R008"), Some(2)));
    assert_eq!((fault["column"].as_u64(), fault["end_column"].as_u64()), (Some(2), Some(6)));
    assert_eq!((fault["start"].as_u64(), fault["end"].as_u64()), (Some(12), Some(16)));
}

#[test]
fn fmt_writes_in_place_and_tells_what_it_changed() {
    let desk = Desk::new();
    desk.put("a.rota", UNTIDY);
    desk.put("b.rota", TIDY);
    assert_eq!(desk.exits(1, "wastenot rota fmt --check *.rota"), "a.rota\n");
    assert_eq!(desk.read("a.rota"), UNTIDY);
    assert_eq!(desk.exits(0, "wastenot rota fmt *.rota"), "a.rota\n");
    assert_eq!((desk.read("a.rota"), desk.read("b.rota")), (TIDY.into(), TIDY.into()));
    assert_eq!(desk.exits(0, "wastenot rota fmt --check *.rota"), "");
}

#[test]
fn fmt_of_standard_input_goes_to_standard_output() {
    let desk = Desk::new();
    desk.put("a.rota", UNTIDY);
    assert_eq!(desk.exits(0, "wastenot rota fmt - < a.rota"), TIDY);
    assert_eq!(desk.exits(1, "wastenot rota fmt --check - < a.rota"), "standard input\n");
}

#[test]
fn fmt_leaves_wrong_texts_alone_and_formats_the_others() {
    let desk = Desk::new();
    desk.put("a.rota", WRONG);
    desk.put("b.rota", UNTIDY);
    let output = desk.bash("wastenot rota fmt a.rota b.rota");
    let (text, code) = said(&output);
    assert_eq!(code, 2, "{text}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "b.rota\n");
    assert!(text.contains("error[R008]: unknown word `qeue`"), "{text}");
    assert!(text.contains("a.rota: not changed"), "{text}");
    assert_eq!(desk.read("a.rota"), WRONG);
}

#[test]
fn fmt_keeps_links_and_permissions() {
    let desk = Desk::new();
    desk.put("real.rota", UNTIDY);
    let real = desk.path().join("real.rota");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("ours");
    symlink("real.rota", desk.path().join("link.rota")).expect("a link");
    desk.exits(0, "wastenot rota fmt link.rota");
    assert_eq!(fs::read_to_string(&real).expect("a text"), TIDY);
    assert!(desk.path().join("link.rota").is_symlink());
    assert_eq!(real.metadata().expect("there").permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_code_is_explained_however_it_is_written() {
    let desk = Desk::new();
    for name in ["R008", "r008", "R8", "8"] {
        let text = desk.exits(0, &format!("wastenot rota error {name}"));
        assert!(text.starts_with("# R008: an unknown word\n"), "{text}");
    }
    let (text, _) = said(&desk.bash("wastenot rota error"));
    assert!(text.contains("  R008  an unknown word\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_refuted_policy_is_emitted_only_on_request() {
    let desk = Desk::laid();
    let emit = "exec 2>&1; wastenot rota emit policies/wrong/one-try.rota -o out.c";
    desk.says(
        1,
        emit,
        &["`work_conservation` of `one_try` is refuted: ", "nothing was written", "`--anyway`"],
    );
    assert!(!desk.path().join("out.c").exists());
    let line = format!("{emit} --anyway");
    desk.says(0, &line, &["written, though `work_conservation` of `one_try`"]);
    let written = desk.read("out.c");
    assert!(written.contains("\n// Beware: `work_conservation` of `one_try` is refuted: "));
    let right = "exec 2>&1; wastenot rota emit policies/work-stealing.rota -o right.c";
    let (text, code) = said(&desk.bash(right));
    // Without a solver its claims are proved of small machines only.
    let open = text.is_empty() || text.contains("are not proved: see `wastenot prove policies/");
    assert!(code == 0 && open, "{text}");
    desk.put(
        "live.sh",
        "sed 's/^    on block/    on start(t) { kick here preempt }\\n&/' \
                         policies/work-stealing.rota > live.rota",
    );
    let live = "exec 2>&1; sh live.sh; wastenot rota emit live.rota -o live.c";
    desk.says(1, live, &["live.rota:16: livelock: "]);
}

/// What only solvers refute is refused as well; what nobody proves is written, with a note.
#[test]
fn emit_asks_what_prove_asks() {
    if !wastenot_needs::z3("emit_asks_what_prove_asks") {
        return;
    }
    let desk = Desk::laid();
    let with = |term: &str| {
        let text = desk.read("policies/work-stealing.rota");
        let filter = "filter(me, v) = queued(v.ready) >= 1";
        assert!(text.contains(filter));
        text.replacen(filter, &format!("{filter} and {term}"), 1)
    };
    desk.put("seven.rota", with("cpus(machine) <= 6"));
    let line = "exec 2>&1; wastenot rota emit seven.rota -o seven.c";
    desk.says(1, line, &["is refuted: ", "nothing was written"]);
    desk.put("open.rota", with("queued(me.ready) < 4"));
    let line = "exec 2>&1; wastenot rota emit open.rota -o open.c";
    let text = desk.says(0, line, &["not proved: see `wastenot prove open.rota`"]);
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(desk.path().join("open.c").exists());
}
