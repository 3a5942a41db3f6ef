//! Beyond numbers that a balance asks for: what is refuted there is written, read back and forced,
//! and of what stays unknown the term is named.

use wastenot_prove::replay::Recorded;
use wastenot_prove::{Counterexample, Outcome, Verdict, judge};
use wastenot_rota::ir::Policy;

use crate::solvers::solvers;
use crate::texts::{THREE, from_the_longest, options, policy};

fn text(params: &str, filter: &str, recheck: &str, claims: &str) -> String {
    let text = from_the_longest(filter, claims).replace("p()", &format!("p({params})"));
    text.replace("me in allowed(t)", &format!("me in allowed(t){recheck}"))
}

/// What the first solver that is there says.
fn judged(policy: &Policy, test: &str) -> Option<Vec<Verdict>> {
    let solver = solvers(test).into_iter().next()?;
    Some(judge(policy, &options(vec![solver], THREE)).expect("an answer"))
}

/// The counterexample, which is read back from its History and ends as it is told.
fn refuted(params: &str, filter: &str, claims: &str, test: &str) -> Option<Counterexample> {
    let text = text(params, filter, "", claims);
    let policy = policy(&text);
    let verdict = judged(&policy, test)?.remove(0);
    let Outcome::Refuted(found) = verdict.outcome else {
        panic!("{params} {filter}: {:?}", verdict.outcome);
    };
    let history = found.history(&policy, verdict.claim.kind.name(), &text);
    let recorded = Recorded::read(&history).unwrap_or_else(|why| panic!("{filter}: {why}"));
    let replay = recorded.force(&policy).unwrap_or_else(|why| panic!("{filter}: {why}"));
    assert!(replay.is_reached(), "{filter}: {:?}", replay.otherwise);
    Some(found)
}

/// CPUs and tasks.
fn size(found: &Counterexample) -> (usize, usize) {
    match found {
        Counterexample::Situation(found) => {
            (found.small.machine.len(), found.situation.tasks.len())
        }
        Counterexample::Wakeup(_) => (0, 0),
    }
}

#[test]
fn what_is_refuted_with_many_tasks_is_read_back_and_forced() {
    let test = "what_is_refuted_with_many_tasks_is_read_back_and_forced";
    for (most, tasks) in [("<= 12", 13), ("!= 9", 9), ("<= 50", 51), ("<= 99", 100)] {
        let filter = format!("queued(v.q) >= 1 and queued(v.q) {most}");
        let Some(found) = refuted("", &filter, "work_conservation", test) else { return };
        assert_eq!(size(&found), (2, tasks), "{most}");
    }
    let filter = "queued(v.q) >= 1 and queued(v.q) <= 12";
    let found = refuted("", filter, "rounds(<= idle_cpus)", test).expect("it was there before");
    assert_eq!(size(&found).1, 14);
}

#[test]
fn as_many_cpus_are_looked_at_as_are_promised() {
    let test = "as_many_cpus_are_looked_at_as_are_promised";
    for (most, cpus) in [("<= 5", 6), ("<= 7", 8), ("< 8", 8), ("!= 8", 8)] {
        let filter = format!("queued(v.q) >= 1 and cpus(machine) {most}");
        let Some(found) = refuted("", &filter, "work_conservation", test) else { return };
        assert_eq!(size(&found), (cpus, 1), "{most}");
    }
}

/// A parameter counts as what the text makes it, what is added as the sum, a share as the whole;
/// and a number that is too large takes nothing from the others.
#[test]
fn numbers_reach_as_far_as_they_come_to() {
    let test = "numbers_reach_as_far_as_they_come_to";
    for (params, most, tasks) in [
        ("k: count = 12", "queued(v.q) <= k", 13),
        ("k: count = 12", "queued(v.q) <= 2 + k", 15),
        ("", "queued(v.q) - 6 <= 6", 13),
        ("", "half(queued(v.q)) <= 5", 12),
        ("", "queued(v.q) * 25% <= 2", 12),
        ("", "queued(v.q) / 4 < 25", 100),
        ("", "queued(v.q) <= 12 and (now >= 5ms or now < 5ms)", 13),
        ("", "queued(v.q) <= 12 and queued(v.q) <= 1000", 13),
    ] {
        let filter = format!("queued(v.q) >= 1 and {most}");
        let Some(found) = refuted(params, &filter, "work_conservation", test) else { return };
        assert_eq!(size(&found), (2, tasks), "{params} {most}");
    }
}

#[test]
fn what_stays_unknown_names_the_term_that_defeats_it() {
    let test = "what_stays_unknown_names_the_term_that_defeats_it";
    let waits = "queued(v.q) >= 1";
    for (filter, recheck, claims, term) in [
        ("queued(v.q) >= 1 and queued(me.q) < 4", "", "work_conservation", "`queued(me.q) < 4`"),
        (
            "queued(v.q) >= 1 and queued(v.q) <= 150",
            "",
            "work_conservation",
            "`queued(v.q) <= 150`",
        ),
        (
            "queued(v.q) >= 1 and cpus(machine) <= 20",
            "",
            "work_conservation",
            "`cpus(machine) <= 20`",
        ),
        ("queued(v.q) >= 1 and queued(v.q) != 9", "", "no_lost_wakeup", "`queued(v.q) != 9`"),
        (
            "not (queued(v.q) = 0 or queued(v.q) > 150)",
            "",
            "work_conservation",
            "`not queued(v.q) > 150`",
        ),
        (
            waits,
            " and queued(me.q) < 4 and queued(v.q) >= 1",
            "work_conservation",
            "`queued(me.q) < 4`",
        ),
    ] {
        let policy = policy(&text("", filter, recheck, claims));
        let Some(verdicts) = judged(&policy, test) else { return };
        let Outcome::Unknown(why) = &verdicts[0].outcome else {
            panic!("{filter}{recheck}: {:?}", verdicts[0].outcome);
        };
        let named = format!("; conditions that fail: {term}");
        assert!(why.ends_with(&named), "{filter}{recheck}: {why}");
    }
}
