//! What is told beside a claim refutes nothing.

use std::time::Duration;

use wastenot_prove::explore::Bounds;
use wastenot_prove::{Finding, Options, Outcome, Scope, judge};

use crate::solvers::solvers;

/// The answer to a claim, and to what is told beside it, of work stealing with this filter.
fn judged(filter: &str, retry: &str, claim: &str, options: &Options) -> (Outcome, Vec<Finding>) {
    let text = format!(
        "policy p() {{
            cpu {{ y: time = 0 owner cpu }}
            queue q : fifo per cpu
            on new(t), wake(t), preempt(t), yield(t) {{ put t in home(t).q }}
            on start(t) {{ here.y := 5ms }}
            on block(t), exit(t) {{ }}
            on dispatch(c) {{ take c.q else balance idle }}
            balance idle {{
                level machine
                filter(me, v) = {filter}
                choose argmax queued(v.q)
                steal 1 from v.q where me in allowed(t)
                retry {retry}
            }}
            prove {claim}
        }}"
    );
    let program = wastenot_rota::compile(&text).expect("it compiles");
    let verdict = judge(&program.policies[0], options).expect("an answer").remove(0);
    (verdict.outcome, verdict.remarks.into_iter().map(|it| it.finding).collect())
}

#[test]
fn a_filter_that_lets_empty_queues_pass_costs_tries_and_no_claim() {
    for solver in solvers("a_filter_that_lets_empty_queues_pass_costs_tries_and_no_claim") {
        let bounds = Bounds { cpus: 2, tasks: 2, events: 1 };
        let patience = Duration::from_secs(20);
        let options = Options { solvers: vec![solver], cache: None, patience, bounds };
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
