//! Policies that people write and that were once `unknown`: what is true of any number of CPUs is
//! proved so, and what is false beside it is refuted, or not proved.

use wastenot_prove::{Outcome, Scope, Verdict};

use crate::solvers::solvers;
use crate::texts::{self, THREE, from_the_longest};

/// A policy whose idle CPUs take from others.
struct Text {
    params: &'static str,
    queues: &'static str,
    put: &'static str,
    take: &'static str,
    filter: &'static str,
    claims: &'static str,
}

const PLAIN: Text = Text {
    params: "",
    queues: "",
    put: "put t in home(t).q",
    take: "take c.q",
    filter: "queued(v.q) >= 1",
    claims: "no_lost_task, work_conservation, rounds(<= idle_cpus)",
};

/// What becomes of each claim, by each solver.
fn judged(text: &Text, test: &str) -> Vec<Verdict> {
    let Text { params, queues, put, take, filter, claims } = text;
    let text = from_the_longest(filter, claims)
        .replace("p()", &format!("p({params})"))
        .replace("queue q : fifo per cpu", &format!("queue q : fifo per cpu\n{queues}"))
        .replace("put t in home(t).q", put)
        .replace("take c.q", take);
    let of = |solver| texts::judged(&text, vec![solver], THREE);
    solvers(test).into_iter().flat_map(of).collect()
}

fn proved(text: &Text, test: &str) -> Vec<Verdict> {
    let all = judged(text, test);
    for verdict in &all {
        let any = matches!(verdict.outcome, Outcome::Proved(Scope::Any));
        assert!(any, "{} {} {:?}", text.filter, text.put, verdict.outcome);
    }
    all
}

/// Some claim is refuted, and none that is false is proved: `work_conservation` is false.
fn refuted(text: &Text, test: &str) {
    for verdict in judged(text, test).iter().filter(|it| it.claim.kind.name() != "no_lost_task") {
        let no = matches!(verdict.outcome, Outcome::Refuted(_));
        assert!(no, "{} {} {:?}", text.filter, text.put, verdict.outcome);
    }
}

#[test]
fn sums_over_groups_with_the_waiting_tasks_are_decided() {
    let test = "sums_over_groups_with_the_waiting_tasks_are_decided";
    for filter in [
        "(sum o in node(v) : queued(o.q)) >= 1 and queued(v.q) >= 0",
        "queued(v.q) >= 1 and (sum o in machine : queued(o.q)) >= 1",
        "queued(v.q) >= 1 and (sum o in llc(v) : weight(o.q)) >= 1",
        "(count o in node(v) : queued(o.q) >= 1) >= 1 and queued(v.q) >= 0",
        "queued(v.q) >= 1 and (sum o in node(v) : running(o)) <= cpus(node(v))",
    ] {
        proved(&Text { filter, ..PLAIN }, test);
    }
    for filter in [
        "(sum o in node(v) : queued(o.q)) >= 2 and queued(v.q) >= 0",
        "queued(v.q) >= 1 and (sum o in machine : queued(o.q)) <= 1",
        "queued(v.q) >= 1 and (sum o in llc(v) : weight(o.q)) >= 2",
        "(count o in node(v) : queued(o.q) >= 1) >= 2 and queued(v.q) >= 0",
        "queued(v.q) >= 1 and (sum o in node(v) : running(o)) < cpus(node(v)) - 1",
        // What one has another may owe.
        "queued(v.q) >= 1 and (sum o in machine : queued(o.q) - running(o)) >= 1",
    ] {
        refuted(&Text { filter, ..PLAIN }, test);
    }
}

#[test]
fn a_threshold_that_is_a_parameter_is_decided_as_the_text_gives_it() {
    let test = "a_threshold_that_is_a_parameter_is_decided_as_the_text_gives_it";
    let filter = "queued(v.q) >= k";
    let given = |params| Text { params, filter, ..PLAIN };
    for verdict in proved(&given("k: count = 1"), test) {
        let mut named = verdict.obligations.iter().flat_map(|it| &it.as_given);
        let conserves = verdict.claim.kind.name() != "no_lost_task";
        assert_eq!(named.next().is_some_and(|name| name == "k"), conserves, "{verdict:?}");
    }
    refuted(&given("k: count = 2"), test);
    // What holds with any value is not narrowed.
    let any = Text { params: "k: count = 1", filter: "queued(v.q) + k > k", ..PLAIN };
    for verdict in proved(&any, test) {
        assert!(verdict.obligations.iter().all(|it| it.as_given.is_empty()), "{verdict:?}");
    }
}

/// Tasks with one CPU have a lane of their own, into which no other CPU looks.
#[test]
fn a_lane_for_pinned_tasks_is_decided() {
    let test = "a_lane_for_pinned_tasks_is_decided";
    let queues = "queue lane : fifo per cpu";
    let lane = |put| Text { queues, put, take: "take c.lane else take c.q", ..PLAIN };
    for put in [
        "if (count c in allowed(t) : c in machine) = 1
            { put t in home(t).lane } else { put t in home(t).q }",
        "if (count c in allowed(t) : c in machine) <= 1
            { put t in home(t).lane } else { put t in home(t).q }",
        "if forall c in allowed(t) : c in home(t)
            { put t in home(t).lane } else { put t in home(t).q }",
    ] {
        proved(&lane(put), test);
    }
    for put in [
        "if (count c in allowed(t) : c in machine) <= 2
            { put t in home(t).lane } else { put t in home(t).q }",
        "if (count c in allowed(t) : c in machine) != 1
            { put t in home(t).lane } else { put t in home(t).q }",
        "if exists c in allowed(t) : c in home(t)
            { put t in home(t).lane } else { put t in home(t).q }",
    ] {
        refuted(&lane(put), test);
    }
}

#[test]
fn what_is_put_under_a_condition_that_cannot_hold_is_put_nowhere() {
    let test = "what_is_put_under_a_condition_that_cannot_hold_is_put_nowhere";
    let queues = "queue lost : fifo per cpu";
    let under = |put| Text { queues, put, ..PLAIN };
    for put in [
        "if queued(home(t).q) < 0 { put t in home(t).lost } else { put t in home(t).q }",
        "if running(machine) > cpus(machine)
            { put t in home(t).lost } else { put t in home(t).q }",
        "if t.weight > 10000 { put t in home(t).lost } else { put t in home(t).q }",
    ] {
        proved(&under(put), test);
    }
    for put in [
        "if queued(home(t).q) > 3 { put t in home(t).lost } else { put t in home(t).q }",
        // Each is read at an instant of its own: both may be so.
        "if t.weight > 9999 { put t in home(t).lost } else { put t in home(t).q }",
    ] {
        for verdict in judged(&under(put), test) {
            let proved = matches!(verdict.outcome, Outcome::Proved(_));
            assert!(!proved, "{put} {:?}", verdict.outcome);
        }
    }
    // A variable that is set in between, and what changes between two reads.
    let set = Text {
        queues: "task { n: count = 0 owner queue } queue lost : fifo per cpu",
        put: "t.n := 0
              if t.n = 0 {
                  t.n := 1
                  if t.n = 1 { put t in home(t).lost } else { put t in home(t).q }
              } else { put t in home(t).q }",
        ..PLAIN
    };
    let twice = Text {
        queues,
        put: "if queued(home(t).q) = 0 {
                  if queued(home(t).q) = 1 { put t in home(t).lost } else { put t in home(t).q }
              } else { put t in home(t).q }",
        ..PLAIN
    };
    for text in [set, twice] {
        for verdict in judged(&text, test) {
            let any = matches!(verdict.outcome, Outcome::Proved(Scope::Any));
            assert!(!any, "{} {:?}", text.put, verdict.outcome);
        }
    }
}

/// The counterexample has to have more tasks, or CPUs, than the filter's number.
#[test]
fn filters_on_larger_numbers_are_refuted_beyond_them() {
    let test = "filters_on_larger_numbers_are_refuted_beyond_them";
    let claims = "work_conservation";
    for filter in [
        "queued(v.q) >= 1 and queued(v.q) <= 10",
        "queued(v.q) >= 1 and (sum o in machine : queued(o.q)) <= 40",
        "queued(v.q) >= 1 and cpus(machine) <= 6",
    ] {
        refuted(&Text { filter, claims, ..PLAIN }, test);
    }
}

/// The CPU that scans is idle under `work_conservation`; a CPU that was woken may be given a task.
#[test]
fn that_i_am_idle_costs_nothing_but_the_wakeup() {
    let test = "that_i_am_idle_costs_nothing_but_the_wakeup";
    let filter = "queued(v.q) >= 1 and idle(me)";
    proved(&Text { filter, ..PLAIN }, test);
    refuted(&Text { filter: "queued(v.q) >= 1 and idle(v)", ..PLAIN }, test);
    for verdict in judged(&Text { filter, claims: "no_lost_wakeup", ..PLAIN }, test) {
        // What defeats it is named.
        let Outcome::Unknown(why) = &verdict.outcome else { panic!("{:?}", verdict.outcome) };
        let named = "`idle(me)`; conditions that fail: `idle(me)`";
        assert!(why.ends_with(named), "{why}");
    }
}
