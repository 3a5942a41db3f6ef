//! `wastenot hunt`, as those who ask it meet it.

use std::fs;

use crate::shell::{Desk, said};

#[test]
fn a_hunt_that_was_killed_goes_on_to_the_same_answer() {
    let desk = Desk::new();
    let hunt = "wastenot hunt --scheduler cfs-4.1,imbalance=minimum,wakeup=longest-idle --trials 512 --seed 4 \
                --cause scheduler/balancing/beyond-one-hop";
    let whole = desk.exits(1, &format!("{hunt} -o whole"));
    // Killed once a few results are stored, whatever it does then.
    let killed = format!(
        "{hunt} --resume results & hunt=$!
         while test \"$(stat -c %s results 2>/dev/null || echo 0)\" -lt 40000; do sleep 0.02; done
         kill -9 $hunt; wait $hunt; test $? -eq 137"
    );
    desk.exits(0, &killed);
    let stored = fs::metadata(desk.path().join("results")).expect("results").len();
    let (again, code) = said(&desk.bash(&format!("{hunt} --resume results -o again")));
    assert_eq!((again.replace("again/", "whole/"), code), (whole, 1));
    assert!(fs::metadata(desk.path().join("results")).expect("results").len() > stored);
    desk.exits(0, "diff -r whole again");
    // The same command replaces what it wrote before, and refuses to replace an edited file.
    desk.exits(0, &format!(
        "rm again/*.svg; {hunt} --resume results -o again >/dev/null; test $? -eq 1 && diff -r whole again"
    ));
    let edited = format!("echo '# mine' | tee -a again/*.toml; {hunt} --resume results -o again");
    desk.says(2, &edited, &["beyond-one-hop.toml exists already"]);
    desk.exits(0, "grep -h mine again/*.toml");
}

#[test]
fn the_test_that_a_finding_comes_with_fails_until_the_loss_is_gone() {
    let desk = Desk::new();
    let hunt = "wastenot hunt --scheduler gsn-edf --trials 512 -o found";
    desk.exits(1, hunt);
    let found = desk.read("found/deadline.toml");
    let line = found.lines().find_map(|line| line.strip_prefix("#   ")).expect("a test");
    assert!(line.starts_with("wastenot run deadline.toml --fail-if-out-of-band"), "{found}");
    desk.says(1, &format!("cd found; {line}"), &["figure `loss` is ", ", out of its band "]);
    // What the scenario names `found` is now a scheduler without it.
    let control = found.lines().find_map(|line| line.strip_prefix("scheduler = { name = "));
    let control = control.and_then(|it| it.strip_suffix(" }")).expect("a control");
    let mended = found.replace("name = \"gsn-edf\"", &format!("name = {control}"));
    desk.put("found/deadline.toml", mended);
    desk.exits(0, &format!("cd found; {line}"));
}

#[test]
fn a_policy_that_may_not_run_without_leave_is_found_wrong_and_named_by_the_way_to_it() {
    let desk = Desk::laid();
    let hunt = "wastenot hunt --scheduler policies/wrong/no-rescan.rota --allow-unsafe \
                --trials 512 --findings 1 -o found";
    let text = desk.exits(1, hunt);
    let next = text.lines().find_map(|line| line.strip_prefix("Next: ")).expect("what is next");
    desk.exits(0, next);
    let toml = next.split(' ').find(|it| it.ends_with(".toml")).expect("a scenario");
    let found = desk.read(toml);
    assert!(found.contains("name = \"../policies/wrong/no-rescan.rota\""), "{found}");
}

#[test]
fn what_is_not_asked_of_a_scheduler_is_refused() {
    let desk = Desk::new();
    desk.refuses(
        "wastenot hunt --scheduler",
        &[
            ("cfs-4.1 --cause deadline", "cfs-4.1 is not a real-time scheduler", ""),
            (
                "gsn-edf --cause scheduler/placement",
                "`hunt` does not check it for scheduler/placement",
                "",
            ),
            ("cfs-4.1 --cause nope", "`hunt` also accepts deadline, lost-wakeup, starvation", ""),
        ],
    );
}

#[test]
fn a_scenario_without_figures_is_no_test() {
    let line = "wastenot run scenarios/suite/storm.toml --fail-if-out-of-band";
    Desk::laid().says(2, line, &["needs a figure with a band"]);
}

#[test]
fn schedulers_of_jobs_and_of_threads_are_not_held_against_one_another() {
    let desk = Desk::new();
    let line = "wastenot hunt --scheduler gsn-edf --against cfs-6.1";
    desk.says(2, line, &["gsn-edf is a real-time scheduler, and cfs-6.1 is not", "help: "]);
}

#[test]
fn what_cannot_be_hunted_is_refused() {
    let desk = Desk::new();
    for (words, what) in [
        ("--scheduler cfs-6.1 --against cfs-6.1", "--against names the same scheduler"),
        ("--scheduler cfs-6.1 --trials 0", "0 is not in 1.."),
        ("--scheduler cfs-6.1 --cause host/steal", "not a loss that a scheduler causes"),
        ("--scheduler no-such", "there is no scheduler `no-such`"),
        ("--trials 1", "`hunt` needs a scheduler"),
    ] {
        desk.says(2, &format!("wastenot hunt {words}"), &[what]);
    }
}
