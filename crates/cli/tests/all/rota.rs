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
    let (text, code) = said(&desk.bash("wastenot rota check wrong.rota"));
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
    assert_eq!((text.as_str(), code), (expected, 1));
}

#[test]
fn a_parameter_that_is_set_twice_is_told() {
    let desk = Desk::laid();
    let run = "exec 2>&1; wastenot run scenarios/seeds/workpile.toml --seed 1";
    for name in ["policies/work-stealing.rota", "cfs-4.1"] {
        let line = format!("{run} --scheduler {name},slice=5ms,slice=6ms");
        let (text, code) = said(&desk.bash(&line));
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("`slice` is set twice: remove one of the two settings"), "{text}");
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
        let (text, code) = said(&desk.bash(&format!("{line} {name}")));
        let named = format!("\"scheduler\": \"{called}\"");
        assert!(code == 0 && text.contains(&named), "{text}");
    }
}

#[test]
fn json_tells_the_same_to_programs() {
    let desk = Desk::laid();
    desk.put("wrong.rota", WRONG);
    let output = desk.bash("wastenot rota check my.rota wrong.rota --json");
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
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
    let read = |name: &str| fs::read_to_string(desk.path().join(name)).expect("a text");
    assert_eq!(said(&desk.bash("wastenot rota fmt --check *.rota")), ("a.rota\n".into(), 1));
    assert_eq!(read("a.rota"), UNTIDY);
    assert_eq!(said(&desk.bash("wastenot rota fmt *.rota")), ("a.rota\n".into(), 0));
    assert_eq!((read("a.rota"), read("b.rota")), (TIDY.into(), TIDY.into()));
    assert_eq!(said(&desk.bash("wastenot rota fmt --check *.rota")), (String::new(), 0));
}

#[test]
fn fmt_of_standard_input_goes_to_standard_output() {
    let desk = Desk::new();
    desk.put("a.rota", UNTIDY);
    assert_eq!(said(&desk.bash("wastenot rota fmt - < a.rota")), (TIDY.into(), 0));
    let (text, code) = said(&desk.bash("wastenot rota fmt --check - < a.rota"));
    assert_eq!((text.as_str(), code), ("standard input\n", 1));
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
    assert_eq!(fs::read_to_string(desk.path().join("a.rota")).expect("a text"), WRONG);
}

#[test]
fn fmt_keeps_links_and_permissions() {
    let desk = Desk::new();
    desk.put("real.rota", UNTIDY);
    let real = desk.path().join("real.rota");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("ours");
    symlink("real.rota", desk.path().join("link.rota")).expect("a link");
    assert_eq!(said(&desk.bash("wastenot rota fmt link.rota")).1, 0);
    assert_eq!(fs::read_to_string(&real).expect("a text"), TIDY);
    assert!(desk.path().join("link.rota").is_symlink());
    assert_eq!(real.metadata().expect("there").permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_code_is_explained_however_it_is_written() {
    let desk = Desk::new();
    for name in ["R008", "r008", "R8", "8"] {
        let (text, code) = said(&desk.bash(&format!("wastenot rota error {name}")));
        assert_eq!(code, 0, "{text}");
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
    let (text, code) = said(&desk.bash(emit));
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("`work_conservation` of `one_try` is refuted: "), "{text}");
    assert!(text.contains("nothing was written") && text.contains("`--anyway`"), "{text}");
    assert!(!desk.path().join("out.c").exists());
    let (text, code) = said(&desk.bash(&format!("{emit} --anyway")));
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("written, though `work_conservation` of `one_try`"), "{text}");
    let written = std::fs::read_to_string(desk.path().join("out.c")).expect("written");
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
    let (text, code) = said(&desk.bash(live));
    assert!(code == 1 && text.contains("live.rota:16: livelock: "), "{text}");
}

/// What only solvers refute is refused as well; what nobody proves is written, with a note.
#[test]
fn emit_asks_what_prove_asks() {
    let desk = Desk::laid();
    if !said(&desk.bash("wastenot doctor")).0.contains("  yes      solvers") {
        return wastenot_needs::skipped("emit_asks_what_prove_asks", "no solver", "apt install z3");
    }
    let with = |term: &str| {
        let text = std::fs::read_to_string(desk.path().join("policies/work-stealing.rota"));
        let text = text.expect("it is there");
        let filter = "filter(me, v) = queued(v.ready) >= 1";
        assert!(text.contains(filter));
        text.replacen(filter, &format!("{filter} and {term}"), 1)
    };
    desk.put("seven.rota", with("cpus(machine) <= 6"));
    let (text, code) = said(&desk.bash("exec 2>&1; wastenot rota emit seven.rota -o seven.c"));
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("is refuted: ") && text.contains("nothing was written"), "{text}");
    desk.put("open.rota", with("queued(me.ready) < 4"));
    let (text, code) = said(&desk.bash("exec 2>&1; wastenot rota emit open.rota -o open.c"));
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("not proved: see `wastenot prove open.rota`"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(desk.path().join("open.c").exists());
}
