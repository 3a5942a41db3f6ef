//! The protocol for any number of CPUs, tasks, queues and enqueuers: an invariant that holds at the
//! start, that every step keeps, and that implies that no wakeup is lost.
//!
//! A state is a set of relations, and a step changes some of them. CPUs, tasks and queues are sorts
//! of any size. `takes(c, t)` holds if CPU c would take task t: c is allowed and reads the queue of
//! t. `takes` and the queue of a task may change whenever the task is put, so affinities may
//! change.

mod steps;

use steps::{Step, steps};

#[cfg(doc)]
use super::Chain;
use super::Variant;
use crate::smt::{
    Script, Sort, Term, and, call, equal, exists, forall, implies, int, name, not, or,
};

/// A script whose answer is expected: unsatisfiable for [`obligations`], satisfiable for
/// [`premises`].
#[derive(Clone, Debug, PartialEq)]
pub struct Obligation {
    /// Its name: letters, digits and dashes.
    pub name: String,
    /// What it shows, in one sentence.
    pub what: String,
    /// The script for a solver.
    pub script: Script,
}

/// Every obligation of a variant: each script must be `unsat`. The invariant does not describe
/// [`Chain::One`] and [`Chain::OneAnywhere`], so obligations of these fail.
pub fn obligations(variant: Variant) -> Vec<Obligation> {
    let mut all = Vec::new();
    let mut start = declared("Does the invariant hold when all CPUs are busy?");
    start.assert("All CPUs are busy and no task waits.", all_busy());
    start.assert("The invariant does not hold.", not(invariant(&Names(&[]))));
    all.push(obligation("start", "the wakeup invariant holds when all CPUs are busy", start));
    for step in steps(variant) {
        let what = format!("the wakeup invariant is preserved when {}", step.about);
        all.push(obligation(step.name, &what, kept(&step)));
    }
    let mut goal = declared("Does the invariant imply that a CPU will look for the waiting task?");
    goal.assert("The invariant holds.", invariant(&Names(&[])));
    goal.assert("No CPU will look for a waiting task.", not(on_the_way()));
    all.push(obligation("goal", "the wakeup invariant implies that no wakeup is lost", goal));
    all
}

fn obligation(name: &str, what: &str, script: Script) -> Obligation {
    Obligation { name: format!("wakeup-{name}"), what: what.to_owned(), script }
}

/// For each step, whether it can be taken from some state in which the invariant holds: each script
/// must be `sat`. Otherwise the obligation of the step would hold vacuously.
pub fn premises(variant: Variant) -> Vec<Obligation> {
    let premise = |step: &Step| {
        let what = format!("it is possible that {}", step.about);
        let mut script = declared(&format!("Is it possible that {}?", step.about));
        script.assert("The invariant holds before.", invariant(&Names(&[])));
        script.assert("The step can be taken.", step.guard.clone());
        obligation(&format!("{}-can", step.name), &what, script)
    };
    steps(variant).iter().map(premise).collect()
}

const MEANING: &str = "\nFor any number of CPUs, tasks, queues and enqueuers (`any n`).\n\
    waits(t)       task t is in its queue, at(t)\n\
    takes(c, t)    CPU c may run t and reads its queue; the enqueuer of t looks at these CPUs\n\
    looks(t)       the enqueuer of t looks for an idle CPU; seen(t, c): it has looked at c\n\
    idle(c)        the cell (flag) of c says idle; claimed(c, t): the cell says claimed for t\n\
    kicked(c)      a kick of c is on its way\n\
    phase(c)       0 busy, 1 asleep, 2 scans, 3 took a task, 4 passes wakeups on\n\
    visited(c, q)  the present scan of c found nothing in queue q\n\
    owes(c, t)     c must pass on the wakeup of t; tried(c, t, x): c has looked at x for this\n\
    local(c)       c was given a task directly\n\
    A name with `.next` is the relation after the step.";

const BUSY: i64 = 0;
const ASLEEP: i64 = 1;
const SCANS: i64 = 2;
const TOOK: i64 = 3;
const PASSES: i64 = 4;

/// The relations of a state: the name and the arguments of each.
const RELATIONS: [(&str, &[&str]); 12] = [
    ("waits", &["t"]),
    ("takes", &["c", "t"]),
    ("looks", &["t"]),
    ("seen", &["t", "c"]),
    ("idle", &["c"]),
    ("claimed", &["c", "t"]),
    ("kicked", &["c"]),
    ("visited", &["c", "q"]),
    ("owes", &["c", "t"]),
    ("tried", &["c", "t", "x"]),
    ("local", &["c"]),
    ("new_takes", &["c"]),
];

/// The constants of a step: CPUs, a task, a queue and a truth value.
const ACTORS: [&str; 5] = ["me", "other", "it", "here", "maybe"];

/// The sort of a variable, by its name.
fn sort(variable: &str) -> Sort {
    match variable {
        "c" | "d" | "x" | "me" | "other" => Sort::named("Cpu"),
        "t" | "it" => Sort::named("Task"),
        "q" | "here" => Sort::named("Queue"),
        _ => Sort::Bool,
    }
}

fn declared(about: &str) -> Script {
    let mut script = Script::new(&format!("{about}\n{MEANING}"));
    script.sort("Cpu").sort("Task").sort("Queue");
    for (relation, over) in RELATIONS {
        script.declare(relation, over.iter().map(|variable| sort(variable)), Sort::Bool);
    }
    script.declare("at", [sort("t")], sort("q"));
    script.declare("phase", [sort("c")], Sort::Int);
    for actor in ACTORS {
        script.declare(actor, [], sort(actor));
    }
    script
}

/// The names of relations before a step, or after it: a relation that the step changes gets a new
/// name.
struct Names<'a>(&'a [Change]);

type Change = (&'static str, Term);

impl Names<'_> {
    fn of(&self, relation: &str, over: &[&str]) -> Term {
        let changed = self.0.iter().any(|(changed, _)| *changed == relation);
        let relation = if changed { format!("{relation}.next") } else { relation.to_owned() };
        call(&relation, over.iter().map(|variable| name(variable)))
    }

    fn phase(&self, cpu: &str, phases: &[i64]) -> Term {
        or(phases.iter().map(|phase| equal(self.of("phase", &[cpu]), int(*phase))))
    }

    fn visited_its_queue(&self, cpu: &str, task: &str) -> Term {
        let changed = self.0.iter().any(|(changed, _)| *changed == "visited");
        let visited = if changed { "visited.next" } else { "visited" };
        call(visited, [name(cpu), self.of("at", &[task])])
    }
}

/// No idle CPU that could take a waiting task is overlooked: the enqueuer has still to look at that
/// CPU, or another CPU has the wakeup and will take the task or hand the wakeup on.
fn invariant(s: &Names<'_>) -> Term {
    let over = |variables: &[&'static str], body| {
        forall(variables.iter().map(|variable| (*variable, sort(variable))), body)
    };
    let rests =
        or([s.phase("c", &[ASLEEP]), and([s.phase("c", &[SCANS]), s.visited_its_queue("c", "t")])]);
    let missed =
        and([s.of("waits", &["t"]), s.of("takes", &["c", "t"]), s.of("idle", &["c"]), rests]);
    let on_the_way = and([
        s.of("takes", &["d", "t"]),
        or([
            s.of("claimed", &["d", "t"]),
            and([
                s.of("owes", &["d", "t"]),
                or([
                    and([s.phase("d", &[SCANS]), not(s.visited_its_queue("d", "t"))]),
                    s.phase("d", &[TOOK]),
                    and([s.phase("d", &[PASSES]), not(s.of("tried", &["d", "t", "c"]))]),
                ]),
            ]),
        ]),
    ]);
    let looked_for = and([s.of("looks", &["t"]), not(s.of("seen", &["t", "c"]))]);
    let found = or([looked_for, exists([("d", sort("d"))], on_the_way)]);
    and([
        over(&["t", "c"], implies(missed, found)),
        over(
            &["c", "t"],
            implies(
                s.of("claimed", &["c", "t"]),
                and([
                    not(s.of("idle", &["c"])),
                    not(s.of("local", &["c"])),
                    s.phase("c", &[ASLEEP, SCANS, TOOK]),
                ]),
            ),
        ),
        over(
            &["c"],
            implies(
                s.of("idle", &["c"]),
                and([not(s.of("local", &["c"])), s.phase("c", &[ASLEEP, SCANS, TOOK])]),
            ),
        ),
        over(
            &["c"],
            implies(
                and([s.phase("c", &[ASLEEP, SCANS]), not(s.of("idle", &["c"]))]),
                s.of("kicked", &["c"]),
            ),
        ),
    ])
}

fn all_busy() -> Term {
    let s = Names(&[]);
    let cpus = and([
        s.phase("c", &[BUSY]),
        not(s.of("idle", &["c"])),
        not(s.of("local", &["c"])),
        not(s.of("claimed", &["c", "t"])),
    ]);
    let tasks = and([not(s.of("waits", &["t"])), not(s.of("looks", &["t"]))]);
    forall([("c", sort("c")), ("t", sort("t"))], and([cpus, tasks]))
}

/// While task t waits and a CPU c sleeps that would take it, one of these holds: c is kicked; the
/// enqueuer of t still looks for a CPU; or a CPU that may take t was claimed and is kicked or took
/// another task, or will look into the queue of t, or hands the wakeup of t on.
fn on_the_way() -> Term {
    let s = Names(&[]);
    let violation =
        and([s.of("waits", &["t"]), s.of("takes", &["c", "t"]), s.phase("c", &[ASLEEP])]);
    let kicked =
        and([s.of("claimed", &["d", "t"]), or([s.of("kicked", &["d"]), s.phase("d", &[TOOK])])]);
    let looks = and([s.phase("d", &[SCANS]), not(s.visited_its_queue("d", "t"))]);
    let passes = and([s.of("owes", &["d", "t"]), s.phase("d", &[TOOK, PASSES])]);
    let another =
        exists([("d", sort("d"))], and([s.of("takes", &["d", "t"]), or([kicked, looks, passes])]));
    let on_the_way = or([s.of("kicked", &["c"]), s.of("looks", &["t"]), another]);
    forall([("t", sort("t")), ("c", sort("c"))], implies(violation, on_the_way))
}

fn kept(step: &Step) -> Script {
    let mut script = declared(&format!("Is the invariant preserved when {}?", step.about));
    script.assert("The invariant holds before.", invariant(&Names(&[])));
    script.assert("The step can be taken.", step.guard.clone());
    for (relation, value) in &step.changes {
        let over: &[&str] = match *relation {
            "at" => &["t"],
            "phase" => &["c"],
            _ => RELATIONS.iter().find(|(name, _)| name == relation).map_or(&[], |(_, over)| over),
        };
        let gives = match *relation {
            "at" => sort("q"),
            "phase" => Sort::Int,
            _ => Sort::Bool,
        };
        let takes = over.iter().map(|variable| (*variable, sort(variable)));
        script.define(&format!("{relation}.next"), takes, gives, value.clone());
    }
    script.assert("The invariant does not hold after.", not(invariant(&Names(&step.changes))));
    script
}
