//! Claims that were once proved of policies that do not have them, or refuted though they hold.

use std::time::Duration;

use wastenot_prove::explore::Bounds;
use wastenot_prove::{Finding, Options, Outcome, judge};

use crate::solvers::solvers;

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

/// Work stealing with this filter.
fn stealing(filter: &str, claim: &str) -> String {
    format!(
        "policy p() {{
            queue q : fifo per cpu
            on new(t), wake(t), preempt(t), yield(t) {{ put t in home(t).q }}
            on block(t), exit(t) {{ }}
            on dispatch(c) {{ take c.q else balance idle }}
            balance idle {{
                level machine
                filter(me, v) = {filter}
                steal 1 where me in allowed(t)
            }}
            prove {claim}
        }}"
    )
}

#[test]
fn what_does_not_hold_is_not_proved_for_any_number_of_cpus() {
    let rises = "t.vt += ran + 1ns";
    let set = "let a = here.x\n here.x := 0ms\n t.vt := t.vt + (here.x - a)\n put t in machine.q";
    let wrong = [
        // A variable of a CPU is read again after it was set.
        keyed("x: time = 0 owner cpu", set, "here.x := ran\n t.vt += ran + 1ns", "vt_monotone"),
        // Nobody who is new or wakes comes into the queue that the claim is about.
        keyed("", "put t in machine.z", rises, "lag(<= 1ms)"),
        keyed("", "put t in machine.z", rises, "vt_monotone"),
        // What is read twice may change in between.
        stealing("queued(v.q) + queued(v.q) > queued(v.q)", "work_conservation"),
        stealing("queued(v.q) >= (min c in machine : queued(c.q))", "work_conservation"),
    ];
    let right = [
        keyed("", "put t in machine.q", rises, "vt_monotone"),
        stealing("queued(v.q) >= 1 and queued(v.q) > running(me)", "work_conservation"),
    ];
    let bounds = Bounds { cpus: 2, tasks: 2, events: 1 };
    for solver in solvers("what_does_not_hold_is_not_proved_for_any_number_of_cpus") {
        let patience = Duration::from_secs(20);
        let options = Options { solvers: vec![solver], cache: None, patience, bounds };
        let proved = |text: &String| {
            let program = wastenot_rota::compile(text).expect("it compiles");
            let verdict = judge(&program.policies[0], &options).expect("an answer").remove(0);
            matches!(verdict.outcome, Outcome::Proved(wastenot_prove::Scope::Any))
        };
        for text in &wrong {
            assert!(!proved(text), "{text}");
        }
        for text in &right {
            assert!(proved(text), "{text}");
        }
    }
}

/// No CPU takes from `w`, so that nobody sleeps who would take a task there: whoever takes another
/// one is to be woken for that.
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
    let bounds = Bounds { cpus: 2, tasks: 2, events: 1 };
    for solver in solvers("who_never_reads_a_queue_is_not_missed_for_a_task_in_it") {
        let patience = Duration::from_secs(20);
        let options = Options { solvers: vec![solver], cache: None, patience, bounds };
        let outcome = |text: &str| {
            let program = wastenot_rota::compile(text).expect("it compiles");
            judge(&program.policies[0], &options).expect("an answer").remove(0).outcome
        };
        assert!(matches!(outcome(text), Outcome::Proved(wastenot_prove::Scope::Any)));
        let other = text.replace("take machine.q", "take machine.q else take machine.w");
        assert!(matches!(outcome(&other), Outcome::Refuted(_)));
    }
}

/// Periodic balancing moves tasks to where nobody looks.
#[test]
fn a_task_that_is_moved_to_where_nobody_looks_is_lost() {
    let regular = "queue w : fifo per llc
        balance every 4ms {
            level machine
            filter(me, v) = queued(v.q) - queued(me.q) >= 2
            steal 1 into llc(me).w
        }
        on new(t), wake(t)";
    let moved = stealing("queued(v.q) >= 1", "no_lost_task").replace("on new(t), wake(t)", regular);
    let taken = moved.replace("take c.q else", "take c.q else take c.w else");
    assert_ne!(moved, taken);
    let bounds = Bounds { cpus: 2, tasks: 2, events: 1 };
    for solver in solvers("a_task_that_is_moved_to_where_nobody_looks_is_lost") {
        let patience = Duration::from_secs(20);
        let options = Options { solvers: vec![solver], cache: None, patience, bounds };
        let holds = |text: &str| {
            let program = wastenot_rota::compile(text).expect("it compiles");
            let verdict = judge(&program.policies[0], &options).expect("an answer").remove(0);
            verdict.obligations.iter().all(|it| it.finding == Finding::Holds)
        };
        assert!(!holds(&moved) && holds(&taken));
    }
}

/// Solvers have no words for an aggregate of aggregates: what is said then is said by the explorer.
#[test]
fn what_no_situation_tells_is_not_proved_of_small_machines() {
    let all = "queued(v.q) >= 1 and (max c in machine : (sum d in smt(c) : ";
    let plain = stealing(&format!("{all}running(d))) < 100"), "work_conservation");
    // Once two tasks were woken nobody steals any more.
    let counts = "cpu { x: count = 0 shared }
        on new(t), wake(t) { here.x += 1\n put t in home(t).q }
        on preempt(t), yield(t)";
    let kept = stealing(&format!("{all}d.x)) < 2"), "work_conservation");
    let kept = kept.replace("on new(t), wake(t), preempt(t), yield(t)", counts);
    let late = plain.replace("< 100", "< 100 and now < 5ms");
    // Who weighs little is left where it is.
    let light = plain.replace("me in allowed(t)", "me in allowed(t) and t.weight >= 50");
    let bounds = Bounds { cpus: 2, tasks: 2, events: 1 };
    for solver in solvers("what_no_situation_tells_is_not_proved_of_small_machines") {
        let patience = Duration::from_secs(2);
        let options = Options { solvers: vec![solver], cache: None, patience, bounds };
        let outcome = |text: &str| {
            let program = wastenot_rota::compile(text).expect("it compiles");
            judge(&program.policies[0], &options).expect("an answer").remove(0).outcome
        };
        let small = matches!(outcome(&plain), Outcome::Proved(wastenot_prove::Scope::UpTo(_)));
        assert!(small, "{plain}");
        for text in [&kept, &late] {
            assert!(matches!(outcome(text), Outcome::Unknown(_)), "{text}");
        }
        assert!(matches!(outcome(&light), Outcome::Refuted(_)), "{light}");
    }
}
