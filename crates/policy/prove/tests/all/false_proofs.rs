//! Claims that were once proved of policies that do not have them.

use wastenot_prove::explore::Bounds;
use wastenot_prove::solver::Solver;
use wastenot_prove::{Finding, Judgement, Outcome, Scope, Verdict, report};

use crate::solvers::solvers;
use crate::texts::{self, TWO, is_proved, options, policy, stealing, with_and_without};

/// A policy with one queue that is ordered, and whatever else.
fn keyed(vars: &str, wake: &str, stop: &str, claim: &str) -> String {
    format!(
        "policy p() {{
            task {{ vt: time = 0 owner queue }}
            cpu {{ {vars} }}
            queue q : ordered(vt) per machine
            queue z : fifo per machine
            on new(t), wake(t) {{ {wake} }}
            on stop(t, ran) {{ {stop} }}
            on preempt(t), yield(t) {{ put t in machine.q }}
            on block(t), exit(t) {{ }}
            on dispatch(c) {{ take machine.q else take machine.z }}
            prove {claim}
        }}"
    )
}

/// Work stealing with this re-check.
fn rechecking(asks: &str, claim: &str) -> String {
    let text = stealing("queued(v.q) >= 1", claim);
    text.replace("me in allowed(t)", &format!("me in allowed(t) and ({asks})"))
}

const LEAST_TWICE: &str = "let a = min_vt(machine.q)
    if min_vt(machine.q) <= a { t.vt := max(t.vt, a) }
    put t in machine.q";
const NO_FURTHER_BEHIND: &str = "t.vt := max(t.vt, min_vt(machine.q) - 1ms)
    put t in machine.q";
const BEHIND_WHAT_WAS_READ: &str = "let a = min_vt(machine.q)
    if t.vt < a - 1ms { t.vt := a - 1ms }
    put t in machine.q";
const CHANGED_SINCE: &str = "let a = queued(machine.q)
    let b = a
    if a != b { t.vt := 0ms }
    put t in machine.q";
const AN_IDLE_CPU_OR_NONE: &str =
    "(exists c in machine : idle(c)) or (forall c in machine : not idle(c))";

#[test]
fn what_does_not_hold_is_not_proved_for_any_number_of_cpus() {
    let rises = "t.vt += ran + 1ns";
    let counted = "home(t).n += 1\n t.vt += ran + 1ns";
    let twice = |reads: &str| {
        format!(
            "let a = {reads}
             if {reads} != a {{ t.vt := 0ms }}
             put t in machine.q"
        )
    };
    let set = "let a = here.x\n here.x := 0ms\n t.vt := t.vt + (here.x - a)\n put t in machine.q";
    let wrong = [
        // A variable of a CPU is read again after it was set.
        keyed("x: time = 0 owner cpu", set, "here.x := ran\n t.vt += ran + 1ns", "vt_monotone"),
        // No task that is new or wakes comes into the queue that the claim is about.
        keyed("", "put t in machine.z", rises, "lag(<= 1ms)"),
        keyed("", "put t in machine.z", rises, "vt_monotone"),
        // What is read twice may change in between.
        stealing("queued(v.q) + queued(v.q) > queued(v.q)", "work_conservation"),
        stealing("queued(v.q) >= (min c in machine : queued(c.q))", "work_conservation"),
        keyed("", &twice("queued(machine.q)"), rises, "vt_monotone"),
        keyed("n: count = 0 shared", &twice("here.n"), counted, "vt_monotone"),
        // The least key rises meanwhile, and the task's own is left behind.
        keyed("", LEAST_TWICE, rises, "lag(<= 1ms)"),
        // Only the queue that is stolen from is locked.
        rechecking("queued(me.q) >= queued(me.q)", "work_conservation"),
        rechecking("queued(me.q) >= queued(me.q)", "no_lost_wakeup"),
        rechecking("(max c in machine : queued(c.q)) >= queued(me.q)", "work_conservation"),
        // The CPU that evaluates the re-check may be given a task meanwhile.
        rechecking(AN_IDLE_CPU_OR_NONE, "no_lost_wakeup"),
        // What is remembered is read anew, and twice.
        rechecking("seen(queued(v.q)) >= seen(queued(v.q) + 0)", "work_conservation"),
    ];
    let right = [
        keyed("", "put t in machine.q", rises, "vt_monotone"),
        keyed("", CHANGED_SINCE, rises, "vt_monotone"),
        keyed("", NO_FURTHER_BEHIND, rises, "lag(<= 1ms)"),
        keyed("", BEHIND_WHAT_WAS_READ, rises, "lag(<= 1ms)"),
        rechecking("queued(v.q) >= queued(v.q)", "work_conservation"),
        rechecking("weight(v.q) >= weight(v.q)", "no_lost_wakeup"),
        rechecking(AN_IDLE_CPU_OR_NONE, "work_conservation"),
        stealing("queued(v.q) >= 1 and queued(v.q) > running(me)", "work_conservation"),
    ];
    for solver in solvers("what_does_not_hold_is_not_proved_for_any_number_of_cpus") {
        let proved = |text: &String| is_proved(&judged(text, vec![solver.clone()]).outcome);
        for text in &wrong {
            assert!(!proved(text), "{text}");
        }
        for text in &right {
            assert!(proved(text), "{text}");
        }
    }
}

/// The verdict on the one claim of a text.
fn judged(text: &str, solvers: Vec<Solver>) -> Verdict {
    texts::judged(text, solvers, TWO).remove(0)
}

#[test]
fn a_cpu_takes_from_queues_into_which_balancing_moves() {
    let moving = |takes: &str| {
        format!(
            "policy p() {{
                queue q : fifo per cpu
                queue z : fifo per cpu
                on new(t), wake(t), preempt(t), yield(t) {{ put t in home(t).q }}
                on block(t), exit(t) {{ }}
                on dispatch(c) {{ {takes} }}
                balance every 10ms {{
                    level machine
                    filter(me, v) = queued(v.q) >= 2
                    steal 1 from v.q into me.z
                }}
                prove no_lost_task
            }}"
        )
    };
    for solver in solvers("a_cpu_takes_from_queues_into_which_balancing_moves") {
        let open = |takes: &str| {
            let verdict = judged(&moving(takes), vec![solver.clone()]);
            let open = verdict.obligations.iter().filter(|it| it.finding != Finding::Holds);
            open.map(|it| it.obligation.what.clone()).collect::<Vec<_>>()
        };
        let what = "for every task moved into `z` by `balance every`, some CPU that may run the \
                    task looks into this queue";
        assert_eq!(open("take c.q"), [what]);
        assert!(open("take c.q else take c.z").is_empty());
    }
}

#[test]
fn of_a_policy_that_looks_along_no_levels_hierarchy_says_nothing() {
    let plain = "policy p() {
        queue q : fifo per machine
        on new(t), wake(t), preempt(t), yield(t) { put t in machine.q }
        on block(t), exit(t) { }
        on dispatch(c) { take machine.q }
        prove hierarchy
    }";
    let Outcome::Contradicted(what) = judged(plain, Vec::new()).outcome else {
        panic!("nothing is walked")
    };
    assert!(what.contains("balance"), "{what}");
    let looks = judged(&stealing("queued(v.q) >= 1", "hierarchy"), Vec::new());
    assert!(matches!(looks.outcome, Outcome::Proved(Scope::Any)));
}

/// Situations have no clock, no keys, and variables of CPUs as they begin.
#[test]
fn what_situations_do_not_hold_is_not_shown_by_looking_at_them() {
    let plain = stealing("queued(v.q) >= 1", "work_conservation");
    let set = "on block(t), exit(t) { }";
    assert!(plain.contains(set));
    let counts =
        format!("cpu {{ x: count = 0 owner cpu }} {set} on stop(t, ran) {{ here.x := 1 }}");
    let fixed = format!("cpu {{ x: count = 0 owner cpu }} {set}");
    let variable = stealing("queued(v.q) >= 1 and v.x = 0", "work_conservation");
    let late = plain.replace("me in allowed(t)", "me in allowed(t) and now = seen(now)");
    let open = [
        (stealing("queued(v.q) >= 1 and now <= 1s", "work_conservation"), "the time"),
        (stealing("queued(v.q) >= 1 and until(2s) <= 2s", "no_lost_task"), "the time"),
        (late, "the time"),
        (variable.replace(set, &counts), "`x`"),
    ];
    for solvers in with_and_without(solvers("what_situations_do_not_hold")) {
        for (text, what) in &open {
            let outcome = judged(text, solvers.clone()).outcome;
            let Outcome::Unknown(why) = outcome else { panic!("{outcome:?} {text}") };
            assert!(why.contains(what) && !why.contains("found no counterexample"), "{why}");
        }
    }
    // The value of a variable that no handler sets is known.
    let outcome = judged(&variable.replace(set, &fixed), Vec::new()).outcome;
    assert!(matches!(outcome, Outcome::Proved(Scope::UpTo(_))), "{outcome:?}");
    // What is wrong at one instant is wrong.
    let wrong = stealing("queued(v.q) >= 2 and now <= 1s", "work_conservation");
    assert!(matches!(judged(&wrong, Vec::new()).outcome, Outcome::Refuted(_)));
    // Tasks differ in their weights.
    let heavy = plain.replace("me in allowed(t)", "me in allowed(t) and t.weight >= 50");
    assert!(matches!(judged(&heavy, Vec::new()).outcome, Outcome::Refuted(_)));
}

#[test]
fn a_round_in_which_nothing_changes_needs_a_recheck_that_says_yes_then() {
    let rechecks = |asks: &str| {
        let text = stealing("queued(v.q) >= 1", "rounds(<= idle_cpus)");
        let ticks = "cpu { x: count = 0 owner cpu } on tick(t) { here.x := 1 } on block(t)";
        let text = text.replace("on block(t)", ticks);
        text.replace("me in allowed(t)", &format!("me in allowed(t) and {asks}"))
    };
    let test = "a_round_in_which_nothing_changes_needs_a_recheck_that_says_yes_then";
    for solver in solvers(test) {
        for (asks, proved) in [
            ("queued(v.q) = seen(queued(v.q))", true),
            ("queued(v.q) = seen(queued(v.q)) and not idle(me)", false),
            ("queued(v.q) > seen(queued(v.q))", false),
            // The clock goes on, and ticks set variables.
            ("now = seen(now)", false),
            ("v.x = seen(v.x)", false),
        ] {
            let outcome = judged(&rechecks(asks), vec![solver.clone()]).outcome;
            assert_eq!(is_proved(&outcome), proved, "{asks} {outcome:?}");
        }
    }
}

/// Without a solver, and with one that gives up, no more is shown than was looked at.
#[test]
fn what_no_search_examined_is_not_shown_of_small_machines() {
    let wrong = [
        // Two tasks of weight 10 000 shut the filter; other parameters do.
        ("weight(v.q) <= 1000 and queued(v.q) >= 1", "work_conservation"),
        ("queued(v.q) >= n", "work_conservation"),
        // Who was woken overlooks the task: it asks for two, or was given one meanwhile.
        ("queued(v.q) >= 2", "no_lost_wakeup"),
        ("queued(v.q) > running(me)", "no_lost_wakeup"),
    ];
    for (filter, claim) in wrong {
        let text = stealing(filter, claim).replace("policy p()", "policy p(n: count = 1)");
        let verdict = judged(&text, Vec::new());
        assert!(
            matches!(verdict.outcome, Outcome::Unknown(_) | Outcome::Refuted(_)),
            "{text}\n{:?}",
            verdict.outcome
        );
    }
    let right = judged(&stealing("queued(v.q) >= 1", "no_lost_wakeup"), Vec::new());
    assert!(matches!(right.outcome, Outcome::Proved(Scope::UpTo(_))), "{:?}", right.outcome);
}

/// No CPU takes from `w`, so no CPU sleeps that would take a task there. A CPU that takes another
/// task has to be woken for that one.
#[test]
fn who_never_reads_a_queue_is_not_missed_for_a_task_in_it() {
    let text = "policy p() {
        queue q : fifo per machine
        queue w : fifo per machine
        on new(t), wake(t) { put t in machine.w wake within node }
        on preempt(t), yield(t) { put t in machine.q }
        on block(t), exit(t) { }
        on dispatch(c) { take machine.q }
        prove no_lost_wakeup
    }";
    for solver in solvers("who_never_reads_a_queue_is_not_missed_for_a_task_in_it") {
        let outcome = |text: &str| judged(text, vec![solver.clone()]).outcome;
        assert!(matches!(outcome(text), Outcome::Proved(Scope::Any)));
        let other = text.replace("take machine.q", "take machine.q else take machine.w");
        assert!(matches!(outcome(&other), Outcome::Refuted(_)));
    }
}

/// Solvers have no words for an aggregate of aggregates: what is said then is said by the explorer.
#[test]
fn what_no_situation_tells_is_not_proved_of_small_machines() {
    let all = "queued(v.q) >= 1 and (max c in machine : (sum d in smt(c) : ";
    let plain = stealing(&format!("{all}running(d))) < 100"), "work_conservation");
    // After two tasks were woken no CPU steals any more.
    let counts = "cpu { x: count = 0 shared }
        on new(t), wake(t) { here.x += 1\n put t in home(t).q }
        on preempt(t), yield(t)";
    let kept = stealing(&format!("{all}d.x)) < 2"), "work_conservation");
    let kept = kept.replace("on new(t), wake(t), preempt(t), yield(t)", counts);
    let late = plain.replace("< 100", "< 100 and now < 5ms");
    // Who weighs little is left where it is.
    let light = plain.replace("me in allowed(t)", "me in allowed(t) and t.weight >= 50");
    for solver in solvers("what_no_situation_tells_is_not_proved_of_small_machines") {
        let outcome = |text: &str| judged(text, vec![solver.clone()]).outcome;
        let small = matches!(outcome(&plain), Outcome::Proved(Scope::UpTo(_)));
        assert!(small, "{plain}");
        for text in [&kept, &late] {
            assert!(matches!(outcome(text), Outcome::Unknown(_)), "{text}");
        }
        assert!(matches!(outcome(&light), Outcome::Refuted(_)), "{light}");
    }
}

/// A round ends only if who was given a CPU keeps it.
#[test]
fn where_handlers_take_cpus_from_tasks_no_round_is_bounded() {
    let kicking = |handler: &str, claim: &str| {
        let text = stealing("queued(v.q) >= 1", claim);
        text.replace("on block(t)", &format!("{handler}\n on block(t)"))
    };
    let rounds = "rounds(<= idle_cpus)";
    let test = "where_handlers_take_cpus_from_tasks_no_round_is_bounded";
    for solvers in with_and_without(solvers(test)) {
        let outcome =
            |handler: &str, claim: &str| judged(&kicking(handler, claim), solvers.clone()).outcome;
        for handler in ["on start(t) { kick here preempt }", "on tick(t) { kick here preempt }"] {
            let outcome = outcome(handler, rounds);
            assert!(matches!(outcome, Outcome::Contradicted(_)), "{handler} {outcome:?}");
        }
        for handler in [
            "on start(t) { if t.weight > 100 { kick here preempt } }",
            "on stop(t, ran) { kick here preempt }",
        ] {
            let outcome = outcome(handler, rounds);
            assert!(matches!(outcome, Outcome::Unknown(_)), "{handler} {outcome:?}");
        }
        // A kick alone takes no CPU from a task, and Theorem 2 is about idle CPUs.
        for (handler, claim) in [
            ("on start(t) { kick here }", rounds),
            ("on start(t) { kick here preempt }", "work_conservation"),
        ] {
            let outcome = outcome(handler, claim);
            assert!(matches!(outcome, Outcome::Proved(_)), "{handler} {claim} {outcome:?}");
        }
    }
}

/// After six stops this key stays at 2^63 - 1.
#[test]
fn that_no_number_saturates_is_said_to_be_assumed() {
    let text =
        keyed("", "put t in machine.q", "t.vt := max(t.vt, 0ms) * 1000 + ran", "vt_monotone");
    let policy = policy(&text);
    for solver in solvers("that_no_number_saturates_is_said_to_be_assumed") {
        let verdicts = vec![judged(&text, vec![solver.clone()])];
        assert!(matches!(verdicts[0].outcome, Outcome::Proved(Scope::Any)), "{verdicts:?}");
        let judged = [Judgement { policy: Some(&policy), verdicts, warnings: Vec::new() }];
        let said = report("p.rota", &judged, &options(vec![solver], TWO), |_| 1).assumptions;
        assert!(said.iter().any(|line| line.contains("2^63")), "{said:?}");
    }
}

/// A question that cannot be put into words is open, and not left out.
#[test]
fn a_bound_that_has_no_words_shows_nothing() {
    let nested = "max a in machine : (max b in machine : b.x)";
    let put = "put t in machine.q";
    let rises = "t.vt += ran + 1ns";
    let text = keyed("x: time = 0 owner cpu", put, rises, &format!("lag(<= {nested})"));
    for solvers in with_and_without(solvers("a_bound_that_has_no_words_shows_nothing")) {
        let verdict = judged(&text, solvers);
        assert!(!matches!(verdict.outcome, Outcome::Proved(_)), "{:?}", verdict.outcome);
        let lags = verdict.obligations.iter().filter(|it| it.obligation.name == "lags");
        assert_eq!(lags.filter(|it| matches!(it.finding, Finding::Open(_))).count(), 2);
    }
}

/// Levels that end before the machine does not cover it, whichever balance looks along them.
#[test]
fn levels_of_periodic_balancing_alone_have_to_cover_the_machine() {
    let balanced = |levels: &str| {
        format!(
            "policy p() {{
                queue q : fifo per cpu
                on new(t), wake(t), preempt(t), yield(t) {{ put t in home(t).q }}
                on block(t), exit(t) {{ }}
                on dispatch(c) {{ take c.q }}
                balance every 10ms {{
                    level {levels}
                    filter(me, v) = queued(v.q) - queued(me.q) >= 2
                    steal 1 into me.q
                }}
                prove hierarchy
            }}"
        )
    };
    let Outcome::Contradicted(what) = judged(&balanced("llc"), Vec::new()).outcome else {
        panic!("a cache is no machine")
    };
    assert!(what.contains("the last level"), "{what}");
    let whole = judged(&balanced("llc, machine"), Vec::new()).outcome;
    assert!(matches!(whole, Outcome::Proved(Scope::Any)), "{whole:?}");
}

/// A CPU may find a task that waits alone, and neither of two.
#[test]
fn a_task_may_be_lost_beside_others() {
    let stacked = |filter: &str| {
        let text = stealing(filter, "no_lost_task");
        let first = "let v = argmin v in machine : cpus(v)\n put t in v.q";
        text.replace("put t in home(t).q", first)
    };
    for solvers in with_and_without(solvers("a_task_may_be_lost_beside_others")) {
        for filter in [
            "queued(v.q) >= 1 and queued(v.q) <= 1",
            "queued(v.q) >= 1 and (sum c in machine : queued(c.q)) <= 1",
        ] {
            let outcome = judged(&stacked(filter), solvers.clone()).outcome;
            let Outcome::Refuted(found) = outcome else { panic!("{filter}: {outcome:?}") };
            assert!(found.why().contains("finds"), "{}", found.why());
        }
        // Of one that two are too few for, no more is known than was looked at.
        let outcome = judged(&stacked("queued(v.q) >= 1"), solvers.clone()).outcome;
        assert!(matches!(outcome, Outcome::Proved(_)), "{outcome:?}");
    }
}

/// A waker may be on any CPU.
#[test]
fn where_an_event_happens_need_not_be_where_the_task_was() {
    let waking = |wake: &str, dispatch: &str, claim: &str| {
        format!(
            "policy p() {{
                queue q : fifo per cpu
                queue w : fifo per machine
                on new(t), preempt(t), yield(t) {{ put t in home(t).q }}
                on wake(t) {{ {wake} }}
                on block(t), exit(t) {{ }}
                on dispatch(c) {{ {dispatch} }}
                prove {claim}
            }}"
        )
    };
    let elsewhere =
        |put: &str| format!("if here = t.prev {{ put t in home(t).q }} else {{ {put} }}");
    let wait = "wait(dispatches <= position + direct_runs)";
    let wrong = [
        waking(&elsewhere("put t in machine.w"), "take c.q", "no_lost_task"),
        waking(&elsewhere("put t in machine.w"), "take c.q", "work_conservation"),
        waking(&elsewhere("put t in machine.w"), "take c.q else take machine.w", wait),
        waking(
            &elsewhere("put t in machine.w wake within cpu"),
            "take c.q else take machine.w",
            "no_lost_wakeup",
        ),
    ];
    for solvers in
        with_and_without(solvers("where_an_event_happens_need_not_be_where_the_task_was"))
    {
        for text in &wrong {
            let outcome = judged(text, solvers.clone()).outcome;
            assert!(!matches!(outcome, Outcome::Proved(_)), "{outcome:?}\n{text}");
        }
    }
    // Where that is, is of no matter to who looks everywhere.
    let anywhere = stealing("queued(v.q) >= 1", "no_lost_task").replace("home(t).q", "here.q");
    let outcome = judged(&anywhere, Vec::new()).outcome;
    assert!(matches!(outcome, Outcome::Proved(Scope::UpTo(_))), "{outcome:?}");
}

/// No search covers CPUs that begin to run a task during an attempt, or a second wakeup.
#[test]
fn what_a_recheck_remembers_changes_by_more_than_one_wakeup() {
    let both =
        with_and_without(solvers("what_a_recheck_remembers_changes_by_more_than_one_wakeup"));
    let nested = "queued(v.q) >= 1 and (max c in machine : (max d in machine : queued(d.q))) >= 0";
    for asks in [
        "running(v) = seen(running(v))",
        "running(machine) >= seen(running(machine))",
        "queued(v.q) <= seen(queued(v.q)) + 1",
    ] {
        let text = rechecking(asks, "work_conservation");
        for text in [text.replace("queued(v.q) >= 1\n", &format!("{nested}\n")), text] {
            for solvers in &both {
                let outcome = judged(&text, solvers.clone()).outcome;
                assert!(!matches!(outcome, Outcome::Proved(_)), "{outcome:?}\n{text}");
            }
        }
    }
}

/// Parameters may have other values, and what is near is said by levels that no policy names.
#[test]
fn a_handler_goes_ways_that_parameters_and_nearness_decide() {
    let lost = |vars: &str, handler: &str| {
        format!(
            "policy p({vars}) {{
                queue q : fifo per cpu
                queue lost : fifo per machine
                on new(t), wake(t), preempt(t), yield(t) {{ {handler} }}
                on block(t), exit(t) {{ }}
                on dispatch(c) {{ take c.q }}
                prove no_lost_task
            }}"
        )
    };
    let switch = "if on >= 1 { put t in machine.lost } else { put t in home(t).q }";
    let nearest = "if t.prev in allowed(t) { put t in home(t).q } else {
        let v = argmin v in allowed(t) : cpus(v)
        if v = home(t) { put t in home(t).q } else { put t in machine.lost }
    }";
    for text in [lost("on: count = 0", switch), lost("", nearest)] {
        let bounds = Bounds { cpus: 3, tasks: 1, events: 1 };
        let outcome = texts::judged(&text, Vec::new(), bounds).remove(0).outcome;
        assert!(!matches!(outcome, Outcome::Proved(_)), "{outcome:?}\n{text}");
    }
}
