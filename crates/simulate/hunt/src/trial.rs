//! One run of a genome under a scheduler, and what of it the oracle asks about.

use serde::{Deserialize, Serialize};
use wastenot_check::causes::LostTime;
use wastenot_check::{Movable, Scope, waste};
use wastenot_experiment::{Bench, Error, Run, Sim};
use wastenot_model::{Silent, Time, replay};
use wastenot_scenario::scenario::{Choice, Variant};
use wastenot_sim::{End, Options};

use crate::decisions::Decisions;
use crate::genome::{Genome, LIMIT};
pub use crate::watch::Served;
use crate::watch::{Overlooked, Waits};

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// How it ended.
    pub ended: Ended,
    /// How long it took, in simulated time.
    pub time_ns: u64,
    /// CPU time in which tasks ran.
    pub busy_ns: u64,
    /// CPU time that was idle while tasks that could have used it waited.
    pub waste_ns: u64,
    /// In how many stretches there was such a CPU.
    pub stretches: u64,
    /// The longest stretch in which one CPU was idle, nothing was queued on it, and all the time
    /// some task waited elsewhere that it may run.
    pub overlooked_ns: u64,
    /// The longest stretch in which one CPU was idle though a task was queued on it.
    pub asleep_ns: u64,
    /// What each cause took of the waste; only those that took some.
    pub causes: Vec<Took>,
    /// The longest wait of a task.
    pub waited_ns: u64,
    /// How often a task was moved at most while it waited once and no task came or went.
    pub moves: u64,
    /// Of stretches in which a task ran or waited all the time, by length: the one with the least
    /// CPU time for its length.
    pub served: Vec<Served>,
    /// The jobs of sporadic tasks, under a real-time scheduler.
    pub jobs: Vec<Jobs>,
    /// The decisions that it shows, a bit for each kind ([`crate::decisions`]).
    pub decisions: u64,
}

impl Seen {
    /// What of the CPU time that tasks used was wasted.
    pub(crate) fn wasted(&self) -> f64 {
        self.waste_ns as f64 / self.busy_ns.max(1) as f64
    }

    /// Whether it came to an end, be it at the limit.
    pub(crate) fn is_sound(&self) -> bool {
        matches!(self.ended, Ended::Done | Ended::Limit)
    }

    /// The share of all jobs that were late.
    pub(crate) fn missed(&self) -> f64 {
        let sum = |of: fn(&Jobs) -> u64| self.jobs.iter().map(of).sum::<u64>();
        sum(|it| it.missed) as f64 / sum(|it| it.jobs).max(1) as f64
    }
}

/// What a cause took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// The cause, a path in the tree of causes.
    pub cause: String,
    /// CPU time.
    pub ns: u64,
    /// The longest stretch of one task's wait that it took.
    pub longest_ns: u64,
}

/// The jobs of the tasks of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jobs {
    /// Their name.
    pub name: String,
    /// How many.
    pub jobs: u64,
    /// How many of them were late.
    pub missed: u64,
    /// The longest from a release until the job was complete.
    pub response_ns: u64,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// All that is waited for ended.
    #[default]
    Done,
    /// At the limit of simulated time.
    Limit,
    /// It cannot be told: the tasks waited for one another, or went on for ever.
    Never(String),
    /// The scheduler did what none may do, as to leave a task in its queues while all CPUs idle.
    Fault(String),
}

/// The scenario of a genome, read from its text as `wastenot run` reads it.
///
/// # Errors
/// It is refused, which is a fault of ours: a genome is one that runs.
pub fn variant(genome: &Genome, choice: &Choice) -> Result<Variant, wastenot_scenario::Error> {
    let text = genome.text(choice, "");
    let scenario = wastenot_scenario::scenario("genome.toml", &text)?;
    let mut variant = scenario.variants.into_iter().next().expect("a scenario has a variant");
    // Its policy and its profile were read before. What the genome sets of it stays.
    let Choice { text, profile, .. } = choice.clone();
    variant.scheduler = Choice { text, profile, ..variant.scheduler };
    Ok(variant)
}

/// How much of a run is noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notes {
    /// What tasks did. It is fast, and some causes are told less exactly.
    Tasks,
    /// What the scheduler decided, too: the causes are those that `check` finds in the trace of a
    /// finding.
    Decisions,
}

/// How trials are run.
pub fn options(name: &str, seed: u64, notes: Notes) -> Options {
    let notes = notes == Notes::Decisions;
    Options { name: name.to_owned(), seed, limit: Time(LIMIT.0), notes }
}

/// Runs it, and looks at what happened.
///
/// # Errors
/// The scheduler cannot be made.
pub fn look(variant: &Variant, seed: u64, notes: Notes) -> Result<Seen, Error> {
    seen(Sim.run(variant, &options("hunt", seed, notes)))
}

/// Looks at what happened in a run.
///
/// # Errors
/// The scheduler could not be made.
pub fn seen(run: Result<Run, Error>) -> Result<Seen, Error> {
    let run = match run {
        Ok(run) => run,
        Err(Error::Run { what, .. }) => {
            return Ok(Seen { ended: Ended::Never(what), ..Seen::default() });
        }
        Err(Error::Wrong { what, .. }) => {
            return Ok(Seen { ended: Ended::Fault(what), ..Seen::default() });
        }
        Err(error) => return Err(error),
    };
    let history = &run.history;
    let options = wastenot_check::Options { limit: 0, ..Default::default() };
    let (scope, movable) = (Scope::new(history, &options), Movable::survey(history));
    let mut waste = waste::Waste::new(history, &scope, &movable, &options);
    let (mut waits, mut overlooked) = (Waits::default(), Overlooked::new(history));
    let mut decisions = Decisions::on(&history.head.machine);
    let mut observers = (&mut waste, (&mut waits, (&mut overlooked, &mut decisions)));
    replay(history, Silent::Unknown, &mut observers);
    let waste = waste.finish();
    let parts = waste.causes.iter().flat_map(|causes| causes.iter());
    let took = parts.map(|(cause, part)| Took {
        cause: cause.path.to_owned(),
        ns: part.ns[LostTime::Waste as usize],
        longest_ns: part.worst[LostTime::Waste as usize].map_or(0, |it| it.ns),
    });
    let deadlines = run.real_time.iter().flat_map(|it| &it.deadlines);
    let jobs = deadlines.map(|(name, of)| Jobs {
        name: name.clone(),
        jobs: of.jobs,
        missed: of.missed,
        response_ns: of.response_ns_max,
    });
    Ok(Seen {
        served: waits.served.values().copied().collect(),
        jobs: jobs.collect(),
        ended: if run.outcome.end == End::Done { Ended::Done } else { Ended::Limit },
        time_ns: run.outcome.time.0,
        busy_ns: waste.busy_ns,
        waste_ns: waste.cpu_ns,
        stretches: waste.episodes,
        overlooked_ns: overlooked.longest.0,
        asleep_ns: waste.wake_delay.longest_ns,
        causes: took.filter(|it| it.ns > 0).collect(),
        waited_ns: waits.longest.0,
        moves: waits.moves,
        decisions: decisions.seen,
    })
}
