//! What is told beside a claim refutes nothing.

use wastenot_prove::{Finding, Options, Outcome, Scope, judge};

use crate::solvers::solvers;
use crate::texts::{TWO, from_the_longest, options, policy};

/// The answer to a claim, and to what is told beside it, of work stealing with this filter.
fn judged(filter: &str, retry: &str, claim: &str, options: &Options) -> (Outcome, Vec<Finding>) {
    let text = from_the_longest(filter, claim)
        .replace("queue q", "cpu { y: time = 0 owner cpu }\n queue q")
        .replace("on block(t)", "on start(t) { here.y := 5ms }\n on block(t)");
    let retry = format!("steal 1 from v.q where me in allowed(t)\n retry {retry}");
    let text = text.replace("steal 1 where me in allowed(t)", &retry);
    let verdict = judge(&policy(&text), options).expect("an answer").remove(0);
    (verdict.outcome, verdict.remarks.into_iter().map(|it| it.finding).collect())
}

#[test]
fn a_filter_that_lets_empty_queues_pass_costs_tries_and_no_claim() {
    for solver in solvers("a_filter_that_lets_empty_queues_pass_costs_tries_and_no_claim") {
        let options = options(vec![solver], TWO);
        for claim in ["work_conservation", "rounds(<= idle_cpus)"] {
            for (filter, sound) in [
                ("queued(v.q) >= 1", true),
                ("running(v) >= 0", false),
                ("queued(v.q) >= 0", false),
                ("queued(v.q) >= 1 or v.y > me.y", false),
            ] {
                let (outcome, remarks) = judged(filter, "untried", claim, &options);
                assert!(matches!(outcome, Outcome::Proved(Scope::Any)), "{filter} {outcome:?}");
                // Of some a solver only says that it does not know.
                assert_eq!(remarks.len(), 1);
                assert_eq!(remarks[0] == Finding::Holds, sound, "{filter}: {remarks:?}");
            }
            // Where tries are bounded they may all be in vain.
            let (outcome, _) = judged("running(v) >= 0", "0", claim, &options);
            assert!(!matches!(outcome, Outcome::Proved(_)), "{outcome:?}");
        }
        assert_eq!(judged("queued(v.q) >= 0", "untried", "no_lost_task", &options).1, []);
    }
}
