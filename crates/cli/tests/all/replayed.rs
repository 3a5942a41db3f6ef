//! `wastenot prove --replay`: a counterexample, forced.

use serde_json::Value;

use crate::shell::Desk;

/// A desk with the counterexample of a policy of the gallery.
fn desk(wrong: &str) -> Desk {
    let desk = Desk::laid();
    let line = format!(
        "wastenot prove policies/wrong/{wrong}.rota --solver none --allow-unsafe --cex cex.wn"
    );
    desk.exits(1, &line);
    desk
}

#[test]
fn it_goes_wrong_on_its_own_text_and_otherwise_on_a_mended_one() {
    for (wrong, says) in [
        ("one-try", "Step 5 differs: CPU 2 takes task 0 from `ready` of CPU 0."),
        ("no-rescan", "Step 4 differs: the enqueuer of task 0 claims CPU 0"),
    ] {
        let desk = desk(wrong);
        desk.says(1, "wastenot prove --replay cex.wn", &["The policy fails as recorded: "]);
        let mended = "wastenot prove --replay cex.wn --scheduler mended.rota";
        let text = desk.exits(0, mended);
        assert!(text.replace('\n', " ").contains(says), "{text}");
        let (json, _) = desk.json(&format!("{mended} --json"));
        assert_eq!(json["schema"], "wastenot.prove.replay/1");
        assert_eq!((&json["reached"], &json["still"]), (&Value::Bool(false), &Value::Null));
    }
}

#[test]
fn what_does_not_fit_is_told() {
    let desk = desk("minimum-for-all");
    let cases = [
        ("--scheduler global-fifo", "cannot open global-fifo"),
        ("--scheduler policies/wrong/no-chain.rota", "uses an unsafe protocol"),
        ("--scheduler policies/fair-vtime.rota", "it has no queue `ready`, but q"),
        ("--scheduler none.rota", "none.rota"),
        ("--scheduler scenarios/seeds/workpile.toml", "workpile.toml is not valid Rota"),
        ("--scheduler policies/partitions.rota", "the policy `minimum_for_all`, which is missing"),
        ("--claim wait", "cannot be used with"),
        ("policies/fair-vtime.rota", "cannot be used with"),
    ];
    for (options, says) in cases {
        desk.says(2, &format!("wastenot prove --replay cex.wn {options}"), &[says, "help: "]);
    }
    let scrubbed = "wastenot convert cex.wn -o no.wn --scrub && wastenot prove --replay no.wn";
    desk.says(2, scrubbed, &["help: "]);
    // Each of the two verbs names the other's file as what it is.
    desk.says(2, "wastenot prove --replay trace.dat", &["trace.dat is not a counterexample"]);
    desk.says(2, "wastenot what-if cex.wn", &["`wastenot prove --replay cex.wn`"]);
}

#[test]
fn its_picture_tells_every_step() {
    let desk = desk("no-chain");
    let text = desk.exits(0, "wastenot draw cores cex.wn");
    for said in [
        "at first  every CPU runs another task\n",
        "       8  the enqueuer of task 1 claims CPU 0 for it and kicks it\n",
        "      10  CPU 1 sleeps\n",
        "task1 │",
        "so  task 1 waits, CPU 1 sleeps",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    let (json, code) = desk.json("wastenot check cex.wn --json");
    assert_eq!((code, json["waste"]["cpu_ns"].as_u64()), (0, Some(6_000)));
}
