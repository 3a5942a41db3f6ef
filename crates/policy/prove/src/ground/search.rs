//! Beyond what the explorer looks at: more tasks on small machines, by asking a solver.

use std::time::{Duration, Instant};

use wastenot_rota::ir::{Aggregate, Bool, ClaimKind, Num, Policy, Visitor, visit_bool};

use super::{Question, Tasks};
use crate::cache::Cache;
use crate::explore::{Bounds, Confirm, Found, Situation, Test, World, tests};
use crate::options::Options;
use crate::replay::Patience;
use crate::smt::Script;
use crate::solver::{Answer, Seek, Solver};
use crate::{Error, Small, machines};

/// How far is asked at least. More CPUs take longer, more tasks hardly do.
pub(super) const BEYOND: Bounds = Bounds { cpus: 5, tasks: 8, events: 1 };
/// How far is asked at most where the balance asks for such a number.
const FARTHEST: Bounds = Bounds::FARTHEST;

/// What asking came to.
#[derive(Clone, Debug, Default)]
pub struct Beyond {
    /// The smallest counterexample, replayed: fewest CPUs first, where an event during an attempt
    /// counts as one; then fewest tasks.
    pub found: Option<Found>,
    /// So far all was asked about.
    pub bounds: Option<Bounds>,
}

/// Asks the first solver about every small machine, the smallest first, until `patience` is over.
/// Without a solver, nothing is asked.
///
/// # Errors
/// The solver fails, or what it says to break the claim does not.
pub fn beyond(
    policy: &Policy,
    claim: &ClaimKind,
    options: &Options,
    patience: Duration,
) -> Result<Beyond, Error> {
    let Some(solver) = options.solvers.first() else { return Ok(Beyond::default()) };
    let Bounds { cpus, tasks, events } = options.bounds;
    let (least, asked) = (BEYOND, beyond_numbers(policy));
    let bounds = Bounds {
        cpus: cpus.max(least.cpus).max(asked.cpus),
        tasks: tasks.max(least.tasks).max(asked.tasks),
        events,
    };
    let mut tests = tests(policy, claim);
    tests.retain(|test| test.size() <= events);
    let Some(events) = tests.iter().map(Test::size).max() else { return Ok(Beyond::default()) };
    let (cache, until) = (options.cache.as_ref(), Instant::now() + patience);
    let asking = Asking { policy, solver, cache, bounds, until };
    let (mut complete, mut reached) = (true, None);
    for size in 1..=bounds.cpus + events {
        let cases = asking.cases(&tests, size);
        let answers = asking.about(&cases, bounds.tasks)?;
        // Beyond, it is looked for counterexamples alone: not all is asked about there.
        let all = |(small, _): &(Small, Test)| small.tree.cpus().len() <= BEYOND.cpus;
        let mut asked = cases.iter().zip(&answers).filter(|(case, _)| all(case));
        complete &= asked.all(|(_, said)| *said != Said::Nothing);
        let breaks = answers.iter().any(|said| matches!(said, Said::Breaks(_)));
        let found = asking.fewest_tasks(cases, &answers)?;
        complete &= found.is_some() || !breaks;
        if complete && size > events && size - events <= BEYOND.cpus {
            reached = Some(Bounds { cpus: size - events, ..bounds });
        }
        if found.is_some() || Instant::now() >= asking.until {
            return Ok(Beyond { found, bounds: reached });
        }
    }
    Ok(Beyond { found: None, bounds: reached })
}

/// So far machines have to go that differ from smaller ones in what a balance asks: beyond each
/// number that its text compares with. Of parameters it is the values of the text, as in all
/// questions about small machines.
fn beyond_numbers(policy: &Policy) -> Bounds {
    struct Numbers<'p> {
        policy: &'p Policy,
        bounds: Bounds,
    }
    impl Visitor for Numbers<'_> {
        fn bool(&mut self, condition: &Bool) {
            let Bool::Compare(a, _, b) = condition else { return };
            let [a, b] = [a, b].map(|side| reach(self.policy, side));
            let (number, parts) = (a.number.saturating_add(b.number), a.parts.max(b.parts));
            let whole = number.saturating_mul(parts);
            // One more part may be what breaks it, and one task may come meanwhile. A number that
            // is farther away by itself is a time, or no search reaches it: that does not limit the
            // search for other numbers.
            let beyond = |most| usize::try_from(whole.saturating_add(parts + 1)).unwrap_or(most);
            let up_to = |most: usize| match usize::try_from(whole) {
                Ok(whole) if whole <= most => most.min(beyond(most)),
                _ => 0,
            };
            self.bounds.cpus = self.bounds.cpus.max(up_to(FARTHEST.cpus));
            self.bounds.tasks = self.bounds.tasks.max(up_to(FARTHEST.tasks));
        }
    }
    let mut numbers = Numbers { policy, bounds: Bounds { cpus: 0, tasks: 0, events: 0 } };
    let periodic = policy.periodic.iter().map(|periodic| &periodic.balance);
    for balance in policy.idle.iter().chain(periodic) {
        visit_bool(&balance.filter, &mut numbers);
        visit_bool(&balance.recheck, &mut numbers);
    }
    numbers.bounds
}

/// How far one side of a comparison reaches.
#[derive(Clone, Copy)]
struct Reach {
    /// What is fixed of it, added up.
    number: i64,
    /// Of so many it is one part: what it is compared with is that much farther.
    parts: i64,
}

fn reach(policy: &Policy, num: &Num) -> Reach {
    let of = |num: &Num| reach(policy, num);
    let plain = |number: i64| Reach { number: number.saturating_abs(), parts: 1 };
    let both = |a: &Num, b: &Num, join: fn(i64, i64) -> i64| {
        let (a, b) = (of(a), of(b));
        Reach { number: join(a.number, b.number), parts: a.parts.max(b.parts) }
    };
    match num {
        Num::Const(number) => plain(*number),
        Num::Param(param) => plain(policy.params[*param].value),
        Num::Add(a, b) | Num::Sub(a, b) => both(a, b, i64::saturating_add),
        Num::Min(a, b) | Num::Max(a, b) => both(a, b, i64::max),
        Num::Times(a, by) => {
            let a = of(a);
            Reach { number: a.number.saturating_mul(by.saturating_abs()), ..a }
        }
        // A share: `x * 50%` is one of two parts.
        Num::Over(a, by) => {
            let (inner, times) = match &**a {
                Num::Times(inner, times) => (&**inner, times.saturating_abs().max(1)),
                inner => (inner, 1),
            };
            let (inner, parts) = (of(inner), by.saturating_add(times - 1) / times);
            let number = inner.number.saturating_mul(times) / by;
            Reach { number, parts: inner.parts.saturating_mul(parts) }
        }
        Num::Seen(_, a) => of(a),
        Num::Fold { aggregate, body, .. } => {
            let body = of(body);
            let cpus = if *aggregate == Aggregate::Mean { BEYOND.cpus as i64 } else { 1 };
            Reach { parts: body.parts.saturating_mul(cpus), ..body }
        }
        _ => plain(0),
    }
}

/// What was said about a case.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    /// This breaks it.
    Breaks(Situation),
    /// Nothing does.
    Holds,
    /// No solver has an answer, or the question cannot be encoded.
    Nothing,
}

struct Asking<'a> {
    policy: &'a Policy,
    solver: &'a Solver,
    cache: Option<&'a Cache>,
    bounds: Bounds,
    until: Instant,
}

impl Asking<'_> {
    /// Machines, each with a test, in which an event counts as a CPU.
    fn cases(&self, tests: &[Test], size: usize) -> Vec<(Small, Test)> {
        let mut cases = Vec::new();
        for test in tests {
            let cpus = size.saturating_sub(test.size());
            let most = if test.size() == 0 { self.bounds.cpus } else { BEYOND.cpus };
            if (1..=most).contains(&cpus) {
                let machines = machines(self.policy, cpus).into_iter();
                cases.extend(machines.map(|small| (small, *test)));
            }
        }
        cases
    }

    /// What is said about each case, with so many tasks at most.
    fn about(&self, cases: &[(Small, Test)], tasks: usize) -> Result<Vec<Said>, Error> {
        let question = |(small, test): &(Small, Test)| {
            let tasks = if test.alone(self.policy) { 1 } else { tasks };
            Question::new(&World::new(self.policy, small), test, Tasks::UpTo(tasks)).ok()
        };
        let questions: Vec<Option<Question>> = cases.iter().map(question).collect();
        let scripts: Vec<Script> =
            questions.iter().flatten().map(|question| question.script.clone()).collect();
        let left = self.until.saturating_duration_since(Instant::now());
        if scripts.is_empty() || left.is_zero() {
            return Ok(vec![Said::Nothing; cases.len()]);
        }
        let replies = match self.cache {
            Some(cache) => cache.ask_each(self.solver, &scripts, Seek::Model, left)?,
            None => self.solver.ask_each(&scripts, Seek::Model, left)?,
        };
        let mut replies = replies.into_iter();
        let said = |question: Option<Question>| {
            let Some(question) = question else { return Said::Nothing };
            match replies.next().map(|reply| reply.answer) {
                Some(Answer::Sat(model)) => Said::Breaks(question.situation(&model)),
                Some(Answer::Unsat) => Said::Holds,
                Some(Answer::Unknown(_)) | None => Said::Nothing,
            }
        };
        Ok(questions.into_iter().map(said).collect())
    }

    /// Of the cases that are broken, one that fewest tasks break; replayed.
    fn fewest_tasks(
        &self,
        cases: Vec<(Small, Test)>,
        answers: &[Said],
    ) -> Result<Option<Found>, Error> {
        let broken = cases.into_iter().zip(answers);
        let broken = broken.filter(|(_, said)| matches!(said, Said::Breaks(_)));
        let (cases, mut answers): (Vec<_>, Vec<Said>) =
            broken.map(|(case, said)| (case, said.clone())).unzip();
        if cases.is_empty() {
            return Ok(None);
        }
        // What so many tasks at most break, more at most do, too.
        let (mut least, mut most) = (1, self.bounds.tasks);
        while least < most {
            let tasks = (least + most) / 2;
            let fewer = self.about(&cases, tasks)?;
            match fewer.iter().any(|said| matches!(said, Said::Breaks(_))) {
                true => (most, answers) = (tasks, fewer),
                false => least = tasks + 1,
            }
        }
        let found = cases.iter().zip(answers).find_map(|((small, test), said)| match said {
            Said::Breaks(situation) => self.replay(small, test, situation).transpose(),
            _ => None,
        });
        found.transpose()
    }

    /// The explorer's own test of the situation has the last word, and the run that leads there.
    fn replay(
        &self,
        small: &Small,
        test: &Test,
        situation: Situation,
    ) -> Result<Option<Found>, Error> {
        let world = World::new(self.policy, small);
        let Some(broken) = test.breaks(&world, &situation) else {
            let about = format!("{} on {}", test.wrong.words(), small.machine.name);
            return Err(Error::NotReplayed { about, solver: self.solver.to_string() });
        };
        let (wrong, small, cpu) = (Some(test.wrong), small.clone(), broken.cpu);
        let found = Found { wrong, small, situation, cpu, steps: broken.steps, why: broken.why };
        Ok(Patience::new().confirm(&world, test, &found))
    }
}
