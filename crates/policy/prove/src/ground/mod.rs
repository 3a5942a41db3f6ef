//! Small machines in the language of solvers: questions without quantifiers, whose models are the
//! situations that break a claim.
//!
//! Everything of a machine is known but its tasks. Tasks that are alike are not told apart: a
//! number says how many there are of each kind, so that many tasks are asked about as easily as
//! few. Where tasks may wait is what the explorer knows. What an attempt reads and what a wakeup
//! does is taken from the policy here, once more: explorer and questions are held against each
//! other on random policies.

mod attempt;
mod claims;
mod counts;
mod expr;
mod handler;
mod search;
mod terms;

pub use search::{Beyond, beyond};

use wastenot_model::CpuId;

use crate::encode::NotEncoded;
use crate::explore::{Place, Situation, Task, Test, World, waits, weights};
use crate::smt::{Model, Script, Sort, Term, at_most, equal, int, name, sum};
use counts::Counts;

/// How many tasks there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tasks {
    /// So many.
    Exactly(usize),
    /// So many at most.
    UpTo(usize),
}

/// A question about one machine.
#[derive(Clone, Debug)]
pub struct Question {
    /// What is asked: each of its models is a situation that breaks the claim.
    pub script: Script,
    /// What tasks can be, and the name of how many are.
    kinds: Vec<(Task, String)>,
    vars: Vec<Vec<i64>>,
}

impl Question {
    /// Is there a situation of so many tasks that fails a test?
    ///
    /// # Errors
    /// There are no words for it.
    pub fn new(world: &World<'_>, test: &Test, tasks: Tasks) -> Result<Question, NotEncoded> {
        let (machine, wrong) = (&world.small.machine.name, test.wrong.words());
        let about = format!("On {machine}: {wrong}.");
        let mut script = Script::plain(&about);
        let kinds: Vec<(Task, String)> =
            kinds(world, test).into_iter().map(|kind| (kind, called(world, &kind))).collect();
        for (_, many) in &kinds {
            script.declare(many, [], Sort::Int);
            script.assert("", at_most(int(0), name(many)));
        }
        count(world, test, tasks, &kinds, &mut script);
        let counted = kinds.iter().map(|(kind, many)| (kind, name(many)));
        let counts = Counts::of(world, counted).named(world, "", &mut script);
        let mut asked =
            claims::Asked { world, kinds: &kinds, counts: &counts, script: &mut script };
        let wrong = asked.wrong(test)?;
        script.assert("This situation breaks the claim.", wrong);
        Ok(Question { script, kinds, vars: world.vars() })
    }

    /// The situation that a model is. It says nothing until it was replayed.
    pub fn situation(&self, model: &Model) -> Situation {
        let mut tasks = Vec::new();
        for (kind, called) in &self.kinds {
            // What the model does not speak of does not matter.
            let many = model.int(called, &[]).unwrap_or(0);
            tasks.extend((0..many.clamp(0, TASKS_MAX)).map(|_| *kind));
        }
        Situation { tasks, vars: self.vars.clone() }
    }
}

/// The most tasks of a kind: no model of a realistic question has more.
const TASKS_MAX: i64 = 1_000;

/// How many tasks there are, and what no situation is.
fn count(
    world: &World<'_>,
    test: &Test,
    tasks: Tasks,
    kinds: &[(Task, String)],
    script: &mut Script,
) {
    let all = |of: &dyn Fn(&Task) -> bool| {
        let these = kinds.iter().filter(|(kind, _)| of(kind));
        sum(these.map(|(_, many)| name(many)))
    };
    let here = all(&|_| true);
    match tasks {
        Tasks::Exactly(tasks) => {
            script.assert("There are exactly this many tasks.", equal(here, int(tasks as i64)))
        }
        Tasks::UpTo(tasks) => {
            script.assert("There are at most this many tasks.", at_most(here, int(tasks as i64)))
        }
    };
    if test.wakes > 0 {
        let away = all(&|kind| kind.place == Place::Away);
        script.assert(
            "The number of tasks that will be woken is exactly this.",
            equal(away, int(test.wakes as i64)),
        );
    }
    for &cpu in world.cpus() {
        let here = all(&|kind| kind.place == Place::Runs(cpu));
        script.assert("A CPU runs at most one task.", at_most(here, int(1)));
    }
}

/// All kinds of tasks. A running task may run on every CPU: the rest of its affinity has no effect.
fn kinds(world: &World<'_>, test: &Test) -> Vec<Task> {
    let cpus = world.cpus();
    let all = (1_u32 << cpus.len()) - 1;
    let lets_run = test.lets_run();
    let run = cpus.iter().filter(|_| lets_run);
    let mut places: Vec<(Place, u32)> = run.map(|&cpu| (Place::Runs(cpu), all)).collect();
    // On larger machines: those that may run anywhere, and those that may on one CPU.
    let few = cpus.len() > search::BEYOND.cpus;
    let is_asked = |mask: &u32| !few || *mask == all || mask.count_ones() == 1;
    for mask in (1..=all).rev().filter(is_asked) {
        let queues = waits(world, mask);
        let waiting = queues.iter().map(|&(queue, group)| Place::Waits { queue, group });
        places.extend(waiting.map(|place| (place, mask)));
        if test.wakes > 0 {
            places.push((Place::Away, mask));
        }
    }
    let weights = weights(world.policy);
    let of = |(place, mask)| weights.iter().map(move |&weight| Task { place, mask, weight });
    places.into_iter().flat_map(of).collect()
}

/// `ready.1/0+2`: waits in `ready` of group 1, may run on CPU 0 and 2. With a weight, where those
/// matter: `ready.1/0+2*100`.
fn called(world: &World<'_>, kind: &Task) -> String {
    let able = world.cpus().iter().filter(|&&cpu| kind.allowed(cpu)).map(CpuId::to_string);
    let able = able.collect::<Vec<_>>().join("+");
    let nature = match kind.place {
        Place::Waits { queue, group } => {
            format!("{}.{group}/{able}", world.policy.queues[queue].name)
        }
        Place::Runs(cpu) => format!("on.{cpu}"),
        Place::Away => format!("away/{able}"),
    };
    match weights(world.policy) {
        [_] => nature,
        _ => format!("{nature}*{}", kind.weight),
    }
}

/// At least one of these.
fn some_of(terms: Vec<Term>) -> Term {
    counts::some(sum(terms))
}
