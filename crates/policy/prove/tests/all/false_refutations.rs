//! Claims that were once refuted by what no handler leads to, or by what the text does not say.

use wastenot_prove::solver::Solver;
use wastenot_prove::{Outcome, Scope};

use crate::solvers::solvers;
use crate::texts::{
    self, THREE, all, has_a_run, is_contradicted, is_proved, is_refuted, is_unknown, may_hold,
    outcomes,
};

/// What becomes of each claim of a text.
fn judged(text: &str, solvers: Vec<Solver>) -> Vec<Outcome> {
    let verdicts = texts::judged(text, solvers, THREE);
    verdicts.into_iter().map(|verdict| verdict.outcome).collect()
}

/// A queue per CPU, another one from which no CPU takes, and this choice between them.
fn choosing(vars: &str, choice: &str, more: &str, claims: &str) -> String {
    format!(
        "policy p() {{
            {vars}
            queue q : fifo per cpu
            queue lost : fifo per machine
            on new(t), wake(t), preempt(t), yield(t) {{ {choice} }}
            on block(t), exit(t) {{ }}
            {more}
            on dispatch(c) {{ take c.q }}
            prove {claims}
        }}"
    )
}

#[test]
fn a_task_is_looked_at_only_where_some_handler_puts_it() {
    let test = "a_task_is_looked_at_only_where_some_handler_puts_it";
    let lost = |condition: &str| {
        format!("if {condition} {{ put t in machine.lost }} else {{ put t in home(t).q }}")
    };
    let y = "cpu { y: time = 0 owner cpu }";
    let claims = "no_lost_task, wait(dispatches <= position + direct_runs)";
    let never = [
        // The task may run on every CPU that is picked.
        choosing(
            "",
            "let v = argmin v in machine : queued(v.q)
             if v in allowed(t) { put t in v.q } else { put t in home(t).q }",
            "",
            claims,
        ),
        // No handler sets it.
        choosing(y, &lost("here.y > 1ms"), "", claims),
        // No task weighs so much.
        choosing("", &lost("t.weight > 20000"), "", claims),
        choosing("", &lost("cpus(machine) = 0"), "", claims),
    ];
    all(&never, test, may_hold);
    all(
        &["queued(home(t).q) >= 3", "t.weight > 100", "now > 1s", "idle(here)"]
            .map(|condition| choosing("", &lost(condition), "", "no_lost_task")),
        test,
        has_a_run,
    );
    // What is asked for something else is of no matter.
    let sets = "if here.y > 1ms { here.y := now }\n put t in machine.lost";
    all(&[choosing(y, sets, "", "no_lost_task")], test, has_a_run);
    // It is set, but to what?
    let set = choosing(y, &lost("here.y > 1ms"), "on start(t) { here.y := 1us }", "no_lost_task");
    for outcome in outcomes(&set, test) {
        let Outcome::Unknown(why) = outcome else { panic!("{outcome:?}") };
        assert!(why.contains("it is unknown whether `new` can take every path"), "{why}");
    }
}

/// Virtual time with these handlers.
fn keyed(wake: &str, preempt: &str, block: &str, stop: &str) -> String {
    format!(
        "policy p() {{
            task {{ vt: time = 0 owner queue, x: time = 0 owner queue }}
            queue q : ordered(vt) per machine
            on new(t), wake(t) {{ {wake}\n put t in machine.q }}
            on preempt(t), yield(t) {{ {preempt}\n put t in machine.q }}
            on block(t) {{ {block} }}
            on exit(t) {{ }}
            on stop(t, ran) {{ {stop} }}
            on dispatch(c) {{ take machine.q }}
            prove vt_monotone
        }}"
    )
}

#[test]
fn a_key_begins_with_what_handlers_made_of_it() {
    let test = "a_key_begins_with_what_handlers_made_of_it";
    let rises = "t.vt += scaled(ran, t.weight)";
    let right = [
        // No handler sets `x`.
        keyed("if t.x > 0ms { t.vt := 0ms }", "", "", rises),
        // It is never later than now.
        keyed("t.vt := now", "", "", "t.vt := now"),
        // No CPU sees the value of a moment.
        keyed("let a = t.vt\n t.vt := 0ms\n t.vt := a", "", "", rises),
        // The handler that puts it again adds the time that it ran.
        keyed("", "t.vt += t.x", "t.vt += t.x", "t.x := ran"),
    ];
    all(&right, test, may_hold);
    let wrong = [
        keyed("t.vt := min_vt(machine.q)", "", "", rises),
        keyed("t.vt := 0ms", "", "", rises),
        keyed("", "t.vt := 0ms", "", rises),
        keyed("", "", "", "t.vt := scaled(ran, t.weight)"),
        keyed("", "", "", ""),
    ];
    all(&wrong, test, has_a_run);
}

/// Stride scheduling: the key rises when its task begins to run. Who raises it is no matter.
#[test]
fn a_key_that_rises_when_its_task_begins_to_run_has_risen() {
    let test = "a_key_that_rises_when_its_task_begins_to_run_has_risen";
    let starting = |start: &str, stop: &str| {
        keyed("", "", "", stop).replace("on stop(", &format!("on start(t) {{ {start} }} on stop("))
    };
    for start in ["t.vt += scaled(10ms, t.weight)", "t.vt += 1ms"] {
        let text = starting(start, "");
        assert!(!is_refuted(&judged(&text, Vec::new())[0]), "{text}");
        for solver in solvers(test) {
            let outcome = judged(&text, vec![solver]).remove(0);
            assert!(matches!(outcome, Outcome::Proved(Scope::Any)), "{outcome:?}\n{text}");
        }
    }
    let once = "if t.vt = 0ms { t.vt := 1ms }";
    all(
        &[starting("t.x := now", ""), starting(once, ""), starting("t.vt := 0ms", "")],
        test,
        has_a_run,
    );
}

#[test]
fn a_cpu_that_is_kicked_after_a_put_is_woken() {
    let test = "a_cpu_that_is_kicked_after_a_put_is_woken";
    let put = "put t in home(t).q wake within cpu";
    let kicked = choosing("", &format!("{put}\n kick home(t)"), "", "no_lost_wakeup");
    let claimed = "let c = idle cpu in allowed(t) near t.prev by [smt, llc, node, machine]
        if c { put t in c.q wake within cpu\n kick c } else { put t in home(t).q }";
    let claimed = choosing("", claimed, "", "no_lost_wakeup");
    for text in [&kicked, &claimed] {
        for outcome in judged(text, Vec::new()) {
            assert!(matches!(outcome, Outcome::Proved(Scope::UpTo(_))), "{outcome:?}\n{text}");
        }
    }
    for solver in solvers(test) {
        let outcome = judged(&kicked, vec![solver.clone()]).remove(0);
        assert!(matches!(outcome, Outcome::Proved(Scope::Any)), "{outcome:?}");
        assert!(!is_refuted(&judged(&claimed, vec![solver])[0]));
    }
    let wrong = [
        put.to_owned(),
        format!("{put}\n kick here"),
        format!("{put}\n if t.weight > 100 {{ kick home(t) }}"),
    ];
    all(&wrong.map(|handler| choosing("", &handler, "", "no_lost_wakeup")), test, has_a_run);
}

/// Work stealing whose queues are balanced where this filter passes.
fn balanced(put: &str, more: &str, filter: &str, claim: &str) -> String {
    format!(
        "policy p() {{
            queue q : fifo per node
            on new(t), wake(t), preempt(t), yield(t) {{ put t in home(t).q {put} }}
            on block(t), exit(t) {{ }}
            {more}
            on dispatch(c) {{ take c.q else balance idle }}
            balance idle {{
                level machine
                filter(me, v) = queued(v.q) >= 1
                steal 1 where me in allowed(t)
            }}
            balance every 10ms on leader(node) {{
                level machine
                filter(me, v) = {filter}
                steal 1 into me.q
            }}
            prove {claim}
        }}"
    )
}

#[test]
fn the_text_contradicts_only_what_it_speaks_of() {
    let test = "the_text_contradicts_only_what_it_speaks_of";
    let longer = "queued(v.q) - queued(me.q) >= 2";
    let more = |what: &str| format!("{longer} and {what}");
    let empty = "queued(v.q) >= 2 and queued(me.q) = 0";
    let wait = "wait(dispatches <= position + direct_runs)";
    let tick = "on tick(t) { kick here preempt }";
    let open = [
        balanced("", "", &more("cpus(machine) >= 8"), "settles"),
        balanced("", "", &more("now > 1s"), "settles"),
        balanced("", "", empty, wait),
        balanced("slice forever", tick, longer, "hierarchy"),
    ];
    all(&open, test, is_unknown);
    let refuted = [
        balanced("", "", "queued(me.q) - queued(v.q) >= 2", "settles"),
        balanced("", "", longer, wait),
        balanced("slice forever", "", longer, "hierarchy"),
    ];
    all(&refuted, test, is_contradicted);
    // An end is an end, however late.
    let long = balanced("slice 9000000s", "", longer, "hierarchy");
    all(&[&long], test, is_proved);
}

#[test]
fn a_cpu_moves_no_task_while_it_looks_for_one() {
    let test = "a_cpu_moves_no_task_while_it_looks_for_one";
    let text = balanced("", "", "queued(v.q) >= 2 and queued(me.q) = 0", "rounds(<= idle_cpus)");
    let text = text.replace("per node", "per cpu").replace(" on leader(node)", "");
    all(&[&text], test, may_hold);
}

/// Work stealing with another queue `z`, and this periodic balancing.
fn moving(vars: &str, takes: &str, filter: &str, steal: &str, claim: &str) -> String {
    format!(
        "policy p{vars}
            queue q : fifo per cpu
            queue z : fifo per cpu
            on new(t), wake(t), preempt(t), yield(t) {{ put t in home(t).q }}
            on block(t), exit(t) {{ }}
            on dispatch(c) {{ take c.q else balance idle }}
            balance idle {{
                level machine
                filter(me, v) = queued({takes}) >= 1
                steal 1 where me in allowed(t)
            }}
            balance every 10ms {{
                level machine
                filter(me, v) = {filter}
                steal 1 {steal}
            }}
            prove {claim}
        }}"
    )
}

/// Under its lock a queue gives what `where` lets go, and nothing else.
#[test]
fn a_move_asks_the_recheck() {
    let test = "a_move_asks_the_recheck";
    let longer = "into me.q where queued(v.q) - queued(me.q) >= 2";
    let settles = moving("() {", "v.q", "queued(v.q) >= 1", longer, "settles");
    all(&[&settles], test, may_hold);
    for solver in solvers(test) {
        let outcome = judged(&settles, vec![solver]).remove(0);
        assert!(matches!(outcome, Outcome::Proved(Scope::Any)), "{outcome:?}");
    }
    let never = "into me.q where t.weight > 10000";
    let shorter = "into me.q where queued(v.q) >= 2";
    let empty = "queued(v.q) >= 1 and queued(me.q) = 0";
    all(
        &[
            moving("() {", "v.q", "queued(v.q) >= 1", never, "rounds(<= idle_cpus)"),
            moving("() {", "v.q", empty, shorter, "settles"),
        ],
        test,
        may_hold,
    );
    let rounds =
        moving("() {", "v.q", "queued(v.q) >= 1", "into me.q where t.weight > 50", "settles");
    all(&[&rounds], test, has_a_run);
}

#[test]
fn a_task_waits_only_where_some_move_leads() {
    let test = "a_task_waits_only_where_some_move_leads";
    let lost = |vars: &str, takes: &str, filter: &str, asks: &str| {
        moving(vars, takes, filter, &format!("from v.q into me.z {asks}"), "no_lost_task")
    };
    let switch = "queued(v.q) >= 1 and on >= 1";
    let full = "() { cpu { full: count = 0 owner cpu }";
    let never = [
        lost("(on: count = 0) {", "v.q", switch, ""),
        lost("() {", "v.q", "queued(v.q) >= 1 and cpus(machine) = 0", ""),
        lost(full, "v.q", "queued(v.q) - queued(me.q) >= 2 and v.full >= 1", ""),
        lost("() {", "v.z", "queued(v.q) >= 2", "where exists c in allowed(t) : c != me"),
        lost("() {", "v.q", "queued(v.q) >= 2 and cpus(machine) = 0", "")
            .replace("no_lost_task", "work_conservation"),
    ];
    all(&never, test, may_hold);
    all(
        &["queued(v.q) >= 1", "queued(v.q) - queued(me.q) >= 2"]
            .map(|filter| lost("() {", "v.q", filter, "")),
        test,
        has_a_run,
    );
    // Where the switch is on, it does; without solvers it is unknown whether it ever is.
    for outcome in outcomes(&never[0], test) {
        let Outcome::Unknown(why) = outcome else { panic!("{outcome:?}") };
        assert!(why.contains("whether"), "{why}");
    }
}

/// Two queues of one machine, the second ordered so.
fn two_queues(order: &str, wake: &str, preempt: &str, claim: &str) -> String {
    format!(
        "policy p() {{
            task {{ vt: time = 0 owner queue, d: time = 0 owner queue }}
            queue q : ordered(vt) per machine
            queue z : {order} per machine
            on new(t), wake(t) {{ {wake}\n put t in machine.q }}
            on stop(t, ran) {{ t.vt += ran + 1ns }}
            on preempt(t), yield(t) {{ {preempt} }}
            on block(t), exit(t) {{ }}
            on dispatch(c) {{ take machine.q else take machine.z }}
            prove {claim}
        }}"
    )
}

#[test]
fn each_queue_has_a_least_key_of_its_own() {
    let test = "each_queue_has_a_least_key_of_its_own";
    let (begins, stays) = ("t.vt := 0ms", "put t in machine.q");
    let set = |asks: &str| format!("if {asks} {{ t.vt := 0ms }}");
    let right = [
        // All that ever came into `q` has the key 0.
        two_queues("ordered(d)", begins, "t.d := now\n put t in machine.z", "lag(<= 1ms)"),
        two_queues("ordered(vt)", begins, "put t in machine.z", "lag(<= 1ms)"),
        // No task is ever in `z`.
        two_queues("fifo", &set("queued(machine.z) = 1"), stays, "vt_monotone"),
        two_queues("ordered(vt)", &set("min_vt(machine.z) > 0ms"), stays, "vt_monotone"),
    ];
    all(&right, test, may_hold);
    all(
        &[
            two_queues("fifo", &set("min_vt(machine.q) > 0ms"), stays, "vt_monotone"),
            two_queues("fifo", begins, stays, "lag(<= 1ms)"),
        ],
        test,
        has_a_run,
    );
}

/// A put does not have to wake a CPU that would never take the task.
#[test]
fn no_put_has_to_wake_a_cpu_whose_filter_fails() {
    let test = "no_put_has_to_wake_a_cpu_whose_filter_fails";
    let text = |filter: &str| {
        format!(
            "policy p() {{
                queue q : fifo per cpu
                on new(t), wake(t), preempt(t), yield(t) {{ put t in t.prev.q wake within node }}
                on block(t), exit(t) {{ }}
                on dispatch(c) {{ take c.q else balance idle }}
                balance idle {{
                    level machine
                    filter(me, v) = queued(v.q) >= 1 {filter}
                    steal 1 where me in allowed(t)
                }}
                prove no_lost_wakeup
            }}"
        )
    };
    all(&[text("and node(v) = node(me)")], test, may_hold);
    all(&[text("")], test, has_a_run);
}

#[test]
fn of_what_never_happens_the_text_contradicts_nothing() {
    let test = "of_what_never_happens_the_text_contradicts_nothing";
    let unused = |queue: &str, retry: &str, claim: &str| {
        format!(
            "policy p() {{
                task {{ vt: time = 0 owner queue }}
                queue q : {queue} per machine
                queue z : ordered(vt) per cpu
                on new(t), wake(t) {{ put t in machine.q }}
                on preempt(t), yield(t) {{ put t in machine.q }}
                on stop(t, ran) {{ t.vt += ran + 1ns }}
                on block(t), exit(t) {{ }}
                on dispatch(c) {{ take machine.q else balance idle }}
                balance idle {{
                    level machine
                    filter(me, v) = queued(v.z) >= 1
                    steal 1 where me in allowed(t)
                    {retry}
                }}
                prove {claim}
            }}"
        )
    };
    let wait = "wait(dispatches <= position + direct_runs)";
    let endless = |choice: &str| {
        let put = "put t in home(t).q";
        let text = balanced("", "", "queued(v.q) - queued(me.q) >= 2", "hierarchy");
        text.replace(put, choice)
    };
    let never =
        "if cpus(machine) = 0 { put t in home(t).q slice forever } else { put t in home(t).q }";
    let no_cpu_takes = "queue lost : fifo per machine
        on new(t), wake(t), preempt(t) { put t in home(t).q }
        on yield(t) { put t in machine.lost slice forever }";
    let no_cpu_takes = endless("put t in home(t).q")
        .replace("on new(t), wake(t), preempt(t), yield(t) { put t in home(t).q  }", no_cpu_takes);
    assert!(no_cpu_takes.contains("lost"), "{no_cpu_takes}");
    all(
        &[
            unused("fifo", "retry 0", "work_conservation"),
            unused("fifo", "retry 0", "rounds(<= idle_cpus)"),
            unused("fifo", "", wait),
            unused("ordered(vt)", "", "lag(<= 1ms)")
                .replace("wake(t) { put", "wake(t) { t.vt := max(t.vt, min_vt(machine.q))\n put"),
            endless(never),
            no_cpu_takes,
        ],
        test,
        may_hold,
    );
    let either = "let c = idle cpu in allowed(t) near t.prev by [machine]
        if c { run t on c slice forever } else { put t in home(t).q }";
    all(&[endless(either)], test, is_contradicted);
}

/// The task that runs, or ran last, has set the variables that its handlers set.
#[test]
fn variables_are_not_as_they_begin_after_a_task_ran() {
    let test = "variables_are_not_as_they_begin_after_a_task_ran";
    let y = "cpu { y: time = 0 owner cpu }";
    let wake = "if t.prev.y = 0ms { put t in machine.lost } else { put t in home(t).q }";
    let start = "on start(t) { here.y := 1ms }";
    let woken = choosing(y, wake, start, "no_lost_task")
        .replace("on new(t), wake(t), ", &format!("on wake(t) {{ {wake} }}\n on new(t), "))
        .replacen(&format!("yield(t) {{ {wake} }}"), "yield(t) { put t in home(t).q }", 1);
    let runs = moving(
        "() { cpu { on: count = 0 owner cpu } on start(t) { here.on := 1 }",
        "v.q) >= 0 and (v.on >= 1 or idle(v)) and queued(v.q",
        "queued(v.q) >= 2",
        "into me.q",
        "rounds(<= idle_cpus + periodic_moves)",
    );
    all(&[&woken, &runs], test, may_hold);
}
