//! `prove` as its users meet it: exit codes, hints, what is asked for and what is not.

use std::fs;

use serde_json::Value;
use wastenot_needs::z3;

use crate::shell::{Desk, said};

#[test]
fn exit_codes_tell_proved_refuted_failed_and_unknown_apart() {
    let desk = Desk::laid();
    desk.put("empty.rota", "// nothing\n");
    for (line, expected) in [
        ("policies/fair-vtime.rota --claim hierarchy", 0),
        // Of small machines only: of larger ones nothing is known.
        ("policies/global-fifo.rota --claim no_lost_task", 3),
        ("policies/wrong/nobody-takes.rota", 1),
        ("policies/wrong/endless-leader.rota", 1),
        ("policies/wrong/no-chain.rota", 2),
        ("none.rota", 2),
        ("empty.rota", 3),
    ] {
        desk.exits(expected, &format!("wastenot prove {line} --solver none"));
    }
}

/// What there is to be read of nothing is short.
#[test]
fn a_file_without_policy_or_claim_is_told_what_it_lacks() {
    let desk = Desk::laid();
    desk.put("empty.rota", "// nothing\n");
    desk.put("none.sh", "sed '/^ *prove/d; /^ *wait(/d' policies/global-fifo.rota > none.rota");
    let text = desk.says(3, "wastenot prove empty.rota", &["The file has no policy: begin with"]);
    assert!(!text.contains("Assumptions"), "{text}");
    let line = "sh none.sh; wastenot prove none.rota";
    desk.says(3, line, &["The file makes no claim: write `prove "]);
}

#[test]
fn what_is_wrong_with_a_line_is_said_with_what_to_write() {
    let desk = Desk::laid();
    for (line, what) in [
        ("prove", "`prove` needs a policy file"),
        ("rota", "`error` or `emit`"),
        ("prove policies/global-fifo.rota --scheduler mended.rota", "cannot be used with"),
        ("prove policies/global-fifo.rota --claim foo", "choose one of its claims: no_lost_task, "),
        ("prove policies/work-stealing.rota --claim rouns", "did you mean `--claim rounds`?"),
        ("prove policies/work-stealing.rota --claim isolation", "does not claim `isolation`"),
        ("prove policies/work-stealing.rota --certificate policies", "policies already exists"),
        ("prove policies/wrong/no-chain.rota", "add `--allow-unsafe`"),
        (
            "prove policies/work-stealing.rota --cex mended.rota",
            "overwrite it with `--force`, or give another file: `--cex FILE`",
        ),
        ("prove policies/work-stealing.rota --cex policies", "give a file: `--cex FILE`"),
        (
            "run scenarios/seeds/workpile.toml --scheduler policies/wrong/no-chain.rota",
            "add `--allow-unsafe`",
        ),
    ] {
        desk.says(2, &format!("wastenot {line}"), &[what]);
    }
}

#[test]
fn the_next_line_is_one_to_be_typed() {
    let desk = Desk::laid();
    let policy = "policies/wrong/no-chain.rota --allow-unsafe --solver none";
    let (text, _) = said(&desk.bash(&format!("wastenot prove {policy}")));
    let next = text.lines().find_map(|line| line.strip_prefix("Next: ")).expect("a next line");
    desk.exits(0, &format!("{next} -o next.svg"));
}

/// Where solvers were left out they are asked next; where there are none nothing is to be typed,
/// and what nobody knows is told once for all of a name.
#[test]
fn without_solvers_the_next_line_does_not_ask_for_both() {
    let desk = Desk::laid();
    let claims = "policies/fair-vtime.rota --claim lag --claim no_lost_task";
    let line = format!("wastenot prove {claims} --solver none");
    let text = desk.says(3, &line, &["\nNext: wastenot prove policies/fair-vtime.rota\n"]);
    let open = text.lines().filter(|line| line.trim_start().starts_with("served ")).count();
    assert_eq!(open, 1, "{text}");
    let none = "unset WASTENOT_Z3 WASTENOT_CVC5; w=$(command -v wastenot); PATH=/none $w prove";
    let text = desk.exits(3, &format!("{none} {claims}"));
    assert!(text.contains("exploring small machines only") && !text.contains("Next: "), "{text}");
}

#[test]
fn how_far_a_claim_was_explored_is_told_beside_it() {
    let desk = Desk::laid();
    let line = "wastenot prove policies/global-fifo.rota --solver none --cpus 1 --tasks 2";
    let text = desk.exits(3, line);
    let row = |claim: &str| text.lines().find(|line| line.contains(claim)).unwrap_or_default();
    assert!(row("no_lost_task").contains("1 CPU, 2 tasks"), "{text}");
    assert!(!text.contains("1 CPUs"), "{text}");
}

#[test]
fn policies_of_one_file_are_told_apart() {
    let desk = Desk::laid();
    let line = "sed 's/>= 1/>= 2/' policies/partitions.rota > p.rota; \
                wastenot prove p.rota --solver none";
    desk.says(1, line, &["Counterexample to work_conservation of batch", "Refuted: "]);
    let (text, _) = said(&desk.bash("wastenot prove p.rota --solver none --json"));
    assert!(text.contains("\"against_work_conservation_batch\""), "{text}");
}

#[test]
fn a_certificate_is_asked_again_and_what_was_deleted_from_it_is_named() {
    if !z3("a_certificate_is_asked_again_and_what_was_deleted_from_it_is_named") {
        return;
    }
    let desk = Desk::laid();
    desk.exits(0, "wastenot prove policies/global-fifo.rota --certificate c");
    let text = desk.says(0, "wastenot prove --recheck c", &["answers are as expected"]);
    let row = ["fifo", "work_conservation", "shown"];
    assert!(text.lines().any(|line| line.split_whitespace().eq(row)), "{text}");
    let place = desk.path().join("c/manifest.json");
    let mut manifest: Value =
        serde_json::from_slice(&fs::read(&place).expect("it is there")).expect("JSON");
    let obligations = manifest["claims"][0]["obligations"].as_array_mut().expect("a list");
    let gone = obligations.remove(0);
    fs::write(&place, manifest.to_string()).expect("it is written");
    let text = desk.exits(2, "wastenot prove --recheck c");
    let missing = format!("is missing: {}", gone["what"].as_str().expect("a sentence"));
    assert!(text.contains(&missing) && text.contains("create the certificate again"), "{text}");
    desk.says(2, "wastenot prove --recheck policies", &["so the folder is not a certificate"]);
}

const STEALING: &str = "\
policy p() {
    queue q : fifo per cpu
    on new(t), wake(t), preempt(t), yield(t) { put t in home(t).q }
    on block(t), exit(t) { }
    on dispatch(c) { take c.q else balance idle }
    balance idle {
        level machine
        filter(me, v) = queued(v.q) >= 1
        choose argmax queued(v.q)
        steal 1 where me in allowed(t)
    }
    prove hierarchy, work_conservation, wait(dispatches <= position + direct_runs)
}
";

/// One refuted claim decides beside one that is proved and one that nobody knows.
#[test]
fn of_several_claims_the_worst_decides_the_exit_code() {
    let desk = Desk::laid();
    desk.put("p.rota", STEALING.replace(">= 1", ">= 2"));
    for (claims, expected) in [
        ("--claim hierarchy", 0),
        ("--claim wait", 3),
        ("--claim hierarchy --claim wait", 3),
        ("--claim work_conservation --claim hierarchy", 1),
        ("", 1),
    ] {
        desk.exits(expected, &format!("wastenot prove p.rota {claims} --solver none"));
    }
}

/// A build that checks certificates stops at a claim that is not shown.
#[test]
fn a_certificate_of_what_is_not_shown_fails() {
    if !z3("a_certificate_of_what_is_not_shown_fails") {
        return;
    }
    let desk = Desk::laid();
    desk.put("refuted.rota", STEALING.replace(">= 1", ">= 2"));
    // True, but what handlers make of a variable in the long run is not asked.
    let counts = "cpu { n: count = 0 owner cpu }\n    on start(t) { here.n += 1 }\n    queue q";
    let unknown = STEALING.replace(">= 1", ">= 1 and v.n >= 0").replace("queue q", counts);
    desk.put("unknown.rota", &unknown);
    for (file, answer, word) in [("refuted", 1, "refuted"), ("unknown", 3, "not shown")] {
        let certify = format!("wastenot prove {file}.rota --certificate {file}");
        desk.exits(answer, &certify);
        let text = desk.exits(answer, &format!("wastenot prove --recheck {file}"));
        let row = format!("p work_conservation {word}");
        let found = text.lines().any(|line| line.split_whitespace().eq(row.split(' ')));
        assert!(found && text.contains("the certificate does not"), "{text}");
        let only = format!("wastenot prove --recheck {file} --claim hierarchy");
        desk.exits(0, &only);
    }
    // A claim that the certificate leaves out is one that it does not show.
    let line = "wastenot prove unknown.rota --claim hierarchy --certificate part";
    let line = format!("{line} && wastenot prove --recheck part");
    desk.says(3, &line, &["work_conservation not in the certificate"]);
}

#[test]
fn a_warning_stands_with_its_line_beside_claims_that_hold() {
    let desk = Desk::laid();
    let more = "    on start(t) { kick here preempt }\n    prove hierarchy";
    desk.put("p.rota", STEALING.replace("    prove hierarchy", more));
    let line = "wastenot prove p.rota --claim hierarchy --solver none";
    desk.says(0, line, &[" 12 livelock "]);
    let (json, _) = desk.json(&format!("{line} --json"));
    let warning = &json["warnings"][0];
    assert_eq!((warning["line"].as_u64(), warning["code"].as_str()), (Some(12), Some("livelock")));
}
