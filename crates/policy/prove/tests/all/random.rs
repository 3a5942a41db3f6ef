//! Random policies: explorer and solver are each other's judge.
//!
//! No small machine breaks a claim that a solver proves for any number of CPUs, whichever engine
//! searches; no solver proves a claim that a small machine breaks; and a question about one small
//! machine has a model exactly if the explorer finds a situation there.

use std::collections::BTreeMap;
use std::time::Duration;

use rayon::prelude::*;
use wastenot_model::workload::Random;
use wastenot_needs::effort;
use wastenot_prove::engine::search;
use wastenot_prove::explore::{Test, World, search_on, tests};
use wastenot_prove::ground::{Question, Tasks};
use wastenot_prove::obligations::{Obligation, Question as Obligated, obligations};
use wastenot_prove::smt::Script;
use wastenot_prove::solver::{Answer, Seek, Solver};
use wastenot_prove::{Finding, Outcome, Small, judge, machines};
use wastenot_rota::ir::Policy;

use crate::solvers::solvers;
use crate::texts::{THREE, options};

/// Policies that are judged as users have theirs judged.
const JUDGED: u64 = 5;
/// Policies whose obligations and questions are asked.
const POLICIES: u64 = 30;
/// So many are asked about by one process.
const AT_ONCE: usize = 50;
/// After so many it is told how far that came.
const IN_SIGHT: usize = 2_000;
/// Situations that a proof is held against.
const MOST: u64 = 20_000;
/// A batch takes a second or two; how busy a machine is must not matter.
const PATIENCE: Duration = Duration::from_secs(3_600);

#[test]
fn a_random_policy_is_proved_or_refuted_but_never_both() {
    let test = "a_random_policy_is_proved_or_refuted_but_never_both";
    let Some(solver) = solvers(test).into_iter().next() else { return };
    let options = options(vec![solver], THREE);
    let count = effort(JUDGED) as usize;
    let (mut proved, mut refuted) = (0, 0);
    let mut open: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
    for policy in &(1..).filter_map(policy).take(count).collect::<Vec<Policy>>() {
        let verdict = judge(policy, &options).expect("an answer").remove(0);
        let holds = verdict.obligations.iter().all(|it| it.finding == Finding::Holds);
        match &verdict.outcome {
            Outcome::Refuted(found) => {
                refuted += 1;
                assert!(!holds, "proved and broken: {}\n{policy:?}", found.why());
            }
            Outcome::Proved(_) if holds => proved += 1,
            _ => {
                let fail = verdict.obligations.iter().filter(|it| it.finding != Finding::Holds);
                *open.entry(fail.map(|it| it.obligation.name).collect()).or_default() += 1;
            }
        }
    }
    println!("{proved} proved, {refuted} refuted; the others fail {open:?}");
    assert!(proved * 10 >= count && refuted * 10 >= count, "{proved} {refuted} {open:?}");
}

#[test]
fn what_is_proved_no_small_machine_breaks_and_the_other_way_round() {
    let solvers = solvers("what_is_proved_no_small_machine_breaks_and_the_other_way_round");
    if solvers.is_empty() {
        return;
    }
    let (mut seed, mut left) = (0, effort(POLICIES) as usize);
    let mut tally = Tally::default();
    while left > 0 {
        let seeds = (seed + 1..).filter(|&seed| policy(seed).is_some());
        let seeds: Vec<u64> = seeds.take(left.min(IN_SIGHT)).collect();
        left -= seeds.len();
        seed = seeds.last().copied().unwrap_or(seed);
        let batches: Vec<(usize, &[u64])> = seeds.chunks(AT_ONCE).enumerate().collect();
        // Solvers take turns.
        let of = |(n, seeds): &(usize, &[u64])| Tally::of(seeds, &solvers[n % solvers.len()]);
        tally = batches.par_iter().map(of).reduce(Tally::default, Tally::and).and(tally);
        println!("{seed} texts: {tally:?}");
    }
    let share = |part: u64, of: u64| 100 * part / of;
    let [proved, refuted] = [tally.proved, tally.refuted].map(|it| share(it, tally.policies));
    println!(
        "{} % of the texts mean something; {proved} % of those are proved, {refuted} % refuted",
        share(tally.policies, seed)
    );
    assert!(share(tally.policies, seed) >= 10, "most mean nothing");
    assert!(proved >= 10 && refuted >= 10, "{tally:?}");
    assert!(tally.broken > 0 && tally.broken < tally.questions);
}

/// What was found of some policies.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    policies: u64,
    proved: u64,
    /// By the explorer.
    refuted: u64,
    /// Questions about small machines, and those that have a model.
    questions: u64,
    broken: u64,
}

impl Tally {
    fn and(self, other: Tally) -> Tally {
        Tally {
            policies: self.policies + other.policies,
            proved: self.proved + other.proved,
            refuted: self.refuted + other.refuted,
            questions: self.questions + other.questions,
            broken: self.broken + other.broken,
        }
    }

    /// Obligations and the explorer, then questions and the explorer.
    fn of(seeds: &[u64], solver: &Solver) -> Tally {
        let mut tally = Tally::default();
        let policies: Vec<(u64, Policy)> =
            seeds.iter().filter_map(|&seed| Some((seed, policy(seed)?))).collect();
        let proved = holding(&policies, solver);
        let mut questions = Vec::new();
        for ((seed, policy), proved) in policies.iter().zip(proved) {
            let found = search(policy, &policy.claims[0].kind, THREE, MOST);
            let found = found.and_then(|searched| searched.found);
            tally.policies += 1;
            tally.proved += u64::from(proved == Proved::Yes);
            tally.refuted += u64::from(found.is_some());
            if let Some(found) = found {
                let open = matches!(proved, Proved::No | Proved::NoWords);
                assert!(open, "{proved:?}, but seed {seed}: {}", found.why);
            }
            questions.extend(Asked::about(*seed, policy, proved));
        }
        let scripts: Vec<Script> = questions.iter().map(|it| it.question.script.clone()).collect();
        let replies = solver.ask_each(&scripts, Seek::Model, PATIENCE).expect("an answer");
        for (asked, reply) in questions.iter().zip(replies) {
            tally.questions += 1;
            tally.broken += u64::from(asked.agrees(&reply.answer));
        }
        tally
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proved {
    Yes,
    /// Some obligation fails.
    No,
    /// For some obligation there are no words.
    NoWords,
    /// To some obligation there is no answer.
    Unknown,
}

/// Whether each policy is proved, of any number of CPUs.
fn holding(policies: &[(u64, Policy)], solver: &Solver) -> Vec<Proved> {
    let all: Vec<Vec<Obligation>> =
        policies.iter().map(|(_, policy)| obligations(policy, &policy.claims[0].kind)).collect();
    let scripts = all.iter().flatten().filter_map(|it| match &it.question {
        Obligated::Unsatisfiable(script) => Some(script.clone()),
        _ => None,
    });
    let scripts: Vec<Script> = scripts.collect();
    let mut answers = answers(solver, &scripts).into_iter();
    let mut one = |obligation: &Obligation| match &obligation.question {
        Obligated::Holds => Proved::Yes,
        Obligated::Fails | Obligated::Undecided(_) => Proved::No,
        Obligated::NotEncoded(_) => Proved::NoWords,
        Obligated::Unsatisfiable(_) => match answers.next() {
            Some(Answer::Unsat) => Proved::Yes,
            Some(Answer::Sat(_)) => Proved::No,
            Some(Answer::Unknown(_)) | None => Proved::Unknown,
        },
    };
    let each = all.iter().map(|obligations| {
        let answers: Vec<Proved> = obligations.iter().map(&mut one).collect();
        let worst = [Proved::No, Proved::NoWords, Proved::Unknown];
        worst.into_iter().find(|it| answers.contains(it)).unwrap_or(Proved::Yes)
    });
    each.collect()
}

/// Where a solver does not know whether it can refute a script, it is asked for a model.
fn answers(solver: &Solver, scripts: &[Script]) -> Vec<Answer> {
    let ask = |scripts: &[Script], seek| {
        let replies = solver.ask_each(scripts, seek, PATIENCE).expect("an answer");
        replies.into_iter().map(|reply| reply.answer).collect::<Vec<Answer>>()
    };
    let mut answers = ask(scripts, Seek::Refutation);
    let open = scripts.iter().zip(&answers).filter(|(_, answer)| !answer.is_certain());
    let open: Vec<Script> = open.map(|(script, _)| script.clone()).collect();
    let mut more = ask(&open, Seek::Model).into_iter();
    for answer in answers.iter_mut().filter(|answer| !answer.is_certain()) {
        *answer = more.next().expect("one for each");
    }
    answers
}

/// A question about one machine.
struct Asked<'p> {
    seed: u64,
    policy: &'p Policy,
    proved: Proved,
    small: Small,
    test: Test,
    tasks: Tasks,
    question: Question,
}

impl<'p> Asked<'p> {
    /// One question that the explorer can answer, too; and of what is proved one that goes further.
    fn about(seed: u64, policy: &'p Policy, proved: Proved) -> Vec<Asked<'p>> {
        let mut random = Random::stream(seed, 3, 0);
        let tests = tests(policy, &policy.claims[0].kind);
        // No situation breaks a claim about keys.
        if tests.is_empty() {
            return Vec::new();
        }
        let mut one = |cpus: u64, tasks: Option<usize>| {
            let test = *any(&tests, &mut random);
            let cpus = 1 + random.below(cpus - test.size() as u64) as usize;
            let small = any(&machines(policy, cpus), &mut random).clone();
            let few = 1 + test.wakes + random.below(3 - test.wakes as u64) as usize;
            let tasks = match tasks {
                _ if test.alone(policy) => Tasks::Exactly(1),
                None => Tasks::Exactly(few),
                Some(many) => Tasks::UpTo(many),
            };
            let question = Question::new(&World::new(policy, &small), &test, tasks).ok()?;
            Some(Asked { seed, policy, proved, small, test, tasks, question })
        };
        let near = one(3, None);
        let far = (proved == Proved::Yes).then(|| one(4, Some(8))).flatten();
        near.into_iter().chain(far).collect()
    }

    /// Whether it has a model; it must have one just when the explorer finds a situation, which the
    /// model is.
    fn agrees(&self, answer: &Answer) -> bool {
        let Asked { seed, policy, test, tasks, .. } = self;
        let world = World::new(policy, &self.small);
        let at = format!("seed {seed}: {test:?}, {tasks:?} on {}", self.small.machine.name);
        if let Tasks::Exactly(tasks) = *tasks {
            let found = search_on(&world, test, tasks);
            assert_eq!(found.is_some(), matches!(answer, Answer::Sat(_)), "{answer:?} {at}");
        }
        match answer {
            Answer::Unsat => false,
            Answer::Sat(model) => {
                let situation = self.question.situation(model);
                assert_ne!(self.proved, Proved::Yes, "proved and broken: {situation:?} {at}");
                assert!(test.breaks(&world, &situation).is_some(), "{situation:?} {at}");
                true
            }
            Answer::Unknown(why) => panic!("{why}: {at}"),
        }
    }
}

fn any<'a, T>(of: &'a [T], random: &mut Random) -> &'a T {
    &of[random.below(of.len() as u64) as usize]
}

/// The policy of a seed, if its text means anything.
fn policy(seed: u64) -> Option<Policy> {
    Some(drawn(&mut Random::stream(seed, 0, 0))?.1)
}

/// A random policy and its text, if that means anything. Of what it claims one claim is kept.
pub(crate) fn drawn(random: &mut Random) -> Option<(String, Policy)> {
    let text = wastenot_chance::policy(random);
    let mut policy = wastenot_rota::compile(&text).ok()?.policies.remove(0);
    policy.claims = vec![any(&policy.claims, random).clone()];
    Some((text, policy))
}
