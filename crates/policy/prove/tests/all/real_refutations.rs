//! A claim is refuted only by a run that the interpreter executes, from a machine on which nothing
//! has happened yet and with every handler on the way. Each family of true claims below was once
//! refuted by what no run leads to; beside each stand texts that a run does refute.

use wastenot_model::History;
use wastenot_prove::Outcome;
use wastenot_prove::replay::Recorded;

use crate::texts::{THREE, has_a_run, judged, may_hold, outcomes, policy};

const WAIT: &str = "wait(dispatches <= position + direct_runs)";

/// The first of these with every solver, too.
fn all(texts: &[String], test: &str) -> Vec<(Outcome, String)> {
    let of = |text: &String| judged(text, Vec::new(), THREE).into_iter().map(|it| it.outcome);
    let alone = texts.iter().flat_map(|text| of(text).zip(again(text)));
    let solved =
        texts.iter().take(1).flat_map(|text| outcomes(text, test).into_iter().zip(again(text)));
    alone.chain(solved).collect()
}

fn again(text: &str) -> impl Iterator<Item = String> {
    std::iter::repeat(text.to_owned())
}

fn hold_or_unknown(texts: &[String], test: &str) {
    for (outcome, text) in all(texts, test) {
        assert!(may_hold(&outcome), "{outcome:?}\n{text}");
    }
}

fn refuted(texts: &[String], test: &str) {
    for (outcome, text) in all(texts, test) {
        assert!(has_a_run(&outcome), "{outcome:?}\n{text}");
    }
}

/// A queue for every CPU, from which no other CPU takes; `after` follows the put.
fn kicking(after: &str) -> String {
    format!(
        "policy p(slice: time = 5ms) {{
            queue ready : fifo per cpu
            on new(t), wake(t), preempt(t), yield(t) {{
                put t in home(t).ready slice slice wake within cpu
                {after}
            }}
            on block(t), exit(t) {{ }}
            on dispatch(c) {{ take c.ready }}
            prove no_lost_wakeup
        }}"
    )
}

#[test]
fn a_kick_that_the_handler_makes_is_made() {
    let test = "a_kick_that_the_handler_makes_is_made";
    let claims = "let c = idle cpu in allowed(t) near home(t) by [machine]\n if c { kick c }";
    hold_or_unknown(
        &[
            "if queued(home(t).ready) >= 1 { kick home(t) }",
            "if queued(home(t).ready) = 0 { } else { kick home(t) }",
            "let waits = queued(home(t).ready)\n if waits > 0 { kick home(t) }",
            "if idle(home(t)) { kick home(t) }",
            claims,
        ]
        .map(kicking),
        test,
    );
    refuted(
        &[
            "if queued(home(t).ready) >= 2 { kick home(t) }",
            "if queued(home(t).ready) < 1 { kick home(t) }",
            "if running(home(t)) >= 1 { kick home(t) }",
            "if now > 1s { kick home(t) }",
        ]
        .map(kicking),
        test,
    );
}

/// The CPU that displaced a task looks for the next one at once.
#[test]
fn a_cpu_that_displaced_a_task_looks_for_the_next() {
    let text = "policy p() {
        queue q : fifo per cpu
        on new(t), wake(t) { put t in home(t).q }
        on preempt(t), yield(t) { put t in home(t).q wake within cpu }
        on block(t), exit(t) { }
        on dispatch(c) { take c.q else balance idle }
        balance idle {
            level machine
            filter(me, v) = queued(v.q) >= 1
            steal 1 where me in allowed(t)
        }
        prove no_lost_wakeup
    }";
    hold_or_unknown(&[text.to_owned()], "a_cpu_that_displaced_a_task_looks_for_the_next");
}

/// Tasks that may run on one CPU only wait there, all others in a queue from which every CPU takes.
fn parted(pinned: &str, retry: &str, claim: &str) -> String {
    format!(
        "policy p() {{
            queue pinned : fifo per cpu
            queue all : fifo per machine
            on new(t), wake(t), preempt(t), yield(t) {{
                if {pinned} {{ put t in home(t).pinned }} else {{ put t in machine.all }}
            }}
            on block(t), exit(t) {{ }}
            on dispatch(c) {{ take c.pinned else take machine.all else balance idle }}
            balance idle {{
                level machine
                filter(me, v) = queued(v.pinned) >= 1
                steal 1 where me in allowed(t)
                {retry}
            }}
            prove {claim}
        }}"
    )
}

#[test]
fn tries_that_are_bounded_refute_nothing_where_one_is_enough() {
    let test = "tries_that_are_bounded_refute_nothing_where_one_is_enough";
    let pinned = "not (exists c in allowed(t) : c != home(t))";
    for claim in ["work_conservation", "rounds(<= idle_cpus)", "no_lost_wakeup"] {
        hold_or_unknown(
            &[
                parted(pinned, "retry 0", claim),
                parted(pinned, "retry 1", claim),
                parted("forall c in allowed(t) : c = home(t)", "retry 0", claim),
            ],
            test,
        );
    }
    let wrong = "exists c in allowed(t) : c = home(t)";
    refuted(&[parted(wrong, "retry 0", "work_conservation")], test);
}

/// A count that a handler keeps, and a filter that asks for it.
fn counted(before: &str, filter: &str, claim: &str) -> String {
    format!(
        "policy p() {{
            cpu {{ n: count = 0 shared }}
            queue q : fifo per cpu
            on new(t), wake(t), preempt(t), yield(t) {{ {before}\n put t in home(t).q }}
            on block(t), exit(t) {{ }}
            on dispatch(c) {{ take c.q else balance idle }}
            balance idle {{
                level machine
                filter(me, v) = {filter}
                steal 1 from v.q where me in allowed(t)
            }}
            prove {claim}
        }}"
    )
}

#[test]
fn a_situation_begins_with_what_handlers_made_of_variables() {
    let test = "a_situation_begins_with_what_handlers_made_of_variables";
    let once = "home(t).n += 1";
    for claim in ["work_conservation", "rounds(<= idle_cpus)"] {
        hold_or_unknown(
            &[
                counted(once, "v.n >= 1", claim),
                counted(once, "queued(v.q) >= 1 and v.n != 0", claim),
                counted("home(t).n += 3", "v.n >= 2", claim),
            ],
            test,
        );
    }
    // Who runs on the CPU where the task waits has come there, too.
    let claims = [("work_conservation", 2, 4), ("rounds(<= idle_cpus)", 3, 7)];
    for (claim, one, three) in claims {
        refuted(
            &[
                counted(once, &format!("v.n >= {one}"), claim),
                counted("home(t).n += 3", &format!("queued(v.q) >= 1 and v.n >= {three}"), claim),
            ],
            test,
        );
    }
    hold_or_unknown(&[counted(once, "v.n >= 2", "rounds(<= idle_cpus)")], test);
}

/// Dispatch takes from `hi` first.
fn first(handlers: &str, takes: &str) -> String {
    format!(
        "policy p() {{
            queue hi : fifo per cpu
            queue other : fifo per machine
            queue ready : fifo per cpu
            {handlers}
            on block(t), exit(t) {{ }}
            on dispatch(c) {{ {takes} }}
            prove {WAIT}
        }}"
    )
}

#[test]
fn no_task_is_overtaken_from_a_queue_into_which_none_comes() {
    let test = "no_task_is_overtaken_from_a_queue_into_which_none_comes";
    let all = "on new(t), wake(t), preempt(t), yield(t)";
    let plain = format!("{all} {{ put t in home(t).ready }}");
    let never = format!(
        "{all} {{ if t.weight > 20000 {{ put t in home(t).hi }} else {{ put t in home(t).ready }} }}"
    );
    let takes = "take c.hi else take c.ready";
    hold_or_unknown(
        &[
            first(&plain, takes),
            first(&plain, "take machine.other else take c.hi else take c.ready"),
            first(&never, takes),
        ],
        test,
    );
    let some = "on new(t), wake(t), preempt(t) { put t in home(t).ready }
        on yield(t) { put t in home(t).hi }";
    let heavy = format!(
        "{all} {{ if t.weight > 100 {{ put t in home(t).hi }} else {{ put t in home(t).ready }} }}"
    );
    refuted(&[first(some, takes), first(&heavy, takes)], test);
}

/// A CPU keeps a variable after a task began or ended there; tasks return to where they ran.
fn kept(event: &str, filter: &str) -> String {
    format!(
        "policy p() {{
            cpu {{ on: count = 0 owner cpu }}
            queue q : fifo per cpu
            queue all : fifo per machine
            on new(t) {{ put t in machine.all }}
            on wake(t), preempt(t), yield(t) {{
                if t.prev in allowed(t) {{ put t in t.prev.q }} else {{ put t in machine.all }}
            }}
            on {event}
            on block(t), exit(t) {{ }}
            on dispatch(c) {{ take c.q else take machine.all else balance idle }}
            balance idle {{
                level machine
                filter(me, v) = queued(v.q) >= 1 and {filter}
                steal 1 where me in allowed(t)
            }}
            prove work_conservation, rounds(<= idle_cpus)
        }}"
    )
}

#[test]
fn after_a_task_ran_variables_are_as_it_left_them() {
    let test = "after_a_task_ran_variables_are_as_it_left_them";
    hold_or_unknown(
        &[
            kept("start(t) { here.on := 1 }", "v.on >= 1"),
            kept("start(t) { here.on := 1 }", "v.on = 1"),
            kept("stop(t, ran) { here.on := 1 }", "v.on >= 1"),
            kept("stop(t, ran) { here.on := here.on + 1 }", "v.on >= 1"),
        ],
        test,
    );
    refuted(
        &[
            kept("start(t) { here.on := 1 }", "v.on >= 2"),
            kept("stop(t, ran) { here.on := here.on + 1 }", "v.on >= 20"),
        ],
        test,
    );
}

/// The counterexample of one text, forced on another: handlers are executed there.
#[test]
fn what_is_forced_executes_handlers() {
    let wrong = kicking("if queued(home(t).ready) >= 2 { kick home(t) }");
    let verdict = judged(&wrong, Vec::new(), THREE).remove(0);
    let Outcome::Refuted(found) = verdict.outcome else { panic!("{:?}", verdict.outcome) };
    let history: History = found.history(&policy(&wrong), "no_lost_wakeup", &wrong);
    let force = |text: &str| {
        let recorded = Recorded::read(&history).expect("it is whole");
        recorded.force(&policy(text)).expect("it fits")
    };
    assert!(force(&wrong).is_reached());
    for mend in ["if queued(home(t).ready) >= 1 { kick home(t) }", "kick home(t)"] {
        let replay = force(&kicking(mend));
        assert!(!replay.is_reached(), "{mend}: {replay:?}");
        assert!(replay.otherwise[0].contains("takes task 0"), "{:?}", replay.otherwise);
    }
}

/// What is told beside a mended step is told of a run, too: kicks of handlers are made there.
#[test]
fn a_mended_text_still_goes_wrong_only_if_a_run_does() {
    let claims = "let c = idle cpu in allowed(t) near t.prev by [machine]";
    let handlers = |first: &str, then: &str| {
        let body = format!("{first}\n put t in home(t).q wake within llc\n {then}\n {{ kick c }}");
        format!(
            "policy p {{
                queue q : fifo per cpu
                on new(t), wake(t) {{ {body} }}
                on preempt(t), yield(t) {{ {body} }}
                on block(t), exit(t) {{ }}
                on dispatch(c) {{ take c.q else balance idle }}
                balance idle {{
                    level machine
                    filter(me, v) = queued(v.q) >= 1
                    steal 1 from v.q
                }}
                prove no_lost_wakeup
            }}"
        )
    };
    let wrong = handlers(claims, "if c");
    let verdict = judged(&wrong, Vec::new(), THREE).remove(0);
    let Outcome::Refuted(found) = verdict.outcome else { panic!("{:?}", verdict.outcome) };
    let history: History = found.history(&policy(&wrong), "no_lost_wakeup", &wrong);
    let force = |text: &str| {
        let recorded = Recorded::read(&history).expect("it is whole");
        recorded.force(&policy(text)).expect("it fits")
    };
    let mended = force(&handlers("", &format!("{claims}\n if c")));
    assert!(!mended.is_reached() && mended.otherwise[0].contains("takes task 0"), "{mended:?}");
    assert_eq!(mended.still, None);
}

/// Lanes by weight, or by the number of waiting tasks; no CPU takes from one of them.
fn lanes(lost: &str) -> String {
    format!(
        "policy p(least: weight = 300) {{
            queue a : fifo per machine
            queue b : fifo per machine
            on new(t), wake(t), preempt(t), yield(t) {{
                if {lost} {{ put t in machine.b }} else {{ put t in machine.a }}
            }}
            on block(t), exit(t) {{ }}
            on dispatch(c) {{ take machine.a }}
            prove no_lost_task, work_conservation
        }}"
    )
}

#[test]
fn who_is_lost_is_found_by_the_numbers_of_the_text() {
    let test = "who_is_lost_is_found_by_the_numbers_of_the_text";
    refuted(
        &[
            "t.weight > 200 and t.weight <= 1000",
            "t.weight > least and t.weight < 500",
            "t.weight = 125",
            "t.weight >= 8000",
            "queued(machine.a) = 2",
            "queued(machine.a) >= 50",
            "queued(machine.a) = 7 and t.weight = 80",
            "weight(machine.a) > 5000",
        ]
        .map(lanes),
        test,
    );
    // No nice value weighs so much.
    hold_or_unknown(&["t.weight >= 8669", "t.weight = 126"].map(lanes), test);
}

/// A task that finds another one in the first queue goes to a second one, and is passed by.
#[test]
fn who_comes_to_an_overflow_is_passed_by() {
    let over = |waits: &str, takes: &str| {
        let ready = "put t in home(t).ready";
        format!(
            "policy p() {{
                queue ready : fifo per cpu
                queue over : fifo per machine
                on new(t), wake(t), preempt(t), yield(t) {{
                    if queued(home(t).ready) {waits} {{ {ready} }} else {{ put t in machine.over }}
                }}
                on block(t), exit(t) {{ }}
                on dispatch(c) {{ {takes} }}
                prove {WAIT}
            }}"
        )
    };
    let takes = "take c.ready else take machine.over";
    refuted(&[over("= 0", takes), over("< 2", takes)], "who_comes_to_an_overflow_is_passed_by");
    let never = over(">= 0", takes);
    hold_or_unknown(&[never], "who_comes_to_an_overflow_is_passed_by");
}
