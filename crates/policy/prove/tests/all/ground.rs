//! Questions about small machines and the explorer agree, both ways: a question has a model just
//! when the explorer finds a situation that breaks the claim, on the same machine with as many
//! tasks.

use std::time::Duration;

use wastenot_model::workload::Random;
use wastenot_needs::effort;
use wastenot_prove::explore::{Bounds, Test, World, Wrong, search_on, tests};
use wastenot_prove::ground::{Question, Tasks};
use wastenot_prove::smt::Script;
use wastenot_prove::solver::{Answer, Seek, Solver};
use wastenot_prove::{Finding, Options, Outcome, Verdict, judge, machines};
use wastenot_rota::ir::{Bound, ClaimKind, Policy};

use crate::gallery::texts;
use crate::solvers::solvers;
use crate::texts::{answers, options, policy};

/// Random policies.
const POLICIES: u64 = 6;
const WS: &str = include_str!("../../../../../policies/work-stealing.rota");
const CPUS: usize = 3;
const TASKS: usize = 3;
const TIMEOUT: Duration = Duration::from_secs(3_600);

#[test]
fn a_question_has_a_model_just_when_the_explorer_finds_a_situation() {
    let solvers = solvers("a_question_has_a_model_just_when_the_explorer_finds_a_situation");
    if solvers.is_empty() {
        return;
    }
    let mut sum = Agreed::default();
    let gallery = ["", "wrong"].into_iter().flat_map(texts);
    let gallery = gallery.map(|(path, text)| (path.display().to_string(), text));
    for (n, (name, text)) in gallery.chain(random()).enumerate() {
        let program = wastenot_rota::compile(&text).expect("it compiles");
        for policy in &program.policies {
            let solver = &solvers[n % solvers.len()];
            sum.hold(policy, solver, &format!("{name}, {solver}:\n{text}"));
        }
    }
    let Agreed { asked, broken, none } = sum;
    println!("{asked} questions, {none} without words; {broken} have a model");
    assert!(broken * 20 > asked && broken * 2 < asked && none * 10 < asked, "{sum:?}");
}

/// Every second one asks more under the lock than whether a task may run here.
fn random() -> impl Iterator<Item = (String, String)> {
    let means = |(_, text): &(u64, String)| wastenot_rota::compile(text).is_ok();
    let seeds = (1..)
        .map(|seed| (seed, wastenot_chance::policy(&mut Random::stream(seed, 2, 0))))
        .filter(means);
    let mut rechecks = false;
    let other = move |(_, text): &(u64, String)| {
        let takes = !rechecks || text.contains("where me in allowed(t) and");
        rechecks = if takes { !rechecks } else { rechecks };
        takes
    };
    let named = |(seed, text)| (format!("seed {seed}"), text);
    seeds.filter(other).map(named).take(effort(POLICIES) as usize)
}

/// Work stealing, with something else in it: the fewest CPUs and tasks that break it.
const BROKEN: [(&str, &str, (usize, usize)); 4] = [
    // Five tasks hide a queue.
    ("queued(v.ready) >= 1", "queued(v.ready) >= 1 and queued(v.ready) != 5", (2, 5)),
    // Of two queues with two tasks each.
    ("queued(v.ready) >= 1", "queued(v.ready) >= 1 and running(machine) < 3", (4, 4)),
    // A thief, two queues of pinned tasks, and one with a task for it.
    ("retry untried", "retry 1", (4, 3)),
    // Three of them: more CPUs than the explorer looks at.
    ("retry untried", "retry 2", (5, 4)),
];

#[test]
fn what_few_tasks_do_not_show_is_found_with_more_and_as_few_as_can_be() {
    let test = "what_few_tasks_do_not_show_is_found_with_more_and_as_few_as_can_be";
    for solver in solvers(test) {
        let bounds = Bounds { cpus: 2, ..Bounds::default() };
        let options = Options { patience: TIMEOUT, ..options(vec![solver], bounds) };
        for (text, other, size) in BROKEN {
            let broken = WS.replace(text, other);
            assert_ne!(broken, WS, "{text}");
            let policy = policy(&broken);
            for verdict in judge(&policy, &options).expect("an answer") {
                if verdict.claim.kind != ClaimKind::WorkConservation {
                    continue;
                }
                let Outcome::Refuted(found) = &verdict.outcome else { panic!("{verdict:?}") };
                assert_eq!(found.size(), size, "{other}: {found:?}");
                assert!(!found.steps_in_words(&policy).is_empty());
            }
        }
    }
}

#[test]
fn no_solver_shows_what_holds_only_while_time_stands_still() {
    let late = WS.replace("where me in allowed(t)", "where me in allowed(t) and now = seen(now)");
    assert_ne!(late, WS);
    for solver in solvers("no_solver_shows_what_holds_only_while_time_stands_still") {
        let bounds = Bounds { cpus: 2, ..Bounds::default() };
        let options = Options { patience: TIMEOUT, ..options(vec![solver], bounds) };
        let verdicts = judge(&policy(&late), &options).expect("an answer");
        let conserves = |it: &&Verdict| it.claim.kind == ClaimKind::WorkConservation;
        let verdict = verdicts.iter().find(conserves).expect("it is claimed");
        let blame = verdict.obligations.iter().find(|it| it.obligation.name == "blame");
        assert_ne!(blame.expect("it is asked").finding, Finding::Holds);
    }
}

#[test]
fn a_situation_that_does_not_break_the_claim_is_no_counterexample() {
    let wrong = WS.replace("queued(v.ready) >= 1", "queued(v.ready) >= 2");
    let compile = |text: &str| wastenot_rota::compile(text).expect("it compiles");
    let (right, wrong) = (compile(WS), compile(&wrong));
    let (right, wrong) = (&right.policies[0], &wrong.policies[0]);
    let small = &machines(wrong, 2)[0];
    for solver in solvers("a_situation_that_does_not_break_the_claim_is_no_counterexample") {
        let test = Test::plain(Wrong::Fails);
        let ask = |policy: &Policy| {
            let world = World::new(policy, small);
            let question = Question::new(&world, &test, Tasks::UpTo(8)).expect("it has words");
            let reply = solver.ask(&question.script, Seek::Model, TIMEOUT).expect("an answer");
            (question, reply.answer)
        };
        assert_eq!(ask(right).1, Answer::Unsat, "{solver}");
        let (question, answer) = ask(wrong);
        let Answer::Sat(model) = answer else { panic!("{solver}: {answer:?}") };
        let situation = question.situation(&model);
        assert!(test.breaks(&World::new(wrong, small), &situation).is_some(), "{situation:?}");
        assert!(test.breaks(&World::new(right, small), &situation).is_none(), "{situation:?}");
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Agreed {
    asked: u64,
    broken: u64,
    /// For which there are no words.
    none: u64,
}

impl Agreed {
    /// All that can be asked of a policy, of one process.
    fn hold(&mut self, policy: &Policy, solver: &Solver, about: &str) {
        let mut cases = Vec::new();
        for (test, cpus) in
            all_tests(policy).into_iter().flat_map(|test| (1..=CPUS).map(move |cpus| (test, cpus)))
        {
            if cpus + test.size() > CPUS {
                continue;
            }
            for small in machines(policy, cpus) {
                let tasks = if test.alone(policy) { 1 } else { TASKS };
                cases.extend((1 + test.wakes..=tasks).map(|tasks| (small.clone(), test, tasks)));
            }
        }
        let mut questions = Vec::new();
        for (small, test, tasks) in &cases {
            match Question::new(&World::new(policy, small), test, Tasks::Exactly(*tasks)) {
                Ok(question) => questions.push((small, test, *tasks, question)),
                Err(_) => self.none += 1,
            }
        }
        let scripts: Vec<Script> = questions.iter().map(|it| it.3.script.clone()).collect();
        let replies =
            answers().ask_each(solver, &scripts, Seek::Model, TIMEOUT).expect("an answer");
        for ((small, test, tasks, question), reply) in questions.iter().zip(replies) {
            let world = World::new(policy, small);
            let found = search_on(&world, test, *tasks);
            let machine = &small.machine.name;
            let at = || format!("{test:?}, {tasks} tasks on {machine}, {about}");
            self.asked += 1;
            match reply.answer {
                Answer::Unsat => assert!(found.is_none(), "{:?} {}", found, at()),
                Answer::Sat(model) => {
                    assert!(found.is_some(), "{:?} {}", question.situation(&model), at());
                    let situation = question.situation(&model);
                    assert_eq!(situation.tasks.len(), *tasks, "{}", at());
                    let broken = test.breaks(&world, &situation);
                    assert!(broken.is_some(), "{situation:?} {}", at());
                    self.broken += 1;
                }
                Answer::Unknown(why) => panic!("{why} {}", at()),
            }
        }
    }
}

/// The tests of all claims, each once.
fn all_tests(policy: &Policy) -> Vec<Test> {
    let claims = [
        ClaimKind::NoLostTask,
        ClaimKind::NoLostWakeup,
        ClaimKind::WorkConservation,
        ClaimKind::Rounds(Bound::IdleCpus),
        ClaimKind::Wait,
    ];
    let mut all: Vec<Test> = Vec::new();
    for test in claims.iter().flat_map(|claim| tests(policy, claim)) {
        if !all.contains(&test) {
            all.push(test);
        }
    }
    all
}
