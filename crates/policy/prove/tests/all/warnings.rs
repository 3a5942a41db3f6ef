//! Warnings: what no claim speaks of, each with its place and what shows it.

use wastenot_prove::solver::Solver;
use wastenot_prove::{Warning, warnings};

use crate::gallery::texts;
use crate::solvers::solvers;
use crate::texts::{THREE, from_the_longest, options};

fn warned(text: &str, solvers: &[Solver]) -> Vec<Warning> {
    let program = wastenot_rota::compile(text).unwrap_or_else(|why| panic!("{why:?}\n{text}"));
    let options = options(solvers.to_vec(), THREE);
    let all = program.policies.iter().map(|it| warnings(it, &options).expect("an answer"));
    all.flatten().collect()
}

/// Codes, and the text at each place.
fn codes<'t>(text: &'t str, found: &[Warning]) -> Vec<(&'static str, &'t str)> {
    let at = |it: &Warning| &text[it.span.start as usize..it.span.end as usize];
    found.iter().map(|it| (it.code, at(it))).collect()
}

/// A queue per CPU that idle CPUs take from, with more handlers.
fn stealing(more: &str) -> String {
    let claims = "no_lost_task, no_lost_wakeup, work_conservation";
    from_the_longest("queued(v.q) >= 1", claims).replace("prove", &format!("{more}\n prove"))
}

#[test]
fn policies_that_come_with_the_project_have_no_warning() {
    let solvers = solvers("policies_that_come_with_the_project_have_no_warning");
    let first = &solvers[..solvers.len().min(1)];
    for (path, text) in texts("") {
        assert_eq!(warned(&text, first), [], "{}", path.display());
    }
    assert_eq!(warned(&stealing(""), first), []);
}

#[test]
fn who_interrupts_each_task_that_begins_never_lets_one_run() {
    for (more, event) in [
        ("on start(t) { kick here preempt }", "start"),
        ("on start(t) { if queued(here.q) >= 1 { kick here preempt } }", "start"),
        // Two CPUs interrupt each other.
        (
            "on start(t) { let v = argmax v in machine : queued(v.q) - running(v)
                           kick v preempt }",
            "start",
        ),
        (
            "cpu { n: count = 0 owner cpu } on start(t) { here.n := 1 - here.n \n kick here preempt }",
            "start",
        ),
    ] {
        let text = stealing(more);
        let found = warned(&text, &[]);
        assert_eq!(codes(&text, &found), [("livelock", event)], "{more}");
        let evidence = &found[0].evidence;
        assert!(evidence.contains("`start` takes CPU 0 from task"), "{evidence}");
        assert!(evidence.ends_with("; and so on"), "{evidence}");
    }
}

/// What ends by itself, or only with time, is no livelock.
#[test]
fn who_interrupts_a_task_now_and_then_is_not_warned_of() {
    for more in [
        "on tick(t) { kick here preempt }",
        "on stop(t, ran) { kick here preempt }",
        "on start(t) { if queued(here.q) >= 9 { kick here preempt } }",
        "cpu { n: count = 0 owner cpu }
         on start(t) { if here.n < 50 { here.n += 1 \n kick here preempt } }",
        "task { n: count = 0 owner queue }
         on start(t) { if t.n < 50 { kick here preempt } }
         on stop(t, ran) { t.n += 1 }",
    ] {
        assert_eq!(warned(&stealing(more), &[]), [], "{more}");
    }
}

#[test]
fn moves_that_never_end_are_warned_of_where_nothing_claims_that_they_do() {
    let moving = |difference: &str| {
        stealing(&format!(
            "balance every 4ms {{
                level machine
                filter(me, v) = queued(v.q) - queued(me.q) >= {difference}
                choose argmax queued(v.q)
                steal 1 into me.q
            }}"
        ))
    };
    let text = moving("1");
    let found = warned(&text, &[]);
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(one.code, "endless-moves");
    assert!(text[one.span.start as usize..].starts_with("balance every"), "{one:?}");
    assert!(one.evidence.starts_with("on 2 CPUs: ") && one.evidence.contains("moves task 0"));
    assert_eq!(warned(&moving("2"), &[]), []);
    // There it is the verdict's.
    let claimed = text.replace("prove no_lost_task", "prove settles, no_lost_task");
    assert_eq!(warned(&claimed, &[]), []);
}

#[test]
fn queues_that_nothing_fills_are_named_where_they_are_taken_from() {
    let text = stealing("queue hi : fifo per cpu").replace("take c.q", "take c.hi else take c.q");
    let found = warned(&text, &[]);
    assert_eq!(codes(&text, &found), [("never-filled", "c.hi")]);
    let fed =
        text.replace("yield(t) {", "yield(t) { if t.weight > 100 { put t in home(t).hi } else {");
    let fed = fed.replace("put t in home(t).q }", "put t in home(t).q } }");
    assert_eq!(warned(&fed, &[]), []);
}

#[test]
fn a_filter_that_nothing_passes_is_named() {
    let test = "a_filter_that_nothing_passes_is_named";
    let with = |filter: &str| stealing("").replace("queued(v.q) >= 1", filter);
    for solver in solvers(test) {
        let one = std::slice::from_ref(&solver);
        for filter in [
            "queued(v.q) >= 1 and queued(v.q) < 1",
            "queued(v.q) < 0",
            "queued(v.q) >= 1 and cpus(node(v)) = 0",
        ] {
            let text = with(filter);
            let found = warned(&text, one);
            assert_eq!(codes(&text, &found).first().map(|it| it.0), Some("never-passes"));
            assert!(found[0].evidence.starts_with(&solver.to_string()), "{found:?}");
        }
        for filter in
            ["queued(v.q) >= 100", "queued(v.q) + cpus(node(v)) = 50", "queued(v.q) > queued(me.q)"]
        {
            assert_eq!(warned(&with(filter), one), [], "{filter}");
        }
    }
}
