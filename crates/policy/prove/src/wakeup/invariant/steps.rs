//! The steps of CPUs and enqueuers as changes of relations. They may happen in any order.

use super::super::{Chain, Variant};
use super::{ASLEEP, BUSY, Change, Names, PASSES, SCANS, TOOK, sort};
use crate::smt::{Term, and, call, choice, distinct, equal, forall, implies, int, name, not, or};

/// One step: when it can be taken, and what it changes. Other relations stay as they are.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) guard: Term,
    pub(super) changes: Vec<Change>,
}

pub(super) fn steps(variant: Variant) -> Vec<Step> {
    let mut all = steps_of_enqueuers(variant);
    all.extend(steps_of_scans(variant));
    all.extend(steps_of_takers(variant));
    all.extend(steps_of_passers());
    all
}

fn step(name: &'static str, about: &'static str, guard: Term, changes: Vec<Change>) -> Step {
    Step { name, about, guard, changes }
}

fn steps_of_enqueuers(variant: Variant) -> Vec<Step> {
    let s = Names(&[]);
    let looks = || s.of("looks", &["it"]);
    let new_home = || {
        [
            ("at", ite_is("t", "it", name("here"), s.of("at", &["t"]))),
            ("takes", ite_is("t", "it", s.of("new_takes", &["c"]), s.of("takes", &["c", "t"]))),
        ]
    };
    let begins =
        || [set("looks"), ("seen", and([s.of("seen", &["t", "c"]), other_than("t", "it")]))];
    let away = and([not(s.of("waits", &["it"])), not(looks())]);
    let mut all = match variant.kick_first {
        false => vec![step(
            "put",
            "a task is inserted, and its enqueuer begins to look for an idle CPU",
            away,
            new_home().into_iter().chain([set("waits")]).chain(begins()).collect(),
        )],
        true => vec![
            step(
                "look-first",
                "an enqueuer begins to look for an idle CPU before it inserts its task",
                away.clone(),
                new_home().into_iter().chain(begins()).collect(),
            ),
            step(
                "put-last",
                "an enqueuer inserts its task after it began to look for an idle CPU",
                away,
                vec![set("waits")],
            ),
        ],
    };
    all.extend([
        step(
            "claim",
            "an enqueuer finds an idle CPU, claims it and kicks it",
            and([looks(), s.of("idle", &["me"]), s.of("takes", &["me", "it"])]),
            claim("me").into_iter().chain([unset("looks")]).collect(),
        ),
        step(
            "look-in-vain",
            "an enqueuer looks at a CPU that is not idle",
            and([looks(), not(s.of("idle", &["me"]))]),
            vec![("seen", or([s.of("seen", &["t", "c"]), and([is("t", "it"), is("c", "me")])]))],
        ),
        step(
            "give-up",
            "an enqueuer has looked at all CPUs that would take its task",
            and([
                looks(),
                forall(
                    [("c", sort("c"))],
                    implies(s.of("takes", &["c", "it"]), s.of("seen", &["it", "c"])),
                ),
            ]),
            vec![unset("looks")],
        ),
        step(
            "run-direct",
            "an enqueuer claims an idle CPU, gives it the task and kicks it",
            s.of("idle", &["me"]),
            vec![unset("idle"), set("local"), set("kicked")],
        ),
    ]);
    all
}

fn steps_of_scans(variant: Variant) -> Vec<Step> {
    let s = Names(&[]);
    let local = || s.of("local", &["me"]);
    let all_visited = || forall([("q", sort("q"))], s.of("visited", &["me", "q"]));
    let arm_at_once = !variant.no_rescan;
    let dispatch = [phase(SCANS), if arm_at_once { set("idle") } else { unset("idle") }];
    let sleep = [phase(ASLEEP)].into_iter().chain((!arm_at_once).then(|| set("idle")));
    let nothing_here = forall(
        [("t", sort("t"))],
        implies(
            and([s.of("waits", &["t"]), equal(s.of("at", &["t"]), name("here"))]),
            not(s.of("takes", &["me", "t"])),
        ),
    );
    vec![
        step(
            "dispatch",
            "a busy or sleeping CPU starts to dispatch",
            and([s.phase("me", &[BUSY, ASLEEP]), not(local())]),
            dispatch
                .into_iter()
                .chain([
                    any("kicked"),
                    (
                        "owes",
                        ite_is("c", "me", s.of("claimed", &["c", "t"]), s.of("owes", &["c", "t"])),
                    ),
                    ("claimed", and([s.of("claimed", &["c", "t"]), other_than("c", "me")])),
                    ("visited", and([s.of("visited", &["c", "q"]), other_than("c", "me")])),
                ])
                .collect(),
        ),
        step(
            "find-nothing",
            "a CPU finds nothing in a queue",
            and([s.phase("me", &[SCANS]), nothing_here]),
            vec![(
                "visited",
                or([s.of("visited", &["c", "q"]), and([is("c", "me"), is("q", "here")])]),
            )],
        ),
        step(
            "sleep",
            "a CPU has found nothing in any queue, and sleeps",
            and([s.phase("me", &[SCANS]), not(local()), all_visited()]),
            sleep.collect(),
        ),
        step(
            "scan-given",
            "a CPU has found nothing, and runs a task that another CPU gave it during its search",
            and([s.phase("me", &[SCANS]), local(), all_visited()]),
            vec![phase(BUSY), any("local")],
        ),
        step(
            "run-given",
            "a busy or sleeping CPU runs a task that it was given",
            and([s.phase("me", &[BUSY, ASLEEP]), local()]),
            vec![phase(BUSY), any("local"), any("kicked")],
        ),
        step(
            "kick-in-vain",
            "a kick reaches a CPU that neither sleeps nor scans",
            s.phase("me", &[BUSY, TOOK, PASSES]),
            vec![unset("kicked")],
        ),
    ]
}

fn steps_of_takers(variant: Variant) -> Vec<Step> {
    let s = Names(&[]);
    let own = |relation: &'static str, over: &[&str]| {
        (relation, and([s.of(relation, over), other_than("c", "me")]))
    };
    let owed = match variant.chain {
        Chain::Not | Chain::One | Chain::OneAnywhere => Term::Bool(false),
        Chain::Each => s.of("waits", &["t"]),
        Chain::Owed => or([s.of("owes", &["c", "t"]), s.of("claimed", &["c", "t"])]),
    };
    vec![
        step(
            "remove",
            "a task leaves its queue and is enqueued later, because it is moved or its \
             affinity changes",
            s.of("waits", &["it"]),
            vec![unset("waits")],
        ),
        step(
            "take",
            "a CPU takes a task",
            and([s.phase("me", &[SCANS]), s.of("waits", &["it"]), s.of("takes", &["me", "it"])]),
            vec![unset("waits"), phase(TOOK)],
        ),
        step(
            "say-busy",
            "a CPU that took a task marks itself busy",
            s.phase("me", &[TOOK]),
            vec![
                phase(PASSES),
                unset("idle"),
                ("owes", ite_is("c", "me", owed, s.of("owes", &["c", "t"]))),
                own("claimed", &["c", "t"]),
                own("tried", &["c", "t", "x"]),
            ],
        ),
    ]
}

/// The steps of a CPU that has taken a task, and wakes others for those that it leaves.
fn steps_of_passers() -> Vec<Step> {
    let s = Names(&[]);
    let owes = || s.of("owes", &["me", "it"]);
    let none_left = forall(
        [("x", sort("x"))],
        implies(s.of("takes", &["x", "it"]), s.of("tried", &["me", "it", "x"])),
    );
    let paid = || {
        let this = and([is("c", "me"), is("t", "it")]);
        ("owes", and([s.of("owes", &["c", "t"]), not(this)]))
    };
    let passes = || s.phase("me", &[PASSES]);
    vec![
        step(
            "pass-on",
            "a CPU claims and kicks another CPU for a task to which it owes a wakeup",
            and([passes(), owes(), s.of("takes", &["other", "it"]), s.of("idle", &["other"])]),
            claim("other").into_iter().chain([paid()]).collect(),
        ),
        step(
            "pass-in-vain",
            "a CPU that owes a wakeup to a task looks at a CPU that is not idle",
            and([passes(), owes(), not(s.of("idle", &["other"]))]),
            vec![(
                "tried",
                or([
                    s.of("tried", &["c", "t", "x"]),
                    and([is("c", "me"), is("t", "it"), is("x", "other")]),
                ]),
            )],
        ),
        step(
            "owe-no-more",
            "a CPU stops owing a wakeup to a task, because the task no longer waits or the CPU has \
             looked at every other CPU",
            and([passes(), owes(), or([not(s.of("waits", &["it"])), none_left])]),
            vec![paid()],
        ),
        step(
            "run-taken",
            "a CPU that owes no more wakeups runs the task that it took",
            and([passes(), forall([("t", sort("t"))], not(s.of("owes", &["me", "t"])))]),
            vec![phase(BUSY)],
        ),
    ]
}

/// The cell of a CPU becomes `claimed for it`, and it is kicked.
fn claim(cpu: &'static str) -> [Change; 3] {
    let s = Names(&[]);
    let claimed = and([is("c", cpu), is("t", "it")]);
    [
        ("idle", and([s.of("idle", &["c"]), other_than("c", cpu)])),
        ("claimed", or([s.of("claimed", &["c", "t"]), claimed])),
        ("kicked", or([s.of("kicked", &["c"]), is("c", cpu)])),
    ]
}

/// The variable of a relation that a step sets for one element, and that element: its CPU or task.
fn subject(relation: &str) -> (&'static str, &'static str) {
    if matches!(relation, "waits" | "looks") { ("t", "it") } else { ("c", "me") }
}

fn set(relation: &'static str) -> Change {
    let (variable, one) = subject(relation);
    (relation, or([call(relation, [name(variable)]), is(variable, one)]))
}

fn unset(relation: &'static str) -> Change {
    let (variable, one) = subject(relation);
    (relation, and([call(relation, [name(variable)]), other_than(variable, one)]))
}

/// The relation may hold for `me` afterwards, or not.
fn any(relation: &'static str) -> Change {
    (relation, ite_is("c", "me", name("maybe"), call(relation, [name("c")])))
}

fn phase(phase: i64) -> Change {
    ("phase", ite_is("c", "me", int(phase), call("phase", [name("c")])))
}

fn is(variable: &str, one: &str) -> Term {
    equal(name(variable), name(one))
}

fn other_than(variable: &str, one: &str) -> Term {
    distinct([name(variable), name(one)])
}

fn ite_is(variable: &str, one: &str, then: Term, otherwise: Term) -> Term {
    choice(is(variable, one), then, otherwise)
}
