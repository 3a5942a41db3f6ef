//! `wastenot hunt`, as those who ask it meet it.

use std::fs;

use crate::shell::{Desk, said};

#[test]
fn a_hunt_that_was_killed_goes_on_to_the_same_answer() {
    let desk = Desk::new();
    let hunt = "wastenot hunt --scheduler cfs-4.1,imbalance=minimum,wakeup=longest-idle --trials 512 --seed 4 \
                --cause scheduler/balancing/beyond-one-hop";
    let (whole, code) = said(&desk.bash(&format!("{hunt} -o whole")));
    assert_eq!(code, 1, "{whole}");
    // Killed once a few results are stored, whatever it does then.
    let killed = format!(
        "{hunt} --resume results & hunt=$!
         while test \"$(stat -c %s results 2>/dev/null || echo 0)\" -lt 40000; do sleep 0.02; done
         kill -9 $hunt; wait $hunt; test $? -eq 137"
    );
    let (text, code) = said(&desk.bash(&killed));
    assert_eq!(code, 0, "it ended before it was killed: {text}");
    let stored = fs::metadata(desk.path().join("results")).expect("results").len();
    let (again, code) = said(&desk.bash(&format!("{hunt} --resume results -o again")));
    assert_eq!((again.replace("again/", "whole/"), code), (whole, 1));
    assert!(fs::metadata(desk.path().join("results")).expect("results").len() > stored);
    let (text, code) = said(&desk.bash("diff -r whole again"));
    assert_eq!(code, 0, "{text}");
    // The same command replaces what it wrote before, and refuses to replace an edited file.
    let (text, code) = said(&desk.bash(&format!(
        "rm again/*.svg; {hunt} --resume results -o again >/dev/null; test $? -eq 1 && diff -r whole again"
    )));
    assert_eq!(code, 0, "{text}");
    let edited = format!("echo '# mine' | tee -a again/*.toml; {hunt} --resume results -o again");
    let (text, code) = said(&desk.bash(&edited));
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("beyond-one-hop.toml exists already"), "{text}");
    let (text, code) = said(&desk.bash("grep -h mine again/*.toml"));
    assert_eq!(code, 0, "{text}");
}

#[test]
fn the_test_that_a_finding_comes_with_fails_until_the_loss_is_gone() {
    let desk = Desk::new();
    let hunt = "wastenot hunt --scheduler gsn-edf --trials 512 -o found";
    let (text, code) = said(&desk.bash(hunt));
    assert_eq!(code, 1, "{text}");
    let found = fs::read_to_string(desk.path().join("found/deadline.toml")).expect("a finding");
    let line = found.lines().find_map(|line| line.strip_prefix("#   ")).expect("a test");
    assert!(line.starts_with("wastenot run deadline.toml --fail-if-out-of-band"), "{found}");
    let (text, code) = said(&desk.bash(&format!("cd found; {line}")));
    assert_eq!(code, 1, "the scheduler has the loss: {text}");
    assert!(text.contains("figure `loss` is out of its band"), "{text}");
    // What the scenario names `found` is now a scheduler without it.
    let control = found.lines().find_map(|line| line.strip_prefix("scheduler = { name = "));
    let control = control.and_then(|it| it.strip_suffix(" }")).expect("a control");
    let mended = found.replace("name = \"gsn-edf\"", &format!("name = {control}"));
    fs::write(desk.path().join("found/deadline.toml"), mended).expect("a file");
    let (text, code) = said(&desk.bash(&format!("cd found; {line}")));
    assert_eq!(code, 0, "it is gone: {text}");
}

#[test]
fn a_policy_that_may_not_run_without_leave_is_found_wrong_and_named_by_the_way_to_it() {
    let desk = Desk::laid();
    let hunt = "wastenot hunt --scheduler policies/wrong/no-rescan.rota --allow-unsafe \
                --trials 512 --findings 1 -o found";
    let (text, code) = said(&desk.bash(hunt));
    assert_eq!(code, 1, "{text}");
    let next = text.lines().find_map(|line| line.strip_prefix("Next: ")).expect("what is next");
    let (text, code) = said(&desk.bash(next));
    assert_eq!(code, 0, "{text}");
    let toml = next.split(' ').find(|it| it.ends_with(".toml")).expect("a scenario");
    let found = fs::read_to_string(desk.path().join(toml)).expect("a scenario");
    assert!(found.contains("name = \"../policies/wrong/no-rescan.rota\""), "{found}");
}

#[test]
fn what_is_not_asked_of_a_scheduler_is_refused() {
    let desk = Desk::new();
    for (line, why) in [
        ("cfs-4.1 --cause deadline", "cfs-4.1 is not a real-time scheduler"),
        ("gsn-edf --cause scheduler/placement", "hunt does not check it for scheduler/placement"),
        ("cfs-4.1 --cause nope", "`hunt` also accepts deadline, lost-wakeup, starvation"),
    ] {
        let (text, code) = said(&desk.bash(&format!("wastenot hunt --scheduler {line}")));
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(why), "{text}");
    }
}

#[test]
fn a_scenario_without_figures_is_no_test() {
    let line = "wastenot run scenarios/suite/storm.toml --fail-if-out-of-band";
    let (text, code) = said(&Desk::laid().bash(line));
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("needs a figure with a band"), "{text}");
}

#[test]
fn schedulers_of_jobs_and_of_threads_are_not_held_against_one_another() {
    let desk = Desk::new();
    let (text, code) = said(&desk.bash("wastenot hunt --scheduler gsn-edf --against cfs-6.1"));
    assert_eq!(code, 2);
    assert!(text.contains("gsn-edf is a real-time scheduler, and cfs-6.1 is not"), "{text}");
    assert!(text.contains("help: "), "{text}");
}

#[test]
fn what_cannot_be_hunted_is_refused() {
    let desk = Desk::new();
    for (words, what) in [
        ("--scheduler cfs-6.1 --against cfs-6.1", "--against names the same scheduler"),
        ("--scheduler cfs-6.1 --trials 0", "0 is not in 1.."),
        ("--scheduler cfs-6.1 --cause host/steal", "not a loss that a scheduler causes"),
        ("--scheduler no-such", "there is no scheduler `no-such`"),
        ("--trials 1", "hunt needs a scheduler"),
    ] {
        let (text, code) = said(&desk.bash(&format!("wastenot hunt {words}")));
        assert_eq!(code, 2, "{words}: {text}");
        assert!(text.contains(what), "{words}: {text}");
    }
}
