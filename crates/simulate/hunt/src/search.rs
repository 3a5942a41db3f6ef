//! The search: generations of genomes, the archive's varied and some at random.
//!
//! Two arms run side by side with the same number of trials: the *search*, which varies what its
//! archive has, and the *random* one, whose genomes are all new. What the search is worth is the
//! difference.
//!
//! It is deterministic: a generation depends on the seed, its number and the archive before it. All
//! its genomes are run in parallel and taken in their order. So a search that was interrupted, and
//! whose runs were stored, is done again up to where it was in a moment, and goes on.

use std::collections::BTreeMap;

use wastenot_experiment::Error;
use wastenot_host::store::{Store, fill};
use wastenot_model::workload::Random;
use wastenot_scenario::scenario::{Choice, Variant};

use crate::archive::Archive;
use crate::finding::{Control, Finding, Look, SEEDS, confirm, graded};
use crate::genome::{Genome, Space, child};
use crate::oracle::{Promise, asked};
use crate::shrink::smallest;
use crate::trial::{self, Notes, Seen};

/// Genomes of each arm in a generation.
const GENERATION: usize = 32;
/// The most candidates of an arm that are confirmed in a generation.
const CONFIRMED: usize = 4;
/// So many candidates of a cause are tried; of as many more every second, of twice as many more
/// every fourth, and so on.
const OFTEN: u64 = 64;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The scheduler.
    pub choice: Choice,
    /// The scheduler that it is held against, instead of what it promises.
    pub against: Option<Choice>,
    /// The seed of the search.
    pub seed: u64,
    /// The most trials of both arms together.
    pub trials: u64,
    /// It ends once the search has found so many causes, and no more are shrunk.
    pub findings: usize,
    /// It ends once the search has found this cause, and only this one is shrunk.
    pub cause: Option<String>,
    /// It does not end before both arms have found as much: where they are compared.
    pub both: bool,
}

impl Question {
    /// Whatever there is to find of a scheduler, without an end.
    pub fn of(choice: Choice) -> Question {
        Question {
            choice,
            against: None,
            seed: 1,
            trials: u64::MAX,
            findings: usize::MAX,
            cause: None,
            both: false,
        }
    }
}

/// Which arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Varies what is in the archive.
    Search,
    /// Genomes at random.
    Random,
}

/// One arm.
#[derive(Debug, Default)]
pub struct Arm {
    /// The worst of each kind.
    pub archive: Archive,
    /// What was confirmed, in that order, and after how many trials of the arm.
    pub found: Vec<(Finding, u64)>,
    /// Trials.
    pub trials: u64,
    /// How many genomes were candidates, by cause.
    pub candidates: BTreeMap<String, u64>,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// The search.
    pub search: Arm,
    /// Genomes at random.
    pub random: Arm,
    /// What was found, by either arm, shrunk: what only the reference does better comes last.
    pub shrunk: Vec<Finding>,
    /// Runs of the simulator.
    pub runs: u64,
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Trials of both arms.
    pub trials: u64,
    /// Causes that the search found.
    pub found: usize,
    /// The same of the random arm.
    pub found_at_random: usize,
    /// Whether it shrinks what it found.
    pub shrinks: bool,
}

/// What goes along with a search.
pub struct Hooks<'h> {
    /// How a trial is run: [`trial::look`].
    pub look: &'h (dyn Fn(&Variant, u64, Notes) -> Result<Seen, Error> + Sync),
    /// Whether it is to end.
    pub is_over: &'h dyn Fn() -> bool,
    /// Is told how far it is.
    pub progress: &'h dyn Fn(Progress),
    /// Is given what was found, once it is shrunk.
    pub found: &'h dyn Fn(&Finding),
}

/// Searches until it is over, or the question's own ends.
///
/// # Errors
/// The scheduler cannot be made; results cannot be stored.
pub fn search(
    question: &Question,
    store: Option<&Store<Seen>>,
    hooks: &Hooks<'_>,
) -> Result<Outcome, Error> {
    let promise = Promise::of(question.choice.clone(), question.against.clone());
    let space = Space::of(&promise.choice, promise.against.as_ref());
    let runs = std::cell::Cell::new(0);
    let run = |all: &[(&Genome, u64)], choice: &Choice, notes: Notes| {
        runs.set(runs.get() + all.len() as u64);
        seen(all, choice, notes, store, hooks)
    };
    let look = |genome: &Genome, choice: &Choice, seeds: &[u64]| {
        let all: Vec<(&Genome, u64)> = seeds.iter().map(|seed| (genome, *seed)).collect();
        run(&all, choice, Notes::Decisions)
    };
    let mut arms = [(Which::Search, Arm::default()), (Which::Random, Arm::default())];
    let mut generation = 0;
    while !(hooks.is_over)() {
        let trials: u64 = arms.iter().map(|(_, arm)| arm.trials).sum();
        let [(_, search), (_, random)] = &arms;
        let (found, found_at_random) = (search.found.len(), random.found.len());
        (hooks.progress)(Progress { trials, found, found_at_random, shrinks: false });
        let is_done = |arm: &Arm| {
            arm.found.len() >= question.findings
                || question.cause.as_ref().is_some_and(|cause| arm.finding(cause).is_some())
        };
        if trials >= question.trials || is_done(search) && (!question.both || is_done(random)) {
            break;
        }
        let next: Vec<Vec<Genome>> = arms
            .iter()
            .map(|(which, arm)| {
                (0..GENERATION)
                    .map(|n| {
                        let random = stream(*which, question.seed, generation, n);
                        arm.child(*which, &space, random)
                    })
                    .collect()
            })
            .collect();
        let all: Vec<(&Genome, u64)> = next.iter().flatten().map(|it| (it, SEEDS[0])).collect();
        let shown = run(&all, &promise.choice, Notes::Tasks)?;
        let than = match &promise.against {
            Some(other) => run(&all, other, Notes::Tasks)?.into_iter().map(Some).collect(),
            None => vec![None; shown.len()],
        };
        let shown: Vec<(Seen, Option<Seen>)> = shown.into_iter().zip(than).collect();
        for (((_, arm), genomes), shown) in arms.iter_mut().zip(&next).zip(shown.chunks(GENERATION))
        {
            arm.take(genomes, shown, &promise, &look)?;
        }
        generation += 1;
    }
    let [(_, search), (_, random)] = arms;
    let mut shrunk = Vec::new();
    let only_at_random = random.found.iter().filter(|(it, _)| search.finding(&it.cause).is_none());
    let is_asked = |it: &Finding| question.cause.as_ref().is_none_or(|cause| it.cause == *cause);
    let all = search.found.iter().chain(only_at_random).filter(|(it, _)| is_asked(it));
    for (finding, _) in all.take(question.findings) {
        (hooks.progress)(Progress {
            trials: search.trials + random.trials,
            found: search.found.len(),
            found_at_random: random.found.len(),
            shrinks: true,
        });
        let archives = [&search.archive, &random.archive];
        let finding = smallest(finding, archives, &space, question.seed, &promise, &look)?;
        (hooks.found)(&finding);
        shrunk.push(finding);
    }
    let rank = |it: &Finding| (it.control == Control::Reference, -it.grade);
    shrunk.sort_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(std::cmp::Ordering::Equal));
    Ok(Outcome { search, random, shrunk, runs: runs.get() })
}

/// What all of these show, each with its seed.
fn seen(
    all: &[(&Genome, u64)],
    choice: &Choice,
    notes: Notes,
    store: Option<&Store<Seen>>,
    hooks: &Hooks<'_>,
) -> Result<Vec<Seen>, Error> {
    let look = hooks.look;
    let from = |(genome, seed): &(&Genome, u64)| {
        format!("hunt {seed} {notes:?} {choice:?} {}", genome.text(choice, ""))
    };
    let make = |(genome, seed): &(&Genome, u64)| {
        let variant = trial::variant(genome, choice).map_err(Error::Scenario)?;
        look(&variant, *seed, notes)
    };
    fill(store, all, from, make, |_| ())
}

/// What genome `n` of a generation draws from.
fn stream(which: Which, seed: u64, generation: u64, n: usize) -> Random {
    let purpose = match which {
        Which::Search => 1,
        Which::Random => 2,
    };
    Random::stream(seed, purpose, generation * GENERATION as u64 + n as u64)
}

impl Arm {
    /// What it found of a cause, and after how many trials.
    pub fn finding(&self, cause: &str) -> Option<&(Finding, u64)> {
        self.found.iter().find(|(it, _)| it.cause == cause)
    }

    /// A genome of the next generation.
    fn child(&self, which: Which, space: &Space, mut random: Random) -> Genome {
        match which {
            Which::Random => Genome::random(space, &mut random),
            Which::Search => child(space, &mut random, |random| self.parent(random)),
        }
    }

    /// The worst of three elites, where one of a cause that was found already counts less; or one
    /// of those that are kept for what was decided.
    fn parent(&self, random: &mut Random) -> Option<&Genome> {
        let mut decided = self.archive.decided();
        if random.below(4) == 0 {
            let drawn = random.below(decided.len().max(1) as u64) as usize;
            if let Some(elite) = decided.nth(drawn) {
                return Some(&elite.genome);
            }
        }
        let all: Vec<_> = self.archive.iter().collect();
        let worth = |n: usize| {
            let (niche, elite) = all[n];
            let is_found = self.finding(&niche.cause).is_some();
            if is_found { elite.grade.min(1.0) / 8.0 } else { elite.grade }
        };
        let count = all.len() as u64;
        let drawn = [0; 3].map(|_| (count > 0).then(|| random.below(count) as usize));
        let drawn = drawn.into_iter().flatten();
        let best = drawn.max_by(|a, b| worth(*a).total_cmp(&worth(*b)).then(b.cmp(a)));
        best.map(|n| &all[n].1.genome)
    }

    /// Counts a candidate of this cause. Whether it is tried: a greater loss is not more likely to
    /// be a finding, so of a cause that was often refuted ever fewer candidates are tried.
    fn is_tried(&mut self, cause: &str) -> bool {
        let candidates = self.candidates.entry(cause.to_owned()).or_default();
        *candidates += 1;
        let count = *candidates;
        let is_often = count >= OFTEN;
        self.finding(cause).is_none()
            && (!is_often || count.is_multiple_of(2 << (count.ilog2() - OFTEN.ilog2())))
    }

    /// Takes in what a generation shows, and confirms what may be a finding.
    fn take(
        &mut self,
        genomes: &[Genome],
        shown: &[(Seen, Option<Seen>)],
        promise: &Promise,
        look: &Look<'_>,
    ) -> Result<(), Error> {
        let mut confirmed = 0;
        for (genome, (seen, than)) in genomes.iter().zip(shown) {
            self.trials += 1;
            let losses = asked(seen, than.as_ref(), genome, promise);
            self.archive.add(genome, &losses, seen.decisions);
            let may_be = || losses.iter().filter(|it| it.grade >= 1.0).map(|it| it.cause);
            if may_be().filter(|cause| self.is_tried(cause)).count() == 0 {
                continue;
            }
            for (cause, grade) in graded(genome, promise, look)? {
                if grade < 1.0 {
                    continue;
                }
                if !may_be().any(|it| it == cause) {
                    *self.candidates.entry(cause.clone()).or_default() += 1;
                }
                if confirmed < CONFIRMED && self.finding(&cause).is_none() {
                    confirmed += 1;
                    if let Some(finding) = confirm(genome, &cause, promise, look)? {
                        self.found.push((finding, self.trials));
                    }
                }
            }
        }
        Ok(())
    }
}
